//! Operations on collections, bits, HLLs, strings, paths and with expressions: every constructor, in contexts of
//! every kind, gives the bytes that aerospike-core 3.0.0 sends; and so does what ours become for aerospike-core.

use std::collections::{BTreeMap, HashMap};

use aerolane::batch::{self, BatchOperation};
use aerolane::command::encode;
use aerolane::command::policy::server_timeout_ms;
use aerolane::operations::{self as ours, Operation};
use aerospike_core::expressions::{
    Expression, exp_int_loop_var, exp_remove_result, gt, int_bin, int_val, map_val, string_val,
};
use aerospike_core::operations as core_ops;
use aerospike_core::operations::bitwise::{BitPolicy, BitwiseOverflowActions, BitwiseResizeFlags, BitwiseWriteFlags};
use aerospike_core::operations::cdt_context::{
    CdtContext, ctx_all_children, ctx_all_children_with_filter, ctx_and_filter, ctx_list_index, ctx_list_index_create,
    ctx_list_rank, ctx_list_value, ctx_map_index, ctx_map_key, ctx_map_key_create, ctx_map_keys_in, ctx_map_rank,
    ctx_map_value,
};
use aerospike_core::operations::exp::{ExpReadFlags, ExpWriteFlags};
use aerospike_core::operations::hll::{HllPolicy, HllWriteFlags};
use aerospike_core::operations::path::{ModifyFlag, SelectFlag};
use aerospike_core::operations::string::{StringNumericType, StringPolicy, StringRegexFlags, StringWriteFlags};
use aerospike_core::operations::{
    ListOrderType, ListPolicy, ListReturnType, ListSortFlags, ListWriteFlags, MapOrder, MapPolicy, MapReturnType,
    MapWriteFlags,
};
use aerospike_core::{BatchPolicy, BatchReadPolicy, BatchWritePolicy, IndexMap, Value, WritePolicy, as_bin, as_key};

use crate::bytes::{Recorded, same};

/// One constructor call, of both crates.
struct Pair {
    name: &'static str,
    ours: Operation,
    theirs: core_ops::Operation,
}

/// The same calls of constructors, of both crates.
macro_rules! both {
    ($($module:ident::$name:ident($($arg:expr),* $(,)?);)*) => {
        vec![$(Pair {
            name: concat!(stringify!($module), "::", stringify!($name)),
            ours: ours::$module::$name($($arg),*),
            theirs: core_ops::$module::$name($($arg),*),
        }),*]
    };
}

fn values() -> Vec<Value> {
    let pairs = || [(Value::from("k"), Value::from(1)), (Value::from(7), Value::from(vec![1u8]))];
    vec![
        Value::from(-129),
        Value::from("text"),
        Value::from(1.5),
        Value::from(0.25_f32),
        Value::from(true),
        Value::from(vec![1u8, 2]),
        Value::GeoJson(r#"{"type":"Point","coordinates":[1,2]}"#.into()),
        Value::Hll(vec![9; 40]),
        Value::Infinity,
        Value::Wildcard,
        Value::List(vec![Value::Nil, Value::from(i64::MIN), Value::List(vec![])]),
        Value::OrderedMap(IndexMap::from_iter(pairs())),
        Value::SortedMap(BTreeMap::from(pairs())),
        Value::HashMap(HashMap::from([(Value::from("one"), Value::from(300))])),
    ]
}

fn lists() -> Vec<Pair> {
    let plain = ListPolicy::default();
    let all = ListWriteFlags::ADD_UNIQUE | ListWriteFlags::NO_FAIL | ListWriteFlags::PARTIAL;
    let full = ListPolicy::new(ListOrderType::Ordered, all);
    let (ordered, unordered) = (ListOrderType::Ordered, ListOrderType::Unordered);
    let v = || Value::from("v");
    let what = ListReturnType::VALUES;
    let not = ListReturnType::COUNT.inverted();
    let mut out = both! {
        lists::create_persistent("l", ordered, true, true);
        lists::create_persistent("l", unordered, true, true);
        lists::create("l", unordered, false);
        lists::create("l", unordered, true);
        lists::create("l", ordered, false);
        lists::create_with_index("l", ordered);
        lists::set_order("l", unordered);
        lists::set_order("l", ordered);
        lists::set_order_with_index("l", ordered);
        lists::append(&plain, "l", Value::Nil);
        lists::append_items(&plain, "l", values());
        lists::append_items(&full, "l", vec![v()]);
        lists::insert(&plain, "l", 0, v());
        lists::insert(&full, "l", -1, Value::Nil);
        lists::insert_items(&plain, "l", 300, values());
        lists::insert_items(&full, "l", -70_000, vec![v()]);
        lists::pop("l", 0);
        lists::pop_range("l", 1, 2);
        lists::pop_range_from("l", -1);
        lists::remove("l", 0);
        lists::remove_range("l", 1, i64::MAX);
        lists::remove_range_from("l", 1);
        lists::remove_by_value("l", v(), not);
        lists::remove_by_value_list("l", vec![], what);
        lists::remove_by_value_list("l", values(), what);
        lists::remove_by_value_range("l", what, v(), Value::Nil);
        lists::remove_by_value_range("l", what, Value::Nil, Value::Infinity);
        lists::remove_by_value_relative_rank_range("l", what, v(), -1);
        lists::remove_by_value_relative_rank_range_count("l", what, v(), 1, 2);
        lists::remove_by_index("l", 1, ListReturnType::NONE);
        lists::remove_by_index_range("l", 1, not);
        lists::remove_by_index_range_count("l", 1, -2, what);
        lists::remove_by_rank("l", 1, ListReturnType::EXISTS);
        lists::remove_by_rank_range("l", 1, what);
        lists::remove_by_rank_range_count("l", 1, 2, what);
        lists::set("l", 1, v());
        lists::set_with_policy(&full, "l", 1, v());
        lists::trim("l", 1, 2);
        lists::clear("l");
        lists::increment(&plain, "l", 1, -5);
        lists::increment(&full, "l", 1, 5);
        lists::increment_by_one("l", 1);
        lists::increment_by_one_with_policy(&full, "l", 1);
        lists::size("l");
        lists::get("l", 1);
        lists::get_range("l", 1, 2);
        lists::get_range_from("l", 1);
        lists::join("l");
        lists::join_by_separator("l", ", ");
        lists::get_by_value("l", v(), what);
        lists::get_by_value_list("l", values(), not);
        lists::get_by_value_range("l", v(), Value::Nil, what);
        lists::get_by_value_range("l", v(), Value::Infinity, what);
        lists::get_by_index("l", 1, ListReturnType::REVERSE_INDEX);
        lists::get_by_index_range("l", 1, what);
        lists::get_by_index_range_count("l", 1, 2, what);
        lists::get_by_rank("l", 1, ListReturnType::RANK);
        lists::get_by_rank_range("l", 1, what);
        lists::get_by_rank_range_count("l", 1, 2, what);
        lists::get_by_value_relative_rank_range("l", v(), 1, what);
        lists::get_by_value_relative_rank_range_count("l", v(), 1, 2, what);
        lists::sort("l", ListSortFlags::DEFAULT);
        lists::sort("l", ListSortFlags::DESCENDING | ListSortFlags::DROP_DUPLICATES);
    };
    for value in values() {
        out.extend(both! {
            lists::append(&full, "l", value.clone());
            lists::get_by_value("l", value.clone(), what);
        });
    }
    out
}

fn maps() -> Vec<Pair> {
    let plain = MapPolicy::default();
    let flags = MapWriteFlags::CREATE_ONLY | MapWriteFlags::PARTIAL | MapWriteFlags::NO_FAIL;
    let full = MapPolicy::new(MapOrder::KeyValueOrdered, flags);
    let kept = MapPolicy::with_persisted_index(MapOrder::KeyOrdered, MapWriteFlags::DEFAULT);
    let (k, v) = (|| Value::from("k"), || Value::from(2.5));
    let what = MapReturnType::KEY_VALUE;
    let not = MapReturnType::ORDERED_MAP.inverted();
    let nowhere = Vec::new;
    let somewhere = || vec![ctx_list_index(-1), ctx_map_key("deep".into())];
    let pairs = || [(Value::from("z"), v()), (Value::from(5), k()), (Value::from("a"), Value::Nil)];
    let one = || HashMap::from([(k(), v())]);
    both! {
        maps::create("m", MapOrder::KeyOrdered, nowhere());
        maps::create("m", MapOrder::Unordered, somewhere());
        maps::create("m", MapOrder::KeyOrdered, somewhere());
        maps::create("m", MapOrder::KeyValueOrdered, somewhere());
        maps::create_with_index("m", MapOrder::KeyOrdered);
        maps::set_policy(&kept, "m", nowhere());
        maps::set_policy(&kept, "m", somewhere());
        maps::set_policy(&full, "m", somewhere());
        maps::set_order("m", MapOrder::KeyValueOrdered);
        maps::put(&plain, "m", k(), v());
        maps::put(&plain, "m", k(), Value::Nil);
        maps::put(&full, "m", k(), Value::Nil);
        maps::put(&kept, "m", Value::from(1), Value::List(values()));
        maps::put_items(&plain, "m", IndexMap::from_iter(pairs()));
        maps::put_items(&kept, "m", IndexMap::from_iter(pairs()));
        maps::put_items(&full, "m", IndexMap::from_iter(pairs()));
        maps::put_items(&plain, "m", BTreeMap::from(pairs()));
        maps::put_items(&full, "m", BTreeMap::from(pairs()));
        maps::put_items(&plain, "m", one());
        maps::put_items(&full, "m", HashMap::from(pairs()));
        maps::put_items(&plain, "m", BTreeMap::new());
        maps::increment_value(&kept, "m", k(), v());
        maps::increment_value(&full, "m", k(), Value::Nil);
        maps::decrement_value(&plain, "m", k(), Value::from(3));
        maps::decrement_value(&plain, "m", k(), Value::Nil);
        maps::clear("m");
        maps::remove_by_key("m", k(), what);
        maps::remove_by_key_list("m", values(), what);
        maps::remove_by_key_range("m", k(), Value::Nil, what);
        maps::remove_by_key_range("m", Value::Nil, k(), not);
        maps::remove_by_value("m", v(), what);
        maps::remove_by_value_list("m", values(), not);
        maps::remove_by_value_range("m", v(), Value::Nil, what);
        maps::remove_by_value_range("m", v(), Value::Infinity, what);
        maps::remove_by_index("m", 1, MapReturnType::KEY);
        maps::remove_by_index_range("m", 1, 2, what);
        maps::remove_by_index_range_from("m", 1, what);
        maps::remove_by_rank("m", 1, MapReturnType::NONE);
        maps::remove_by_rank_range("m", 1, 2, what);
        maps::remove_by_rank_range_from("m", 1, what);
        maps::size("m");
        maps::get_by_key("m", k(), MapReturnType::VALUE);
        maps::get_by_key_range("m", k(), Value::Nil, what);
        maps::get_by_key_range("m", k(), Value::Infinity, what);
        maps::get_by_value("m", Value::Wildcard, MapReturnType::REVERSE_RANK);
        maps::get_by_value_range("m", v(), Value::Nil, what);
        maps::get_by_value_range("m", v(), Value::Infinity, what);
        maps::get_by_index("m", -1, MapReturnType::INDEX);
        maps::get_by_index_range("m", 1, 2, what);
        maps::get_by_index_range_from("m", 1, MapReturnType::UNORDERED_MAP);
        maps::get_by_rank("m", 1, MapReturnType::EXISTS);
        maps::get_by_rank_range("m", 1, 2, what);
        maps::get_by_rank_range_from("m", 1, what);
        maps::remove_by_key_relative_index_range("m", k(), 1, what);
        maps::remove_by_key_relative_index_range_count("m", k(), 1, 2, what);
        maps::remove_by_value_relative_rank_range("m", v(), 1, what);
        maps::remove_by_value_relative_rank_range_count("m", v(), 1, 2, what);
        maps::get_by_key_list("m", values(), what);
        maps::get_by_value_list("m", vec![], what);
        maps::get_by_key_relative_index_range("m", k(), 1, what);
        maps::get_by_key_relative_index_range_count("m", k(), 1, 2, what);
        maps::get_by_value_relative_rank_range("m", v(), 1, what);
        maps::get_by_value_relative_rank_range_count("m", v(), 1, 2, what);
    }
}

fn bits() -> Vec<Pair> {
    let plain = BitPolicy::default();
    let full = BitPolicy::new(BitwiseWriteFlags::UPDATE_ONLY | BitwiseWriteFlags::NO_FAIL | BitwiseWriteFlags::PARTIAL);
    let b = || Value::from(vec![0xa5u8, 0x5a]);
    both! {
        bitwise::resize("b", 4, BitwiseResizeFlags::DEFAULT, &plain);
        bitwise::resize("b", 4, BitwiseResizeFlags::FROM_FRONT | BitwiseResizeFlags::GROW_ONLY, &full);
        bitwise::insert("b", 1, b(), &full);
        bitwise::remove("b", 1, 2, &plain);
        bitwise::set("b", 1, 2, b(), &plain);
        bitwise::or("b", 1, 2, b(), &full);
        bitwise::xor("b", 1, 2, b(), &plain);
        bitwise::and("b", 1, 2, b(), &plain);
        bitwise::not("b", -8, 2, &full);
        bitwise::lshift("b", 1, 2, 3, &plain);
        bitwise::rshift("b", 1, 2, 3, &full);
        bitwise::add("b", 0, 16, -1, true, BitwiseOverflowActions::Saturate, &plain);
        bitwise::add("b", 0, 16, 1, false, BitwiseOverflowActions::Fail, &full);
        bitwise::subtract("b", 0, 16, 1, true, BitwiseOverflowActions::Wrap, &plain);
        bitwise::set_int("b", 0, 16, -7, &full);
        bitwise::get("b", 0, 16);
        bitwise::count("b", 0, 16);
        bitwise::lscan("b", 0, 16, true);
        bitwise::rscan("b", 0, 16, false);
        bitwise::get_int("b", 0, 16, true);
        bitwise::get_int("b", 0, 16, false);
        bitwise::b64_encode("b");
        bitwise::b64_encode_range("b", 1, 2, true);
        bitwise::b64_encode_range("b", 1, 2, false);
    }
}

fn strings() -> Vec<Pair> {
    let p = StringPolicy::default();
    let full = StringPolicy::new(StringWriteFlags::UPDATE_ONLY | StringWriteFlags::NO_FAIL);
    let odd = StringPolicy::new(StringWriteFlags::from_bits(0xff));
    both! {
        string::strlen("s");
        string::substr_from("s", -1);
        string::substr("s", 1, 2);
        string::char_at("s", 1);
        string::find("s", "é");
        string::find_nth("s", "e", 2);
        string::contains("s", "e");
        string::starts_with("s", "e");
        string::ends_with("s", "e");
        string::to_integer("s");
        string::to_double("s");
        string::byte_length("s");
        string::is_numeric("s");
        string::is_numeric_typed("s", StringNumericType::Float);
        string::is_upper("s");
        string::is_lower("s");
        string::to_blob("s");
        string::split("s");
        string::split_by_separator("s", ",");
        string::b64_decode("s");
        string::regex_compare("s", "a.b");
        string::regex_compare_with_flags("s", "a.b", StringRegexFlags::MULTILINE | StringRegexFlags::DOT_ALL);
        string::insert(&full, "s", 1, "x");
        string::overwrite(&odd, "s", 1, "x");
        string::concat(&full, "s", "x");
        string::concat_list(&full, "s", &["x", "", "z"]);
        string::append(&p, "s", "x");
        string::prepend(&full, "s", "x");
        string::snip_from(&full, "s", 1);
        string::snip(&full, "s", 1, 2);
        string::replace(&full, "s", "x", "y");
        string::replace_all(&p, "s", "x", "y");
        string::upper(&full, "s");
        string::lower(&p, "s");
        string::case_fold(&full, "s");
        string::normalize_nfc(&full, "s");
        string::trim_start(&full, "s");
        string::trim_end(&full, "s");
        string::trim(&full, "s");
        string::pad_start(&full, "s", 9, "-");
        string::pad_end(&full, "s", 9, "-");
        string::repeat(&full, "s", 3);
        string::regex_replace(&full, "s", "a.b", "c", StringRegexFlags::GLOBAL);
    }
}

fn long_expression() -> Expression {
    gt(int_bin("a"), string_val("x".repeat(70_000)))
}

/// Operations that no context is for.
fn of_whole_bins() -> Vec<Pair> {
    let plain = HllPolicy::default();
    let full = HllPolicy::new(HllWriteFlags::UPDATE_ONLY | HllWriteFlags::NO_FAIL | HllWriteFlags::ALLOW_FOLD);
    let list = || vec![Value::Hll(vec![1; 300]), Value::from("x")];
    let exp = || gt(int_bin("a"), int_val(70_000));
    let map = || map_val(HashMap::from([(Value::from("k"), Value::from(1))]));
    let mut out = both! {
        hll::init(&plain, "h", 8);
        hll::init_with_min_hash(&full, "h", 8, 12);
        hll::add(&plain, "h", list());
        hll::add_with_index(&full, "h", list(), 8);
        hll::add_with_index_and_min_hash(&full, "h", vec![], 8, 12);
        hll::set_union(&full, "h", list());
        hll::refresh_count("h");
        hll::fold("h", 6);
        hll::get_count("h");
        hll::get_union("h", list());
        hll::get_union_count("h", list());
        hll::get_intersect_count("h", list());
        hll::get_similarity("h", list());
        hll::describe("h");
        exp::write_exp("e", exp(), ExpWriteFlags::ALLOW_DELETE | ExpWriteFlags::EVAL_NO_FAIL);
        exp::write_exp("e", long_expression(), ExpWriteFlags::DEFAULT);
        exp::read_exp("e", exp(), ExpReadFlags::EVAL_NO_FAIL);
        exp::read_exp("e", map(), ExpReadFlags::DEFAULT);
        string::to_string("s");
    };
    for path in contexts() {
        out.extend(both! {
            path::select_by_path("p", SelectFlag::MAP_KEY_VALUE | SelectFlag::NO_FAIL, &path);
            path::modify_by_path("p", ModifyFlag::NO_FAIL, exp(), &path);
            path::select_values("p", &path);
            path::select_map_keys("p", &path);
            path::select_map_entries("p", &path);
            path::select_matching_tree("p", &path);
            path::modify("p", exp(), &path);
            path::modify_no_fail("p", exp_remove_result(), &path);
            path::remove("p", &path);
        });
    }
    out
}

/// A context with each kind of level, and longer ones.
fn contexts() -> Vec<Vec<CdtContext>> {
    let filter = || gt(exp_int_loop_var(aerospike_core::expressions::LoopVarPart::VALUE), int_val(3));
    let (unordered, ordered) = (ListOrderType::Unordered, ListOrderType::Ordered);
    let mut out: Vec<Vec<CdtContext>> = vec![
        vec![],
        vec![ctx_list_index(0)],
        vec![ctx_list_index(-70_000)],
        vec![ctx_list_index_create(3, unordered, false)],
        vec![ctx_list_index_create(-1, unordered, true)],
        vec![ctx_list_index_create(3, ordered, true)],
        vec![ctx_list_rank(-1)],
        vec![ctx_map_index(200)],
        vec![ctx_map_rank(-1)],
        vec![ctx_map_keys_in(["a", "b"])],
        vec![ctx_map_keys_in([1_i64, 2])],
        vec![ctx_all_children()],
        vec![ctx_all_children_with_filter(filter())],
        vec![ctx_all_children_with_filter(long_expression())],
        vec![ctx_map_keys_in(["a"]), ctx_and_filter(filter())],
        vec![
            ctx_map_key("a".into()),
            ctx_list_index_create(0, ordered, false),
            ctx_map_key_create(1.into(), MapOrder::KeyOrdered),
        ],
        (0..20).map(ctx_list_index).collect(),
    ];
    for value in values() {
        out.push(vec![ctx_list_value(value.clone())]);
        out.push(vec![ctx_map_value(value.clone())]);
        out.push(vec![ctx_map_key(value.clone())]);
        for order in [MapOrder::Unordered, MapOrder::KeyOrdered, MapOrder::KeyValueOrdered] {
            out.push(vec![ctx_map_key_create(value.clone(), order)]);
        }
    }
    out
}

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

fn all() -> Vec<Pair> {
    [lists(), maps(), bits(), strings(), of_whole_bins()].into_iter().flatten().collect()
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
    same("batch", &recorded.last(), &out);

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
