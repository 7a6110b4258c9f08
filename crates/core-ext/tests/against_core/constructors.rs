//! Every constructor of operations on collections, bits, HLLs, strings, paths and with expressions, called in both
//! crates with the same arguments; and contexts of every kind.

use std::collections::{BTreeMap, HashMap};

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
use aerospike_core::{IndexMap, Value};

/// One constructor call, of both crates.
pub(crate) struct Pair {
    pub(crate) name: &'static str,
    pub(crate) ours: Operation,
    pub(crate) theirs: core_ops::Operation,
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

pub(crate) fn lists() -> Vec<Pair> {
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

pub(crate) fn maps() -> Vec<Pair> {
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

pub(crate) fn bits() -> Vec<Pair> {
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

pub(crate) fn strings() -> Vec<Pair> {
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
pub(crate) fn of_whole_bins() -> Vec<Pair> {
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
pub(crate) fn contexts() -> Vec<Vec<CdtContext>> {
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

pub(crate) fn all() -> Vec<Pair> {
    [lists(), maps(), bits(), strings(), of_whole_bins()].into_iter().flatten().collect()
}
