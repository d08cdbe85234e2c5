//! Converts AttributesToGet: a list of top-level attribute names, in which a dot has no special meaning.

use std::collections::HashSet;

use keyform_core::Error;
use keyform_core::error::request;
use keyform_core::expression::{Path, Projection};
use keyform_core::value::name;

/// Returns the projection of the attributes; rejects duplicates.
pub(crate) fn projection(attributes: Option<Vec<String>>) -> Result<Option<Projection>, Error> {
    let Some(attributes) = attributes else { return Ok(None) };
    attributes.iter().try_for_each(|attribute| name::check(attribute))?;
    let mut known = HashSet::new();
    if let Some(name) = attributes.iter().find(|name| !known.insert(name.as_str())) {
        return Err(request::duplicate_attribute_name(name));
    }
    Ok(Some(Projection { paths: attributes.into_iter().map(Path::attribute).collect() }))
}
