//! DynamoDB's messages for invalid statements.

use keyform_core::AttributeValue;

use super::{check, check_with};

fn check_malformed(statement: &str, reason: &str) {
    check(statement, &format!("ValidationException: Statement wasn't well formed, can't be processed: {reason}"));
}

fn check_refused(statement: &str, text: &str) {
    check(statement, &format!("ValidationException: {text}"));
}

fn check_condition(condition: &str, text: &str) {
    check_refused(&format!("SELECT * FROM T WHERE {condition}"), text);
}

const LEFTOVER: &str = "Unexpected token after expression";

#[test]
fn statements_that_cannot_be_read() {
    for (statement, reason) in [
        ("SELECT * FROM T WHERE a = 1 foo", LEFTOVER),
        ("SELECT * FROM T WHERE a = 1 e5", LEFTOVER),
        ("INSERT INTO T VALUE {'a': 1} foo", LEFTOVER),
        ("INSERT INTO T t VALUE {'a': 1}", LEFTOVER),
        ("UPDATE T SET a = 9 WHERE k = 1 foo", LEFTOVER),
        ("DELETE FROM T WHERE k = 1 ORDER BY k", LEFTOVER),
        ("SELECT * FROM T ORDER BY a WHERE a = 1", LEFTOVER),
        ("SELECT * FROM T WHERE a = 1)", LEFTOVER),
        ("SELECT * FROM T WHERE a = 1.2.3", LEFTOVER),
        ("SELECT * FROM T LIMIT 1", LEFTOVER),
        ("UPDATE T REMOVE a, b WHERE k = 1", LEFTOVER),
        ("FROM T SET c = 1 WHERE k = 1", LEFTOVER),
        ("INSRT INTO T VALUE {'a': 1}", LEFTOVER),
        ("SELECT * FROM T; SELECT * FROM T", "Unexpected token after semicolon. (Only one query is allowed.)"),
        ("SELECT * FROM T WHERE", "Unexpected term"),
        ("SELECT * FROM T WHERE;", "Unexpected term"),
        ("SELECT * FROM T WHERE NOT", "Unexpected term"),
        ("SELECT * FROM T WHERE (", "Unexpected term"),
        ("UPDATE T SET a = 1 WHERE", "Unexpected term"),
        ("SELECT * FROM", "Unexpected term"),
        ("SELECT", "Unexpected term"),
        ("", "Unexpected term"),
        ("*", "Unexpected term"),
        ("SELECT * FROM T WHERE a = 1 AND", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM T WHERE a =", "Missing right-hand side expression of infix operator"),
        ("SELECT * FROM T WHERE ORDER BY a", "Unexpected keyword"),
        ("SELECT * FROM T WHERE a = WHERE", "Unexpected keyword"),
        ("SELECT * FROM WHERE a = 1", "Unexpected keyword"),
        ("SELECT * FROM T WHERE pad = 1", "Unexpected keyword"),
        ("INSERT T VALUE {}", "Unexpected keyword"),
        ("SELECT * FROM T WHERE IS NULL", "Unexpected operator"),
        ("SELECT * FROM T WHERE a = LIKE", "Unexpected operator"),
        ("SELECT * FROM T WHERE a = = 1", "Unexpected operator"),
        ("SELECT * FROM T WHERE a IS FOO", "Expected type name"),
        ("SELECT * FROM T WHERE a IS DOUBLE", "Expected type name"),
        ("SELECT * FROM T WHERE a BETWEEN 1", "Expected AND keyword"),
        ("SELECT * FROM T WHERE a BETWEEN 1 AND", "Expected expression after AND"),
        ("SELECT * FROM T WHERE a NOT = 1", LEFTOVER),
        ("DELETE FROM", "Expected identifier for simple path"),
        ("DELETE FROM WHERE k = 1", "Expected identifier for simple path"),
        ("UPDATE T SET value = 1 WHERE k = 1", "Expected identifier for simple path"),
        ("DELETE T WHERE k = 1", "Expected FROM after DELETE"),
        ("SLECT * FROM T", "Expected data manipulation"),
        ("UPDATE T-x SET a = 1 WHERE k = 1", "Expected data manipulation"),
        ("UPDATE T WHERE k = 1", "Expected data manipulation"),
        ("FROM T WHERE k = 1", "Expected data manipulation"),
        ("SELECT * FROM T WHERE a = [1 2]", "Expected RIGHT_BRACKET"),
        ("SELECT * FROM T WHERE a = <<1 2>>", "Expected RIGHT_DOUBLE_ANGLE_BRACKET"),
        ("SELECT * FROM T WHERE a = {'a': 1", "Expected RIGHT_CURLY"),
        ("SELECT * FROM T WHERE (a = 1", "Expected RIGHT_PAREN"),
        ("SELECT a.inner FROM T", "Invalid path dot component"),
        ("SELECT * FROM T WHERE a.value = 1", "Invalid path dot component"),
        ("SELECT FROM T", "Expected identifier or an expression but found unexpected keyword 'from' in a select list."),
    ] {
        check_malformed(statement, reason);
    }
}

#[test]
fn statements_that_are_none() {
    let exists = "EXISTS can only be used in ExecuteTransaction write requests.";
    for (statement, text) in [
        ("foo", "Unsupported operation: Id"),
        ("foo.bar", "Unsupported operation: Path"),
        ("1", "Unsupported operation: Lit"),
        ("[1]", "Unsupported operation: List"),
        ("{'a': 1}", "Unsupported operation: Struct"),
        ("<<1>>", "Unsupported operation: Bag"),
        ("x IS INT4", "Unsupported operation: IsType"),
        ("1 = 1", exists),
        ("NOT a", exists),
        ("foo(1)", exists),
        ("(SELECT * FROM T)", exists),
        ("SET a = 1", "Only select from a single table or index is supported."),
        ("SELECT * FROM T, C", "Only select from a single table or index is supported."),
        ("SELECT * FROM T t WHERE a = 1", "Aliasing is not supported"),
        ("SELECT * FROM T AS t WHERE a = 1", "Aliasing is not supported"),
        ("UPDATE T t SET a = 1 WHERE k = 1", "Aliasing is not supported"),
        ("DELETE FROM T t WHERE k = 1", "Aliasing is not supported"),
        ("SELECT * FROM T.I.x", "A path may contain at most 2 components in the FROM clause"),
        ("SELECT * FROM T.\"\"", "Path component cannot be an empty string"),
        ("SELECT * FROM \"\"", "Path component cannot be an empty string"),
        ("UPDATE T.I SET a = 1 WHERE k = 1", "This operation is not supported on an index"),
        ("DELETE FROM T.I WHERE k = 1", "This operation is not supported on an index"),
        (
            "INSERT INTO T.I VALUE {'k': 1}",
            "FROM clause may only contain a single table name in data manipulation statements at 1:13:1",
        ),
        ("SELECT COUNT(*) FROM T", "Unexpected path component at 1:8:5"),
        ("SELECT attribute_exists(a) FROM T", "Unexpected path component at 1:8:16"),
        ("UPDATE T SET a = 1", "Where clause does not contain a mandatory equality on all key attributes"),
        ("DELETE FROM T", "Where clause does not contain a mandatory equality on all key attributes"),
        (
            "DELETE FROM T WHERE k = 1 RETURNING MODIFIED OLD *",
            "Invalid returning clause: RETURNING MODIFIED OLD *. Only RETURNING ALL OLD * is allowed in DELETE statements.",
        ),
        (
            "SELECT * FROM T WHERE a = 1 ORDER BY a.b",
            "Argument to ORDER BY must be of type VariableReference. Type: PATH at 1:38:1",
        ),
    ] {
        check_refused(statement, text);
    }
}

#[test]
fn literals_without_a_value() {
    let overflow =
        "Number overflow. Attempting to store a number with magnitude larger than supported range under root";
    let underflow =
        "Number underflow. Attempting to store a number with magnitude smaller than supported range under root";
    let bag = "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags";
    for (literal, text) in [
        ("1e126", overflow.to_owned()),
        ("{'x': 1e126}", format!("{overflow}.x")),
        ("[1, 1e126]", format!("{overflow}[1]")),
        ("1e-131", underflow.to_owned()),
        ("1e2147483647", underflow.to_owned()),
        (
            "123456789012345678901234567890123456789",
            "Attempting to store more than 38 significant digits in a Number under root".to_owned(),
        ),
        ("<<>>", "Empty bags are not supported".to_owned()),
        ("<<1, 'a'>>", bag.to_owned()),
        ("<<'a', 1>>", format!("{bag} at 1:34:1")),
        ("<<true>>", format!("{bag} at 1:29:4")),
        ("<<a>>", format!("{bag} at 1:29:1")),
        (
            "<<1, 1>>",
            "One or more parameter values were invalid: Input collection [1, 1] contains duplicates! under root"
                .to_owned(),
        ),
        (
            "<<'a', 'a'>>",
            "One or more parameter values were invalid: Input collection [a, a] contains duplicates.".to_owned(),
        ),
        ("`abc`", "Ion Literals are not supported: SYMBOL under key root at 1:27:5".to_owned()),
        ("{'': 1}", "Path component cannot be an empty string".to_owned()),
        ("[a]", "Unsupported data type: VariableReference under key root[0] at 1:28:1".to_owned()),
    ] {
        check_condition(&format!("a = {literal}"), &text);
    }
    check_refused(
        "INSERT INTO T VALUE {'pk': 'a', 'ss': set_add(<<'a'>>, <<'b'>>)}",
        "Unsupported data type: set_add under key root at 1:39:7",
    );
    let nested = |depth: usize| format!("INSERT INTO T VALUE {{'a': {}1{}}}", "[".repeat(depth), "]".repeat(depth));
    check_refused(
        &nested(32),
        &format!("Nesting Levels have exceeded supported limits under root{}", "[0]".repeat(31)),
    );
    assert!(super::parse(&nested(31), None).is_ok());
}

#[test]
fn operands_that_do_not_fit() {
    let operand = "Incorrect operand type for operator or function; operator or function:";
    let count = "Incorrect number of operands for operator or function; operator or function:";
    let document_path = "Operator or function requires a document path; operator or function:";
    let distinct =
        "The first operand must be distinct from the remaining operands for this operator or function; operator:";
    for (condition, text) in [
        ("a < true", format!("{operand} <, operand type: BOOL")),
        ("a >= null", format!("{operand} >=, operand type: NULL")),
        ("a < [1]", format!("{operand} <, operand type: L")),
        ("true < a", format!("{operand} >, operand type: BOOL")),
        ("a BETWEEN true AND false", format!("{operand} BETWEEN, operand type: BOOL")),
        ("begins_with(a, 1)", format!("{operand} begins_with, operand type: N")),
        ("attribute_type(a, 1)", format!("{operand} attribute_type, operand type: N")),
        (
            "attribute_type(a, 'X')",
            "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}".to_owned(),
        ),
        ("attribute_exists('a')", format!("{document_path} attribute_exists")),
        ("attribute_exists()", format!("{count} attribute_exists, number of operands: 0")),
        ("attribute_exists(a, b)", format!("{count} attribute_exists, number of operands: 2")),
        ("size() = 1", format!("{count} size, number of operands: 0")),
        ("size(a)", "WHERE clause must contain an expression that resolves to a boolean".to_owned()),
        ("a", "WHERE clause must contain an expression that resolves to a boolean".to_owned()),
        ("a = a", format!("{distinct} =, first operand: [a]")),
        ("a.b[0] <> a.b[0]", format!("{distinct} <>, first operand: [a, b, [0]]")),
        ("a IN [1, a]", format!("{distinct} IN, first operand: [a]")),
        ("a + 1 = 2", "Unsupported operator in Condition Expression. Operator: +".to_owned()),
        ("a LIKE 'x'", "Unsupported operator in Condition Expression. Operator: LIKE".to_owned()),
        ("a = MISSING", "MISSING must be compared using IS operator".to_owned()),
        ("b < true AND a = MISSING", "MISSING must be compared using IS operator".to_owned()),
        ("foo(a)", "Unrecognized function: foo at 1:23:3".to_owned()),
        ("EXISTS(a)", "Unrecognized function: exists at 1:23:6".to_owned()),
        ("set_add(a, <<'x'>>) = a", "Unrecognized function: set_add at 1:23:7".to_owned()),
        ("EXISTS(SELECT * FROM T)", "Unsupported token in expression: SELECT at 1:30:6".to_owned()),
        (
            "a IS INT",
            "Unsupported data type for IS operator: IntegerType. Supported data types are [MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST] at 1:23:1".to_owned(),
        ),
        ("l[-1] = 1", "Unexpected path component at 1:26:1".to_owned()),
        ("l[*] = 1", "Unexpected path component at 1:25:1".to_owned()),
    ] {
        check_condition(condition, &text);
    }
    check_condition(
        "a BETWEEN 9 AND 1",
        "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:9}, upper bound operand: AttributeValue: {N:1}",
    );
    check_condition(
        "a BETWEEN 'a' AND 1",
        "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}",
    );
}

#[test]
fn a_bad_literal_comes_before_a_bad_operand() {
    check_condition("a < true AND b = <<>>", "Empty bags are not supported");
}

#[test]
fn limits_of_conditions() {
    let list = |length: usize| (0..length).map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    assert!(super::parse(&format!("SELECT * FROM T WHERE a IN [{}]", list(100)), None).is_ok());
    check_condition(
        &format!("a IN [{}]", list(101)),
        "The IN operator is provided with too many operands; number of operands: 101",
    );
    let equalities = |length: usize| vec!["a = 1"; length].join(" AND ");
    assert!(super::parse(&format!("SELECT * FROM T WHERE {}", equalities(150)), None).is_ok());
    check_condition(&equalities(151), "The expression contains too many operators; operator count: 301");
}

#[test]
fn updates_that_do_not_fit() {
    let overlap = "Two document paths overlap with each other; must remove or rewrite one of these paths;";
    for (changes, text) in [
        ("SET a = 1 REMOVE a", format!("{overlap} path one: [a], path two: [a]")),
        ("SET m.x = 1, m = {}", format!("{overlap} path one: [m], path two: [m, x]")),
        (
            "SET t = set_add(a, <<'x'>>)",
            "The first argument to SET_ADD must equal the assignment value at 1:18:7".to_owned(),
        ),
        (
            "SET a = set_add(<<'a'>>, <<'b'>>)",
            "The first argument to SET_ADD must equal the assignment value at 1:18:7".to_owned(),
        ),
        (
            "SET a = set_add(a, 'x')",
            "The second argument to SET_ADD must be a value with type SET at 1:26:1".to_owned(),
        ),
        (
            "SET a = set_delete(a, ['x'])",
            "The second argument to SET_DELETE must be a value with type SET at 1:29:1".to_owned(),
        ),
        ("SET a = set_add(a)", "SET_ADD must have exactly two arguments at 1:18:7".to_owned()),
        ("SET a = set_add(a, <<>>)", "Empty bags are not supported".to_owned()),
        (
            "SET a = list_append(a, 2)",
            "Incorrect operand type for operator or function; operator or function: list_append, operand type: N"
                .to_owned(),
        ),
        (
            "SET a = a + 'x'",
            "Incorrect operand type for operator or function; operator or function: +, operand type: S".to_owned(),
        ),
        ("SET a = foo(a)", "Unrecognized function: foo at 1:18:3".to_owned()),
    ] {
        check_refused(&format!("UPDATE T {changes} WHERE k = 1"), &text);
    }
}

#[test]
fn parameters_that_are_missing_or_too_many() {
    let mismatch = "ValidationException: Number of parameters in request and statement don't match.";
    check("SELECT * FROM T WHERE a = ?", mismatch);
    check_with("SELECT * FROM T WHERE a = ? AND b = ?", vec![AttributeValue::Null], mismatch);
    check_with("SELECT * FROM T", vec![AttributeValue::Null], "select * from T");
}

#[test]
fn deep_statements_are_refused_without_recursion() {
    let too_deep = "Statement is nested too deeply to parse";
    for open in ["(", "[", "{'a': ", "<<", "f(", "- ", "a[", "NOT a = "] {
        check_malformed(&format!("SELECT * FROM T WHERE {}", open.repeat(5000)), too_deep);
    }
    check_refused(
        &format!("SELECT * FROM T WHERE a {}", "= 1 ".repeat(5000)),
        "The expression contains too many operators; operator count: 5000",
    );
    check_refused(
        &format!("SELECT * FROM T WHERE {} a = 1", "NOT ".repeat(5000)),
        "The expression contains too many operators; operator count: 5001",
    );
}
