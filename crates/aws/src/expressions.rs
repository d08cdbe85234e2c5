//! Formats the expressions of one request, with their placeholders.

use std::collections::HashMap;

use keyform_core::expression::{Condition, KeyCondition, Printer, Projection, Update};

use crate::value::{SdkAttributes, to_sdk};

/// Formatter for the expressions of one request. Call `names` and `values` last.
#[derive(Default)]
pub(crate) struct Expressions(Printer);

impl Expressions {
    pub(crate) fn condition(&mut self, condition: Option<&Condition>) -> Option<String> {
        condition.map(|condition| self.0.condition(condition))
    }

    pub(crate) fn key_condition(&mut self, condition: &KeyCondition) -> String {
        self.0.key_condition(condition)
    }

    pub(crate) fn projection(&mut self, projection: Option<&Projection>) -> Option<String> {
        projection.map(|projection| self.0.projection(projection))
    }

    /// Formats an update; `None` if it changes nothing.
    pub(crate) fn update(&mut self, update: Option<&Update>) -> Option<String> {
        update.map(|update| self.0.update(update)).filter(|text| !text.is_empty())
    }

    /// Returns the `#` placeholders; `None` if empty, because the service rejects an empty map.
    pub(crate) fn names(&self) -> Option<HashMap<String, String>> {
        let names = self.0.names();
        (!names.is_empty()).then(|| names.clone().into_iter().collect())
    }

    /// Returns the `:` placeholders; `None` if empty, because the service rejects an empty map.
    pub(crate) fn values(&self) -> Option<SdkAttributes> {
        let values = self.0.values();
        (!values.is_empty()).then(|| values.iter().map(|(name, value)| (name.clone(), to_sdk(value))).collect())
    }
}
