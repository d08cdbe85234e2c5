//! Types tested by IS.

use keyform_core::Error;
use keyform_core::error::partiql::malformed;
use keyform_core::value::AttributeType;

use super::cursor::Cursor;
use super::expression::expression;
use super::syntax::TestedType;
use super::token::{Token, TokenKind};

/// Parses the type after IS, with its optional sizes in parentheses.
pub(super) fn tested_type(cursor: &mut Cursor) -> Result<TestedType, Error> {
    let word = match cursor.next() {
        Some(Token { kind: TokenKind::Keyword(word), .. }) => word.to_ascii_lowercase(),
        _ => return Err(malformed("Expected type name")),
    };
    let tested = match word.as_str() {
        "double" if cursor.eat_keyword("precision") => TestedType::Other("DoublePrecisionType"),
        "character" if cursor.eat_keyword("varying") => TestedType::Other("CharacterVaryingType"),
        word => named(word).ok_or_else(|| malformed("Expected type name"))?,
    };
    if matches!(tested, TestedType::Other(_)) && cursor.eat_symbol("(") {
        cursor.elements(")", "Expected RIGHT_PAREN", expression)?;
    }
    Ok(tested)
}

fn named(word: &str) -> Option<TestedType> {
    Some(match word {
        "missing" => TestedType::Missing,
        "null" => TestedType::Of(AttributeType::Null),
        "bool" | "boolean" => TestedType::Of(AttributeType::Bool),
        "numeric" => TestedType::Of(AttributeType::N),
        "string" => TestedType::Of(AttributeType::S),
        "blob" => TestedType::Of(AttributeType::B),
        "struct" | "tuple" => TestedType::Of(AttributeType::M),
        "list" => TestedType::Of(AttributeType::L),
        word => TestedType::Other(untested(word)?),
    })
}

fn untested(word: &str) -> Option<&'static str> {
    Some(match word {
        "smallint" | "int2" | "integer2" => "SmallintType",
        "int" | "integer" => "IntegerType",
        "int4" | "integer4" => "Integer4Type",
        "int8" | "integer8" | "bigint" => "Integer8Type",
        "float" => "FloatType",
        "real" => "RealType",
        "decimal" | "dec" => "DecimalType",
        "timestamp" => "TimestampType",
        "date" => "DateType",
        "time" => "TimeType",
        "char" | "character" => "CharacterType",
        "varchar" => "CharacterVaryingType",
        "symbol" => "SymbolType",
        "clob" => "ClobType",
        "sexp" => "SexpType",
        "bag" => "BagType",
        "any" => "AnyType",
        _ => return None,
    })
}
