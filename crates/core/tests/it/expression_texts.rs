//! DynamoDB's messages for invalid expressions.

use std::collections::BTreeMap;

use crate::support::{self, substitutions};
use keyform_core::expression::{
    ConditionKind, Substitutions, parse_condition, parse_key_condition, parse_projection, parse_update,
};

/// Values available to the expressions below.
const VALUES: &str = r#"s: "a", t: "b", n: 1, m: 2, b: b"x", bool: true, null: null, list: [1], map: {x: 1}, ss: <"x">,
    S: "S", bad: "X""#;

fn condition(text: &str) -> String {
    parse_condition(text, ConditionKind::Condition, &mut substitutions(text, VALUES))
        .map_or_else(|error| error.message().to_owned(), |_| "ok".to_owned())
}

fn key_condition(text: &str) -> String {
    parse_key_condition(text, &mut substitutions(text, VALUES))
        .map_or_else(|error| error.message().to_owned(), |_| "ok".to_owned())
}

fn update(text: &str) -> String {
    parse_update(text, &mut substitutions(text, VALUES))
        .map_or_else(|error| error.message().to_owned(), |_| "ok".to_owned())
}

fn projection(text: &str) -> String {
    parse_projection(text, &mut substitutions(text, VALUES))
        .map_or_else(|error| error.message().to_owned(), |_| "ok".to_owned())
}

/// Each case is an expression and its error message, without the prefix `Invalid …Expression: ` if it has one.
fn check(parse: impl Fn(&str) -> String, parameter: &str, cases: &[(&str, &str)]) {
    let prefix = format!("Invalid {parameter}: ");
    for (text, expected) in cases {
        let found = parse(text);
        let bare = found.strip_prefix(&prefix).unwrap_or(&found);
        assert_eq!(&bare, expected, "{text}");
    }
}

#[test]
fn conditions_that_are_accepted() {
    for text in [
        "a = :s",
        "a=:s AND b<>:n or NOT c<:m",
        "(a) = (:s)",
        "(a = :s) AND (b = :n)",
        "((a = :s) AND (b = :n)) OR c = :m",
        "(a).b = :s",
        "NOT NOT a = :s",
        "NOT (a = :s OR b = :s)",
        "a between :s and :t",
        "a BETWEEN b AND c",
        "a IN (:s, b, size(c))",
        "#a.b[3].#c > :n",
        "attribute_exists(a.b) AND attribute_not_exists(b[0])",
        "attribute_type(a, :S) and attribute_type(:n, :S)",
        "begins_with(a, :s) AND begins_with(:s, a) AND begins_with(a, b)",
        "contains(a, :n) AND contains(:ss, a) AND contains(a, size(b))",
        "size(a) > size(b) AND :n <= size(:s)",
        ":s = :s",
        "a = :list AND b <> :map AND c IN (:bool)",
        " \t\r\na\n=\n:s ",
    ] {
        assert_eq!(condition(text), "ok", "{text}");
    }
}

#[test]
fn syntax_errors_name_the_token_and_its_neighbours() {
    check(
        condition,
        "ConditionExpression",
        &[
            ("", "The expression can not be empty;"),
            ("   ", r#"Syntax error; token: "<EOF>", near: "   ""#),
            ("pk =", r#"Syntax error; token: "<EOF>", near: "=""#),
            ("= :s", r#"Syntax error; token: "=", near: "= :s""#),
            ("pk = = :s", r#"Syntax error; token: "=", near: "= = :s""#),
            ("(pk = :s", r#"Syntax error; token: "<EOF>", near: ":s""#),
            ("pk = :s)", r#"Syntax error; token: ")", near: ":s)""#),
            ("pk pk", r#"Syntax error; token: "pk", near: "pk pk""#),
            ("pk = :s AND", r#"Syntax error; token: "<EOF>", near: "AND""#),
            ("n = 5", r#"Syntax error; token: "5", near: "= 5""#),
            ("s = \"x\"", r#"Syntax error; token: """, near: "= "x""#),
            ("s = $v", r#"Syntax error; token: "$", near: "= $v""#),
            ("a@b = :s", r#"Syntax error; token: "@", near: "a@b""#),
            ("a-b = :s", r#"Syntax error; token: "-", near: "a-b""#),
            ("_a = :s", r#"Syntax error; token: "_", near: "_a""#),
            ("1a = :s", r#"Syntax error; token: "1", near: "1a""#),
            ("between = :s", r#"Syntax error; token: "between", near: "between =""#),
            ("attribute_exists()", r#"Syntax error; token: ")", near: "()""#),
            ("NOT", r#"Syntax error; token: "<EOF>", near: "NOT""#),
            ("a", r#"Syntax error; token: "<EOF>", near: "a""#),
            (":s", r#"Syntax error; token: "<EOF>", near: ":s""#),
            ("a BETWEEN :s", r#"Syntax error; token: "<EOF>", near: ":s""#),
            ("a IN ()", r#"Syntax error; token: ")", near: "()""#),
            ("a IN :s", r#"Syntax error; token: ":s", near: "IN :s""#),
            ("l[a] = :s", r#"Syntax error; token: "a", near: "[a]""#),
            ("l[] = :s", r#"Syntax error; token: "]", near: "[] =""#),
            ("l[-1] = :s", r#"Syntax error; token: "-", near: "[-1""#),
            ("m. = :s", r#"Syntax error; token: "=", near: ". = :s""#),
            ("m..x = :s", r#"Syntax error; token: ".", near: "..x""#),
            (".x = :s", r#"Syntax error; token: ".", near: ".x""#),
            ("s != :s", r#"Syntax error; token: "!", near: "s !=""#),
            ("s == :s", r#"Syntax error; token: "=", near: "== :s""#),
            ("(size(a))[0] > a", r#"Syntax error; token: "[", near: ")[0""#),
            ("(a = :s) = :s", r#"Syntax error; token: "=", near: ") = :s""#),
            ("a AND b = :s", r#"Syntax error; token: "AND", near: "a AND b""#),
        ],
    );
}

#[test]
fn flaws_of_conditions_are_reported_by_kind() {
    check(
        condition,
        "ConditionExpression",
        &[
            ("((a = :s))", "The expression has redundant parentheses;"),
            ("((a)) = :s", "The expression has redundant parentheses;"),
            ("a = ((b))", "The expression has redundant parentheses;"),
            ("((attribute_exists(a)))", "The expression has redundant parentheses;"),
            ("((status = foo(:zz)))", "The expression has redundant parentheses;"),
            ("foo(status) AND size(a)", "Invalid function name; function: foo"),
            ("Attribute_Exists(a)", "Invalid function name; function: Attribute_Exists"),
            ("list_append(a, b) = :s", "The function is not allowed in a condition expression; function: list_append"),
            ("size(a)", "The function is not allowed to be used this way in an expression; function: size"),
            (
                "size(a) AND status = :s",
                "The function is not allowed to be used this way in an expression; function: size",
            ),
            (
                "attribute_exists(a) = :s",
                "The function is not allowed to be used this way in an expression; function: attribute_exists",
            ),
            ("a = :zz AND m.Status = :s", "Attribute name is a reserved keyword; reserved keyword: Status"),
            ("size = :s", "Attribute name is a reserved keyword; reserved keyword: size"),
            ("a = :zz", "An expression attribute value used in expression is not defined; attribute value: :zz"),
            (
                "size(a, b) = :n",
                "Incorrect number of operands for operator or function; operator or function: size, number of operands: 2",
            ),
            (
                "attribute_exists(a, a)",
                "Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2",
            ),
            (
                "contains(a)",
                "Incorrect number of operands for operator or function; operator or function: contains, number of operands: 1",
            ),
            (
                "a.b[1] = a.b[1]",
                "The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [a, b, [1]]",
            ),
            (
                "contains(a, a)",
                "The first operand must be distinct from the remaining operands for this operator or function; operator: contains, first operand: [a]",
            ),
            (
                "attribute_exists(:s)",
                "Operator or function requires a document path; operator or function: attribute_exists",
            ),
            (
                "begins_with(a, :n)",
                "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
            ),
            (
                "begins_with(:ss, a)",
                "Incorrect operand type for operator or function; operator or function: begins_with, operand type: SS",
            ),
            (
                "a < :bool",
                "Incorrect operand type for operator or function; operator or function: <, operand type: BOOL",
            ),
            (
                ":null >= a",
                "Incorrect operand type for operator or function; operator or function: >=, operand type: NULL",
            ),
            (
                "a BETWEEN :list AND :list",
                "Incorrect operand type for operator or function; operator or function: BETWEEN, operand type: L",
            ),
            (
                "size(:n) = :n",
                "Incorrect operand type for operator or function; operator or function: size, operand type: N",
            ),
            (
                "size(size(a)) = :n",
                "Incorrect operand type for operator or function; operator or function: size, operand type: N",
            ),
            (
                "attribute_type(a, :n)",
                "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: N",
            ),
            (
                "attribute_type(a, b)",
                "Incorrect operand type for operator or function; operator or function: attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}",
            ),
            (
                "attribute_type(a, :bad)",
                "Invalid attribute type name found; type: X, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}",
            ),
            (
                "a BETWEEN :s AND :n",
                "The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:a}, upper bound operand: AttributeValue: {N:1}",
            ),
            (
                "a BETWEEN :m AND :n",
                "The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: AttributeValue: {N:1}",
            ),
            // The first condition with a flaw decides, regardless of later ones.
            (
                "begins_with(a, :n) AND b = :zz",
                "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
            ),
            ("l[99999999999] = :s", "List index is not within the allowable range; index: [99999999999]"),
        ],
    );
}

#[test]
fn limits_of_expressions() {
    let long = format!("a = :s{}", " ".repeat(4091));
    assert_eq!(condition(&long), "Invalid ConditionExpression: Expression size has exceeded the maximum allowed size;");
    assert_eq!(condition(&long[..4096]), "ok");
    let many = |count: usize| vec!["a=:s"; count].join(" OR ");
    assert_eq!(condition(&many(150)), "ok");
    assert_eq!(condition(&vec!["size(a)=size(b)"; 150].join(" OR ")), "ok");
    assert_eq!(
        condition(&many(400)),
        "Invalid ConditionExpression: The expression contains too many operators; operator count: 301"
    );
    let candidates = |count: usize| format!("a IN ({})", vec![":s"; count].join(","));
    assert_eq!(condition(&candidates(100)), "ok");
    assert_eq!(
        condition(&candidates(101)),
        "Invalid ConditionExpression: The IN operator is provided with too many operands; number of operands: 101"
    );
    let deep = |depth: usize| format!("{} = :s", vec!["a"; depth].join("."));
    assert_eq!(condition(&deep(32)), "ok");
    assert_eq!(
        condition(&deep(33)),
        "Invalid ConditionExpression: The document path has too many nesting levels; nesting levels: 33"
    );
}

#[test]
fn deep_nesting_is_refused_on_a_small_stack() {
    let cases = || {
        let nested = |open: &str, inner: &str, close: &str, depth: usize| {
            format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
        };
        for text in [
            nested("(", "", "", 4096),
            nested("(", "a = :s", ")", 2000),
            nested("NOT ", "a = :s", "", 1000),
            nested("NOT(", "a = :s", ")", 800),
            nested("size(", "a", ")", 600),
            nested("a=:s AND (", "b=:s", ")", 300),
            nested("a=:s AND f(", "b", ")", 300),
        ] {
            assert_ne!(condition(&text), "ok");
            assert_ne!(update(&format!("SET a = {}", &text[..4000.min(text.len())])), "ok");
        }
        let text = nested("NOT (", "a = :s", ")", 299);
        let parsed = parse_condition(&text, ConditionKind::Filter, &mut substitutions("", VALUES));
        assert!(parsed.expect("299 negations and a comparison are allowed").holds(None));
    };
    std::thread::Builder::new().stack_size(1 << 20).spawn(cases).expect("a thread starts").join().expect("no overflow");
}

#[test]
fn key_conditions() {
    check(
        key_condition,
        "KeyConditionExpression",
        &[
            ("pk = :s", "ok"),
            (":s = pk AND :n <= sk", "ok"),
            ("(pk = :s) AND (sk BETWEEN :n AND :m)", "ok"),
            ("pk = :s AND begins_with(sk, :t)", "ok"),
            ("", "The expression can not be empty;"),
            ("((pk = :s))", "The expression has redundant parentheses;"),
            ("pk =", r#"Syntax error; token: "<EOF>", near: "=""#),
            ("date = :s", "Attribute name is a reserved keyword; reserved keyword: date"),
            ("pk = :s OR sk = :n", "Invalid operator used in KeyConditionExpression: OR"),
            ("NOT pk = :s", "Invalid operator used in KeyConditionExpression: NOT"),
            ("pk <> :s", "Invalid operator used in KeyConditionExpression: <>"),
            ("pk IN (:s)", "Invalid operator used in KeyConditionExpression: IN"),
            ("contains(pk, :s)", "Invalid operator used in KeyConditionExpression: contains"),
            ("attribute_exists(pk)", "Invalid operator used in KeyConditionExpression: attribute_exists"),
            ("pk = :s AND size(sk) = :n", "KeyConditionExpressions cannot contain nested operations"),
            ("pk.x = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
            ("pk[0] = :s", "KeyConditionExpressions cannot have conditions on nested attributes"),
            ("pk = :s AND pk = :t", "KeyConditionExpressions must only contain one condition per key"),
            ("pk = sk", "Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition"),
            (":s = :t", "Invalid condition in KeyConditionExpression: No key attribute specified"),
            (
                "begins_with(:s, pk)",
                "Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand",
            ),
            (
                ":s BETWEEN pk AND :t",
                "Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand",
            ),
            (
                "begins_with(pk, :n)",
                "Incorrect operand type for operator or function; operator or function: begins_with, operand type: N",
            ),
        ],
    );
}

#[test]
fn updates() {
    check(
        update,
        "UpdateExpression",
        &[
            ("SET a = :n", "ok"),
            ("set a = b, c.d[0] = (e + :n), f = (:n) - g remove h add i :n delete j :ss", "ok"),
            ("SET l = list_append(if_not_exists(l, :list), :list)", "ok"),
            ("SET a = if_not_exists(a, :n) + :n", "ok"),
            ("", "The expression can not be empty;"),
            (" ", r#"Syntax error; token: "<EOF>", near: " ""#),
            ("FOO a", r#"Syntax error; token: "FOO", near: "FOO a""#),
            ("SET", r#"Syntax error; token: "<EOF>", near: "SET""#),
            ("SET a =", r#"Syntax error; token: "<EOF>", near: "=""#),
            ("SET a :n", r#"Syntax error; token: ":n", near: "a :n""#),
            ("SET a = :n,", r#"Syntax error; token: "<EOF>", near: ",""#),
            ("SET a = 5", r#"Syntax error; token: "5", near: "= 5""#),
            ("REMOVE a = :n", r#"Syntax error; token: "=", near: "a = :n""#),
            ("ADD a b", r#"Syntax error; token: "b", near: "a b""#),
            ("SET a = :n AND b = :n", r#"Syntax error; token: "AND", near: ":n AND b""#),
            ("SET a = :n + :n + :n", r#"Syntax error; token: "+", near: ":n + :n""#),
            ("SET a = n * :n", r#"Syntax error; token: "*", near: "n * :n""#),
            ("SET l = list_append()", r#"Syntax error; token: ")", near: "()""#),
            ("SET a = :n SET b = :n", "The \"SET\" section can only be used once in an update expression;"),
            ("REMOVE a REMOVE b", "The \"REMOVE\" section can only be used once in an update expression;"),
            (
                "SET status = foo(:n), a = :n SET a = :n",
                "Attribute name is a reserved keyword; reserved keyword: status",
            ),
            ("SET a = foo(a)", "Invalid function name; function: foo"),
            ("SET _1 = :n", r#"Syntax error; token: "_", near: "SET _1""#),
            (
                "SET a = list_append(list_append(a, :list), :list)",
                "The function is not allowed to be used this way in an expression; function: list_append",
            ),
            ("SET a = size(b)", "The function is not allowed in an update expression; function: size"),
            ("SET a = :zz", "An expression attribute value used in expression is not defined; attribute value: :zz"),
            (
                "SET m = :n, m.x = :n",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, x]",
            ),
            (
                "SET l[0] = :n REMOVE l",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [l, [0]], path two: [l]",
            ),
            (
                "SET #a = :n ADD a :n",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]",
            ),
            (
                "SET m.x = :n, m[0] = :n",
                "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, x], path two: [m, [0]]",
            ),
            (
                "SET a = :n + :s",
                "Incorrect operand type for operator or function; operator or function: +, operand type: S",
            ),
            (
                "SET a = list_append(a, :n)",
                "Incorrect operand type for operator or function; operator or function: list_append, operand type: N",
            ),
            (
                "SET a = list_append(a)",
                "Incorrect number of operands for operator or function; operator or function: list_append, number of operands: 1",
            ),
            (
                "SET a = if_not_exists(:n, :n)",
                "Operator or function requires a document path; operator or function: if_not_exists",
            ),
            (
                "ADD a :s",
                "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND",
            ),
            (
                "DELETE a :n",
                "Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND",
            ),
        ],
    );
}

#[test]
fn projections() {
    check(
        projection,
        "ProjectionExpression",
        &[
            ("a, b.c[0], #d_e", "ok"),
            ("", "The expression can not be empty;"),
            ("a,", r#"Syntax error; token: "<EOF>", near: ",""#),
            (",a", r#"Syntax error; token: ",", near: ",a""#),
            (":n", r#"Syntax error; token: ":n", near: ":n""#),
            ("foo(a)", r#"Syntax error; token: "(", near: "foo(a""#),
            ("status", "Attribute name is a reserved keyword; reserved keyword: status"),
            (
                "m, m.x",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, x]",
            ),
            (
                "m.x, b, m",
                "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m, x], path two: [m]",
            ),
            (
                "l[0], l.a",
                "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [l, [0]], path two: [l, a]",
            ),
        ],
    );
}

#[test]
fn placeholders_are_checked_and_must_be_used() {
    let names = |key: &str, name: &str| Some(BTreeMap::from([(key.to_owned(), name.to_owned())]));
    let values = |keys: &[&str]| Some(keys.iter().map(|key| ((*key).to_owned(), 1.into())).collect());
    let new = |names, values| Substitutions::new(names, values).and_then(Substitutions::finish);
    let long = format!("#{}", "a".repeat(255));
    for (found, expected) in [
        (new(None, None), "ok"),
        (new(Some(BTreeMap::new()), values(&[])), "ExpressionAttributeNames must not be empty"),
        (new(None, values(&[])), "ExpressionAttributeValues must not be empty"),
        (new(names("a", "x"), None), "ExpressionAttributeNames contains invalid key: Syntax error; key: \"a\""),
        (new(names("#", "x"), None), "ExpressionAttributeNames contains invalid key: Syntax error; key: \"#\""),
        (new(None, values(&[":a-b"])), "ExpressionAttributeValues contains invalid key: Syntax error; key: \":a-b\""),
        (
            new(names(&long, "x"), None),
            "ExpressionAttributeNames contains invalid key: The expression attribute map contains a key that is too long; size of key: 256",
        ),
        (
            new(names("#a", ""), None),
            "ExpressionAttributeNames contains invalid value: Empty attribute name for key #a",
        ),
        (
            new(names("#a", "x"), values(&[":a"])),
            "Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}",
        ),
        (
            new(None, values(&[":b", ":a"])),
            "Value provided in ExpressionAttributeValues unused in expressions: keys: {:a, :b}",
        ),
    ] {
        assert_eq!(found.map_or_else(|error| error.message().to_owned(), |()| "ok".to_owned()), expected);
    }
    let mut none = Substitutions::default();
    let error = parse_condition("#a = b", ConditionKind::Filter, &mut none).expect_err("#a is not defined");
    assert_eq!(
        error.message(),
        "Invalid FilterExpression: An expression attribute name used in the document path is not defined; attribute name: #a"
    );
}
#[test]
fn conditions_as_the_service_was_seen_to_refuse_them() {
    // Expressions and messages recorded from DynamoDB; the only defined name is `#a`, for `a`.
    let said = |text: &str, values: &str| {
        let names = text.contains("#a").then(|| BTreeMap::from([("#a".to_owned(), "a".to_owned())]));
        let values: BTreeMap<_, _> =
            support::attributes(values).into_iter().map(|(name, value)| (format!(":{name}"), value)).collect();
        let mut substitutions =
            Substitutions::new(names, Some(values).filter(|map| !map.is_empty())).expect("placeholders are valid");
        match parse_condition(text, ConditionKind::Filter, &mut substitutions) {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.message().trim_start_matches("Invalid FilterExpression: ").to_owned(),
        }
    };
    for text in [
        "four words and more",
        "a > 4",
        "attribute_exists(photos-front)",
        "attribute_exists(\"photos.front\")",
        "attribute_exists(photos..front)",
        "attribute_exists(pho#tos.front)",
        "attribute_exists(list[x])",
        "a in b, c",
        "a > between",
        "a in b",
        "a in (b,c,)",
        "(a)between(b.(c.d))and(c)",
        "(a)between(b.c.d)and((c)",
        "#$.b > a",
        "a > :stuff.stuff",
        "b[:a] > a",
        "b[#_] > a",
        "ñ > a",
        "(a)between(b.c[4.5].#d)and(:a)",
        "size(a).b > a",
        "(size(a)).b > a",
        "size(a)[0] > a",
    ] {
        assert!(said(text, "").starts_with("Syntax error; "), "{text}: {}", said(text, ""));
    }
    for text in [
        "a=a and a > ((users))",
        "(a)between(((b.c)).d)and(c)",
        "a > frob((:stuff), ((a)))",
        "a=a AND ((a=a AND a=a)) AND a=a",
        "a=a OR ((a=a OR a=a)) OR a=a",
        "a=a AND ((a=a AND (a=a AND a=a)))",
    ] {
        assert_eq!(said(text, ""), "The expression has redundant parentheses;", "{text}");
    }
    let misused = "The function is not allowed to be used this way in an expression; function: ";
    let name = "An expression attribute name used in the document path is not defined; attribute name: ";
    let value = "An expression attribute value used in expression is not defined; attribute value: ";
    let count = "Incorrect number of operands for operator or function; operator or function: ";
    let kind = "Incorrect operand type for operator or function; operator or function: ";
    let same =
        "The first operand must be distinct from the remaining operands for this operator or function; operator: ";
    for (text, values, start, rest) in [
        ("a=a and frob((:stuff)) > a", "", "Invalid function name; function: ", "frob"),
        ("Attribute_Exists((users), #a)", "", "Invalid function name; function: ", "Attribute_Exists"),
        ("a=a and attribute_exists((users), (#a)) > b", "", misused, "attribute_exists"),
        ("attribute_type(parts, :a) > b", "", misused, "attribute_type"),
        ("contains(:stuff, c) > b", "", misused, "contains"),
        ("size(contains(a, b)) > a", "", misused, "contains"),
        ("a between b and attribute_exists(parts)", "", misused, "attribute_exists"),
        ("a in (b, attribute_exists(parts))", "", misused, "attribute_exists"),
        ("attribute_exists(users, #b)", "", "Attribute name is a reserved keyword; reserved keyword: ", "users"),
        (":a < staTus", "", "Attribute name is a reserved keyword; reserved keyword: ", "staTus"),
        ("attribute_exists(#photos.front, :a) and a=a", "", name, "#photos"),
        ("begins_with(photos.#front)", "", name, "#front"),
        ("(#P between :lo and :hi) and (#PC in (:one, :two))", "", name, "#P"),
        ("#1x > a", "", name, "#1x"),
        ("(a)between(b.c[45].#d)and(:a)", "", name, "#d"),
        ("begins_with(:text, #b, #c)", "", value, ":text"),
        (":a < :b", "", value, ":a"),
        (":_ > a", "", value, ":_"),
        ("attribute_exists(parts, a) and a=a", "", count, "attribute_exists, number of operands: 2"),
        ("begins_with(parts, size(a), b)", "", count, "begins_with, number of operands: 3"),
        ("attribute_type(a, size(a)) and a=a and a=:a", "a: 1", kind, "attribute_type, operand type: N"),
        ("begins_with(a, size(a)) and a=:a", "a: 1", kind, "begins_with, operand type: N"),
        ("attribute_not_exists(size(:a))", "a: 1", kind, "size, operand type: N"),
        (
            "attribute_not_exists(size(:a))",
            "a: \"1\"",
            "Operator or function requires a document path; operator or function: ",
            "attribute_not_exists",
        ),
        ("a = a AND #a = b AND :users > a", "", same, "=, first operand: [a]"),
        ("#a <> a", "", same, "<>, first operand: [a]"),
        ("((a=a) OR (a=a))", "", same, "=, first operand: [a]"),
        (
            "attribute_type(docs.page[1].#a, docs.page[1].a)",
            "",
            same,
            "attribute_type, first operand: [docs, page, [1], a]",
        ),
        ("begins_with(docs.page[1].a, docs.page[1].#a)", "", same, "begins_with, first operand: [docs, page, [1], a]"),
        (":a > :a", "a: 1", "ok", ""),
    ] {
        assert_eq!(said(text, values), format!("{start}{rest}"), "{text}");
    }
}

#[test]
fn updates_as_the_service_was_seen_to_refuse_them() {
    // Expressions and messages recorded from DynamoDB, with `#c` for `c`, `#d` for `[3]`, and one value.
    let said = |text: &str, value: &str| {
        let names = BTreeMap::from([("#c".to_owned(), "c".to_owned()), ("#d".to_owned(), "[3]".to_owned())]);
        let values = BTreeMap::from([(":a".to_owned(), support::value(value))]);
        let mut substitutions = Substitutions::new(Some(names), Some(values)).expect("placeholders are valid");
        match parse_update(text, &mut substitutions) {
            Ok(_) => "ok".to_owned(),
            Err(error) => error.message().trim_start_matches("Invalid UpdateExpression: ").to_owned(),
        }
    };
    for text in [
        "frob",
        "set a",
        "add a",
        "set a=set",
        "remove a = b",
        "delete a b",
        "delete a if_missing(b)",
        "add status b",
        "remove a b",
        "set a b",
        "set :a = b",
        "remove :a",
        "set a = b / c",
        "set a[1] = \"text\"",
        "set a[1] = 1",
        "SET a = if_missing(a, 100)",
        "SET if_missing(a, b) = a",
        "set (a = (b + c))",
        "set a = (b.c).d + e",
        "set a = (b.c)[0] + e",
        "set a = b + c + d",
    ] {
        assert!(said(text, "1").starts_with("Syntax error; "), "{text}: {}", said(text, "1"));
    }
    for text in [
        "set a[1] = b, c.b = b",
        "SET a = if_not_exists(a, b) + b",
        "SET a = if_not_exists(a, if_not_exists(a, b))",
        "set a = (b + c)",
        "set a = ((b.c.d)+(e))",
    ] {
        assert_eq!(said(text, "1"), "ok", "{text}");
    }
    let overlap = "Two document paths overlap with each other; must remove or rewrite one of these paths; path one: ";
    let conflict = "Two document paths conflict with each other; must remove or rewrite one of these paths; path one: ";
    let reserved = "Attribute name is a reserved keyword; reserved keyword: ";
    let section = "section can only be used once in an update expression;";
    for (text, value, expected) in [
        (" set #e = :c set staTus = true ", "1", format!("{reserved}staTus")),
        (" remove Action ", "1", format!("{reserved}Action")),
        ("set #e = if_missing(:c) set c = d", "1", "Invalid function name; function: if_missing".to_owned()),
        ("set a = #e set c = :d", "1", format!("The \"SET\" {section}")),
        ("remove #e set a = b remove e", "1", format!("The \"REMOVE\" {section}")),
        ("delete #e :e set a = b delete #e :f", "1", format!("The \"DELETE\" {section}")),
        (
            "SET #e = if_not_exists(:c)",
            "1",
            "An expression attribute name used in the document path is not defined; attribute name: #e".to_owned(),
        ),
        (
            "SET #c = if_not_exists(:c)",
            "1",
            "An expression attribute value used in expression is not defined; attribute value: :c".to_owned(),
        ),
        (
            "set d[1] = a, d.b = a, c[1].a = a, #c = if_not_exists(a)",
            "1",
            format!("{overlap}[c, [1], a], path two: [c]"),
        ),
        ("set #c[3].#d = a, #c[3] = a", "1", format!("{overlap}[c, [3], [3]], path two: [c, [3]]")),
        (
            "set #c[3].#d = a, #c.#d[3] = if_not_exists(a)",
            "1",
            format!("{conflict}[c, [3], [3]], path two: [c, [3], [3]]"),
        ),
        ("remove a.#c set a[1] = #d", "1", format!("{conflict}[a, c], path two: [a, [1]]")),
        (
            "set b = list_append(:a, a), c = if_not_exists(a) add a.b :a",
            "\"a\"",
            "Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND".to_owned(),
        ),
        (
            "set a = if_not_exists(if_not_exists(a, b), c)",
            "1",
            "Operator or function requires a document path; operator or function: if_not_exists".to_owned(),
        ),
        (
            "set a = :a - b",
            "b\"x\"",
            "Incorrect operand type for operator or function; operator or function: -, operand type: B".to_owned(),
        ),
    ] {
        assert_eq!(said(text, value), expected, "{text}");
    }
}
