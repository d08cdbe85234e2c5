//! Results of conditions, updates and projections.

use crate::support::{attributes, item, substitutions};
use keyform_core::expression::{
    ConditionKind, Update, apply, create, parse_condition, parse_projection, parse_update, updated_attributes,
};
use keyform_core::{Error, Item};

const ITEM: &str = r#"s: "hello", n: 5, b: b"bytes", t: true, z: null, l: [1, "two", [3], {k: 4}], m: {x: 1, y: {w: "deep"}},
    ss: <"a" "b">, ns: <1 2 3>, bs: <b"p">, uni: "é𝄞", e: [], five: 5, six: 6, hell: "hell""#;

const VALUES: &str = r#"hello: "hello", ell: "ell", a: "a", abc: "abc", five: 5, six: 6, one: 1, two: 2, three: 3, four: 4, zero: 0,
    bytes: b"bytes", yt: b"yt", p: b"p", true: true, null: null, list: [1, "two", [3], {k: 4}], map: {x: 1, y: {w: "deep"}},
    ss: <"b" "a">, three_list: [3], k: {k: 4}, S: "S", N: "N", L: "L""#;

fn holds(text: &str, item: Option<&Item>) -> bool {
    parse_condition(text, ConditionKind::Condition, &mut substitutions(text, VALUES))
        .unwrap_or_else(|error| panic!("{text}: {error}"))
        .holds(item)
}

#[test]
fn conditions_that_hold() {
    let item = item(ITEM);
    for text in [
        "s = :hello",
        "n = :five AND n = five",
        "b = :bytes AND t = :true AND z = :null",
        "l = :list AND m = :map AND ss = :ss",
        "s <> :abc AND s <> :five AND s <> n",
        // A missing value is not equal to anything, not even to another missing value.
        "gone <> :five AND gone <> away AND :five <> m.gone AND l[9] <> l[8]",
        "NOT gone = :five AND NOT gone < :five AND NOT gone >= :five AND NOT :five > gone",
        "n < :six AND n <= five AND n > :four AND n >= :five",
        "s > :abc AND b <= :bytes",
        "n BETWEEN :five AND :six AND n BETWEEN five AND six AND s BETWEEN hell AND s",
        "NOT n BETWEEN :six AND :six AND NOT gone BETWEEN :five AND :six AND NOT n BETWEEN :a AND :abc",
        "n IN (:a, :four, :five) AND t IN (:true) AND l IN (:list) AND NOT n IN (gone, s)",
        "attribute_exists(m.y.w) AND attribute_exists(l[3].k) AND attribute_exists(z)",
        "attribute_not_exists(m.y.v) AND attribute_not_exists(l[4]) AND attribute_not_exists(s.x) AND attribute_not_exists(m[0])",
        "attribute_type(s, :S) AND attribute_type(l, :L) AND attribute_type(:five, :N) AND attribute_type(size(s), :N)",
        "NOT attribute_type(n, :S) AND NOT attribute_type(gone, :S) AND NOT attribute_type(:five, :S)",
        "begins_with(s, hell) AND begins_with(s, :hello) AND begins_with(b, :bytes) AND begins_with(:hello, hell)",
        "NOT begins_with(s, :abc) AND NOT begins_with(n, :a) AND NOT begins_with(s, b) AND NOT begins_with(gone, s)",
        "contains(s, :ell) AND contains(b, :yt) AND contains(ss, :a) AND contains(ns, :two) AND contains(bs, :p)",
        "contains(l, :one) AND contains(l, :three_list) AND contains(l, :k) AND contains(:list, m.x)",
        "NOT contains(s, :five) AND NOT contains(ss, :five) AND NOT contains(ns, :a) AND NOT contains(m, :one) AND NOT contains(n, :five)",
        "size(s) = five AND size(b) = :five AND size(l) = :four AND size(m) = :two AND size(ns) = :three AND size(e) = :zero",
        "size(uni) = :three AND size(:abc) = :three AND size(s) BETWEEN :four AND :six AND size(s) IN (:five)",
        "NOT size(n) = :one AND NOT size(t) > :zero AND NOT size(gone) >= :zero AND size(n) <> :one AND size(s) <> :a",
        "s = :abc OR n = :five AND t = :true",
        "NOT s = :abc AND n = :five",
        "NOT (s = :hello AND n = :six)",
        "NOT NOT n = :five",
    ] {
        assert!(holds(text, Some(&item)), "{text}");
    }
}

#[test]
fn an_item_that_does_not_exist_has_no_attribute() {
    assert!(holds("attribute_not_exists(pk)", None));
    assert!(holds("pk <> :a", None));
    assert!(!holds("attribute_exists(pk) OR pk = :a OR size(pk) >= :zero OR contains(pk, :a)", None));
    assert!(holds(":a = :a AND :five > :four", None));
}

fn updated(text: &str, values: &str, run: impl Fn(&Update) -> Result<String, Error>) -> String {
    let update = parse_update(text, &mut substitutions(text, values)).unwrap_or_else(|error| panic!("{text}: {error}"));
    run(&update).unwrap_or_else(|error| error.message().to_owned())
}

fn check_update(text: &str, values: &str, before: &str, after: &str) {
    let found = updated(text, values, |update| {
        apply(update, &attributes(before)).map(|after| format!("{:?}", Item::from(&after)))
    });
    let expected = match after.strip_prefix("error: ") {
        Some(text) => text.to_owned(),
        None => format!("{:?}", item(after)),
    };
    assert_eq!(found, expected, "{text} of {before}");
}

const PATH: &str = "error: The document path provided in the update expression is invalid for update";
const TYPE: &str = "error: An operand in the update expression has an incorrect data type";
const ABSENT: &str = "error: The provided expression refers to an attribute that does not exist in the item";
const OVERFLOW: &str =
    "error: Number overflow. Attempting to store a number with magnitude larger than supported range";
const UNDERFLOW: &str =
    "error: Number underflow. Attempting to store a number with magnitude smaller than supported range";

#[test]
fn set_assigns() {
    for (text, values, before, after) in [
        ("SET a = :v", "v: 1", "", "a: 1"),
        ("SET a = :v, b = a", "v: 1", "a: 0", "a: 1, b: 0"),
        ("SET a = b, b = a", "", "a: 1, b: 2", "a: 2, b: 1"),
        ("SET a = a + :v", "v: 2", "a: 1", "a: 3"),
        ("SET a = :v - a", "v: 2", "a: 0.5", "a: 1.5"),
        ("SET a = if_not_exists(a, :v) + :v", "v: 2", "", "a: 4"),
        ("SET a = if_not_exists(b, c)", "", "c: 1", "a: 1, c: 1"),
        ("SET a = list_append(a, :v)", "v: [2]", "a: [1]", "a: [1, 2]"),
        ("SET a = list_append(if_not_exists(a, :e), :v)", "v: [2], e: []", "", "a: [2]"),
        ("SET m.x = :v, m.z = :v", "v: 2", "m: {x: 1, y: 1}", "m: {x: 2, y: 1, z: 2}"),
        ("SET l[1] = :v", "v: 9", "l: [1, 2, 3]", "l: [1, 9, 3]"),
        ("SET l[9] = :v, l[7] = :w", "v: 9, w: 7", "l: [1]", "l: [1, 7, 9]"),
        ("SET a.c[1].x.y[1] = :v", "v: 9", "a: {c: [0, {x: {y: [3, 5]}}]}", "a: {c: [0, {x: {y: [3, 9]}}]}"),
        ("SET #a_b = :v", "v: 1", "a: {b: 2}", r#"a: {b: 2}, "a.b": 1"#),
        ("SET a.b = :v", "v: 1", "", PATH),
        ("SET a.b = :v", "v: 1", r#"a: "text""#, PATH),
        ("SET a.b = :v", "v: 1", "a: []", PATH),
        ("SET a[0] = :v", "v: 1", "a: {}", PATH),
        ("SET a[0].b = :v", "v: 1", "a: []", PATH),
        ("SET a = b", "", "", ABSENT),
        ("SET a = b + :v", "v: 1", "", ABSENT),
        ("SET a = if_not_exists(b, c)", "", "", ABSENT),
        ("SET a = b + :v", "v: 1", r#"b: "text""#, TYPE),
        ("SET a = list_append(b, :v)", "v: [1]", "b: 1", TYPE),
        ("SET a = :v + :v", "v: 9e125", "", OVERFLOW),
        ("SET a = :v + :w", "v: 1e50, w: 1", "", OVERFLOW),
        ("SET a = :v - :w", "v: 1e-130, w: 1.5e-130", "", UNDERFLOW),
    ] {
        check_update(text, values, before, after);
    }
}

#[test]
fn remove_add_and_delete_change() {
    for (text, values, before, after) in [
        ("REMOVE a, b", "", "a: 1, c: 2", "c: 2"),
        ("REMOVE m.x, l[0], l[2]", "", "m: {x: 1}, l: [0, 1, 2, 3]", "m: {}, l: [1, 3]"),
        ("REMOVE l[17]", "", "l: [1]", "l: [1]"),
        ("REMOVE l[1] SET l[3] = :v, l[9] = :w", "v: 17, w: 18", "l: [2, 3, 4, 5, 6]", "l: [2, 4, 17, 6, 18]"),
        ("SET l[9] = :v REMOVE l[2]", "v: 9", "l: [0, 1]", "l: [0, 1, 9]"),
        ("REMOVE l[1].x, l[3]", "", "l: [0, {x: 1, y: 2}, 2, 3]", "l: [0, {y: 2}, 2]"),
        ("REMOVE a SET b = a", "", "a: 1", "b: 1"),
        ("REMOVE a.b", "", "", PATH),
        ("REMOVE a[0]", "", "a: {}", PATH),
        ("ADD a :v", "v: 1", "", "a: 1"),
        ("ADD a :v", "v: 1", "a: 2", "a: 3"),
        ("ADD a :v", r#"v: <"x" "y">"#, r#"a: <"w" "x">"#, r#"a: <"w" "x" "y">"#),
        ("ADD m.s :v", "v: <1>", "m: {}", "m: {s: <1>}"),
        ("ADD l[5] :v", "v: 1", "l: [0]", "l: [0, 1]"),
        ("ADD a :v", "v: 1", r#"a: "text""#, TYPE),
        ("ADD a :v", "v: <1>", r#"a: <"x">"#, TYPE),
        ("ADD a.b :v", "v: 1", "", PATH),
        ("DELETE a :v", r#"v: <"x" "z">"#, r#"a: <"x" "y">"#, r#"a: <"y">"#),
        ("DELETE a :v", r#"v: <"x" "y">"#, r#"a: <"x" "y">, b: 1"#, "b: 1"),
        ("DELETE l[0] :v", "v: <1>", "l: [<1>, 2]", "l: [2]"),
        ("DELETE a :v", "v: <1>", "b: 1", "b: 1"),
        ("DELETE a :v", "v: <1>", r#"a: <"1">"#, TYPE),
        ("DELETE a :v", "v: <1>", "a: 1", TYPE),
        ("DELETE a.b :v", "v: <1>", "", PATH),
    ] {
        check_update(text, values, before, after);
    }
}

#[test]
fn updates_keep_documents_within_32_levels() {
    let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    check_update("SET a = :v", &format!("v: {}", nested(31)), "", &format!("a: {}", nested(31)));
    let deep = "error: Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit";
    check_update("SET a = :v", &format!("v: {}", nested(32)), "", deep);
    check_update("SET a[0][0] = :v", &format!("v: {}", nested(30)), "a: [[]]", deep);
}

#[test]
fn an_update_creates_an_item() {
    let run = |text: &str, values: &str| {
        updated(text, values, |update| {
            create(update, &attributes(r#"pk: "k""#)).map(|item| format!("{:?}", Item::from(&item)))
        })
    };
    assert_eq!(run("SET a = pk ADD n :v REMOVE x.y, z[0]", "v: 1"), format!("{:?}", item(r#"pk: "k", a: "k", n: 1"#)));
    assert_eq!(run("SET a.b = :v", "v: 1"), PATH[7..]);
}

#[test]
fn updated_attributes_are_the_touched_paths() {
    let before = r#"a: {b: "dog", c: [1, 2, 3]}, d: "cat""#;
    for (text, values, old, new) in [
        (r#"SET a.b = :v"#, "v: 1", r#"a: {b: "dog"}"#, "a: {b: 1}"),
        ("SET a.c[1] = :v, d = :v", "v: 1", r#"a: {c: [2]}, d: "cat""#, "a: {c: [1]}, d: 1"),
        ("SET a.x = :v", "v: 1", "", "a: {x: 1}"),
        ("SET a.c[100] = :v", "v: 1", "", ""),
        ("REMOVE a.c[1], a.c[3]", "", "a: {c: [2]}", "a: {c: [3]}"),
        ("REMOVE d", "", r#"d: "cat""#, ""),
    ] {
        let update = parse_update(text, &mut substitutions(text, values)).expect("the update is valid");
        let after = apply(&update, &attributes(before)).expect("the update applies");
        assert_eq!(updated_attributes(&update, &item(before)), item(old), "{text}");
        assert_eq!(updated_attributes(&update, &Item::from(&after)), item(new), "{text}");
    }
}

#[test]
fn projections_keep_the_nesting() {
    let whole = r#"a: {b: [2, 4, {x: "hi", y: "yo"}], c: 5}, b: "hello", "a.b": 7"#;
    for (text, expected) in [
        ("b", r#"b: "hello""#),
        ("b, x", r#"b: "hello""#),
        ("x", ""),
        ("a.b", r#"a: {b: [2, 4, {x: "hi", y: "yo"}]}"#),
        ("#a_b", r#""a.b": 7"#),
        ("a.b[0]", "a: {b: [2]}"),
        ("a.b[2].y, a.b[0]", r#"a: {b: [2, {y: "yo"}]}"#),
        ("a.b[2].y, a.b[2].x", r#"a: {b: [{x: "hi", y: "yo"}]}"#),
        ("a.c, b", r#"a: {c: 5}, b: "hello""#),
        ("a.x, a.b[0], x, a.b[3].x", "a: {b: [2]}"),
        ("a.b[3], a.x.y, b.x", ""),
        ("a[0]", ""),
        ("a.b.x, b[0]", ""),
        ("a.b[0][0], a.b[1].x", ""),
    ] {
        let projection = parse_projection(text, &mut substitutions(text, "")).expect("the projection is valid");
        assert_eq!(projection.apply(&item(whole)), item(expected), "{text}");
    }
}

#[test]
fn projections_of_many_names_show_the_same_as_of_few() {
    let names = |range: std::ops::Range<u32>| range.map(|number| format!("a{number}")).collect::<Vec<_>>();
    let all: Vec<String> = names(0..60).iter().map(|name| format!("{name}: 1")).collect();
    let item = item(&all.join(", "));
    let shown = |names: &[String]| {
        let text = names.join(", ");
        parse_projection(&text, &mut substitutions(&text, "")).expect("the text is a projection").apply(&item)
    };
    let many = shown(&names(20..100));
    assert_eq!(many.iter().count(), 40);
    for name in names(0..100) {
        assert_eq!(
            many.get(&name),
            shown(std::slice::from_ref(&name)).get(&name).filter(|_| names(20..60).contains(&name))
        );
    }
}
