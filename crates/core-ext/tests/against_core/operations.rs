//! Operations on collections, bits, HLLs, strings, paths and with expressions: every constructor, in contexts of
//! every kind, gives the bytes that aerospike-core 3.0.0 sends; and so does what ours become for aerospike-core.

use aerolane::batch::{self, BatchOperation};
use aerolane::operations::{self as ours, Operation};
use aerolane::raw::command::encode;
use aerolane::raw::command::policy::server_timeout_ms;
use aerospike_core::operations as core_ops;
use aerospike_core::{BatchPolicy, BatchReadPolicy, BatchWritePolicy, WritePolicy, as_bin, as_key};

use crate::bytes::{Recorded, same, same_batch};
use crate::constructors::{all, bits, contexts, lists, maps, strings};

/// Sends theirs through aerospike-core and compares.
async fn compare(
    recorded: &Recorded,
    policy: &WritePolicy,
    what: &str,
    mine: &[Operation],
    theirs: &[core_ops::Operation],
) {
    let key = as_key!("test", "s", 1);
    let mut out = vec![];
    let timeout = server_timeout_ms(&policy.base_policy);
    encode::operate(policy, &key, mine, timeout, &mut out).unwrap_or_else(|e| panic!("{what}: {e}"));
    let _ = recorded.client.operate(policy, &key, theirs).await;
    same(what, &recorded.last(), &out);
    // What ours become for aerospike-core is the same, too.
    let back: Vec<core_ops::Operation> = mine.iter().map(Into::into).collect();
    let _ = recorded.client.operate(policy, &key, &back).await;
    same(&format!("{what}, converted"), &recorded.last(), &out);
}

#[tokio::test]
async fn every_constructor() {
    let recorded = Recorded::connect().await;
    let policy = WritePolicy::default();
    let mut names: Vec<&str> = all().iter().map(|pair| pair.name).collect();
    names.dedup();
    names.sort_unstable();
    names.dedup();
    // All that aerospike-core 3.0.0 has: 51 of lists, 42 of maps, 20 of bits, 14 of HyperLogLogs, 44 of strings, 9 of
    // paths, 2 with expressions.
    assert_eq!(names.len(), 182, "{names:?}");
    for pair in all() {
        compare(&recorded, &policy, pair.name, &[pair.ours], &[pair.theirs]).await;
    }
}

#[tokio::test]
async fn every_kind_of_context() {
    let recorded = Recorded::connect().await;
    let policy = WritePolicy::default();
    for ctx in contexts() {
        let nested = [
            lists().swap_remove(12),
            lists().pop().unwrap(),
            maps().pop().unwrap(),
            bits().swap_remove(15),
            strings().swap_remove(0),
        ];
        for pair in nested {
            let what = format!("{} in {ctx:?}", pair.name);
            let (mine, theirs) = (pair.ours.context(ctx.clone()), pair.theirs.context(ctx.clone()));
            compare(&recorded, &policy, &what, &[mine], &[theirs]).await;
        }
        let creates = lists().into_iter().take(9).chain(maps().into_iter().take(9));
        for pair in creates {
            let what = format!("{} in {ctx:?}", pair.name);
            let (mine, theirs) = (pair.ours.context(ctx.clone()), pair.theirs.context(ctx.clone()));
            compare(&recorded, &policy, &what, &[mine], &[theirs]).await;
        }
    }
}

/// The flags of the header depend on all operations of a call.
#[tokio::test]
async fn mixed_lists_of_operations() {
    let recorded = Recorded::connect().await;
    let (plain, bin) = (WritePolicy::default(), as_bin!("a", 1));
    let each = WritePolicy { respond_per_each_op: true, ..WritePolicy::default() };
    let scalars = || {
        [
            (ours::get_bin("a"), core_ops::get_bin("a")),
            (ours::get(), core_ops::get()),
            (ours::get_header(), core_ops::get_header()),
            (ours::put(&bin), core_ops::put(&bin)),
        ]
    };
    let some = || {
        let names = [
            "lists::size",
            "lists::clear",
            "maps::size",
            "maps::clear",
            "bitwise::get",
            "bitwise::not",
            "hll::get_count",
            "hll::fold",
            "exp::read_exp",
            "exp::write_exp",
            "path::select_values",
            "path::remove",
            "string::strlen",
            "string::upper",
            "string::to_string",
        ];
        let mut all = all();
        names.map(|name| all.swap_remove(all.iter().position(|pair| pair.name == name).unwrap()))
    };
    for policy in [&plain, &each] {
        for (one, their) in scalars() {
            for pair in some() {
                let (mine, theirs) = ([one.clone(), pair.ours], [their.clone(), pair.theirs]);
                compare(&recorded, policy, pair.name, &mine, &theirs).await;
            }
        }
        for (first, second) in some().into_iter().zip(some().into_iter().rev()) {
            let (mine, theirs) = ([first.ours, second.ours], [first.theirs, second.theirs]);
            compare(&recorded, policy, first.name, &mine, &theirs).await;
        }
    }
}

#[tokio::test]
async fn rows_of_batches() {
    use aerospike_core::BatchOperation as Core;
    let recorded = Recorded::connect().await;
    let mut policy = BatchPolicy::default();
    policy.base_policy.max_retries = 0;
    let (read, write) = (BatchReadPolicy::default(), BatchWritePolicy::default());
    let (put, get, bin) = (ours::put(&as_bin!("a", 1)), ours::get_bin("a"), as_bin!("a", 1));
    let (mut mine, mut theirs) = (vec![], vec![]);
    for (index, pair) in all().into_iter().enumerate() {
        // aerospike-core's repetitions are found by the identity of operations, ours by their contents: here none.
        let key = as_key!("test", format!("s{index}").as_str(), index as i64);
        if encodes(&policy, &BatchOperation::read_ops(&read, key.clone(), [pair.ours.clone()])) {
            mine.push(BatchOperation::read_ops(&read, key.clone(), [pair.ours.clone(), get.clone()]));
            theirs.push(Core::read_ops(&read, key.clone(), [pair.theirs.clone(), core_ops::get_bin("a")]));
            mine.push(BatchOperation::write(&write, key.clone(), [pair.ours, put.clone()]));
            theirs.push(Core::write(&write, key, [pair.theirs, core_ops::put(&bin)]));
        } else {
            mine.push(BatchOperation::write(&write, key.clone(), [get.clone(), pair.ours]));
            theirs.push(Core::write(&write, key, [core_ops::get_bin("a"), pair.theirs]));
        }
    }
    let places: Vec<u32> = (0..mine.len() as u32).collect();
    let timeout = server_timeout_ms(&policy.base_policy);
    let mut out = vec![];
    batch::encode(&policy, &mine, &places, timeout, &mut out).unwrap();
    recorded.client.batch(&policy, &mut theirs).await.expect("the batch is sent");
    let asked = same_batch(&recorded.last(), &out);
    assert_eq!(asked, places.iter().filter(|at| !mine[**at as usize].has_write()).count());

    for (mine, theirs) in mine.into_iter().zip(theirs) {
        let what = format!("{mine:?}");
        let mut theirs = [theirs];
        recorded.client.batch(&policy, &mut theirs).await.expect("the row is sent");
        assert!(batch::fits_single(&mine));
        let mut out = vec![];
        batch::encode_single(&policy, &mine, timeout, &mut out).unwrap();
        same(&what, &recorded.last(), &out);
    }
}

fn encodes(policy: &BatchPolicy, row: &BatchOperation) -> bool {
    batch::encode(policy, std::slice::from_ref(row), &[0], 0, &mut vec![]).is_ok()
}
