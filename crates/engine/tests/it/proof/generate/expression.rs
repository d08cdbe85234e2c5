//! Random conditions, projections and updates, as trees that the parser could have produced.

use keyform_core::expression::{
    Comparator, Condition, Operand, Path, PathElement, Projection, SetAction, SetValue, Update, UpdateOperand,
};
use keyform_core::value::AttributeType;
use keyform_core::{AttributeValue, Value};

use super::item::{any_value, set, usual_value};
use super::table::Design;
use crate::proof::random::Random;

const COMPARATORS: [Comparator; 6] = [
    Comparator::Equal,
    Comparator::NotEqual,
    Comparator::Less,
    Comparator::LessOrEqual,
    Comparator::Greater,
    Comparator::GreaterOrEqual,
];

/// Returns a condition over the attributes in `names`.
pub fn condition(random: &mut Random, design: &Design, names: &[&str], depth: usize) -> Condition {
    if depth > 0 && random.percent(30) {
        return match random.below(3) {
            0 => Condition::And(random.some(2, 3, |random| condition(random, design, names, depth - 1))),
            1 => Condition::Or(random.some(2, 3, |random| condition(random, design, names, depth - 1))),
            _ => Condition::Not(Box::new(condition(random, design, names, depth - 1))),
        };
    }
    let name = *random.pick(names);
    let path = path(random, name);
    let usual = |random: &mut Random| Operand::Value(Value::from(usual_value(random, design, name)));
    match random.below(12) {
        0 | 1 => Condition::AttributeExists(path),
        2 | 3 => Condition::AttributeNotExists(path),
        4 => Condition::AttributeType(path, *random.pick(&AttributeType::ALL)),
        5 => Condition::BeginsWith(Operand::Path(path), Operand::Value(Value::from(beginning(random)))),
        6 => Condition::Contains(Operand::Path(path), Operand::Value(Value::from(any_value(random, 0)))),
        7 => Condition::In { operand: Operand::Path(path), candidates: random.some(1, 3, usual) },
        8 => Condition::Between { operand: Operand::Path(path), low: usual(random), high: usual(random) },
        9 => Condition::Compare {
            left: Operand::Size(path),
            comparator: *random.pick(&COMPARATORS),
            right: Operand::Value(Value::from(AttributeValue::from(random.below(4) as i64))),
        },
        10 => {
            let other = *random.pick(names);
            let right = Operand::Path(self::path(random, other));
            Condition::Compare { left: Operand::Path(path), comparator: *random.pick(&COMPARATORS), right }
        }
        _ => {
            let comparator = *random.pick(&COMPARATORS);
            Condition::Compare { left: Operand::Path(path), comparator, right: usual(random) }
        }
    }
}

fn beginning(random: &mut Random) -> AttributeValue {
    if random.percent(70) {
        AttributeValue::from(*random.pick(&["", "a", "ab", "z"]))
    } else {
        AttributeValue::B(random.pick(&[&[][..], &[0], &[255]]).to_vec())
    }
}

/// Returns a path that starts at the attribute.
pub fn path(random: &mut Random, name: &str) -> Path {
    let mut elements = vec![PathElement::Attribute(name.to_owned())];
    match name {
        "m" if random.percent(60) => elements.extend(inner(random)),
        "l" if random.percent(60) => {
            elements.push(PathElement::Index(random.below(6)));
            if random.percent(20) {
                elements.extend(inner(random));
            }
        }
        _ => {}
    }
    Path { elements }
}

fn inner(random: &mut Random) -> Vec<PathElement> {
    let mut elements = vec![PathElement::Attribute((*random.pick(&["x", "y"])).to_owned())];
    match random.below(6) {
        0 => elements.push(PathElement::Index(random.below(3))),
        1 => elements.push(PathElement::Attribute("x".to_owned())),
        _ => {}
    }
    elements
}

/// Returns paths that neither overlap nor conflict (one using a map where another uses a list).
fn distinct_paths(random: &mut Random, names: &[&str], most: usize) -> Vec<Path> {
    let candidates = random.some(1, most, |random| {
        let name = *random.pick(names);
        path(random, name)
    });
    let mut chosen: Vec<Path> = Vec::new();
    for path in candidates {
        if !chosen.iter().any(|other| collide(&path, other)) {
            chosen.push(path);
        }
    }
    chosen
}

fn collide(one: &Path, other: &Path) -> bool {
    for (left, right) in one.elements.iter().zip(&other.elements) {
        match (left, right) {
            _ if left == right => {}
            (PathElement::Attribute(_), PathElement::Attribute(_)) | (PathElement::Index(_), PathElement::Index(_)) => {
                return false;
            }
            _ => return true,
        }
    }
    true
}

/// Returns a projection of some of the attributes.
pub fn projection(random: &mut Random, names: &[&str]) -> Projection {
    Projection { paths: distinct_paths(random, names, 4) }
}

/// Returns an update of attributes that are not in the table's key.
pub fn update(random: &mut Random, design: &Design) -> Update {
    const NAMES: [&str; 14] = ["a", "a", "b", "c", "g1", "g2", "g3", "l", "l", "l1", "m", "m", "s", "t"];
    let mut update = Update::default();
    for path in distinct_paths(random, &NAMES, 4) {
        action(random, design, &mut update, path);
    }
    if random.percent(1) {
        update.remove.push(Path::attribute("pk"));
    }
    update
}

fn action(random: &mut Random, design: &Design, update: &mut Update, path: Path) {
    let name = path.root().to_owned();
    match (name.as_str(), random.below(10)) {
        ("s", 0..4) => update.add.push((path, Value::from(set(random)))),
        ("s", 4..8) => update.delete.push((path, Value::from(set(random)))),
        ("a" | "c", 0..4) => update.add.push((path, Value::from(AttributeValue::from(random.below(9) as i64 - 4)))),
        (_, 0..3) => update.remove.push(path),
        _ => {
            let value = set_value(random, design, &path);
            update.set.push(SetAction { path, value });
        }
    }
}

fn set_value(random: &mut Random, design: &Design, path: &Path) -> SetValue {
    let constant = |random: &mut Random| {
        UpdateOperand::Value(Value::from(if path.as_attribute().is_some() {
            usual_value(random, design, path.root())
        } else {
            any_value(random, 1)
        }))
    };
    let number = |random: &mut Random| UpdateOperand::Value(Value::from(AttributeValue::from(random.below(9) as i64)));
    let list = |random: &mut Random| {
        UpdateOperand::Value(Value::from(AttributeValue::L(random.some(0, 2, |random| any_value(random, 0)))))
    };
    let own = UpdateOperand::Path(path.clone());
    match (path.root(), random.below(10)) {
        ("a", 0..2) => SetValue::Plus(own, number(random)),
        ("a", 2) => SetValue::Minus(number(random), own),
        ("a", 3) => {
            let zero = Box::new(UpdateOperand::Value(Value::from(AttributeValue::from(0))));
            SetValue::Plus(UpdateOperand::IfNotExists(path.clone(), zero), number(random))
        }
        ("l", 0..3) if path.as_attribute().is_some() => {
            let empty = Box::new(list(random));
            let base = UpdateOperand::IfNotExists(path.clone(), empty);
            SetValue::Operand(UpdateOperand::ListAppend(Box::new(base), Box::new(list(random))))
        }
        ("l", 3) => SetValue::Operand(UpdateOperand::ListAppend(Box::new(list(random)), Box::new(own))),
        (_, 4) => {
            let name = *random.pick(&["a", "b", "c", "m"]);
            SetValue::Operand(UpdateOperand::Path(self::path(random, name)))
        }
        (_, 5) => SetValue::Operand(UpdateOperand::IfNotExists(path.clone(), Box::new(constant(random)))),
        _ => SetValue::Operand(constant(random)),
    }
}
