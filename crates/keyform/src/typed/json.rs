//! Type of `json` fields: any JSON value.

use keyform_core::AttributeValue;
use keyform_language::schema::Type;
use keyform_runtime::run::json;
use serde_json::Value;

use super::{FromAttribute, ToAttribute};

impl ToAttribute for Value {
    fn to_attribute(&self) -> Option<AttributeValue> {
        // Only a number beyond the service's range cannot be converted; the call then lacks the argument.
        json::from_json(self, &Type::Json)
    }
}

impl FromAttribute for Value {
    fn from_attribute(value: AttributeValue) -> Option<Self> {
        Some(json::to_json(&value))
    }
}
