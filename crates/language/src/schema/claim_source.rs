//! Where a token carries a claim: `from "realm_access.roles"`.
//!
//! The text is the name of a claim at the top of the token, or a path of names separated by dots. A name in single
//! quotes may contain dots: `'https://example.com/app'.roles`; a doubled quote stands for one. If the token has a claim
//! whose name is the whole text, that claim is meant, so a name such as `https://example.com/tenant` needs no quotes.

use serde_json::{Map, Value};

/// Place of a claim in a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSource {
    /// Text as the author wrote it.
    pub text: String,
    /// Names from the top of the token to the claim.
    path: Vec<String>,
    /// `split`: a string is a list of words separated by spaces, as `scope` of OAuth.
    pub split: bool,
}

impl ClaimSource {
    /// Parses the text after `from`.
    ///
    /// # Errors
    /// The reason why the text names no claim.
    pub fn parse(text: &str, split: bool) -> Result<Self, &'static str> {
        Ok(Self { text: text.to_owned(), path: path(text)?, split })
    }

    /// Returns the claim, if the token has it.
    #[must_use]
    pub fn find<'v>(&self, claims: &'v Map<String, Value>) -> Option<&'v Value> {
        claims.get(&self.text).or_else(|| {
            let (first, rest) = self.path.split_first()?;
            rest.iter().try_fold(claims.get(first)?, |value, name| value.as_object()?.get(name))
        })
    }

    /// Adds the claim to a token, so that [`Self::find`] returns it.
    pub fn put(&self, claims: &mut Map<String, Value>, value: Value) {
        let Some((last, above)) = self.path.split_last() else { return };
        let mut place = claims;
        for name in above {
            let inner = place.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { return };
            place = inner;
        }
        place.insert(last.clone(), value);
    }
}

fn path(text: &str) -> Result<Vec<String>, &'static str> {
    let mut names = Vec::new();
    let mut rest = text;
    loop {
        let (name, after) = if rest.starts_with('\'') { quoted(rest)? } else { plain(rest) };
        if name.is_empty() {
            return Err("the name of a claim is empty");
        }
        names.push(name);
        rest = match after.strip_prefix('.') {
            Some(next) => next,
            None if after.is_empty() => return Ok(names),
            None => return Err("a quoted name ends at a dot or at the end"),
        };
    }
}

fn plain(text: &str) -> (String, &str) {
    let (name, after) = text.split_at(text.find('.').unwrap_or(text.len()));
    (name.to_owned(), after)
}

/// Parses a name in single quotes, and returns the text after it.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut name = String::new();
    let mut rest = &text[1..];
    loop {
        let (part, after) = rest.split_once('\'').ok_or("a quoted name has no end")?;
        name.push_str(part);
        match after.strip_prefix('\'') {
            Some(next) => {
                name.push('\'');
                rest = next;
            }
            None => return Ok((name, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(text: &str, claims: &Value) -> Option<Value> {
        let source = ClaimSource::parse(text, false).expect("a path");
        source.find(claims.as_object().expect("an object")).cloned()
    }

    #[test]
    fn claims_are_found_by_name_and_by_path() {
        let claims = json!({
            "sub": "ada",
            "cognito:groups": ["a"],
            "realm_access": {"roles": ["b"], "a.b": 1, "it's": 2},
            "https://example.com/tenant": "t",
            "https://example.com/app": {"roles": ["c"]},
            "x.y": "exact",
            "x": {"y": "path"},
        });
        for (text, expected) in [
            ("sub", Some(json!("ada"))),
            ("cognito:groups", Some(json!(["a"]))),
            ("realm_access.roles", Some(json!(["b"]))),
            ("realm_access.'a.b'", Some(json!(1))),
            ("realm_access.'it''s'", Some(json!(2))),
            ("https://example.com/tenant", Some(json!("t"))),
            ("'https://example.com/app'.roles", Some(json!(["c"]))),
            ("https://example.com/app.roles", None),
            ("x.y", Some(json!("exact"))),
            ("'x'.y", Some(json!("path"))),
            ("sub.name", None),
            ("realm_access.roles.0", None),
            ("nothing", None),
        ] {
            assert_eq!(found(text, &claims), expected, "{text}");
        }
    }

    #[test]
    fn malformed_paths_are_refused() {
        for text in ["", ".", "a.", ".a", "a..b", "'a", "'a'b", "''", "a.'b"] {
            assert!(ClaimSource::parse(text, false).is_err(), "{text}");
        }
    }

    #[test]
    fn a_claim_that_was_put_is_found() {
        for text in ["sub", "a.b.c", "a.b.d", "'https://example.com/app'.roles", "realm_access.'it''s'"] {
            let source = ClaimSource::parse(text, false).expect("a path");
            let mut claims = json!({"a": {"b": {"x": 1}}}).as_object().cloned().expect("an object");
            source.put(&mut claims, json!("v"));
            assert_eq!(source.find(&claims), Some(&json!("v")), "{text}");
        }
    }
}
