//! Finds tables in CloudFormation and SAM templates.

use serde_json::Value;

use super::table::{Attribute, Encryption, Table, indexes, key, provisioned};

/// Returns the tables among the resources.
pub(super) fn tables(template: &Value) -> Vec<Table> {
    let resources = template.get("Resources").and_then(Value::as_object).into_iter().flatten();
    resources.filter_map(|(name, resource)| table(name, resource)).collect()
}

fn table(name: &str, resource: &Value) -> Option<Table> {
    let none = Value::Null;
    let properties = resource.get("Properties").unwrap_or(&none);
    match resource.get("Type")?.as_str()? {
        "AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable" => Some(full(name, properties)),
        "AWS::Serverless::SimpleTable" => Some(simple(name, properties)),
        _ => None,
    }
}

fn simple(name: &str, properties: &Value) -> Table {
    let text = |part: &str| properties.get("PrimaryKey").and_then(|key| key.get(part)).and_then(Value::as_str);
    let kind = match text("Type") {
        Some("Number") => "N",
        Some("Binary") => "B",
        _ => "S",
    };
    let attribute = Attribute { name: text("Name").unwrap_or("id").to_owned(), kind: kind.to_owned() };
    Table {
        name: name.to_owned(),
        physical: properties.get("TableName").and_then(written),
        key: vec![attribute],
        provisioned: provisioned(properties),
        ..Table::default()
    }
}

fn full(name: &str, properties: &Value) -> Table {
    let at = |path: &[&str]| path.iter().try_fold(properties, |at, part| at.get(part));
    let is_true =
        |path: &[&str]| at(path).is_some_and(|value| value.as_bool() == Some(true) || value.as_str() == Some("true"));
    let on_demand = at(&["BillingMode"]).and_then(Value::as_str) == Some("PAY_PER_REQUEST");
    Table {
        name: name.to_owned(),
        physical: at(&["TableName"]).and_then(written),
        key: key(properties),
        indexes: indexes(properties),
        ttl: at(&["TimeToLiveSpecification", "AttributeName"]).and_then(Value::as_str).map(str::to_owned),
        stream: at(&["StreamSpecification", "StreamViewType"]).and_then(Value::as_str).map(str::to_owned),
        kms: is_true(&["SSESpecification", "SSEEnabled"]).then(|| {
            at(&["SSESpecification", "KMSMasterKeyId"]).and_then(written).map_or(Encryption::Managed, Encryption::Key)
        }),
        provisioned: provisioned(properties).filter(|_| !on_demand),
        infrequent: at(&["TableClass"]).and_then(Value::as_str) == Some("STANDARD_INFREQUENT_ACCESS"),
        recovery: is_true(&["PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"]),
        protected: is_true(&["DeletionProtectionEnabled"]),
        entities: Vec::new(),
    }
}

/// Evaluates a string that may use `Ref`, `Fn::Sub` or `Fn::Join`, with `{variables}`.
fn written(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    if let Some(name) = value.get("Ref").and_then(Value::as_str) {
        return Some(format!("{{{}}}", variable(name)));
    }
    match value.get("Fn::Sub") {
        Some(Value::String(text)) => return Some(substituted(text)),
        Some(Value::Array(parts)) => return parts.first().and_then(Value::as_str).map(substituted),
        _ => {}
    }
    let join = value.get("Fn::Join")?.as_array()?;
    let parts: Option<Vec<String>> = join.get(1)?.as_array()?.iter().map(written).collect();
    Some(parts?.join(join.first()?.as_str()?))
}

/// Converts `orders-${Stage}` to `orders-{stage}`.
fn substituted(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, behind) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&format!("{{{}}}", variable(name)));
        rest = behind;
    }
    out + rest
}

/// Converts `AWS::StackName` to `stackName`.
fn variable(name: &str) -> String {
    let last = name.rsplit("::").next().unwrap_or(name);
    let word: String = last.chars().filter(char::is_ascii_alphanumeric).collect();
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_lowercase().to_string() + letters.as_str())
}
