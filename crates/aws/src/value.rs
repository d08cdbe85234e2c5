//! Converts values between our types and the SDK's. Numbers are transferred as strings, which preserves all 38 digits.

use std::collections::HashMap;
use std::hash::BuildHasher;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue as SdkValue;
use keyform_core::error::remote;
use keyform_core::{AttributeValue, Attributes, Error, Item, Number};

/// Attributes in the SDK's types.
pub type SdkAttributes = HashMap<String, SdkValue>;

/// Converts a value to the SDK's type.
pub fn to_sdk(value: &AttributeValue) -> SdkValue {
    match value {
        AttributeValue::S(text) => SdkValue::S(text.clone()),
        AttributeValue::N(number) => SdkValue::N(number.to_string()),
        AttributeValue::B(bytes) => SdkValue::B(Blob::new(bytes.as_slice())),
        AttributeValue::Bool(value) => SdkValue::Bool(*value),
        AttributeValue::Null => SdkValue::Null(true),
        AttributeValue::M(attributes) => SdkValue::M(attributes_to_sdk(attributes)),
        AttributeValue::L(values) => SdkValue::L(values.iter().map(to_sdk).collect()),
        AttributeValue::Ss(texts) => SdkValue::Ss(texts.iter().cloned().collect()),
        AttributeValue::Ns(numbers) => SdkValue::Ns(numbers.iter().map(Number::to_string).collect()),
        AttributeValue::Bs(binaries) => {
            SdkValue::Bs(binaries.iter().map(|bytes| Blob::new(bytes.as_slice())).collect())
        }
    }
}

/// Converts attributes to the SDK's types.
pub fn attributes_to_sdk(attributes: &Attributes) -> SdkAttributes {
    attributes.iter().map(|(name, value)| (name.clone(), to_sdk(value))).collect()
}

/// Converts a value from the SDK's type.
///
/// # Errors
/// Returns an error if the value contains an invalid number, or a type that this version does not know.
pub fn from_sdk(value: &SdkValue) -> Result<AttributeValue, Error> {
    Ok(match value {
        SdkValue::S(text) => AttributeValue::S(text.clone()),
        SdkValue::N(text) => AttributeValue::N(number(text)?),
        SdkValue::B(blob) => AttributeValue::B(blob.as_ref().to_vec()),
        SdkValue::Bool(value) => AttributeValue::Bool(*value),
        SdkValue::Null(_) => AttributeValue::Null,
        SdkValue::M(attributes) => AttributeValue::M(attributes_from_sdk(attributes)?),
        SdkValue::L(values) => AttributeValue::L(values.iter().map(from_sdk).collect::<Result<_, _>>()?),
        SdkValue::Ss(texts) => AttributeValue::Ss(texts.iter().cloned().collect()),
        SdkValue::Ns(texts) => AttributeValue::Ns(texts.iter().map(|text| number(text)).collect::<Result<_, _>>()?),
        SdkValue::Bs(blobs) => AttributeValue::Bs(blobs.iter().map(|blob| blob.as_ref().to_vec()).collect()),
        _ => return Err(remote::malformed("a value of a type that is not known")),
    })
}

/// Converts attributes from the SDK's types.
///
/// # Errors
/// Same as [`from_sdk`].
pub fn attributes_from_sdk<S: BuildHasher>(attributes: &HashMap<String, SdkValue, S>) -> Result<Attributes, Error> {
    attributes.iter().map(|(name, value)| Ok((name.clone(), from_sdk(value)?))).collect()
}

/// Converts an item from the SDK's types.
pub(crate) fn item(attributes: &SdkAttributes) -> Result<Item, Error> {
    Ok(Item::from(&attributes_from_sdk(attributes)?))
}

pub(crate) fn optional_item(attributes: Option<&SdkAttributes>) -> Result<Option<Item>, Error> {
    attributes.map(item).transpose()
}

pub(crate) fn items(all: &[SdkAttributes]) -> Result<Vec<Item>, Error> {
    all.iter().map(item).collect()
}

fn number(text: &str) -> Result<Number, Error> {
    text.parse().map_err(|_| remote::malformed(&format!("`{text}` as a number")))
}
