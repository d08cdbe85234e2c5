//! A model without key findings never gives two items the same key: random models, many random items each (ADR 0009).

use std::collections::HashMap;

use keyform_check::Checked;
use keyform_language::Diagnostic;
use keyform_language::diagnostic::Severity;
use keyform_language::scalar::Scalar;
use keyform_language::schema::{Entity, FieldId, Type};
use keyform_language::template::{KeyShape, Values, render};
use proptest::prelude::*;

/// Items generated for each model without findings.
const ITEMS: usize = 10_000;

/// Types of the random fields.
const TYPES: [&str; 9] = [
    "string(1..6)",
    "string(1..3)",
    "slug(1..4)",
    "ulid",
    "int(0..120)",
    "\"a\" | \"b\" | \"USER\"",
    "date",
    "email",
    "bool",
];

/// Generates pieces of templates: literal texts, and fields by index.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop_oneof![Just("#"), Just("USER#"), Just("A"), Just("META"), Just("/")].prop_map(str::to_owned),
        4 => (0..3_usize).prop_map(|field| format!("{{f{field}}}")),
    ]
}

fn template() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 1..5).prop_map(|pieces| pieces.concat())
}

fn entity(number: usize) -> impl Strategy<Value = String> {
    let fields = prop::collection::vec(prop::sample::select(&TYPES[..]), 3);
    (template(), template(), fields, any::<bool>()).prop_map(move |(partition, sort, fields, marked)| {
        let sort = if marked { format!("E{number}#{sort}") } else { sort };
        let fields: String = fields.iter().enumerate().map(|(n, kind)| format!("  f{n}: {kind}\n")).collect();
        format!("entity E{number} in T {{\n  key \"{partition}\", \"{sort}\"\n{fields}}}\n")
    })
}

fn model() -> impl Strategy<Value = String> {
    (entity(0), entity(1), entity(2))
        .prop_map(|(one, two, three)| format!("model random\n\ntable T {{\n  key pk, sk\n}}\n\n{one}\n{two}\n{three}"))
}

/// Pseudorandom numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn text(&mut self, alphabet: &[&str], min: usize, max: usize) -> String {
        let length = min + self.below(max - min + 1);
        (0..length).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }

    /// Returns a value of the type from a small range, so that collisions are likely.
    fn value(&mut self, kind: &Type) -> String {
        match kind.resolved() {
            Type::Scalar(Scalar::String, bounds) => {
                self.text(&["a", "#", "/", "A", "1"], 1, bounds.max.unwrap_or(3) as usize)
            }
            Type::Scalar(Scalar::Slug, _) => self.text(&["a", "A", "1"], 1, 4),
            Type::Scalar(Scalar::Ulid, _) => format!("01KKP2T8SN000000000000000{}", self.below(3)),
            Type::Scalar(Scalar::Int, _) => self.below(121).to_string(),
            Type::OneOf(texts) => texts[self.below(texts.len())].clone(),
            Type::Scalar(Scalar::Date, _) => format!("2026-03-1{}", self.below(3)),
            Type::Scalar(Scalar::Email, _) => format!("{}@a", self.text(&["a", "#", "/"], 1, 3)),
            _ => ["true", "false"][self.below(2)].to_owned(),
        }
    }

    fn values(&mut self, entity: &Entity) -> Values {
        let used: Vec<FieldId> = entity.key_fields();
        used.into_iter().map(|id| (id, self.value(&entity.field(id).kind))).collect()
    }
}

fn is_about_keys(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error || ["K07", "K11"].contains(&finding.code.0)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_clean_model_never_gives_two_items_the_same_key(text in model(), seed in any::<u64>()) {
        let checked = Checked::read(&text);
        if checked.diagnostics.iter().any(is_about_keys) {
            return Ok(());
        }
        let entities = &checked.model.entities;
        let shape = |entity| KeyShape::of(entity, entity.key.as_ref()?);
        let shapes: Vec<KeyShape<'_>> = entities.iter().map(|entity: &Entity| shape(entity).expect("a shape")).collect();
        let mut numbers = Numbers(seed);
        let mut seen: HashMap<Vec<String>, (usize, Values)> = HashMap::new();
        for _ in 0..ITEMS {
            let number = numbers.below(entities.len());
            let values = numbers.values(&entities[number]);
            let key = shapes[number].render(&values).expect("a key");
            if let Some(before) = seen.insert(key.clone(), (number, values.clone())) {
                prop_assert_eq!(before, (number, values), "{:?} in\n{}", key, text);
            }
        }
    }

    #[test]
    fn a_key_is_written_as_its_template_says(text in model(), seed in any::<u64>()) {
        let checked = Checked::read(&text);
        let mut numbers = Numbers(seed);
        for entity in &checked.model.entities {
            let Some(key) = &entity.key else { continue };
            let values = numbers.values(entity);
            let texts: Option<Vec<String>> = key
                .partition
                .iter()
                .chain(&key.sort)
                .map(|part| render(&part.template, |field| &entity.field(field).kind, &values))
                .collect();
            prop_assert_eq!(texts, KeyShape::of(entity, key).and_then(|shape| shape.render(&values)));
        }
    }
}
