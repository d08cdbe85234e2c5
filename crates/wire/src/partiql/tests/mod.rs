//! Meaning of valid statements, and errors of invalid ones.

mod print;
mod properties;
mod refused;

use keyform_core::{AttributeValue, Number};

use super::parse;

fn check(statement: &str, expected: &str) {
    check_with(statement, Vec::new(), expected);
}

fn check_with(statement: &str, parameters: Vec<AttributeValue>, expected: &str) {
    let printed = match parse(statement, Some(parameters)) {
        Ok(statement) => print::statement(&statement),
        Err(error) => error.to_string(),
    };
    assert_eq!(printed, expected, "{statement}");
}

#[test]
fn select_reads_columns_source_and_order() {
    for (statement, expected) in [
        ("SELECT * FROM Music", "select * from Music"),
        ("select * from \"my table\"", "select * from my table"),
        ("SELECT * FROM \"T\".\"I\"", "select * from T.I"),
        ("SELECT * FROM T.I;", "select * from T.I"),
        ("SELECT a, \"b.c\", d.e[0].\"f g\", m['x'] FROM T", "select a, b.c, d/e/0/f g, m/x from T"),
        (
            "SELECT * FROM T WHERE a = 1 ORDER BY a, \"b\" DESC, c ASC",
            "select * from T where (a = 1) order a, b desc, c",
        ),
        ("SELECT * FROM T WHERE a = 1 ORDER BY b DESC NULLS LAST", "select * from T where (a = 1) order b desc"),
        ("-- note\nSELECT * FROM T /* note */ WHERE a = 1 -- note", "select * from T where (a = 1)"),
        ("EXISTS(SELECT * FROM T WHERE a = 1 AND b = 2)", "exists * from T where and((a = 1), (b = 2))"),
    ] {
        check(statement, expected);
    }
}

#[test]
fn conditions_follow_precedence() {
    for (condition, expected) in [
        ("a = 1 OR b = 2 AND c = 3", "or((a = 1), and((b = 2), (c = 3)))"),
        ("(a = 1 OR b = 2) AND c = 3", "and(or((a = 1), (b = 2)), (c = 3))"),
        ("a = 1 AND b = 2 AND c = 3", "and((a = 1), (b = 2), (c = 3))"),
        ("NOT a = 1 AND b = 2", "and(not (a = 1), (b = 2))"),
        ("NOT NOT a = 1", "(a = 1)"),
        ("NOT NOT NOT a = 1", "not (a = 1)"),
        ("a <> 1 AND a != 2", "and((a <> 1), (a <> 2))"),
        ("a < 1 OR a <= 2 OR a > 3 OR a >= 4", "or((a < 1), (a <= 2), (a > 3), (a >= 4))"),
        ("a BETWEEN 1 AND 2 AND b = 3", "and((a between 1, 2), (b = 3))"),
        ("a NOT BETWEEN 1 AND 2", "not (a between 1, 2)"),
        ("a IN [1, 2]", "(a in 1, 2)"),
        ("a IN (1, 'x', b)", "(a in 1, 'x', b)"),
        ("a IN (1)", "(a in 1)"),
        ("a NOT IN [1, 2] AND b = 1", "and(not (a in 1, 2), (b = 1))"),
        ("a.b[3] = b", "(a/b/3 = b)"),
    ] {
        check(&format!("SELECT * FROM T WHERE {condition}"), &format!("select * from T where {expected}"));
    }
}

#[test]
fn a_constant_on_the_left_changes_sides() {
    for (condition, expected) in
        [("1 = a", "(a = 1)"), ("1 < a", "(a > 1)"), ("1 >= size(a)", "(size(a) <= 1)"), ("1 = 1", "(1 = 1)")]
    {
        check(&format!("SELECT * FROM T WHERE {condition}"), &format!("select * from T where {expected}"));
    }
}

#[test]
fn functions_and_type_tests_become_conditions() {
    for (condition, expected) in [
        ("begins_with(a, 'x')", "begins_with(a, 'x')"),
        ("BEGINS_WITH(\"a\", 'x')", "begins_with(a, 'x')"),
        ("NOT contains(a, 1)", "not contains(a, 1)"),
        ("size(a) > 2", "(size(a) > 2)"),
        ("attribute_exists(a.b)", "exists(a/b)"),
        ("attribute_exists(a) = true", "exists(a)"),
        ("false = attribute_exists(a)", "not exists(a)"),
        ("(a = 1) <> true", "not (a = 1)"),
        ("attribute_not_exists(a)", "missing(a)"),
        ("attribute_type(a, 'SS')", "type(a, SS)"),
        ("a IS MISSING", "missing(a)"),
        ("a IS NOT MISSING", "not missing(a)"),
        ("a IS NULL", "type(a, NULL)"),
        ("a IS NOT NULL", "not type(a, NULL)"),
        ("a IS STRING OR a IS NUMERIC OR a IS BLOB", "or(type(a, S), type(a, N), type(a, B))"),
        ("a IS BOOL OR a IS TUPLE OR a IS LIST", "or(type(a, BOOL), type(a, M), type(a, L))"),
    ] {
        check(&format!("SELECT * FROM T WHERE {condition}"), &format!("select * from T where {expected}"));
    }
}

#[test]
fn literals_become_values() {
    for (literal, expected) in [
        ("'it''s'", "'it's'"),
        ("-5", "-5"),
        ("+5", "5"),
        ("- .5", "-0.5"),
        ("--5\n7", "7"),
        ("1.5e3", "1500"),
        ("TRUE", "true"),
        ("null", "null"),
        ("[1, [], 'a']", "[1, [], 'a']"),
        ("{'a': 1, 'b': {'c': <<'y', 'x'>>}}", "{a: 1, b: {c: <<'x', 'y'>>}}"),
        ("<<1, 2.0>>", "<<1, 2>>"),
    ] {
        check(&format!("INSERT INTO T VALUE {{'v': {literal}}}"), &format!("insert T {{v: {expected}}}"));
    }
}

#[test]
fn parameters_take_their_places() {
    let number = |number: i64| AttributeValue::N(Number::from(number));
    check_with(
        "INSERT INTO T VALUE {'a': ?, 'b': [?, {'c': ?}]}",
        vec![number(1), "x".into(), true.into()],
        "insert T {a: 1, b: ['x', {c: true}]}",
    );
    check_with(
        "INSERT INTO T VALUE ?",
        vec![AttributeValue::M([("a".to_owned(), number(1))].into())],
        "insert T {a: 1}",
    );
    check_with(
        "SELECT * FROM T WHERE a = '?' AND b = ?",
        vec![number(1), number(2)],
        "select * from T where and((a = '?'), (b = 1))",
    );
    check_with("UPDATE T SET a = ? WHERE b = ?", vec![number(1), number(2)], "update T set a = 1 where (b = 2)");
}

#[test]
fn update_reads_changes_condition_and_returning() {
    for (statement, expected) in [
        ("UPDATE T SET a = 1, b.c[0] = 'x' WHERE k = 1", "update T set a = 1; set b/c/0 = 'x' where (k = 1)"),
        (
            "UPDATE T SET a = 1 SET b = 2 REMOVE c REMOVE d WHERE k = 1",
            "update T set a = 1; set b = 2; remove c; remove d where (k = 1)",
        ),
        ("FROM T WHERE k = 1 SET a = 1 RETURNING ALL NEW *", "update T set a = 1 where (k = 1) returning AllNew"),
        ("UPDATE T SET a = a + 1, b = 1 - c WHERE k = 1", "update T set a = a + 1; set b = 1 - c where (k = 1)"),
        ("UPDATE T SET a = list_append(a, [1]) WHERE k = 1", "update T set a = append(a, [1]) where (k = 1)"),
        ("UPDATE T SET a = IF_NOT_EXISTS(a, 0) + 1 WHERE k = 1", "update T set a = or(a, 0) + 1 where (k = 1)"),
        ("UPDATE T SET a = set_add(a, <<1>>) WHERE k = 1", "update T add a <<1>> where (k = 1)"),
        ("UPDATE T SET a = SET_DELETE(a, <<'x'>>) WHERE k = 1", "update T delete a <<'x'>> where (k = 1)"),
        (
            "UPDATE T SET a = b WHERE k = 1 RETURNING MODIFIED OLD *",
            "update T set a = b where (k = 1) returning UpdatedOld",
        ),
        (
            "UPDATE T SET a = 1 WHERE k = 1 returning modified new *",
            "update T set a = 1 where (k = 1) returning UpdatedNew",
        ),
        ("UPDATE T REMOVE a[1] WHERE k = 1 RETURNING ALL OLD *", "update T remove a/1 where (k = 1) returning AllOld"),
        ("DELETE FROM T WHERE k = 1 AND s = 2", "delete T where and((k = 1), (s = 2))"),
        ("DELETE FROM T WHERE k = 1 RETURNING ALL OLD *", "delete T where (k = 1) returning AllOld"),
    ] {
        check(statement, expected);
    }
}
