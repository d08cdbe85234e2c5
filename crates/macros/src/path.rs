//! The macro's argument: a path relative to the crate's manifest.

use std::env;
use std::path::PathBuf;

use proc_macro::{TokenStream, TokenTree};

const USAGE: &str = "give the path of a model, relative to the folder of Cargo.toml: `keyform::model!(\"shop.kf\")`";

/// The path as it is written.
pub(crate) fn argument(input: TokenStream) -> Result<String, String> {
    let mut tokens = input.into_iter();
    let (Some(token), None) = (tokens.next(), tokens.next()) else { return Err(USAGE.to_owned()) };
    literal(token).ok_or_else(|| USAGE.to_owned())
}

/// The text of a string literal; a macro around may have put it into an invisible group.
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

/// A string literal without quotes: plain or raw. Of the escapes a path needs only quotes and backslashes.
fn unquoted(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix('r') {
        return raw.trim_matches('#').strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
    }
    let inner = literal.strip_prefix('"')?.strip_suffix('"')?;
    Some(inner.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Where the file is.
pub(crate) fn resolve(written: &str) -> Result<PathBuf, String> {
    let folder = env::var_os("CARGO_MANIFEST_DIR")
        .ok_or("the path of a model is relative to CARGO_MANIFEST_DIR, which is not set: compile by cargo")?;
    Ok(PathBuf::from(folder).join(written))
}
