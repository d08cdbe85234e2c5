//! `keyform.toml`: one line per setting. Unknown names are rejected with a suggestion.

use std::fs;
use std::io;
use std::path::Path;

use toml::{Table, Value};

use super::{ProcessContext, SETTINGS, Setting};
use crate::failure::Failure;

/// Default file name.
const NAME: &str = "keyform.toml";

/// Returns the settings in the file, each with its text and its location. A missing file has no settings, unless it was
/// named explicitly.
pub(super) fn read(
    named: Option<&str>,
    context: &ProcessContext,
) -> Result<Vec<(&'static Setting, String, String)>, Failure> {
    let name = named.unwrap_or(NAME);
    let place = context.directory.join(name);
    let text = match fs::read_to_string(&place) {
        Ok(text) => text,
        Err(error) if named.is_none() && error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", place.display()))),
    };
    let table: Table =
        text.parse().map_err(|error| Failure::new(format!("{} is not valid TOML: {error}", place.display())))?;
    table.iter().map(|(key, value)| entry(&place, key, value)).collect()
}

fn entry(place: &Path, key: &str, value: &Value) -> Result<(&'static Setting, String, String), Failure> {
    let setting = SETTINGS.iter().find(|setting| setting.name == key).ok_or_else(|| unknown(place, key))?;
    let source = format!("{key} = {value} in {}", place.display());
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Boolean(switch) => switch.to_string(),
        Value::Array(list) if setting.is_list() && list.iter().all(Value::is_str) => {
            list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
        }
        _ => return Err(Failure::new(format!("{source} is not {}", setting.expected))),
    };
    Ok((setting, text, source))
}

fn unknown(place: &Path, key: &str) -> Failure {
    let likeness = |setting: &&Setting| (strsim::jaro_winkler(setting.name, key) * 1000.0) as u64;
    let nearest = SETTINGS.iter().max_by_key(likeness).map_or("", |setting| setting.name);
    Failure::new(format!("{key} in {} is not a setting: did you mean {nearest}?", place.display()))
}
