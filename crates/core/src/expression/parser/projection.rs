//! Grammar of projections: paths separated by commas.

use super::super::ast::{Path, Projection};
use super::super::lexer::TokenKind;
use super::super::substitution::Substitutions;
use super::condition::unreported;
use super::cursor::Cursor;
use super::overlap;
use super::resolve::Resolver;
use super::written;
use crate::error::Error;
use crate::error::expression::ExpressionKind;

/// Parses a projection.
///
/// # Errors
/// Returns an error if the text is not a list of paths, two paths overlap, or a placeholder is undefined.
pub fn parse_projection(text: &str, substitutions: &mut Substitutions) -> Result<Projection, Error> {
    let kind = ExpressionKind::Projection;
    let mut cursor = Cursor::new(text, kind)?;
    let mut written = vec![written::path(&mut cursor)?];
    while cursor.take(TokenKind::Comma).is_some() {
        written.push(written::path(&mut cursor)?);
    }
    cursor.end()?;
    let mut resolver = Resolver::new(substitutions);
    let paths: Vec<Option<Path>> = written.iter().map(|path| resolver.path(path)).collect();
    overlap::check(paths.iter().flatten(), &mut resolver.flaws);
    resolver.flaws.check(kind)?;
    let paths = paths.into_iter().collect::<Option<_>>().ok_or_else(|| unreported(kind))?;
    Ok(Projection { paths })
}
