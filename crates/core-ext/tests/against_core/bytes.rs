//! The bytes of our requests are those of aerospike-core 3.0.0, call by call, as a recording server received them.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aerolane::batch::{self, BatchOperation};
use aerolane::operations::{self as ours, Operation};
use aerolane::raw::command::encode::{self, WriteKind};
use aerolane::raw::command::operations_write;
use aerolane::raw::command::policy::server_timeout_ms;
use aerospike_core::expressions::{eq, int_bin, int_val};
use aerospike_core::operations as core_ops;
use aerospike_core::{
    BasePolicy, BatchDeletePolicy, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, Bin, Bins, Client,
    ClientPolicy, CommitLevel, Expiration, GenerationPolicy, IndexMap, Key, ReadModeAp, ReadModeSc, ReadPolicy,
    ReadTouchTtl, RecordExistsAction, Value, WritePolicy, as_bin, as_key,
};

use aerolane_wire::batch::BatchRows;
use aerolane_wire::compress::decompress;
use aerolane_wire::message::{Message, field, info2};
use aerolane_wire::proto::{FrameType, MAX_BODY_SIZE, PROTO_HEADER_SIZE, split_frame};

use crate::server::Server;

pub(crate) struct Recorded {
    pub(crate) client: Client,
    server: Server,
}

impl Recorded {
    pub(crate) async fn connect() -> Self {
        let server = Server::start();
        let client = Client::new(&ClientPolicy { timeout: 20_000, ..ClientPolicy::default() }, &server.seed)
            .await
            .expect("the server passes for a node");
        Self { client, server }
    }

    pub(crate) fn last(&self) -> Vec<u8> {
        let request = self.server.requests.recv_timeout(Duration::from_secs(60)).expect("a request was sent");
        assert!(self.server.requests.try_recv().is_err(), "only one request was sent");
        request
    }
}

/// Compares, and shows where they differ.
#[track_caller]
pub(crate) fn same(what: &str, theirs: &[u8], ours: &[u8]) {
    let at = theirs.iter().zip(ours).position(|(a, b)| a != b).unwrap_or(theirs.len().min(ours.len()));
    assert!(theirs == ours, "{what}: different from byte {at} on\ntheirs {theirs:02x?}\nours   {ours:02x?}");
}

/// Compares batches. Our rows of operations that only read ask for an answer to each; those of aerospike-core do not,
/// unless they are alone on their node. Says how many rows asked.
pub(crate) fn same_batch(theirs: &[u8], ours: &[u8]) -> usize {
    let (theirs, mut ours) = (plain(theirs), plain(ours));
    let mut asked = vec![];
    {
        let message = Message::decode(&ours[PROTO_HEADER_SIZE..]).expect("a message");
        let value = message.field(field::BATCH).expect("a batch");
        let mut rows = BatchRows::decode(value).expect("rows");
        loop {
            let at = rows.rest().as_ptr() as usize - ours.as_ptr() as usize;
            let Some(row) = rows.next() else { break };
            let row = row.expect("a row");
            if !row.repeat && row.header.info2 == info2::RESPOND_ALL_OPS {
                // Behind the row's index and digest, its flags and the first info byte.
                asked.push(at + 4 + 20 + 2);
            }
        }
    }
    for at in &asked {
        ours[*at] = 0;
    }
    same("batch", &theirs, &ours);
    asked.len()
}

/// The frame that a compressed one holds.
fn plain(frame: &[u8]) -> Vec<u8> {
    let (outer, _) = split_frame(frame, MAX_BODY_SIZE).expect("a frame").expect("a whole one");
    if outer.header.frame_type != FrameType::CompressedMessage {
        return frame.to_vec();
    }
    let mut out = vec![];
    decompress(&mut out, outer.body, MAX_BODY_SIZE).expect("it inflates");
    out
}

fn keys() -> [Key; 5] {
    [
        as_key!("test", "users", "a string key"),
        as_key!("test", "users", 12345),
        as_key!("test", "", vec![1u8, 2, 3]),
        Key::with_digest("test", "users", None, [7; 20]),
        as_key!("test", "s".repeat(63), i64::MIN),
    ]
}

fn base_policies() -> Vec<BasePolicy> {
    let plain = ReadPolicy::default().base_policy;
    let mut out = vec![plain.clone()];
    out.push(BasePolicy { total_timeout: 0, ..plain.clone() });
    out.push(BasePolicy { total_timeout: 7000, socket_timeout: 3000, ..plain.clone() });
    out.push(BasePolicy { read_mode_ap: ReadModeAp::All, ..plain.clone() });
    out.push(BasePolicy { read_touch_ttl: ReadTouchTtl::Percent(80), error_detail_verbosity: 3, ..plain.clone() });
    out.push(BasePolicy { read_touch_ttl: ReadTouchTtl::DontReset, error_detail_verbosity: 1, ..plain.clone() });
    out.push(BasePolicy { filter_expression: Some(eq(int_bin("a".to_owned()), int_val(70_000))), ..plain.clone() });
    out.push(BasePolicy { use_compression: true, compression_threshold: 64, ..plain });
    out
}

fn write_policies() -> Vec<WritePolicy> {
    let mut out: Vec<_> =
        base_policies().into_iter().map(|base_policy| WritePolicy { base_policy, ..WritePolicy::default() }).collect();
    let plain = WritePolicy::default();
    for action in [
        RecordExistsAction::UpdateOnly,
        RecordExistsAction::Replace,
        RecordExistsAction::ReplaceOnly,
        RecordExistsAction::CreateOnly,
    ] {
        out.push(WritePolicy { record_exists_action: action, ..plain.clone() });
    }
    for policy in [GenerationPolicy::ExpectGenEqual, GenerationPolicy::ExpectGenGreater, GenerationPolicy::None] {
        out.push(WritePolicy { generation_policy: policy, generation: 70_000, ..plain.clone() });
    }
    for expiration in [Expiration::Seconds(3600), Expiration::Never, Expiration::DontUpdate] {
        out.push(WritePolicy { expiration, ..plain.clone() });
    }
    out.push(WritePolicy { send_key: true, commit_level: CommitLevel::CommitMaster, ..plain.clone() });
    out.push(WritePolicy { durable_delete: true, on_locking_only: true, xdr: true, ..plain.clone() });
    out.push(WritePolicy { respond_per_each_op: true, ..plain });
    out
}

fn values() -> Vec<Bin> {
    let pairs = || [(Value::from("k"), Value::from(-1)), (Value::from(300), Value::from(vec![9u8]))];
    vec![
        as_bin!("nil", None),
        as_bin!("int", -5),
        as_bin!("float", 1.5),
        as_bin!("single", 1.5f32),
        as_bin!("bool", true),
        as_bin!("text", "grüße"),
        as_bin!("blob", vec![0u8, 255]),
        Bin::new("geo", Value::GeoJson(r#"{"type":"Point","coordinates":[1,2]}"#.into())),
        Bin::new("hll", Value::Hll(vec![1, 2, 3])),
        Bin::new("unknown", Value::Unknown(9, vec![4, 5])),
        Bin::new("list", Value::List((0..40).map(|i| Value::from(i * i * 37 - 500)).collect())),
        Bin::new("hashed", Value::HashMap(HashMap::from([(Value::from(1), Value::from(1.5f32))]))),
        Bin::new("ordered", Value::OrderedMap(IndexMap::from(pairs()))),
        Bin::new("sorted", Value::SortedMap(BTreeMap::from(pairs()))),
    ]
}

#[tokio::test]
async fn reads() {
    let recorded = Recorded::connect().await;
    let names: Vec<String> = values().into_iter().map(|bin| bin.name).collect();
    let selections = [Bins::All, Bins::None, Bins::from(["a"]), Bins::Some(names), Bins::Some(vec![])];
    for base_policy in base_policies() {
        let policy = ReadPolicy { base_policy };
        let timeout = server_timeout_ms(&policy.base_policy);
        for key in keys() {
            for bins in &selections {
                let _ = recorded.client.get(&policy, &key, bins.clone()).await;
                let mut out = vec![];
                encode::read(&policy.base_policy, &key, bins, timeout, &mut out).unwrap();
                same("get", &recorded.last(), &out);
            }
            let _ = recorded.client.exists(&policy, &key).await;
            let mut out = vec![];
            encode::exists(&policy, &key, timeout, &mut out).unwrap();
            same("exists", &recorded.last(), &out);
        }
    }
}

#[tokio::test]
async fn writes() {
    let recorded = Recorded::connect().await;
    let client = &recorded.client;
    let bins = values();
    for policy in write_policies() {
        let timeout = server_timeout_ms(&policy.base_policy);
        for key in keys() {
            let check = |what: &str, encode: &dyn Fn(&mut Vec<u8>) -> aerolane::Result<()>| {
                let mut out = vec![];
                encode(&mut out).unwrap();
                same(what, &recorded.last(), &out);
            };
            let _ = client.put(&policy, &key, &bins).await;
            check("put", &|out| encode::write(&policy, &key, &bins, WriteKind::Put, timeout, out));
            let _ = client.add(&policy, &key, &bins[1..3]).await;
            check("add", &|out| encode::write(&policy, &key, &bins[1..3], WriteKind::Add, timeout, out));
            let _ = client.append(&policy, &key, &bins[5..6]).await;
            check("append", &|out| encode::write(&policy, &key, &bins[5..6], WriteKind::Append, timeout, out));
            let _ = client.prepend(&policy, &key, &bins[5..7]).await;
            check("prepend", &|out| encode::write(&policy, &key, &bins[5..7], WriteKind::Prepend, timeout, out));
            let _ = client.delete(&policy, &key).await;
            check("delete", &|out| encode::delete(&policy, &key, timeout, out));
            let _ = client.touch(&policy, &key).await;
            check("touch", &|out| encode::touch(&policy, &key, timeout, out));
        }
    }
}

fn operation_lists() -> Vec<Vec<Operation>> {
    let (a, s) = (as_bin!("a", 1), as_bin!("s", "x"));
    vec![
        vec![ours::get()],
        vec![ours::get_header()],
        vec![ours::get_bin("a"), ours::get_bin("b")],
        vec![ours::get_bin("a"), ours::get_header()],
        vec![ours::put(&a), ours::get()],
        vec![ours::put(&a), ours::get_bin("a"), ours::add(&a), ours::get_bin("a")],
        vec![ours::append(&s), ours::prepend(&s), ours::touch(), ours::get_header()],
        vec![ours::delete()],
        values().iter().map(ours::put).collect(),
    ]
}

#[tokio::test]
async fn operations() {
    let recorded = Recorded::connect().await;
    let mut strong = WritePolicy::default();
    strong.base_policy.read_mode_sc = ReadModeSc::AllowUnavailable;
    for policy in write_policies().into_iter().chain([strong]) {
        let timeout = server_timeout_ms(&policy.base_policy);
        for key in keys() {
            for list in operation_lists() {
                // aerospike-core loses this mode in commands that only read.
                if policy.base_policy.read_mode_sc != ReadModeSc::Session && !operations_write(&list) {
                    continue;
                }
                let core: Vec<core_ops::Operation> = list.iter().map(Into::into).collect();
                let _ = recorded.client.operate(&policy, &key, &core).await;
                let mut out = vec![];
                encode::operate(&policy, &key, &list, timeout, &mut out).unwrap();
                same("operate", &recorded.last(), &out);
            }
        }
    }
}

/// A row of each kind, for both sides.
type RowPair = (BatchOperation, aerospike_core::BatchOperation);

fn read_rows(policy: &BatchReadPolicy) -> Vec<RowPair> {
    use aerospike_core::BatchOperation as Core;
    let mut rows: Vec<RowPair> = vec![];
    for bins in [Bins::All, Bins::All, Bins::None, Bins::from(["a", "b"]), Bins::from(["a", "b"]), Bins::Some(vec![])] {
        for key in keys() {
            let ours = BatchOperation::read(policy, key.clone(), bins.clone());
            rows.push((ours, Core::read(policy, key, bins.clone())));
        }
    }
    for list in &operation_lists()[..4] {
        for key in keys() {
            let core: Vec<core_ops::Operation> = list.iter().map(Into::into).collect();
            rows.push((BatchOperation::read_ops(policy, key.clone(), list.clone()), Core::read_ops(policy, key, core)));
        }
    }
    rows
}

fn write_rows(policy: &BatchWritePolicy) -> Vec<RowPair> {
    use aerospike_core::BatchOperation as Core;
    let mut rows: Vec<RowPair> = vec![];
    for list in &operation_lists()[4..] {
        for key in keys() {
            let core: Vec<core_ops::Operation> = list.iter().map(Into::into).collect();
            rows.push((BatchOperation::write(policy, key.clone(), list.clone()), Core::write(policy, key, core)));
        }
    }
    rows
}

fn other_rows() -> Vec<RowPair> {
    use aerospike_core::BatchOperation as Core;
    let filter = Some(eq(int_bin("b".to_owned()), int_val(1)));
    let delete = BatchDeletePolicy::default();
    let deletes = [
        delete.clone(),
        BatchDeletePolicy { send_key: true, durable_delete: true, ..delete.clone() },
        BatchDeletePolicy {
            generation_policy: GenerationPolicy::ExpectGenEqual,
            generation: 3,
            commit_level: CommitLevel::CommitMaster,
            filter_expression: filter.clone(),
            ..delete
        },
    ];
    let udf = BatchUdfPolicy::default();
    let udfs = [
        udf.clone(),
        BatchUdfPolicy {
            send_key: true,
            durable_delete: true,
            // Not `on_locking_only`: aerospike-core 3.0.0 does not count its byte and panics.
            on_locking_only: false,
            commit_level: CommitLevel::CommitMaster,
            expiration: Expiration::Seconds(5),
            filter_expression: filter,
        },
    ];
    let mut rows: Vec<RowPair> = vec![];
    for key in keys() {
        for policy in &deletes {
            rows.push((BatchOperation::delete(policy, key.clone()), Core::delete(policy, key.clone())));
        }
        for policy in &udfs {
            let args = vec![Value::from(1), Value::List(vec![Value::from("x")])];
            let ours = BatchOperation::udf(policy, key.clone(), "module", "function", args.clone());
            rows.push((ours, Core::udf(policy, key.clone(), "module", "function", args)));
        }
    }
    rows.sort_by_key(|(ours, _)| format!("{ours:?}").len());
    rows
}

fn row_sets() -> Vec<Vec<RowPair>> {
    let filter = Some(eq(int_bin("b".to_owned()), int_val(1)));
    let read = BatchReadPolicy::default();
    let write = BatchWritePolicy::default();
    let mut mixed = write_rows(&write);
    mixed.truncate(7);
    mixed.extend(read_rows(&read).into_iter().take(7));
    vec![
        read_rows(&read),
        read_rows(&BatchReadPolicy { read_touch_ttl: ReadTouchTtl::Percent(50), filter_expression: filter.clone() }),
        write_rows(&write),
        write_rows(&BatchWritePolicy {
            record_exists_action: RecordExistsAction::Replace,
            generation_policy: GenerationPolicy::ExpectGenGreater,
            generation: 9,
            commit_level: CommitLevel::CommitMaster,
            expiration: Expiration::Never,
            send_key: true,
            durable_delete: true,
            on_locking_only: false,
            filter_expression: filter,
        }),
        write_rows(&BatchWritePolicy { record_exists_action: RecordExistsAction::CreateOnly, ..write }),
        other_rows(),
        mixed,
    ]
}

#[tokio::test]
async fn batches() {
    let recorded = Recorded::connect().await;
    let plain = BatchPolicy::default();
    let mut policies: Vec<BatchPolicy> =
        base_policies().into_iter().map(|base_policy| BatchPolicy { base_policy, ..plain.clone() }).collect();
    policies.push(BatchPolicy { allow_inline: false, allow_inline_ssd: true, respond_all_keys: false, ..plain });
    for mut policy in policies {
        policy.base_policy.max_retries = 0;
        for rows in row_sets() {
            let (mine, mut theirs): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
            recorded.client.batch(&policy, &mut theirs).await.expect("the batch is sent");
            let places: Vec<u32> = (0..mine.len() as u32).collect();
            let mut out = vec![];
            let timeout = server_timeout_ms(&policy.base_policy);
            batch::encode(&policy, &mine, &places, timeout, &mut out).unwrap();
            same_batch(&recorded.last(), &out);
        }
    }
}

#[tokio::test]
async fn rows_that_are_alone_on_their_node() {
    let recorded = Recorded::connect().await;
    for base_policy in base_policies() {
        let mut policy = BatchPolicy { base_policy, ..BatchPolicy::default() };
        policy.base_policy.max_retries = 0;
        let timeout = server_timeout_ms(&policy.base_policy);
        for (mine, theirs) in row_sets().into_iter().flatten() {
            if !batch::fits_single(&mine) {
                continue;
            }
            let what = format!("{mine:?}");
            let mut theirs = [theirs];
            recorded.client.batch(&policy, &mut theirs).await.expect("the row is sent");
            let mut out = vec![];
            batch::encode_single(&policy, &mine, timeout, &mut out).unwrap();
            same(&what, &recorded.last(), &out);
        }
    }
}
