//! PartiQL: the text of a statement and its parameters become a [`Statement`].
//!
//! 1. `token` cuts the text into tokens; `keyword` tells which words are kept.
//! 2. `clause` reads statements clause by clause, `expression`, `path` and `type_name` what stands in them, into the trees
//!    of `syntax`. All of them walk the tokens through one `cursor`, which bounds how deep brackets nest.
//! 3. `bind` puts the parameters in: `value` makes values, `condition` conditions, `update` updates. What the service
//!    refuses is refused here, in the service's order and words.
//!
//! What a WHERE clause means as a key is left to whoever knows the table.

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

/// Reads a statement.
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
/// A ValidationException with the service's text when the statement cannot be read, lacks parameters (too many are
/// accepted, as by the service) or means nothing.
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
