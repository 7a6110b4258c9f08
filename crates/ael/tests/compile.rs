//! Texts, and the expressions that they become. The bytes are those of aerospike-core's constructors
//! (`tests/python/test_ael.py` makes the comparison with constructors).

use aerolane_ael::{
    AelError, AelErrorKind, Param, Type, Version, compile, compile_for, condition, condition_for, context,
};

fn hex(text: &str, params: &[Param]) -> String {
    match compile(text, params) {
        Ok(compiled) => {
            let digit = |digit: u8| char::from_digit(u32::from(digit), 16).unwrap_or_default();
            compiled.bytes().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
        }
        Err(error) => panic!("{text}: {error}"),
    }
}

fn refused(text: &str, params: &[Param]) -> AelError {
    match compile(text, params) {
        Ok(compiled) => panic!("{text} compiles to {:?}", compiled.bytes()),
        Err(error) => error,
    }
}

/// Both texts mean the same.
fn same(left: &str, right: &str) {
    assert_eq!(hex(left, &[]), hex(right, &[]), "{left} and {right}");
}

#[test]
fn operators_bind_as_the_reference_says() {
    same("$.a == 1 or $.b == 2 and $.c == 3", "$.a == 1 or ($.b == 2 and $.c == 3)");
    same("$.a + 2 * 3 == 7", "($.a + (2 * 3)) == 7");
    same("$.a - 2 - 3 == 7", "(($.a - 2) - 3) == 7");
    same("$.a ** 2.0 ** 3.0 > 1.0", "($.a ** (2.0 ** 3.0)) > 1.0");
    same("$.a & 3 == 1 << 2 + 1", "($.a & 3) == (1 << (2 + 1))");
    same("$.a | $.b ^ $.c & 3 == 1", "($.a | ($.b ^ ($.c & 3))) == 1");
    same("not $.a and $.b", "(not($.a)) and $.b");
    same("-2.0 ** 2.0 == $.a", "(-2.0) ** 2.0 == $.a");
    assert_eq!(hex("$.a > 1", &[]), "9303935102a16101");
    assert_eq!(hex("$.a and $.b and $.c or $.d", &[]), "93119410935101a161935101a162935101a163935101a164");
}

#[test]
fn spaces_and_comments_mean_nothing() {
    same("$.a.b == 1", " $ . a /* map */ . b\n\t== /* one */ 1 ");
    assert_eq!(refused("$.a == 1 /* no end", &[]).offset(), 9);
}

#[test]
fn types_come_from_the_other_side() {
    assert_eq!(compile("$.age + 1", &[]).unwrap().kind(), Some(Type::Int));
    // Through a bin that another comparison settles.
    same("$.a == $.b and $.b > 'hello'", "$.a:STRING == $.b:STRING and $.b > 'hello'");
    same("when ($.t == 1 => $.x, default => 'b') == 'g'", "when ($.t == 1 => $.x:STRING, default => 'b') == 'g'");
    same("let (x = $.a + 1) then (${x} > $.b)", "let (x = $.a:INT + 1) then (${x} > $.b:INT)");
    for open in ["$.a > $.b", "$.a + $.b", "$.x in $.other", "$.m.k == $.b", "let (x = $.a) then (1 == 1)"] {
        let error = refused(open, &[]);
        assert_eq!(error.kind(), AelErrorKind::Type, "{open}");
        assert!(error.message().contains(":INT"), "{error}");
    }
    for unfit in
        ["$.a == 1 and $.a == 'x'", "$.a + 1 > 2.5", "$.a ** 2 > 1.0", "$.m.k == 1 and $.m.[0] == 2", "1 and true"]
    {
        assert_eq!(refused(unfit, &[]).kind(), AelErrorKind::Type, "{unfit}");
    }
    compile("$.a:local:INT == 1 or $.a:local:STRING == 'x'", &[]).unwrap();
}

#[test]
fn a_filter_is_true_or_false() {
    condition("$.a", &[]).unwrap();
    condition("when ($.a == 1 => $.b, default => unknown)", &[]).unwrap_err();
    condition("when ($.a == 1 => true, default => unknown)", &[]).unwrap();
    let error = condition("$.age + 1", &[]).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (AelErrorKind::Type, 0));
    assert_eq!(condition_for("$.a + 1 == 2", &[], Version::new(5, 2, 0)).unwrap_err().kind(), AelErrorKind::Version);
}

#[test]
fn an_error_shows_its_place() {
    let error = refused("$.name == 'é' and\n  $.age = 3", &[]);
    assert_eq!((error.line(), error.column(), error.offset()), (2, 9, 27));
    assert_eq!(error.excerpt(), "  $.age = 3\n        ^");
    assert_eq!(error.kind(), AelErrorKind::Syntax);
    assert!(error.to_string().starts_with("line 2, column 9: expected an operator"), "{error}");
    assert!(error.to_string().contains("equality is \"==\""), "{error}");
    // A long line is cut around the place.
    let long = format!("{} and $.b ==", vec!["$.a == 1"; 100].join(" and "));
    let error = refused(&long, &[]);
    assert_eq!(error.offset(), long.len());
    assert!(error.excerpt().lines().all(|line| line.len() <= 81), "{error}");
}

#[test]
fn parameters_are_values_whatever_is_in_them() {
    let evil = Param::from("' or true or '");
    assert_eq!(hex("$.s == ?0", std::slice::from_ref(&evil)), hex("$.s == \"' or true or '\"", &[]));
    assert_eq!(hex("$.s == '%s'", std::slice::from_ref(&evil)), hex("$.s == \"' or true or '\"", &[]));
    assert_eq!(hex("$.s == %s", std::slice::from_ref(&evil)), hex("$.s == \"' or true or '\"", &[]));
    assert_eq!(hex("$.s == 'a%s-%d%%'", &[Param::from("x"), Param::from(3)]), hex("$.s == 'ax-3%'", &[]));
    assert_eq!(
        hex("$.a > ?1 and $.b > ?0 and $.c > ?1", &[1.into(), 2.into()]),
        hex("$.a > 2 and $.b > 1 and $.c > 2", &[])
    );
    assert_eq!(hex("$.a > $1", &[1.into()]), hex("$.a > 1", &[]));
    assert_eq!(hex("$.a %% %s == 1", &[2.into()]), hex("$.a % 2 == 1", &[]));
    assert_eq!(hex("$.a % 2 == 1", &[]), hex("$.a % ?0 == 1", &[2.into()]));
    assert_eq!(hex("$.?0.?1 == 1", &["m".into(), "k".into()]), hex("$.m.k == 1", &[]));
    for (text, count) in
        [("$.a > ?0", 0), ("$.a > ?1", 1), ("$.a > 1", 1), ("$.a > ?0 and $.b > %s", 2), ("$.a > %s", 0)]
    {
        let params = vec![Param::from(1); count];
        assert_eq!(refused(text, &params).kind(), AelErrorKind::Parameter, "{text}");
    }
    let list = Param::list([Param::from(1), Param::from(2)].iter());
    assert_eq!(hex("$.a in ?0", &[list]), hex("$.a in [1, 2]", &[]));
}

#[test]
fn what_is_too_much_is_refused() {
    let deep = format!("{}1{} == $.a", "(".repeat(10_000), ")".repeat(10_000));
    assert_eq!(refused(&deep, &[]).kind(), AelErrorKind::Limit);
    let chain = format!("1{} == $.a", " + 1".repeat(5_000));
    assert_eq!(refused(&chain, &[]).kind(), AelErrorKind::Limit);
    let signs = format!("{}$.a == 1", "~".repeat(5_000));
    assert_eq!(refused(&signs, &[]).kind(), AelErrorKind::Limit);
    let lists = format!("$.a == {}{}", "[".repeat(5_000), "]".repeat(5_000));
    assert_eq!(refused(&lists, &[]).kind(), AelErrorKind::Limit);
    let path = format!("$.a{} == 1", ".b".repeat(5_000));
    assert_eq!(refused(&path, &[]).kind(), AelErrorKind::Limit);
    let wide = format!("$.a in [{}]", vec!["1"; 20_000].join(","));
    assert_eq!(refused(&wide, &[]).kind(), AelErrorKind::Limit);
    assert_eq!(refused(&" ".repeat(1 << 20), &[]).kind(), AelErrorKind::Limit);
    // A chain of one logical operator is one operation, however long.
    hex(&vec!["$.a == 1"; 1_000].join(" or "), &[]);
}

#[test]
fn an_older_server_is_served_or_refused_with_the_version() {
    let old = Version::new(5, 2, 0);
    let counted = compile_for("$.a in [1, 2]", &[], old).unwrap();
    assert_eq!(counted.needs(), old);
    // Greater than 0: [3, [127, 2, 0, [22, 5, [81, 2, "a"]], [126, [1, 2]]], 0].
    let bytes: Vec<u8> = [&[0x93, 3, 0x95, 127, 2, 0, 0x93, 22, 5, 0x93, 81, 2, 0xa1][..], b"a"].concat();
    assert_eq!(counted.bytes(), [&bytes[..], &[0x92, 126, 0x92, 1, 2, 0]].concat());
    assert_eq!(compile("$.a in [1, 2]", &[]).unwrap().needs(), Version::new(6, 1, 0));
    for (text, version) in [
        ("$.s =~ /^a(?=b)/", Version::new(8, 2, 0)),
        ("$.s.lower() == 'a'", Version::new(8, 2, 0)),
        ("$.l:LIST.*[?(@ > 1)].count() > 0", Version::new(8, 1, 1)),
        ("$.recordSize() > 10", Version::new(7, 0, 0)),
        ("$.a + 1 == 2", Version::new(5, 6, 0)),
    ] {
        let error = compile_for(text, &[], old).unwrap_err();
        assert_eq!((error.kind(), error.needs()), (AelErrorKind::Version, Some(version)), "{text}");
        assert!(error.message().contains(&version.to_string()), "{error}");
        assert_eq!(compile_for(text, &[], version).unwrap().needs(), version);
    }
    for text in ["$.m.{1:3}&[?(@ > 1)].count() == 1", "$.l.[-3:].x == [1]", "$.l.[#0:2]&[?(@ > 1)].exists()"] {
        let error = compile_for(text, &[], Version::new(8, 1, 0)).unwrap_err();
        assert_eq!((error.kind(), error.needs()), (AelErrorKind::Version, Some(Version::new(8, 1, 1))), "{text}");
    }
    for text in
        ["$.m.{1:3}&[?(@ > 1)].modify(@ + 1)", "$.l:LIST.*.[-3:].x == [1]", "$.l.[#0:2]&[?(@index > 1)].exists()"]
    {
        assert_eq!(refused(text, &[]).kind(), AelErrorKind::Unsupported, "{text}");
    }
}

#[test]
fn selectors_have_all_dimensions() {
    let all = [
        ("$.m.{@'a'} == 1", "$.m.a == 1"),
        ("$.m.{@5} == 1", "$.m.5 == 1"),
        ("$.m.{@0x10} == 1", "$.m.16 == 1"),
        ("$.m.[\"a\"] == 1", "$.m.a == 1"),
        ("$.m.{@a:c}.count() == 1", "$.m.{a-c}.count() == 1"),
        ("$.m.{@a,b}.count() == 1", "$.m.{a,b}.count() == 1"),
        ("$.m.{!@a,}.count() == 1", "$.m.{!@'a',}.count() == 1"),
        ("$.m.{:2}.count() == 1", "$.m.{0:2}.count() == 1"),
        ("$.l.[-3:-1].count() == 1", "$.l.[-3:-1].get(return: COUNT) == 1"),
        ("$.l.[=1:3].count() > 0", "$.l.[= 1 : 3 ].count() > 0"),
        ("$.l.[#-1]:INT > $.b", "$.l.[#-1] > $.b:INT"),
        ("$.m.{1:3} == [1]", "$.m.{1:3}.getValues() == [1]"),
        ("$.m.{1:3} == {a: 1}", "$.m.{1:3}.getTree() == {a: 1}"),
        ("$.l.[].count() == 1", "$.l:LIST.count() == 1"),
        ("$.m.{}.count() == 1", "$.m:MAP.count() == 1"),
    ];
    for (left, right) in all {
        same(left, right);
    }
    assert_eq!(hex("$.l.[#-1:1~3].count()==1", &[]), "9301957f0200951b0503ff02935104a16c01");
    for wrong in ["$.m.{a:c} == 1", "$.m.{!1} == 1", "$.l.[3:1] == [1]", "$.l.[:] == [1]", "$.m.{@} == 1"] {
        assert_eq!(refused(wrong, &[]).kind(), AelErrorKind::Syntax, "{wrong}");
    }
}

#[test]
fn a_context_is_a_path_of_single_steps() {
    let levels = context("$.m.k.[0].{#-1}.{='x'}", &[]).unwrap();
    assert_eq!(levels.iter().map(|level| level.id).collect::<Vec<_>>(), [0x22, 0x10, 0x21, 0x23]);
    for wrong in ["$.m", "m.k", "$.m.{@a:c}", "$.m.k.count()", "$.m.k == 1", "$.ttl()", "$.m.*[?(@ > 1)]"] {
        assert_eq!(context(wrong, &[]).unwrap_err().kind(), AelErrorKind::Syntax, "{wrong}");
    }
}

#[test]
fn what_no_text_is_says_what_was_expected() {
    for (text, part) in [
        ("", "expected a value"),
        ("$.a and", "expected a value"),
        ("$", "name of a bin"),
        ("$.", "name of a bin"),
        ("$.sixteen_letters_x == 1", "1 to 15 bytes"),
        ("($.a > 1", "expected \")\""),
        ("$.a < $.b < 3", "cannot be chained"),
        ("age > 3", "a bin is $.age"),
        ("!$.a", "not(..)"),
        ("$.a == 'x", "closing quote"),
        ("$.a == 'a\\q'", "no escape"),
        ("$.a == 10.", "function"),
        ("$.a == 99999999999999999999", "64 bits"),
        ("$.a == x'abc'", "even number"),
        ("$.a == b64'***'", "base64"),
        ("$.a =~ 'x'", "between slashes"),
        ("$.a =~ /x/q", "no flag"),
        ("when ($.a == 1 => 2)", "default"),
        ("let (x = 1, x = 2) then (${x} == 1)", "twice"),
        ("let (x = 1) then (let (x = 2) then (${x} == 1))", "twice"),
        ("let (x = let (x = 1) then (${x})) then (${x} == 1)", "twice"),
        ("let (x = ${x}) then (${x} == 1)", "no value yet"),
        ("let (x = 1) ${x} == 1", "then"),
        ("{a: 1, a: 2} == $.m", "twice"),
        ("[$.a] == $.l", "constants only"),
        ("NIL == $.a", "exists()"),
        ("$.a.foo() == 1", "no function \"foo\""),
        ("foo($.a) == 1", "no function \"foo\""),
        ("$.foo() == 1", "no function \"foo\""),
        ("max(1) == $.a", "two or more"),
        ("@ == 1", "filter"),
        ("$.s.substr(1, 2, 3) == 'x'", "at most 2"),
        ("$.s.substr(to: 2) == 'x'", "needs 1"),
        ("$.s.substr(no: 2) == 'x'", "no argument \"no\""),
    ] {
        let error = refused(text, &[]);
        assert!(error.to_string().contains(part), "{text}: {error}");
    }
}
