//! Condition that an item is as it was read, so that no concurrent change is lost.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::limits::{EXPRESSION_BYTES_MAX, EXPRESSION_OPERATORS_MAX};
use keyform_core::{AttributeValue, Attributes};

use super::form::Form;
use super::mark::MARK;

/// Operators that `= AND` uses per attribute, of the 300 that an expression may have.
const OPERATORS_PER_TEST: usize = 2;
/// Bytes of `attribute_not_exists(#n100) AND ` and of `#n100 = :v100 AND `, of the 4096 that an expression may have.
const ABSENT_BYTES: usize = 31;
const EQUAL_BYTES: usize = 18;

/// Returns the condition that an item of either side, including its mark, is as it was read.
///
/// Fields that the item lacks are compared too: an in-place conversion may only add fields, and a writer who has
/// converted the item first and then changed an added field must not be overwritten.
///
/// # Errors
///
/// Returns the reason if the item has more attributes than one condition can compare.
pub(super) fn unchanged(form: &Form, image: &Attributes) -> Result<Condition, String> {
    let fields = form.old.entity.fields.iter().map(|field| field.name.as_str());
    let missing: Vec<&str> = fields.chain([MARK]).filter(|name| !image.contains_key(*name)).collect();
    let count = missing.len() + image.len();
    let bytes = missing.len() * ABSENT_BYTES + image.len() * EQUAL_BYTES;
    if count * OPERATORS_PER_TEST > EXPRESSION_OPERATORS_MAX || bytes > EXPRESSION_BYTES_MAX {
        return Err(format!("it has {count} fields, more than one request can compare"));
    }
    let present = image.iter().map(|(name, value)| equal(name, value));
    Ok(Condition::And(missing.into_iter().map(absent).chain(present).collect()))
}

fn absent(name: &str) -> Condition {
    Condition::AttributeNotExists(Path::attribute(name))
}

fn equal(name: &str, value: &AttributeValue) -> Condition {
    Condition::Compare {
        left: Operand::Path(Path::attribute(name)),
        comparator: Comparator::Equal,
        right: Operand::Value(value.clone().into()),
    }
}
