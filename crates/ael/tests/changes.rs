//! What changes values, blobs and sketches among them, and expressions in selectors: texts, and the expressions that
//! they become. `tests/python/test_ael_changes.py` compares them with constructors, and has them evaluated.

use aerolane_ael::{AelError, AelErrorKind, Compiled, Type, Version, compile, compile_for, context};

fn made(text: &str) -> Compiled {
    compile(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> AelError {
    match compile(text, &[]) {
        Ok(compiled) => panic!("{text} compiles to {:?}", compiled.bytes()),
        Err(error) => error,
    }
}

/// Both texts mean the same.
fn same(left: &str, right: &str) {
    assert_eq!(made(left).bytes(), made(right).bytes(), "{left} and {right}");
}

#[test]
fn what_changes_a_part_gives_the_whole() {
    for (text, kind) in [
        ("$.l.append(1)", Type::List),
        ("$.l.[0].setTo('x')", Type::List),
        ("$.m.k.setTo(1)", Type::Map),
        ("$.m.k.[0].insert(1)", Type::Map),
        ("$.l.[0].k.update(1)", Type::List),
        ("$.m.k.append(1):ADD_UNIQUE:NO_FAIL", Type::Map),
        ("$.l:LIST.*[?(@ > 1)].modify(@ + 1)", Type::List),
        ("$.m.{@a,b}.*.x.modify(@:INT + 1)", Type::Map),
        ("$.m.{#0:2}.remove()", Type::Map),
        ("$.l.sort():DROP_DUPS", Type::List),
        ("$.m:MAP.clear()", Type::Map),
        ("$.y.bitSet(offset: 0, size: 8, value: x'ff'):NO_FAIL", Type::Blob),
        ("$.y.bitGetInt(offset: 0, size: 8, signed: true)", Type::Int),
        ("$.y.b64Encode()", Type::String),
        ("$.h.hllAdd(['a'], indexBits: 8)", Type::Hll),
        ("$.l.append(1).append(2).[0].setTo(3).count()", Type::Int),
    ] {
        assert_eq!(made(text).kind(), Some(kind), "{text}");
    }
}

#[test]
fn bytes_are_those_of_operations() {
    // [127, 4, 0x40, [1, 5, 0, 0], [81, 4, "l"]]
    let append = [&[0x95, 127, 4, 0x40, 0x94, 1, 5, 0, 0, 0x93, 81, 4, 0xa1][..], b"l"].concat();
    assert_eq!(made("$.l.append(5)").bytes(), append);
    // The order of what is created, and the flags.
    let append = [&[0x95, 127, 4, 0x40, 0x94, 1, 5, 1, 5, 0x93, 81, 4, 0xa1][..], b"l"].concat();
    assert_eq!(made("$.l:SORTED.append(5):ADD_UNIQUE:NO_FAIL").bytes(), append);
    // Not filled up with nil, unless it is asked for.
    let set = |flags: u8| [&[0x95, 127, 4, 0x40, 0x94, 9, 7, 5, flags, 0x93, 81, 4, 0xa1][..], b"l"].concat();
    assert_eq!(made("$.l.[7].setTo(5)").bytes(), set(2));
    assert_eq!(made("$.l:UNSORTED_PAD.[7].setTo(5)").bytes(), set(0));
    assert_eq!(made("$.l.[7]:UNSORTED_UNBOUND.setTo(5)").bytes(), set(0));
    // Inside of what is created on the way: [255, [0x22 | 0x80, "a"], [67, "k", 5, 1]].
    let nested = made("$.m.a:KEY_ORDERED.k.setTo(5)");
    let inside =
        [&[0x93, 0xcc, 255, 0x92, 0xcc, 0xa2, 0xa2, 3][..], b"a", &[0x94, 67, 0xa2, 3], b"k", &[5, 1]].concat();
    assert!(nested.bytes().windows(inside.len()).any(|part| part == inside), "{:x?}", nested.bytes());
    same("$.m.a.insert(1)", "$.m.{@a}.insert(1)");
}

#[test]
fn a_selector_can_have_expressions() {
    same("$.l.[(1 + 1)]:INT == 2", "$.l.[(1 + 1)]:INT == (2)");
    // Compared with a constant, an operand is the only difference.
    let (fixed, computed) = (made("$.l.[3]:INT"), made("$.l.[($.i)]:INT"));
    assert_eq!(computed.bytes().len(), fixed.bytes().len() + 4);
    for (text, kind) in [
        ("$.m.($.k:STRING):INT", Type::Int),
        ("$.m.{($.k:STRING)}:INT", Type::Int),
        ("$.m.{($.keys:LIST)}.count()", Type::Int),
        ("$.m.{@($.keys:LIST)}.getKeys()", Type::List),
        ("$.m.{!@($.keys)}.getKeys()", Type::List),
        ("$.m.{=($.lo:INT):($.hi:INT)}.count()", Type::Int),
        ("$.l.[=($.v:INT)].exists()", Type::Bool),
        ("$.l.[#(-$.n):].count()", Type::Int),
        ("$.l.[($.s):($.e)]", Type::List),
        ("$.l.[#($.a):($.b)~($.v:INT)].count()", Type::Int),
        ("$.m.{0:1~($.k:STRING)}.getMaps()", Type::Map),
        ("$.m.($.k:STRING).[($.i)].x:STRING", Type::String),
        ("$.m.($.k:STRING).setTo($.v:INT)", Type::Map),
        ("let (i = $.n + 1) then ($.l.[(${i})]:INT)", Type::Int),
        ("max($.a, 1).toString()", Type::String),
        ("(when ($.t => $.m:MAP, default => $.d)).k:INT", Type::Int),
    ] {
        assert_eq!(made(text).kind(), Some(kind), "{text}");
    }
    assert_eq!(made("$.l.[($.i)]:INT").needs(), Version::new(5, 2, 0));
    assert_eq!(made("$.l.[($.s):($.e)]").needs(), Version::new(5, 6, 0));
    assert_eq!(made("$.l.[0:($.e)]").needs(), Version::new(5, 2, 0));
}

#[test]
fn what_is_selected_can_be_told_in_all_ways() {
    same("$.m.{1:3}.getMaps() == {a: 1}", "$.m.{1:3} == {a: 1}");
    same("$.l.[1:3].getIndexes()", "$.l.[1:3].get(return: INDEX)");
    same("$.l.[#0].getRanks()", "$.l.[#0].get(return: RANK)");
    same("$.m.{1:3}.getRanks():REVERSE", "$.m.{1:3}.get(return: REVERSE_RANK)");
    same("$.m.{1:3}.getMaps():UNORDERED", "$.m.{1:3}.get(return: UNORDERED_MAP)");
    same("$.l:LIST.*[?(@ > 1)].exists()", "$.l:LIST.*[?(@ > 1)].count() > 0");
    same("$.a:LOCAL:INT == 1", "$.a:local:INT == 1");
    same("$.a.type() == INT or $.a.type() == LIST", "$.a.type() == 1 or $.a.type() == 20");
    same("log(value: $.f, base: 2.0) > pow(exponent: 1.0, base: $.f)", "log($.f, 2.0) > pow($.f, 1.0)");
    same("findBitLeft(value: true, x: $.i) == 1", "findBitLeft($.i, true) == 1");
    same("$.y.bitAdd(0, 8, 1)", "$.y.bitAdd(offset: 0, size: 8, value: 1, signed: false)");
    assert_eq!(made("$.m.{@a,b}&[?(@ > 1)].getKeys()").needs(), Version::new(8, 1, 2));
    assert_eq!(made("$.m.{@a,b}.x").kind(), Some(Type::List));
}

#[test]
fn ranges_become_filters_where_something_follows_them() {
    for (text, filter) in [
        ("$.l.[1:3].modify(@:INT + 1)", "$.l:LIST.*[?(@index >= 1 and @index < 3)].modify(@:INT + 1)"),
        ("$.l.[:3].modify(@:INT + 1)", "$.l:LIST.*[?(@index < 3)].modify(@:INT + 1)"),
        ("$.l.[0:].modify(@:INT + 1)", "$.l:LIST.*[?(@index >= 0)].modify(@:INT + 1)"),
        ("$.l.[!1:3]&[?(@ > 1)]", "$.l:LIST.*[?(not(@index >= 1 and @index < 3) and @ > 1)]"),
        ("$.l.[=1:9]&[?(@index > 1)].count()", "$.l:LIST.*[?((@ >= 1 and @ < 9) and @index > 1)].count()"),
        ("$.l.[=a,b]&[?(@index > 1)]", "$.l:LIST.*[?(@ in ['a', 'b'] and @index > 1)]"),
        ("$.m.{@a:d}&[?(@ > 1)].getKeys()", "$.m:MAP.*[?((@key >= 'a' and @key < 'd') and @ > 1)].getKeys()"),
        ("$.m.{@5:}.modify(@ + 1)", "$.m:MAP.*[?(@key >= 5)].modify(@ + 1)"),
        ("$.m.{@NIL:'d'}.modify(@ + 1)", "$.m:MAP.*[?(@key < 'd')].modify(@ + 1)"),
        ("$.m.{@'b':INF}.modify(@ + 1)", "$.m:MAP.*[?(@key >= 'b')].modify(@ + 1)"),
        ("$.m.{!@a,b}.modify(@ + 1)", "$.m:MAP.*[?(not(@key in ['a', 'b']))].modify(@ + 1)"),
        ("$.m.{=1.5:2.5}.x", "$.m:MAP.*[?(@ >= 1.5 and @ < 2.5)].x"),
        ("$.l.[0:2].name", "$.l:LIST.*[?(@index < 2)].name"),
        ("$.l:LIST.*.[0:2]", "$.l:LIST.*.*[?(@index < 2)]"),
        ("$.l.[0:2].remove():NO_FAIL", "$.l:LIST.*[?(@index < 2)].remove():NO_FAIL"),
        // Servers take one filter per step.
        ("$.l:LIST.*&[?(@ > 1)]", "$.l:LIST.*[?(@ > 1)]"),
        ("$.l:LIST.*[?(@ > 1)]&[?(@ < 5)]", "$.l:LIST.*[?(@ > 1 and @ < 5)]"),
        ("$.m.{@a,b}&[?(@ > 1)]&[?(@ < 5)]", "$.m.{@a,b}&[?(@ > 1 and @ < 5)]"),
    ] {
        same(text, filter);
    }
    assert_eq!(made("$.l.[1:3]&[?(@ > 1)].count()").needs(), Version::new(8, 1, 1));
    // Some keys are a step of their own, and so is what names one item.
    assert_eq!(made("$.m.{@a,b}.modify(@ + 1)").needs(), Version::new(8, 1, 2));
    assert_eq!(made("$.m.{='x'}&[?(@key > 'b')].getKeys()").needs(), Version::new(8, 1, 2));
    // A let inside of a filter is seen there.
    assert!(compile("$.l:LIST.*[?(let (n = @ + 1) then (${n} > 2))]", &[]).is_ok());
    assert!(compile("$.l:LIST.*[?(@ > ?0)]", &[aerolane_ael::Param::from(5)]).is_ok());
}

/// What no filter says is read first, and is the list or map that the rest of the path goes on in.
#[test]
fn other_ranges_are_lists_and_maps_of_their_own() {
    for (text, on_value) in [
        ("$.l.[#-2:]&[?(@ > 1)]", "($.l.[#-2:]).*[?(@ > 1)]"),
        ("$.l.[#0:2]&[?(@ > 1)]&[?(@ < 9)].count()", "($.l.[#0:2]).*[?(@ > 1 and @ < 9)].count()"),
        ("$.l.[#0:2].name", "($.l.[#0:2]).*.name"),
        ("$.l.[-2:].*[?(@index > 1)]", "($.l.[-2:]).*.*[?(@index > 1)]"),
        ("$.l.[1:-1].name.exists()", "($.l.[1:-1]).*.name.exists()"),
        ("$.l.[!#0:2]&[?(@ == 'a')]", "($.l.[!#0:2]).*[?(@ == 'a')]"),
        ("$.l.[#-1:1~5]&[?(@ != 5)]", "($.l.[#-1:1~5]).*[?(@ != 5)]"),
        ("$.l.[($.a):($.b)]&[?(@ > 1)]", "($.l.[($.a):($.b)]).*[?(@ > 1)]"),
        ("$.l.[=1,'a']&[?(@ > 1)]", "($.l.[=1,'a']).*[?(@ > 1)]"),
        ("$.l.[=1:'a'].x", "($.l.[=1:'a']).*.x"),
        ("$.m.k.[#0:2].name", "($.m.k.[#0:2]).*.name"),
        // Of a map with the keys.
        ("$.m.{#-2:}&[?(@key > 'a')].getKeys()", "$.m.{#-2:}.getMaps().*[?(@key > 'a')].getKeys()"),
        ("$.m.{0:2}.x", "$.m.{0:2}.getMaps().*.x"),
        ("$.m.a.{1:-1}&[?(@ > 1)].getKeyValues()", "$.m.a.{1:-1}.getMaps().*[?(@ > 1)].getKeyValues()"),
        ("$.m.{0:1~k}.x.count()", "$.m.{0:1~k}.getMaps().*.x.count()"),
        ("$.m.{#0:2~3}.{@a,b}", "$.m.{#0:2~3}.getMaps().*.{@a,b}"),
        ("$.m.{=1,'a'}&[?(@key == 'b')]", "$.m.{=1,'a'}.getMaps().*[?(@key == 'b')]"),
        ("$.m.{@($.k:LIST)}&[?(@ > 1)]", "$.m.{@($.k:LIST)}.getMaps().*[?(@ > 1)]"),
        ("$.m.{@($.k:LIST)}.x", "$.m.{@($.k:LIST)}.getMaps().*.x"),
    ] {
        same(text, on_value);
        assert!(made(text).needs() >= Version::new(8, 1, 1), "{text}");
    }
    // The types are those of the path.
    assert_eq!(made("$.l.[#-2:]&[?(@ > 1)].count()").kind(), Some(Type::Int));
    assert!(refused("$.l.[#-2:]&[?(@ > 1)] == 'a'").message().contains("LIST"));
    assert!(refused("$.l == {a: 1} and $.l.[#-2:].x.exists()").message().contains("LIST"));
    // What ends a path is as ever, and needs no newer server.
    assert_eq!(made("$.l.[#-2:]").needs(), Version::new(5, 2, 0));
    assert_eq!(context("$.l.[#-2:].a", &[]).unwrap_err().kind(), AelErrorKind::Unsupported);
}

/// Of functions of strings that may fail: 4 in the place of the flags.
#[test]
fn functions_of_strings_may_fail() {
    for call in [
        "splice(1, 'x')",
        "overwrite(1, 'x')",
        "snip(1, 2)",
        "replace('a', 'b')",
        "replaceAll('a', 'b')",
        "upper()",
        "padStart(5, 'x')",
        "repeat(2)",
        "regexReplace(pattern: /a/g, replace: 'b')",
    ] {
        let (plain, with_flag) = (made(&format!("$.s.{call}")), made(&format!("$.s.{call}:NO_FAIL")));
        let differ: Vec<_> = std::iter::zip(plain.bytes(), with_flag.bytes()).filter(|(a, b)| a != b).collect();
        assert_eq!(differ, [(&0, &4)], "{call}");
        assert_eq!((plain.bytes().len(), plain.needs()), (with_flag.bytes().len(), with_flag.needs()), "{call}");
    }
}

#[test]
fn a_range_from_the_start_to_the_end_is_computed() {
    // [127, 4, 0, [24, 7, 1, [51, 0, [20, [127, 2, 0, [16], bin], -2]]], bin]: from 1, size - 2 of them.
    let bin = [&[0x93, 81, 4, 0xa1][..], b"l"].concat();
    let size = [&[0x95, 127, 2, 0, 0x91, 16][..], &bin].concat();
    let range = [&[0x95, 127, 4, 0, 0x94, 24, 7, 1, 0x93, 51, 0, 0x93, 20][..], &size, &[0xfe], &bin].concat();
    assert_eq!(made("$.l.[1:-1]").bytes(), range);
    // [24, 7, -3, [51, 0, [21, 5, size]]]: the 5 places between -3 and 2, without what is not there.
    let range = [&[0x95, 127, 4, 0, 0x94, 24, 7, 0xfd, 0x93, 51, 0, 0x93, 21, 5][..], &size, &bin].concat();
    assert_eq!(made("$.l.[-3:2]").bytes(), range);
    for text in ["$.m.{1:-1}.count()", "$.m.k.{#-2:1}.getKeys()", "$.l.[!1:-1].remove()", "$.l.append(1).[1:-1]"] {
        assert_eq!(made(text).needs(), Version::new(5, 6, 0), "{text}");
    }
    // From the first one to before the last one of what a key leads to.
    assert!(made("$.m.k.[0:-1]").bytes().len() > made("$.m.k.[0:1]").bytes().len());
    // What is written twice is counted.
    let mut text = "$.l".to_owned();
    for _ in 0..20 {
        text = format!("({text}.[1:-1])");
    }
    assert_eq!(refused(&text).kind(), AelErrorKind::Limit);
}

#[test]
fn literals_have_orders() {
    // [126, [ext(1), 1, 2, "b"]]: sorted as servers sort.
    let literal = [0x92, 126, 0x94, 0xc7, 0, 1, 1, 2, 0xa2, 3, b'b'];
    assert_eq!(made("[2, b, 1]:SORTED").bytes(), literal);
    same("[2, b, 1]:SORTED", "[b, 1, 2]:SORTED");
    same("[2, 1]:UNSORTED", "[2, 1]");
    assert_ne!(made("[1, 2]:SORTED").bytes(), made("[1, 2]").bytes());
    assert_ne!(made("{a: 1}:UNORDERED").bytes(), made("{a: 1}").bytes());
    assert_eq!(made("{a: 1}:UNORDERED").bytes(), [0x81, 0xa2, 3, b'a', 1]);
    assert_eq!(made("$.m.k.setTo([3, [2, 1]:SORTED]:SORTED)").kind(), Some(Type::Map));
    same("[1, 2]:SORTED.count()", "([1, 2]:SORTED).count()");
    // A range of values can still end with a string that is such a word.
    same("$.l.[=[1]:'SORTED'].count()", "$.l.[=[1]:\"SORTED\"].count()");
    assert_eq!(made("$.l.[=[1]:[5]].count()").kind(), Some(Type::Int));
}

#[test]
fn patterns_say_what_operations_have_no_flags_for() {
    same("$.s =~ /a b/x", "$.s =~ /(?x)a b/");
    same("$.s =~ /\\bb/iw", "$.s =~ /(?w)\\bb/i");
    same("$.s =~ /a/xwx", "$.s =~ /(?xw)a/");
    same("$.s.regexReplace(pattern: / a /gx, replace: 'b')", "$.s.regexReplace(pattern: /(?x) a /g, replace: 'b')");
    assert_eq!(made("$.s =~ /a/x").needs(), Version::new(8, 2, 0));
}

#[test]
fn an_index_is_kept_with_a_map_that_is_created() {
    // [67, "k", 5, 0x11]
    let put = [&[0x95, 127, 5, 0x40, 0x94, 67, 0xa2, 3][..], b"k", &[5, 0x11, 0x93, 81, 5, 0xa1], b"m"].concat();
    assert_eq!(made("$.m:KEY_ORDERED:PERSIST_INDEX.k.setTo(5)").bytes(), put);
    same(
        "$.m:KEY_VALUE_ORDERED:PERSIST_INDEX.putItems({a: 1})",
        "$.m:PERSIST_INDEX:KEY_VALUE_ORDERED.putItems({a: 1})",
    );
    assert_eq!(made("$.m:KEY_ORDERED:PERSIST_INDEX.putItems({a: 1})").needs(), Version::new(7, 0, 0));
}

#[test]
fn what_a_server_lacks_is_told() {
    for (text, version) in [
        ("$.l.[1:-1]", Version::new(5, 6, 0)),
        ("$.l.[0:2].modify(@:INT + 1)", Version::new(8, 1, 1)),
        ("$.m:KEY_ORDERED:PERSIST_INDEX.k.setTo(1)", Version::new(7, 0, 0)),
        ("$.l:LIST.*.modify(@:INT + 1)", Version::new(8, 1, 1)),
        ("$.l.[0].remove():NO_FAIL", Version::new(8, 1, 1)),
        ("$.m.{@a,b}&[?(@ > 1)].remove()", Version::new(8, 1, 2)),
        ("$.l.[($.a):($.b)].remove()", Version::new(5, 6, 0)),
        ("$.y.b64Encode()", Version::new(8, 2, 0)),
    ] {
        let error = compile_for(text, &[], Version::new(5, 2, 0)).unwrap_err();
        assert_eq!((error.kind(), error.needs()), (AelErrorKind::Version, Some(version)), "{text}: {error}");
        assert_eq!(compile_for(text, &[], version).unwrap().needs(), version, "{text}");
    }
    for text in ["$.l.append(1)", "$.m.k.setTo(1)", "$.y.bitNot(0, 8)", "$.h.hllInit(indexBits: 8)", "$.l.[0].remove()"]
    {
        assert_eq!(compile_for(text, &[], Version::new(5, 2, 0)).unwrap().needs(), Version::new(5, 2, 0), "{text}");
    }
}

#[test]
fn mistakes_have_their_place() {
    use AelErrorKind::{Syntax, Type, Unsupported};
    let mut wrong = Vec::new();
    for (text, kind, column, part) in [
        ("$.l.append()", Syntax, 12, "expected a value"),
        ("$.l.append(1, 2)", Syntax, 13, "expected \")\""),
        ("$.l.append(1):PARTIAL", Syntax, 15, "it has :NO_FAIL, :ADD_UNIQUE"),
        ("$.l.append(1):ADD_UNIQUE:ADD_UNIQUE", Syntax, 26, "twice"),
        ("$.m.k.setTo(1):CREATE_ONLY", Syntax, 16, "no flag"),
        ("$.m.k.setTo(1):ADD_UNIQUE", Syntax, 16, "for lists"),
        ("$.m.k.setTo($.a)", Type, 13, "$.a is open"),
        ("$.m:INT.append(1)", Type, 9, "this changes a LIST, found INT"),
        ("$.l.appendItems(1)", Type, 17, "expected LIST"),
        ("$.m.putItems([1])", Type, 14, "expected MAP"),
        ("$.m.k.add('x')", Type, 11, "INT or FLOAT"),
        ("$.m.k.add(1):NO_FAIL", Unsupported, 14, "with flags"),
        ("$.a.setTo(1)", Syntax, 5, "at a key of a map"),
        ("$.l.[0].update(1)", Syntax, 9, "update()"),
        ("$.l.[0:2].setTo([1])", Syntax, 11, "at a key of a map"),
        ("$.l.*.setTo(1)", Syntax, 7, "modify()"),
        ("$.l.remove()", Syntax, 5, "has to name some"),
        ("$.l.[#0:2].modify(@ + 1)", Unsupported, 5, "a range of ranks can only be read or removed"),
        ("$.l.[-2:].modify(@ + 1)", Unsupported, 5, "counts from the end"),
        ("$.l.[1:-1].modify(@ + 1)", Unsupported, 5, "counts from the end"),
        ("$.m.{0:2}.modify(@ + 1)", Unsupported, 5, "places in a map"),
        ("$.m.{0:1~k}.modify(@ + 1)", Unsupported, 5, "a relative range"),
        ("$.m.{=1:'a'}.modify(@ + 1)", Unsupported, 5, "several types"),
        ("$.m.{=1,'a'}.modify(@ + 1)", Unsupported, 5, "several types"),
        ("$.m.{@($.k:LIST)}.modify(@ + 1)", Unsupported, 5, "what an expression selects"),
        ("$.l.[($.i)]&[?(@ > 1)]", Unsupported, 5, "what an expression selects"),
        ("$.l.[($.i)].modify(@ + 1)", Unsupported, 5, "what an expression selects"),
        ("$.l.[#0:2].name.modify(@ + 1)", Unsupported, 5, "write a filter, as in .*[?("),
        ("$.l.[-2:].name.remove()", Unsupported, 5, "counts from the end"),
        ("$.l.[#0:2].name.setTo(1)", Unsupported, 5, "a range of ranks"),
        ("$.l.[#0:2]&[?(@ > 1)].modify(@ + 1)", Unsupported, 5, "a range of ranks"),
        ("$.l.[#0:2]&[?(@index > 1)]", Unsupported, 15, "not known behind a range of ranks"),
        ("$.l.[#0:2]&[?(@ > 1)]&[?(@index > 1)]", Unsupported, 26, "not known behind a range of ranks"),
        ("$.l.[#0:2]&[?(@ > 1)].getTree()", Unsupported, 5, "a range of ranks"),
        ("$.l.*.[#0:2]", Unsupported, 7, "a range of ranks"),
        ("$.l.[#0:2].*.[-1:].x", Unsupported, 14, "counts from the end"),
        ("$.l.[#0:2].remove():NO_FAIL", Unsupported, 5, "a range of ranks"),
        ("$.l.*[?(@ > $.n)]", Syntax, 13, "the record cannot be seen from the filter"),
        ("$.l.*[?($.ttl() > @)]", Syntax, 9, "?0"),
        ("$.l.*.modify(@ + $.n)", Syntax, 18, "or from modify()"),
        ("let (n = $.n) then ($.l.*[?(@ > ${n})].count())", Syntax, 33, "the variable \"n\" cannot be seen"),
        ("$.l.*[?(@.*.[0:1].count() > 1)]", Syntax, 13, "ends a path in a filter"),
        ("$.m:PERSIST_INDEX.putItems({a: 1})", Syntax, 5, ":KEY_ORDERED:PERSIST_INDEX"),
        ("$.m:UNORDERED:PERSIST_INDEX.k.setTo(1)", Syntax, 15, "only a map in order"),
        ("$.l:SORTED:PERSIST_INDEX.append(1)", Syntax, 12, "only a map in order"),
        ("$.m.k:PERSIST_INDEX.a.setTo(1)", Syntax, 7, "a map that is the bin"),
        ("$.m:KEY_ORDERED:PERSIST_INDEX:PERSIST_INDEX.k.setTo(1)", Syntax, 31, "a map that is the bin"),
        ("$.m:KEY_ORDERED:PERSIST_INDEX.k.remove()", Syntax, 5, "creates"),
        ("$.m:PERSIST_INDEX.k == 1", Syntax, 5, "creates"),
        ("$.m == {a: 1}:KEY_ORDERED", Syntax, 15, "is sorted by key"),
        ("$.l.append([1]:UNORDERED)", Syntax, 16, ":SORTED or :UNSORTED"),
        ("$.s =~ /a/xq", Syntax, 8, "no flag \"q\""),
        ("$.s =~ /a/g", Syntax, 8, "it has i, m, s, w and x"),
        ("$.l.*[?(@ > 1)].modify(@.*.modify(@:INT).count())", Syntax, 28, "in another one"),
        ("$.m.($.k:STRING).x.setTo(1)", Syntax, 1, "the last step of a path"),
        ("$.m.a:KEY_ORDERED.k:INT", Syntax, 7, "creates"),
        ("$.m.a:KEY_ORDERED.k.remove()", Syntax, 7, "creates"),
        ("$.m.a:SORTED.k.setTo(1)", Type, 1, "LIST and MAP"),
        ("$.m.a:SORTED:UNSORTED.[0].setTo(1)", Syntax, 14, "said once"),
        ("$.m.{#0}:KEY_ORDERED.k.setTo(1)", Syntax, 10, "said once"),
        ("$.m.k:KEY_ORDERED.setTo(1)", Syntax, 26, "nothing else is created"),
        ("$.m.set(1)", Syntax, 5, "setTo()"),
        ("$.l.clear():NO_FAIL", Syntax, 13, "it has none"),
        ("$.y.bitNot(0, 8):CREATE_ONLY", Syntax, 18, "no flag"),
        ("$.y.bitResize(byteSize: 4):CREATE_ONLY:UPDATE_ONLY", Syntax, 40, "exclude"),
        ("$.y.bitGetInt(0, 8, $.t)", Syntax, 21, "a constant"),
        ("$.y.bitSet(0, 8, 255)", Type, 18, "expected BLOB"),
        ("$.h.hllInit()", Syntax, 5, "needs 1"),
        ("$.l.[($.a:FLOAT)]:INT", Type, 6, "expected an index"),
        ("$.l.[#($.a:STRING)]:INT", Type, 7, "expected a rank"),
        ("$.l.[0:($.f:FLOAT)]", Type, 8, "expected an index"),
        ("$.m.{@a,($.b)}.count()", Syntax, 9, "constants only"),
        ("$.m.{!@($.k:INT)}.count()", Type, 9, "expected LIST"),
        ("$.m.{@($.k)}:INT", Type, 8, "open"),
        ("$.m.{#0}.getMaps()", Syntax, 1, "several pairs"),
        ("$.m.*.getRanks()", Syntax, 1, "one selector"),
        ("log(value: 1.0, value: 2.0)", Syntax, 17, "twice"),
        ("log(value: 1.0, bas: 2.0)", Syntax, 17, "no argument \"bas\""),
        ("$.m&[?(@ > 1)]", Syntax, 4, "behind what is selected"),
        ("$.s.strlen():NO_FAIL", Syntax, 14, "it has none"),
        ("$.s.lower():UPDATE_ONLY", Syntax, 13, "it has :NO_FAIL"),
    ] {
        let error = refused(text);
        if (error.kind(), error.column()) != (kind, column) || !error.message().contains(part) {
            wrong.push(format!("{text}: {:?}, {error}", error.kind()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(context("$.m.($.k:STRING).[0]", &[]).unwrap_err().kind(), Syntax);
    assert_eq!(context("$.m.a:KEY_ORDERED.b", &[]).unwrap_err().kind(), Syntax);
    assert_eq!(context("$.m.{@a,b}&[?(@ > 1)]", &[]).unwrap_err().kind(), Syntax);
}

#[test]
fn what_grows_is_bounded() {
    // Both bounds stand twice in what is sent: nested, they would grow without end.
    let mut index = "$.i".to_owned();
    for _ in 0..20 {
        index = format!("$.l.[({index}):({index})].count()");
        if index.len() > 60_000 {
            break;
        }
    }
    assert_eq!(refused(&index).kind(), AelErrorKind::Limit);
    let mut index = "$.i".to_owned();
    for _ in 0..11 {
        index = format!("$.l.[({index}):9].count()");
    }
    assert!(compile(&index, &[]).is_ok());
    let chain = format!("$.l{}", ".append(1)".repeat(5_000));
    assert_eq!(refused(&chain).kind(), AelErrorKind::Limit);
    let chain = format!("$.l{}", ".[($.i)]".repeat(5_000));
    assert_eq!(refused(&chain).kind(), AelErrorKind::Limit);
    let deep = format!("{}$.i{}", "$.l.[(".repeat(5_000), ")]".repeat(5_000));
    assert_eq!(refused(&deep).kind(), AelErrorKind::Limit);
}

#[test]
fn deep_texts_fit_into_the_stack_of_a_small_thread() {
    let deep = [
        format!("{}$.i{}", "$.l.[(".repeat(100), ")]".repeat(100)),
        format!("{}$.i{}", "$.l.[(".repeat(20), ")]:INT".repeat(20)),
        format!("{}1{}", "$.l.append(".repeat(100), ")".repeat(100)),
        format!("{}1{}", "$.l.append(".repeat(20), ")".repeat(20)),
        format!("{}1", "$.m.{=(".repeat(100)),
        format!("{}x", "$.y.bitSet(0, 8, ".repeat(100)),
    ];
    let deep = match std::env::var("ONE") {
        Ok(one) => {
            let t = deep[one.parse::<usize>().unwrap()].clone();
            std::array::from_fn::<String, 6, _>(|_| t.clone())
        }
        Err(_) => deep,
    };
    // Frames are far larger without optimization.
    let size = if cfg!(debug_assertions) { 2048 } else { 128 } * 1024;
    let thread = std::thread::Builder::new().stack_size(size);
    let parsed = thread.spawn(move || deep.map(|text| compile(&text, &[]).map(|made| made.bytes().len())));
    let parsed = parsed.unwrap().join().unwrap();
    assert_eq!(parsed.iter().filter(|made| made.is_ok()).count(), 2);
}
