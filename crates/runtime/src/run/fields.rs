//! The fields of an item that was found.
//!
//! All items of an entity share the names of its fields; an item of its own has the values alone, in the order of the names.

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use keyform_core::{AttributeValue, Attributes};

/// The fields of an item by name, in the order of their names.
#[derive(Clone)]
pub struct Fields {
    /// In order.
    names: Arc<[String]>,
    /// For each name its value, if the item has one.
    values: Vec<Option<AttributeValue>>,
}

impl Fields {
    /// The values of these names, which are in order, each in its name's place.
    pub(super) fn new(names: &Arc<[String]>, values: Vec<Option<AttributeValue>>) -> Self {
        Self { names: names.clone(), values }
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AttributeValue> {
        self.values[self.place(name)?].as_ref()
    }

    /// The value of a field, to be changed.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut AttributeValue> {
        let place = self.place(name)?;
        self.values[place].as_mut()
    }

    /// Whether a field has a value.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Takes the value of a field away.
    pub fn remove(&mut self, name: &str) -> Option<AttributeValue> {
        let place = self.place(name)?;
        self.values[place].take()
    }

    /// Keeps the fields of which this holds.
    pub fn retain(&mut self, keeps: impl Fn(&str, &AttributeValue) -> bool) {
        for (name, value) in self.names.iter().zip(&mut self.values) {
            value.take_if(|value| !keeps(name, value));
        }
    }

    /// The names and values of the fields that have values.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &AttributeValue)> {
        self.names.iter().zip(&self.values).filter_map(|(name, value)| Some((name, value.as_ref()?)))
    }

    /// The names of the fields that have values.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.iter().map(|(name, _)| name)
    }

    /// Whether no field has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.iter().all(Option::is_none)
    }

    /// The place of a name.
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

    /// The value of a field.
    ///
    /// # Panics
    ///
    /// If it has none.
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
    /// The names alone: values may be secret, and this goes into logs.
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
