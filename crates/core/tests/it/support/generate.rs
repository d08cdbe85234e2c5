//! Generators of random values, items and expressions. They use few names and indexes, so that
//! paths often lead to a value.

use keyform_core::expression::{
    Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, PathElement, Projection, SetAction,
    SetValue, Update, UpdateOperand,
};
use keyform_core::value::AttributeType;
use keyform_core::{AttributeValue, Attributes, Number, Value};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// Decimal texts within DynamoDB's range.
pub fn number_text() -> impl Strategy<Value = String> {
    let any = ("-?", "[0-9]{1,38}", -130i32..=85).prop_map(|(sign, digits, exponent)| {
        let leading = exponent + digits.trim_start_matches('0').len() as i32 - 1;
        let exponent = if leading < -130 { exponent + (-130 - leading) } else { exponent };
        format!("{sign}{digits}e{exponent}")
    });
    let small = ("-?", "[0-9]{1,4}", "(\\.[0-9]{1,3})?").prop_map(|(sign, whole, rest)| format!("{sign}{whole}{rest}"));
    prop_oneof![any, small]
}

/// Numbers within DynamoDB's range.
pub fn number() -> impl Strategy<Value = Number> {
    prop_oneof![number_text().prop_filter_map("in range", |text| text.parse().ok()), (-3i64..6).prop_map(Number::from),]
}

fn scalar() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        number().prop_map(AttributeValue::N),
        "[a-c]{0,3}".prop_map(AttributeValue::S),
        ".{0,4}".prop_map(AttributeValue::S),
        vec(any::<u8>(), 0..4).prop_map(AttributeValue::B),
        any::<bool>().prop_map(AttributeValue::Bool),
        Just(AttributeValue::Null),
    ]
}

fn set() -> impl Strategy<Value = AttributeValue> {
    prop_oneof![
        btree_set("[a-c]{0,2}", 1..4).prop_map(AttributeValue::Ss),
        btree_set(number(), 1..4).prop_map(AttributeValue::Ns),
        btree_set(vec(any::<u8>(), 0..3), 1..4).prop_map(AttributeValue::Bs),
    ]
}

/// Values of all types.
pub fn value() -> impl Strategy<Value = AttributeValue> {
    let leaf = prop_oneof![4 => scalar(), 3 => set()];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
            btree_map(name(), inner, 0..4).prop_map(AttributeValue::M),
        ]
    })
}

/// Items in tree form.
pub fn attributes() -> impl Strategy<Value = Attributes> {
    btree_map(name(), value(), 0..6)
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(vec!["a", "b", "c", "d"]).prop_map(str::to_owned),
        1 => "[ -~é]{1,3}",
    ]
}

/// Paths of up to three steps.
pub fn path() -> impl Strategy<Value = Path> {
    let step = prop_oneof![name().prop_map(PathElement::Attribute), (0usize..4).prop_map(PathElement::Index)];
    (name(), vec(step, 0..3)).prop_map(|(root, steps)| {
        let mut path = Path::attribute(root);
        path.elements.extend(steps);
        path
    })
}

fn operand() -> impl Strategy<Value = Operand> {
    prop_oneof![
        3 => path().prop_map(Operand::Path),
        3 => value().prop_map(|value| Operand::Value(Value::from(value))),
        1 => path().prop_map(Operand::Size),
    ]
}

fn comparator() -> impl Strategy<Value = Comparator> {
    use Comparator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual])
}

/// Arbitrary conditions, including those that no expression text can produce.
pub fn condition() -> impl Strategy<Value = Condition> {
    let test = prop_oneof![
        (operand(), comparator(), operand()).prop_map(|(left, comparator, right)| Condition::Compare {
            left,
            comparator,
            right
        }),
        (operand(), operand(), operand()).prop_map(|(operand, low, high)| Condition::Between { operand, low, high }),
        (operand(), vec(operand(), 1..4)).prop_map(|(operand, candidates)| Condition::In { operand, candidates }),
        path().prop_map(Condition::AttributeExists),
        path().prop_map(Condition::AttributeNotExists),
        (path(), select(AttributeType::ALL.to_vec())).prop_map(|(path, kind)| Condition::AttributeType(path, kind)),
        (operand(), operand()).prop_map(|(whole, start)| Condition::BeginsWith(whole, start)),
        (operand(), operand()).prop_map(|(whole, part)| Condition::Contains(whole, part)),
    ];
    test.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(Condition::And),
            vec(inner.clone(), 2..4).prop_map(Condition::Or),
            inner.prop_map(|part| Condition::Not(Box::new(part))),
        ]
    })
}

/// Conditions that an expression text can produce: constants have types their operators accept, and operands differ.
pub fn expressible_condition() -> impl Strategy<Value = Condition> {
    condition().prop_map(mend)
}

fn mend(condition: Condition) -> Condition {
    match condition {
        Condition::And(parts) => Condition::And(parts.into_iter().map(mend).collect()),
        Condition::Or(parts) => Condition::Or(parts.into_iter().map(mend).collect()),
        Condition::Not(part) => Condition::Not(Box::new(mend(*part))),
        Condition::Compare { left, comparator, right } => {
            let kinds: &[AttributeType] = match comparator {
                Comparator::Equal | Comparator::NotEqual => &AttributeType::ALL,
                _ => &[AttributeType::S, AttributeType::N, AttributeType::B],
            };
            let (left, right) = distinct(limited(left, kinds), limited(right, kinds));
            Condition::Compare { left, comparator, right }
        }
        Condition::Between { operand, low, .. } => {
            let kinds = [AttributeType::S, AttributeType::N, AttributeType::B];
            let low = limited(low, &kinds);
            Condition::Between { operand: limited(operand, &kinds), high: low.clone(), low }
        }
        Condition::BeginsWith(whole, start) => {
            let text = |operand| match operand {
                Operand::Size(path) => Operand::Path(path),
                other => limited(other, &[AttributeType::S, AttributeType::B]),
            };
            let (whole, start) = distinct(text(whole), text(start));
            Condition::BeginsWith(whole, start)
        }
        Condition::Contains(whole, part) => {
            let (whole, part) = distinct(whole, part);
            Condition::Contains(whole, part)
        }
        other => other,
    }
}

fn limited(operand: Operand, kinds: &[AttributeType]) -> Operand {
    match operand {
        Operand::Value(value) if !kinds.contains(&value.kind()) => Operand::Value(Value::from(&"text".into())),
        other => other,
    }
}

fn distinct(left: Operand, right: Operand) -> (Operand, Operand) {
    match (&left, &right) {
        (Operand::Path(one), Operand::Path(two)) if one == two => (left, Operand::Value(Value::from(&"other".into()))),
        _ => (left, right),
    }
}

/// Key conditions with one or two predicates.
pub fn key_condition() -> impl Strategy<Value = KeyCondition> {
    let key = || scalar().prop_map(|value| Value::from(&value));
    let ordered = || {
        let text = "[a-c]{0,3}".prop_map(AttributeValue::S);
        let bytes = vec(any::<u8>(), 0..4).prop_map(AttributeValue::B);
        prop_oneof![text, number().prop_map(AttributeValue::N), bytes].prop_map(|value| Value::from(&value))
    };
    let test = prop_oneof![
        key().prop_map(|value| KeyTest::Compare(Comparator::Equal, value)),
        (comparator(), ordered()).prop_map(|(comparator, value)| match comparator {
            Comparator::NotEqual => KeyTest::Compare(Comparator::Less, value),
            other => KeyTest::Compare(other, value),
        }),
        ordered().prop_map(|value| KeyTest::Between(value.clone(), value)),
        "[a-c]{0,3}".prop_map(|start| KeyTest::BeginsWith(Value::from(&start.into()))),
    ];
    btree_map(name(), test, 1..3).prop_map(|tests| KeyCondition {
        predicates: tests.into_iter().map(|(attribute, test)| KeyPredicate { attribute, test }).collect(),
    })
}

/// Paths that neither overlap nor conflict.
fn targets() -> impl Strategy<Value = Vec<Path>> {
    vec(path(), 1..6).prop_map(|paths| {
        let mut kept: Vec<Path> = Vec::new();
        for path in paths {
            if kept.iter().all(|other| go_together(other, &path)) {
                kept.push(path);
            }
        }
        kept
    })
}

fn go_together(one: &Path, two: &Path) -> bool {
    one.elements
        .iter()
        .zip(&two.elements)
        .find(|(one, two)| one != two)
        .is_some_and(|(one, two)| std::mem::discriminant(one) == std::mem::discriminant(two))
}

/// Projections of one to five paths.
pub fn projection() -> impl Strategy<Value = Projection> {
    targets().prop_map(|paths| Projection { paths })
}

fn update_operand(constant: BoxedStrategy<AttributeValue>) -> impl Strategy<Value = UpdateOperand> {
    let simple = prop_oneof![
        path().prop_map(UpdateOperand::Path),
        constant.prop_map(|value| UpdateOperand::Value(Value::from(value))),
    ];
    (simple.clone(), path(), any::<bool>()).prop_map(|(simple, path, wrapped)| {
        if wrapped { UpdateOperand::IfNotExists(path, Box::new(simple)) } else { simple }
    })
}

fn set_value() -> impl Strategy<Value = SetValue> {
    let numbers = || update_operand(number().prop_map(AttributeValue::N).boxed());
    let lists = || update_operand(vec(value(), 0..3).prop_map(AttributeValue::L).boxed());
    prop_oneof![
        update_operand(value().boxed()).prop_map(SetValue::Operand),
        (numbers(), numbers()).prop_map(|(left, right)| SetValue::Plus(left, right)),
        (numbers(), numbers()).prop_map(|(left, right)| SetValue::Minus(left, right)),
        (lists(), lists()).prop_map(|(first, second)| {
            SetValue::Operand(UpdateOperand::ListAppend(Box::new(first), Box::new(second)))
        }),
    ]
}

/// Updates that an expression text can produce.
pub fn update() -> impl Strategy<Value = Update> {
    let action = (0..4, set_value(), number(), set());
    (targets(), vec(action, 6)).prop_map(|(targets, actions)| {
        let mut update = Update::default();
        for (path, (section, value, number, set)) in targets.into_iter().zip(actions) {
            match section {
                0 => update.set.push(SetAction { path, value }),
                1 => update.remove.push(path),
                2 => update.add.push((path, Value::from(&number.into()))),
                _ => update.delete.push((path, Value::from(&set))),
            }
        }
        update
    })
}
