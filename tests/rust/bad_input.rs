//! What wrong arguments get, through each of the three clients: a clear error before anything is sent, or the server's.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, ToSocketAddrs as _};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use crate::any_client::{AnyClient, Kind, on_embedded, reading, until, within, writing};
use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::{
    AuthMode, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientConfig, ClientPolicy,
    Error, ErrorKind, Key, LaneRuntime, Phase, PoolSizing, ReadPolicy, ResultCode, Value, WritePolicy, as_bin,
    operations,
};
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};

/// The error that opening a client gives.
fn refused(kind: Kind, config: impl Into<ClientConfig>, seeds: &str) -> Error {
    match AnyClient::open(kind, config, seeds) {
        Ok(_) => panic!("{kind:?} connected to {seeds}"),
        Err(error) => error,
    }
}

/// Every call that sends one request, for one key.
fn all_calls(any_client: &AnyClient, key: &Key) -> Vec<(&'static str, Error)> {
    let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
    let bins = [as_bin!("n", 1)];
    let row = BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
    vec![
        ("get", any_client.get(&read, key, Bins::All).map(drop).expect_err("get")),
        ("get header", any_client.get(&read, key, Bins::None).map(drop).expect_err("get header")),
        ("exists", any_client.exists(&read, key).map(drop).expect_err("exists")),
        ("put", any_client.put(&write, key, &bins).expect_err("put")),
        ("add", any_client.add(&write, key, &bins).expect_err("add")),
        ("append", any_client.append(&write, key, &[as_bin!("s", "x")]).expect_err("append")),
        ("touch", any_client.touch(&write, key).expect_err("touch")),
        ("delete", any_client.delete(&write, key).map(drop).expect_err("delete")),
        ("operate", any_client.operate(&write, key, &[operations::get_bin("n")]).map(drop).expect_err("operate")),
        ("batch", any_client.batch(&BatchPolicy::patient(), vec![row]).1.expect_err("batch")),
    ]
}

#[test]
fn of_unreachable_seeds_all_addresses_are_tried_and_all_reasons_listed() {
    within(300, || {
        // A server that accepts and says nothing, and one that speaks another protocol.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let (silent_at, other_at) = (silent.local_addr().unwrap(), other.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in other.incoming().flatten() {
                let mut stream = stream;
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
            }
        });
        let seeds = format!("127.0.0.1:1,localhost:1,no-such-host.invalid:3000,{silent_at},{other_at}");
        let local_addresses = "localhost:1".to_socket_addrs().unwrap().collect::<std::collections::HashSet<_>>();
        let quick = ClientPolicy { timeout: 500, connect_timeout: 500, ..policy() };
        for kind in Kind::ALL {
            let error = refused(kind, quick.clone(), &seeds);
            let ErrorKind::ConnectFailed { failures } = error.kind() else { panic!("{kind:?}: {error:?}") };
            assert_eq!(error.phase(), Phase::Connecting);
            for seed in seeds.split(',') {
                let of_seed: Vec<_> = failures.iter().filter(|f| &*f.host == seed).collect();
                let wanted = if seed == "localhost:1" { local_addresses.len() } else { 1 };
                assert_eq!(of_seed.len(), wanted, "{seed}: {error}");
                assert!(error.to_string().contains(seed), "{seed}: {error}");
                for failure in of_seed {
                    assert_eq!(failure.address.is_none(), seed.contains("invalid"), "{failure}");
                    assert_eq!(failure.reason.phase(), Phase::Connecting, "{failure}");
                    assert!(!failure.reason.base_message().is_empty(), "{failure}");
                }
            }
        }
        drop(silent);
    });
}

#[test]
fn one_good_seed_among_bad_ones_is_enough() {
    within(180, || {
        let target = Target::start();
        let seeds = format!("127.0.0.1:1,no-such-host.invalid:3000,{}", target.seeds());
        // A name server may be silent.
        let quick = ClientPolicy { connect_timeout: 5000, ..policy() };
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, quick.clone(), &seeds).unwrap();
            any_client.put(&WritePolicy::patient(), &target.key("seeds"), &[as_bin!("n", 1)]).unwrap();
        }
    });
}

#[test]
fn seeds_that_are_no_addresses_are_refused_before_anything_is_sent() {
    within(180, || {
        for kind in Kind::ALL {
            for seeds in ["", ",", ":3000", "host:", "host:99999", "host:0", "a b:3000", "a:b:c:d"] {
                let error = refused(kind, policy(), seeds);
                assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{kind:?} {seeds:?}: {error:?}");
            }
        }
    });
}

#[test]
fn a_wrong_cluster_name_names_both() {
    within(180, || {
        let target = Target::start();
        let wrong = ClientPolicy { cluster_name: Some("no such cluster".into()), ..policy() };
        for kind in Kind::ALL {
            let error = refused(kind, wrong.clone(), target.seeds());
            let ErrorKind::ClusterNameMismatch { expected, .. } = error.kind() else { panic!("{kind:?}: {error:?}") };
            assert_eq!(&**expected, "no such cluster");
            assert!(error.to_string().contains("no such cluster"), "{error}");
        }
    });
}

#[test]
fn impossible_settings_of_a_client_are_refused() {
    within(180, || {
        let target = Target::start();
        let with = |change: fn(&mut ClientPolicy)| {
            let mut policy = policy();
            change(&mut policy);
            ClientConfig::from(policy)
        };
        let pool = |pool| ClientConfig::from(policy()).with_pool(pool);
        let sizing = PoolSizing::default;
        let cases = [
            ("never end", with(|p| (p.timeout, p.connect_timeout) = (0, 0))),
            ("tend_interval", with(|p| p.tend_interval = 0)),
            ("min_conns_per_node", with(|p| (p.min_conns_per_node, p.max_conns_per_node) = (9, 3))),
            ("rack_ids", with(|p| p.rack_ids = Some(Vec::new()))),
            ("TLS", with(|p| p.auth_mode = AuthMode::External("u".into(), "p".into()))),
            ("user name", with(|p| p.auth_mode = AuthMode::Internal("u".repeat(64), "p".into()))),
            ("max is 0", pool(sizing().with_min(0).with_max(0))),
            ("depth is 0", pool(sizing().with_depth(0))),
            ("batch_max is 0", pool(sizing().with_batch_max(0))),
            ("max_bytes_in_flight", pool(sizing().with_max_bytes_in_flight(0))),
            ("larger than max", pool(sizing().with_min(5).with_max(4))),
        ];
        for kind in Kind::ALL {
            for (word, config) in &cases {
                let error = refused(kind, config.clone(), target.seeds());
                assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{kind:?} {word}: {error:?}");
                assert!(error.to_string().contains(word), "{kind:?} {word}: {error}");
            }
        }
    });
}

#[test]
fn an_unknown_namespace_is_named_with_those_that_exist() {
    within(180, || {
        let target = Target::start();
        let key = Key::new("no-such-ns", "s", Value::Int(1)).unwrap();
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            for (call, error) in all_calls(&any_client, &key) {
                assert!(matches!(error.kind(), ErrorKind::InvalidNamespace), "{kind:?} {call}: {error:?}");
                let text = error.to_string();
                assert!(text.contains("no-such-ns") && text.contains(target.namespace()), "{call}: {text}");
                assert!(!error.in_doubt(), "{call}: {error:?}");
            }
            // In a batch it costs only its own row.
            let good = target.key("good");
            any_client.put(&WritePolicy::patient(), &good, &[as_bin!("n", 1)]).unwrap();
            let read = |key: &Key| BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
            let (rows, _) = any_client.batch(&BatchPolicy::patient(), vec![read(&key), read(&good)]);
            assert!(rows[0].record().is_none() && rows[0].error().is_some(), "{:?}", rows[0]);
            assert_eq!(rows[1].record().unwrap().bins["n"], Value::Int(1));
        }
    });
}

#[test]
fn names_that_are_too_long_are_refused_before_sending() {
    within(180, || {
        let target = Target::start();
        let (read, write) = (ReadPolicy::patient(), WritePolicy::patient());
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let requests = any_client.stats().total.requests;
            let invalid = |what: &str, word: &str, error: &Error| {
                assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{kind:?} {what}: {error:?}");
                assert!(error.to_string().contains(word), "{kind:?} {what}: {error}");
                assert!(!error.in_doubt() && error.phase() == Phase::Queued, "{kind:?} {what}: {error:?}");
            };
            let set = Key::new(target.namespace(), "s".repeat(64).as_str(), Value::Int(1)).unwrap();
            for (call, error) in all_calls(&any_client, &set) {
                invalid(call, "63", &error);
            }
            // No cluster has such a namespace, so that may be what is said.
            for namespace in ["", &"n".repeat(32), &"n".repeat(100_000)] {
                let key = Key::new(namespace, "s", Value::Int(1)).unwrap();
                for (call, error) in all_calls(&any_client, &key) {
                    let kind = error.kind();
                    let fits = matches!(kind, ErrorKind::InvalidArgument | ErrorKind::InvalidNamespace);
                    assert!(fits && !error.in_doubt(), "{call}: {error:?}");
                }
            }
            let (key, name) = (target.key("names"), "b".repeat(16));
            let bins = [as_bin!(name.as_str(), 1)];
            invalid("put", "15", &any_client.put(&write, &key, &bins).unwrap_err());
            invalid("add", "15", &any_client.add(&write, &key, &bins).unwrap_err());
            let bins = [as_bin!("good", 1), as_bin!(&"é".repeat(8), "x")];
            invalid("append", "15", &any_client.append(&write, &key, &bins).unwrap_err());
            let names = Bins::from(["good", name.as_str()]);
            invalid("get", "15", &any_client.get(&read, &key, names.clone()).unwrap_err());
            let operations = [operations::get_bin("good"), operations::get_bin(&name)];
            invalid("operate", "15", &any_client.operate(&write, &key, &operations).unwrap_err());
            let row = BatchOperation::read(&BatchReadPolicy::default(), key.clone(), names);
            invalid("batch", "15", &any_client.batch(&BatchPolicy::patient(), vec![row]).1.unwrap_err());
            assert_eq!(any_client.stats().total.requests, requests, "nothing was sent");

            // The longest names that are allowed work.
            let longest = Key::new(target.namespace(), &*format!("{:0>63}", target.set()), Value::Int(1)).unwrap();
            let name = "b".repeat(15);
            any_client.put(&write, &longest, &[as_bin!(name.as_str(), 7)]).unwrap();
            assert_eq!(any_client.get(&read, &longest, Bins::All).unwrap().bins[name.as_str()], Value::Int(7));
        }
    });
}

#[test]
fn empty_requests_are_refused() {
    within(180, || {
        let target = Target::start();
        let (key, write) = (target.key("empty"), WritePolicy::patient());
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let errors = [
                any_client.put(&write, &key, &[]).unwrap_err(),
                any_client.add(&write, &key, &[]).unwrap_err(),
                any_client.operate(&write, &key, &[]).unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{kind:?}: {error:?}");
            }
            let bins: Vec<_> = (0..65_536).map(|n| as_bin!(format!("b{n}").as_str(), n)).collect();
            let error = any_client.put(&write, &key, &bins).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{kind:?}: {error:?}");
            // Nothing to do is done at once.
            any_client.batch(&BatchPolicy::patient(), Vec::new()).1.unwrap();
        }
    });
}

#[test]
fn a_record_that_is_too_large_is_refused_and_changes_nothing() {
    within(300, || {
        let target = Target::start();
        let (key, patient) = (target.key("large"), writing(30_000, 0));
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            any_client.put(&patient, &key, &[as_bin!("s", "small")]).unwrap();
            for size in [9 << 20, 1100 << 10] {
                let error = any_client.put(&patient, &key, &[as_bin!("s", "x".repeat(size))]).unwrap_err();
                assert_eq!(error.server_result_code(), Some(ResultCode::RecordTooBig), "{kind:?} {size}: {error:?}");
                assert!(!error.in_doubt() && error.attempts() == 1 && error.node().is_some(), "{error:?}");
                assert!(error.to_string().contains("max-record-size"), "{error}");
            }
            // As a row of a batch, too, and the other row is done.
            let write = BatchWritePolicy::default();
            let other = target.key("beside a large one");
            let put = |key: &Key, text: String| {
                BatchOperation::write(&write, key.clone(), vec![operations::put(&as_bin!("s", text))])
            };
            let mut policy = patient_writes();
            policy.base_policy.total_timeout = 30_000;
            let rows = vec![put(&key, "x".repeat(1100 << 10)), put(&other, "y".into())];
            let (rows, _) = any_client.batch(&policy, rows);
            assert_eq!(rows[0].result_code(), Some(ResultCode::RecordTooBig), "{kind:?}: {:?}", rows[0].error());
            assert!(rows[1].error().is_none(), "{:?}", rows[1]);
            let read = reading(30_000, 2);
            assert_eq!(any_client.get(&read, &key, Bins::All).unwrap().bins["s"], Value::from("small"));
            assert_eq!(any_client.get(&read, &other, Bins::All).unwrap().bins["s"], Value::from("y"));
        }
    });
}

#[test]
fn a_request_beyond_the_protocol_is_refused_without_being_sent() {
    within(180, || {
        let target = Target::start();
        let key = target.key(1);
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let before = any_client.stats().total;
            let bin = as_bin!("s", "x".repeat(aerolane_wire::proto::MAX_BODY_SIZE));
            let error = any_client.put(&WritePolicy::patient(), &key, std::slice::from_ref(&bin)).unwrap_err();
            let row = BatchOperation::write(&BatchWritePolicy::default(), key.clone(), vec![operations::put(&bin)]);
            drop(bin);
            let row_error = any_client.batch(&patient_writes(), vec![row]).1.unwrap_err();
            for error in [error, row_error] {
                assert!(matches!(error.kind(), ErrorKind::RecordTooBig { .. }), "{kind:?}: {error}");
                assert!(!error.in_doubt() && error.phase() == Phase::Queued, "{kind:?}: {error}");
            }
            let stats = any_client.stats();
            let sent = (stats.total.requests, stats.total.bytes_sent);
            assert_eq!(sent, (before.requests, before.bytes_sent), "{kind:?}: {stats}");
        }
    });
}

#[test]
fn zero_is_no_limit_and_the_largest_timeouts_do_not_overflow() {
    within(300, || {
        let target = Target::start();
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let key = target.key("timeouts");
            for (total, socket) in
                [(0, 0), (0, 20_000), (20_000, 0), (u32::MAX, u32::MAX), (u32::MAX, 0), (20_000, u32::MAX)]
            {
                let (mut read, mut write) = (reading(total, 2), writing(total, 0));
                read.base_policy.socket_timeout = socket;
                write.base_policy.socket_timeout = socket;
                any_client.put(&write, &key, &[as_bin!("n", i64::from(total))]).unwrap();
                let record = any_client.get(&read, &key, Bins::All).unwrap();
                assert_eq!(record.bins["n"], Value::Int(i64::from(total)));
                let mut batch = BatchPolicy::patient();
                (batch.base_policy.total_timeout, batch.base_policy.socket_timeout) = (total, socket);
                let row = || BatchOperation::read(&BatchReadPolicy::default(), key.clone(), Bins::All);
                let (rows, result) = any_client.batch(&batch, vec![row(), row()]);
                result.unwrap();
                assert!(rows.iter().all(|row| row.record().is_some()));
            }
        }
    });
}

#[test]
fn a_millisecond_is_kept_or_reported() {
    within(300, || {
        let target = Target::start();
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let key = target.key("hurry");
            let (mut written, mut timeouts) = (0, 0);
            for n in 1..200 {
                let start = Instant::now();
                match any_client.put(&writing(1, 0), &key, &[as_bin!("n", n)]) {
                    Ok(()) => written = n,
                    // The server has the same millisecond, and may be the one to report it.
                    Err(error) => {
                        let by_server = error.server_result_code() == Some(ResultCode::Timeout);
                        // The first calls may find no connection open yet.
                        let connecting =
                            error.phase() == Phase::Connecting && matches!(error.kind(), ErrorKind::Connection);
                        assert!(error.is_client_timeout() || by_server || connecting, "{kind:?}: {error:?}");
                        assert!(start.elapsed() >= Duration::from_millis(1) || by_server, "{error:?}");
                        timeouts += 1;
                    }
                }
            }
            let record = any_client.get(&reading(20_000, 2), &key, Bins::All);
            assert!(record.is_ok() || written == 0, "{kind:?}: {record:?}, {timeouts} timeouts");
        }
    });
}

#[test]
fn a_closed_client_says_so_to_every_call() {
    within(180, || {
        let target = Target::start();
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, policy(), target.seeds()).unwrap();
            let key = target.key("closed");
            any_client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
            let clone = any_client.clone();
            any_client.close();
            for (call, error) in all_calls(&clone, &key) {
                assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{kind:?} {call}: {error:?}");
                assert!(!error.in_doubt(), "{kind:?} {call}: {error:?}");
            }
            any_client.close();
            let stats = clone.stats();
            assert_eq!((stats.total.open, stats.total.in_flight, stats.total.queued), (0, 0, 0), "{kind:?}: {stats}");
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let client = runtime.block_on(Client::new(&policy(), target.seeds())).unwrap();
        runtime.block_on(client.close()).unwrap();
        let error = LaneRuntime::new(&client, NonZeroUsize::MIN).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{error:?}");
    });
}

/// What closing ends is no failure of a node: it must not open the breaker, which would answer in the client's place.
#[test]
fn a_client_that_is_closed_while_it_is_busy_says_that_it_is_closed() {
    if !on_embedded("holds answers back") {
        return;
    }
    within(180, || {
        let target = Target::embedded(1);
        let key = target.key("busy");
        let strict = ClientPolicy { max_error_rate: 3, error_rate_window: 100, ..policy() };
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, strict.clone(), target.seeds()).unwrap();
            any_client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
            target.faults().set_fault(None, &FaultRule::new(FaultAction::Stall).on(RequestKind::Read)).unwrap();
            let threads: Vec<_> = (0..10)
                .map(|_| {
                    let (any_client, key) = (any_client.clone(), key.clone());
                    std::thread::spawn(move || any_client.get(&reading(0, 2), &key, Bins::All).unwrap_err())
                })
                .collect();
            until("all are under way", || {
                let total = any_client.stats().total;
                total.in_flight + total.queued == 10
            });
            any_client.close();
            let under_way = threads.into_iter().map(|thread| ("get under way", thread.join().unwrap()));
            for (call, error) in under_way.chain(all_calls(&any_client, &key)) {
                assert!(matches!(error.kind(), ErrorKind::ClientClosed), "{kind:?} {call}: {error:?}");
            }
            target.faults().clear_faults();
        }
    });
}

#[test]
fn a_login_where_there_are_no_users_is_refused_with_a_hint() {
    within(180, || {
        // Both a Community Edition server and an embedded cluster without users know no logins.
        let target = Target::start();
        let login = ClientPolicy { auth_mode: AuthMode::Internal("ann".into(), "secret".into()), ..policy() };
        for kind in Kind::ALL {
            let error = refused(kind, login.clone(), target.seeds());
            assert!(matches!(error.kind(), ErrorKind::CredentialsRefused { .. }), "{kind:?}: {error:?}");
            assert_eq!(error.server_result_code(), Some(ResultCode::SecurityNotSupported), "{error:?}");
            assert!(error.to_string().contains("auth_mode at None"), "{error}");
        }
    });
}

#[test]
fn refused_credentials_are_told_at_once() {
    if !on_embedded("needs a cluster with users") {
        return;
    }
    within(300, || {
        let builder = aerolane_embedded::EmbeddedCluster::builder().nodes(3).user("ann", "secret");
        let cluster = builder.start().unwrap();
        let with = |auth_mode| ClientPolicy { auth_mode, ..policy() };
        let internal = |user: &str, password: &str| AuthMode::Internal(user.into(), password.into());
        for (auth, user) in [
            (internal("ann", "wrong"), Some("ann")),
            (internal("ann", ""), Some("ann")),
            (internal("bob", "secret"), Some("bob")),
            (AuthMode::None, None),
        ] {
            let look = |kind| {
                let start = Instant::now();
                let error = refused(kind, with(auth.clone()), &cluster.seeds());
                let took = start.elapsed();
                let ErrorKind::CredentialsRefused { user: named, .. } = error.kind() else { panic!("{error:?}") };
                assert_eq!(named.as_deref(), user, "{error:?}");
                assert!(error.server_result_code().is_some() && error.node().is_some(), "{error:?}");
                assert!(!error.to_string().contains("secret") && !error.to_string().contains("wrong"), "{error}");
                took
            };
            // Far below the time for connecting and for the login. A busy machine may hold one up, hardly all three.
            let took = Kind::ALL.map(look);
            assert!(took.iter().any(|took| *took < Duration::from_secs(5)), "{took:?}");
        }
        for kind in Kind::ALL {
            let any_client = AnyClient::open(kind, with(internal("ann", "secret")), &cluster.seeds()).unwrap();
            let key = Key::new("test", "s", Value::Int(1)).unwrap();
            any_client.put(&WritePolicy::patient(), &key, &[as_bin!("n", 1)]).unwrap();
        }
    });
}
