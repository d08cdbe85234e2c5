//! Translation of statements. The table has the key `pk`, `sk` (both strings), a global index `all` by `g` with all
//! attributes, a global index `keys` by `g` and `h` with keys only, a local index `local` by `l` with keys only, and a
//! global index `multi` with two partition key attributes.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::expression::{
    Condition, ConditionKind, KeyTest, Path, PathElement, Printer, Substitutions, Update, parse_condition, parse_update,
};
use keyform_core::operation::{Query, ReturnValues};
use keyform_core::statement::{OrderBy, SelectStatement, Statement};
use keyform_core::table::{KeySchema, Projection, ScalarType, Status, ThroughputDescription};
use keyform_core::{AttributeValue, Attributes, Error, Item, Value};

use super::schema::Schema;
use super::select::{self, Read, ReadOptions};
use super::shape::Shape;
use super::token::NextToken;
use super::write;
use crate::catalog::{Index, IndexKind, KeyLayout, Projected};
use crate::key_space::IndexId;

fn layout(partition: &[&str], sort: &[&str]) -> KeyLayout {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let definitions = partition.iter().chain(sort).map(|name| ((*name).to_owned(), ScalarType::S)).collect();
    KeyLayout::new(&KeySchema { partition: names(partition), sort: names(sort) }, &definitions)
}

fn index(number: u16, name: &str, key: KeyLayout, projection: Projection, kind: IndexKind) -> Index {
    let projected = Projected::new(&projection, &layout(&["pk"], &["sk"]), &key);
    Index { id: IndexId(number), name: name.to_owned(), kind, key, projection, projected, statistics: Arc::default() }
}

fn indexes() -> Vec<Index> {
    let global = || IndexKind::Global {
        status: Status::Active,
        backfilling: false,
        throughput: ThroughputDescription::default(),
        on_demand: None,
        warm: None,
    };
    vec![
        index(1, "local", layout(&["pk"], &["l"]), Projection::KeysOnly, IndexKind::Local),
        index(2, "all", layout(&["g"], &[]), Projection::All, global()),
        index(3, "keys", layout(&["g"], &["h"]), Projection::KeysOnly, global()),
        index(4, "multi", layout(&["g", "h"], &[]), Projection::All, global()),
    ]
}

fn with_schema<T>(test: impl FnOnce(&Schema<'_>) -> T) -> T {
    let (key, indexes) = (layout(&["pk"], &["sk"]), indexes());
    test(&Schema { key: &key, indexes: &indexes })
}

/// Values for placeholders: `:a` is the string `a`, `:1` the number 1; `:empty`, `:true` and `:long` are special.
fn substitutions(text: &str) -> Substitutions {
    let mut values = BTreeMap::new();
    for word in text.split(|char: char| !char.is_ascii_alphanumeric() && char != ':') {
        let Some(name) = word.strip_prefix(':') else { continue };
        let value = match name {
            "empty" => "".into(),
            "true" => true.into(),
            "long" => "x".repeat(2049).into(),
            name => name.parse::<i64>().map_or_else(|_| AttributeValue::from(name), AttributeValue::from),
        };
        values.insert(word.to_owned(), value);
    }
    Substitutions::new(None, Some(values).filter(|values| !values.is_empty())).unwrap()
}

fn condition(text: &str) -> Condition {
    parse_condition(text, ConditionKind::Condition, &mut substitutions(text)).unwrap()
}

fn update(text: &str) -> Update {
    parse_update(text, &mut substitutions(text)).unwrap()
}

fn printed_value(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => text.clone(),
        AttributeValue::N(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

fn printed_condition(condition: &Condition) -> String {
    let mut printer = Printer::default();
    let mut text = printer.condition(condition);
    for (placeholder, name) in printer.names().iter().rev() {
        text = text.replace(placeholder, name);
    }
    for (placeholder, value) in printer.values().iter().rev() {
        text = text.replace(placeholder, &printed_value(value));
    }
    text
}

fn printed_test(test: &KeyTest) -> String {
    let value = |value: &Value| printed_value(&value.to_tree());
    match test {
        KeyTest::Compare(comparator, constant) => format!("{} {}", comparator.symbol(), value(constant)),
        KeyTest::Between(low, high) => format!("between {} {}", value(low), value(high)),
        KeyTest::BeginsWith(prefix) => format!("starts {}", value(prefix)),
    }
}

fn printed_query(query: &Query) -> String {
    let tests = query
        .key
        .predicates
        .iter()
        .map(|predicate| format!("{} {}", predicate.attribute, printed_test(&predicate.test)));
    let key = tests.collect::<Vec<_>>().join(", ");
    let filter = query.filter.as_ref().map_or(String::new(), |filter| format!(" if {}", printed_condition(filter)));
    let reverse = if query.reverse { " reverse" } else { "" };
    format!("{key}{filter}{reverse}")
}

fn printed_reads(reads: &[Read]) -> String {
    let print = |read: &Read| match read {
        Read::Query(query) => printed_query(query),
        Read::Scan(scan) => {
            format!(
                "scan{}",
                scan.filter.as_ref().map_or(String::new(), |filter| format!(" if {}", printed_condition(filter)))
            )
        }
    };
    reads.iter().map(print).collect::<Vec<_>>().join("; ")
}

/// Parses `index? condition? [order]`; each attribute of the order may end in ` desc`.
fn statement(index: &str, where_clause: &str, order: &[&str]) -> SelectStatement {
    let term = |term: &&str| match term.strip_suffix(" desc") {
        Some(attribute) => OrderBy { attribute: attribute.to_owned(), descending: true },
        None => OrderBy { attribute: (*term).to_owned(), descending: false },
    };
    SelectStatement {
        table: "T".to_owned(),
        index: Some(index.to_owned()).filter(|index| !index.is_empty()),
        columns: None,
        condition: (!where_clause.is_empty()).then(|| condition(where_clause)),
        order: order.iter().map(term).collect(),
    }
}

fn lowered(statement: &SelectStatement, options: ReadOptions) -> String {
    match with_schema(|schema| select::select(schema, statement, options)) {
        Ok(plan) => printed_reads(&plan.reads),
        Err(error) => error.message().to_owned(),
    }
}

fn check(where_clause: &str, expected: &str) {
    assert_eq!(lowered(&statement("", where_clause, &[]), ReadOptions::default()), expected, "{where_clause}");
}

#[test]
fn a_pinned_partition_is_queried() {
    for (where_clause, expected) in [
        ("", "scan"),
        ("v = :1", "scan if v = 1"),
        ("pk > :a", "scan if pk > a"),
        ("pk = :a OR v = :1", "scan if pk = a OR v = 1"),
        ("NOT pk = :a", "scan if NOT pk = a"),
        ("pk = :a", "pk = a"),
        ("pk = :a AND sk = :b", "pk = a, sk = b"),
        ("sk = :b AND pk = :a", "pk = a, sk = b"),
        ("pk = :a AND begins_with(sk, :b)", "pk = a, sk starts b"),
        ("pk = :a AND sk BETWEEN :b AND :c", "pk = a, sk between b c"),
        ("pk = :a AND sk > :b AND v = :1", "pk = a, sk > b if v = 1"),
        ("pk = :a AND sk > :b AND sk < :c", "pk = a, sk > b if sk < c"),
        ("pk = :a AND sk > :b AND sk = :c", "pk = a, sk = c if sk > b"),
        ("pk = :a AND sk <> :b", "pk = a if sk <> b"),
        ("pk = :a AND sk IN (:b)", "pk = a, sk = b"),
        ("pk = :a AND sk IN (:b, :c)", "pk = a if sk IN (b, c)"),
        ("pk = :a AND (v = :1 OR v = :2)", "pk = a if v = 1 OR v = 2"),
        ("pk = :a AND pk = :a", "pk = a"),
        ("pk = :a AND pk = :b", "pk = a if pk = b"),
        ("pk = :empty", ""),
        ("pk = :a AND sk = :empty", "pk = a if sk = "),
        ("pk = :a AND m.sk = :b", "pk = a if m.sk = b"),
    ] {
        check(where_clause, expected);
    }
}

#[test]
fn each_pinned_partition_is_queried() {
    for (where_clause, expected) in [
        ("pk IN (:a, :b) AND sk = :c", "pk = a, sk = c; pk = b, sk = c"),
        ("pk = :a OR pk = :b", "pk = a; pk = b"),
        ("(pk = :a OR pk = :b) AND v = :1", "pk = a if v = 1; pk = b if v = 1"),
        ("pk = :a AND sk = :c OR pk = :b AND v = :1", "pk = a, sk = c; pk = b if v = 1"),
        ("pk = :a AND sk = :c OR pk = :a AND sk = :d", "pk = a, sk = c; pk = a, sk = d"),
        ("pk = :a AND NOT sk = :c OR pk = :a AND sk = :d", "pk = a if NOT sk = c OR sk = d"),
        ("pk = :a OR pk = :a AND NOT sk = :c", "pk = a"),
    ] {
        check(where_clause, expected);
    }
}

#[test]
fn alternatives_must_not_overlap() {
    let overlapping = "Overlapping conditions with range keys are not supported in where clause";
    for where_clause in [
        "pk IN (:a, :a)",
        "pk = :a OR pk = :a",
        "pk = :a AND sk = :c OR pk = :a AND sk = :c",
        "pk = :a AND sk > :c OR pk = :a AND sk < :d",
        "pk = :a AND begins_with(sk, :c) OR pk = :a AND sk = :cd",
        "pk = :a AND v = :1 OR pk = :a AND sk = :c",
    ] {
        check(where_clause, overlapping);
    }
    check("pk = :a AND sk > :d OR pk = :a AND sk < :c", "pk = a, sk > d; pk = a, sk < c");
}

#[test]
fn keys_have_their_types_and_sizes() {
    let key_type = "Key attribute's data type should match its data type in table's schema: Key";
    for (where_clause, expected) in [
        ("pk = :1", format!("{key_type} pk")),
        ("pk IN (:a, :1)", format!("{key_type} pk")),
        ("pk = :a AND sk > :1", format!("{key_type} sk")),
        ("pk = :true", "Key value must be of type S, N, or B. Key name: pk, Key type: BOOL".to_owned()),
        ("pk > :1", "scan if pk > 1".to_owned()),
        ("pk = :long", "Size of hashkey has exceeded the maximum size limit of2048 bytes".to_owned()),
        (
            "pk = :a AND sk = :long",
            "Aggregated size of all range keys has exceeded the size limit of 1024 bytes".to_owned(),
        ),
    ] {
        check(where_clause, &expected);
    }
}

#[test]
fn order_needs_a_pinned_partition() {
    let check = |where_clause: &str, order: &[&str], expected: &str| {
        assert_eq!(lowered(&statement("", where_clause, order), ReadOptions::default()), expected, "{order:?}");
    };
    check("pk = :a", &["sk"], "pk = a");
    check("pk = :a", &["sk desc"], "pk = a reverse");
    check("pk = :a", &["pk desc", "sk"], "pk = a");
    check("pk = :a", &["pk"], "pk = a reverse");
    check("pk IN (:b, :a)", &["pk", "sk"], "pk = a; pk = b");
    check("pk IN (:a, :b)", &["pk desc", "sk"], "pk = b; pk = a");
    check("", &["sk"], "Must have WHERE clause in the statement when using ORDER BY clause.");
    check("pk = :a", &["v"], "Attribute v in ORDER BY clause must be part of the primary key");
    let partition =
        "Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.";
    check("v = :1", &["sk"], partition);
    check("pk > :a", &["sk"], partition);
    let several =
        "Must have hash key in ORDER BY clause when more than one hash key condition specified in WHERE clause.";
    check("pk IN (:a, :b)", &["sk"], several);
}

#[test]
fn indexes_have_keys_of_their_own_and_lack_attributes() {
    let check = |index: &str, where_clause: &str, columns: &[&str], consistent: bool, expected: &str| {
        let mut statement = statement(index, where_clause, &[]);
        statement.columns = (!columns.is_empty()).then(|| columns.iter().map(|name| Path::attribute(*name)).collect());
        let options = ReadOptions { consistent, ..ReadOptions::default() };
        assert_eq!(lowered(&statement, options), expected, "{index} {where_clause}");
    };
    check("keys", "g = :a AND h > :b", &[], false, "g = a, h > b");
    check("keys", "pk = :a", &[], false, "scan if pk = a");
    check("local", "pk = :a AND l = :b", &["v"], true, "pk = a, l = b");
    check("local", "v = :1", &[], false, "scan if v = 1");
    check("nope", "", &[], false, "The table does not have the specified index");
    let lacks = "One or more parameter values were invalid:";
    check(
        "keys",
        "g = :a",
        &["v", "w", "pk"],
        false,
        &format!("{lacks} Global secondary index keys does not project [v, w]"),
    );
    let filter = "does not project one or more filter attributes: [v]";
    check("keys", "g = :a AND v = :1", &[], false, &format!("{lacks} Secondary index keys {filter}"));
    check("local", "pk = :a AND NOT v = :1", &[], false, &format!("{lacks} Secondary index local {filter}"));
    check("keys", "g = :a AND v = :1 OR g = :b", &[], false, "g = a if v = 1; g = b");
    check("all", "g = :a", &[], true, "Strongly consistent read is not supported on Global Secondary Indexes");
    let multi =
        "PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.";
    check("multi", "g = :a", &[], false, multi);
}

#[test]
fn a_batched_select_names_the_key_and_nothing_else() {
    let single = |index: &str, where_clause: &str| {
        with_schema(|schema| select::single(schema, &statement(index, where_clause, &[]), "BatchExecuteStatement"))
            .map_err(|error| error.message().to_owned())
    };
    let key: Attributes = [("pk".to_owned(), "a".into()), ("sk".to_owned(), "b".into())].into();
    assert_eq!(single("", "pk = :a AND sk = :b"), Ok(key));
    let refused = "Select statements within BatchExecuteStatement must specify the primary key in the where clause.";
    for (index, where_clause) in [
        ("", ""),
        ("", "pk = :a"),
        ("", "pk = :a AND sk = :b AND v = :1"),
        ("", "pk = :a AND sk > :b"),
        ("all", "g = :a"),
    ] {
        assert_eq!(single(index, where_clause), Err(refused.to_owned()), "{index} {where_clause}");
    }
}

fn write_error<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.unwrap_err().message().to_owned()
}

#[test]
fn writes_need_the_whole_key() {
    let delete = |text: &str| with_schema(|schema| write::delete(schema, "T", &condition(text), ReturnValues::None));
    let required = "Where clause does not contain a mandatory equality on all key attributes";
    for text in ["pk = :a", "pk = :a AND sk > :b", "pk = :a AND sk = :b OR v = :1", "pk = :a AND NOT sk = :b"] {
        assert_eq!(write_error(delete(text)), required, "{text}");
    }
    assert_eq!(
        write_error(delete("pk = :a AND sk = :b AND sk = :c")),
        "Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported"
    );
    assert_eq!(
        write_error(delete("pk = :a AND sk = :1")),
        "Key attribute's data type should match its data type in table's schema: Key sk"
    );
}

#[test]
fn an_insert_is_a_put_without_replacing() {
    let item: Attributes = [("pk".to_owned(), "a".into()), ("sk".to_owned(), "b".into())].into();
    let put = with_schema(|schema| write::insert(schema, "T", item.clone())).unwrap();
    assert_eq!(put.item, item);
    assert_eq!(printed_condition(&put.options.condition.unwrap()), "attribute_not_exists(pk)");
    let wrong: Attributes = [("pk".to_owned(), 1.into())].into();
    assert_eq!(
        write_error(with_schema(|schema| write::insert(schema, "T", wrong))),
        "Key attribute's data type should match its data type in table's schema: Key pk"
    );
}

#[test]
fn an_update_is_of_an_item_that_is_there() {
    let lower = |change: &str, text: &str| {
        with_schema(|schema| write::update(schema, "T", update(change), &condition(text), ReturnValues::AllNew))
    };
    let request = lower("SET v = :1", "pk = :a AND sk = :b AND w = :2").unwrap();
    assert_eq!(printed_condition(&request.options.condition.unwrap()), "attribute_exists(pk) AND w = 2");
    assert_eq!(request.key.len(), 2);
    let request = lower("SET v = :1", "pk = :a AND sk = :b").unwrap();
    assert_eq!(printed_condition(&request.options.condition.unwrap()), "attribute_exists(pk)");
    let changed =
        "One or more parameter values were invalid: Cannot update attribute sk. This attribute is part of the key";
    assert_eq!(write_error(lower("SET sk = :c", "pk = :a AND sk = :b")), changed);
    assert_eq!(write_error(lower("REMOVE sk", "pk = :a AND sk = :b")), changed);
}

#[test]
fn a_delete_does_not_mind_a_missing_item() {
    let delete = |text: &str| {
        with_schema(|schema| write::delete(schema, "T", &condition(text), ReturnValues::None))
            .unwrap()
            .options
            .condition
    };
    assert_eq!(delete("pk = :a AND sk = :b"), None);
    let conditioned = delete("pk = :a AND sk = :b AND v = :1").unwrap();
    assert_eq!(printed_condition(&conditioned), "attribute_not_exists(pk) OR v = 1");
}

#[test]
fn exists_tests_one_item() {
    let exists = |text: &str| with_schema(|schema| write::exists(schema, &statement("", text, &[])));
    let (key, rest) = exists("pk = :a AND sk = :b AND v = :1").unwrap();
    assert_eq!((key.len(), printed_condition(&rest)), (2, "v = 1".to_owned()));
    let refused = "EXISTS() must contain a single item read with additional condition";
    for text in ["", "pk = :a AND sk = :b", "pk = :a AND v = :1"] {
        assert_eq!(write_error(exists(text)), refused, "{text}");
    }
}

#[test]
fn a_column_answers_under_its_last_name() {
    let path = |elements: &[PathElement]| Path { elements: elements.to_vec() };
    let name = |name: &str| PathElement::Attribute(name.to_owned());
    assert_eq!(Shape::of(&[Path::attribute("a"), Path::attribute("b")]), None);
    let inner = AttributeValue::M([("b".to_owned(), AttributeValue::L(vec![7.into(), 8.into()]))].into());
    let item = Item::from(&Attributes::from([("a".to_owned(), inner), ("c".to_owned(), 1.into())]));
    let columns = [
        path(&[name("a"), name("b")]),
        path(&[name("a"), name("b"), PathElement::Index(1)]),
        path(&[name("x"), name("y")]),
        Path::attribute("c"),
    ];
    let shaped = Shape::of(&columns).unwrap().apply(&item);
    let expected: Attributes = [
        ("b".to_owned(), AttributeValue::L(vec![7.into(), 8.into()])),
        ("b[1]".to_owned(), 8.into()),
        ("c".to_owned(), 1.into()),
    ]
    .into();
    assert_eq!(shaped.to_attributes(), expected);
}

#[test]
fn a_token_is_good_for_its_statement_alone() {
    let of = |text: &str| Statement::Select(statement("", text, &[]));
    let key = Item::from(&Attributes::from([("pk".to_owned(), "a".into())]));
    for last_key in [None, Some(key)] {
        let token = NextToken { read: 3, last_key };
        let text = token.encode(&of("pk = :a"));
        assert_eq!(NextToken::decode(&text, &of("pk = :a")), Ok(token));
        let other = NextToken::decode(&text, &of("pk = :b"));
        assert_eq!(write_error(other), "NextToken does not match request");
        assert_eq!(write_error(NextToken::decode(&text[1..], &of("pk = :a"))), "Invalid NextToken");
    }
    for forged in ["", "x", "!!!", "AQ"] {
        assert_eq!(write_error(NextToken::decode(forged, &of("pk = :a"))), "Invalid NextToken", "{forged}");
    }
}
