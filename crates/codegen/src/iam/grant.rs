//! Grants, and the policy statements that they are combined into.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// One action on one resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grant {
    /// Name of the action, such as `dynamodb:GetItem`.
    pub(super) action: &'static str,
    /// ARN of a table, an index or a stream.
    pub(super) resource: String,
    pub(super) limits: Limits,
}

/// Conditions of a grant.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Limits {
    /// IAM pattern of the partition key's value.
    pub(super) leading: Option<String>,
    /// Attributes that may be named or returned.
    pub(super) attributes: Vec<String>,
    /// Value of `Select`: `COUNT` or `SPECIFIC_ATTRIBUTES`.
    pub(super) select: Option<&'static str>,
}

/// Combines grants into statements: those with the same conditions and resource share one.
pub(super) fn statements(grants: Vec<Grant>) -> Vec<Map<String, Value>> {
    let mut together: BTreeMap<(String, Limits), BTreeSet<&'static str>> = BTreeMap::new();
    for grant in grants {
        together.entry((grant.resource, grant.limits)).or_default().insert(grant.action);
    }
    // Partition keys with the same actions share one list.
    let mut listed: BTreeMap<(String, Limits, BTreeSet<&'static str>), Vec<String>> = BTreeMap::new();
    for ((resource, mut limits), actions) in together {
        let leading = limits.leading.take();
        let is_limited = leading.is_some();
        let marker = Limits { leading: is_limited.then(String::new), ..limits };
        listed.entry((resource, marker, actions)).or_default().extend(leading);
    }
    listed
        .into_iter()
        .map(|((resource, limits, actions), leading)| statement(resource, &limits, &actions, leading))
        .collect()
}

fn statement(
    resource: String,
    limits: &Limits,
    actions: &BTreeSet<&'static str>,
    leading: Vec<String>,
) -> Map<String, Value> {
    let mut conditions: Map<String, Value> = Map::new();
    if !leading.is_empty() {
        conditions.insert("ForAllValues:StringLike".to_owned(), json!({ "dynamodb:LeadingKeys": leading }));
    }
    if !limits.attributes.is_empty() {
        let names = json!({ "dynamodb:Attributes": limits.attributes });
        conditions.insert("ForAllValues:StringEquals".to_owned(), names);
    }
    if let Some(select) = limits.select {
        let operator = if select == "COUNT" { "StringEquals" } else { "StringEqualsIfExists" };
        conditions.insert(operator.to_owned(), json!({ "dynamodb:Select": select }));
    }
    let mut statement = Map::new();
    statement.insert("Effect".to_owned(), "Allow".into());
    statement.insert("Action".to_owned(), json!(actions));
    statement.insert("Resource".to_owned(), resource.into());
    if !conditions.is_empty() {
        statement.insert("Condition".to_owned(), Value::Object(conditions));
    }
    statement
}
