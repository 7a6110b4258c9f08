//! Operations mean the same through Aerolane and through aerospike-core: every constructor, in contexts, in lists of
//! several and in rows of batches, is carried out by both clients on records of the same contents, and everything that
//! can be seen of it is compared: bins, results, generation, result code, and what the record holds afterwards.

#[path = "../../../tests/rust/common/mod.rs"]
mod common;
#[path = "against_core/constructors.rs"]
mod constructors;

use std::collections::BTreeMap;

use aerolane::operations::{self as ours, Operation};
use aerolane::{BatchOperation, Client};
use aerospike_core::operations as theirs;
use aerospike_core::operations::cdt_context::{CdtContext, ctx_list_index, ctx_map_key};
use aerospike_core::{
    BatchOperation as CoreRow, BatchPolicy, BatchReadPolicy, BatchWritePolicy, Bin, Bins, ClientPolicy, Key,
    ReadPolicy, Record, RecordExistsAction, Value, WritePolicy, as_bin,
};
use common::{Target, policy};
use constructors::{Pair, all, bits, contexts, lists, maps, strings};

/// Long, for busy machines: nothing here is about time.
const PATIENCE_MS: u32 = 30_000;

/// Both clients on one cluster, and what was seen.
struct Bench {
    target: Target,
    mine: Client,
    theirs: aerospike_core::Client,
    write: WritePolicy,
    /// Keys of other records, on all nodes, one of them certainly on the node of ours.
    company: Vec<Key>,
    /// Comparisons by the outcome that both had.
    seen: BTreeMap<String, u32>,
    differences: Vec<String>,
}

impl Bench {
    async fn start() -> Self {
        let target = Target::start();
        let policy = ClientPolicy { timeout: PATIENCE_MS, ..policy() };
        let mine = Client::new(&policy, target.seeds()).await.expect("connected");
        let theirs = aerospike_core::Client::new(&policy, target.seeds()).await.expect("connected");
        let mut write = WritePolicy::default();
        // A write that is carried out twice would blur what its answer says.
        write.base_policy.max_retries = 0;
        write.base_policy.total_timeout = PATIENCE_MS;
        let home = target.key("mine").partition_id();
        let neighbour =
            (9..=i64::MAX).map(|i| target.key(i)).find(|key| key.partition_id() == home).expect("one of them all");
        let company = (0..9).map(|i| target.key(i)).chain([neighbour]).collect();
        Self { target, mine, theirs, write, company, seen: BTreeMap::new(), differences: vec![] }
    }

    fn keys(&self) -> (Key, Key) {
        (self.target.key("mine"), self.target.key("theirs"))
    }

    /// Puts the same record under both keys.
    async fn prepare(&self) {
        let (mine, theirs) = self.keys();
        let replace = WritePolicy { record_exists_action: RecordExistsAction::Replace, ..self.write.clone() };
        for key in [&mine, &theirs] {
            self.mine.put(&replace, key, &bins()).await.expect("written");
        }
    }

    /// Carries out the operations with both clients, and compares.
    async fn compare(&mut self, what: &str, mine: &[Operation], core: &[theirs::Operation]) {
        self.prepare().await;
        let (my_key, their_key) = self.keys();
        let my_answer =
            self.mine.operate(&self.write, &my_key, mine).await.map_err(|e| code(e.server_result_code(), &e));
        let their_answer =
            self.theirs.operate(&self.write, &their_key, core).await.map_err(|e| code(e.server_result_code(), &e));
        self.note(what, my_answer, their_answer);
        self.compare_records(what).await;
    }

    /// The same as a row of a batch: ours in company and alone, theirs alone. (A row of theirs that reads with
    /// operations leaves out what gives nothing, but only if it shares its node with others.)
    async fn compare_rows(&mut self, what: &str, writes: bool, mine: &[Operation], core: &[theirs::Operation]) {
        let mut policy = BatchPolicy::write_default();
        policy.base_policy = self.write.base_policy.clone();
        let (read, write) = (BatchReadPolicy::default(), BatchWritePolicy::default());
        let (my_key, their_key) = self.keys();
        for company in [self.company.clone(), vec![]] {
            self.prepare().await;
            let my_row = if writes {
                BatchOperation::write(&write, my_key.clone(), mine)
            } else {
                BatchOperation::read_ops(&read, my_key.clone(), mine)
            };
            let their_row = if writes {
                CoreRow::write(&write, their_key.clone(), core)
            } else {
                CoreRow::read_ops(&read, their_key.clone(), core)
            };
            let mut my_rows = vec![my_row];
            my_rows.extend(company.into_iter().map(|key| BatchOperation::read(&read, key, Bins::None)));
            let mut their_rows = [their_row];
            self.mine.batch(&policy, &mut my_rows).await.unwrap_or_else(|e| panic!("{what}: {e}"));
            self.theirs.batch(&policy, &mut their_rows).await.unwrap_or_else(|e| panic!("{what}: {e}"));
            let my_answer = match my_rows[0].error() {
                Some(e) => Err(code(e.server_result_code(), &e)),
                None => Ok(my_rows[0].record().expect("an outcome").clone()),
            };
            let their_answer = match their_rows[0].error() {
                Some(e) => Err(code(e.server_result_code(), &e)),
                None => Ok(their_rows[0].record().expect("an outcome").clone()),
            };
            self.note(what, my_answer, their_answer);
            self.compare_records(what).await;
        }
    }

    fn note(&mut self, what: &str, mine: Result<Record, String>, theirs: Result<Record, String>) {
        let (mine, theirs) = (mine.map(|r| words(&r)), theirs.map(|r| words(&r)));
        if mine == theirs {
            *self.seen.entry(mine.map_or_else(|code| code, |_| "ok".to_owned())).or_default() += 1;
        } else {
            self.differences.push(format!("{what}:\n  ours   {mine:?}\n  theirs {theirs:?}"));
        }
    }

    /// What the two records hold, both read by aerospike-core.
    async fn compare_records(&mut self, what: &str) {
        let (mine, theirs) = self.keys();
        let read = ReadPolicy { base_policy: self.write.base_policy.clone() };
        let mine = self.theirs.get(&read, &mine, Bins::All).await.map_err(|e| code(e.server_result_code(), &e));
        let theirs = self.theirs.get(&read, &theirs, Bins::All).await.map_err(|e| code(e.server_result_code(), &e));
        self.note(&format!("the record after {what}"), mine, theirs);
    }

    /// Fails if anything was different; says what was compared.
    fn finish(self, least_ok: u32) {
        println!("{:?}", self.seen);
        let (n, first) = (self.differences.len(), self.differences.iter().take(5).cloned().collect::<Vec<_>>());
        assert!(n == 0, "{n} differences, the first of them:\n{}", first.join("\n"));
        let ok = self.seen.get("ok").copied().unwrap_or_default();
        assert!(ok >= least_ok, "only {ok} comparisons of answers that succeeded: {:?}", self.seen);
    }
}

/// The server's result code. A real server makes maps with keys that no client reads, when a context is to create them.
fn code(code: Option<aerospike_core::ResultCode>, error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    match code {
        Some(code) => format!("{code:?}"),
        None if text.contains("map key") => "a map key that cannot be read".to_owned(),
        None => panic!("no answer of the server: {text}"),
    }
}

fn words(record: &Record) -> String {
    format!("{:?} {:?} {}", record.bins, record.results, record.generation)
}

/// A record that operations find something in.
fn bins() -> Vec<Bin> {
    let list = |values: &[i64]| Value::List(values.iter().map(|v| Value::from(*v)).collect());
    let deep = BTreeMap::from([
        (Value::from("deep"), Value::SortedMap(BTreeMap::from([(Value::from("k"), Value::from(2.5))]))),
        (Value::from("list"), list(&[3, 1, 2])),
        (Value::from("a"), list(&[0, 5])),
        (Value::from("k"), Value::from(2.5)),
        (Value::from(1), list(&[7])),
    ]);
    let deep = || Value::SortedMap(deep.clone());
    vec![
        Bin::new("l", Value::List(vec![list(&[1, 300, 2]), 7.into(), "v".into(), 7.into(), deep(), 1.5.into()])),
        Bin::new("m", deep()),
        Bin::new("b", Value::Blob((0..64).collect())),
        Bin::new("s", Value::from("an éxample, 12")),
        Bin::new("p", deep()),
        as_bin!("a", 80_000),
        as_bin!("e", 1),
    ]
}

#[tokio::test]
async fn every_operation() {
    let mut bench = Bench::start().await;
    for Pair { name, ours, theirs } in all() {
        bench.compare(name, &[ours], &[theirs]).await;
    }
    // What has a HyperLogLog to work on.
    for index in 0..hlls().len() {
        let Pair { name, ours: mine, theirs: core } = hlls().swap_remove(index);
        let policy = theirs::hll::HllPolicy::default();
        let values = || (0..100).map(Value::from).collect::<Vec<_>>();
        let mine = [ours::hll::add_with_index_and_min_hash(&policy, "h", values(), 8, 8), mine, ours::get_bin("h")];
        let core = [theirs::hll::add_with_index_and_min_hash(&policy, "h", values(), 8, 8), core, theirs::get_bin("h")];
        bench.compare(name, &mine, &core).await;
    }
    bench.finish(2000);
}

fn hlls() -> Vec<Pair> {
    all().into_iter().filter(|pair| pair.name.starts_with("hll::")).collect()
}

/// CE 8.1.2 does not survive a negative list index that is to be created with padding (`tests/golden/crashes.jsonl`).
fn kills_the_server(ctx: &[CdtContext]) -> bool {
    let text = format!("{ctx:?}");
    text.contains("id: 16,") && text.contains("Int(-")
}

#[tokio::test]
async fn contexts_of_every_kind() {
    let mut bench = Bench::start().await;
    let nested: [fn() -> Vec<Pair>; 4] = [lists, maps, bits, strings];
    for ctx in contexts() {
        if !bench.target.is_embedded() && kills_the_server(&ctx) {
            continue;
        }
        for pairs in nested {
            for index in [0, 3, 7, 12, 20] {
                let Pair { name, ours, theirs } = pairs().swap_remove(index);
                let what = format!("{name} in {ctx:?}");
                bench.compare(&what, &[ours.context(ctx.clone())], &[theirs.context(ctx.clone())]).await;
            }
        }
    }
    // Those that find what they are for.
    let found = [
        (lists(), vec![ctx_list_index(0)]),
        (maps(), vec![ctx_map_key("deep".into())]),
        (lists(), vec![ctx_list_index(4), ctx_map_key("list".into())]),
    ];
    for (pairs, ctx) in found {
        for Pair { name, ours, theirs } in pairs {
            let what = format!("{name} in {ctx:?}");
            bench.compare(&what, &[ours.context(ctx.clone())], &[theirs.context(ctx.clone())]).await;
        }
    }
    bench.finish(2500);
}

/// Several operations, also on one bin: how the results line up.
#[tokio::test]
async fn several_operations_on_a_record() {
    let mut bench = Bench::start().await;
    let pairs = all();
    for at in (0..pairs.len()).step_by(3) {
        for (a, b) in [(at, (at + 1) % pairs.len()), (at, at), (at, (at * 7 + 3) % pairs.len())] {
            let what = format!("{}, then {}", pairs[a].name, pairs[b].name);
            let mine = [pairs[a].ours.clone(), ours::get_bin("a"), pairs[b].ours.clone()];
            let core = [pairs[a].theirs.clone(), theirs::get_bin("a"), pairs[b].theirs.clone()];
            bench.compare(&what, &mine, &core).await;
        }
        let bin = as_bin!("a", 1);
        let mine = [ours::add(&bin), pairs[at].ours.clone(), ours::get_header()];
        let core = [theirs::add(&bin), pairs[at].theirs.clone(), theirs::get_header()];
        bench.compare(&format!("add, {}, get_header", pairs[at].name), &mine, &core).await;
    }
    bench.finish(2500);
}

#[tokio::test]
async fn rows_of_batches() {
    let mut bench = Bench::start().await;
    for Pair { name, ours: mine, theirs: core } in all() {
        let bin = as_bin!("a", 1);
        let what = format!("a row with {name}");
        // With a write beside it every operation can stand in a row that writes; in a row that reads only those that read.
        bench.compare_rows(&what, true, &[mine.clone(), ours::add(&bin)], &[core.clone(), theirs::add(&bin)]).await;
        let reads =
            ["::get", "::size", "::select_", "::read_", "::count", "::lscan", "::rscan", "::describe", "::strlen"];
        if reads.iter().any(|read| name.contains(read)) {
            bench.compare_rows(&what, false, &[mine, ours::get_bin("a")], &[core, theirs::get_bin("a")]).await;
        }
    }
    bench.finish(6000);
}
