use super::*;

fn node() -> Arc<str> {
    Arc::from("BB9: 10.0.0.1:3000")
}

#[test]
fn not_found_is_cheap_and_typed() {
    let node = node();
    let error = Error::server(2, &node);
    assert!(error.is_not_found());
    assert_eq!(error.result_code(), 2);
    assert_eq!(error.server_result_code(), Some(ResultCode::KeyNotFoundError));
    assert_eq!(error.client_result_code(), None);
    assert_eq!(error.node(), Some("BB9: 10.0.0.1:3000"));
    // The node's name is shared, not copied.
    assert_eq!(Arc::strong_count(&node), 2);
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}

#[test]
fn in_doubt_follows_the_rule_of_the_clients() {
    let cases: [(Error, bool, u32, bool); 7] = [
        (Error::timeout("t"), true, 1, true),
        (Error::timeout("t"), true, 0, false),
        (Error::timeout("t"), false, 3, false),
        (Error::server(5, &node()), true, 1, false),
        (Error::server(5, &node()), true, 2, true),
        (Error::server(9, &node()), true, 1, true),
        (Error::connection("reset"), true, 1, true),
    ];
    for (error, is_write, sent, expected) in cases {
        let text = format!("{error} write={is_write} sent={sent}");
        assert_eq!(error.set_in_doubt(is_write, sent).in_doubt(), expected, "{text}");
    }
}

#[test]
fn in_doubt_reaches_the_causes() {
    let error = Error::max_retries_exceeded("3 attempts").with_cause(Error::connection("reset")).set_in_doubt(true, 1);
    assert!(error.in_doubt());
    assert!(error.cause().unwrap().in_doubt());
}

#[test]
fn the_chain_is_searched() {
    let error = Error::max_retries_exceeded("gave up")
        .with_cause(Error::server(9, &node()))
        .with_cause(Error::server(18, &Arc::from("other")));
    assert_eq!(error.server_result_code(), Some(ResultCode::Timeout));
    assert!(error.matches(&[ResultCode::DeviceOverload]));
    assert!(!error.matches(&[ResultCode::KeyBusy]));
    assert!(error.matches_client(&[ClientResultCode::MaxRetriesExceeded]));
    assert!(error.is_client_timeout());
    assert_eq!(error.node(), Some("BB9: 10.0.0.1:3000"));
    assert_eq!(error.cause().and_then(Error::cause).map(Error::result_code), Some(18));
}

#[test]
fn display_tells_everything_once() {
    let error = Error::deadline(Phase::Sent, Duration::from_millis(1500))
        .with_node(node())
        .with_attempts(2)
        .with_sub_errors(vec![Error::connection("connection reset by peer")])
        .set_in_doubt(true, 2);
    let text = error.to_string();
    for part in [
        "Error 9",
        "node=BB9: 10.0.0.1:3000",
        "attempts=2",
        "phase=sent",
        "after 1.5s",
        "In Doubt: true",
        "had not answered",
        "connection reset",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part:?} in {text:?}");
    }
}

#[test]
fn messages_name_the_likely_cause() {
    let cases = [
        (Error::server(14, &node()), "hot key"),
        (Error::server(11, &node()), "strong consistency"),
        (Error::server(21, &node()), "15 bytes"),
        (Error::pool_exhausted(64, 4, (100, 5000), &node()), "100 callers waiting"),
        (Error::invalid_namespace("tset", ["test", "bar"]), "only: test, bar"),
        (Error::invalid_namespace("test", []), "no partition map"),
        (Error::cluster_name_mismatch("prod", Some("dev")), "\"dev\", not \"prod\""),
        (Error::cluster_name_mismatch("prod", None), "has no name"),
        (Error::credentials_refused(65, Some("ann"), &node()), "user \"ann\" was refused"),
        (Error::credentials_refused(51, Some("ann"), &node()), "no access control"),
        (Error::record_too_big(200, 100), "200 bytes"),
        (Error::client_closed(), "closed"),
    ];
    for (error, part) in cases {
        assert!(error.to_string().contains(part), "{part:?} in {error}");
    }
}

#[test]
fn connect_failed_lists_all() {
    let failures = vec![
        ConnectFailure { host: "nowhere:3000".into(), address: None, reason: Error::connection("no such name") },
        ConnectFailure {
            host: "db:3000".into(),
            address: Some("10.1.2.3:3000".parse().unwrap()),
            reason: Error::connection("refused"),
        },
    ];
    let text = Error::connect_failed(failures).to_string();
    assert!(text.contains("nowhere:3000: no such name; db:3000 (10.1.2.3:3000): refused"), "{text}");
}

#[test]
fn refused_credentials_carry_the_servers_code() {
    let error = Error::credentials_refused(62, Some("ann"), &node());
    assert_eq!(error.server_result_code(), Some(ResultCode::InvalidPassword));
    assert_eq!(error.result_code(), 62);
}

#[test]
fn core_errors_keep_what_they_carry() {
    let core = aerospike_core::Error::invalid_argument("max must be positive").chain_error("while checking");
    let ours = Error::from(core.clone());
    assert_eq!(ours.kind().name(), "Client");
    assert_eq!(ours.result_code(), core.result_code());
    assert_eq!(ours.base_message(), core.base_message());
    assert_eq!(ours.client_result_code(), core.client_result_code());
    let cause = ours.cause().expect("the cause is kept");
    assert!(matches!(cause.kind(), ErrorKind::InvalidArgument));
    assert_eq!(cause.base_message(), core.cause().unwrap().base_message());

    let io = aerospike_core::Error::from(std::io::Error::new(std::io::ErrorKind::BrokenPipe, "gone"));
    let ours = Error::from(io);
    let ErrorKind::Io(e) = ours.kind() else { panic!("{ours:?}") };
    assert_eq!(e.kind(), std::io::ErrorKind::BrokenPipe);
    assert!(std::error::Error::source(&ours).is_some());
}

#[test]
fn wire_errors_name_the_offset() {
    let error = Error::from(aerolane_wire::WireError::truncated(3, 17));
    assert!(matches!(error.kind(), ErrorKind::BadResponse));
    assert!(error.to_string().contains("at byte 17"), "{error}");
}
