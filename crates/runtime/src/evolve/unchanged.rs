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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use keyform_check::Checked;
    use keyform_core::Item;

    use super::*;

    const MODEL: &str = r#"
        model shop
        table Orders { key pk }
        entity Order in Orders {
          key "ORDER#{orderId}"
          orderId:  slug(1..20)
          currency: string(3)
        }
        evolve Order { set currency = "EUR" }
    "#;

    fn form() -> Form {
        Form::all(&Checked::read(MODEL).model, &BTreeMap::new()).remove(0)
    }

    /// Returns an item with this many attributes.
    fn item(count: usize) -> Attributes {
        let extra = (2..count).map(|number| (format!("extra{number:03}"), AttributeValue::from("x")));
        [("pk".to_owned(), "ORDER#a".into()), ("orderId".to_owned(), "a".into())].into_iter().chain(extra).collect()
    }

    #[test]
    fn a_change_of_any_attribute_is_noticed() {
        let read = item(100);
        let condition = unchanged(&form(), &read).unwrap();
        assert!(condition.holds(Some(&Item::from(&read))));
        for name in read.keys() {
            let mut changed = read.clone();
            changed.insert(name.clone(), "y".into());
            assert!(!condition.holds(Some(&Item::from(&changed))), "{name}");
        }
    }

    #[test]
    fn a_field_or_a_mark_that_was_added_is_noticed() {
        let read = item(2);
        let condition = unchanged(&form(), &read).unwrap();
        for name in ["currency", MARK] {
            let mut changed = read.clone();
            changed.insert(name.to_owned(), "EUR".into());
            assert!(!condition.holds(Some(&Item::from(&changed))), "{name}");
        }
    }

    #[test]
    fn an_item_with_more_fields_than_a_request_can_compare_is_refused() {
        assert!(unchanged(&form(), &item(148)).is_ok());
        let refused = unchanged(&form(), &item(149)).unwrap_err();
        assert_eq!(refused, "it has 151 fields, more than one request can compare");
    }
}
