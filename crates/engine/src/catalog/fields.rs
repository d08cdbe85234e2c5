//! Encoding of the engine's own records: named attributes in the encoding of items. Records are self-describing, so
//! that a newer program can read what an older one wrote.

use bytes::Bytes;
use keyform_core::error::table::{catalog_is_corrupt, catalog_is_newer};
use keyform_core::{AttributeValue, Attributes, Error, Item};

/// Builder of a record.
#[derive(Debug, Default)]
pub struct Record(Attributes);

impl Record {
    pub fn set(mut self, name: &str, value: impl Into<AttributeValue>) -> Self {
        self.0.insert(name.to_owned(), value.into());
        self
    }

    pub fn number(self, name: &str, number: impl Into<u64>) -> Self {
        self.set(name, signed(number.into()))
    }

    pub fn bytes(self, name: &str, bytes: &[u8]) -> Self {
        self.set(name, AttributeValue::B(bytes.to_vec()))
    }

    pub fn list(self, name: &str, values: impl IntoIterator<Item = AttributeValue>) -> Self {
        self.set(name, AttributeValue::L(values.into_iter().collect()))
    }

    pub fn texts<'a>(self, name: &str, texts: impl IntoIterator<Item = &'a String>) -> Self {
        self.list(name, texts.into_iter().map(|text| text.clone().into()))
    }

    /// Calls `set` with the value if there is one.
    pub fn maybe<T>(self, value: Option<T>, set: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            Some(value) => set(self, value),
            None => self,
        }
    }

    pub fn maybe_number(self, name: &str, number: Option<u64>) -> Self {
        self.maybe(number, |record, number| record.number(name, number))
    }

    pub fn into_value(self) -> AttributeValue {
        AttributeValue::M(self.0)
    }

    pub fn into_bytes(self) -> Bytes {
        Item::from(&self.0).as_bytes().clone()
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Fields of a decoded catalog record, by name.
#[derive(Debug)]
pub struct Fields(Attributes);

impl Fields {
    pub fn decode(bytes: Bytes) -> Result<Self, Error> {
        let item = Item::decode(bytes).map_err(|error| catalog_is_corrupt(&error.to_string()))?;
        Ok(Self(item.to_attributes()))
    }

    pub fn of_value(value: &AttributeValue) -> Result<Self, Error> {
        match value {
            AttributeValue::M(attributes) => Ok(Self(attributes.clone())),
            _ => Err(catalog_is_corrupt("a record within a record is no record")),
        }
    }

    /// Rejects a record that a newer program wrote.
    pub fn check_version(&self, newest: u64) -> Result<(), Error> {
        match self.number::<u64>("version")? {
            version if version > newest => Err(catalog_is_newer()),
            _ => Ok(()),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn text(&self, name: &str) -> Result<&str, Error> {
        match self.0.get(name) {
            Some(AttributeValue::S(text)) => Ok(text),
            _ => Err(wrong(name)),
        }
    }

    pub fn maybe_text(&self, name: &str) -> Result<Option<&str>, Error> {
        if self.has(name) { self.text(name).map(Some) } else { Ok(None) }
    }

    pub fn signed(&self, name: &str) -> Result<i64, Error> {
        match self.0.get(name) {
            Some(AttributeValue::N(number)) => number.to_i64().ok_or_else(|| wrong(name)),
            _ => Err(wrong(name)),
        }
    }

    pub fn maybe_signed(&self, name: &str) -> Result<Option<i64>, Error> {
        if self.has(name) { self.signed(name).map(Some) } else { Ok(None) }
    }

    pub fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<T, Error> {
        T::try_from(self.signed(name)?).map_err(|_| wrong(name))
    }

    pub fn maybe_number(&self, name: &str) -> Result<Option<u64>, Error> {
        if self.has(name) { self.number(name).map(Some) } else { Ok(None) }
    }

    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.0.get(name) {
            Some(AttributeValue::Bool(flag)) => Ok(*flag),
            _ => Err(wrong(name)),
        }
    }

    pub fn word(&self, name: &str) -> Result<u64, Error> {
        match self.0.get(name) {
            Some(AttributeValue::B(bytes)) => {
                bytes.as_slice().try_into().map(u64::from_be_bytes).map_err(|_| wrong(name))
            }
            _ => Err(wrong(name)),
        }
    }

    pub fn list(&self, name: &str) -> Result<&[AttributeValue], Error> {
        match self.0.get(name) {
            Some(AttributeValue::L(values)) => Ok(values),
            _ => Err(wrong(name)),
        }
    }

    pub fn texts(&self, name: &str) -> Result<Vec<String>, Error> {
        let text = |value: &AttributeValue| match value {
            AttributeValue::S(text) => Ok(text.clone()),
            _ => Err(wrong(name)),
        };
        self.list(name)?.iter().map(text).collect()
    }

    pub fn records(&self, name: &str) -> Result<Vec<Self>, Error> {
        self.list(name)?.iter().map(Self::of_value).collect()
    }

    pub fn record(&self, name: &str) -> Result<Self, Error> {
        self.0.get(name).map_or_else(|| Err(wrong(name)), Self::of_value)
    }

    pub fn maybe_record(&self, name: &str) -> Result<Option<Self>, Error> {
        self.0.get(name).map(Self::of_value).transpose()
    }

    pub fn entries(&self) -> impl Iterator<Item = (&String, &AttributeValue)> {
        self.0.iter()
    }
}

pub fn wrong(name: &str) -> Error {
    catalog_is_corrupt(&format!("{name} is missing or of another kind"))
}
