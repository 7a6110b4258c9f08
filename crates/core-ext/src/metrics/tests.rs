//! The switch, the sampler and the recorders, without a client.

use aerospike_core::Sampler;

use super::*;

fn policy() -> MetricsPolicy {
    MetricsPolicy::micros().with_operational(true)
}

/// Metrics that measure, and somebody who notes answers.
fn measuring(policy: MetricsPolicy) -> (Arc<Metrics>, Meter) {
    let metrics = Metrics::new();
    metrics.enable(policy);
    let meter = Meter::new(Some(&metrics), 0);
    (metrics, meter)
}

/// Notes an answer that took so many microseconds.
fn note(metrics: &Metrics, meter: &mut Meter, kind: CommandType, micros: u64, code: u8) {
    let stamp = metrics.stamp(metrics.metric_key(kind, "test"), clock::now());
    meter.moment = stamp.began() + micros;
    meter.answered(stamp, || Answered { sent: 100, received: 30, result_code: Some(code) });
}

/// How many answers of a kind were noted, in all namespaces and of all nodes, and how long they took together.
fn noted(metrics: &Metrics, kind: CommandType) -> (u64, f64) {
    let measured = metrics.measured();
    let of_kind = measured.iter().flat_map(|node| &node.0).filter(|((_, of), _)| *of == kind as usize);
    of_kind
        .fold((0, 0.0), |(count, sum), (_, requests)| (count + requests.latency.count(), sum + requests.latency.sum()))
}

#[test]
fn a_thread_times_its_answer_from_the_moment_its_call_began() {
    let (metrics, mut meter) = measuring(policy());
    let metric_key = metrics.metric_key(CommandType::Get, "test");
    let answered = Answered { sent: 100, received: 30, result_code: Some(0) };
    let began = clock::now();
    std::thread::sleep(Duration::from_millis(3));
    meter.placed_now(metric_key, began);
    meter.answered_now(metric_key, began, answered);
    meter.answered_now(MetricKey::NONE, began, answered);
    metrics.disable();
    meter.answered_now(metric_key, began, answered);
    let (count, micros) = noted(&metrics, CommandType::Get);
    assert_eq!(count, 1, "neither a call that is not measured nor one that ends when nothing is");
    let longest = whole_micros(clock::now().saturating_duration_since(began));
    assert!((3000.0..=longest as f64).contains(&micros), "{micros} µs");
    let measured = metrics.measured();
    let requests = measured[0].0.values().next().unwrap();
    assert!(requests.connection_aq().min() >= 3000, "it waited as long");
    assert_eq!(whole_micros(Duration::new(7, 1_999)), 7_000_001);
}

#[test]
fn nothing_is_measured_unless_it_is_asked_for() {
    let metrics = Metrics::new();
    let mut meter = Meter::new(Some(&metrics), 0);
    let quiet = [MetricsPolicy::default(), MetricsPolicy { sampler: Sampler::never(), ..policy() }];
    for policy in [None].into_iter().chain(quiet.map(Some)) {
        if let Some(policy) = policy {
            metrics.enable(policy);
            assert!(metrics.is_enabled());
        }
        assert!(!metrics.is_measuring());
        assert!(metrics.metric_key(CommandType::Get, "test").is_none());
        assert_eq!(metrics.moment(), 0);
        note(&metrics, &mut meter, CommandType::Get, 5, 0);
        assert!(metrics.measured().is_empty());
    }
    metrics.enable(policy());
    assert!(metrics.is_measuring());
    note(&metrics, &mut meter, CommandType::Get, 5, 0);
    assert_eq!(noted(&metrics, CommandType::Get), (1, 5.0));
    metrics.disable();
    assert!(!metrics.is_enabled());
    note(&metrics, &mut meter, CommandType::Get, 5, 0);
    assert_eq!(noted(&metrics, CommandType::Get), (1, 5.0), "what was measured stays");
    metrics.enable(policy());
    note(&metrics, &mut meter, CommandType::Get, 7, 0);
    assert_eq!(noted(&metrics, CommandType::Get), (2, 12.0), "and goes on");
}

#[test]
fn requests_that_began_before_are_not_measured() {
    let (metrics, mut meter) = measuring(policy());
    let stamp = metrics.stamp(metrics.metric_key(CommandType::Get, "test"), clock::now());
    // The driver did not look at the clock.
    meter.moment = 0;
    meter.answered(stamp, || unreachable!("nobody asks"));
    // Switched off meanwhile.
    metrics.disable();
    meter.moment = stamp.began() + 1;
    meter.answered(stamp, || Answered { sent: 1, received: 1, result_code: None });
    assert!(metrics.measured().is_empty());
}

#[test]
fn another_unit_begins_anew_and_another_shape_does_not() {
    let (metrics, mut meter) = measuring(policy());
    note(&metrics, &mut meter, CommandType::Put, 2900, 0);
    metrics.enable(MetricsPolicy { latency_columns: 3, latency_shift: 4, ..policy() });
    assert_eq!(noted(&metrics, CommandType::Put), (1, 2900.0));
    metrics.enable(MetricsPolicy::millis().with_operational(true));
    assert!(metrics.measured().is_empty());
    note(&metrics, &mut meter, CommandType::Put, 2900, 0);
    assert_eq!(noted(&metrics, CommandType::Put), (1, 2.0), "whole milliseconds");
    metrics.enable(policy());
    assert!(metrics.measured().is_empty());
    note(&metrics, &mut meter, CommandType::Put, 2900, 0);
    assert_eq!(noted(&metrics, CommandType::Put), (1, 2900.0));
}

#[test]
fn what_owners_that_are_gone_have_left_is_kept() {
    let (metrics, _) = measuring(policy());
    for round in 0..5 * TIDY_FROM as u64 {
        let mut meter = Meter::new(Some(&metrics), (round % 3) as u16);
        note(&metrics, &mut meter, CommandType::Get, 1, u8::from(round % 2 == 0));
    }
    assert_eq!(noted(&metrics, CommandType::Get).0, 5 * TIDY_FROM as u64);
    assert!(metrics.recorders.lock().all.len() <= TIDY_FROM, "recorders of owners that are gone are let go of");
    let failed: u64 = metrics.measured().iter().flat_map(|node| node.0.values()).map(|r| r.result_codes[&1]).sum();
    assert_eq!(failed, 5 * TIDY_FROM as u64 / 2);
}

#[test]
fn tasks_share_a_recorder() {
    let (metrics, _) = measuring(policy());
    for node in [3, 0, 3] {
        let stamp = metrics.stamp(metrics.metric_key(CommandType::Query, "test"), clock::now());
        metrics.answered(node, stamp, Answered { sent: 1, received: 2, result_code: Some(0) });
    }
    metrics.answered(0, Stamp::NONE, Answered { sent: 1, received: 2, result_code: Some(0) });
    assert_eq!(noted(&metrics, CommandType::Query).0, 3);
    let measured = metrics.measured();
    let counts = [0, 3].map(|node: usize| measured[node].0.values().map(|r| r.latency.count()).sum::<u64>());
    assert_eq!(counts, [1, 2]);
    assert_eq!(metrics.recorders.lock().all.len(), 2);
}

#[test]
fn samplers_pick_their_part() {
    let (metrics, _) = measuring(MetricsPolicy { sampler: Sampler::new(4, 1), ..policy() });
    let picked = (0..4000).filter(|_| !metrics.metric_key(CommandType::Get, "test").is_none()).count();
    assert!((800..1200).contains(&picked), "{picked} of 4000");
}

#[test]
fn namespaces_are_told_apart_up_to_a_number() {
    let (metrics, mut meter) = measuring(policy());
    for round in 0..2 {
        for number in 0..40 {
            let stamp = metrics.stamp(metrics.metric_key(CommandType::Get, &format!("ns{number}")), clock::now());
            meter.moment = stamp.began() + round;
            meter.answered(stamp, || Answered { sent: 1, received: 1, result_code: Some(0) });
        }
    }
    let measured = metrics.measured();
    let counts: Vec<_> = measured[0].0.iter().map(|((ns, _), r)| (metrics.namespace(*ns), r.latency.count())).collect();
    assert_eq!(counts.len(), MOST_NAMESPACES);
    assert_eq!((counts[0], counts[30], counts[31]), (("ns0", 2), ("ns30", 2), ("", 18)));
}

#[test]
fn waits_are_those_of_the_requests_that_waited() {
    let (metrics, mut meter) = measuring(policy());
    for micros in [0, 0, 9] {
        let stamp = metrics.stamp(metrics.metric_key(CommandType::Get, "test"), clock::now());
        meter.moment = stamp.began() + micros;
        if micros > 0 {
            meter.placed(stamp);
        }
        meter.answered(stamp, || Answered { sent: 100, received: 30, result_code: Some(0) });
    }
    let measured = metrics.measured();
    let (_, requests) = measured[0].0.first_key_value().unwrap();
    let waits = requests.connection_aq();
    assert_eq!((waits.count(), waits.min(), waits.max()), (3, 0, 9));
    assert_eq!((requests.bytes_sent.sum(), requests.bytes_received.sum()), (300.0, 90.0));
}

#[test]
fn readers_and_writers_do_not_hinder_each_other() {
    const EACH: u64 = 20_000;
    let (metrics, _) = measuring(policy());
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut meter = Meter::new(Some(&metrics), 0);
                    (0..EACH).for_each(|n| note(&metrics, &mut meter, CommandType::Get, n % 100, 0));
                })
            })
            .collect();
        let mut last = 0;
        while !writers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            let (count, _) = noted(&metrics, CommandType::Get);
            assert!(count >= last, "counts only grow");
            last = count;
        }
    });
    assert_eq!(noted(&metrics, CommandType::Get).0, 4 * EACH);
}

#[test]
fn openings_by_node_and_reason() {
    let openings = Openings::default();
    openings.opened(2, std::time::Duration::from_micros(2500));
    for why in [OpenFailure::Timeout, OpenFailure::Tls, OpenFailure::Auth, OpenFailure::Other, OpenFailure::Auth] {
        openings.failed(2, why);
    }
    let opened = openings.of(2, LatencyUnit::Microseconds);
    assert_eq!((opened.timeouts, opened.tls, opened.auth, opened.other, opened.failed()), (1, 1, 2, 1, 5));
    assert_eq!((opened.successful, opened.latency.max()), (1, 2500));
    assert_eq!(openings.of(2, LatencyUnit::Milliseconds).latency.max(), 2);
    assert_eq!(openings.of(7, LatencyUnit::Milliseconds).successful, 0);
}

#[test]
fn result_codes_are_found_in_answers() {
    let message = |code: u8, info3: u8| {
        let mut message = [0_u8; 22];
        (message[0], message[3], message[5]) = (22, info3, code);
        message
    };
    let body = [message(2, 0), message(0, 0), message(9, 1)].concat();
    let stamp = Stamp::new(MetricKey::new(CommandType::Get, 0), 1);
    assert_eq!(end_code(stamp, &body), 9);
    assert_eq!(end_code(Stamp::NONE, &body), 0, "nobody looks");
    assert_eq!(end_code(stamp, &message(5, 0)), 5);
    assert_eq!((end_code(stamp, &[]), end_code(stamp, &[22, 0, 0])), (0, 0));
    let compressed = [2, 4, 0, 0, 0, 0, 0, 9, 0];
    let answered = Answered::of_frame(50, &compressed);
    assert_eq!((answered.sent, answered.received, answered.result_code), (50, 9, None));
    let answered = Answered::of_frame(50, &message(3, 0));
    assert_eq!((answered.sent, answered.received, answered.result_code), (50, 30, Some(3)));
}
