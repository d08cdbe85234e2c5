//! Values that other programs wrote: each other form of a value is read as the value itself, and the language reference
//! lists all forms.

use keyform_check::Checked;
use keyform_core::{AttributeValue, Number};
use keyform_language::reading::{Reader, Wanted, read};
use keyform_language::scalar::{Bounds, Scalar, Spelling, Stored};
use keyform_language::schema::{Entity, Type};
use keyform_language::template::parse;
use proptest::prelude::*;

const REFERENCE: &str = include_str!("../../../../docs/language.md");

/// Returns a value of a scalar as it is stored.
fn stored(scalar: Scalar, number: usize) -> AttributeValue {
    parse::attribute(&scalar.into(), &scalar.sample(Bounds::NONE, "orderId", number))
}

fn digits(number: i64) -> [AttributeValue; 2] {
    [AttributeValue::N(number.into()), number.to_string().into()]
}

/// Returns the milliseconds since 1970 of a stored time.
fn millis(scalar: Scalar, value: &AttributeValue) -> i64 {
    let text = parse::key_text(value).expect("a scalar has a text");
    let time = scalar.time().expect("a time");
    (time.read)(&text).or_else(|| (Scalar::Timestamp.time()?.read)(&text.replace('Z', ".000Z"))).expect("a time")
}

/// Spells a value in another form. `offset` is in minutes.
fn spelled(scalar: Scalar, spelling: Spelling, value: &AttributeValue, offset: i64) -> Vec<AttributeValue> {
    match spelling {
        Spelling::Digits => vec![parse::key_text(value).expect("a number").into()],
        Spelling::Seconds => digits(millis(scalar, value) / 1000).to_vec(),
        Spelling::Milliseconds => digits(millis(scalar, value)).to_vec(),
        Spelling::Iso => {
            let time = Scalar::Timestamp.time().expect("a time");
            let local = (time.write)(millis(scalar, value) + offset * 60_000).replace('Z', "");
            let sign = if offset < 0 { '-' } else { '+' };
            let zone = format!("{sign}{:02}:{:02}", offset.abs() / 60, offset.abs() % 60);
            let utc = (time.write)(millis(scalar, value)).replace('Z', "");
            vec![format!("{local}{zone}").into(), format!("{utc}456Z").into(), format!("{utc}000000+00:00").into()]
        }
        Spelling::Case => {
            let text = parse::key_text(value).expect("a text");
            vec![text.to_uppercase().into(), format!(" {text}\n").into()]
        }
    }
}

/// Returns the value without what a spelling cannot hold: seconds have no milliseconds.
fn rounded(scalar: Scalar, spelling: Spelling, value: &AttributeValue) -> AttributeValue {
    match scalar.time() {
        Some(time) if spelling == Spelling::Seconds || scalar == Scalar::Datetime => {
            let write =
                if scalar == Scalar::Datetime { Scalar::Timestamp.time().expect("a time").write } else { time.write };
            parse::attribute(&scalar.into(), &write(millis(scalar, value).div_euclid(1000) * 1000))
        }
        _ => value.clone(),
    }
}

proptest! {
    #[test]
    fn every_other_form_is_read_as_the_value(number in 0_usize..5000, offset in -720_i64..=840) {
        for scalar in Scalar::ALL.iter().copied() {
            let value = stored(scalar, number);
            prop_assert_eq!(read(value.clone(), &scalar.into()), Ok(value.clone()), "{:?} changes its own form", scalar);
            for &spelling in scalar.also_reads() {
                for other in spelled(scalar, spelling, &value, offset) {
                    let expected = rounded(scalar, spelling, &value);
                    prop_assert_eq!(read(other.clone(), &scalar.into()), Ok(expected), "{:?} as {:?}", other, scalar);
                    let set = Type::Set(Box::new(scalar.into()), Bounds::NONE);
                    let list = Type::List(Box::new(scalar.into()), Bounds::NONE);
                    let elements = read(AttributeValue::L(vec![other.clone()]), &list);
                    let from_set = read(read(AttributeValue::L(vec![other]), &set).expect("a set"), &list);
                    prop_assert_eq!(elements, from_set);
                }
            }
        }
    }

    #[test]
    fn no_value_is_read_as_two(number in 0_usize..500) {
        for (scalar, other) in Scalar::ALL.iter().flat_map(|one| Scalar::ALL.iter().map(move |other| (*one, *other))) {
            if let Ok(once) = read(stored(other, number), &scalar.into()) {
                prop_assert_eq!(read(once.clone(), &scalar.into()), Ok(once));
            }
        }
    }
}

#[test]
fn values_without_a_meaning_are_rejected() {
    let check = |kind: Type, value: AttributeValue, expected: &str| {
        assert_eq!(read(value, &kind).expect_err("a misfit").to_string(), expected);
    };
    check(Scalar::Int.into(), "many".into(), "`` is not a whole number");
    check(Scalar::Int.into(), AttributeValue::N("1.5".parse::<Number>().unwrap()), "`` is not a whole number");
    check(Scalar::Bool.into(), "true".into(), "`` is not true or false");
    check(Scalar::Timestamp.into(), "2026-10-31T07:08:09".into(), "`` is not a time such as 2026-10-31T12:00:00.000Z");
    check(Scalar::Timestamp.into(), "20261031".into(), "`` is not a time such as 2026-10-31T12:00:00.000Z");
    check(Scalar::Ulid.into(), "01kkp2t8sn0000000000000000".into(), "`` is not a ULID");
    check(Scalar::Email.into(), "ada".into(), "`` is not an e-mail address");
    let list = Type::List(Box::new(Scalar::Int.into()), Bounds::NONE);
    check(list, AttributeValue::L(vec![1.into(), "x".into()]), "`[1]` is not a whole number");
}

/// Rows of the table: type, form, stored value and value, each in DynamoDB JSON.
fn rows() -> Vec<[String; 4]> {
    let table = REFERENCE.split("<!-- readings -->").nth(1).expect("the reference has the table of readings");
    let cells = |line: &str| -> Option<[String; 4]> {
        let cells: Vec<String> = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
        cells.try_into().ok()
    };
    table.lines().filter(|line| line.starts_with("| `")).map(|line| cells(line).expect(line)).collect()
}

fn code(cell: &str) -> &str {
    cell.trim_matches('`')
}

fn typed(json: &str) -> AttributeValue {
    let value: serde_json::Value = serde_json::from_str(json).expect(json);
    of_json(&value)
}

fn of_json(value: &serde_json::Value) -> AttributeValue {
    let (kind, inner) = value.as_object().and_then(|object| object.iter().next()).expect("one type");
    let text = || inner.as_str().expect("a text").to_owned();
    let list = || inner.as_array().expect("an array").iter();
    match kind.as_str() {
        "S" => text().into(),
        "N" => AttributeValue::N(text().parse().expect("a number")),
        "L" => AttributeValue::L(list().map(of_json).collect()),
        "SS" => AttributeValue::Ss(list().map(|part| part.as_str().expect("a text").to_owned()).collect()),
        "M" => {
            let members = inner.as_object().expect("an object").iter();
            AttributeValue::M(members.map(|(name, part)| (name.clone(), of_json(part))).collect())
        }
        other => panic!("the table does not use {other}"),
    }
}

fn kind(text: &str) -> Type {
    let model =
        format!("model m\ntable T {{ key pk }}\nentity E in T {{\n  key \"{{id}}\"\n  id: slug\n  of: {text}\n}}\n");
    let checked = Checked::read(&model);
    checked.model.entities[0].fields[1].kind.clone()
}

#[test]
fn the_rows_of_the_reference_are_true() {
    for [of, form, given, value] in rows() {
        let read = read(typed(code(&given)), &kind(&code(&of).replace("\\|", "|")));
        assert_eq!(read, Ok(typed(code(&value))), "{of}, {form}");
    }
}

#[test]
fn the_reference_lists_every_form_of_every_scalar() {
    let rows = rows();
    for scalar in Scalar::ALL {
        for spelling in scalar.also_reads() {
            let has = |[of, form, ..]: &[String; 4]| code(of) == scalar.keyword() && form == spelling.phrase();
            assert!(rows.iter().any(has), "docs/language.md lacks `{}`: {}", scalar.keyword(), spelling.phrase());
        }
    }
    let forms: Vec<(&str, &str)> = rows.iter().map(|[of, form, ..]| (code(of), form.as_str())).collect();
    for (of, form) in forms {
        let Some(scalar) = Scalar::named(of) else { continue };
        assert!(scalar.also_reads().iter().any(|spelling| spelling.phrase() == form), "{of} does not read {form}");
    }
}

#[test]
fn a_stored_form_is_borrowed() {
    for scalar in Scalar::ALL.iter().copied().filter(|scalar| scalar.stored() != Stored::Bytes) {
        let value = stored(scalar, 1);
        let reading = scalar.reading(Bounds::NONE, &value).expect("a sample is read");
        assert!(matches!(reading, std::borrow::Cow::Borrowed(_)), "{scalar:?} copies its own form");
    }
}

const KEYS: &str = r#"model shop
table Shop {
  key pk, sk
  index gsi1 (gsi1pk, gsi1sk)
}
entity Order in Shop {
  key  "T#{tenant}", "ORDER#{at:ms}#{orderId}"
  gsi1 "MAIL#{email:lower}", "{tenant}#{name}"

  tenant:  slug
  orderId: ulid = ulid()
  at:      timestamp
  email:   email
  name:    string(1..20)
  day:     date?
  open:    bool = true
  count:   int = 0
  limits:  { daily: int = 5, weekly: int? } = { daily = 5 }
  note:    string?
  shop:    string | null
  tags:    set<string>
  version: int version
}
entity Vague in Shop {
  key "V#{one}#{two}", "V"

  one: string(1..20)
  two: string(1..20)
  allow K07 "the test needs a template with two readings"
}
"#;

type Attribute = (&'static str, AttributeValue);

fn whole(entity: &Entity, item: &[Attribute], wanted: Wanted<'_>) -> Result<Vec<(String, AttributeValue)>, String> {
    let mut names: Vec<String> = entity.fields.iter().map(|field| field.name.clone()).collect();
    names.sort_unstable();
    let attribute = |wanted: &str| item.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.clone());
    let mut values: Vec<Option<AttributeValue>> = names.iter().map(|name| attribute(name)).collect();
    let complete = Reader::of(entity).complete(entity, wanted, &mut values, attribute);
    complete.map_err(|misfit| misfit.to_string())?;
    Ok(names.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?))).collect())
}

const KEY: [(&str, &str); 4] = [
    ("pk", "T#acme"),
    ("sk", "ORDER#1793430489123#01KKP2T8SN0000000000000000"),
    ("gsi1pk", "MAIL#ada@example.com"),
    ("gsi1sk", "acme#a#b"),
];

fn key() -> Vec<Attribute> {
    KEY.iter().map(|(name, value)| (*name, (*value).into())).collect()
}

#[test]
fn fields_that_stand_only_in_keys_are_derived_from_them() {
    let checked = Checked::read(KEYS);
    let order = whole(&checked.model.entities[0], &key(), Wanted::All).expect("a whole order");
    let expected: Vec<(String, AttributeValue)> = [
        ("at", "2026-10-31T07:08:09.123Z".into()),
        ("count", 0.into()),
        ("email", "ada@example.com".into()),
        ("limits", AttributeValue::M([("daily".to_owned(), 5.into())].into())),
        ("name", "a#b".into()),
        ("open", true.into()),
        ("orderId", "01KKP2T8SN0000000000000000".into()),
        ("shop", AttributeValue::Null),
        ("tenant", "acme".into()),
        ("version", 0.into()),
    ]
    .map(|(name, value): (&str, AttributeValue)| (name.to_owned(), value))
    .to_vec();
    assert_eq!(order, expected);
}

#[test]
fn only_a_key_with_one_reading_determines_fields() {
    let checked = Checked::read(KEYS);
    let item = [("pk", "V#a#b".into()), ("sk", "V".into())];
    assert_eq!(whole(&checked.model.entities[1], &item, Wanted::All), Err("`one` is missing".to_owned()));
    let fields = [("one", "a".into()), ("two", "b".into())];
    let read = whole(&checked.model.entities[1], &[item.to_vec(), fields.to_vec()].concat(), Wanted::All);
    assert_eq!(read.map(|fields| fields.len()), Ok(2));
}

#[test]
fn null_is_absent_where_absence_has_a_meaning_and_elsewhere_broken() {
    let checked = Checked::read(KEYS);
    let order = |more: Attribute| whole(&checked.model.entities[0], &[key(), vec![more]].concat(), Wanted::All);
    let absent = order(("note", AttributeValue::Null)).expect("a whole order");
    assert!(!absent.iter().any(|(name, _)| name == "note"));
    let null = order(("shop", AttributeValue::Null)).expect("a whole order");
    assert!(null.contains(&("shop".to_owned(), AttributeValue::Null)));
    let default = order(("open", AttributeValue::Null)).expect("a whole order");
    assert!(default.contains(&("open".to_owned(), true.into())));
    assert_eq!(order(("email", AttributeValue::Null)), Err("`email` is not an e-mail address".to_owned()));
    let nested = AttributeValue::M([("daily".to_owned(), "x".into())].into());
    assert_eq!(order(("limits", nested)), Err("`limits.daily` is not a whole number".to_owned()));
}

#[test]
fn fields_that_were_not_asked_for_may_be_absent() {
    let checked = Checked::read(KEYS);
    let item = [("count", "7".into())];
    let read = whole(&checked.model.entities[0], &item, Wanted::Present);
    assert_eq!(read, Ok(vec![("count".to_owned(), 7.into())]));
    let tenant = checked.model.entities[0].field_named("tenant").expect("a field");
    let wanted = |field| field == tenant;
    let read = whole(&checked.model.entities[0], &[("pk", "T#acme".into())], Wanted::Fields(&wanted));
    assert_eq!(read, Ok(vec![("tenant".to_owned(), "acme".into())]));
}
