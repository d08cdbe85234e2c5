//! Placeholders (`#name` and `:value`) of a request's expressions, with a record of which ones are used.

use std::collections::BTreeMap;

use crate::error::{Error, expression as texts};
use crate::value::{AttributeValue, Value, name};

const NAMES: &str = "ExpressionAttributeNames";
const VALUES: &str = "ExpressionAttributeValues";
const PLACEHOLDER_BYTES_MAX: usize = 255;

/// Placeholders of one request. All expressions of the request must be parsed with the same instance;
/// [`Self::finish`] then rejects the request if any placeholder is unused.
///
/// ```
/// use std::collections::BTreeMap;
/// use keyform_core::expression::{ConditionKind, Substitutions, parse_condition};
///
/// let values = BTreeMap::from([(":limit".to_owned(), 10.into())]);
/// let mut substitutions = Substitutions::new(None, Some(values))?;
/// parse_condition("stock < :limit", ConditionKind::Condition, &mut substitutions)?;
/// substitutions.finish()?;
/// # Ok::<(), keyform_core::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Substitutions {
    names: BTreeMap<String, Substitution<String>>,
    values: BTreeMap<String, Substitution<Value>>,
}

#[derive(Clone, Debug)]
struct Substitution<T> {
    target: T,
    used: bool,
}

impl Substitutions {
    /// Creates the placeholders from the two maps of a request.
    ///
    /// # Errors
    /// Returns an error if a map is present but empty, a key is not a valid placeholder, or a
    /// name is empty or too long.
    pub fn new(
        names: Option<BTreeMap<String, String>>,
        values: Option<BTreeMap<String, AttributeValue>>,
    ) -> Result<Self, Error> {
        if let Some(names) = &names {
            check_keys(NAMES, '#', names)?;
            for (key, name) in names {
                name::check(name).map_err(|reason| texts::placeholder_name(&reason, key))?;
            }
        }
        if let Some(values) = &values {
            check_keys(VALUES, ':', values)?;
        }
        Ok(Self {
            names: names.unwrap_or_default().into_iter().map(|(key, name)| (key, unused(name))).collect(),
            values: values.unwrap_or_default().into_iter().map(|(key, value)| (key, unused(value.into()))).collect(),
        })
    }

    /// Returns the attribute name of a `#name` placeholder and marks it as used.
    pub(crate) fn name(&mut self, placeholder: &str) -> Option<&str> {
        let entry = self.names.get_mut(placeholder)?;
        entry.used = true;
        Some(&entry.target)
    }

    /// Returns the value of a `:value` placeholder and marks it as used.
    pub(crate) fn value(&mut self, placeholder: &str) -> Option<&Value> {
        let entry = self.values.get_mut(placeholder)?;
        entry.used = true;
        Some(&entry.target)
    }

    /// Checks that every placeholder was used, after all expressions are parsed.
    ///
    /// # Errors
    /// Returns an error if no expression used a placeholder.
    pub fn finish(self) -> Result<(), Error> {
        check_all_used(NAMES, &self.names)?;
        check_all_used(VALUES, &self.values)
    }
}

fn unused<T>(target: T) -> Substitution<T> {
    Substitution { target, used: false }
}

fn check_keys<T>(parameter: &'static str, sigil: char, map: &BTreeMap<String, T>) -> Result<(), Error> {
    if map.is_empty() {
        return Err(texts::placeholders_empty(parameter));
    }
    for key in map.keys() {
        if key.len() > PLACEHOLDER_BYTES_MAX {
            return Err(texts::placeholder_too_long(parameter, key.len()));
        }
        if !is_placeholder(sigil, key) {
            return Err(texts::placeholder_syntax(parameter, key));
        }
    }
    Ok(())
}

fn is_placeholder(sigil: char, key: &str) -> bool {
    key.strip_prefix(sigil)
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

fn check_all_used<T>(parameter: &'static str, map: &BTreeMap<String, Substitution<T>>) -> Result<(), Error> {
    let idle: Vec<&str> = map.iter().filter(|(_, entry)| !entry.used).map(|(key, _)| key.as_str()).collect();
    if idle.is_empty() { Ok(()) } else { Err(texts::placeholders_unused(parameter, &idle)) }
}
