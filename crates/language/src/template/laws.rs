//! Property tests of the template algebra: random templates over a small alphabet, compared with plain enumeration.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::shape::{KeyShape, Shape};
use super::{Overlap, Values, ambiguity, order, overlap};
use crate::scalar::{Bounds, Scalar};
use crate::schema::{Field, FieldId, Flags, Format, Part, Template, Type};
use crate::span::Span;

/// Creates a field with this name and type.
pub(crate) fn field(name: &str, kind: Type) -> Field {
    Field {
        name: name.to_owned(),
        name_span: Span::default(),
        span: Span::default(),
        docs: Vec::new(),
        kind,
        type_span: Span::default(),
        optional: false,
        null: false,
        flags: Flags::default(),
        default: None,
    }
}

/// Creates a template of these parts and merges adjacent strings.
pub(crate) fn template(parts: Vec<Part>) -> Template {
    let mut joined: Vec<Part> = Vec::new();
    for part in parts {
        match (joined.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
            (_, part) => joined.push(part),
        }
    }
    Template { parts: joined, span: Span::default() }
}

fn text(text: &str) -> Part {
    Part::Text(text.to_owned())
}

fn of(field: usize, format: Format) -> Part {
    Part::Field { field: FieldId(field), format, span: Span::default() }
}

/// Fields of an entity and the templates of its key.
#[derive(Clone, Debug)]
struct Item {
    fields: Vec<Field>,
    templates: Vec<Template>,
}

impl Item {
    fn shape(&self) -> KeyShape<'_> {
        let attributes = self.templates.iter().map(|template| Shape::of(template, &self.fields).expect("a shape"));
        KeyShape { partition: 1, attributes: attributes.collect() }
    }

    /// Returns every combination of values for the fields its key uses.
    fn all_values(&self) -> Vec<Values> {
        let used: std::collections::BTreeSet<_> =
            self.templates.iter().flat_map(|template| template.fields()).collect();
        let mut all = vec![Values::new()];
        for id in used {
            let values = values_of(&self.fields[id.0].kind);
            let extended = |item: &Values| {
                let item = item.clone();
                values
                    .iter()
                    .map(move |value| item.clone().into_iter().chain([(id, value.clone())]).collect())
                    .collect::<Vec<Values>>()
            };
            all = all.iter().flat_map(extended).collect();
        }
        all
    }
}

fn values_of(kind: &Type) -> Vec<String> {
    match kind {
        Type::OneOf(texts) => texts.clone(),
        Type::Scalar(Scalar::Int, _) => {
            (0..200).map(|number| number.to_string()).filter(|text| super::render::accepts(kind, text)).collect()
        }
        other => {
            let mut texts = vec![String::new()];
            let mut all = texts.clone();
            for _ in 0..3 {
                texts = texts.iter().flat_map(|text| ["a", "1", "#"].map(|end| format!("{text}{end}"))).collect();
                all.extend(texts.clone());
            }
            all.into_iter().filter(|text| super::render::accepts(other, text)).collect()
        }
    }
}

fn kinds() -> impl Strategy<Value = Type> {
    let bounds = |min, max| Bounds { min: Some(min), max: Some(max) };
    prop_oneof![
        Just(Type::Scalar(Scalar::String, bounds(0, 2))),
        Just(Type::Scalar(Scalar::String, bounds(1, 2))),
        Just(Type::Scalar(Scalar::String, bounds(2, 2))),
        Just(Type::Scalar(Scalar::Slug, bounds(1, 2))),
        Just(Type::Scalar(Scalar::Int, bounds(0, 12))),
        Just(Type::Scalar(Scalar::Int, bounds(9, 11))),
        Just(Type::OneOf(vec!["a".into(), "a#a".into(), "1".into()])),
    ]
}

fn parts() -> impl Strategy<Value = Template> {
    let part = prop_oneof![
        2 => prop_oneof![Just("a"), Just("#"), Just("a#"), Just("1")].prop_map(text),
        3 => (0..3_usize).prop_map(|id| of(id, Format::Plain)),
    ];
    prop::collection::vec(part, 1..4).prop_map(template)
}

fn items() -> impl Strategy<Value = Item> {
    let fields = prop::collection::vec(kinds(), 3);
    let templates = prop::collection::vec(parts(), 1..3);
    (fields, templates).prop_map(|(kinds, templates)| {
        let fields = kinds.into_iter().enumerate().map(|(number, kind)| field(&format!("f{number}"), kind)).collect();
        Item { fields, templates }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn overlap_agrees_with_enumeration(left in items(), right in items()) {
        let count = left.templates.len().min(right.templates.len());
        let (one, two) = (left.shape(), right.shape());
        let keys = |shape: &KeyShape<'_>, item: &Item| -> Vec<Vec<String>> {
            item.all_values().iter().map(|values| shape.render(values).expect("a key")[..count].to_vec()).collect()
        };
        let first: std::collections::HashSet<_> = keys(&one, &left).into_iter().collect();
        let common = keys(&two, &right).into_iter().find(|key| first.contains(key));
        match overlap(&one, &two) {
            Overlap::Disjoint => prop_assert_eq!(common, None),
            Overlap::Collision(found) => {
                let left_key = one.render(&found.left).expect("a key");
                let right_key = two.render(&found.right).expect("a key");
                prop_assert_eq!(&left_key[..count], &right_key[..count]);
                prop_assert_eq!(left_key, found.key);
            }
            Overlap::Undecided => {}
        }
    }

    #[test]
    fn injective_keys_never_collide(item in items()) {
        let key = item.shape();
        match ambiguity(&key) {
            None => {
                let mut seen: BTreeMap<Vec<String>, Values> = BTreeMap::new();
                for values in item.all_values() {
                    let rendered = key.render(&values).expect("a key");
                    if let Some(before) = seen.insert(rendered.clone(), values.clone()) {
                        prop_assert_eq!(before, values, "{:?}", rendered);
                    }
                }
            }
            Some(found) => {
                if let Some(example) = found.example {
                    prop_assert_ne!(&example.first, &example.second);
                    let shape = &key.attributes[found.attribute];
                    prop_assert_eq!(shape.render(&example.first), shape.render(&example.second));
                    prop_assert_eq!(shape.render(&example.first), Some(example.text));
                }
            }
        }
    }

    #[test]
    fn texts_are_never_longer_than_said_and_empty_only_if_said(item in items()) {
        for shape in item.shape().attributes {
            let texts: Vec<String> = item.all_values().iter().filter_map(|values| shape.render(values)).collect();
            let longest = texts.iter().map(String::len).max().unwrap_or(0);
            prop_assert!(order::bytes_max(&shape).is_none_or(|most| longest <= most));
            prop_assert!(order::can_be_empty(&shape) || texts.iter().all(|text| !text.is_empty()));
        }
    }
}

fn shapes(fields: Vec<Field>, templates: Vec<Vec<Part>>) -> Item {
    Item { fields, templates: templates.into_iter().map(template).collect() }
}

fn free() -> Type {
    Type::Scalar(Scalar::String, Bounds { min: Some(1), max: None })
}

#[test]
fn the_kinds_of_an_aggregate_collide() {
    let workspace = shapes(
        vec![field("workspaceId", Scalar::Uuid.into()), field("date", Scalar::Date.into()), field("sk", free())],
        vec![
            vec![text("aggregates/"), of(0, Format::Plain), text("/"), of(1, Format::Plain)],
            vec![of(2, Format::Plain)],
        ],
    );
    let agent = shapes(
        vec![field("agentId", Scalar::Uuid.into()), field("date", Scalar::Date.into()), field("sk", free())],
        vec![
            vec![text("aggregates/"), of(0, Format::Plain), text("/"), of(1, Format::Plain)],
            vec![of(2, Format::Plain)],
        ],
    );
    let Overlap::Collision(found) = overlap(&workspace.shape(), &agent.shape()) else { panic!("they collide") };
    assert_eq!(found.left[&FieldId(0)], found.right[&FieldId(0)]);
    assert!(found.key[0].ends_with("/2026-03-14"), "{:?}", found.key);
}

#[test]
fn a_day_and_the_moments_of_it_are_one_value() {
    let by_day = || {
        shapes(
            vec![field("at", Scalar::Timestamp.into()), field("id", Scalar::Ulid.into())],
            vec![
                vec![text("LOG#"), of(0, Format::Day)],
                vec![of(0, Format::Milliseconds), text("#"), of(1, Format::Plain)],
            ],
        )
    };
    assert!(matches!(overlap(&by_day().shape(), &by_day().shape()), Overlap::Collision(_)));
}

#[test]
fn sort_keys_with_other_literals_are_disjoint_in_one_partition() {
    let agency = shapes(
        vec![field("agencyId", free())],
        vec![vec![text("AGENCY#"), of(0, Format::Plain)], vec![text("AGENCY#"), of(0, Format::Plain)]],
    );
    let member = shapes(
        vec![field("agencyId", free()), field("idpid", free())],
        vec![vec![text("AGENCY#"), of(0, Format::Plain)], vec![text("MEMBER#"), of(1, Format::Plain)]],
    );
    assert_eq!(overlap(&agency.shape(), &member.shape()), Overlap::Disjoint);
    assert_eq!(ambiguity(&agency.shape()), None);
}

#[test]
fn only_free_text_with_a_delimiter_makes_some_keys_meet() {
    let user = shapes(vec![field("userId", free())], vec![vec![text("USER#"), of(0, Format::Plain)]]);
    let setting =
        shapes(vec![field("userId", free())], vec![vec![text("USER#"), of(0, Format::Plain), text("#SETTINGS")]]);
    assert!(matches!(overlap(&user.shape(), &setting.shape()), Overlap::Collision(_)));
    let (one, two) = (user.shape(), setting.shape());
    let delimiters = one.delimiters().or(two.delimiters());
    assert_eq!(overlap(&one.without(delimiters), &two.without(delimiters)), Overlap::Disjoint);
}

#[test]
fn what_the_partition_tells_is_known_in_the_sort_key() {
    let item = shapes(
        vec![field("tenant", free()), field("name", free())],
        vec![vec![text("T#"), of(0, Format::Plain)], vec![of(0, Format::Plain), text("#"), of(1, Format::Plain)]],
    );
    assert_eq!(ambiguity(&item.shape()), None);
    let open = shapes(
        vec![field("type", free()), field("id", free())],
        vec![vec![text("CHANNEL#"), of(0, Format::Plain), text("#"), of(1, Format::Plain)]],
    );
    let found = ambiguity(&open.shape()).expect("it is ambiguous");
    assert_eq!((found.attribute, found.piece), (0, 1));
    assert!(found.example.is_some());
}

#[test]
fn a_prefix_matches_what_can_begin_with_it() {
    let fields = [field("id", Scalar::Ulid.into()), field("name", free())];
    let shape = |parts| Shape::of(&template(parts), &fields).expect("a shape");
    let message = shape(vec![text("MSG#"), of(0, Format::Plain)]);
    assert!(super::can_begin_with(&message, &shape(vec![text("MSG#")])));
    assert!(super::can_begin_with(&message, &shape(vec![text("M")])));
    assert!(!super::can_begin_with(&message, &shape(vec![text("MSG#a")])));
    assert!(super::can_begin_with(&shape(vec![of(1, Format::Plain)]), &shape(vec![text("MSG#")])));
}
