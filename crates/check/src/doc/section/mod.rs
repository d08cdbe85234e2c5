//! Sections of the document, in order.

pub(super) mod cost;
pub(super) mod diagram;
pub(super) mod entities;
pub(super) mod findings;
pub(super) mod overview;
pub(super) mod patterns;
pub(super) mod tables;

/// Formats text as code; empty text stays empty.
fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{text}`") }
}
