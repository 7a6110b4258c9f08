//! Every recorded request with an operation of [`operation`] is taken apart into the operation's code and arguments,
//! and built again through the function for that code, to the same bytes and the same op type.
//!
//! What no function is to write stands in [`NOT_OURS`], with its reason.

mod support;

use std::collections::BTreeMap;

use aerolane_wire::batch::BatchRows;
use aerolane_wire::message::{Message, Op, field, op};
use aerolane_wire::msgpack::{Element, Reader, Writer};
use aerolane_wire::operation::{self, bit, context, exp, hll, list, map, path, string};
use aerolane_wire::proto::{self, FrameType, MAX_BODY_SIZE};
use support::Exchange;

/// How many operations are rebuilt, at least, by the client that recorded them. Fewer means that something is lost.
const MINIMUMS: &[(&str, u64)] = &[("c-client", 14_569), ("raw", 250), ("rust-client", 383)];

/// Operations of clients that no function writes: how many exactly, and why.
const NOT_OURS: &[(&str, u64)] = &[
    // The C client; as a signed number it is what every other one sends, and the server reads both alike.
    ("a count of -1 as an unsigned number", 1),
    // aerospike-core 2.2.0; today's clients write `put` and `put_items` with write flags.
    ("map writes of servers before 4.3", 8),
];

type Done = Result<(), ()>;

/// The arguments of an operation that are left, each as one element.
struct Arguments<'a>(Vec<&'a [u8]>);

impl<'a> Arguments<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.0.is_empty() { None } else { Some(self.0.remove(0)) }
    }

    fn value(&mut self) -> Option<impl FnOnce(&mut Writer<'_>) -> Done + use<'a>> {
        self.next().map(raw)
    }

    fn int(&mut self) -> Option<i64> {
        match Reader::new(self.next()?).read() {
            Ok(Element::Int(value)) => Some(value),
            _ => None,
        }
    }

    fn bool(&mut self) -> Option<bool> {
        match Reader::new(self.next()?).read() {
            Ok(Element::Bool(value)) => Some(value),
            _ => None,
        }
    }

    /// A string value, without its particle type.
    fn text(&mut self) -> Option<&'a [u8]> {
        match Reader::new(self.next()?).read() {
            Ok(Element::Bytes([3, text @ ..])) => Some(text),
            _ => None,
        }
    }
}

fn raw(element: &[u8]) -> impl FnOnce(&mut Writer<'_>) -> Done + use<'_> {
    |w| {
        w.raw(element);
        Ok(())
    }
}

/// The elements of a list.
fn elements(bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut reader = Reader::new(bytes);
    let Ok(Element::List(header)) = reader.read() else { return None };
    let elements = (0..header.len).map(|_| reader.skip().ok()).collect::<Option<Vec<_>>>()?;
    reader.finish().ok().filter(|()| header.marker.is_none())?;
    Some(elements)
}

fn number(element: &[u8]) -> Option<i64> {
    Arguments(vec![element]).int()
}

/// Builds the value of an operation again; gives its op type. `None`: there is no function for it.
fn rebuild(kind: u8, value: &[u8], out: &mut Vec<u8>) -> Option<u8> {
    if kind == op::TO_STRING {
        return value.is_empty().then_some(kind);
    }
    let parts = elements(value)?;
    if matches!(kind, op::EXP_READ | op::EXP_MODIFY) {
        let [expression, flags] = parts[..] else { return None };
        let flags = number(flags)?;
        let write = raw(expression);
        return if kind == op::EXP_READ {
            exp::read(out, write, flags).ok()
        } else {
            exp::write(out, write, flags).ok()
        };
    }
    match (number(parts.first()?)?, &parts[1..]) {
        (0xff, [levels, operation]) => {
            let levels = rebuild_levels(levels, false)?;
            let mut inner = vec![];
            let kind = rebuild(kind, operation, &mut inner)?;
            // What `set_type` creates, it says in the last level.
            let set_type = matches!(inner[1], list::code::SET_TYPE | map::code::SET_TYPE) && kind == op::CDT_MODIFY;
            let mut plain = levels.clone();
            let (last, _) = plain.last_mut()?;
            let create = if set_type { std::mem::replace(last, *last & !context::create::MASK) ^ *last } else { 0 };
            let levels = plain.iter().map(|(id, value)| (*id, &value[..]));
            context::nest(out, levels, u8::try_from(create).unwrap(), &inner);
            Some(kind)
        }
        (0xfe, [levels, flags, expression @ ..]) => {
            let levels = rebuild_levels(levels, true)?;
            let levels = levels.iter().map(|(id, value)| (*id, &value[..]));
            let flags = number(flags)?;
            match expression {
                [] => Some(path::select(out, levels, flags)),
                [expression] if flags & 4 != 0 => path::modify(out, levels, flags & !4, raw(expression)).ok(),
                _ => None,
            }
        }
        (code, arguments) => {
            let code = u8::try_from(code).ok()?;
            let mut arguments = Arguments(arguments.to_vec());
            let a = &mut arguments;
            let kind = match kind {
                op::CDT_READ | op::CDT_MODIFY if code < map::code::SET_TYPE => rebuild_list(code, a, out),
                op::CDT_READ | op::CDT_MODIFY => rebuild_map(code, a, out),
                op::BITS_READ | op::BITS_MODIFY => rebuild_bit(code, a, out),
                op::HLL_READ | op::HLL_MODIFY => rebuild_hll(code, a, out),
                op::STRING_READ | op::STRING_MODIFY => rebuild_string(code, a, out),
                _ => None,
            };
            kind.filter(|_| arguments.0.is_empty())
        }
    }
}

/// A context through the functions for its levels. `bare`: expressions stand in it as they are.
fn rebuild_levels(bytes: &[u8], bare: bool) -> Option<Vec<(u16, Vec<u8>)>> {
    use context::id;
    let mut built = vec![];
    for (level, value) in context::levels(bytes).ok()? {
        let (plain, create) = (level & !context::create::MASK, u8::try_from(level & context::create::MASK).unwrap());
        let mut out = vec![];
        let again = match plain {
            id::LIST_INDEX if create == 0 => context::list_index(&mut out, number(value)?),
            id::LIST_INDEX => context::list_index_create(&mut out, number(value)?, create),
            id::LIST_RANK => context::list_rank(&mut out, number(value)?),
            id::LIST_VALUE => context::list_value(&mut out, raw(value)).ok()?,
            id::MAP_INDEX => context::map_index(&mut out, number(value)?),
            id::MAP_RANK => context::map_rank(&mut out, number(value)?),
            id::MAP_KEY if create == 0 => context::map_key(&mut out, raw(value)).ok()?,
            id::MAP_KEY => context::map_key_create(&mut out, raw(value), create).ok()?,
            id::MAP_VALUE => context::map_value(&mut out, raw(value)).ok()?,
            id::MAP_KEYS_IN => context::map_keys_in(&mut out, raw(value)).ok()?,
            id::EXPRESSION | 0x204 => {
                let expression = match Reader::new(value).read() {
                    Ok(Element::Bytes(payload)) if !bare => payload,
                    _ => value,
                };
                match (plain, expression) {
                    (id::EXPRESSION, [0xc3]) => context::all_children(&mut out),
                    (id::EXPRESSION, expression) => context::all_children_with_filter(&mut out, expression),
                    (_, expression) => context::and_filter(&mut out, expression),
                }
            }
            _ => return None,
        };
        if again != level {
            return None;
        }
        built.push((again, out));
    }
    Some(built)
}

#[rustfmt::skip]
fn rebuild_list(code: u8, a: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<u8> {
    use list::code as c;
    Some(match code {
        c::SET_TYPE => list::set_type(out, a.int()?),
        c::APPEND => list::append(out, a.value()?, a.int(), a.int()).ok()?,
        c::APPEND_ITEMS => list::append_items(out, a.value()?, a.int(), a.int()).ok()?,
        c::INSERT => list::insert(out, a.int()?, a.value()?, a.int()).ok()?,
        c::INSERT_ITEMS => list::insert_items(out, a.int()?, a.value()?, a.int()).ok()?,
        c::POP => list::pop(out, a.int()?),
        c::POP_RANGE => list::pop_range(out, a.int()?, a.int()),
        c::REMOVE => list::remove(out, a.int()?),
        c::REMOVE_RANGE => list::remove_range(out, a.int()?, a.int()),
        c::SET => list::set(out, a.int()?, a.value()?, a.int()).ok()?,
        c::TRIM => list::trim(out, a.int()?, a.int()?),
        c::CLEAR => list::clear(out),
        c::INCREMENT => list::increment(out, a.int()?, a.value(), a.int(), a.int()).ok()?,
        c::SORT => list::sort(out, a.int()?),
        c::SIZE => list::size(out),
        c::GET => list::get(out, a.int()?),
        c::GET_RANGE => list::get_range(out, a.int()?, a.int()),
        c::GET_BY_INDEX => list::get_by_index(out, a.int()?, a.int()?),
        c::GET_BY_RANK => list::get_by_rank(out, a.int()?, a.int()?),
        c::GET_BY_VALUE => list::get_by_value(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_VALUE_LIST => list::get_by_value_list(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_INDEX_RANGE => list::get_by_index_range(out, a.int()?, a.int()?, a.int()),
        c::GET_BY_VALUE_INTERVAL => list::get_by_value_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::GET_BY_RANK_RANGE => list::get_by_rank_range(out, a.int()?, a.int()?, a.int()),
        c::GET_BY_VALUE_REL_RANK_RANGE =>
            list::get_by_value_relative_rank_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        c::JOIN => list::join(out, a.text()),
        c::REMOVE_BY_INDEX => list::remove_by_index(out, a.int()?, a.int()?),
        c::REMOVE_BY_RANK => list::remove_by_rank(out, a.int()?, a.int()?),
        c::REMOVE_BY_VALUE => list::remove_by_value(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_VALUE_LIST => list::remove_by_value_list(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_INDEX_RANGE => list::remove_by_index_range(out, a.int()?, a.int()?, a.int()),
        c::REMOVE_BY_VALUE_INTERVAL => list::remove_by_value_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::REMOVE_BY_RANK_RANGE => list::remove_by_rank_range(out, a.int()?, a.int()?, a.int()),
        c::REMOVE_BY_VALUE_REL_RANK_RANGE =>
            list::remove_by_value_relative_rank_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        _ => return None,
    })
}

#[rustfmt::skip]
fn rebuild_map(code: u8, a: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<u8> {
    use map::code as c;
    Some(match code {
        c::SET_TYPE => map::set_type(out, a.int()?),
        // With three arguments the last two are a value and the order; without a value the order alone.
        c::PUT if a.0.len() == 2 => {
            let key = a.value()?;
            map::put(out, key, None::<fn(&mut Writer<'_>) -> Done>, a.int()?, None).ok()?
        }
        c::PUT => map::put(out, a.value()?, a.value(), a.int()?, a.int()).ok()?,
        c::PUT_ITEMS => map::put_items(out, a.value()?, a.int()?, a.int()).ok()?,
        c::INCREMENT => map::increment(out, a.value()?, a.value(), a.int()).ok()?,
        c::DECREMENT => map::decrement(out, a.value()?, a.value(), a.int()).ok()?,
        c::CLEAR => map::clear(out),
        c::REMOVE_BY_KEY => map::remove_by_key(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_INDEX => map::remove_by_index(out, a.int()?, a.int()?),
        c::REMOVE_BY_RANK => map::remove_by_rank(out, a.int()?, a.int()?),
        c::REMOVE_BY_KEY_LIST => map::remove_by_key_list(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_VALUE => map::remove_by_value(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_VALUE_LIST => map::remove_by_value_list(out, a.int()?, a.value()?).ok()?,
        c::REMOVE_BY_KEY_INTERVAL => map::remove_by_key_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::REMOVE_BY_INDEX_RANGE => map::remove_by_index_range(out, a.int()?, a.int()?, a.int()),
        c::REMOVE_BY_VALUE_INTERVAL => map::remove_by_value_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::REMOVE_BY_RANK_RANGE => map::remove_by_rank_range(out, a.int()?, a.int()?, a.int()),
        c::REMOVE_BY_KEY_REL_INDEX_RANGE =>
            map::remove_by_key_relative_index_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        c::REMOVE_BY_VALUE_REL_RANK_RANGE =>
            map::remove_by_value_relative_rank_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        c::SIZE => map::size(out),
        c::GET_BY_KEY => map::get_by_key(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_INDEX => map::get_by_index(out, a.int()?, a.int()?),
        c::GET_BY_RANK => map::get_by_rank(out, a.int()?, a.int()?),
        c::GET_BY_VALUE => map::get_by_value(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_KEY_INTERVAL => map::get_by_key_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::GET_BY_INDEX_RANGE => map::get_by_index_range(out, a.int()?, a.int()?, a.int()),
        c::GET_BY_VALUE_INTERVAL => map::get_by_value_range(out, a.int()?, a.value()?, a.value()).ok()?,
        c::GET_BY_RANK_RANGE => map::get_by_rank_range(out, a.int()?, a.int()?, a.int()),
        c::GET_BY_KEY_LIST => map::get_by_key_list(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_VALUE_LIST => map::get_by_value_list(out, a.int()?, a.value()?).ok()?,
        c::GET_BY_KEY_REL_INDEX_RANGE =>
            map::get_by_key_relative_index_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        c::GET_BY_VALUE_REL_RANK_RANGE =>
            map::get_by_value_relative_rank_range(out, a.int()?, a.value()?, a.int()?, a.int()).ok()?,
        _ => return None,
    })
}

#[rustfmt::skip]
fn rebuild_bit(code: u8, a: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<u8> {
    use bit::code as c;
    Some(match code {
        c::RESIZE => bit::resize(out, a.int()?, a.int()?, a.int()),
        c::INSERT => bit::insert(out, a.int()?, a.value()?, a.int()?).ok()?,
        c::REMOVE => bit::remove(out, a.int()?, a.int()?, a.int()?),
        c::SET => bit::set(out, a.int()?, a.int()?, a.value()?, a.int()?).ok()?,
        c::OR => bit::or(out, a.int()?, a.int()?, a.value()?, a.int()?).ok()?,
        c::XOR => bit::xor(out, a.int()?, a.int()?, a.value()?, a.int()?).ok()?,
        c::AND => bit::and(out, a.int()?, a.int()?, a.value()?, a.int()?).ok()?,
        c::NOT => bit::not(out, a.int()?, a.int()?, a.int()?),
        c::LSHIFT => bit::lshift(out, a.int()?, a.int()?, a.int()?, a.int()?),
        c::RSHIFT => bit::rshift(out, a.int()?, a.int()?, a.int()?, a.int()?),
        c::ADD => bit::add(out, a.int()?, a.int()?, a.int()?, a.int()?, a.int()?),
        c::SUBTRACT => bit::subtract(out, a.int()?, a.int()?, a.int()?, a.int()?, a.int()?),
        c::SET_INT => bit::set_int(out, a.int()?, a.int()?, a.int()?, a.int()?),
        c::GET => bit::get(out, a.int()?, a.int()?),
        c::COUNT => bit::count(out, a.int()?, a.int()?),
        c::LSCAN => bit::lscan(out, a.int()?, a.int()?, a.bool()?),
        c::RSCAN => bit::rscan(out, a.int()?, a.int()?, a.bool()?),
        c::GET_INT => bit::get_int(out, a.int()?, a.int()?, a.int()),
        c::B64_ENCODE => bit::b64_encode(out, a.int(), a.int(), a.int()),
        _ => return None,
    })
}

#[rustfmt::skip]
fn rebuild_hll(code: u8, a: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<u8> {
    use hll::code as c;
    Some(match code {
        c::INIT => hll::init(out, a.int()?, a.int()?, a.int()?),
        c::ADD => hll::add(out, a.value()?, a.int()?, a.int()?, a.int()?).ok()?,
        c::SET_UNION => hll::set_union(out, a.value()?, a.int()?).ok()?,
        c::REFRESH_COUNT => hll::refresh_count(out),
        c::FOLD => hll::fold(out, a.int()?),
        c::GET_COUNT => hll::get_count(out),
        c::GET_UNION => hll::get_union(out, a.value()?).ok()?,
        c::GET_UNION_COUNT => hll::get_union_count(out, a.value()?).ok()?,
        c::GET_INTERSECT_COUNT => hll::get_intersect_count(out, a.value()?).ok()?,
        c::GET_SIMILARITY => hll::get_similarity(out, a.value()?).ok()?,
        c::DESCRIBE => hll::describe(out),
        _ => return None,
    })
}

/// A list of two strings, which `string::pair` writes.
fn two(a: &mut Arguments<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut strings = Arguments(elements(a.next()?)?);
    let pair = (strings.text()?.to_vec(), strings.text()?.to_vec());
    strings.0.is_empty().then_some(pair)
}

#[rustfmt::skip]
fn rebuild_string(code: u8, a: &mut Arguments<'_>, out: &mut Vec<u8>) -> Option<u8> {
    use string::code as c;
    let pair = |pair: (Vec<u8>, Vec<u8>)| move |w: &mut Writer<'_>| -> Done {
        string::pair(w, &pair.0, &pair.1);
        Ok(())
    };
    Some(match code {
        c::STRLEN => string::strlen(out),
        c::SUBSTR => string::substr(out, a.int()?, a.int()),
        c::CHAR_AT => string::char_at(out, a.int()?),
        c::FIND => string::find(out, a.text()?, a.int()),
        c::CONTAINS => string::contains(out, a.text()?),
        c::STARTS_WITH => string::starts_with(out, a.text()?),
        c::ENDS_WITH => string::ends_with(out, a.text()?),
        c::TO_INTEGER => string::to_integer(out),
        c::TO_DOUBLE => string::to_double(out),
        c::BYTE_LENGTH => string::byte_length(out),
        c::IS_NUMERIC => string::is_numeric(out, a.int()),
        c::IS_UPPER => string::is_upper(out),
        c::IS_LOWER => string::is_lower(out),
        c::TO_BLOB => string::to_blob(out),
        c::SPLIT => string::split(out, a.text()),
        c::B64_DECODE => string::b64_decode(out),
        c::REGEX_COMPARE => string::regex_compare(out, a.text()?, a.int()),
        c::INSERT => string::insert(out, a.int()?, a.text()?, a.int()?),
        c::OVERWRITE => string::overwrite(out, a.int()?, a.text()?, a.int()?),
        c::CONCAT => string::concat(out, a.value()?, a.int()?).ok()?,
        c::SNIP => string::snip(out, a.int()?, a.int(), a.int()),
        c::REPLACE => string::replace(out, pair(two(a)?), a.int()?).ok()?,
        c::REPLACE_ALL => string::replace_all(out, pair(two(a)?), a.int()?).ok()?,
        c::UPPER => string::upper(out, a.int()?),
        c::LOWER => string::lower(out, a.int()?),
        c::CASE_FOLD => string::case_fold(out, a.int()?),
        c::NORMALIZE_NFC => string::normalize_nfc(out, a.int()?),
        c::TRIM_START => string::trim_start(out, a.int()?),
        c::TRIM_END => string::trim_end(out, a.int()?),
        c::TRIM => string::trim(out, a.int()?),
        c::PAD_START => string::pad_start(out, a.int()?, a.text()?, a.int()?),
        c::PAD_END => string::pad_end(out, a.int()?, a.text()?, a.int()?),
        c::REPEAT => string::repeat(out, a.int()?, a.int()?),
        c::REGEX_REPLACE => string::regex_replace(out, pair(two(a)?), a.int()?, a.int()?).ok()?,
        c::APPEND => string::append(out, a.text()?, a.int()?),
        c::PREPEND => string::prepend(out, a.text()?, a.int()?),
        _ => return None,
    })
}

/// All operations of a request, those of batch rows that are written out included.
fn operations(request: &[u8]) -> Vec<Op<'_>> {
    let Ok(Some((frame, _))) = proto::split_frame(request, MAX_BODY_SIZE) else { return vec![] };
    if frame.header.frame_type != FrameType::Message {
        return vec![];
    }
    let Ok(message) = Message::decode(frame.body) else { return vec![] };
    let rows = message.fields().find(|f| matches!(f.kind, field::BATCH | field::BATCH_WITH_SET));
    let rows = rows.and_then(|f| BatchRows::decode(f.value).ok()).into_iter().flatten().filter_map(Result::ok);
    let rows = rows.filter(|row| !row.repeat).flat_map(|row| row.ops().collect::<Vec<_>>());
    message.ops().chain(rows).collect()
}

/// Why an operation of a client is not to be rebuilt.
fn reason(exchange: &Exchange, operation: &Op<'_>) -> Option<&'static str> {
    let code = elements(operation.value).and_then(|parts| number(parts.first()?));
    match (operation.kind, code) {
        (op::CDT_MODIFY, Some(65 | 66 | 69 | 70)) if exchange.driver == "rust-client" => {
            Some("map writes of servers before 4.3")
        }
        (op::CDT_MODIFY, Some(6)) if operation.value.ends_with(&[0xff; 8]) => {
            Some("a count of -1 as an unsigned number")
        }
        _ => None,
    }
}

#[test]
fn recorded_operations_are_rebuilt_to_the_same_bytes() {
    let (mut rebuilt, mut not_ours) = (BTreeMap::<String, u64>::new(), BTreeMap::<&str, u64>::new());
    let (mut codes, mut by_hand, mut failures) = (BTreeMap::<(u8, i64), u64>::new(), 0_u64, vec![]);
    for exchange in support::exchanges() {
        for operation in operations(&exchange.request) {
            if operation.kind != op::TO_STRING && operation::particle_type(operation.kind) == 0 {
                continue;
            }
            let mut out = vec![];
            let kind = rebuild(operation.kind, operation.value, &mut out);
            if kind == Some(operation.kind) && out == operation.value {
                assert!(
                    operation.particle_type == operation::particle_type(operation.kind) || exchange.driver == "raw",
                    "{}",
                    exchange.place()
                );
                *rebuilt.entry(exchange.driver.clone()).or_default() += 1;
                let code = elements(&out).and_then(|parts| number(parts.first()?));
                *codes.entry((operation.kind, code.unwrap_or(-1))).or_default() += 1;
            } else if let Some(why) = reason(&exchange, &operation) {
                *not_ours.entry(why).or_default() += 1;
            } else if exchange.driver == "raw" {
                by_hand += 1;
            } else {
                failures.push(format!("{}: {:02x?} {kind:?} {out:02x?}", exchange.place(), operation));
            }
        }
    }
    println!("rebuilt: {rebuilt:?}, {} kinds; not ours: {not_ours:?}; by hand and not rebuilt: {by_hand}", codes.len());
    assert!(failures.is_empty(), "{} failures, the first: {:#?}", failures.len(), &failures[..failures.len().min(10)]);
    for (driver, least) in MINIMUMS {
        assert!(rebuilt.get(*driver).copied().unwrap_or_default() >= *least, "{driver}: {rebuilt:?}");
    }
    assert_eq!(not_ours.into_iter().collect::<Vec<_>>(), NOT_OURS.to_vec());
}
