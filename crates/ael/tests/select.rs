//! Which index serves which text.

use aerolane_ael::select::{Bounds, Collection, Hint, Index, IndexKind, Selection, select};
use aerolane_ael::{Param, condition, context};

fn index(name: &str, bin: &str, kind: IndexKind) -> Index {
    Index {
        name: Some(name.to_owned()),
        bin: bin.to_owned(),
        kind,
        collection: Collection::Default,
        context: Vec::new(),
        selectivity: None,
    }
}

fn indexes() -> Vec<Index> {
    vec![
        index("age_idx", "age", IndexKind::Numeric),
        index("city_idx", "city", IndexKind::String),
        index("score_idx", "score", IndexKind::Numeric),
        index("loc_idx", "loc", IndexKind::Geo),
        Index { collection: Collection::List, ..index("tags_idx", "tags", IndexKind::String) },
        Index { collection: Collection::MapKeys, ..index("keys_idx", "props", IndexKind::String) },
        Index { collection: Collection::MapValues, ..index("values_idx", "props", IndexKind::Numeric) },
        Index { context: context("$.deep.k.[0]", &[]).unwrap(), ..index("deep_idx", "deep", IndexKind::Numeric) },
    ]
}

fn chosen(text: &str) -> Selection {
    select(text, &[], &indexes(), Hint::default(), None).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The name of the index, what it is asked for, and what is left to filter.
#[track_caller]
fn check(text: &str, name: &str, bounds: &Bounds, rest: Option<&str>) {
    let selection = chosen(text);
    let filter = selection.filter.as_ref().unwrap_or_else(|| panic!("{text}: {}", selection.explain()));
    assert_eq!(indexes()[filter.index].name.as_deref(), Some(name), "{}", selection.explain());
    assert_eq!(&filter.bounds, bounds, "{text}");
    assert_eq!(selection.rest, rest.map(|rest| condition(rest, &[]).unwrap()), "{text}: {}", selection.explain());
    assert!(selection.explain().contains(name));
}

#[test]
fn comparisons_become_ranges_and_values() {
    check("$.age > 21", "age_idx", &Bounds::Range(22, i64::MAX), None);
    check("21 >= $.age", "age_idx", &Bounds::Range(i64::MIN, 21), None);
    check("$.age == 21 and $.x == 1", "age_idx", &Bounds::Range(21, 21), Some("$.x == 1"));
    check("$.age >= 18 and $.x == 1 and $.age < 65", "age_idx", &Bounds::Range(18, 64), Some("$.x == 1"));
    check("$.age > 1 and ($.x == 1 or $.y == 2)", "age_idx", &Bounds::Range(2, i64::MAX), Some("$.x == 1 or $.y == 2"));
    check("($.x == 1 and ($.age == 3 and $.y == 2))", "age_idx", &Bounds::Range(3, 3), Some("$.x == 1 and $.y == 2"));
    check("$.city == 'Rome'", "city_idx", &Bounds::Equal(Param::from("Rome")), None);
    check("$.city in ['Rome']", "city_idx", &Bounds::Equal(Param::from("Rome")), None);
    check("'a' in $.tags", "tags_idx", &Bounds::Equal(Param::from("a")), None);
    check("$.tags.[='a'].exists()", "tags_idx", &Bounds::Equal(Param::from("a")), None);
    check("$.props.color.exists()", "keys_idx", &Bounds::Equal(Param::from("color")), None);
    check("$.props.{=5}.exists()", "values_idx", &Bounds::Equal(Param::from(5)), None);
    check("$.deep.k.[0] > 5", "deep_idx", &Bounds::Range(6, i64::MAX), None);
    let region = "{\"type\":\"AeroCircle\",\"coordinates\":[[0,0],10]}";
    let text = format!("geoCompare($.loc, geoJson('{region}'))");
    check(&text, "loc_idx", &Bounds::WithinRegion(region.to_owned()), Some(&text));
}

#[test]
fn what_no_index_answers_reads_the_set() {
    for text in [
        "$.age == 1 or $.city == 'x'",
        "not($.age == 1)",
        "$.age != 1",
        "$.city > 'a'",
        "$.age:FLOAT > 1.5",
        "$.age in [1, 2]",
        "$.age + 1 > 2",
        "$.age > 9223372036854775807",
        "$.age > 5 and $.age < 3",
        "$.deep.k.[1] > 5",
        "$.deep > 5",
        "$.props.{!=5,}.exists()",
        "$.tags.[0] == 'a'",
        "$.age > $.score:INT",
        "true",
    ] {
        let selection = chosen(text);
        assert_eq!(selection.filter, None, "{text}");
        assert_eq!(selection.rest, Some(condition(text, &[]).unwrap()), "{text}");
        assert!(selection.explain().starts_with("reads the whole set"), "{}", selection.explain());
    }
}

#[test]
fn the_index_that_finds_least_is_chosen_and_hints_win() {
    let text = "$.age > 21 and $.city == 'Rome' and $.score > 3 and $.score < 5";
    check(text, "city_idx", &Bounds::Equal(Param::from("Rome")), Some("$.age > 21 and $.score > 3 and $.score < 5"));
    check("$.age > 21 and $.score > 3", "age_idx", &Bounds::Range(22, i64::MAX), Some("$.score > 3"));
    check("$.age > 21 and $.score > 3 and $.score < 9", "score_idx", &Bounds::Range(4, 8), Some("$.age > 21"));
    let mut known = indexes();
    known[2].selectivity = Some(0.9);
    let pick = |hint: Hint<'_>, known: &[Index]| {
        let selection = select("$.age > 21 and $.score > 3", &[], known, hint, None).unwrap();
        known[selection.filter.unwrap().index].name.clone().unwrap_or_default()
    };
    assert_eq!(pick(Hint::default(), &known), "score_idx");
    assert_eq!(pick(Hint { index: Some("age_idx"), bin: None }, &known), "age_idx");
    assert_eq!(pick(Hint { index: None, bin: Some("age") }, &known), "age_idx");
    // A hint that cannot serve the text changes nothing.
    assert_eq!(pick(Hint { index: Some("city_idx"), bin: None }, &known), "score_idx");
}

#[test]
fn the_choice_is_explained() {
    let selection = chosen("$.age >= 18 and $.age < 65 and $.name == 'x'");
    let lines: Vec<&str> = selection.explain().lines().collect();
    assert_eq!(lines[0], "reads by index age_idx (bin age, numeric)");
    assert_eq!(lines[1], "  values from 18 to 64");
    assert_eq!(lines[2], "filters what it reads by $.name == 'x'");
    assert!(lines.contains(&"does not use tags_idx (bin tags, string, items of a list): serves no condition"));
}

#[test]
fn parameters_serve_like_literals_and_errors_stay_errors() {
    let selection = select("$.age > ?0", &[Param::from(21)], &indexes(), Hint::default(), None).unwrap();
    assert_eq!(selection.filter.unwrap().bounds, Bounds::Range(22, i64::MAX));
    for wrong in ["$.age >", "$.age", "$.age + 1"] {
        let selection = select(wrong, &[], &indexes(), Hint::default(), None);
        assert_eq!(selection.is_err(), wrong != "$.age", "{wrong}");
    }
}
