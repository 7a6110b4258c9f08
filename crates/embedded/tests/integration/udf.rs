//! UDFs beyond the recorded ones: limits, the sandbox, concurrent calls, background jobs and aggregations of several
//! nodes.

use crate::common::{Answer, Raw, digest, put_bin, write};
use aerolane_embedded::EmbeddedCluster;
use aerolane_embedded::faults::{FaultAction, FaultRule, RequestKind};
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info1, info2, info3};
use aerolane_wire::msgpack::{Element, Reader};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const MODULE: &str = r#"
function incr(rec, by)
  if aerospike:exists(rec) then
    rec.n = rec.n + by
    aerospike:update(rec)
  else
    rec.n = by
    aerospike:create(rec)
  end
  return rec.n
end
function forever(rec) while true do end end
function stubborn(rec) while true do pcall(function() while true do end end) end end
function in_coroutine(rec)
  while true do coroutine.resume(coroutine.create(function() while true do end end)) end
end
function bad_pattern(rec) local s = ("abc"):gsub("[", "x") return s end
function pattern_find(rec) return (("a"):rep(5000) .. "b"):find((".-"):rep(60) .. "c") end
function pattern_gsub(rec) return (("a"):rep(5000)):gsub((".-"):rep(60) .. "c", "x") end
function plain_find(rec) return (("a"):rep(2e7)):find(("a"):rep(1e7) .. "b", 1, true) or 1 end
function rep_nothing(rec) return #(("")):rep(2^62) end
function move_nothing(rec) return #table.move({}, 1, 2^53, 2) end
function insert_endless(rec) return table.insert(setmetatable({}, { __len = function() return 2^53 end }), 1, 5) end
function remove_endless(rec) return table.remove(setmetatable({}, { __len = function() return 2^53 end }), 1) end
function concat_endless(rec) return table.concat(setmetatable({}, { __index = tostring }), "", 1, 2^53) end
function sort_much(rec)
  local t = {}
  for i = 1, 1e6 do t[i] = (i * 7919) % 1000003 end
  while true do table.sort(t, function(a, b) return a < b end) end
end
function chain(rec)
  local l = list()
  for i = 1, 100000 do local outer = list() list.append(outer, l) l = outer end
  return 1
end
function map_chain(rec)
  local m = map()
  for i = 1, 100000 do local outer = map() outer[1] = m m = outer end
  return 1
end
function long_texts(rec)
  local s, l = ("x"):rep(1e7), list()
  for i = 1, 1e4 do list.append(l, s) end
end
function text_keys(rec)
  local s, m = ("x"):rep(1e6), map()
  for i = 1, 1e5 do m[s .. i] = i end
end
function many_lists(rec)
  local all = list()
  while true do list.append(all, list()) end
end
function wide_cycle(rec)
  local l = list()
  for i = 1, 30000 do list.append(l, l) end
  return #tostring(l) > 0 and 1
end
function garbage(rec)
  for i = 1, 2000 do local l = list() list.append(l, "some text that is not short") end
  return 1
end
function same_value_in_many_bins(rec)
  local l = list()
  for i = 1, 20000 do list.append(l, 123456789) end
  for i = 1, 1000 do rec["b" .. i] = l end
  return aerospike:create(rec)
end
function deep(rec) return deep(rec) + 1 end
function memory(rec) local t = {} for i = 1, 1e9 do t[i] = ("x"):rep(1e5) .. i end end
function list_memory(rec) local l = list { 1 } while true do list.concat(l, l) end end
function bytes_memory(rec) local t = {} for i = 1, 1e9 do t[i] = bytes(8); bytes.set_int64(t[i], 1000000, 1) end end
function cycle(rec) local l = list() list.append(l, l) list.append(l, l) return l end
function finalizer(rec) return setmetatable({}, { __gc = function() while true do end end }) end
function sandbox(rec)
  local found = list()
  for _, name in ipairs { "io", "debug_", "package", "dofile", "loadfile" } do
    if _G[name] ~= nil then list.append(found, name) end
  end
  if os.execute or os.remove or os.getenv or string.dump then list.append(found, "os") end
  if pcall(load, "\27Lua") and load("\27Lua") then list.append(found, "compiled code") end
  return #found
end
function missing_module(rec) return require("nothing") end
function logs(rec) info("n is %d", 5); warn("beware"); return 1 end
local function n_of(rec) return rec.n end
local function add(a, b) return a + b end
function sum(stream) return stream : map(n_of) : reduce(add) end
local function is_even(rec) return rec.n % 2 == 0 end
local function tally(m, rec) m[rec.n % 3] = (m[rec.n % 3] or 0) + 1; return m end
local function merge(a, b) return map.merge(a, b, add) end
function groups(stream) return stream : filter(is_even) : aggregate(map(), tally) : reduce(merge) end
function endless(stream) return stream : map(function(rec) while true do end end) end
function mark(rec, value) rec.marked = value; aerospike:update(rec) end
function broken(rec)
  return nil + 1
end
-- What was asked of the recorded server.
function shown(rec)
  local l = list { bytes(0), 1 }
  local m = map()
  m.a, m.b, m.c = 1, bytes(0), 3
  return tostring(bytes(0)) .. tostring(l) .. tostring(m)
end
function combined(rec)
  local a, b = map(), map()
  a.x, a.y, a.z, a.w = 1, 2, false, 5
  b.x, b.z, b.w = 10, 3, 6
  local function join(x, y) if x == 5 then return nil end return x + y end
  local d = map.diff(a, b)
  local m = map.merge(a, b, join)
  return tostring(m.x) .. tostring(m.y) .. tostring(m.z) .. tostring(m.w) .. tostring(d.y) .. tostring(d.z)
end
function by_remainder(stream) return stream : map(n_of) : groupby(function(n) return n % 3 end) end
function changed_in_place(stream) stream : filter(is_even) return stream : map(n_of) : reduce(add) end
function copied(rec, l) return list.size(list.clone(l)) * 10 + list.size(list.merge(l, l)) end
"#;

fn cluster(nodes: usize) -> EmbeddedCluster {
    EmbeddedCluster::builder().nodes(nodes).namespace("test").service_threads(2).start().unwrap()
}

fn register(raw: &mut Raw, name: &str, source: &str) -> String {
    let content = BASE64.encode(source);
    raw.info(&format!("udf-put:filename={name};content={content};content-len={};udf-type=LUA;", content.len()))
}

/// A connection to a node whose cluster has the module.
fn with_module(address: SocketAddr) -> Raw {
    let mut raw = Raw::connect(address);
    assert_eq!(register(&mut raw, "m.lua", MODULE), "ok");
    raw
}

fn call(digest: [u8; 20], function: &str, arguments: &[u8]) -> Vec<u8> {
    write(digest, |message| {
        message.field(field::UDF_PACKAGE, b"m");
        message.field(field::UDF_FUNCTION, function.as_bytes());
        message.field(field::UDF_ARGUMENTS, arguments);
    })
}

impl Raw {
    fn call(&mut self, digest: [u8; 20], function: &str, arguments: &[u8]) -> Answer {
        self.send(&call(digest, function, arguments));
        self.answer().unwrap()
    }

    /// The text of a failure.
    fn failure(&mut self, function: &str) -> String {
        let answer = self.call(digest(7, 1), function, &[0x90]);
        assert_eq!((answer.code, &*answer.bins[0].0), (100, "FAILURE"), "{function}: {answer:?}");
        String::from_utf8(answer.bins[0].1.clone()).unwrap()
    }
}

fn int(answer: &Answer) -> i64 {
    assert_eq!((answer.code, &*answer.bins[0].0), (0, "SUCCESS"), "{}", text(answer));
    i64::from_be_bytes(answer.bins[0].1.clone().try_into().unwrap())
}

fn text(answer: &Answer) -> String {
    let shown: Vec<String> =
        answer.bins.iter().map(|(name, value)| format!("{name} {}", String::from_utf8_lossy(value))).collect();
    shown.join(", ")
}

/// What `call` gives when it takes less than so many seconds, once at least: a busy machine may hold some calls up, whose
/// limit is processor time.
fn within<R>(seconds: u64, mut call: impl FnMut() -> R) -> R {
    let mut look = || {
        let started = Instant::now();
        let result = call();
        (started.elapsed() < Duration::from_secs(seconds)).then_some(result)
    };
    (0..10).find_map(|_| look()).unwrap_or_else(|| panic!("not once within {seconds} s"))
}

#[test]
fn scripts_that_never_end_are_ended_and_the_node_goes_on() {
    let cluster = cluster(1);
    let address = cluster.nodes()[0].address;
    let mut raw = with_module(address);
    for function in ["forever", "stubborn", "in_coroutine"] {
        let failure = within(4, || raw.failure(function));
        assert!(failure.contains("takes too long"), "{function}: {failure}");
        assert!(int(&raw.call(digest(9, 1), "incr", &[0x91, 1])) > 0, "the next call is as any other");
    }
    assert_eq!(raw.info("status"), "ok");
}

#[test]
fn memory_depth_and_finalizers_are_bounded() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    for (function, expected) in [
        ("memory", "not enough memory"),
        ("list_memory", "not enough memory"),
        ("bytes_memory", "not enough memory"),
        ("deep", "stack overflow"),
        ("cycle", "result too large"),
        ("finalizer", "finalizers are not supported"),
        ("missing_module", "module 'nothing' not found"),
    ] {
        let failure = raw.failure(function);
        assert!(failure.contains(expected), "{function}: {failure}");
    }
    assert_eq!(
        raw.failure("broken").rsplit_once('/').unwrap().1,
        "m.lua:95: attempt to perform arithmetic on a nil value"
    );
    assert_eq!(int(&raw.call(digest(7, 1), "sandbox", &[0x90])), 0);
    assert_eq!(int(&raw.call(digest(7, 1), "logs", &[0x90])), 1);
    assert_eq!(cluster.udf_log(), ["info: n is 5", "warn: beware"]);
}

/// What runs in C or in Rust has no instructions to be counted.
#[test]
fn what_lua_cannot_interrupt_has_an_end() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    for (function, expected) in [
        ("pattern_find", "takes too long"),
        ("pattern_gsub", "takes too long"),
        ("move_nothing", "too many elements"),
        ("insert_endless", "too many elements"),
        ("remove_endless", "too many elements"),
        ("concat_endless", "too many elements"),
        ("sort_much", "takes too long"),
    ] {
        let failure = within(6, || raw.failure(function));
        assert!(failure.contains(expected), "{function}: {failure}");
    }
    for (function, expected) in [("plain_find", 1), ("rep_nothing", 0)] {
        assert_eq!(int(&raw.call(digest(7, 1), function, &[0x90])), expected, "{function}");
    }
    // Errors of what stands in for Lua's own functions are those of the script's line.
    let failure = raw.failure("bad_pattern");
    assert!(failure.contains("m.lua:") && failure.ends_with("malformed pattern (missing ']')"), "{failure}");
}

/// What scripts keep outside of Lua is limited, however it is nested, and garbage does not count.
#[test]
fn lists_maps_and_texts_have_a_limit_too() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    for function in ["long_texts", "text_keys", "many_lists"] {
        let failure = raw.failure(function);
        assert!(failure.contains("not enough memory") || failure.contains("takes too long"), "{function}: {failure}");
        assert_eq!(int(&raw.call(digest(9, 1), "garbage", &[0x90])), 1, "after {function}");
    }
    // Chains are dropped one link after another.
    for function in ["chain", "map_chain", "wide_cycle"] {
        let answer = raw.call(digest(7, 1), function, &[0x90]);
        let ended = answer.code == 0 || text(&answer).contains("takes too long");
        assert!(ended, "{function}: {}", text(&answer));
    }
    for _ in 0..30 {
        assert_eq!(int(&raw.call(digest(7, 1), "garbage", &[0x90])), 1);
    }
    assert_eq!(raw.call(digest(7, 1), "same_value_in_many_bins", &[0x90]).code, 13);
    assert_eq!(raw.info("status"), "ok");
}

#[test]
fn bytes_without_any_and_values_that_are_false() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    let mut said = |function| text(&raw.call(digest(7, 1), function, &[0x90]));
    assert_eq!(said("shown"), "SUCCESS Bytes()[<NULL>, 1]{\"a\":1}");
    assert_eq!(said("combined"), "SUCCESS 1123623");
}

/// As on a real server: who copies a list walks through it, and nil ends that.
#[test]
fn copies_of_lists_end_at_nil() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    // [[1, nil, 2]], [[nil]], [[1, 2]]
    assert_eq!(int(&raw.call(digest(7, 1), "copied", &[0x91, 0x93, 1, 0xc0, 2])), 12);
    assert_eq!(int(&raw.call(digest(7, 1), "copied", &[0x91, 0x91, 0xc0])), 0);
    assert_eq!(int(&raw.call(digest(7, 1), "copied", &[0x91, 0x92, 1, 2])), 24);
}

#[test]
fn calls_on_one_record_do_not_lose_each_others_writes() {
    let cluster = cluster(2);
    let nodes = cluster.nodes();
    assert_eq!(register(&mut Raw::connect(nodes[0].address), "m.lua", MODULE), "ok");
    std::thread::scope(|scope| {
        for node in nodes.iter().cycle().take(4) {
            scope.spawn(|| {
                let mut raw = Raw::connect(node.address);
                for _ in 0..100 {
                    assert!(int(&raw.call(digest(11, 1), "incr", &[0x91, 2])) > 0);
                }
            });
        }
    });
    assert_eq!(int(&Raw::connect(nodes[1].address).call(digest(11, 1), "incr", &[0x91, 0])), 800);
}

fn put_n(raw: &mut Raw, digest: [u8; 20], n: i64) {
    raw.send(&put_bin(digest, b"n", n));
    assert_eq!(raw.answer().unwrap().code, 0);
}

fn job(header: MessageHeader, function: &str, arguments: &[u8], operation: u8, id: u64) -> Vec<u8> {
    job_at(header, function, arguments, operation, id, 0)
}

/// [`job`], with a rate in records per second; 0: none.
fn job_at(header: MessageHeader, function: &str, arguments: &[u8], operation: u8, id: u64, rate: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let mut message = MessageWriter::frame(&mut out, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, b"s");
    message.field(field::QUERY_ID, &id.to_be_bytes());
    let ids: Vec<u8> = (0..4096_u16).flat_map(u16::to_le_bytes).collect();
    message.field(field::PARTITIONS, &ids);
    if rate > 0 {
        message.field(field::RECORDS_PER_SECOND, &rate.to_be_bytes());
    }
    message.field(field::UDF_OPERATION, &[operation]);
    message.field(field::UDF_PACKAGE, b"m");
    message.field(field::UDF_FUNCTION, function.as_bytes());
    message.field(field::UDF_ARGUMENTS, arguments);
    message.finish().unwrap();
    out
}

const FOREGROUND: MessageHeader = MessageHeader {
    info1: info1::READ,
    info2: 0,
    info3: info3::PARTITION_DONE,
    info4: 0,
    result_code: 0,
    generation: 0,
    record_ttl: 0,
    transaction_ttl: 0,
    n_fields: 0,
    n_ops: 0,
};

#[test]
fn aggregations_see_every_record_and_can_be_aborted() {
    let cluster = cluster(1);
    let address = cluster.nodes()[0].address;
    let mut raw = with_module(address);
    for n in 0..500_u16 {
        put_n(&mut raw, digest(n * 8, 3), n.into());
    }
    raw.send(&job(FOREGROUND, "sum", &[0x90], 1, 1));
    let answers = raw.until_last();
    assert_eq!(answers.len(), 2);
    assert_eq!(int(&answers[0]), 499 * 500 / 2);
    raw.send(&job(FOREGROUND, "groups", &[0x90], 1, 2));
    let answers = raw.until_last();
    // {0: 84, 1: 83, 2: 83}
    assert_eq!(answers[0].bins[0].1, [0x83, 0, 84, 1, 83, 2, 83]);
    raw.send(&job(FOREGROUND, "changed_in_place", &[0x90], 1, 4));
    assert_eq!(int(&raw.until_last()[0]), 250 * 249);
    raw.send(&job(FOREGROUND, "by_remainder", &[0x90], 1, 5));
    let answers = raw.until_last();
    let mut groups = Reader::new(&answers[0].bins[0].1);
    assert!(matches!(groups.read(), Ok(Element::Map(header)) if header.len == 3));
    for (remainder, members) in [(0, 167), (1, 167), (2, 166)] {
        assert_eq!(groups.read(), Ok(Element::Int(remainder)));
        assert!(matches!(groups.read(), Ok(Element::List(header)) if header.len == members));
        for _ in 0..members {
            assert!(matches!(groups.read(), Ok(Element::Int(n)) if n % 3 == remainder));
        }
    }
    let answers = within(4, || {
        raw.send(&job(FOREGROUND, "endless", &[0x90], 1, 3));
        raw.until_last()
    });
    assert!(text(&answers[0]).contains("takes too long"), "{}", text(&answers[0]));
    assert_eq!(answers.last().unwrap().code, 1);
}

#[test]
fn an_aggregation_under_a_fault_leaves_its_thread_to_others() {
    let cluster = EmbeddedCluster::builder().nodes(1).service_threads(1).start().unwrap();
    let address = cluster.nodes()[0].address;
    let mut raw = with_module(address);
    put_n(&mut raw, digest(8, 3), 1);
    cluster.set_fault(None, &FaultRule::new(FaultAction::Split).on(RequestKind::Query)).unwrap();
    // It takes two seconds to be stopped; the node has one thread.
    raw.send(&job(FOREGROUND, "endless", &[0x90], 1, 9));
    let mut other = Raw::connect(address);
    assert!(other.info("query-show:trid=9").contains("status=active"));
    let answers = raw.until_last();
    assert!(text(&answers[0]).contains("takes too long"), "{}", text(&answers[0]));
    assert!(other.info("query-show:trid=9").contains("status=done"));
}

#[test]
fn background_calls_reach_every_record_of_their_node() {
    let cluster = cluster(3);
    let nodes = cluster.nodes();
    let mut raws: Vec<Raw> = nodes.iter().map(|node| Raw::connect(node.address)).collect();
    assert_eq!(register(&mut raws[0], "m.lua", MODULE), "ok");
    for n in 0..300_u16 {
        put_n(&mut raws[0], digest(n * 13, 3), n.into());
    }
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    for raw in &mut raws {
        raw.send(&job(header, "mark", &[0x91, 7], 2, 77));
        assert_eq!(raw.until_last()[0].code, 0);
    }
    let deadline = Instant::now() + Duration::from_secs(60);
    for raw in &mut raws {
        while !raw.info("query-show:trid=77").contains("status=done(ok)") {
            assert!(Instant::now() < deadline, "the job does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    for n in 0..300_u16 {
        let answer = raws[1].get(digest(n * 13, 3)).unwrap();
        assert_eq!((answer.generation, answer.bins.len()), (2, 2), "{n}");
    }
}

#[test]
fn background_calls_keep_to_their_rate_and_can_be_aborted() {
    let cluster = cluster(1);
    let mut raw = with_module(cluster.nodes()[0].address);
    for n in 0..5_u16 {
        put_n(&mut raw, digest(n * 13, 3), n.into());
    }
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let ends = |raw: &mut Raw, id: u64, state: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !raw.info(&format!("query-show:trid={id}")).contains(state) {
            assert!(Instant::now() < deadline, "the job does not end");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    // The first record is due at once, the fifth after four tenths of a second.
    let begun = Instant::now();
    raw.send(&job_at(header, "mark", &[0x91, 7], 2, 78, 10));
    assert_eq!(raw.until_last()[0].code, 0);
    ends(&mut raw, 78, "status=done(ok)");
    assert!(begun.elapsed() >= Duration::from_millis(400));
    // One that would take seconds is aborted between two records.
    let begun = Instant::now();
    raw.send(&job_at(header, "mark", &[0x91, 7], 2, 79, 1));
    assert_eq!(raw.until_last()[0].code, 0);
    assert!(raw.info("query-abort:trid=79").starts_with("ok"), "it goes on");
    ends(&mut raw, 79, "status=done(abandoned");
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[test]
fn jobs_of_a_node_take_no_place_from_those_of_another() {
    let cluster = cluster(2);
    let nodes = cluster.nodes();
    let mut raws: Vec<Raw> = nodes.iter().map(|node| Raw::connect(node.address)).collect();
    assert_eq!(register(&mut raws[0], "m.lua", MODULE), "ok");
    for n in 0..200_u16 {
        put_n(&mut raws[0], digest(n * 13, 3), n.into());
    }
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let mut start = |at: usize, id: u64| -> u8 {
        // A record a second: they last longer than the test.
        raws[at].send(&job_at(header, "mark", &[0x91, 7], 2, id, 1));
        raws[at].until_last()[0].code
    };
    let codes: Vec<u8> = (1..=33).map(|id| start(0, id)).collect();
    assert_eq!((&codes[..32], codes[32]), (&[0; 32][..], 22), "32 at a time");
    assert_eq!(start(1, 99), 0);
    assert_eq!(raws[0].info("query-abort-all"), "number-of-queries-killed:32");
}
