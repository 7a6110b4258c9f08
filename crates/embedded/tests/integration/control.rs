//! Control by lines of JSON: every request does what it says, and what is none is refused.

use crate::common::Raw;
use aerolane_embedded::control::Controller;
use proptest::prelude::*;
use serde_json::{Value, json};

fn answer(controller: &mut Controller, request: &Value) -> Value {
    serde_json::from_str(&controller.answer(&request.to_string())).unwrap()
}

/// What a request gives that is carried out.
#[track_caller]
fn ok(controller: &mut Controller, request: &Value) -> Value {
    let answer = answer(controller, request);
    answer.get("ok").cloned().unwrap_or_else(|| panic!("{request}: {answer}"))
}

/// The kind of error, and its text.
#[track_caller]
fn refused(controller: &mut Controller, request: &Value) -> (String, String) {
    let error = answer(controller, request)["error"].take();
    let text = |name: &str| error[name].as_str().unwrap_or_else(|| panic!("{request}: {error}")).to_owned();
    (text("kind"), text("text"))
}

fn address(node: &Value) -> std::net::SocketAddr {
    node["address"].as_str().unwrap().parse().unwrap()
}

#[test]
fn nodes_stop_start_and_are_added() {
    let mut controller = Controller::new();
    let shown = ok(&mut controller, &json!({ "do": "start", "nodes": 2, "cluster_name": "lab" }));
    let [first, second] = [&shown["nodes"][0], &shown["nodes"][1]];
    assert_eq!(Raw::connect(address(first)).info("cluster-name"), "lab");
    let nothing = ok(&mut controller, &json!({ "do": "stop_nodes", "nodes": [first["id"]] }));
    assert_eq!(nothing, Value::Null);
    let now = ok(&mut controller, &json!({ "do": "show" }));
    assert_eq!((&now["nodes"][0]["live"], &now["seeds"]), (&json!(false), &second["address"]));
    assert_eq!(ok(&mut controller, &json!({ "do": "master", "partition": 4095 })), second["id"]);
    ok(&mut controller, &json!({ "do": "start_node", "node": first["id"] }));
    assert_eq!(Raw::connect(address(first)).info("cluster-name"), "lab");
    let third = ok(&mut controller, &json!({ "do": "add_node" }));
    ok(&mut controller, &json!({ "do": "set_master", "partition": 7, "node": third["id"] }));
    assert_eq!(ok(&mut controller, &json!({ "do": "master", "partition": 7 })), third["id"]);
    ok(&mut controller, &json!({ "do": "set_master", "partition": 7, "node": null }));
    ok(&mut controller, &json!({ "do": "hold_partitions", "hold": true }));
    assert_eq!(ok(&mut controller, &json!({ "do": "stats", "node": first["id"] }))["infos"], 2);
    assert_eq!(ok(&mut controller, &json!({ "do": "record_count", "namespace": "test" })), 0);
    ok(&mut controller, &json!({ "do": "advance_clock", "seconds": 1.5 }));
    assert_eq!(ok(&mut controller, &json!({ "do": "sweep" })), 0);
    assert_eq!(ok(&mut controller, &json!({ "do": "udf_log" })), json!([]));
    ok(&mut controller, &json!({ "do": "stop" }));
    assert_eq!(refused(&mut controller, &json!({ "do": "show" })).0, "state");
    ok(
        &mut controller,
        &json!({ "do": "start", "nodes": 1, "tls_name": if cfg!(feature = "tls") { Some("x") } else { None } }),
    );
}

#[test]
fn faults_have_numbers() {
    let mut controller = Controller::new();
    let shown = ok(&mut controller, &json!({ "do": "start", "nodes": 2 }));
    let node = address(&shown["nodes"][0]);
    let delay = json!({ "do": "inject", "action": "delay", "value": 0.01, "on": ["info"], "times": 3 });
    assert_eq!(ok(&mut controller, &delay), json!({ "fault": 1, "rule": "delay=10;on=info;times=3" }));
    let garbage = json!({ "do": "inject", "action": "garbage", "value": "00fF", "skip": 9, "probability": 0.5 });
    assert_eq!(ok(&mut controller, &garbage)["rule"], "garbage=00ff;skip=9;probability=0.5");
    Raw::connect(node).info("node");
    assert_eq!(ok(&mut controller, &json!({ "do": "struck", "fault": 1 })), 1);
    ok(&mut controller, &json!({ "do": "remove_fault", "fault": 1 }));
    ok(&mut controller, &json!({ "do": "remove_fault", "fault": 1 }));
    assert_eq!(ok(&mut controller, &json!({ "do": "struck", "fault": 1 })), 0);
    for (action, value) in [("stall", None), ("truncate", Some(3)), ("result", Some(255)), ("refuse", None)] {
        let mut inject = json!({ "do": "inject", "action": action });
        if action != "refuse" {
            inject["on"] = json!(["write"]);
        }
        if let Some(value) = value {
            inject["value"] = value.into();
        }
        ok(&mut controller, &inject);
    }
    ok(&mut controller, &json!({ "do": "clear_faults" }));
    assert_eq!(Raw::connect(node).info("aerolane-fault:list"), "");
}

/// A schedule of one step.
fn step(after: &Value, run: &Value) -> Value {
    json!({ "do": "schedule", "steps": [{ "after": after, "run": run }] })
}

#[test]
fn a_schedule_of_requests() {
    let mut controller = Controller::new();
    let shown = ok(&mut controller, &json!({ "do": "start", "nodes": 2, "seed": 5 }));
    assert_eq!(shown["seed"], 5);
    let [first, second] = [&shown["nodes"][0], &shown["nodes"][1]];
    let steps = json!([
        { "after": { "requests": 2, "on": ["info"], "node": first["id"] }, "run": { "do": "stop_nodes", "nodes": [second["id"]] } },
        { "after": { "requests": 1 }, "run": { "do": "inject", "action": "result", "value": 9, "on": ["info"], "times": 1 } },
        { "after": { "seconds": 0 }, "run": { "do": "start_node", "node": second["id"] } },
        { "after": { "requests": 0 }, "run": { "do": "start_node", "node": "ABC" } },
        { "after": { "requests": 0 }, "run": { "do": "clear_faults" } },
    ]);
    assert_eq!(ok(&mut controller, &json!({ "do": "schedule", "steps": steps })), json!({ "schedule": 1 }));
    let mut raw = Raw::connect(address(first));
    let other = format!("aerolane-fault:list;node={}", second["id"].as_str().unwrap());
    // Commands about faults are not counted.
    let answers = ["status", &other, "status", &other, "status", "status", "status"].map(|command| raw.info(command));
    assert_eq!(answers[1], "");
    assert!(answers[3].contains("no live node"), "{answers:?}");
    assert_eq!(answers[4..], ["ok", "ERROR:9:fault", "ok"]);
    let state = loop {
        let state = ok(&mut controller, &json!({ "do": "schedule_state", "schedule": 1 }));
        if state["over"] == true {
            break state;
        }
    };
    assert_eq!(state, json!({ "over": true, "steps_done": 3, "error": "the cluster has no node ABC" }));
    assert_eq!(ok(&mut controller, &json!({ "do": "show" }))["nodes"][1]["live"], true);
    let waits = step(&json!({ "seconds": 1e9 }), &json!({ "do": "sweep" }));
    assert_eq!(ok(&mut controller, &waits), json!({ "schedule": 2 }));
    ok(&mut controller, &json!({ "do": "cancel_schedule", "schedule": 2 }));
    while ok(&mut controller, &json!({ "do": "schedule_state", "schedule": 2 }))["over"] != true {}
}

#[test]
fn conditions_come_back_as_they_were_given() {
    let mut controller = Controller::new();
    let given = json!({ "service_time": "read=80us", "in_service": 7, "latency": "2ms~1ms", "seed": 3 });
    let mut start = given.clone();
    (start["do"], start["nodes"]) = ("start".into(), 1.into());
    let shown = ok(&mut controller, &start);
    let ask = json!({ "do": "conditions", "node": shown["nodes"][0]["id"] });
    assert_eq!(ok(&mut controller, &ask), given);
    ok(&mut controller, &json!({ "do": "set_conditions", "service_time": { "write": 0.001 }, "latency": 0.0 }));
    let now = ok(&mut controller, &ask);
    assert_eq!((&now["service_time"], &now["latency"]), (&json!("write=1ms"), &json!("0s")));
}

#[test]
fn what_is_wrong_is_told() {
    let mut controller = Controller::new();
    for (settings, kind, text) in [
        (json!({ "nodes": 0 }), "setting", "0 nodes: 1 to 128 expected"),
        (json!({ "nodes": "3" }), "type", "invalid type: string \"3\""),
        (json!({ "speed": 1 }), "request", "unknown field `speed`"),
        (json!({ "namespaces": [] }), "setting", "namespaces: at least one name"),
        (json!({ "host": "localhost" }), "setting", "host \"localhost\": an IP address"),
        (json!({ "threads": 0 }), "setting", "threads: at least 1"),
        (json!({ "tls_client_ca": "x" }), "setting", "tls_client_ca"),
        (json!({ "latency": -1 }), "setting", "latency: -1 s is not a duration"),
        (json!({ "users": { "a": 1 } }), "request", "a password, or an object with password and roles"),
        (json!({ "in_service": 0 }), "setting", "expected 1 to 65536"),
    ] {
        let mut request = settings;
        request["do"] = "start".into();
        let (found, said) = refused(&mut controller, &request);
        assert!(found == kind && said.contains(text), "{request}: {found}: {said}");
    }
    ok(&mut controller, &json!({ "do": "start", "nodes": 1 }));
    for (request, kind, text) in [
        (json!({ "do": "start" }), "state", "stop it first"),
        (json!({ "do": "stop_nodes", "nodes": ["x"] }), "unknown", "no node \"x\""),
        (json!({ "do": "stats", "node": "ABC" }), "unknown", "no node"),
        (json!({ "do": "record_count", "namespace": "x" }), "unknown", "no namespace \"x\""),
        (json!({ "do": "master", "partition": 4096 }), "setting", "0 to 4095"),
        (json!({ "do": "inject", "action": "delay" }), "type", "needs a value: seconds"),
        (json!({ "do": "inject", "action": "delay", "value": 601 }), "setting", "0 to 600"),
        (json!({ "do": "inject", "action": "result", "value": 256 }), "setting", "0 to 255"),
        (json!({ "do": "inject", "action": "stall", "value": 1 }), "type", "takes no value"),
        (json!({ "do": "inject", "action": "stall", "on": [] }), "setting", "at least one kind"),
        (json!({ "do": "inject", "action": "stall", "on": ["writes"] }), "setting", "unknown kind \"writes\""),
        (json!({ "do": "inject", "action": "refuse", "on": ["write"] }), "setting", "is about connections"),
        (json!({ "do": "inject", "action": "stall", "digest": "00" }), "setting", "40 hexadecimal digits"),
        (json!({ "do": "schedule", "steps": [] }), "setting", "1 to 10000 expected"),
        (step(&json!({}), &json!({ "do": "sweep" })), "setting", "either requests or seconds"),
        (step(&json!({ "seconds": 1, "on": ["read"] }), &json!({ "do": "sweep" })), "setting", "go with requests"),
        (step(&json!({ "seconds": -1 }), &json!({ "do": "sweep" })), "setting", "-1 s is not a duration"),
        (step(&json!({ "requests": 1, "node": "ABC" }), &json!({ "do": "sweep" })), "unknown", "no node"),
        (step(&json!({ "requests": 1, "on": ["batch-row"] }), &json!({ "do": "sweep" })), "setting", "not their rows"),
        (step(&json!({ "requests": 1 }), &json!({ "do": "stop" })), "setting", "cannot start or stop"),
        (json!({ "do": "schedule_state", "schedule": 1 }), "unknown", "no schedule 1"),
        (json!({ "do": "inject", "action": "explode" }), "setting", "unknown fault \"explode\""),
    ] {
        let (found, said) = refused(&mut controller, &request);
        assert!(found == kind && said.contains(text), "{request}: {found}: {said}");
    }
    // Ids come back whatever becomes of the request.
    assert_eq!(answer(&mut controller, &json!({ "id": [1], "do": "fly" }))["id"], json!([1]));
}

/// Requests that are nearly right.
fn nearly() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "start",
        "show",
        "stop",
        "stop_nodes",
        "start_node",
        "master",
        "set_master",
        "stats",
        "record_count",
        "advance_clock",
        "split",
        "heal",
        "set_device_limit",
        "reset_clocks",
        "set_conditions",
        "conditions",
        "inject",
        "remove_fault",
        "struck",
        "fly",
    ]);
    let field = prop::sample::select(vec![
        "nodes",
        "node",
        "partition",
        "namespace",
        "seconds",
        "action",
        "value",
        "on",
        "fault",
        "latency",
        "service_time",
        "id",
    ]);
    let value = prop_oneof![
        Just(json!(null)),
        any::<i64>().prop_map(|n| json!(n)),
        any::<f64>().prop_map(|n| json!(n)),
        "[a-z%:+0-9]{0,12}".prop_map(|text| json!(text)),
        prop::collection::vec("[a-z]{0,6}", 0..3).prop_map(|texts| json!(texts)),
        Just(json!({ "read": "1us" })),
    ];
    (name, prop::collection::btree_map(field, value, 0..4)).prop_map(|(name, fields)| {
        let mut request = json!({ "do": name });
        for (field, value) in fields {
            // So many nodes take their time to start.
            if field != "nodes" || !value.is_number() {
                request[field] = value;
            }
        }
        request.to_string()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_line_has_an_answer(lines in prop::collection::vec(prop_oneof![nearly(), ".{0,40}"], 1..8)) {
        let mut controller = Controller::new();
        controller.answer(r#"{"do":"start","nodes":1,"threads":1}"#);
        for line in lines {
            let answer: Value = serde_json::from_str(&controller.answer(&line)).unwrap();
            prop_assert!(answer.get("ok").is_some() != answer.get("error").is_some(), "{}: {}", line, answer);
            prop_assert!(!answer.to_string().contains('\n'));
        }
    }
}
