//! What the client does with bytes: whole requests from policies, keys and bins; records from answers.

use std::hint::black_box;
use std::sync::Arc;

use aerolane::batch::{self, Answers, Progress};
use aerolane::expressions::{and, gt, int_bin, int_val, lt};
use aerolane::operations::{add, append, get_bin, lists};
use aerolane::raw::command::decode::{self, Want};
use aerolane::raw::command::encode::{self, WriteKind};
use aerolane::{BatchOperation, ListPolicy, Operation};
use aerolane_wire::proto::{MAX_BODY_SIZE, split_frame};
use aerospike_core::{BatchPolicy, BatchReadPolicy, Bin, Bins, Key, ReadPolicy, Value, WritePolicy, as_bin};

use super::wire::{batch_answer, record_answer};
use super::{BATCH, HotPath, Run};

/// The server's own timeout that requests carry, in milliseconds.
const TIMEOUT_MS: u32 = 1000;

pub(super) fn paths() -> Vec<HotPath> {
    vec![
        HotPath { name: "client/key of an integer", prepare: key_of_an_integer },
        HotPath { name: "client/encode get", prepare: encode_get },
        HotPath { name: "client/encode put", prepare: encode_put },
        HotPath { name: "client/encode operate", prepare: encode_operate },
        HotPath { name: "client/make and encode list get", prepare: || make_and_encode(|| lists::get("b0", 3)) },
        HotPath { name: "client/make and encode list append", prepare: || make_and_encode(list_append) },
        HotPath { name: "client/encode get with a filter", prepare: encode_filtered_get },
        HotPath { name: "client/make batch of 128", prepare: make_batch },
        HotPath { name: "client/encode batch of 128", prepare: encode_batch },
        HotPath { name: "client/decode record", prepare: decode_record },
        HotPath { name: "client/decode write", prepare: decode_write },
        HotPath { name: "client/decode batch of 128", prepare: decode_batch },
    ]
}

fn key(id: i64) -> Key {
    Key::new("test", "users", Value::Int(id)).expect("integers are valid keys")
}

fn buffer() -> Vec<u8> {
    Vec::with_capacity(64 * 1024)
}

fn node() -> Arc<str> {
    Arc::from("A1: 127.0.0.1:3000")
}

fn key_of_an_integer() -> Run {
    Box::new(|n| {
        for id in 0..n {
            black_box(key(black_box(id as i64)));
        }
    })
}

fn encode_get() -> Run {
    let (policy, key, mut out) = (ReadPolicy::default(), key(1), buffer());
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            encode::read(&policy.base_policy, black_box(&key), &Bins::All, TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

fn encode_put() -> Run {
    let (policy, key, bins, mut out) = (WritePolicy::default(), key(1), [as_bin!("b0", 42)], buffer());
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            encode::write(&policy, black_box(&key), &bins, WriteKind::Put, TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

/// Adds to a number, appends to a string, reads both.
fn encode_operate() -> Run {
    let (policy, key, mut out) = (WritePolicy::default(), key(1), buffer());
    let (counter, log): (Bin, Bin) = (as_bin!("b0", 1), as_bin!("log", "seen;"));
    let operations: [Operation; 4] = [add(&counter), append(&log), get_bin("b0"), get_bin("log")];
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            encode::operate(&policy, black_box(&key), &operations, TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

fn list_append() -> Operation {
    lists::append(&ListPolicy::default(), "b0", Value::from(42))
}

/// One collection operation, from its constructor to the request, as a service makes it for each call.
fn make_and_encode(operation: fn() -> Operation) -> Run {
    let (policy, key, mut out) = (WritePolicy::default(), key(1), buffer());
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            encode::operate(&policy, black_box(&key), &[operation()], TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

fn encode_filtered_get() -> Run {
    let (mut policy, key, mut out) = (ReadPolicy::default(), key(1), buffer());
    policy.base_policy.filter_expression =
        Some(and(vec![gt(int_bin("b0"), int_val(18)), lt(int_bin("b0"), int_val(65))]));
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            encode::read(&policy.base_policy, black_box(&key), &Bins::All, TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

/// Rows with copies of keys that are there already.
fn make_batch() -> Run {
    let (read, keys): (_, Vec<Key>) = (BatchReadPolicy::default(), (0..BATCH as i64).map(key).collect());
    Box::new(move |n| {
        for _ in 0..n {
            let row = |key: &Key| BatchOperation::read(&read, key.clone(), Bins::All);
            black_box(black_box(&keys).iter().map(row).collect::<Vec<_>>());
        }
    })
}

fn encode_batch() -> Run {
    let (policy, read, mut out) = (BatchPolicy::default(), BatchReadPolicy::default(), buffer());
    let operations: Vec<_> = (0..BATCH as i64).map(|id| BatchOperation::read(&read, key(id), Bins::All)).collect();
    let rows: Vec<u32> = (0..BATCH as u32).collect();
    Box::new(move |n| {
        for _ in 0..n {
            out.clear();
            batch::encode(&policy, black_box(&operations), &rows, TIMEOUT_MS, &mut out).expect("valid");
            black_box(&out);
        }
    })
}

fn decode_record() -> Run {
    let (answer, node, want) = (record_answer(), node(), Want::get(&ReadPolicy::default().base_policy, &Bins::All));
    Box::new(move |n| {
        for _ in 0..n {
            let (frame, _) = split_frame(black_box(&answer), MAX_BODY_SIZE).expect("valid").expect("whole");
            black_box(decode::record(frame.body, want, &node).expect("a record"));
        }
    })
}

/// The answer to a `put` has no bins.
fn decode_write() -> Run {
    let mut answer = Vec::new();
    let header = aerolane_wire::message::MessageHeader { generation: 2, ..Default::default() };
    aerolane_wire::message::MessageWriter::frame(&mut answer, &header).finish().expect("constant input");
    let node = node();
    Box::new(move |n| {
        for _ in 0..n {
            let (frame, _) = split_frame(black_box(&answer), MAX_BODY_SIZE).expect("valid").expect("whole");
            decode::write(frame.body, &node).expect("success");
        }
    })
}

fn decode_batch() -> Run {
    let (answer, node) = (batch_answer(), node());
    let want = Want { results: false, ..Want::OPERATE };
    Box::new(move |n| {
        for _ in 0..n {
            let (frame, _) = split_frame(black_box(&answer), MAX_BODY_SIZE).expect("valid").expect("whole");
            let mut answers = Answers::new(BATCH);
            let mut rows = 0;
            let progress = answers
                .frame(frame.body, &node, |_, row| {
                    let mut record = None;
                    assert!(row.decode(want, &mut record)?.is_none(), "every row has a record");
                    black_box(record);
                    rows += 1;
                    Ok(())
                })
                .expect("valid");
            assert!(rows == BATCH && matches!(progress, Progress::Done(None)));
        }
    })
}
