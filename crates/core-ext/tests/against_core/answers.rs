//! Answers mean the same to us as to aerospike-core 3.0.0: every recorded answer of a real server is given to both.

use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use aerolane::batch::{Answers, BatchOperation as Ours, Progress, decode_single};
use aerolane::operations as ours;
use aerolane::raw::command::decode::{self, Want};
use aerospike_core::operations as core_ops;
use aerospike_core::{
    BatchDeletePolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bins, Client, ClientPolicy,
    ReadPolicy, Record, WritePolicy, as_bin, as_key,
};

use crate::patient::Patient;
use crate::server::Server;

/// One recorded exchange.
struct Exchange {
    name: String,
    ends_with_last: bool,
    rows: usize,
    response: Vec<u8>,
}

fn exchanges(file: &str) -> Vec<Exchange> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden").join(file);
    let raw = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut text = String::new();
    if Path::new(file).extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(&raw[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(raw).unwrap();
    }
    let mut out = vec![];
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let batch = line["decoded_request"][0]["fields"]
            .as_array()
            .and_then(|fields| fields.iter().find(|f| f["type"] == "batch"))
            .and_then(|f| f["value"]["rows"].as_array());
        // Clients count rows from 0; what was sent by hand may not.
        if batch.is_some_and(|rows| rows.iter().enumerate().any(|(at, row)| row["index"] != at)) {
            continue;
        }
        let response = unhex(line["response"].as_str().unwrap());
        // Message frames only; several frames only of batches.
        if response.get(1) != Some(&3) || (line["end"] != "frame" && (line["end"] != "last" || batch.is_none())) {
            continue;
        }
        out.push(Exchange {
            name: format!("{} {}: {}", line["scenario"], line["step"], line["note"]),
            ends_with_last: line["end"] == "last",
            rows: batch.map_or(0, Vec::len),
            response,
        });
    }
    out
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Bodies of the frames.
fn bodies(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut out = vec![];
    while let Some((head, rest)) = bytes.split_first_chunk::<8>() {
        let size = (u64::from_be_bytes(*head) & 0xffff_ffff_ffff) as usize;
        let (body, after) = rest.split_at(size);
        out.push(body);
        bytes = after;
    }
    out
}

/// All of a record, in words.
fn words(record: &Record) -> String {
    format!("{:?} {:?} {:?} {} {}", record.key, record.bins, record.results, record.generation, record.expiration())
}

struct Peer {
    client: Client,
    server: Server,
}

impl Peer {
    async fn connect() -> Self {
        let server = Server::start();
        let policy = ClientPolicy { max_error_rate: 0, timeout: 20_000, ..ClientPolicy::default() };
        let client = Client::new(&policy, &server.seed).await.expect("the server passes for a node");
        Self { client, server }
    }

    fn next_answer(&self, bytes: &[u8]) {
        *self.server.answer.lock().unwrap() = bytes.to_vec();
    }
}

fn outcome(result: Result<Record, Option<aerospike_core::ResultCode>>) -> String {
    match result {
        Ok(record) => words(&record),
        Err(code) => format!("error {code:?}"),
    }
}

#[tokio::test]
async fn answers_of_single_records() {
    let peer = Peer::connect().await;
    let node: Arc<str> = "A1: somewhere".into();
    let key = as_key!("test", "s", 1);
    let mut read = ReadPolicy::patient();
    read.base_policy.max_retries = 0;
    let mut results = read.clone();
    results.base_policy.populate_positional_results = true;
    let write = WritePolicy::patient();
    let operations = [core_ops::put(&as_bin!("a", 1))];
    let mut compared = 0;
    for file in [
        "record.jsonl.gz",
        "operate.jsonl",
        "list.jsonl.gz",
        "map.jsonl.gz",
        "ctx.jsonl.gz",
        "bits.jsonl.gz",
        "hll.jsonl.gz",
        "exp.jsonl.gz",
        "strings.jsonl",
        "rust.jsonl.gz",
    ] {
        for exchange in exchanges(file).iter().filter(|e| !e.ends_with_last) {
            let frames = bodies(&exchange.response);
            // Pipelined ones have several answers; aerospike-core would be confused.
            let [body] = frames[..] else { continue };
            // A UDF's failure, which only UDF calls get; they are left to aerospike-core.
            if body[5] == 100 {
                continue;
            }
            peer.next_answer(&exchange.response);
            let what = &exchange.name;

            let theirs = peer.client.operate(&write, &key, &operations).await.map_err(|e| e.server_result_code());
            let ours = decode::record(body, Want::OPERATE, &node).map_err(|e| e.server_result_code());
            assert_eq!(outcome(ours), outcome(theirs), "operate, {what}");

            for policy in [&read, &results] {
                for bins in [Bins::All, Bins::None] {
                    let want = Want::get(&policy.base_policy, &bins);
                    let theirs = peer.client.get(policy, &key, bins).await.map_err(|e| e.server_result_code());
                    let ours = decode::record(body, want, &node).map_err(|e| e.server_result_code());
                    assert_eq!(outcome(ours), outcome(theirs), "get, {what}");
                }
            }

            let theirs = peer.client.delete(&write, &key).await.map_err(|e| e.server_result_code());
            assert_eq!(decode::delete(body, &node).map_err(|e| e.server_result_code()), theirs, "delete, {what}");
            let theirs = peer.client.exists(&read, &key).await.map_err(|e| e.server_result_code());
            assert_eq!(decode::exists(body, &node).map_err(|e| e.server_result_code()), theirs, "exists, {what}");
            let theirs = peer.client.touch(&write, &key).await.map_err(|e| e.server_result_code());
            assert_eq!(decode::write(body, &node).map_err(|e| e.server_result_code()), theirs, "touch, {what}");
            compared += 1;
        }
    }
    assert!(compared > 10_000, "{compared} answers were compared");
}

/// Every row of an answer, in words.
fn our_rows(exchange: &Exchange) -> Option<String> {
    let node: Arc<str> = "A1: somewhere".into();
    let mut answers = Answers::new(exchange.rows);
    let mut rows = vec!["unanswered".to_owned(); exchange.rows];
    let mut done = false;
    for body in bodies(&exchange.response) {
        assert!(!done, "{}", exchange.name);
        let progress = answers.frame(body, &node, |place, answer| {
            let mut record = None;
            // With the results of all rows, as aerospike-core has them.
            rows[place as usize] = match (answer.decode(Want::OPERATE, &mut record)?, &record) {
                (None, Some(record)) => words(record),
                (None, None) => panic!("a row that succeeded has a record"),
                (Some(error), record) => {
                    format!("error {:?} {:?}", error.server_result_code(), record.as_ref().map(words))
                }
            };
            Ok(())
        });
        match progress.unwrap() {
            Progress::More => {}
            Progress::Done(None) => done = true,
            // aerospike-core puts such an error on whatever row the message happens to name.
            Progress::Done(Some(_)) => return None,
        }
    }
    assert!(done, "{}", exchange.name);
    Some(rows.join("\n"))
}

#[tokio::test]
async fn answers_to_batches() {
    let peer = Peer::connect().await;
    let mut policy = BatchPolicy::patient();
    policy.base_policy.max_retries = 0;
    let mut compared = 0;
    for file in ["batch.jsonl.gz", "rust.jsonl.gz", "udf.jsonl"] {
        for exchange in exchanges(file).iter().filter(|e| e.ends_with_last) {
            let Some(ours) = our_rows(exchange) else { continue };
            // A batch of one row becomes a plain command in aerospike-core.
            if exchange.rows < 2 {
                continue;
            }
            peer.next_answer(&exchange.response);
            let mut rows: Vec<BatchOperation> = (0..exchange.rows as i64)
                .map(|i| {
                    let key = as_key!("test", "s", i);
                    if i % 2 == 0 {
                        BatchOperation::read(&BatchReadPolicy::default(), key, Bins::All)
                    } else {
                        let put = core_ops::put(&as_bin!("a", 1));
                        BatchOperation::write(&BatchWritePolicy::default(), key, [put])
                    }
                })
                .collect();
            peer.client.batch(&policy, &mut rows).await.unwrap_or_else(|e| panic!("{}: {e}", exchange.name));
            let mut theirs = String::new();
            for row in &rows {
                match (row.error(), row.record()) {
                    (Some(error), record) => {
                        let _ = writeln!(theirs, "error {:?} {:?}", error.server_result_code(), record.map(words));
                    }
                    (None, Some(record)) => theirs += &(words(record) + "\n"),
                    (None, None) => theirs += "unanswered\n",
                }
            }
            assert_eq!(ours, theirs.trim_end(), "{}", exchange.name);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared} answers were compared");
}

#[tokio::test]
async fn answers_to_rows_that_are_alone_on_their_node() {
    let peer = Peer::connect().await;
    let node: Arc<str> = "A1: somewhere".into();
    let mut policy = BatchPolicy::patient();
    policy.base_policy.max_retries = 0;
    let mut compared = 0;
    for exchange in exchanges("record.jsonl.gz").iter().chain(&exchanges("operate.jsonl")) {
        let frames = bodies(&exchange.response);
        let [body] = frames[..] else { continue };
        peer.next_answer(&exchange.response);
        let key = as_key!("test", "s", 1);
        let (read, write) = (BatchReadPolicy::default(), BatchWritePolicy::default());
        let delete = BatchDeletePolicy::default();
        let put = as_bin!("a", 1);
        let pairs = [
            (Ours::read(&read, key.clone(), Bins::All), BatchOperation::read(&read, key.clone(), Bins::All)),
            (Ours::read(&read, key.clone(), Bins::None), BatchOperation::read(&read, key.clone(), Bins::None)),
            (
                Ours::write(&write, key.clone(), [ours::put(&put)]),
                BatchOperation::write(&write, key.clone(), [core_ops::put(&put)]),
            ),
            (Ours::delete(&delete, key.clone()), BatchOperation::delete(&delete, key)),
        ];
        for (mine, theirs) in pairs {
            let mut theirs = [theirs];
            if peer.client.batch(&policy, &mut theirs).await.is_err() {
                // A string that is not UTF-8.
                assert!(decode_single(&policy, &mine, body, &node).is_err(), "{mine:?}, {}", exchange.name);
                continue;
            }
            let theirs = match (theirs[0].error(), theirs[0].record()) {
                (Some(error), _) => Err(error.server_result_code()),
                (None, record) => Ok(record.expect("an outcome").clone()),
            };
            let ours = decode_single(&policy, &mine, body, &node).unwrap().map_err(|e| e.server_result_code());
            assert_eq!(outcome(ours), outcome(theirs), "{mine:?}, {}", exchange.name);
            compared += 1;
        }
    }
    assert!(compared > 3000, "{compared} answers were compared");
}
