//! Random expressions with their placeholders: conditions, filters, projections, updates, key conditions.

use serde_json::{Map, Value, json};

use crate::generate::value::{PLAIN, RESERVED, number, number_set, small_number, string_set, value};
use crate::random::Random;
use crate::world::{KeyAttribute, Kind, key_bounds, key_value};

/// An expression under construction: creates placeholders and records their values.
#[derive(Debug, Default)]
pub struct Placeholders {
    names: Map<String, Value>,
    values: Map<String, Value>,
}

impl Placeholders {
    /// Returns a placeholder for a value.
    pub fn value(&mut self, value: Value) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }

    /// Returns an attribute name as it may occur in an expression.
    pub fn name(&mut self, random: &mut Random, name: &str) -> String {
        if !RESERVED.contains(&name) && random.percent(80) {
            return name.to_owned();
        }
        let known = self.names.iter().find(|(_, stands_for)| *stands_for == name).map(|(key, _)| key.clone());
        known.unwrap_or_else(|| {
            let placeholder = format!("#n{}", self.names.len());
            self.names.insert(placeholder.clone(), name.into());
            placeholder
        })
    }

    /// Adds the placeholders to a request.
    pub fn put_into(self, body: &mut Value) {
        for (member, map) in [("ExpressionAttributeNames", self.names), ("ExpressionAttributeValues", self.values)] {
            if !map.is_empty() {
                body[member] = Value::Object(map);
            }
        }
    }
}

fn attribute(random: &mut Random) -> &'static str {
    if random.percent(85) { random.word(&PLAIN) } else { random.word(&RESERVED) }
}

/// Returns a random document path.
pub fn path(random: &mut Random, made: &mut Placeholders) -> String {
    match random.below(10) {
        0 => format!("{}.x", made.name(random, "doc")),
        1 => format!("{}.y[{}]", made.name(random, "doc"), random.below(3)),
        2 => format!("{}.y[1].z", made.name(random, "doc")),
        3 => format!("{}[{}]", made.name(random, "lst"), random.below(5)),
        _ => {
            let name = attribute(random);
            made.name(random, name)
        }
    }
}

/// Returns an operand to compare a path with: ordered comparisons accept only ordered types, and never the path itself.
fn operand(random: &mut Random, made: &mut Placeholders, subject: &str, comparator: &str) -> String {
    let ordered = !matches!(comparator, "=" | "<>");
    match random.below(6) {
        0 => Some(path(random, made))
            .filter(|other| other != subject && !other.starts_with('#') && !subject.starts_with('#')),
        1 => Some(format!("size({})", path(random, made))),
        _ => None,
    }
    .unwrap_or_else(|| made.value(if ordered { scalar(random) } else { value(random, 1) }))
}

fn scalar(random: &mut Random) -> Value {
    match random.below(4) {
        0 => json!({"S": random.word(&["", "a", "abc", "ü"])}),
        1 => json!({"B": "AAE="}),
        _ => json!({"N": number(random)}),
    }
}

/// Returns a random condition or filter, nested up to the remaining depth.
pub fn condition(random: &mut Random, made: &mut Placeholders, depth: usize) -> String {
    if depth > 0 && random.percent(35) {
        let left = condition(random, made, depth - 1);
        return match random.below(4) {
            0 => format!("NOT ({left})"),
            1 => format!("({left}) OR {}", condition(random, made, depth - 1)),
            2 => format!("{left} AND ({})", condition(random, made, depth - 1)),
            _ => format!("{left} and {}", condition(random, made, depth - 1)),
        };
    }
    simple_condition(random, made)
}

fn simple_condition(random: &mut Random, made: &mut Placeholders) -> String {
    let subject = path(random, made);
    match random.below(11) {
        0 => format!("attribute_exists({subject})"),
        1 => format!("attribute_not_exists({subject})"),
        2 => {
            let kind = random.word(&["S", "N", "B", "SS", "NS", "BS", "BOOL", "NULL", "L", "M"]);
            format!("attribute_type({subject}, {})", made.value(json!({"S": kind})))
        }
        3 => format!("begins_with({subject}, {})", made.value(json!({"S": random.word(&["a", "ab", ""])}))),
        4 => format!("contains({subject}, {})", made.value(value(random, 0))),
        5 => {
            let count = random.between(1, 3);
            let list: Vec<String> = (0..count).map(|_| made.value(value(random, 1))).collect();
            format!("{subject} IN ({})", list.join(", "))
        }
        6 => {
            let low = made.value(json!({"N": random.below(5).to_string()}));
            let high = made.value(json!({"N": random.between(5, 20).to_string()}));
            format!("{subject} BETWEEN {low} AND {high}")
        }
        7 => {
            format!("size({subject}) {} {}", comparator(random), made.value(json!({"N": random.below(4).to_string()})))
        }
        _ => {
            let comparator = comparator(random);
            format!("{subject} {comparator} {}", operand(random, made, &subject, comparator))
        }
    }
}

fn comparator(random: &mut Random) -> &'static str {
    random.word(&["=", "<>", "<", "<=", ">", ">="])
}

/// Returns a random projection of different attributes.
pub fn projection(random: &mut Random, made: &mut Placeholders) -> String {
    let mut paths: Vec<String> = Vec::new();
    for name in ["pk", "a", "doc", "lst", "name", "cnt"] {
        if random.percent(35) {
            let name = made.name(random, name);
            paths.push(match random.below(3) {
                0 if paths.len() == 1 => format!("{name}.x"),
                1 if paths.len() == 2 => format!("{name}[0]"),
                _ => name,
            });
        }
    }
    if paths.is_empty() { "a".to_owned() } else { paths.join(", ") }
}

/// Returns a random update of different attributes, so that its paths do not overlap.
pub fn update(random: &mut Random, made: &mut Placeholders) -> String {
    let mut sections = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for name in ["a", "b", "doc", "lst", "tags", "nums", "cnt", "status"] {
        if random.percent(25) {
            let target = made.name(random, name);
            let (section, action) = update_action(random, made, name, &target);
            sections[section].push(action);
        }
    }
    if sections.iter().all(Vec::is_empty) {
        let one = made.value(json!({"N": "1"}));
        sections[2].push(format!("cnt {one}"));
    }
    let parts = ["SET", "REMOVE", "ADD", "DELETE"].iter().zip(sections);
    let parts = parts.filter(|(_, actions)| !actions.is_empty());
    parts.map(|(keyword, actions)| format!("{keyword} {}", actions.join(", "))).collect::<Vec<_>>().join(" ")
}

fn update_action(random: &mut Random, made: &mut Placeholders, name: &str, target: &str) -> (usize, String) {
    match (name, random.below(6)) {
        (_, 0) => (1, target.to_owned()),
        ("doc", 1) => (1, format!("{target}.x")),
        ("doc", 2 | 3) => (
            0,
            format!("{target}.{} = {}", random.word(&["x", "fresh", "y[0]", "y[7]"]), set_value(random, made, target)),
        ),
        ("lst", 1 | 2) => (0, format!("{target} = list_append({target}, {})", made.value(json!({"L": [{"N": "9"}]})))),
        ("lst", 3) => (0, format!("{target}[{}] = {}", random.below(9), made.value(value(random, 1)))),
        ("lst", 4) => (1, format!("{target}[0], {target}[{}]", random.between(1, 3))),
        ("tags", 1 | 2) => (2, format!("{target} {}", made.value(string_set(random)))),
        ("tags", 3 | 4) => (3, format!("{target} {}", made.value(string_set(random)))),
        ("nums", 1 | 2) => (2, format!("{target} {}", made.value(number_set(random)))),
        ("nums", 3 | 4) => (3, format!("{target} {}", made.value(number_set(random)))),
        ("cnt", 1 | 2) => (2, format!("{target} {}", made.value(small_number(random)))),
        ("cnt", 3 | 4) => {
            (0, format!("{target} = {target} {} {}", random.word(&["+", "-"]), made.value(small_number(random))))
        }
        _ => (0, format!("{target} = {}", set_value(random, made, target))),
    }
}

fn set_value(random: &mut Random, made: &mut Placeholders, target: &str) -> String {
    match random.below(5) {
        0 => format!("if_not_exists({target}, {})", made.value(value(random, 1))),
        1 => path(random, made),
        2 => {
            let one = made.value(small_number(random));
            format!("if_not_exists(cnt, {one}) + {one}")
        }
        _ => made.value(value(random, 2)),
    }
}

/// Returns a random key condition for a partition key and an optional sort key.
pub fn key_condition(
    random: &mut Random,
    made: &mut Placeholders,
    hash: &KeyAttribute,
    range: Option<&KeyAttribute>,
) -> String {
    let name = made.name(random, &hash.name);
    let hash = format!("{name} = {}", made.value(key_value(random, hash.kind, 5)));
    match range {
        Some(range) if random.percent(60) => format!("{hash} AND {}", range_condition(random, made, range)),
        _ => hash,
    }
}

fn range_condition(random: &mut Random, made: &mut Placeholders, range: &KeyAttribute) -> String {
    let name = made.name(random, &range.name);
    if random.percent(15) {
        let [low, high] = key_bounds(random, range.kind).map(|bound| made.value(bound));
        return format!("{name} BETWEEN {low} AND {high}");
    }
    let one = made.value(key_value(random, range.kind, 8));
    match random.below(6) {
        1 if range.kind != Kind::N => format!("begins_with({name}, {one})"),
        other => format!("{name} {} {one}", ["=", "<", "<=", ">", ">="][other % 5]),
    }
}
