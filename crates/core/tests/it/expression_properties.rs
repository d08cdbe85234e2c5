//! Properties of expressions: parsing a formatted tree yields the same tree, evaluation over encoded items matches a
//! naive evaluation over trees, and no input makes the parsers panic.

use std::cmp::Ordering;

use crate::support::generate;
use keyform_core::expression::{
    Comparator, Condition, ConditionKind, Operand, Path, PathElement, Printer, Projection, Substitutions, apply,
    parse_condition, parse_key_condition, parse_projection, parse_update, updated_attributes,
};
use keyform_core::{AttributeValue, Attributes, Error, Item, Number};
use proptest::prelude::*;

/// Parses a formatted text with the placeholders of its printer.
fn reread<T>(printer: &Printer, read: impl FnOnce(&mut Substitutions) -> Result<T, Error>) -> Result<T, Error> {
    let names = Some(printer.names().clone()).filter(|names| !names.is_empty());
    let values = Some(printer.values().clone()).filter(|values| !values.is_empty());
    let mut substitutions = Substitutions::new(names, values)?;
    let tree = read(&mut substitutions)?;
    substitutions.finish()?;
    Ok(tree)
}

proptest! {
    #[test]
    fn printed_conditions_read_the_same(condition in generate::expressible_condition()) {
        let mut printer = Printer::default();
        let text = printer.condition(&condition);
        let read = reread(&printer, |substitutions| parse_condition(&text, ConditionKind::Filter, substitutions));
        prop_assert_eq!(read, Ok(condition), "{}", text);
    }

    #[test]
    fn printed_key_conditions_read_the_same(condition in generate::key_condition()) {
        let mut printer = Printer::default();
        let text = printer.key_condition(&condition);
        let read = reread(&printer, |substitutions| parse_key_condition(&text, substitutions));
        prop_assert_eq!(read, Ok(condition), "{}", text);
    }

    #[test]
    fn printed_updates_read_the_same(update in generate::update()) {
        let mut printer = Printer::default();
        let text = printer.update(&update);
        let read = reread(&printer, |substitutions| parse_update(&text, substitutions));
        prop_assert_eq!(read, Ok(update), "{}", text);
    }

    #[test]
    fn printed_projections_read_the_same(projection in generate::projection()) {
        let mut printer = Printer::default();
        let text = printer.projection(&projection);
        let read = reread(&printer, |substitutions| parse_projection(&text, substitutions));
        prop_assert_eq!(read, Ok(projection), "{}", text);
    }

    #[test]
    fn conditions_hold_as_plainly_evaluated(condition in generate::condition(), attributes in generate::attributes()) {
        let item = Item::from(&attributes);
        prop_assert_eq!(condition.holds(Some(&item)), plainly_holds(&condition, &attributes));
        prop_assert_eq!(condition.holds(None), plainly_holds(&condition, &Attributes::new()));
    }

    #[test]
    fn paths_lead_where_plain_steps_lead(path in generate::path(), attributes in generate::attributes()) {
        let item = Item::from(&attributes);
        let found = path.resolve(&item).map(|value| value.to_tree());
        prop_assert_eq!(found.as_ref(), plainly_find(&path, &attributes));
    }

    #[test]
    fn projections_show_what_is_there(projection in generate::projection(), attributes in generate::attributes()) {
        let item = Item::from(&attributes);
        let shown = projection.apply(&item);
        prop_assert_eq!(Item::decode(shown.as_bytes().clone()), Ok(shown.clone()));
        prop_assert!(shown.size() <= item.size());
        // A projection of a single path returns exactly the value at that path.
        for path in &projection.paths {
            let alone = Projection { paths: vec![path.clone()] }.apply(&item);
            match plainly_find(path, &attributes) {
                Some(value) => prop_assert_eq!(innermost(alone, path.elements.len()), Some(value.clone())),
                None => prop_assert_eq!(alone.iter().count(), 0),
            }
        }
        // The fast path for top-level attributes gives the same result as the general one.
        let tops: Vec<Path> = projection.paths.iter().map(|path| Path::attribute(path.root())).collect();
        let mut with_nested = tops.clone();
        with_nested.push(Path { elements: vec![PathElement::Attribute("no such".into()), PathElement::Index(0)] });
        let fast = Projection { paths: tops }.apply(&item);
        let slow = Projection { paths: with_nested }.apply(&item);
        prop_assert_eq!(fast, slow);
    }

    #[test]
    fn updates_make_items_or_are_refused(update in generate::update(), attributes in generate::attributes()) {
        if let Ok(after) = apply(&update, &attributes) {
            let item = Item::from(&after);
            prop_assert_eq!(Item::decode(item.as_bytes().clone()), Ok(item.clone()));
            for (name, value) in &attributes {
                let touched = update.touched_paths().any(|path| path.root() == name);
                prop_assert!(touched || after.get(name) == Some(value));
            }
            prop_assert!(updated_attributes(&update, &item).size() <= item.size());
        }
    }

    #[test]
    fn no_text_makes_a_parser_panic(text in text()) {
        let values = (0..4).map(|number| (format!(":v{number}"), AttributeValue::from(number))).collect();
        let mut substitutions = Substitutions::new(None, Some(values)).expect("placeholders are valid");
        if let Ok(condition) = parse_condition(&text, ConditionKind::Condition, &mut substitutions) {
            condition.holds(Some(&Item::from(&Attributes::new())));
        }
        drop(parse_key_condition(&text, &mut substitutions));
        drop(parse_update(&text, &mut substitutions));
        drop(parse_projection(&text, &mut substitutions));
    }
}

/// Random sequences of tokens and arbitrary characters.
fn text() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "a",
        "b.c",
        "l[0]",
        "#n",
        ":v0",
        ":v1",
        ":none",
        "=",
        "<>",
        "<=",
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "(",
        ")",
        ",",
        "[",
        "]",
        ".",
        "+",
        "-",
        "SET",
        "REMOVE",
        "ADD",
        "DELETE",
        "size(",
        "contains(",
        "begins_with(",
        "attribute_exists(",
        "list_append(",
        "if_not_exists(",
        "status",
        "99999999999999999999",
        "é",
        "\u{0}",
    ]);
    prop_oneof![
        4 => prop::collection::vec(token, 0..30).prop_map(|tokens| tokens.join(" ")),
        1 => ".{0,60}",
    ]
}

fn innermost(item: Item, steps: usize) -> Option<AttributeValue> {
    let mut value = AttributeValue::M(item.to_attributes());
    for _ in 0..steps {
        value = match value {
            AttributeValue::M(map) => map.into_values().next()?,
            AttributeValue::L(list) => list.into_iter().next()?,
            _ => return None,
        };
    }
    Some(value)
}

fn plainly_find<'a>(path: &Path, item: &'a Attributes) -> Option<&'a AttributeValue> {
    let mut found = item.get(path.root())?;
    for element in &path.elements[1..] {
        found = match (element, found) {
            (PathElement::Attribute(name), AttributeValue::M(map)) => map.get(name)?,
            (PathElement::Index(index), AttributeValue::L(list)) => list.get(*index)?,
            _ => return None,
        };
    }
    Some(found)
}

fn plainly_evaluate(operand: &Operand, item: &Attributes) -> Option<AttributeValue> {
    match operand {
        Operand::Path(path) => plainly_find(path, item).cloned(),
        Operand::Value(value) => Some(value.to_tree()),
        Operand::Size(path) => {
            let size = match plainly_find(path, item)? {
                AttributeValue::S(text) => text.encode_utf16().count(),
                AttributeValue::B(bytes) => bytes.len(),
                AttributeValue::L(list) => list.len(),
                AttributeValue::M(map) => map.len(),
                AttributeValue::Ss(set) => set.len(),
                AttributeValue::Ns(set) => set.len(),
                AttributeValue::Bs(set) => set.len(),
                _ => return None,
            };
            Some(AttributeValue::N(Number::from(size as i64)))
        }
    }
}

fn order(left: &AttributeValue, right: &AttributeValue) -> Option<Ordering> {
    match (left, right) {
        (AttributeValue::S(a), AttributeValue::S(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (AttributeValue::N(a), AttributeValue::N(b)) => Some(a.cmp(b)),
        (AttributeValue::B(a), AttributeValue::B(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

fn plainly_compare(left: Option<AttributeValue>, comparator: Comparator, right: Option<AttributeValue>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return comparator == Comparator::NotEqual };
    let order = order(&left, &right);
    match comparator {
        Comparator::Equal => left == right,
        Comparator::NotEqual => left != right,
        Comparator::Less => order == Some(Ordering::Less),
        Comparator::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparator::Greater => order == Some(Ordering::Greater),
        Comparator::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn plainly_contains(whole: &AttributeValue, part: &AttributeValue) -> bool {
    match (whole, part) {
        (AttributeValue::S(whole), AttributeValue::S(part)) => whole.contains(part.as_str()),
        (AttributeValue::B(whole), AttributeValue::B(part)) => {
            (0..=whole.len()).any(|start| whole[start..].starts_with(part))
        }
        (AttributeValue::L(whole), part) => whole.contains(part),
        (AttributeValue::Ss(whole), AttributeValue::S(part)) => whole.contains(part),
        (AttributeValue::Ns(whole), AttributeValue::N(part)) => whole.contains(part),
        (AttributeValue::Bs(whole), AttributeValue::B(part)) => whole.contains(part),
        _ => false,
    }
}

fn plainly_holds(condition: &Condition, item: &Attributes) -> bool {
    let value = |operand| plainly_evaluate(operand, item);
    match condition {
        Condition::And(parts) => !parts.iter().any(|part| !plainly_holds(part, item)),
        Condition::Or(parts) => parts.iter().any(|part| plainly_holds(part, item)),
        Condition::Not(part) => !plainly_holds(part, item),
        Condition::Compare { left, comparator, right } => plainly_compare(value(left), *comparator, value(right)),
        Condition::Between { operand, low, high } => {
            plainly_compare(value(low), Comparator::LessOrEqual, value(operand))
                && plainly_compare(value(operand), Comparator::LessOrEqual, value(high))
        }
        Condition::In { operand, candidates } => {
            candidates.iter().any(|candidate| plainly_compare(value(operand), Comparator::Equal, value(candidate)))
        }
        Condition::AttributeExists(path) => plainly_find(path, item).is_some(),
        Condition::AttributeNotExists(path) => plainly_find(path, item).is_none(),
        Condition::AttributeType(path, kind) => plainly_find(path, item).map(AttributeValue::kind) == Some(*kind),
        Condition::BeginsWith(whole, start) => match (value(whole), value(start)) {
            (Some(AttributeValue::S(whole)), Some(AttributeValue::S(start))) => whole.starts_with(&start),
            (Some(AttributeValue::B(whole)), Some(AttributeValue::B(start))) => whole.starts_with(&start),
            _ => false,
        },
        Condition::Contains(whole, part) => match (value(whole), value(part)) {
            (Some(whole), Some(part)) => plainly_contains(&whole, &part),
            _ => false,
        },
    }
}
