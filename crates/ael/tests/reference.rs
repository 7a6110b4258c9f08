//! The constructs of the language's public reference, one by one: what is written there compiles, binds as tightly and
//! has the types that it says, and what it calls a mistake is one.

use aerolane_ael::{AelErrorKind, Compiled, Type, compile};

fn made(text: &str) -> Compiled {
    compile(text, &[]).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// All of these give a value of this type.
fn give(kind: Type, texts: &[&str]) {
    let wrong: Vec<String> = texts
        .iter()
        .filter_map(|text| match compile(text, &[]) {
            Ok(compiled) if compiled.kind() == Some(kind) => None,
            Ok(compiled) => Some(format!("{text}: {:?}", compiled.kind())),
            Err(error) => Some(format!("{text}: {error}")),
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The text binds as the one in parentheses does.
fn binds(pairs: &[(&str, &str)]) {
    for (text, grouped) in pairs {
        assert_eq!(made(text).bytes(), made(grouped).bytes(), "{text} and {grouped}");
    }
}

fn refused(kind: AelErrorKind, texts: &[&str]) {
    for text in texts {
        match compile(text, &[]) {
            Ok(compiled) => panic!("{text} compiles to {:?}", compiled.bytes()),
            Err(error) => assert_eq!(error.kind(), kind, "{text}: {error}"),
        }
    }
}

#[test]
fn literals() {
    give(
        Type::Bool,
        &[
            "$.n == +12 or $.n == -0x1F or $.n == 0b1011",
            "$.x == .25 or $.x == -1.5",
            r#"$.s == 'tab\t, line\n, \'quote\', \\, \0 and \x41' or $.s == "a \"word\"""#,
            "$.y == x'0aFF' or $.y == X'' or $.y == b64'AQI=' or $.y == B64''",
            "$.s == '\\xc3\\xa9' and $.s == 'é'",
            "$.flag == true and $.other == false",
            "$.l == [] or $.l == [1, 'two', [3.0], {four: 4}, NIL, INF, *]",
            "$.m == {} or $.m == {a: 1, 'b c': 2, 7: 3, x'00': 4}",
            "$.l == [3, 1, 2]:SORTED or $.l == [b, a]:UNSORTED or $.m == {b: 1, a: 2}:UNORDERED",
            "$.s =~ /^a.c$/ and $.s =~ /x/i and $.s =~ /y/ims and $.s =~ / z # comment/xw",
            "$.a == 1 /* said in between */ and /* not /* nested */ $.b == 2",
            "\n\t$.a ==\n1\t",
        ],
    );
    refused(AelErrorKind::Syntax, &["$.x == 10.", "$.y == x'abc'", "$.y == b64'?'", "$.a == 1 /* open"]);
    assert_eq!(made("'\\xc3\\xa9\\x41\\0\\r'").bytes(), made("'é\\x41\\0\\r'").bytes());
    assert_eq!(made("'\\x41\\0'").bytes(), [0xa3, 3, b'A', 0]);
    refused(AelErrorKind::Syntax, &["$.s == '\\x4'", "$.s == '\\xff'", "$.s == '\\q'"]);
    refused(AelErrorKind::Syntax, &["$.m == {a: 1}:KEY_ORDERED", "$.l == [1]:UNORDERED", "$.l == [1]:SORTED:SORTED"]);
    refused(AelErrorKind::Syntax, &["$.h.hllUnionCount([$.a, $.b]) > 1", "$.l == [1, $.n]", "$.m == {a: ($.n)}"]);
}

#[test]
fn precedence() {
    binds(&[
        ("$.a == 1 or $.b == 2 and $.c == 3", "$.a == 1 or ($.b == 2 and $.c == 3)"),
        ("$.a == 1 and $.b == 2 or $.c == 3", "($.a == 1 and $.b == 2) or $.c == 3"),
        ("$.a | 1 == 3", "($.a | 1) == 3"),
        ("$.a | $.b ^ 6 == 1", "($.a | ($.b ^ 6)) == 1"),
        ("$.a ^ $.b & 6 == 1", "($.a ^ ($.b & 6)) == 1"),
        ("$.a & $.b << 2 == 1", "($.a & ($.b << 2)) == 1"),
        ("$.a >> 1 + 1 == 1", "($.a >> (1 + 1)) == 1"),
        ("$.a - 1 - 2 == 1", "(($.a - 1) - 2) == 1"),
        ("$.a + $.b * 2 % 3 == 1", "($.a + (($.b * 2) % 3)) == 1"),
        ("$.x * 2.0 ** 3.0 > 1.0", "($.x * (2.0 ** 3.0)) > 1.0"),
        ("$.x ** 2.0 ** 3.0 > 1.0", "($.x ** (2.0 ** 3.0)) > 1.0"),
        ("-$.x ** 2.0 > 1.0", "((-$.x) ** 2.0) > 1.0"),
        ("~$.a & 1 == 1", "((~$.a) & 1) == 1"),
        ("$.a + 1 in [1, 2]", "($.a + 1) in [1, 2]"),
        ("$.s + 'x' =~ /x$/", "($.s + 'x') =~ /x$/"),
        ("not($.f:BOOL) and $.a == 1", "(not($.f:BOOL)) and ($.a == 1)"),
    ]);
    refused(AelErrorKind::Syntax, &["1 < $.a < 3", "$.a == 1 == true", "$.a in [1] in [true]"]);
}

#[test]
fn types_are_found_or_asked_for() {
    give(
        Type::Bool,
        &[
            "$.b > 3 and $.a == $.b",
            "$.a:INT > $.b",
            "$.first + ' ' + $.last == 'Ann Lee'",
            "$.x in ['a', 'b'] and 'gold' in $.tiers",
            "$.price * $.qty > 1000",
            "$.rate:FLOAT ** 2.0 > 100.0",
            "'1234'.toInt() == 1234 and $.code:STRING.toFloat() > 1.5",
            "(5).toFloat() > 4.0 and $.n:INT.toFloat() < 2.5 and $.r:FLOAT.toInt() == 3",
            "$.data.type() == INT or $.data.type() == HLL",
            "($.ttl()).toString() == '0' and ($.recordSize()).toString().strlen() > 1",
        ],
    );
    give(
        Type::Float,
        &["when ($.a.type() == INT => $.a:LOCAL:INT.toFloat(), default => $.a:LOCAL:FLOAT) / $.n:INT.toFloat()"],
    );
    give(Type::Int, &["$.acc.[0]:INT", "$.age + $.score + 0", "when ($.a == 1 => $.b + 1, default => unknown)"]);
    give(Type::String, &["when ($.t == 1 => 'gold', $.t == 2 => 'silver', default => error)", "$.n:INT.toString()"]);
    refused(
        AelErrorKind::Type,
        &[
            "$.a > $.b",
            "$.x in $.other",
            "$.a + $.b == $.c",
            "$.amount.toFloat() > 1.0",
            "$.amount.toString() == '1'",
            "$.a == 1 and $.a == 'x'",
            "$.a % 2.0 == 1.0",
            "$.a ** 2 == 4",
            "$.n == 1 and $.x == 2.0 and $.n == $.x",
            "when ($.t == 1 => 'gold', default => 0)",
            "$.s.find(needle: '-').replace(find: '_', replace: '.') == 'x'",
            "$.a:INT == 'x'",
            "1 and 2",
        ],
    );
}

#[test]
fn paths_and_selectors() {
    give(
        Type::Bool,
        &[
            "$.profile.name == 'a' and $.profile.'a key' == 1 and $.scores.[0] > 1 and $.d.users.[2].name == 'b'",
            "$.\"a\\tb\" == 1 and $.name@host == 'x' and $.@attr == 1 and $.true == 1 and $.when == 2",
            "$.m.{@1} == 'a' and $.m.{1} == 'b' and $.m.{='bb'}.exists() and $.m.{#1} == 'c'",
            "$.m.42 == 1 and $.m.0xff == 2 and $.m.0b101 == 3 and $.m.-3 == 4 and $.m.'42' == 'x'",
            "$.m.{@x'dead'} == 1 and $.m.{=x'cafe'}.count() == 1 and $.m.{@NIL:INF}.count() > 0",
        ],
    );
    give(
        Type::Int,
        &[
            "$.m.{1:5}.count()",
            "$.m.{:5}.count()",
            "$.m.{1:}.count()",
            "$.m.{!1:5}.count()",
            "$.m.{1:-1}.count()",
            "$.m.{@x'ab':x'def0'}.count()",
            "$.m.{@:d}.count()",
            "$.m.{@a:}.count()",
            "$.m.{@a,b,c}.count()",
            "$.m.{!@a:d}.count()",
            "$.m.{!@a,b,c}.count()",
            "$.m.{=a:d}.count()",
            "$.m.{=:d}.count()",
            "$.m.{=a:}.count()",
            "$.m.{=a,b,c}.count()",
            "$.m.{!=a:d}.count()",
            "$.m.{!=1,2,3}.count()",
            "$.m.{#1:5}.count()",
            "$.m.{#:5}.count()",
            "$.m.{#1:}.count()",
            "$.m.{!#1:5}.count()",
            "$.m.{#-3:2}.count()",
            "$.m.{#-1:1~ref}.count()",
            "$.m.{#-2:~ref}.count()",
            "$.m.{!#-1:~ref}.count()",
            "$.m.{0:1~key}.count()",
            "$.m.{0:~key}.count()",
            "$.m.{!0:1~key}.count()",
            "$.m.{@k,}.count()",
            "$.m.{!@k,}.count()",
            "$.m.{=a,}.count()",
            "$.m.{!=a,}.count()",
            "$.l.[1:5].count()",
            "$.l.[:5].count()",
            "$.l.[1:].count()",
            "$.l.[!1:5].count()",
            "$.l.[1:-1].count()",
            "$.l.[-3:2].count()",
            "$.l.[=a:d].count()",
            "$.l.[=:d].count()",
            "$.l.[=a:].count()",
            "$.l.[=a,b,c].count()",
            "$.l.[!=a:d].count()",
            "$.l.[#1:5].count()",
            "$.l.[#:5].count()",
            "$.l.[#-3:].count()",
            "$.l.[!#1:5].count()",
            "$.l.[#-3:-1~ref].count()",
            "$.l.[#-2:~ref].count()",
            "$.l.[!#-3:-1~ref].count()",
            "$.l.[=a,].count()",
            "$.l.[!=a,].count()",
            "$.rooms.{@'room1':'room3'}.count()",
        ],
    );
    give(
        Type::List,
        &[
            "$.l:LIST.*",
            "$.m:MAP.*.name",
            "$.l:LIST.*[?(@:INT > 200)]",
            "$.m.{@\"k1\",\"k2\"}&[?(@ > 1)]",
            "$.l:LIST.*[?(@.price:FLOAT < 10.0 and @index > 2)].title",
            "$.m:MAP.*[?(@key == 'a' or @.[0] == 1)].getKeys()",
            "$.tags:LIST.*[?(@.upper() == 'VIP')]",
            "$.m.{@a:d}.getKeys()",
            "$.m.{@a:d}.getKeyValues()",
            "$.l.[0:2].getIndexes()",
            "$.l.[#0:2].getRanks():REVERSE",
        ],
    );
    give(Type::Map, &["$.m.{@a:d}.getMaps():UNORDERED", "$.m:MAP.*[?(@ > 1)].getTree()"]);
    refused(AelErrorKind::Syntax, &["$.rooms.{room1:room3}", "$.m.{@}", "$.l.[@a]", "$.l.[0:1~k]", "$.m.{!@k}"]);
    refused(
        AelErrorKind::Syntax,
        &["@ > 1", "$.l.*[?(@ in $.l.*[?(@ > 1)])]", "$.b.seg.type() == INT", "$.l.[x'00'] == 1"],
    );
}

#[test]
fn functions() {
    give(
        Type::Bool,
        &[
            "$.lastUpdateTime() > 1 and $.timeSinceLastUpdate() > 1 and $.voidTime() > 1 and $.deviceSize() > 1",
            "$.memorySize() > 1 and $.keyExists() and not($.isTombstone()) and $.setName() == 's'",
            "$.key():STRING == 'a' and $.digestModulo(7) == 1",
            "abs(-3) == 3 and ceil($.x) == 2.0 and floor($.y) == 1.0 and min(3, 5, 7, 2) == 2 and max($.i, $.j) > 10",
            "log(base: 2.0, value: $.x) > pow(base: $.y, exponent: 2.0) and countOneBits($.i) == 1",
            "findBitLeft(x: $.i, value: true) == 1 or findBitRight(value: false, x: $.i) == 2",
            "exclusive($.a == 1, $.b == 2, $.c == 3)",
            "geoCompare($.loc, geoJson('{\"type\":\"Point\",\"coordinates\":[0,0]}'))",
            "$.s.startsWith('a') and $.s.endsWith('b') and $.s.contains(needle: 'c') and $.s.isUpper() or $.s.isNumeric()",
            "$.s.find(needle: '-', occurrence: -1) == 3 and $.s.charAt(index: 0) == 'x' and $.s.bytesLength() > 1",
            "$.s.padStart(length: 5, pad: '0').repeat(2) == 'x' and $.l.join(',') == 'a,b' and $.s.split(',') == [a]",
            "$.s.trim().upper().replace(find: '-', replace: '_') =~ /^[A-Z]{3}$/",
            "$.s.splice(offset: 1, value: 'x').overwrite(offset: 0, value: 'y').snip(from: 1, to: 2) == 'z'",
            "$.s.regexReplace(pattern: /\\d+/g, replace: '') == 'a' and $.s.b64Decode() == x'00'",
            "$.h.hllCount() > 1 and $.h.hllMayContain(['a', 'b']) == 1 and $.h.hllSimilarity($.g) >= 0.5",
            "$.h.hllUnionCount($.g) > 5 and $.h.hllIntersectCount($.g) > 0 and $.h.hllDescribe() == [14, 0]",
            "let (total = $.price * $.qty, twice = ${total} * 2) then (${twice} > 1000)",
        ],
    );
    give(
        Type::Blob,
        &[
            "$.y.bitResize(byteSize: 4):CREATE_ONLY",
            "$.y.bitInsert(byteOffset: 0, value: x'01'):UPDATE_ONLY",
            "$.y.bitSet(offset: 8, size: 8, value: x'01'):UPDATE_ONLY:NO_FAIL",
            "$.y.bitRemove(byteOffset: 0, byteSize: 2):PARTIAL",
            "$.y.bitAdd(offset: 0, size: 8, value: 1, signed: true)",
            "$.y.bitNot(offset: 0, size: 8):PARTIAL:NO_FAIL",
        ],
    );
    give(Type::Hll, &["$.h.hllInit(indexBits: 12):CREATE_ONLY", "$.h.hllAdd(['u1']):NO_FAIL", "$.h.hllUnion($.g)"]);
    give(
        Type::Map,
        &[
            "$.m.k.setTo($.other:INT)",
            "$.m.k.update(1)",
            "$.m.k.insert(1)",
            "$.m.k.add(1)",
            "$.m.putItems({k: v})",
            "$.m.insertItems({a: 1}):PARTIAL",
            "$.m.updateItems({a: 1}):NO_FAIL",
            "$.m.{!@a:c}.remove()",
            "$.m:MAP.clear()",
            "$.m.p1.{@a,b}.remove():NO_FAIL",
            "$.m:KEY_ORDERED:PERSIST_INDEX.putItems({a: 1})",
            "$.m:PERSIST_INDEX:KEY_VALUE_ORDERED.k.setTo(1)",
            "$.a.b:SORTED.[0]:KEY_ORDERED.c.setTo(5)",
            "$.m:MAP.*[?(@ > 1)].modify(@ + 1)",
        ],
    );
    give(
        Type::List,
        &[
            "$.l.append(1)",
            "$.l.appendItems([600, 700]):ADD_UNIQUE",
            "$.l.[0].insert(1)",
            "$.l.[0].insertItems([1, 2])",
            "$.l.[1].setTo('x')",
            "$.l.[1].add(2)",
            "$.l.[1].remove()",
            "$.l:LIST.clear()",
            "$.l.sort():DROP_DUPS",
            "$.items:SORTED.[0]:KEY_ORDERED.field.setTo('x')",
            "$.sparse:UNSORTED_PAD.[1000].setTo('v')",
            "$.l:LIST.*[?(@:INT > 200)].modify(@:INT + 1):NO_FAIL",
        ],
    );
    refused(
        AelErrorKind::Syntax,
        &[
            "$.m.*:KEY_ORDERED.k.setTo(1)",
            "$.m.{@a,b}:KEY_ORDERED.k.setTo(1)",
            "$.m.*.k:KEY_ORDERED.setTo(1)",
            "$.m.p1:KEY_ORDERED.k.modify(@ + 1)",
            "$.m.p1:KEY_ORDERED.k.remove()",
            "$.m.k:KEY_ORDERED == 1",
            "$.h.hllAdd(['a']):UPDATE_ONLY",
            "$.y.bitCount(offset: 0, size: 8):NO_FAIL == 1",
            "$.l.count():NO_FAIL == 1",
            "geoCompare($.loc, geoJson($.text))",
            "when ($.a == 1 => 2)",
            "let (a = 1) then (${b} > 1)",
            "$.exists()",
            "$.m.remove({@k})",
            "$.s =~ $.pattern",
        ],
    );
}
