//! Formats a request as an AWS CLI command, ready to paste into a shell.

use serde_json::Value;

use super::text;

/// Formats the command with one option per line.
///
/// ```
/// use keyform_check::explain::command;
///
/// let request = serde_json::json!({ "TableName": "orders", "ScanIndexForward": false });
/// assert_eq!(
///     command::line("Query", &request),
///     "aws dynamodb query \\\n  --table-name orders \\\n  --no-scan-index-forward"
/// );
/// ```
#[must_use]
pub fn line(operation: &str, request: &Value) -> String {
    let mut words = vec![format!("aws dynamodb {}", hyphenated(operation))];
    for (name, value) in request.as_object().into_iter().flat_map(text::members) {
        words.push(option(&hyphenated(name), value));
    }
    words.join(" \\\n  ")
}

fn option(name: &str, value: &Value) -> String {
    match value {
        Value::Bool(true) => format!("--{name}"),
        Value::Bool(false) => format!("--no-{name}"),
        Value::String(text) => format!("--{name} {}", quoted(text)),
        other => format!("--{name} {}", quoted(&other.to_string())),
    }
}

/// Converts `KeyConditionExpression` to `key-condition-expression`.
fn hyphenated(name: &str) -> String {
    let mut text = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('-');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

/// Quotes a shell word with single quotes, if it contains special characters.
fn quoted(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-_.,/:=@%+".contains(character);
    if !text.is_empty() && text.chars().all(is_plain) && !text.starts_with('-') {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_a_meaning_are_quoted() {
        assert_eq!(quoted("orders-dev"), "orders-dev");
        assert_eq!(quoted("#n0 = :v0"), "'#n0 = :v0'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
