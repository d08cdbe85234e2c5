//! Checks of configurations that are stored as a whole.

use keyform::flow::FlowError;
use serde_json::{Map, Value};

/// Fields of a configuration.
pub(crate) struct Config<'a> {
    what: &'static str,
    fields: &'a Map<String, Value>,
}

impl<'a> Config<'a> {
    /// Wraps a configuration, which must be an object.
    pub(crate) fn of(what: &'static str, value: &'a Value) -> Result<Self, FlowError> {
        match value {
            Value::Object(fields) => Ok(Self { what, fields }),
            _ => Err(FlowError::Arguments(format!("{what} must be an object"))),
        }
    }

    /// Returns a required, non-empty string.
    pub(crate) fn text(&self, name: &str) -> Result<&'a str, FlowError> {
        match self.fields.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
            _ => Err(FlowError::Arguments(format!("{} needs `{name}`, a string", self.what))),
        }
    }

    /// Returns a required port.
    pub(crate) fn port(&self, name: &str) -> Result<u16, FlowError> {
        let port = self.fields.get(name).and_then(Value::as_u64).and_then(|port| u16::try_from(port).ok());
        port.filter(|port| *port > 0)
            .ok_or_else(|| FlowError::Arguments(format!("{} needs `{name}`, from 1 to 65535", self.what)))
    }

    /// Returns a required boolean.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, FlowError> {
        let flag = self.fields.get(name).and_then(Value::as_bool);
        flag.ok_or_else(|| FlowError::Arguments(format!("{} needs `{name}`, true or false", self.what)))
    }
}

/// Requires an HTTPS URL with a host.
pub(crate) fn https_url(name: &str, text: &str) -> Result<(), FlowError> {
    match has_host(text, "https://") {
        true => Ok(()),
        false => Err(FlowError::Arguments(format!("`{name}` must begin with https:// and name a host"))),
    }
}

/// Returns whether the text begins with the scheme and a host.
pub(crate) fn has_host(text: &str, scheme: &str) -> bool {
    let host = text.strip_prefix(scheme).and_then(|rest| rest.split(['/', '?', '#']).next());
    host.is_some_and(|host| !host.is_empty() && !host.contains([' ', '@', '\\', '\n']))
}
