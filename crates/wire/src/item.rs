//! Single items as DynamoDB JSON, used by import and export files and by checkpoints.

use keyform_core::error::request;
use keyform_core::{Attributes, Error, Item};

use crate::json::{Reader, Writer};
use crate::value;

/// Appends an item as an object of typed values: `{"pk":{"S":"a"}}`.
pub fn write_item(item: &Item, out: &mut Vec<u8>) {
    value::write_item(&mut Writer::new(out), item);
}

/// Appends attributes as an object of typed values.
pub fn write_attributes(attributes: &Attributes, out: &mut Vec<u8>) {
    value::write_attributes(&mut Writer::new(out), attributes);
}

/// Parses an object of typed values.
///
/// # Errors
/// Returns an error if the text is not JSON or contains an invalid attribute value.
pub fn read_attributes(text: &[u8]) -> Result<Attributes, Error> {
    let mut reader = Reader::new(text)?;
    let attributes = value::attributes(&mut reader)?.ok_or_else(request::unexpected_field_type)??;
    reader.end()?;
    Ok(attributes)
}

/// Parses the members `wanted` of an object, such as `{"Item": {…}}`, as objects of typed
/// values. Skips other members.
///
/// # Errors
/// Returns an error if the text is not a JSON object or a wanted member contains an invalid attribute value.
pub fn read_members(text: &[u8], wanted: &[&str]) -> Result<Vec<(String, Attributes)>, Error> {
    let mut reader = Reader::new(text)?;
    let mut found = Vec::new();
    reader.object(|reader, name| {
        if wanted.contains(&name.as_ref()) {
            if let Some(attributes) = value::attributes(reader)? {
                found.push((name.to_string(), attributes?));
            }
            return Ok(());
        }
        reader.skip()
    })?;
    reader.end()?;
    Ok(found)
}
