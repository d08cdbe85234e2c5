//! The values of an item's fields, as far as they are known.
//!
//! Each has the place of its field's number: an item has few fields, and most of them have values.

use keyform_core::AttributeValue;

use crate::schema::FieldId;

/// Values by field, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    values: Vec<Option<AttributeValue>>,
}

impl Fields {
    /// No values.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// No values yet of so many fields.
    pub(super) fn of(count: usize) -> Self {
        Self { values: std::iter::repeat_with(|| None).take(count).collect() }
    }

    /// The value of a field.
    pub(super) fn get(&self, field: FieldId) -> Option<&AttributeValue> {
        self.values.get(field.0)?.as_ref()
    }

    /// Whether a field has a value.
    pub(super) fn contains(&self, field: FieldId) -> bool {
        self.get(field).is_some()
    }

    /// Gives a field a value.
    pub(super) fn insert(&mut self, field: FieldId, value: AttributeValue) {
        if self.values.len() <= field.0 {
            self.values.resize(field.0 + 1, None);
        }
        self.values[field.0] = Some(value);
    }

    /// The value of a field, to be changed or moved.
    pub(super) fn get_mut(&mut self, field: FieldId) -> Option<&mut AttributeValue> {
        self.values.get_mut(field.0)?.as_mut()
    }

    /// Takes over the values of others.
    pub(super) fn overlay(&mut self, others: Self) {
        let values = others.values.into_iter().enumerate();
        values.for_each(|(number, value)| value.into_iter().for_each(|value| self.insert(FieldId(number), value)));
    }

    /// Takes a field's value away.
    pub(super) fn remove(&mut self, field: FieldId) {
        if let Some(place) = self.values.get_mut(field.0) {
            *place = None;
        }
    }

    /// All values.
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
