//! A model that asks to be accepted.

use std::collections::BTreeMap;

use keyform_check::Checked;
use keyform_language::document::ast::Document;
use keyform_language::document::json;
use keyform_language::schema::{Model, resolve};
use sha2::{Digest as _, Sha256};

/// A model that asks to be accepted by a store.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Id of the record: the model's name and the variables in its table names.
    pub id: String,
    /// Name of the model, for messages.
    pub model: String,
    /// SHA-256 of `json`, in hexadecimal.
    pub hash: String,
    /// JSON form of the model without comments.
    pub json: String,
    /// Syntax tree that `json` was made from.
    pub document: Document,
    /// Values of the variables in table names.
    pub variables: BTreeMap<String, String>,
}

impl Candidate {
    /// Makes a candidate of a model. `variables` are the values of the variables in table names.
    #[must_use]
    pub fn of(checked: &Checked, variables: &BTreeMap<String, String>) -> Self {
        // The tables of `checked` may already have their names in the store; the id needs the variables in them.
        let (model, _) = resolve(&checked.document);
        let json = json::to_bare_json(&checked.document).to_string();
        Self {
            id: id(&model, variables),
            model: model.name,
            hash: hex::encode(Sha256::digest(&json)),
            json,
            document: checked.document.clone(),
            variables: variables.clone(),
        }
    }
}

/// Returns the id of a model's record: its name, and the values of the variables in its table names. The same model
/// with `stage=dev` and with `stage=prod` has two sets of tables, and two records.
fn id(model: &Model, variables: &BTreeMap<String, String>) -> String {
    let is_used = |name: &str| model.tables.iter().any(|table| table.physical.contains(&format!("{{{name}}}")));
    let used = variables.iter().filter(|(name, _)| is_used(name)).map(|(name, value)| format!("{name}={value}"));
    // A model without a name is known by its tables.
    let name = if model.name.is_empty() {
        model.tables.iter().map(|table| table.physical.as_str()).collect::<Vec<_>>().join(",")
    } else {
        model.name.clone()
    };
    [format!("model {name}")].into_iter().chain(used).collect::<Vec<_>>().join(" ")
}
