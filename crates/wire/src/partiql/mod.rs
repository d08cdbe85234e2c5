//! PartiQL: parses the text of a statement and binds its parameters, yielding a [`Statement`].
//!
//! 1. `token` splits the text into tokens; `keyword` lists the reserved words.
//! 2. `clause` parses statements clause by clause, and `expression`, `path` and `type_name` parse their parts, into
//!    the trees of `syntax`. All of them share one `cursor`, which bounds the nesting depth.
//! 3. `bind` substitutes the parameters: `value` converts values, `condition` conditions, `update` updates. It
//!    rejects what DynamoDB rejects, in the same order and with the same messages.
//!
//! The executor, which knows the key schema, decides which parts of a WHERE clause are key conditions.

use keyform_core::error::partiql;
use keyform_core::statement::Statement;
use keyform_core::{AttributeValue, Error};

mod bind;
mod binder;
mod clause;
mod condition;
mod cursor;
mod expression;
mod keyword;
mod path;
mod syntax;
mod token;
mod type_name;
mod update;
mod value;

#[cfg(test)]
mod tests;

/// Parses a statement and binds its parameters.
///
/// ```
/// use keyform_core::statement::Statement;
///
/// let parameters = Some(vec!["a".into()]);
/// let statement = keyform_wire::partiql::parse("SELECT * FROM Music WHERE Artist = ?", parameters)?;
/// assert!(matches!(statement, Statement::Select(select) if select.table == "Music"));
/// # Ok::<(), keyform_core::Error>(())
/// ```
///
/// # Errors
/// Returns a ValidationException with DynamoDB's message if the statement does not parse, lacks parameters (DynamoDB
/// accepts surplus ones), or is invalid.
pub fn parse(statement: &str, parameters: Option<Vec<AttributeValue>>) -> Result<Statement, Error> {
    let tokens = token::tokens(statement)?;
    let wanted = tokens.iter().filter(|token| matches!(token.kind, token::TokenKind::Parameter(_))).count();
    let mut cursor = cursor::Cursor::new(tokens);
    let written = clause::statement(&mut cursor)?;
    let parameters = parameters.unwrap_or_default();
    if wanted > parameters.len() {
        return Err(partiql::parameter_count_mismatch());
    }
    bind::bind(written, cursor.operators, parameters)
}
