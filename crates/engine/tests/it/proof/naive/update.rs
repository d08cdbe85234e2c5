//! Updates over trees. Right-hand sides and list indexes refer to the item before the update.

use keyform_core::expression::{Path, PathElement, SetValue, Update, UpdateOperand};
use keyform_core::{AttributeValue, Attributes, Number};

use super::condition::at;

/// The update is not possible; DynamoDB returns a `ValidationException`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impossible;

type Outcome<T> = Result<T, Impossible>;

/// Creates an item from the key. REMOVE clauses are ignored, because there is nothing to remove.
pub fn create(update: &Update, key: &Attributes) -> Outcome<Attributes> {
    apply(&Update { remove: Vec::new(), ..update.clone() }, key)
}

/// Returns the item after the update.
pub fn apply(update: &Update, before: &Attributes) -> Outcome<Attributes> {
    let mut after = before.clone();
    let mut sets: Vec<(&Path, AttributeValue)> = Vec::new();
    for action in &update.set {
        sets.push((&action.path, assigned(&action.value, before)?));
    }
    for (path, value) in &update.add {
        sets.push((path, sum(at(before, path), &value.to_tree())?));
    }
    let mut removes: Vec<&Path> = update.remove.iter().collect();
    for (path, value) in &update.delete {
        match difference(at(before, path), &value.to_tree())? {
            Left::Untouched => check_parent(before, path)?,
            Left::Nothing => removes.push(path),
            Left::Set(set) => sets.push((path, set)),
        }
    }
    // Elements beyond the end of a list are appended in the order of their indexes.
    sets.sort_by_key(|(path, _)| *path);
    for (path, value) in sets {
        check_parent(before, path)?;
        place(&mut after, &path.elements, value)?;
    }
    for path in &removes {
        check_parent(before, path)?;
    }
    removes.retain(|path| at(before, path).is_some());
    // From right to left, so that the remaining indexes stay valid.
    removes.sort_by(|left, right| right.cmp(left));
    for path in removes {
        take_away(&mut after, &path.elements);
    }
    Ok(after)
}

/// Returns all paths that the update writes.
pub fn touched(update: &Update) -> Vec<Path> {
    let sets = update.set.iter().map(|action| &action.path);
    let pairs = update.add.iter().chain(&update.delete).map(|(path, _)| path);
    sets.chain(&update.remove).chain(pairs).cloned().collect()
}

fn assigned(value: &SetValue, item: &Attributes) -> Outcome<AttributeValue> {
    match value {
        SetValue::Operand(operand) => evaluate(operand, item),
        SetValue::Plus(left, right) => {
            let (left, right) = (number(evaluate(left, item)?)?, number(evaluate(right, item)?)?);
            left.checked_add(right).map(AttributeValue::N).map_err(|_| Impossible)
        }
        SetValue::Minus(left, right) => {
            let (left, right) = (number(evaluate(left, item)?)?, number(evaluate(right, item)?)?);
            left.checked_add(right.negated()).map(AttributeValue::N).map_err(|_| Impossible)
        }
    }
}

fn evaluate(operand: &UpdateOperand, item: &Attributes) -> Outcome<AttributeValue> {
    match operand {
        UpdateOperand::Path(path) => at(item, path).cloned().ok_or(Impossible),
        UpdateOperand::Value(value) => Ok(value.to_tree()),
        UpdateOperand::IfNotExists(path, otherwise) => match at(item, path) {
            Some(found) => Ok(found.clone()),
            None => evaluate(otherwise, item),
        },
        UpdateOperand::ListAppend(first, second) => match (evaluate(first, item)?, evaluate(second, item)?) {
            (AttributeValue::L(first), AttributeValue::L(second)) => Ok(AttributeValue::L([first, second].concat())),
            _ => Err(Impossible),
        },
    }
}

fn number(value: AttributeValue) -> Outcome<Number> {
    match value {
        AttributeValue::N(number) => Ok(number),
        _ => Err(Impossible),
    }
}

fn sum(old: Option<&AttributeValue>, more: &AttributeValue) -> Outcome<AttributeValue> {
    match (old, more) {
        (None, AttributeValue::N(_) | AttributeValue::Ss(_) | AttributeValue::Ns(_) | AttributeValue::Bs(_)) => {
            Ok(more.clone())
        }
        (Some(AttributeValue::N(old)), AttributeValue::N(more)) => {
            old.checked_add(*more).map(AttributeValue::N).map_err(|_| Impossible)
        }
        (Some(AttributeValue::Ss(old)), AttributeValue::Ss(more)) => Ok(AttributeValue::Ss(old | more)),
        (Some(AttributeValue::Ns(old)), AttributeValue::Ns(more)) => Ok(AttributeValue::Ns(old | more)),
        (Some(AttributeValue::Bs(old)), AttributeValue::Bs(more)) => Ok(AttributeValue::Bs(old | more)),
        _ => Err(Impossible),
    }
}

enum Left {
    Untouched,
    Nothing,
    Set(AttributeValue),
}

fn difference(old: Option<&AttributeValue>, less: &AttributeValue) -> Outcome<Left> {
    let (set, empty) = match (old, less) {
        (None, _) => return Ok(Left::Untouched),
        (Some(AttributeValue::Ss(old)), AttributeValue::Ss(less)) => {
            let rest = old - less;
            (AttributeValue::Ss(rest.clone()), rest.is_empty())
        }
        (Some(AttributeValue::Ns(old)), AttributeValue::Ns(less)) => {
            let rest = old - less;
            (AttributeValue::Ns(rest.clone()), rest.is_empty())
        }
        (Some(AttributeValue::Bs(old)), AttributeValue::Bs(less)) => {
            let rest = old - less;
            (AttributeValue::Bs(rest.clone()), rest.is_empty())
        }
        _ => return Err(Impossible),
    };
    Ok(if empty { Left::Nothing } else { Left::Set(set) })
}

/// Checks that a path with more than one element has a document as its parent.
fn check_parent(before: &Attributes, path: &Path) -> Outcome<()> {
    let [parent @ .., last] = path.elements.as_slice() else { return Err(Impossible) };
    if parent.is_empty() {
        return Ok(());
    }
    match (at(before, &Path { elements: parent.to_vec() }), last) {
        (Some(AttributeValue::M(_)), PathElement::Attribute(_)) => Ok(()),
        (Some(AttributeValue::L(_)), PathElement::Index(_)) => Ok(()),
        _ => Err(Impossible),
    }
}

fn place(map: &mut Attributes, path: &[PathElement], value: AttributeValue) -> Outcome<()> {
    match path {
        [PathElement::Attribute(name)] => {
            map.insert(name.clone(), value);
            Ok(())
        }
        [PathElement::Attribute(name), rest @ ..] => place_inside(map.get_mut(name).ok_or(Impossible)?, rest, value),
        _ => Err(Impossible),
    }
}

fn place_inside(document: &mut AttributeValue, path: &[PathElement], value: AttributeValue) -> Outcome<()> {
    match (document, path) {
        (AttributeValue::M(map), path) => place(map, path, value),
        (AttributeValue::L(list), [PathElement::Index(place)]) => {
            match list.get_mut(*place) {
                Some(element) => *element = value,
                None => list.push(value),
            }
            Ok(())
        }
        (AttributeValue::L(list), [PathElement::Index(place), rest @ ..]) => {
            place_inside(list.get_mut(*place).ok_or(Impossible)?, rest, value)
        }
        _ => Err(Impossible),
    }
}

fn take_away(map: &mut Attributes, path: &[PathElement]) {
    match path {
        [PathElement::Attribute(name)] => {
            map.remove(name);
        }
        [PathElement::Attribute(name), rest @ ..] => {
            if let Some(document) = map.get_mut(name) {
                take_away_inside(document, rest);
            }
        }
        _ => {}
    }
}

fn take_away_inside(document: &mut AttributeValue, path: &[PathElement]) {
    match (document, path) {
        (AttributeValue::M(map), path) => take_away(map, path),
        (AttributeValue::L(list), [PathElement::Index(place)]) => {
            list.remove(*place);
        }
        (AttributeValue::L(list), [PathElement::Index(place), rest @ ..]) => {
            if let Some(element) = list.get_mut(*place) {
                take_away_inside(element, rest);
            }
        }
        _ => {}
    }
}
