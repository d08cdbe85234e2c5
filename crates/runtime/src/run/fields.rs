//! Field values of an item.
//!
//! All items of an entity share one sorted list of field names; each item stores only its values, in the order of the
//! names.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use keyform_core::{AttributeValue, Attributes};

/// Fields of an item, sorted by name.
#[derive(Clone)]
pub struct Fields {
    /// Sorted, because lookups use binary search.
    names: Arc<[String]>,
    /// One entry per name; `None` if the item lacks the field.
    values: Vec<Option<AttributeValue>>,
}

impl Fields {
    /// Pairs sorted names with their values.
    pub(super) fn new(names: &Arc<[String]>, values: Vec<Option<AttributeValue>>) -> Self {
        Self { names: names.clone(), values }
    }

    /// Returns the value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        self.values[self.place(name)?].as_ref()
    }

    /// Returns the value of a field for modification.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut AttributeValue> {
        let place = self.place(name)?;
        self.values[place].as_mut()
    }

    /// Returns the values in the order of the names, for modification.
    pub(super) fn values_mut(&mut self) -> &mut [Option<AttributeValue>] {
        &mut self.values
    }

    /// Returns whether the field has a value.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Removes the value of a field and returns it.
    pub fn remove(&mut self, name: &str) -> Option<AttributeValue> {
        let place = self.place(name)?;
        self.values[place].take()
    }

    /// Removes the fields for which `keeps` returns false.
    pub fn retain(&mut self, keeps: impl Fn(&str, &AttributeValue) -> bool) {
        for (name, value) in self.names.iter().zip(&mut self.values) {
            value.take_if(|value| !keeps(name, value));
        }
    }

    /// Iterates over the fields that have a value.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &AttributeValue)> {
        self.names.iter().zip(&self.values).filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }

    /// Iterates over the names of the fields that have a value.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(name, _)| name)
    }

    /// Returns whether no field has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.names.binary_search_by(|other| other.as_str().cmp(name)).ok()
    }
}

impl From<Fields> for Attributes {
    fn from(fields: Fields) -> Self {
        let named = fields.names.iter().zip(fields.values);
        named.filter_map(|(name, value)| Some((name.clone(), value?))).collect()
    }
}

impl Index<&str> for Fields {
    type Output = AttributeValue;

    /// Returns the value of a field.
    ///
    /// # Panics
    ///
    /// Panics if the field has no value.
    fn index(&self, name: &str) -> &AttributeValue {
        self.get(name).expect("the field has a value")
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl PartialEq<Attributes> for Fields {
    fn eq(&self, other: &Attributes) -> bool {
        self.iter().eq(other)
    }
}

impl fmt::Debug for Fields {
    /// Prints the names only: values may be secret, and this output goes into logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(values: [Option<&str>; 3]) -> Fields {
        let names: Arc<[String]> = ["a", "b", "c"].map(str::to_owned).into();
        Fields::new(&names, values.map(|value| value.map(Into::into)).into())
    }

    #[test]
    fn fields_without_a_value_are_not_there() {
        let mut some = fields([Some("1"), None, Some("3")]);
        assert_eq!((some.get("b"), some.contains_key("c"), some.get("d")), (None, true, None));
        assert_eq!(some.keys().collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!((some.remove("a"), some.remove("a")), (Some("1".into()), None));
        assert_eq!(some, Attributes::from([("c".to_owned(), "3".into())]));
        some.retain(|name, _| name != "c");
        assert!(some.is_empty() && some == fields([None, None, None]));
    }

    #[test]
    fn values_are_not_in_logs() {
        assert_eq!(format!("{:?}", fields([Some("1"), None, None])), r#"{"a"}"#);
    }
}
