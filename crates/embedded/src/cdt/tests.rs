//! What the golden exchanges do not show: bounds, sizes, and bytes that nobody sends.

use super::{Modified, modify, read};
use crate::code;
use aerolane_wire::msgpack::{Writer, validate};
use aerolane_wire::particle::particle_type::{INTEGER, LIST, MAP};

const MAX_SIZE: usize = 1024 * 1024;
const INVERTED: i64 = 0x1_0000;

fn packed(write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out));
    out
}

fn ints(values: impl Iterator<Item = i64>) -> Vec<u8> {
    let values: Vec<i64> = values.collect();
    packed(|w| {
        w.list(values.len());
        for value in values {
            w.int(value);
        }
    })
}

/// An operation with these arguments, packed already.
fn op(number: u64, args: &[&[u8]]) -> Vec<u8> {
    let mut out = packed(|w| {
        w.list(args.len() + 1);
        w.uint(number);
    });
    out.extend(args.concat());
    out
}

fn int(value: i64) -> Vec<u8> {
    packed(|w| w.int(value))
}

fn changed(op: &[u8], kind: u8, value: &[u8]) -> Vec<u8> {
    modify(op, Some((kind, value)), MAX_SIZE).unwrap().value.unwrap().1
}

#[test]
fn large_lists_and_maps_take_no_quadratic_time() {
    const N: i64 = 10_000;
    // All operations that compare many with many; each would take minutes.
    let numbers = ints((0..N).rev());
    let both: Vec<&[u8]> = vec![&numbers];
    let unique = op(2, &[&numbers, &int(0), &int(1 | 4 | 8)]);
    let list = changed(&unique, LIST, &[0x90]);
    assert_eq!(list, numbers);
    assert_eq!(changed(&unique, LIST, &list), list, "all are there already");
    let ordered = changed(&op(0, &[&int(1)]), LIST, &list);
    assert!(ordered.len() > list.len());
    for word in [1, 4, 7, INVERTED | 1, INVERTED | 3, INVERTED | 7] {
        for value in [&list, &ordered] {
            read(&op(23, &[&int(word), both[0]]), Some((LIST, value))).unwrap().unwrap();
            read(&op(24, &[&int(word), &int(1)]), Some((LIST, value))).unwrap().unwrap();
            read(&op(26, &[&int(word), &int(1)]), Some((LIST, value))).unwrap().unwrap();
        }
    }
    let pairs = packed(|w| {
        w.map(N as usize);
        (0..N).for_each(|i| {
            w.int(i);
            w.int(i * 7919 % N);
        });
    });
    let map = changed(&op(68, &[&pairs, &int(1)]), MAP, &[0x81, 0xc7, 0, 1, 0xc0]);
    assert_eq!(changed(&op(68, &[&pairs, &int(1)]), MAP, &map), map);
    for word in [2, 5, 8, INVERTED | 5] {
        read(&op(107, &[&int(word), both[0]]), Some((MAP, &map))).unwrap().unwrap();
        read(&op(108, &[&int(word), both[0]]), Some((MAP, &map))).unwrap().unwrap();
    }
    assert_eq!(changed(&op(83, &[&int(0), both[0]]), MAP, &map), [0x81, 0xc7, 0, 1, 0xc0]);
}

/// Asked of the recorded server: what the golden exchanges do not show of ranges.
#[test]
fn odd_corners_of_return_types() {
    let list = ints([1, 2, 5, 7].into_iter());
    let map = packed(|w| {
        w.map(4);
        for i in [1, 1, 2, 2, 3, 5, 4, 7] {
            w.int(i);
        }
    });
    let get = |number: u64, args: &[i64], kind: u8, value: &[u8]| {
        let args: Vec<Vec<u8>> = args.iter().map(|arg| int(*arg)).collect();
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        read(&op(number, &args), Some((kind, value))).map(|answer| answer.unwrap().1)
    };
    let told = |start: i64, count: i64| Ok(ints([start, count].into_iter()));
    let refused = Err(code::NOT_APPLICABLE);
    // Nothing found in a list: counted from the end when asked for by value, not when asked for by rank.
    assert_eq!(get(22, &[12, 0], LIST, &list), told(4, 0));
    assert_eq!(get(26, &[12, 0, 0], LIST, &list), told(0, 0));
    assert_eq!(get(26, &[9, 2, 0], LIST, &list), told(2, 0), "of nothing the rank is an index");
    assert_eq!(get(24, &[INVERTED + 9, 0, 2], LIST, &list), refused);
    assert_eq!(get(26, &[INVERTED + 11, 0, 4], LIST, &list), told(0, 0));
    // What is left of a map may be a range.
    assert_eq!(get(104, &[INVERTED + 9, 0, 2], MAP, &map), told(2, 2));
    assert_eq!(get(104, &[INVERTED + 10, 0, 2], MAP, &map), told(0, 2));
    assert_eq!(get(104, &[INVERTED + 9, 1, 2], MAP, &map), refused);
    assert_eq!(get(103, &[INVERTED + 9, 3, 9], MAP, &map), refused, "not by keys of an unordered map");
    assert_eq!(get(102, &[INVERTED + 11, 3], MAP, &map), told(0, 4));
    assert_eq!(get(102, &[11, 3], MAP, &[0x80]), told(-1, 0));
    assert_eq!(get(106, &[INVERTED + 13, 0, 1], MAP, &[0x80]), Ok(vec![0]));
    // Asked for twice: the last time counts in unordered collections.
    let twice = op(23, &[&int(3), &ints([2, 7, 2].into_iter())]);
    assert_eq!(read(&twice, Some((LIST, &list))).unwrap().unwrap().1, ints([3, 1].into_iter()));
}

/// Asked of the recorded server: a map with an index of its values that is persisted answers as one who has it at hand.
#[test]
fn persisted_indexes_change_the_order_of_answers() {
    // {1: 9, 2: 3, 3: 3, 4: 1}
    let pairs = packed(|w| {
        w.map(4);
        for i in [1, 9, 2, 3, 3, 3, 4, 1] {
            w.int(i);
        }
    });
    let made = |order: i64| modify(&op(68, &[&pairs, &int(order)]), None, MAX_SIZE).unwrap().value.unwrap().1;
    let (indexed, plain, unordered) = (made(0x13), made(3), made(0x10));
    assert_eq!(
        indexed,
        [&[0x85, 0xd4, 0x13, 0xff][..], &plain[4..]].concat(),
        "the order of the values is not known yet"
    );
    assert_eq!(unordered, pairs, "an index alone does not count where pairs are put ..");
    let set = changed(&op(64, &[&int(0x10)]), MAP, &pairs);
    assert_eq!(set, [&[0x85, 0xc7, 0, 0x10, 0xc0], &pairs[1..]].concat(), ".. but where the type is set");
    let get = |number: u64, args: &[&[u8]], map: &[u8]| {
        read(&op(number, args), Some((MAP, map))).map(|answer| answer.unwrap().1)
    };
    let both = |number: u64, args: &[&[u8]]| [get(number, args, &indexed), get(number, args, &plain)];
    let list = |values: &[i64]| Ok(ints(values.iter().copied()));
    let refused = Err(code::NOT_APPLICABLE);
    let twice = ints([3, 3].into_iter());
    assert_eq!(both(105, &[&int(6), &int(0)]), [list(&[4, 2, 3, 1]), list(&[1, 2, 3, 4])]);
    assert_eq!(both(105, &[&int(1), &int(0)]), [list(&[3, 1, 2, 0]), list(&[0, 1, 2, 3])]);
    assert_eq!(both(105, &[&int(INVERTED + 6), &int(5)]), [list(&[2, 3, 4]), list(&[2, 3, 4])]);
    assert_eq!(both(108, &[&int(3), &twice]), [list(&[1, 2, 1, 2]), list(&[1, 2])]);
    assert_eq!(both(108, &[&int(2), &twice]), [list(&[2, 1, 2, 1]), list(&[2, 1])]);
    assert_eq!(both(108, &[&int(INVERTED + 3), &twice]), [list(&[3, 0]), list(&[0, 3])]);
    assert_eq!(both(102, &[&int(12), &int(5)]), [list(&[1, 0]), list(&[3, 0])]);
    assert_eq!(both(102, &[&int(INVERTED + 11), &int(5)]), [refused.clone(), list(&[0, 4])]);
    // It stays with the map, but not with what is left of one pair.
    let one = changed(&op(81, &[&int(0), &ints([1, 2, 4].into_iter())]), MAP, &indexed);
    assert_eq!(one, [0x82, 0xc7, 0, 0x13, 0xc0, 3, 3]);
    assert_eq!(get(102, &[&int(12), &int(0)], &one), list(&[0, 0]));
}

#[test]
fn only_whole_bins_persist_indexes() {
    let nested = |kind: i64, key: i64, operation: &[u8]| op(0xff, &[&ints([kind, key].into_iter()), operation]);
    let put = |order: i64| op(67, &[&int(4), &int(5), &int(order)]);
    let made = |op: &[u8]| modify(op, None, MAX_SIZE).map(|made| made.value.unwrap().1);
    assert_eq!(made(&nested(0x1e2, 9, &put(0x13))).unwrap()[1..9], [0xc7, 0, 0x13, 0xc0, 9, 0x82, 0xc7, 0]);
    assert_eq!(changed(&nested(0x62, 9, &op(64, &[&int(0x13)])), MAP, &[0x80])[2..], [0x81, 0xc7, 0, 3, 0xc0]);
    assert_eq!(changed(&nested(0x22, 9, &op(64, &[&int(0x11)])), MAP, &[0x81, 9, 0x80])[2..], [0x81, 0xc7, 0, 1, 0xc0]);
    // What is made together with the bin shows the mark, but for pairs.
    assert_eq!(made(&nested(0x62, 9, &op(1, &[&int(7), &int(0x11)]))).unwrap(), [0x81, 9, 0x92, 0xc7, 0, 0x11, 7]);
    assert_eq!(made(&nested(0x62, 9, &op(64, &[&int(0x12)]))).unwrap(), [0x81, 9, 0x81, 0xc7, 0, 0x12, 0xc0]);
    assert_eq!(made(&nested(0x62, 9, &put(0x13))).unwrap()[2..6], [0x82, 0xc7, 0, 3]);
    // Below the top none is made.
    let deep = op(0xff, &[&ints([0x62, 9, 0x162, 8].into_iter()), &put(0)]);
    assert_eq!(made(&deep), Err(code::NOT_APPLICABLE));
    assert_eq!(
        made(&op(1, &[&int(7), &int(0x11)])).unwrap(),
        [0x92, 0xc7, 0, 1, 7],
        "of lists there is nothing to see"
    );
}

#[test]
fn sums_begin_with_zero() {
    let (minus, zero) = (packed(|w| w.float(-0.0)), packed(|w| w.float(0.0)));
    for (kind, op) in
        [(LIST, op(12, &[&int(0), &minus])), (MAP, op(73, &[&int(0), &minus])), (MAP, op(74, &[&int(0), &zero]))]
    {
        assert!(modify(&op, None, MAX_SIZE).unwrap().value.unwrap().1.ends_with(&zero), "{kind}");
    }
    // A bound is looked at behind what is to be added.
    let add =
        |index: i64, by: &[u8]| modify(&op(12, &[&int(index), by, &int(0), &int(2)]), Some((LIST, &[0x90])), MAX_SIZE);
    let text = packed(|w| w.str(b"a"));
    assert_eq!(add(5, &text).unwrap_err(), code::PARAMETER);
    assert_eq!(add(5, &int(1)).unwrap_err(), code::NOT_APPLICABLE);
    assert_eq!(add(-5, &text).unwrap_err(), code::NOT_APPLICABLE);
}

/// Asked of the recorded server.
#[test]
fn contexts_that_create_take_any_key() {
    let by_key = |kind: i64, key: &[u8]| {
        let context = packed(|w| {
            w.list(2);
            w.int(kind);
            w.raw(key);
        });
        modify(&op(0xff, &[&context, &op(1, &[&int(7)])]), Some((MAP, &[0x80])), MAX_SIZE)
    };
    let list = [0x91, 9];
    assert_eq!(by_key(0x62, &list).unwrap().value.unwrap().1, [0x81, 0x91, 9, 0x91, 7]);
    assert_eq!(by_key(0x22, &list).unwrap_err(), code::NOT_APPLICABLE);
    let wildcard = [0xd4, 0xff, 0];
    assert_eq!(by_key(0x62, &wildcard).unwrap_err(), code::NOT_APPLICABLE);
}

#[test]
fn what_contexts_create() {
    let nested = |kind: i64, key: i64, operation: &[u8]| op(0xff, &[&ints([kind, key].into_iter()), operation]);
    let map = [0x80];
    // Nothing is created for an operation that puts nothing, unless there was nothing to put.
    let unique = op(2, &[&ints([1, 1].into_iter()), &int(0), &int(1 | 4)]);
    let skipped = modify(&nested(0x62, 1, &unique), Some((MAP, &map)), MAX_SIZE).unwrap();
    assert_eq!((skipped.answer.unwrap().1, skipped.value), (0_i64.to_be_bytes().to_vec(), None));
    let empty = op(2, &[&[0x90]]);
    assert_eq!(changed(&nested(0x62, 1, &empty), MAP, &map), [0x81, 1, 0x90]);
    // In a sorted list any index behind its end is the end; in others the end alone, or all in the second order.
    let append = op(1, &[&int(5)]);
    let sorted = [0x92, 0xc7, 0, 1, 1];
    assert_eq!(changed(&nested(0x50, 9, &append), LIST, &sorted), [0x93, 0xc7, 0, 1, 1, 0x91, 5]);
    let refused = modify(&nested(0x50, 9, &append), Some((LIST, &[0x91, 1])), MAX_SIZE);
    assert_eq!(refused.unwrap_err(), code::NOT_APPLICABLE);
    assert_eq!(changed(&nested(0x90, 2, &append), LIST, &[0x91, 1]), [0x93, 1, 0xc0, 0x91, 5]);
    // Scalars: on the way, at its end, and as the bin.
    let codes = [([0x10, 0].to_vec(), LIST, code::BIN_TYPE), ([0x10, 0, 0x10, 0].to_vec(), LIST, code::NOT_APPLICABLE)];
    for (levels, kind, expected) in codes {
        let nested = op(0xff, &[&ints(levels.into_iter()), &append]);
        assert_eq!(modify(&nested, Some((kind, &[0x91, 1])), MAX_SIZE).unwrap_err(), expected);
    }
    let on_integer = modify(&nested(0x10, 0, &append), Some((INTEGER, &[0; 8])), MAX_SIZE);
    assert_eq!(on_integer.unwrap_err(), code::PARAMETER);
}

#[test]
fn lists_are_not_filled_up_beyond_what_can_be_stored() {
    for (index, expected) in [
        (1 << 20, code::RECORD_TOO_BIG),
        ((1 << 31) - 1, code::RECORD_TOO_BIG),
        (1 << 31, code::NOT_APPLICABLE),
        (i64::MAX, code::NOT_APPLICABLE),
        (i64::MIN, code::NOT_APPLICABLE),
    ] {
        for number in [3, 9, 12] {
            let filled = modify(&op(number, &[&int(index), &int(5)]), Some((LIST, &[0x91, 1])), MAX_SIZE - 1);
            assert_eq!(filled.unwrap_err(), expected, "{number} {index}");
        }
        // The same by way of a context that creates: list index, second order.
        let level = ints([0x10 | 0x80, index].into_iter());
        let nested = op(0xff, &[&level, &op(1, &[&int(5)])]);
        assert!(modify(&nested, Some((LIST, &[0x91, 1])), MAX_SIZE - 1).is_err(), "{index}");
    }
}

#[test]
fn collections_are_nested_only_as_deep_as_they_can_be_read() {
    let deep = [vec![0x91; 512], vec![0x90]].concat();
    assert_eq!(validate(&deep), Ok(()));
    let append = op(1, &[&deep]);
    assert_eq!(modify(&append, Some((LIST, &[0x90])), MAX_SIZE).unwrap_err(), code::PARAMETER);
    // A context that creates all its levels; one more than there may be is refused as well.
    let context = |levels: usize| {
        let levels: Vec<i64> = (0..levels).flat_map(|_| [0x22 | 0x40, 1]).collect();
        op(0xff, &[&ints(levels.into_iter()), &op(1, &[&int(5)])])
    };
    let Modified { answer, value } = modify(&context(256), None, MAX_SIZE).unwrap();
    assert_eq!((answer.unwrap(), value.unwrap().0), ((INTEGER, 1_i64.to_be_bytes().to_vec()), MAP));
    assert_eq!(modify(&context(257), None, MAX_SIZE).unwrap_err(), code::PARAMETER);
}

/// xorshift64*: the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    /// Any element, not too large, often an odd one.
    fn element(&mut self, depth: usize) -> Vec<u8> {
        let kinds = if depth == 0 { 10 } else { 14 };
        match self.below(kinds) {
            0 => vec![0xc0],
            1 => vec![0xc2 + self.below(2) as u8],
            2 => packed(|w| w.float([0.0, -0.0, 1.5, f64::NAN, f64::INFINITY][self.below(5)])),
            3 => packed(|w| w.str(&b"abcd"[..self.below(4)])),
            4 => packed(|w| w.blob(&[0, 1, 2][..self.below(3)])),
            5 => int([i64::MIN, i64::MAX, -1, 0, 300, 1 << 31, 1 << 40][self.below(7)]),
            6 => packed(|w| if self.below(2) == 0 { w.wildcard() } else { w.infinity() }),
            7 => vec![[0xc1, 0xa0, 0xdd, 0xd4][self.below(4)]],
            8..10 => int(self.below(8) as i64 - 2),
            _ => self.collection(depth),
        }
    }

    fn collection(&mut self, depth: usize) -> Vec<u8> {
        let n = self.below(6);
        if self.below(2) == 0 {
            let mut out = packed(|w| w.list_with_order([0, 0, 0, 1, 0x11, 2][self.below(6)], n));
            (0..n).for_each(|_| out.extend(self.element(depth - 1)));
            return out;
        }
        let mut out = packed(|w| w.map_with_order([0, 0, 1, 3, 0x11, 8][self.below(6)], n));
        for key in 0..n as i64 {
            out.extend(if self.below(8) > 0 { int(key) } else { self.element(0) });
            out.extend(self.element(depth - 1));
        }
        out
    }

    /// An operation, most often one for a value of this kind.
    fn operation(&mut self, kind: u8) -> Vec<u8> {
        let numbers = [0..14, 16..28, 32..41, 64..76, 76..90, 96..111];
        let of_kind = if kind == LIST { self.below(3) } else { 3 + self.below(3) };
        let any = self.below(6);
        let range = numbers[if self.below(8) > 0 { of_kind } else { any }].clone();
        let number = range.start + self.below((range.end - range.start) as usize) as u64;
        let mut args = Vec::new();
        for at in 0..=self.below(4) {
            let word = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17][self.below(16)];
            let inverted = if self.below(3) == 0 { INVERTED } else { 0 };
            args.push(match (at, self.below(4)) {
                (0, 0..2) => int(word | inverted),
                (_, 0..3) => int(self.below(8) as i64 - 2),
                _ => self.element(2),
            });
        }
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        let operation = op(number, &args);
        if self.below(3) > 0 {
            return operation;
        }
        let mut levels = Vec::new();
        let n = 1 + self.below(3);
        for _ in 0..n {
            let kind = [0x10, 0x11, 0x13, 0x20, 0x21, 0x22, 0x23, 0, 0x12][self.below(9)];
            levels.extend(int(kind | [0, 0, 0x40, 0x80, 0xc0, 0x1c0][self.below(6)]));
            levels.extend(if self.below(2) == 0 { self.element(1) } else { int(self.below(3) as i64) });
        }
        let levels = [packed(|w| w.list(2 * n)), levels].concat();
        op(0xff, &[&levels, &operation])
    }
}

/// Whatever comes, there is an answer or a code, and what is to be stored can be read.
#[test]
fn odd_operations_on_odd_values() {
    let mut random = Random(0xfeed);
    let (mut answers, mut changes) = (0, 0);
    let mut value: Vec<u8> = vec![0x90];
    for round in 0..60_000 {
        if round % 10 == 0 || value.len() > 2000 {
            let element = random.collection(3);
            // Values of bins are stored ones, but those of expressions may be anything.
            value = crate::value::stored_element(&element).map_or(element.clone(), std::borrow::Cow::into_owned);
        }
        let kind = if matches!(value.first(), Some(0x80..=0x8f)) { MAP } else { LIST };
        let mut operation = random.operation(kind);
        if random.below(4) == 0 && !operation.is_empty() {
            let at = random.below(operation.len());
            operation[at] = random.below(256) as u8;
        }
        let bin = (random.below(10) > 0).then_some((kind, &value[..]));
        answers += usize::from(matches!(read(&operation, bin), Ok(Some(_))));
        if let Ok(Modified { value: Some((_, new)), .. }) = modify(&operation, bin, 4096) {
            changes += 1;
            assert_eq!(validate(&new), Ok(()), "{operation:02x?} on {value:02x?}");
            value = new;
        }
    }
    assert!(answers > 1000 && changes > 1000, "{answers} {changes}");
}

/// Bytes from hexadecimal digits, as random requests are shown.
fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Asked of a real server: what NaN, which equals every float, does to ranks, searches and sorting. Each line is an operation, the
/// collection, what is answered, and what is left.
#[test]
fn nan_is_looked_for_as_the_server_does() {
    const NAN: &str = "cb7ff8000000000000";
    const ONE: &str = "cb3ff0000000000000";
    const ONE_AND_A_HALF: &str = "cb3ff8000000000000";
    const TWO: &str = "cb4000000000000000";
    const THREE: &str = "cb4008000000000000";
    const UNSORTED: &str = "9d c70001 NAN NAN ONE cb0000000000000000 ONE NAN NAN THREE THREE NAN NAN NAN";
    let text = |text: &str| {
        let text = text.replace("NAN", NAN).replace("ONEHALF", ONE_AND_A_HALF).replace("ONE", ONE);
        bytes(&text.replace("TWO", TWO).replace("THREE", THREE).replace(' ', ""))
    };
    for (operation, value, answer, left) in [
        // Index of all with a value, from the end.
        ("93 66 02 ONEHALF", "84 01 NAN a103a20342 a403616263a303c3a9 a20363 ONE", "91 03", None),
        // Removed are those of a value list that another search does not miss; the values are sorted from the top down.
        ("93 24 03 93 THREE NAN TWO", "94 NAN THREE c3 cb0000000000000000", "93 01 02 03", Some("91 c3")),
        // Ranks of indexes: how many are less.
        ("93 18 03 01", "95 9100 01 cb0000000000000000 THREE NAN", "94 00 02 03 02", None),
        // A sorted list takes what is put where a search for it ends.
        ("92 02 91 TWO", "93 c70001 02 NAN", "3", Some("94 c70001 02 TWO NAN")),
        ("92 01 NAN", "94 c70001 03 cbbff0000000000000 ONE", "4", Some("95 c70001 03 NAN cbbff0000000000000 ONE")),
        (
            "92 0c 02 ONE",
            "95 c70001 01 cbbff0000000000000 NAN NAN",
            "",
            Some("95 c70001 01 NAN cbbff0000000000000 NAN"),
        ),
        // It is not sorted again when it is to be sorted.
        ("92 00 01", UNSORTED, "", Some(UNSORTED)),
        ("91 0d", UNSORTED, "", Some(UNSORTED)),
        // From the greatest on is no reversed order of the other one, and equal ones stay as they are.
        ("92 0d 01", "93 NAN THREE cb8000000000000000", "", Some("93 NAN THREE cb8000000000000000")),
        (
            "92 0d 01",
            "93 cb0000000000000000 02 cb8000000000000000",
            "",
            Some("93 cb0000000000000000 cb8000000000000000 02"),
        ),
    ] {
        let (operation, value) = (text(operation), text(value));
        let kind = if value[0] & 0xf0 == 0x80 { MAP } else { LIST };
        let (got, new) = if left.is_some() {
            let modified = modify(&operation, Some((kind, &value)), MAX_SIZE).unwrap();
            (modified.answer, modified.value.map(|(_, value)| value))
        } else {
            (read(&operation, Some((kind, &value))).unwrap(), None)
        };
        match answer.parse::<i64>() {
            Ok(number) => assert_eq!(got, Some((INTEGER, number.to_be_bytes().to_vec())), "{operation:02x?}"),
            Err(_) if answer.is_empty() => {}
            Err(_) => assert_eq!(got.map(|(_, value)| value), Some(text(answer)), "{operation:02x?}"),
        }
        assert_eq!(new, left.map(text), "{operation:02x?}");
    }
    // What is not added, as an equal one is there already.
    let unique = text("94 02 92 cb0000000000000000 a20361 00 01");
    let list = text("93 cb0000000000000000 ONE NAN");
    assert_eq!(modify(&unique, Some((LIST, &list)), MAX_SIZE).unwrap_err(), code::ELEMENT_EXISTS);
    let (exists, not_applicable) = (Err(code::ELEMENT_EXISTS), Err(code::NOT_APPLICABLE));
    for (items, list, expected) in [
        ("92 THREE NAN", "90", not_applicable),
        ("92 NAN THREE", "91 01", not_applicable),
        ("93 THREE TWO ONE", "91 01", Ok(())),
        ("91 NAN", "91 01", Ok(())),
        ("91 NAN", "91 TWO", exists),
        ("92 TWO THREE", "91 NAN", exists),
        ("93 a20361 NAN a20361", "90", not_applicable),
    ] {
        let unique = [text("94 02"), text(items), vec![0, 1]].concat();
        let done = modify(&unique, Some((LIST, &text(list))), MAX_SIZE).map(|_| ());
        assert_eq!(done, expected, "{items} to {list}");
    }
}

/// Asked of a real server.
#[test]
fn floats_that_are_no_integers_are_added_as_the_least_one() {
    for float in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 9_223_372_036_854_775_808.0] {
        let by = packed(|w| w.float(float));
        let added = modify(&op(12, &[&int(0), &by]), Some((LIST, &[0x91, 5])), MAX_SIZE).unwrap();
        assert_eq!(added.answer, Some((INTEGER, (i64::MIN + 5).to_be_bytes().to_vec())), "{float}");
        for number in [73, 74] {
            let added = modify(&op(number, &[&int(1), &by]), Some((MAP, &[0x81, 1, 5])), MAX_SIZE).unwrap();
            assert_eq!(added.answer, Some((INTEGER, (i64::MIN + 5).to_be_bytes().to_vec())), "{float}");
        }
    }
}

#[test]
fn nan_in_a_list_is_among_values_of_which_one_is_a_float() {
    // -0.0, nil, NaN, -2^31 and an empty map; the values are 9, -1e300, true and a point.
    let list = bytes("95cb8000000000000000c0cb7ff8000000000000d28000000080");
    let values = "94\
        09cbfe37e43c8800759cc3d927177b2274797065223a22506f696e74222c22636f6f7264696e61746573223a5b31302c31305d7d";
    let remove = bytes(&format!("932402{values}"));
    let Modified { answer, value } = modify(&remove, Some((LIST, &list)), MAX_SIZE).unwrap();
    assert_eq!(answer, Some((LIST, vec![0x91, 2])), "the index from the end");
    assert_eq!(value, Some((LIST, bytes("94cb8000000000000000c0d28000000080"))));
}

#[test]
fn a_wildcard_in_the_order_of_values_ends_where_the_first_pair_is() {
    // A map with a persisted index, in the order of keys and values: -1: 8, "": [9, nil, true, true], "B": 8, "a": blob, "ab": true.
    let pairs = "ff08a1039409c0c3c3a2034208a20361a304ffffa3036162c3";
    let map = bytes(&format!("86c70013c0{pairs}"));
    let read = |word: i64| read(&op(102, &[&int(word), &bytes("d4ff00")]), Some((MAP, &map))).unwrap().unwrap();
    // The pair with the least value is not found: the search begins in the middle, and meets the first pair before.
    assert_eq!(read(5), (INTEGER, 4_i64.to_be_bytes().to_vec()));
    assert_eq!(read(3), (LIST, bytes("9401020304")));
}

/// What the server makes of NaN in the values of a map that has them in order at hand. Each line is a map (of which the second
/// number in the first pair is that of its order), an operation, and what is left. Then ranks are asked for, least first.
#[test]
fn an_order_of_values_outlasts_changes() {
    let f = |float: f64| packed(|w| w.float(float));
    let (nan, one, two, three) = (f(f64::NAN), f(1.0), f(2.0), f(3.0));
    let map = |pairs: &[(i64, &[u8])]| {
        let mut out = packed(|w| w.map_with_order(0x13, pairs.len()));
        for (key, value) in pairs {
            out.extend(int(*key));
            out.extend_from_slice(value);
        }
        out
    };
    let keys = |map: &[u8]| {
        // The keys of all ranks.
        let (_, keys) = read(&op(106, &[&int(6), &int(0)]), Some((MAP, map))).unwrap().unwrap();
        keys[1..].iter().map(|key| i64::from(*key)).collect::<Vec<_>>()
    };
    let change = |map: &[u8], op: Vec<u8>| modify(&op, Some((MAP, map)), MAX_SIZE).unwrap().value.unwrap().1;
    let put = |key: i64, value: &[u8]| op(67, &[&int(key), value]);

    let first = map(&[(1, &three), (2, &one)]);
    assert_eq!(keys(&first), [2, 1]);
    // NaN is put behind its equals of lower places; sorting would have left 3 and 1 as they are.
    let second = change(&first, put(3, &nan));
    assert_eq!(keys(&second), [2, 1, 3]);
    let third = change(&second, put(4, &two));
    assert_eq!(keys(&third), [2, 4, 1, 3]);
    let sorted = map(&[(1, &three), (2, &one), (3, &nan), (4, &two)]);
    assert_ne!(keys(&sorted), keys(&third));
    // The order stays when others go, by key and by rank, and when one changes.
    assert_eq!(keys(&change(&third, op(76, &[&int(0), &int(2)]))), [4, 1, 3]);
    assert_eq!(keys(&change(&third, op(79, &[&int(0), &int(1)]))), [2, 1, 3]);
    assert_eq!(keys(&change(&third, put(1, &f(0.5)))), [1, 2, 4, 3]);
    // Also if the map is to be kept in the order that it has. If it gives it up, it is lost.
    assert_eq!(keys(&change(&third, op(64, &[&int(0x13)]))), keys(&third));
    let unordered = change(&third, op(64, &[&int(3)]));
    assert_eq!(keys(&change(&unordered, op(64, &[&int(0x13)]))), keys(&sorted));
    // What is put together with others has the values sorted, also with the next one.
    let items = [packed(|w| w.map(1)), int(5), nan.clone()].concat();
    let several = change(&third, op(68, &[&items]));
    let all = map(&[(1, &three), (2, &one), (3, &nan), (4, &two), (5, &nan)]);
    assert_eq!(keys(&several), keys(&all));
    let six = map(&[(1, &three), (2, &one), (3, &nan), (4, &two), (5, &nan), (6, &one)]);
    assert_eq!(keys(&change(&several, put(6, &one))), keys(&six));
    // Where nothing is NaN, nothing is stored of an order.
    let plain = change(&first, put(3, &two));
    assert_eq!(plain, map(&[(1, &three), (2, &one), (3, &two)]));
}
