//! What a file says, and what is said of one that cannot be used.

use std::time::Duration;

use aerolane_config::{Config, DEFAULT, Exporter, LatencyUnit, Metrics, Scope, Settings, System, Transactions, parse};
use aerospike_core::ClientPolicy;
use aerospike_core::policy::{ReadModeAp, ReadModeSc, ReadTouchTtl, Replica};

const WHOLE: &str = include_str!("whole.yaml");

/// A file without problems.
fn clean(text: &str) -> Config {
    let config = parse(text).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(config.problems.is_empty(), "{:?}", config.problems);
    config
}

/// The problems of a file, as texts.
fn problems(text: &str) -> Vec<String> {
    parse(text).unwrap().problems.iter().map(ToString::to_string).collect()
}

#[test]
fn each_key_is_read() {
    let config = clean(WHOLE);
    let expected = System {
        min_connections_per_node: Some(1),
        max_connections_per_node: Some(64),
        wait_for_connection_to_complete: Some(Duration::from_millis(500)),
        max_socket_idle_time: Some(Duration::from_secs(30)),
        tend_interval: Some(Duration::from_millis(250)),
        num_tend_intervals_in_error_window: Some(2),
        max_errors_in_error_window: Some(50),
        transactions: Transactions {
            implicit_batch_write_transactions: Some(false),
            sleep_between_attempts: Some(Duration::from_millis(5)),
            number_of_attempts: Some(3),
        },
        metrics: Metrics {
            enabled: Some(true),
            latency_unit: Some(LatencyUnit::Microseconds),
            latency_columns: Some(18),
            latency_shift: Some(2),
            exporter: Some(Exporter::None),
            sampler_range: Some(100),
            sampler_threshold: Some(10),
            labels: Some(vec![("owner".into(), "platform".into()), ("tier".into(), "1".into())]),
            operational_enabled: Some(true),
            usage_enabled: Some(false),
            ..Metrics::default()
        },
        ..System::default()
    };
    assert_eq!(config.systems.len(), 2);
    assert_eq!(config.system(None), expected);
    assert_eq!(config.system(Some("elsewhere")), expected);
    // What is said for a cluster counts for it, and the rest is that of all.
    let named = config.system(Some("payments"));
    assert_eq!((named.max_connections_per_node, named.min_connections_per_node), (Some(8), Some(1)));
    assert_eq!(named.transactions.number_of_attempts, Some(5));
    assert_eq!(named.transactions.sleep_between_attempts, Some(Duration::from_millis(5)));

    let all = Settings {
        total_timeout: Some(Duration::from_secs(2)),
        socket_timeout: Some(Duration::from_millis(500)),
        timeout_delay: Some(Duration::from_secs(3)),
        retry_delay: Some(Duration::from_millis(1)),
        max_retries: Some(3),
        replica: Some(Replica::MasterProles),
        send_key: Some(true),
        use_compression: Some(false),
        read_touch_ttl_percent: Some(ReadTouchTtl::Percent(80)),
        read_mode_sc: Some(ReadModeSc::Linearize),
        read_mode_ap: Some(ReadModeAp::All),
        durable_delete: Some(true),
        max_concurrent_nodes: Some(4),
        allow_inline: Some(false),
        allow_inline_ssd: Some(true),
        record_queue_size: Some(100),
        allow_scans_with_where: Some(false),
        error_detail_verbosity: Some(2),
        ..Settings::default()
    };
    let retries = |n| Settings { max_retries: Some(n), ..Settings::default() };
    let [first, second, third] = &config.behaviors[..] else { panic!("{:?}", config.behaviors) };
    assert_eq!((first.name.as_str(), first.parent.as_deref()), ("everything", None));
    let verify = Settings { read_mode_sc: Some(ReadModeSc::AllowReplica), ..retries(6) };
    let expected = [
        (Scope::All, all),
        (Scope::WritesRetryable, retries(1)),
        (Scope::WritesNonRetryable, retries(0)),
        (Scope::ReadsSc, retries(2)),
        (Scope::ReadsAp, retries(3)),
        (Scope::ReadsBatch, retries(4)),
        (Scope::WritesBatch, retries(5)),
        (Scope::ReadsQuery, retries(7)),
        (Scope::SystemTxnVerify, verify),
        (Scope::SystemTxnRoll, retries(8)),
    ];
    assert_eq!(first.changes, expected);
    assert_eq!((second.name.as_str(), second.parent.as_deref()), ("child", Some("everything")));
    // An alias, merged.
    assert_eq!(second.changes, [(Scope::ReadsBatch, Settings { send_key: Some(false), ..retries(4) })]);
    assert_eq!((third.name.as_str(), third.parent.as_deref()), (DEFAULT, None));
}

#[test]
fn settings_of_exporters_are_read() {
    let file = "
system:
  DEFAULT:
    metrics:
      export_interval: 10 seconds
  files: {metrics: {exporter: FILE}}
  directory: {metrics: {report_dir: /var/log/metrics}}
  size: {metrics: {report_size_limit: 10mb}}
  nobody: {metrics: {exporter: none}}
";
    assert!(problems(file).is_empty());
    let of = |name| parse(file).unwrap().system(Some(name)).metrics;
    assert_eq!(of("files").export_interval, Some(Duration::from_secs(10)));
    assert_eq!(of("files").exporter, Some(Exporter::File));
    assert_eq!(
        (of("directory").report_dir, of("size").report_size_limit),
        (Some("/var/log/metrics".into()), Some(10 << 20))
    );
}

#[test]
fn a_policy_takes_what_is_said() {
    let mut policy = ClientPolicy::default();
    let before = (policy.login_timeout, policy.timeout);
    let idle = Some(Duration::from_micros(1));
    System { max_socket_idle_time: idle, ..clean(WHOLE).system(None) }.apply_to(&mut policy);
    assert_eq!((policy.min_conns_per_node, policy.max_conns_per_node), (1, 64));
    assert_eq!((policy.connect_timeout, policy.idle_timeout, policy.tend_interval), (500, 1, 250));
    assert_eq!((policy.error_rate_window, policy.max_error_rate), (2, 50));
    assert_eq!((policy.login_timeout, policy.timeout), before);
}

#[test]
fn what_cannot_be_used_says_where() {
    let file = "
system:
  DEFAULT:
    connections:
      maximum_connections_per_node: many
      max_connections_per_node: 5
    connection: {}
    transactions:
      number_of_attempts: 0
      sleep_between_attempts: 20
    metrics:
      exporter: elsewhere
      report_size_limit: 5kb
      extended: {operational: {sampler: {range: 0}}, more: 1}
behaviors:
  quick:
    all_operations:
      send_key: 1
      replica_order: NEAREST
      error_detail_verbosity: 4
      wait_for_connection_to_complete: 1s
      abandon_call_after: 50 d
    reads: {}
    system_txn_roll:
      send_key: true
  DEFAULT:
    parent: quick
more: 1
";
    let found = problems(file);
    let expected = [
        (5, "system.DEFAULT.connections.maximum_connections_per_node: not a whole number: \"many\""),
        (6, "system.DEFAULT.connections.max_connections_per_node: unknown key (known are minimum_connections_per_node"),
        (7, "system.DEFAULT.connection: unknown key"),
        (9, "system.DEFAULT.transactions.number_of_attempts: 0 is out of bounds: it must be 1"),
        (10, "system.DEFAULT.transactions.sleep_between_attempts: not a duration: \"20\""),
        (12, "system.DEFAULT.metrics.exporter: \"elsewhere\" is none of file, custom, none"),
        (13, "system.DEFAULT.metrics.report_size_limit: 5120 bytes are too few"),
        (14, "system.DEFAULT.metrics.extended.operational.sampler.range: 0 is out of bounds"),
        (14, "system.DEFAULT.metrics.extended.more: unknown key"),
        (18, "behaviors.quick.all_operations.send_key: not a bool: \"1\" (write true or false)"),
        (19, "behaviors.quick.all_operations.replica_order: \"NEAREST\" is none of MASTER, "),
        (20, "behaviors.quick.all_operations.error_detail_verbosity: 4 is out of bounds: it must be 0 to 3"),
        (21, "behaviors.quick.all_operations.wait_for_connection_to_complete: is a setting of the cluster"),
        (22, "behaviors.quick.all_operations.abandon_call_after: \"50 d\" is out of bounds"),
        (23, "behaviors.quick.reads: unknown key (known are parent, all_operations"),
        (25, "behaviors.quick.system_txn_roll.send_key: unknown key"),
        (27, "behaviors.DEFAULT.parent: DEFAULT comes from no other behavior"),
        (28, "more: unknown key (known are system, behaviors)"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (line, says)) in found.iter().zip(expected) {
        assert!(found.starts_with(&format!("line {line}, {says}")), "{found:?}, expected {says:?}");
    }
    let config = parse(file).unwrap();
    assert_eq!(config.problems.iter().filter(|problem| problem.harmless).count(), 1);
    // The rest is used.
    assert_eq!(config.behaviors.len(), 2);
    assert_eq!(config.systems, [(DEFAULT.to_owned(), System::default())]);
}

#[test]
fn files_that_are_none() {
    for text in ["- a\n", "text", "5"] {
        assert!(parse(text).unwrap_err().message.contains("no mapping"), "{text}");
    }
    assert_eq!(parse("a: [\n").unwrap_err().key, "");
    for nothing in ["", "# nothing\n", "system:\n", "behaviors: {}\nsystem: ~\n"] {
        assert_eq!(clean(nothing), Config::default());
    }
    assert_eq!(problems("system: 5\n"), ["line 1, system: no mapping but \"5\""]);
    let twice = "system: {DEFAULT: {refresh: {tend_interval: 1s}}, DEFAULT: {}}\n";
    assert_eq!(problems(twice), ["line 1, system.DEFAULT: is listed twice: this one counts"]);
    assert_eq!(parse(twice).unwrap().system(None), System::default());
    assert_eq!(problems("behaviors: {default: {}, DEFAULT: {}}").len(), 1);
    assert!(problems("behaviors: {a: {all_operations: {send_key: }}}")[0].contains("has no value"));
    assert!(problems("behaviors: {a: {all_operations: {send_key: 'true'}}}")[0].contains("not a bool"));
    assert_eq!(problems("behaviors: {a: {all_operations: {send_key: yes}}}"), [""; 0]);
}

#[test]
fn parents_come_first() {
    let config = clean("behaviors: {c: {parent: b}, b: {parent: a}, x: {parent: READ_FAST}, a: {}}");
    let (ordered, circle) = config.behaviors_in_order();
    assert_eq!(ordered.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["x", "a", "b", "c"]);
    assert!(circle.is_empty());
    let config = clean("behaviors:\n  a: {parent: b}\n  b: {parent: a}\n  c: {parent: c}\n  d: {}\n");
    let (ordered, circle) = config.behaviors_in_order();
    assert_eq!(ordered.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["d"]);
    let lines: Vec<_> = circle.iter().map(|problem| (problem.line, problem.key.as_str())).collect();
    assert_eq!(lines, [(2, "behaviors.a.parent"), (3, "behaviors.b.parent"), (4, "behaviors.c.parent")]);
}
