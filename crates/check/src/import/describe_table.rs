//! Finds tables in the output of DescribeTable, single or in a list.

use serde_json::Value;

use super::table::{Encryption, Table, indexes, key, provisioned};

/// Returns the table descriptions: from `{"Table": …}`, a bare description, or a list of either.
pub(super) fn answers(value: &Value) -> Option<Vec<&Value>> {
    if let Some(list) = value.as_array() {
        return list.iter().map(described).collect();
    }
    described(value).map(|table| vec![table])
}

fn described(value: &Value) -> Option<&Value> {
    let table = value.get("Table").unwrap_or(value);
    table.get("KeySchema").map(|_| table)
}

pub(super) fn table(value: &Value) -> Option<Table> {
    let name = value.get("TableName")?.as_str()?;
    let text = |path: &[&str]| path.iter().try_fold(value, |at, part| at.get(part)).and_then(Value::as_str);
    let on_demand =
        text(&["BillingModeSummary", "BillingMode"]).or_else(|| text(&["BillingMode"])) == Some("PAY_PER_REQUEST");
    Some(Table {
        name: name.to_owned(),
        physical: Some(name.to_owned()),
        key: key(value),
        indexes: indexes(value),
        stream: text(&["StreamSpecification", "StreamViewType"]).map(str::to_owned),
        kms: text(&["SSEDescription", "SSEType"]).filter(|kind| *kind == "KMS").map(|_| {
            text(&["SSEDescription", "KMSMasterKeyArn"])
                .map_or(Encryption::Managed, |key| Encryption::Key(key.to_owned()))
        }),
        provisioned: provisioned(value).filter(|_| !on_demand),
        infrequent: text(&["TableClassSummary", "TableClass"]) == Some("STANDARD_INFREQUENT_ACCESS"),
        protected: value.get("DeletionProtectionEnabled").and_then(Value::as_bool) == Some(true),
        ..Table::default()
    })
}
