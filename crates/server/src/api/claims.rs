//! Claims of a verified token in the types of the model's `caller`.

use keyform_core::AttributeValue;
use keyform_language::schema::{Caller, Field, Type};
use keyform_runtime::run::json;
use serde_json::{Map, Value};

/// Returns a claim from where the token carries it: `None` if it is absent, `Some(None)` if it does not have its type.
pub(super) fn of_token(caller: &Caller, field: &Field, claims: &Map<String, Value>) -> Option<Option<AttributeValue>> {
    let source = caller.source(&field.name);
    let given = source.map_or_else(|| claims.get(&field.name), |source| source.find(claims));
    let given = given.filter(|value| !value.is_null())?;
    let parts = match (field.kind.resolved(), given) {
        (Type::Set(..) | Type::List(..), Value::String(text)) if source.is_some_and(|source| source.split) => {
            text.split_ascii_whitespace().map(Value::from).collect()
        }
        (Type::Set(..) | Type::List(..), Value::Array(parts)) => parts.clone(),
        // Providers send a claim with a single value without the array.
        (Type::Set(..), single) => vec![single.clone()],
        (_, other) => return Some(json::from_json(other, &field.kind)),
    };
    // The store has no empty sets, so an empty list is the same as none.
    (!parts.is_empty()).then(|| json::from_json(&Value::Array(parts), &field.kind))
}

#[cfg(test)]
mod tests {
    use keyform_check::Checked;
    use serde_json::json;

    use super::*;

    fn read(claim: &str, claims: &Value) -> Option<Option<AttributeValue>> {
        let checked = Checked::read(&format!("model m\ncaller {claim}\ntable T {{ key a }}"));
        let caller = checked.model.caller.as_ref().expect("a caller");
        of_token(caller, &caller.fields[0], claims.as_object().expect("an object"))
    }

    fn set(parts: &[&str]) -> Option<Option<AttributeValue>> {
        Some(Some(AttributeValue::Ss(parts.iter().map(|part| (*part).to_owned()).collect())))
    }

    #[test]
    fn claims_are_read_from_their_place_in_their_type() {
        let text = |text: &str| Some(Some(AttributeValue::S(text.to_owned())));
        let roles = json!({"realm_access": {"roles": ["a", "b"]}});
        for (claim, claims, expected) in [
            ("userId: string", json!({"userId": "ada", "sub": "eve"}), text("ada")),
            (r#"userId: string from "sub""#, json!({"userId": "ada", "sub": "eve"}), text("eve")),
            (r#"userId: string from "sub""#, json!({"userId": "ada"}), None),
            (r#"userId: string from "sub""#, json!({"sub": null}), None),
            (r#"userId: string from "sub""#, json!({"sub": ["eve"]}), Some(None)),
            (r#"roles: set<string> from "realm_access.roles""#, roles, set(&["a", "b"])),
            (r#"groups: set<string> from "cognito:groups""#, json!({"cognito:groups": "a"}), set(&["a"])),
            (r#"groups: set<string> from "cognito:groups""#, json!({"cognito:groups": []}), None),
            (r#"groups: set<string> from "cognito:groups""#, json!({"cognito:groups": [1, {}]}), Some(None)),
            (r#"scopes: set<string> from "scope""#, json!({"scope": "a b"}), set(&["a b"])),
            (r#"scopes: set<string> from "scope" split"#, json!({"scope": "a b"}), set(&["a", "b"])),
            (r#"scopes: set<string> from "scope" split"#, json!({"scope": ["a", "b"]}), set(&["a", "b"])),
            (r#"scopes: set<string> from "scope" split"#, json!({"scope": ""}), None),
        ] {
            assert_eq!(read(claim, &claims), expected, "{claim} {claims}");
        }
    }
}
