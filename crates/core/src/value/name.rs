//! Attribute names, at every level of an item: 1 to 65,535 bytes.

use super::{AttributeValue, Attributes};
use crate::error::{Error, request};
use crate::limits::ATTRIBUTE_NAME_BYTES_MAX;

/// Checks one name.
///
/// # Errors
/// Returns an error if the name is empty or too long.
pub fn check(name: &str) -> Result<(), Error> {
    if name.is_empty() {
        return Err(request::empty_attribute_name());
    }
    if name.len() > ATTRIBUTE_NAME_BYTES_MAX { Err(request::long_attribute_name(name)) } else { Ok(()) }
}

/// Checks the attribute names of an item, including those of nested maps.
///
/// # Errors
/// Returns the error of [`check`] for the first invalid name.
pub fn check_all(attributes: &Attributes) -> Result<(), Error> {
    attributes.iter().try_for_each(|(name, value)| check(name).and_then(|()| check_value(value)))
}

/// Checks the attribute names of the maps inside a value.
///
/// # Errors
/// See [`check_all`].
pub fn check_value(value: &AttributeValue) -> Result<(), Error> {
    match value {
        AttributeValue::M(map) => check_all(map),
        AttributeValue::L(list) => list.iter().try_for_each(check_value),
        AttributeValue::S(_)
        | AttributeValue::N(_)
        | AttributeValue::B(_)
        | AttributeValue::Bool(_)
        | AttributeValue::Null
        | AttributeValue::Ss(_)
        | AttributeValue::Ns(_)
        | AttributeValue::Bs(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(name: &str) -> Attributes {
        let inner = Attributes::from([(name.to_owned(), AttributeValue::Null)]);
        Attributes::from([("a".to_owned(), AttributeValue::L(vec![AttributeValue::M(inner)]))])
    }

    #[test]
    fn names_have_one_to_65535_bytes_at_every_level() {
        let longest = "é".repeat(ATTRIBUTE_NAME_BYTES_MAX / 2) + "x";
        assert_eq!(longest.len(), ATTRIBUTE_NAME_BYTES_MAX);
        for name in ["a", " ", "\0", &longest] {
            assert_eq!(check_all(&nested(name)), Ok(()));
        }
        assert_eq!(check_all(&nested("")), Err(request::empty_attribute_name()));
        let longer = longest + "x";
        assert_eq!(check_all(&nested(&longer)), Err(request::long_attribute_name(&longer)));
    }
}
