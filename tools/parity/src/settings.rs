//! Repairs tags and time to live after a server accepted what another rejected.

use serde_json::{Value, json};

use crate::names;
use crate::request::Request;
use crate::target::Target;

/// Copies our settings of the table of a request to every peer.
pub fn bring_together(subject: &mut Target, references: &mut [Target], request: &Request) {
    match request.operation.as_str() {
        "TagResource" | "UntagResource" => share_tags(subject, references, &request.body["ResourceArn"]),
        "UpdateTimeToLive" => share_expiry(subject, references, &request.body["TableName"]),
        _ => {}
    }
}

fn tags(target: &mut Target, resource: &Value) -> (Value, Vec<Value>) {
    let arn = names::resolved(target, resource);
    let answer = target.raw("DynamoDB_20120810.ListTagsOfResource", &json!({"ResourceArn": arn}));
    (arn, answer["Tags"].as_array().cloned().unwrap_or_default())
}

fn share_tags(subject: &mut Target, references: &mut [Target], resource: &Value) {
    let (_, ours) = tags(subject, resource);
    for reference in references {
        let (arn, theirs) = tags(reference, resource);
        let keys: Vec<&Value> = theirs.iter().map(|tag| &tag["Key"]).collect();
        reference.simple("UntagResource", &json!({"ResourceArn": arn, "TagKeys": keys}));
        if !ours.is_empty() {
            reference.simple("TagResource", &json!({"ResourceArn": arn, "Tags": ours}));
        }
    }
}

/// Returns the TTL attribute, if time to live is enabled.
fn expiry(target: &mut Target, table: &Value) -> Option<String> {
    let answer = target.raw("DynamoDB_20120810.DescribeTimeToLive", &json!({"TableName": table}));
    answer["TimeToLiveDescription"]["AttributeName"].as_str().map(str::to_owned)
}

fn share_expiry(subject: &mut Target, references: &mut [Target], table: &Value) {
    let ours = expiry(subject, table);
    for reference in references {
        let theirs = expiry(reference, table);
        if theirs == ours {
            continue;
        }
        for (attribute, enabled) in [(theirs, false), (ours.clone(), true)] {
            if let Some(attribute) = attribute {
                let setting = json!({"AttributeName": attribute, "Enabled": enabled});
                let body = json!({"TableName": table, "TimeToLiveSpecification": setting});
                reference.simple("UpdateTimeToLive", &body);
            }
        }
    }
}
