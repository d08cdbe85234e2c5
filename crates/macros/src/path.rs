//! Parses the macro's argument: a path relative to the crate's manifest.

use std::env;
use std::path::PathBuf;

use proc_macro::{TokenStream, TokenTree};

const USAGE: &str = "give the path of a model, relative to the folder of Cargo.toml: `keyform::model!(\"shop.kf\")`";

/// Returns the path as it is written.
pub(crate) fn argument(input: TokenStream) -> Result<String, String> {
    let mut tokens = input.into_iter();
    let (Some(token), None) = (tokens.next(), tokens.next()) else { return Err(USAGE.to_owned()) };
    literal(token).ok_or_else(|| USAGE.to_owned())
}

/// Returns the value of a string literal. A surrounding macro may have put it into an invisible group.
fn literal(token: TokenTree) -> Option<String> {
    match token {
        TokenTree::Literal(literal) => unquoted(&literal.to_string()),
        TokenTree::Group(group) => {
            let mut inner = group.stream().into_iter();
            match (inner.next(), inner.next()) {
                (Some(token), None) => literal(token),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Removes the quotes of a plain or raw string literal. Unescapes only quotes and backslashes, the only escapes that
/// paths need.
fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Resolves the path against the crate's directory.
pub(crate) fn resolve(written: &str) -> Result<PathBuf, String> {
    let folder = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("the path of a model is relative to CARGO_MANIFEST_DIR, which is not set: compile by cargo")?;
    Ok(PathBuf::from(folder).join(written))
}
