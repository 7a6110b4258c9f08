//! What a configuration file of clients says, and what is said of one that cannot be used.

use std::time::Duration;

use aerolane_config::LatencyUnit;
use aerolane_config::client::{
    BasePatch, BatchPatch, ClientFile, ClientPatch, Dynamic, MetricsPatch, QueryPatch, ReadPatch, RowPatch, WritePatch,
    parse,
};
use aerospike_core::policy::{QueryDuration, ReadModeAp, ReadModeSc, Replica};
use aerospike_core::{BatchPolicy, ClientPolicy, QueryPolicy, WritePolicy};

const WHOLE: &str = include_str!("client.yaml");

fn clean(text: &str) -> ClientFile {
    let file = parse(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    assert!(file.ignored.is_empty(), "{:?}", file.ignored);
    file
}

/// A section of `dynamic` in a file.
fn dynamic(section: &str) -> String {
    format!("version: 1.0.0\ndynamic:\n  {section}\n")
}

/// What is wrong with a file, as texts.
fn wrong(text: &str) -> Vec<String> {
    parse(text).expect_err(text).iter().map(ToString::to_string).collect()
}

#[test]
fn each_key_is_read() {
    let file = clean(WHOLE);
    let base = BasePatch {
        read_mode_ap: Some(ReadModeAp::All),
        read_mode_sc: Some(ReadModeSc::Linearize),
        replica: Some(Replica::PreferRack),
        socket_timeout: Some(1),
        total_timeout: Some(2),
        timeout_delay: Some(3),
        max_retries: Some(4),
        sleep_between_retries: Some(5),
        sleep_multiplier: Some(1.5),
        populate_positional_results: Some(true),
        error_detail_verbosity: Some(3),
    };
    let batch =
        BatchPatch { base, allow_inline: Some(false), allow_inline_ssd: Some(true), respond_all_keys: Some(false) };
    let modes = BasePatch {
        read_mode_ap: Some(ReadModeAp::All),
        read_mode_sc: Some(ReadModeSc::AllowReplica),
        ..BasePatch::default()
    };
    let row = |send_key, durable_delete| RowPatch { send_key: Some(send_key), durable_delete: Some(durable_delete) };
    let text = |text: &str| text.to_owned();
    assert_eq!(
        file.dynamic,
        Dynamic {
            read: ReadPatch { base },
            write: WritePatch { base, send_key: Some(true), durable_delete: Some(true), xdr: Some(true) },
            query: QueryPatch {
                base,
                record_queue_size: Some(6),
                expected_duration: Some(QueryDuration::LongRelaxAp),
                include_bin_data: Some(false),
            },
            batch,
            batch_read: BatchPatch {
                base: modes,
                allow_inline: Some(true),
                allow_inline_ssd: Some(false),
                respond_all_keys: Some(true),
            },
            batch_write: row(true, false),
            batch_delete: row(false, true),
            batch_udf: row(true, true),
            txn_verify: batch,
            txn_roll: BatchPatch { base: BasePatch { max_retries: Some(9), ..base }, ..batch },
            metrics: MetricsPatch {
                enabled: Some(true),
                labels: Some(vec![(text("team"), text("payments")), (text("zone"), text("1"))]),
                operational: Some(true),
                latency_unit: Some(LatencyUnit::Microseconds),
                latency_columns: Some(9),
                latency_shift: Some(3),
            },
        }
    );
    assert_eq!(
        file.client,
        ClientPatch {
            config_interval: Some(Duration::from_secs(5)),
            min_connections_per_node: Some(2),
            max_connections_per_node: Some(64),
            timeout: Some(2500),
            login_timeout: Some(3500),
            max_socket_idle: Some(55_000),
            tend_interval: Some(500),
            use_service_alternate: Some(true),
            rack_ids: Some(vec![2, 1]),
            app_id: Some("billing".into()),
            max_error_rate: Some(50),
            error_rate_window: Some(3),
        }
    );
    assert_eq!(file.settings["dynamic.txn_roll.max_retries"], "9");
    assert_eq!(file.settings["dynamic.client.rack_ids"], "[2, 1]");
    assert_eq!(file.settings["dynamic.metrics.labels"], "{team: payments, zone: 1}");
}

#[test]
fn patches_change_what_they_have_and_nothing_else() {
    let file = clean(WHOLE);
    let mut write = WritePolicy { generation: 7, ..WritePolicy::default() };
    file.dynamic.write.apply(&mut write);
    assert_eq!((write.generation, write.base_policy.total_timeout, write.send_key, write.xdr), (7, 2, true, true));
    let mut query = QueryPolicy { max_records: 5, ..QueryPolicy::default() };
    file.dynamic.query.apply(&mut query);
    assert_eq!((query.max_records, query.record_queue_size, query.include_bin_data), (5, 6, false));
    let mut client = ClientPolicy::default();
    file.client.apply(&mut client);
    assert_eq!((client.max_conns_per_node, client.idle_timeout, client.tend_interval), (64, 55_000, 500));
    assert_eq!((client.rack_ids, client.application_id), (Some(vec![2, 1]), Some("billing".into())));
    assert!(client.use_services_alternate);

    let little = clean(&dynamic("batch: {max_retries: 9}"));
    let mut batch = BatchPolicy::default();
    little.dynamic.batch.apply(&mut batch);
    let mut expected = BatchPolicy::default();
    expected.base_policy.max_retries = 9;
    assert_eq!(batch, expected);
    assert!(!little.dynamic.batch.is_empty() && little.dynamic.read.is_empty() && little.dynamic.metrics.is_empty());
}

#[test]
fn a_file_with_a_wrong_value_is_not_used() {
    for (section, says) in [
        ("read: {max_retries: many}", "line 3, dynamic.read.max_retries: not a whole number"),
        ("read: {max_retries: -1}", "it must be 0 to 4294967295"),
        ("read: {max_retries: 4294967296}", "it must be 0 to 4294967295"),
        ("read: {max_retries: '4'}", "not a whole number"),
        ("read: {replica: NEAREST}", "is none of MASTER, MASTER_PROLES, RANDOM, SEQUENCE, PREFER_RACK"),
        ("read: {sleep_multiplier: fast}", "not a number"),
        ("read: {sleep_multiplier: -1}", "0 or more"),
        ("read: {sleep_multiplier: .inf}", "not a number"),
        ("read: {error_detail_verbosity: 4}", "it must be 0 to 3"),
        ("write: {send_key: 1}", "not a bool"),
        ("write: [send_key]", "dynamic.write: no mapping but a list"),
        ("query: {expected_duration: WEEKS}", "is none of LONG, SHORT, LONG_RELAX_AP"),
        ("batch_delete: {durable_delete: maybe}", "not a bool"),
        ("client: {tend_interval: 100}", "it must be 250 to"),
        ("client: {max_socket_idle: 4294968}", "it must be 0 to 4294967"),
        ("client: {rack_ids: []}", "empty list"),
        ("client: {rack_ids: 1}", "not a list"),
        ("metrics: {labels: [a]}", "no mapping of names"),
        ("metrics: {extended: {operational: {latency_unit: seconds}}}", "is none of ms, us"),
        ("metrics: {extended: {operational: {latency_shift: 0}}}", "it must be 1 to 63"),
        ("read: {max_retries: 1, max_retries: 2}", "is listed twice"),
    ] {
        let problems = wrong(&dynamic(section));
        assert!(problems.iter().any(|problem| problem.contains(says)), "{section}: {problems:?}");
    }
    assert_eq!(wrong(&dynamic("read: {max_retries: x}\n  write: {xdr: x}")).len(), 2, "all of them, in order");
    for (text, says) in [
        ("", "version: is missing"),
        ("dynamic: {}", "version: is missing"),
        ("version: {a: 1}", "version: a mapping is no single value"),
        ("version:", "version: has no value"),
        ("- version", "the file is no mapping but a list"),
        ("version: 1\ndynamic: : : x", "not valid YAML"),
        ("version: 1\nstatic: 7", "static: no mapping"),
        ("version: 1\nstatic: {client: {config_interval: soon}}", "static.client.config_interval: not a whole number"),
    ] {
        let problems = wrong(text);
        assert!(problems[0].contains(says), "{text:?}: {problems:?}");
    }
}

#[test]
fn what_is_not_known_is_ignored_and_named() {
    let ignored = |text: &str| -> Vec<String> {
        parse(text).unwrap_or_else(|e| panic!("{e:?}")).ignored.iter().map(ToString::to_string).collect()
    };
    for (section, says) in [
        ("read: {max_retry: 1}", "line 3, dynamic.read.max_retry: not a key of this client (it has read_mode_ap, "),
        ("scan: {max_retries: 1}", "dynamic.scan: not a key of this client"),
        ("read: {max_retries: }", "dynamic.read.max_retries: has no value"),
        ("client: {max_connections_per_node: 5}", "has its place below static.client"),
        ("batch_read: {total_timeout: 5}", "is not used for single rows: write it below dynamic.batch"),
        ("batch_write: {max_retries: 5}", "is not used for single rows: write it below dynamic.batch"),
        ("batch_udf: {xdr: true}", "not a key of this client (it has send_key, durable_delete)"),
        ("metrics: {extended: {usage: {enabled: true}}}", "dynamic.metrics.extended.usage: not a key"),
    ] {
        let problems = ignored(&dynamic(section));
        assert!(problems.len() == 1 && problems[0].contains(says), "{section}: {problems:?}");
        assert_eq!(parse(&dynamic(section)).unwrap().dynamic, Dynamic::default(), "{section}");
    }
    assert!(ignored("version: 1\nstatic: {client: {timeout: 1}}")[0].contains("below dynamic.client"));
    assert!(ignored("version: 1\nother: 1")[0].contains("other: not a key"));
    assert!(ignored("version: 1\ndynamic:\nstatic:\n").is_empty(), "sections without anything");
    let short = parse("version: 1\nstatic: {client: {config_interval: 0}}").unwrap();
    assert_eq!(short.client.config_interval, Some(Duration::from_secs(1)), "the least");
}
