//! Calls of Lua functions: one module, which calls the functions of lists, maps, bytes and records that it is told.

use super::requests::{Request, info};
use super::{Random, values};
use crate::live::nodes::Ends;
use aerolane_wire::message::{MessageHeader, MessageWriter, field, info2};
use aerolane_wire::msgpack::Writer;
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};

const MODULE: &str = r##"
-- What came of a call, and its first argument as the call has left it.
local function answer(l, ...)
  local all = list()
  for i = 1, select("#", ...) do
    list.append(all, (select(i, ...)))
  end
  list.append(all, l)
  return all
end
function lists(rec, name, ...) return answer((...), list[name](...)) end
function maps(rec, name, ...) return answer((...), map[name](...)) end
function walked(rec, m)
  local all = list()
  for k, v in map.pairs(m) do list.append(all, k); list.append(all, v) end
  for k in map.keys(m) do list.append(all, k) end
  for v in map.values(m) do list.append(all, v) end
  return all
end
function elements(rec, l)
  local all = list()
  for v in list.iterator(l) do list.append(all, v) end
  return all
end
function merged(rec, a, b)
  return answer(a, map.merge(a, b, function(x, y) return tostring(x) .. "/" .. tostring(y) end))
end
function set(rec, name, value)
  rec[name] = value
  if aerospike:exists(rec) then return aerospike:update(rec) end
  return aerospike:create(rec)
end
function change(rec, bin, name, ...)
  local value = rec[bin]
  if value == nil then value = list() end
  local lib = list
  if getmetatable(value) == getmetatable(map()) then lib = map end
  lib[name](value, ...)
  rec[bin] = value
  if aerospike:exists(rec) then return aerospike:update(rec) end
  return -1
end
function remove(rec) return aerospike:remove(rec) end
function about(rec)
  if not aerospike:exists(rec) then return "none" end
  local names = record.bin_names(rec)
  table.sort(names)
  local all = list()
  for _, name in ipairs(names) do list.append(all, name); list.append(all, rec[name]) end
  list.append(all, record.gen(rec))
  list.append(all, record.setname(rec))
  list.append(all, record.numbins(rec))
  list.append(all, record.ttl(rec))
  return all
end
function packed(rec, number, a, b)
  local x = bytes(20)
  bytes.append_int16(x, number); bytes.append_int32_le(x, number); bytes.append_int64(x, number)
  bytes.append_var_int(x, number)
  if type(a) == "string" then bytes.append_string(x, a, #a) end
  return answer(x, bytes.size(x), bytes.get_int16(x, 1), bytes.get_int32_le(x, 3), bytes.get_int64_be(x, 7),
    bytes.get_byte(x, 2), (bytes.get_var_int(x, 15)))
end
function texts(rec, name, ...) return answer(nil, string[name](...)) end
function shown(rec, v) return tostring(v) end
function types(rec, ...)
  local all = list()
  for i = 1, select("#", ...) do list.append(all, type((select(i, ...)))) end
  return all
end
"##;

/// Puts the module, and waits until all nodes have it.
pub(super) fn register() -> Vec<Request> {
    let content = BASE64.encode(MODULE);
    let put = format!("udf-put:filename=randomly.lua;content={content};content-len={};udf-type=LUA;", content.len());
    vec![info(&put, 0), info("status", 500)]
}

/// A function of a library, and a letter for each of its arguments.
type Shape = (&'static str, &'static str);

const LISTS: [Shape; 11] = [
    ("size", "l"),
    ("append", "lv"),
    ("prepend", "lv"),
    ("insert", "liv"),
    ("remove", "li"),
    ("concat", "ll"),
    ("trim", "li"),
    ("take", "li"),
    ("drop", "li"),
    ("clone", "l"),
    ("merge", "ll"),
];
const MAPS: [Shape; 5] = [("size", "m"), ("remove", "mk"), ("clone", "m"), ("merge", "mm"), ("diff", "mm")];
const TEXTS: [Shape; 6] =
    [("len", "s"), ("upper", "s"), ("rep", "si"), ("reverse", "s"), ("sub", "sii"), ("byte", "si")];
const CHANGES: [Shape; 4] = [("append", "v"), ("prepend", "v"), ("remove", "i"), ("insert", "iv")];

/// An argument: `l` list, `m` map, `k` key, `i` place, `n` number, `s` text, `b` name of a bin, `v` anything.
fn argument(random: &mut Random, letter: char) -> Vec<u8> {
    let mut out = Vec::new();
    match letter {
        'l' => values::list(random, &mut out, 1),
        'm' => values::map_of_scripts(random, &mut out),
        'k' => values::key(random, &mut out),
        'i' => Writer::new(&mut out).int(random.between(0, 5)),
        'n' => Writer::new(&mut out).int(values::int(random)),
        's' => Writer::new(&mut out).str(values::text(random)),
        'b' => {
            let name = random.pick(&["i", "s", "l", "m", "f", "x", "a_name_that_is_too_long"]);
            Writer::new(&mut out).str(name.as_bytes());
        }
        _ => values::element(random, &mut out, 1),
    }
    out
}

/// A function of the module, the texts that its arguments begin with, and the letters of the others.
fn function(random: &mut Random) -> (&'static str, Vec<&'static str>, &'static str) {
    let of = |function: &'static str, (name, shape): Shape| (function, vec![name], shape);
    match random.below(16) {
        0..=3 => of("lists", *random.pick(&LISTS)),
        4..=6 => of("maps", *random.pick(&MAPS)),
        7 => ("merged", vec![], "mm"),
        8 => ("set", vec![], "bv"),
        9 => {
            let (name, shape) = *random.pick(&CHANGES);
            ("change", vec!["l", name], shape)
        }
        10 => ("about", vec![], ""),
        11 => ("packed", vec![], "ns"),
        12 => of("texts", *random.pick(&TEXTS)),
        13 if random.once_in(2) => ("walked", vec![], "m"),
        13 => ("elements", vec![], "l"),
        14 if random.once_in(3) => ("remove", vec![], ""),
        14 => ("shown", vec![], "v"),
        _ => ("types", vec![], "vvv"),
    }
}

/// A call of a function on a record.
pub(super) fn call(random: &mut Random, set: &str, digest: [u8; 20]) -> Request {
    let (function, names, shape) = function(random);
    let mut packed = Vec::new();
    let mut writer = Writer::new(&mut packed);
    writer.list(names.len() + shape.len());
    for name in &names {
        writer.str(name.as_bytes());
    }
    for letter in shape.chars() {
        packed.extend(argument(random, letter));
    }
    let mut bytes = Vec::new();
    let header = MessageHeader { info2: info2::WRITE, ..MessageHeader::default() };
    let mut message = MessageWriter::frame(&mut bytes, &header);
    message.field(field::NAMESPACE, b"test");
    message.field(field::SET, set.as_bytes());
    message.field(field::DIGEST, &digest);
    message.field(field::UDF_PACKAGE, b"randomly");
    message.field(field::UDF_FUNCTION, function.as_bytes());
    message.field(field::UDF_ARGUMENTS, &packed);
    message.finish().unwrap();
    let note = format!("call {function} {names:?} {shape} {packed:02x?}");
    Request { digests: vec![digest], ..Request::new(bytes, Ends::Frame, note) }
}
