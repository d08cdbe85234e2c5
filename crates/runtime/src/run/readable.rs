//! Decides whether a refused write may include the item that it met.
//!
//! The failed condition may be the one that keeps the caller from the item (`if userId = caller.userId else
//! NotConnected`), so neither the write's `allow` nor its outcome permits showing it. The model's reads do. The caller
//! may read the item if one of the reads
//!
//! 1. returns this item with all its fields when called with the item's own values,
//! 2. takes no value that the caller does not have: each is one of the write's arguments, a claim, or one that the
//!    read's `allow` checks. Otherwise a refusal would reveal the codes by which a public read finds its items,
//! 3. permits the caller, judged only by the reads that this call already made (see `known`).
//!
//! When in doubt, the item is left out: a caller who needs it can read it. Application code may read everything.

use std::sync::Arc;

use keyform_core::{AttributeValue, Attributes, Item};

use keyform_language::schema::{ExprKind, Origin, Parameter, Permission, Read, Result as ReadResult, Test, ValuePath};

use super::known::{Known, OnlyKnown};
use super::{Call, Caller, Fields, Found, Runner};

impl Runner {
    /// Returns whether the caller could get this item from a read of the model.
    pub(super) async fn may_read(&self, found: &Found, item: &Item, call: &Call, known: Option<&Arc<Known>>) -> bool {
        let Caller::Claims(claims) = &call.caller else { return true };
        let runner = self.on(Arc::new(OnlyKnown(known.cloned())));
        for read in &self.checked.model.reads {
            let returns =
                !matches!(read.result, ReadResult::Count(..)) && read.result.entities().contains(&found.entity);
            let arguments = if returns { arguments(read, &found.fields, &[&call.arguments, claims]) } else { None };
            let Some(arguments) = arguments else { continue };
            let reading = Call { arguments, caller: call.caller.clone(), cursor: None, token: None };
            // A read that cannot be called this way, or that needs data which the call has not read, reveals nothing.
            if runner.returns_whole(read, &reading, found, item)
                && runner.permit_read(&read.name, &reading).await.is_ok()
            {
                return true;
            }
        }
        false
    }

    fn returns_whole(&self, read: &Read, reading: &Call, found: &Found, item: &Item) -> bool {
        let live = self.live_read(&read.name, reading);
        let shown = live.and_then(|live| live.found(&self.checked, item));
        shown.is_ok_and(|shown| shown.as_ref() == Some(found))
    }
}

/// Returns the arguments with which a read finds an item; `None` if it takes a value that the caller does not have.
fn arguments(read: &Read, fields: &Fields, had: &[&Attributes]) -> Option<Attributes> {
    let mut arguments = Attributes::new();
    for (number, parameter) in read.parameters.iter().enumerate() {
        let value = fields.get(&parameter.field_name);
        let is_had = |value: &&AttributeValue| {
            is_range(parameter) || decides(read, number) || had.iter().any(|values| is_among(value, values))
        };
        match value.filter(is_had).and_then(|value| argument(parameter, value)) {
            Some(value) => arguments.extend(parameter.arguments.iter().map(|name| (name.clone(), value.clone()))),
            None if parameter.optional => {}
            None => return None,
        }
    }
    Some(arguments)
}

/// Returns the argument with which a parameter matches a value.
fn argument(parameter: &Parameter, value: &AttributeValue) -> Option<AttributeValue> {
    match parameter.test {
        Test::Equal | Test::From | Test::Until | Test::Between | Test::Begins => Some(value.clone()),
        Test::In => Some(AttributeValue::L(vec![value.clone()])),
        // The value itself lies outside these ranges, and the nearest value inside is not known for every type.
        Test::After | Test::Before => None,
    }
}

/// Returns whether callers can match a value without knowing it, by asking for the whole range.
fn is_range(parameter: &Parameter) -> bool {
    matches!(parameter.test, Test::From | Test::Until | Test::Between | Test::Begins)
}

/// Returns whether the read's `allow` uses a parameter.
fn decides(read: &Read, number: usize) -> bool {
    let Some(Permission::When(condition)) = &read.allow else { return false };
    let mut found = false;
    condition.walk(&mut |expr| {
        found |= matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(of), .. }) if *of == number);
    });
    found
}

fn is_among(value: &AttributeValue, values: &Attributes) -> bool {
    let holds = |given: &AttributeValue| match given {
        AttributeValue::L(elements) => elements.contains(value),
        given => given == value,
    };
    values.values().any(holds)
}
