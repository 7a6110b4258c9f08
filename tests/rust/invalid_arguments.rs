//! What the server refuses, and what is refused before it is sent: operations, indexes and functions with wrong arguments
//! give the same typed errors as aerospike-core, with what the server has to say about them. (Arguments of single calls
//! are in `bad_input.rs`; the same cases from Python in `tests/python/test_invalid_arguments.py`.)

use crate::common::{Patient, Target, patient_writes, policy};
use aerolane::expressions::{eq, int_bin, int_val};
use aerolane::operations::{self, Operation, bitwise, hll, lists, maps};
use aerolane::query::Filter;
use aerolane::{
    AdminPolicy, BatchOperation, BatchPolicy, BatchReadPolicy, BatchUdfPolicy, BatchWritePolicy, CollectionIndexType,
    Error, ErrorKind, IndexType, PartitionFilter, QueryPolicy, ResultCode, Statement, SyncClient, Task as _, UdfLang,
    Value, WritePolicy, as_bin,
};
use aerospike_core::operations::cdt_context::{CdtContext, ctx_list_index, ctx_map_key};
use aerospike_core::operations::{self as theirs, ListPolicy, ListReturnType, MapPolicy, MapReturnType};

/// A client of ours, aerospike-core's, and a record that operations find nothing good in.
struct Bench {
    target: Target,
    runtime: tokio::runtime::Runtime,
    mine: SyncClient,
    core: aerospike_core::Client,
}

impl Bench {
    fn start() -> Self {
        let target = Target::start();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mine = SyncClient::new(&policy(), target.seeds()).unwrap();
        let core = runtime.block_on(aerospike_core::Client::new(&policy(), target.seeds())).unwrap();
        let map = Value::from(std::collections::HashMap::from([(Value::from("k"), Value::from(1))]));
        let bins = [
            as_bin!("i", 1),
            as_bin!("s", "text"),
            as_bin!("b", vec![1_u8, 2]),
            as_bin!("l", Value::List(vec![1.into(), "x".into()])),
            as_bin!("m", map),
        ];
        mine.put(&WritePolicy::patient(), &target.key("k"), &bins).unwrap();
        Self { target, runtime, mine, core }
    }

    /// Both clients get the same code for these operations, which is `code`; our error is told as one of the server.
    #[track_caller]
    fn refused(&self, code: ResultCode, mine: &[Operation], vendors: &[theirs::Operation]) {
        let (key, write) = (self.target.key("k"), WritePolicy::patient());
        let error = self.mine.operate(&write, &key, mine).unwrap_err();
        assert_eq!(error.server_result_code(), Some(code), "{error:?}");
        assert!(matches!(error.kind(), ErrorKind::Server { .. }), "{error:?}");
        assert!(error.node().is_some() && !error.in_doubt(), "{error:?}");
        let theirs = self.runtime.block_on(self.core.operate(&write, &key, vendors)).unwrap_err();
        assert_eq!(theirs.server_result_code(), Some(code), "{theirs:?}");
        // The same as a row of a batch, where it fails alone.
        let whole = BatchOperation::read(&BatchReadPolicy::default(), key.clone(), aerolane::Bins::All);
        let mut rows = [BatchOperation::read_ops(&BatchReadPolicy::default(), key.clone(), mine), whole.clone()];
        if let Err(error) = self.mine.batch(&BatchPolicy::patient(), &mut rows) {
            invalid(&error); // They write.
            rows = [BatchOperation::write(&BatchWritePolicy::default(), key, mine), whole];
            self.mine.batch(&BatchPolicy::patient(), &mut rows).unwrap();
        }
        assert_eq!(rows[0].result_code(), Some(code), "{:?}", rows[0]);
        assert_eq!(rows[1].result_code(), Some(ResultCode::Ok));
    }
}

fn invalid(error: &Error) {
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument), "{error:?}");
    assert!(error.node().is_none() && !error.in_doubt());
}

#[test]
fn empty_lists_of_operations() {
    let bench = Bench::start();
    let key = bench.target.key("k");
    invalid(&bench.mine.operate(&WritePolicy::patient(), &key, &[]).unwrap_err());
    // Rows, alone and beside another.
    let (write, read) = (BatchWritePolicy::default(), BatchReadPolicy::default());
    for row in [BatchOperation::write(&write, key.clone(), []), BatchOperation::read_ops(&read, key.clone(), [])] {
        invalid(&bench.mine.batch(&BatchPolicy::patient(), &mut [row.clone()]).unwrap_err());
        let mut rows = [row, BatchOperation::read(&read, key.clone(), aerolane::Bins::All)];
        invalid(&bench.mine.batch(&BatchPolicy::patient(), &mut rows).unwrap_err());
        assert!(rows.iter().all(|row| row.error().is_some()));
    }
    // Rows whose operations are of the other kind.
    let mut rows = [BatchOperation::write(&BatchWritePolicy::default(), key.clone(), [operations::get_bin("i")])];
    invalid(&bench.mine.batch(&BatchPolicy::patient(), &mut rows).unwrap_err());
    let add = operations::add(&as_bin!("i", 1));
    let mut rows = [BatchOperation::read_ops(&BatchReadPolicy::default(), key, [add])];
    invalid(&bench.mine.batch(&BatchPolicy::patient(), &mut rows).unwrap_err());
    // A query in the background without operations.
    let statement = Statement::new(bench.target.namespace(), bench.target.set(), aerolane::Bins::All);
    let error = bench.mine.query_operate(&WritePolicy::patient(), statement).unwrap_err();
    assert_eq!((error.result_code(), error.base_message().as_str()), (4, "no operations defined"), "{error:?}");
    assert!(error.node().is_none() && !error.in_doubt(), "{error:?}");
}

#[test]
fn wrong_types_of_bins() {
    let bench = Bench::start();
    let wrong = ResultCode::BinTypeError;
    bench.refused(wrong, &[lists::size("i")], &[theirs::lists::size("i")]);
    bench.refused(wrong, &[lists::size("m")], &[theirs::lists::size("m")]);
    bench.refused(wrong, &[maps::size("l")], &[theirs::maps::size("l")]);
    bench.refused(wrong, &[bitwise::count("s", 0, 8)], &[theirs::bitwise::count("s", 0, 8)]);
    bench.refused(wrong, &[hll::get_count("i")], &[theirs::hll::get_count("i")]);
    let (one, text) = (as_bin!("s", 1), as_bin!("i", "x"));
    bench.refused(wrong, &[operations::add(&one)], &[theirs::add(&one)]);
    bench.refused(wrong, &[operations::append(&text)], &[theirs::append(&text)]);
    let plain = ListPolicy::default();
    bench.refused(wrong, &[lists::append(&plain, "s", 1.into())], &[theirs::lists::append(&plain, "s", 1.into())]);
    let plain = MapPolicy::default();
    let put = || ("k".into(), 1.into());
    bench.refused(
        wrong,
        &[maps::put(&plain, "i", put().0, put().1)],
        &[theirs::maps::put(&plain, "i", put().0, put().1)],
    );
}

#[test]
fn negative_counts() {
    let bench = Bench::start();
    // To the server, a range with a negative count goes to the end.
    let key = bench.target.key("k");
    let items = ListReturnType::COUNT;
    for (operation, core) in [
        (
            lists::get_by_index_range_count("l", 0, -1, items),
            theirs::lists::get_by_index_range_count("l", 0, -1, items),
        ),
        (lists::get_by_rank_range_count("l", 1, -1, items), theirs::lists::get_by_rank_range_count("l", 1, -1, items)),
        (lists::get_range("l", 0, -1), theirs::lists::get_range("l", 0, -1)),
        (
            maps::get_by_index_range("m", 0, -1, MapReturnType::KEY),
            theirs::maps::get_by_index_range("m", 0, -1, MapReturnType::KEY),
        ),
    ] {
        let mine = bench.mine.operate(&WritePolicy::patient(), &key, &[operation]).unwrap();
        let theirs = bench.runtime.block_on(bench.core.operate(&WritePolicy::patient(), &key, &[core])).unwrap();
        assert_eq!(mine.bins, theirs.bins);
    }
    let bad = ResultCode::ParameterError;
    bench.refused(bad, &[bitwise::count("b", 0, -8)], &[theirs::bitwise::count("b", 0, -8)]);
    bench.refused(bad, &[bitwise::get("b", 0, -8)], &[theirs::bitwise::get("b", 0, -8)]);
}

#[test]
fn contexts_that_lead_to_no_collection() {
    let bench = Bench::start();
    let ways: [(&str, ResultCode, Vec<CdtContext>); 6] = [
        ("i", ResultCode::ParameterError, vec![ctx_map_key("k".into())]),
        ("s", ResultCode::ParameterError, vec![ctx_list_index(0)]),
        ("m", ResultCode::BinTypeError, vec![ctx_map_key("k".into())]),
        ("l", ResultCode::OpNotApplicable, vec![ctx_list_index(0), ctx_list_index(0)]),
        ("l", ResultCode::OpNotApplicable, vec![ctx_map_key("k".into())]),
        ("m", ResultCode::OpNotApplicable, vec![ctx_map_key("none".into())]),
    ];
    for (bin, code, way) in ways {
        let core = theirs::lists::size(bin).context(way.clone());
        bench.refused(code, &[lists::size(bin).context(way)], &[core]);
    }
    // Scalar operations take none at all.
    let nested = operations::add(&as_bin!("i", 1)).context([ctx_map_key("k".into())]);
    invalid(&bench.mine.operate(&WritePolicy::patient(), &bench.target.key("k"), &[nested]).unwrap_err());
}

#[test]
fn an_index_that_exists_and_one_that_does_not() {
    let bench = Bench::start();
    let (admin, namespace, set) = (AdminPolicy::patient(), bench.target.namespace(), bench.target.set());
    let name = format!("{set}_i");
    let create = |bin: &str, kind| {
        let plain = CollectionIndexType::Default;
        bench.mine.create_index_on_bin(&admin, namespace, set, bin, &name, kind, plain, None)
    };
    let task = create("i", IndexType::Numeric).unwrap();
    bench.runtime.block_on(task.wait_till_complete(None)).unwrap();
    let error = create("s", IndexType::String).unwrap_err();
    assert_eq!(error.server_result_code(), Some(ResultCode::IndexFound), "{error:?}");
    // With what the server says about it.
    assert!(error.has_message() && error.base_message().contains("'indexname' already exists"), "{error:?}");
    let theirs = bench.runtime.block_on(bench.core.create_index_on_bin(
        &admin,
        namespace,
        set,
        "s",
        &name,
        IndexType::String,
        CollectionIndexType::Default,
        None,
    ));
    assert_eq!(theirs.unwrap_err().server_result_code(), error.server_result_code());
    let task = bench.mine.drop_index(&admin, namespace, set, &name).unwrap();
    bench.runtime.block_on(task.wait_till_complete(None)).unwrap();
    for filter in [Filter::equal_by_index(name.as_str(), 1), Filter::equal("i", 1)] {
        let mut statement = Statement::new(namespace, set, aerolane::Bins::All);
        statement.set_filter(filter);
        let query = (QueryPolicy::patient(), PartitionFilter::all(), statement);
        let error = bench.mine.query(&query.0, query.1, query.2).unwrap().find_map(Result::err).expect("no such index");
        assert_eq!(error.server_result_code(), Some(ResultCode::IndexNotFound), "{error:?}");
    }
}

const SOURCE: &str =
    "function fail(rec)\n  local nothing = nil\n  return nothing.field\nend\nfunction one(rec) return 1 end\n";

#[test]
fn functions_that_fail_or_do_not_exist() {
    let bench = Bench::start();
    let admin = AdminPolicy::patient();
    let module = format!("invalid{}", std::process::id());
    let path = format!("{module}.lua");
    let task = bench.mine.register_udf(&admin, SOURCE.as_bytes(), &path, UdfLang::Lua).unwrap();
    bench.runtime.block_on(task.wait_till_complete(None)).unwrap();

    let (key, write) = (bench.target.key("k"), WritePolicy::patient());
    let call = |package: &str, function: &str| bench.mine.execute_udf(&write, &key, package, function, &[]);
    let theirs = |package: &str, function: &str| {
        let error = bench.runtime.block_on(bench.core.execute_udf(&write, &key, package, function, &[])).unwrap_err();
        error.to_string()
    };
    assert_eq!(call(&module, "one").unwrap(), Some(Value::Int(1)));
    let at = format!("{path}:3: attempt to index a nil value (local 'nothing')");
    for (package, function, message) in [
        (module.as_str(), "fail", at.as_str()),
        (&module, "nothing", "function not found"),
        ("no_such_module", "one", ""),
    ] {
        let error = call(package, function).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::UdfBadResponse), "{error:?}");
        assert_eq!(error.result_code(), i32::from(u8::from(ResultCode::UdfBadResponse)));
        assert!(error.base_message().contains(message), "{error:?}");
        assert!(theirs(package, function).contains(message));
    }
    // What the server refuses before it runs a function is refused as any write is: at once, and nothing is in doubt.
    bench.mine.put(&write, &key, &[as_bin!("a", 1)]).unwrap();
    let mut filtered = WritePolicy::patient();
    filtered.base_policy.filter_expression = Some(eq(int_bin("a".to_owned()), int_val(2)));
    let error = bench.mine.execute_udf(&filtered, &key, &module, "one", &[]).unwrap_err();
    assert_eq!(error.server_result_code(), Some(ResultCode::FilteredOut), "{error:?}");
    assert!(!error.in_doubt() && error.attempts() == 1 && error.node().is_some(), "{error:?}");
    // A row of a batch: the reason is in a bin of its record, as with aerospike-core.
    let udf = BatchUdfPolicy::default();
    let mut rows = [
        BatchOperation::udf(&udf, key.clone(), module.as_str(), "fail", []),
        BatchOperation::udf(&udf, key.clone(), module.as_str(), "one", []),
        BatchOperation::udf(&udf, key.clone(), "no_such_module", "one", []),
    ];
    bench.mine.batch(&patient_writes(), &mut rows).unwrap();
    let code = |row: &BatchOperation| row.result_code();
    assert_eq!([0, 2].map(|n| code(&rows[n])), [Some(ResultCode::UdfBadResponse); 2], "{rows:?}");
    let reason = rows[0].record().and_then(|record| record.bins.get("FAILURE")).map(ToString::to_string);
    assert!(reason.as_ref().is_some_and(|reason| reason.contains(&at)), "{reason:?}");
    assert_eq!(rows[1].record().unwrap().bins["SUCCESS"], Value::Int(1));

    let error = bench.mine.register_udf(&admin, b"function broken(", &format!("{module}_b.lua"), UdfLang::Lua);
    let error = error.map(drop).unwrap_err();
    assert!(error.to_string().contains(&format!("{module}_b.lua")), "{error:?}");
    let task = bench.mine.remove_udf(&admin, &path).unwrap();
    bench.runtime.block_on(task.wait_till_complete(None)).unwrap();
}
