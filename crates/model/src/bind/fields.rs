//! The values of an item's fields, as far as they are known.
//!
//! They lie in one piece of memory, in the order of the fields: an item has few of them, and most are added in that order.

use keyform_core::AttributeValue;

use crate::schema::FieldId;

/// Values by field, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    values: Vec<(FieldId, AttributeValue)>,
}

impl Fields {
    /// No values.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// No values yet, and room for so many.
    pub(super) fn with_capacity(count: usize) -> Self {
        Self { values: Vec::with_capacity(count) }
    }

    /// The value of a field.
    pub(super) fn get(&self, field: FieldId) -> Option<&AttributeValue> {
        self.place(field).ok().map(|place| &self.values[place].1)
    }

    /// Whether a field has a value.
    pub(super) fn contains(&self, field: FieldId) -> bool {
        self.place(field).is_ok()
    }

    /// Gives a field a value.
    pub(super) fn insert(&mut self, field: FieldId, value: AttributeValue) {
        match self.place(field) {
            Ok(place) => self.values[place].1 = value,
            Err(place) => self.values.insert(place, (field, value)),
        }
    }

    /// The value of a field, to be changed or moved.
    pub(super) fn get_mut(&mut self, field: FieldId) -> Option<&mut AttributeValue> {
        self.place(field).ok().map(|place| &mut self.values[place].1)
    }

    /// Takes a field's value away.
    pub(super) fn remove(&mut self, field: FieldId) {
        if let Ok(place) = self.place(field) {
            self.values.remove(place);
        }
    }

    /// All values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (FieldId, &AttributeValue)> {
        self.values.iter().map(|(field, value)| (*field, value))
    }

    /// Where a field's value is, or would be.
    fn place(&self, field: FieldId) -> Result<usize, usize> {
        match self.values.last() {
            Some((last, _)) if *last >= field => self.values.binary_search_by_key(&field, |(of, _)| *of),
            _ => Err(self.values.len()),
        }
    }
}

impl Extend<(FieldId, AttributeValue)> for Fields {
    fn extend<T: IntoIterator<Item = (FieldId, AttributeValue)>>(&mut self, values: T) {
        values.into_iter().for_each(|(field, value)| self.insert(field, value));
    }
}

impl FromIterator<(FieldId, AttributeValue)> for Fields {
    fn from_iter<T: IntoIterator<Item = (FieldId, AttributeValue)>>(values: T) -> Self {
        let mut fields = Self::new();
        fields.extend(values);
        fields
    }
}

impl IntoIterator for Fields {
    type Item = (FieldId, AttributeValue);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_field_counts_and_order_is_that_of_the_fields() {
        let added = [(2, "c"), (0, "a"), (2, "d"), (1, "b")];
        let mut fields: Fields = added.into_iter().map(|(field, text)| (FieldId(field), text.into())).collect();
        fields.remove(FieldId(1));
        fields.remove(FieldId(7));
        let all: Vec<_> = fields.iter().map(|(field, value)| (field.0, value.clone())).collect();
        assert_eq!(all, [(0, "a".into()), (2, "d".into())]);
        assert!(fields.contains(FieldId(2)) && fields.get(FieldId(1)).is_none());
    }
}
