//! Applies updates to items.
//!
//! All right-hand sides are evaluated against the original item. Then the results are written, and last the removals
//! are applied. Targets never overlap, so the order matters only inside a list: writes past its end append in order
//! of their index, and removals use the original indexes.
//!
//! ```text
//! l = [a, b, c]    SET l[9] = :x, l[7] = :y REMOVE l[1]    l = [a, c, y, x]
//! ```

use std::collections::BTreeSet;

use super::ast::{Path, PathElement, Projection, SetValue, Update, UpdateOperand};
use crate::error::{Error, expression as texts, legacy};
use crate::limits::NESTING_DEPTH_MAX;
use crate::value::size::levels;
use crate::value::{AttributeValue, Attributes, Item, Number, Value, name};

/// Returns the item after the update.
///
/// # Errors
/// Returns an error if a target has no parent, an operand is missing or of the wrong type, or a sum is out of range.
pub fn apply(update: &Update, before: &Attributes) -> Result<Attributes, Error> {
    let changes = Changes::compute(update, before).map_err(|error| in_its_words(update, error))?;
    changes.apply(before.clone())
}

/// Returns the item that the update creates if none exists; the new item starts as `key`. Removals have no effect,
/// even if their path does not exist.
///
/// # Errors
/// See [`apply`].
pub fn create(update: &Update, key: &Attributes) -> Result<Attributes, Error> {
    let mut changes = Changes::compute(update, key).map_err(|error| in_its_words(update, error))?;
    changes.removals.clear();
    changes.apply(key.clone())
}

/// Replaces the message of a type error if the update comes from AttributeUpdates.
fn in_its_words(update: &Update, error: Error) -> Error {
    if update.legacy && error == texts::update_operand_type() { legacy::update_type() } else { error }
}

impl Update {
    /// Returns whether the update only removes. Such an update does not create a missing item.
    pub fn only_removes(&self) -> bool {
        let removes = !self.remove.is_empty() || !self.delete.is_empty();
        removes && self.set.is_empty() && self.add.is_empty()
    }

    /// Returns the paths that the update writes or removes, in the order of its sections.
    pub fn touched_paths(&self) -> impl Iterator<Item = &Path> {
        let set = self.set.iter().map(|action| &action.path);
        let changed = self.add.iter().chain(&self.delete).map(|(path, _)| path);
        set.chain(&self.remove).chain(changed)
    }
}

/// Returns the values at the paths that the update changes, from the old item for UPDATED_OLD and from the new one
/// for UPDATED_NEW.
pub fn updated_attributes(update: &Update, item: &Item) -> Item {
    Projection { paths: update.touched_paths().cloned().collect() }.apply(item)
}

/// An update with all right-hand sides evaluated.
struct Changes<'u> {
    writes: Vec<(&'u Path, AttributeValue)>,
    removals: Vec<&'u Path>,
}

impl<'u> Changes<'u> {
    fn compute(update: &'u Update, before: &Attributes) -> Result<Self, Error> {
        let mut changes = Self { writes: Vec::new(), removals: update.remove.iter().collect() };
        for action in &update.set {
            changes.writes.push((&action.path, assigned(&action.value, before)?));
        }
        for (path, value) in &update.add {
            changes.writes.push((path, added(find(before, path), value)?));
        }
        for (path, value) in &update.delete {
            changes.delete(path, value, before)?;
        }
        Ok(changes)
    }

    fn apply(mut self, mut item: Attributes) -> Result<Attributes, Error> {
        self.keep_removals_of_what_is_there(&item)?;
        self.writes.sort_by_key(|(path, _)| *path);
        for (path, value) in self.writes {
            write(&mut item, path, value)?;
        }
        self.removals.sort();
        for path in self.removals.into_iter().rev() {
            remove(&mut item, path)?;
        }
        Ok(item)
    }

    /// Drops removals of values that did not exist before, so that they do not remove what a write of the same update
    /// appended: `SET l[9] = :x REMOVE l[2]` on a list of two elements yields three.
    fn keep_removals_of_what_is_there(&mut self, before: &Attributes) -> Result<(), Error> {
        self.removals.iter().try_for_each(|path| check_parent(before, path))?;
        self.removals.retain(|path| find(before, path).is_some());
        Ok(())
    }

    /// Removes elements from a set. A set that becomes empty is removed with its attribute.
    fn delete(&mut self, path: &'u Path, value: &Value, before: &Attributes) -> Result<(), Error> {
        let Some(existing) = find(before, path) else {
            return check_parent(before, path);
        };
        match difference(existing, value.to_tree())? {
            Some(rest) => self.writes.push((path, rest)),
            None => self.removals.push(path),
        }
        Ok(())
    }
}

fn assigned(value: &SetValue, before: &Attributes) -> Result<AttributeValue, Error> {
    match value {
        SetValue::Operand(operand) => evaluate(operand, before),
        SetValue::Plus(left, right) => {
            let (left, right) = (number(left, before)?, number(right, before)?);
            left.checked_add(right).map(AttributeValue::N).map_err(texts::update_number)
        }
        SetValue::Minus(left, right) => {
            let (left, right) = (number(left, before)?, number(right, before)?);
            left.checked_sub(right).map(AttributeValue::N).map_err(texts::update_number)
        }
    }
}

fn number(operand: &UpdateOperand, before: &Attributes) -> Result<Number, Error> {
    match evaluate(operand, before)? {
        AttributeValue::N(number) => Ok(number),
        _ => Err(texts::update_operand_type()),
    }
}

fn evaluate(operand: &UpdateOperand, before: &Attributes) -> Result<AttributeValue, Error> {
    match operand {
        UpdateOperand::Path(path) => find(before, path).cloned().ok_or_else(texts::update_operand_missing),
        UpdateOperand::Value(value) => Ok(value.to_tree()),
        UpdateOperand::IfNotExists(path, otherwise) => match find(before, path) {
            Some(value) => Ok(value.clone()),
            None => evaluate(otherwise, before),
        },
        UpdateOperand::ListAppend(first, second) => {
            let (first, second) = (evaluate(first, before)?, evaluate(second, before)?);
            match (first, second) {
                (AttributeValue::L(mut values), AttributeValue::L(more)) => {
                    values.extend(more);
                    Ok(AttributeValue::L(values))
                }
                _ => Err(texts::update_operand_type()),
            }
        }
    }
}

fn added(existing: Option<&AttributeValue>, value: &Value) -> Result<AttributeValue, Error> {
    let value = value.to_tree();
    let Some(existing) = existing else { return Ok(value) };
    match (existing, value) {
        (AttributeValue::N(old), AttributeValue::N(more)) => {
            old.checked_add(more).map(AttributeValue::N).map_err(texts::update_number)
        }
        (AttributeValue::Ss(old), AttributeValue::Ss(more)) => Ok(AttributeValue::Ss(old | &more)),
        (AttributeValue::Ns(old), AttributeValue::Ns(more)) => Ok(AttributeValue::Ns(old | &more)),
        (AttributeValue::Bs(old), AttributeValue::Bs(more)) => Ok(AttributeValue::Bs(old | &more)),
        _ => Err(texts::update_operand_type()),
    }
}

/// Returns the remaining set, or `None` if it is empty.
fn difference(existing: &AttributeValue, less: AttributeValue) -> Result<Option<AttributeValue>, Error> {
    match (existing, less) {
        (AttributeValue::Ss(old), AttributeValue::Ss(less)) => Ok(rest(old, &less).map(AttributeValue::Ss)),
        (AttributeValue::Ns(old), AttributeValue::Ns(less)) => Ok(rest(old, &less).map(AttributeValue::Ns)),
        (AttributeValue::Bs(old), AttributeValue::Bs(less)) => Ok(rest(old, &less).map(AttributeValue::Bs)),
        _ => Err(texts::update_operand_type()),
    }
}

fn rest<T: Ord + Clone>(old: &BTreeSet<T>, less: &BTreeSet<T>) -> Option<BTreeSet<T>> {
    Some(old - less).filter(|rest| !rest.is_empty())
}

/// Returns the value at a path of an item in tree form.
fn find<'a>(item: &'a Attributes, path: &Path) -> Option<&'a AttributeValue> {
    let (first, steps) = path.elements.split_first()?;
    let PathElement::Attribute(name) = first else { return None };
    steps.iter().try_fold(item.get(name)?, |value, step| match (step, value) {
        (PathElement::Attribute(name), AttributeValue::M(map)) => map.get(name),
        (PathElement::Index(index), AttributeValue::L(list)) => list.get(*index),
        _ => None,
    })
}

/// The map or list that contains the target of a path, with the last step.
enum Parent<'a> {
    Map(&'a mut Attributes, &'a str),
    List(&'a mut Vec<AttributeValue>, usize),
}

fn parent<'a>(item: &'a mut Attributes, path: &'a Path) -> Option<Parent<'a>> {
    let (last, steps) = path.elements.split_last()?;
    let Some((first, steps)) = steps.split_first() else {
        return Some(Parent::Map(item, path.root()));
    };
    let PathElement::Attribute(name) = first else { return None };
    let value = steps.iter().try_fold(item.get_mut(name)?, |value, step| match (step, value) {
        (PathElement::Attribute(name), AttributeValue::M(map)) => map.get_mut(name),
        (PathElement::Index(index), AttributeValue::L(list)) => list.get_mut(*index),
        _ => None,
    })?;
    match (last, value) {
        (PathElement::Attribute(name), AttributeValue::M(map)) => Some(Parent::Map(map, name)),
        (PathElement::Index(index), AttributeValue::L(list)) => Some(Parent::List(list, *index)),
        _ => None,
    }
}

fn check_parent(item: &Attributes, path: &Path) -> Result<(), Error> {
    let Some((last, steps)) = path.elements.split_last().filter(|(_, steps)| !steps.is_empty()) else {
        return Ok(());
    };
    match (last, find(item, &Path { elements: steps.to_vec() })) {
        (PathElement::Attribute(_), Some(AttributeValue::M(_))) => Ok(()),
        (PathElement::Index(_), Some(AttributeValue::L(_))) => Ok(()),
        _ => Err(texts::update_path_invalid()),
    }
}

fn write(item: &mut Attributes, path: &Path, value: AttributeValue) -> Result<(), Error> {
    if path.elements.len() - 1 + levels(&value) > NESTING_DEPTH_MAX {
        return Err(texts::update_nesting_too_deep());
    }
    check_names(path, &value)?;
    match parent(item, path).ok_or_else(texts::update_path_invalid)? {
        Parent::Map(map, name) => {
            map.insert(name.to_owned(), value);
        }
        Parent::List(list, index) => match list.get_mut(index) {
            Some(slot) => *slot = value,
            None => list.push(value),
        },
    }
    Ok(())
}

/// Checks only the names that are written, so that an item with an invalid name from another
/// source can still be repaired.
fn check_names(path: &Path, value: &AttributeValue) -> Result<(), Error> {
    for element in &path.elements {
        match element {
            PathElement::Attribute(attribute) => name::check(attribute)?,
            PathElement::Index(_) => {}
        }
    }
    name::check_value(value)
}

fn remove(item: &mut Attributes, path: &Path) -> Result<(), Error> {
    match parent(item, path).ok_or_else(texts::update_path_invalid)? {
        Parent::Map(map, name) => {
            map.remove(name);
        }
        Parent::List(list, index) if index < list.len() => {
            list.remove(index);
        }
        Parent::List(..) => {}
    }
    Ok(())
}
