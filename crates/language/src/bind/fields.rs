//! Known values of an item's fields.
//!
//! A vector indexed by field, not a map: an item has few fields, and most of them have values.

use keyform_core::AttributeValue;

use crate::schema::FieldId;

/// Values indexed by field.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    values: Vec<Option<AttributeValue>>,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Creates an empty set with room for `count` fields.
    pub(super) fn of(count: usize) -> Self {
        Self { values: std::iter::repeat_with(|| None).take(count).collect() }
    }

    pub(super) fn get(&self, field: FieldId) -> Option<&AttributeValue> {
        self.values.get(field.0)?.as_ref()
    }

    pub(super) fn contains(&self, field: FieldId) -> bool {
        self.get(field).is_some()
    }

    pub(super) fn insert(&mut self, field: FieldId, value: AttributeValue) {
        if self.values.len() <= field.0 {
            self.values.resize(field.0 + 1, None);
        }
        self.values[field.0] = Some(value);
    }

    /// Returns the value of a field for modification or to move it out.
    pub(super) fn get_mut(&mut self, field: FieldId) -> Option<&mut AttributeValue> {
        self.values.get_mut(field.0)?.as_mut()
    }

    /// Overwrites fields with the values that `others` has.
    pub(super) fn overlay(&mut self, others: Self) {
        let values = others.values.into_iter().enumerate();
        values.for_each(|(number, value)| value.into_iter().for_each(|value| self.insert(FieldId(number), value)));
    }

    pub(super) fn remove(&mut self, field: FieldId) {
        if let Some(place) = self.values.get_mut(field.0) {
            *place = None;
        }
    }

    /// Iterates over the fields that have a value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (FieldId, &AttributeValue)> {
        self.values.iter().enumerate().filter_map(|(number, value)| Some((FieldId(number), value.as_ref()?)))
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
