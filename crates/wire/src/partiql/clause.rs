//! Parses statements clause by clause.

use keyform_core::Error;
use keyform_core::error::partiql::{self, malformed};

use super::cursor::Cursor;
use super::expression::expression;
use super::keyword::ends_select_list;
use super::path;
use super::syntax::{Change, Expr, ExprKind, Order, Returning, Select, Source, Written};
use super::token::{Token, TokenKind};

/// Parses one statement and checks that nothing follows.
pub(super) fn statement(cursor: &mut Cursor) -> Result<Written, Error> {
    let written = written(cursor)?;
    if cursor.eat_symbol(";") && cursor.peek().is_some() {
        return Err(malformed("Unexpected token after semicolon. (Only one query is allowed.)"));
    }
    if cursor.peek().is_some() {
        return Err(malformed("Unexpected token after expression"));
    }
    Ok(written)
}

fn written(cursor: &mut Cursor) -> Result<Written, Error> {
    if cursor.at_keyword("select") {
        select(cursor).map(Written::Select)
    } else if cursor.eat_keyword("insert") {
        insert(cursor)
    } else if cursor.eat_keyword("update") {
        update(cursor)
    } else if cursor.eat_keyword("delete") {
        delete(cursor)
    } else if cursor.eat_keyword("from") {
        from_first(cursor)
    } else if cursor.at_keyword("set") || cursor.at_keyword("remove") {
        changes(cursor)?;
        Err(partiql::several_sources())
    } else {
        expression(cursor).map(Written::Expression)
    }
}

/// Parses a SELECT; the next token must be its keyword.
pub(super) fn select(cursor: &mut Cursor) -> Result<Select, Error> {
    let Some(Token { place, .. }) = cursor.next() else { return Err(malformed("Unexpected term")) };
    let columns = columns(cursor)?;
    cursor.expect_keyword("from", "Expected FROM")?;
    let source = source(cursor)?;
    let condition = condition(cursor)?;
    let order = order(cursor)?;
    Ok(Select { columns, source, condition, order, place })
}

fn columns(cursor: &mut Cursor) -> Result<Option<Vec<Expr>>, Error> {
    if cursor.eat_symbol("*") {
        return Ok(None);
    }
    let mut columns = Vec::new();
    loop {
        columns.push(column(cursor)?);
        if !cursor.eat_symbol(",") {
            return Ok(Some(columns));
        }
    }
}

fn column(cursor: &mut Cursor) -> Result<Expr, Error> {
    if let Some(Token { kind: TokenKind::Keyword(word), .. }) = cursor.peek()
        && ends_select_list(word)
    {
        let word = word.to_ascii_lowercase();
        let reason =
            format!("Expected identifier or an expression but found unexpected keyword '{word}' in a select list.");
        return Err(malformed(&reason));
    }
    let column = expression(cursor)?;
    if alias(cursor)? { Err(partiql::aliasing()) } else { Ok(column) }
}

/// Parses the FROM clause of a SELECT. Any expression parses; binding accepts only a path.
fn source(cursor: &mut Cursor) -> Result<Source, Error> {
    let expr = expression(cursor)?;
    let mut aliased = alias(cursor)?;
    let mut joined = false;
    while cursor.eat_symbol(",") {
        joined = true;
        expression(cursor)?;
        aliased |= alias(cursor)?;
    }
    Ok(Source { expr, aliased, joined })
}

/// Parses an alias, if there is one: `AS name`, `AT name`, `BY name` or a bare name.
fn alias(cursor: &mut Cursor) -> Result<bool, Error> {
    let introduced = cursor.eat_keyword("as") || cursor.eat_keyword("at") || cursor.eat_keyword("by");
    let named = matches!(cursor.peek(), Some(Token { kind: TokenKind::Name(_) | TokenKind::Quoted(_), .. }));
    match (introduced, named) {
        (_, true) => Ok(cursor.next().is_some()),
        (true, false) => Err(malformed("Expected identifier for AS-clause")),
        (false, false) => Ok(false),
    }
}

fn condition(cursor: &mut Cursor) -> Result<Option<Expr>, Error> {
    if cursor.eat_keyword("where") { expression(cursor).map(Some) } else { Ok(None) }
}

fn order(cursor: &mut Cursor) -> Result<Vec<Order>, Error> {
    let mut terms = Vec::new();
    if !cursor.eat_keyword("order") {
        return Ok(terms);
    }
    cursor.expect_keyword("by", "Expected BY")?;
    loop {
        terms.push(order_term(cursor)?);
        if !cursor.eat_symbol(",") {
            return Ok(terms);
        }
    }
}

fn order_term(cursor: &mut Cursor) -> Result<Order, Error> {
    let expr = expression(cursor)?;
    let descending = cursor.eat_keyword("desc");
    if !descending {
        cursor.eat_keyword("asc");
    }
    if cursor.eat_word("nulls") && !cursor.eat_keyword("first") {
        cursor.expect_keyword("last", "Expected FIRST or LAST after NULLS")?;
    }
    Ok(Order { expr, descending })
}

fn insert(cursor: &mut Cursor) -> Result<Written, Error> {
    cursor.expect_keyword("into", "Unexpected keyword")?;
    let table = simple_source(cursor)?;
    let whole_item = cursor.eat_keyword("value");
    let value = expression(cursor)?;
    if whole_item || !cursor.at_end() {
        return Ok(Written::Insert { table, value });
    }
    Err(partiql::unsupported_operation("Insert"))
}

fn simple_source(cursor: &mut Cursor) -> Result<Source, Error> {
    let path = path::simple(cursor)?;
    let place = path.place;
    Ok(Source { expr: Expr { kind: ExprKind::Path(path), place }, aliased: false, joined: false })
}

fn aliased_source(cursor: &mut Cursor) -> Result<Source, Error> {
    let mut source = simple_source(cursor)?;
    source.aliased = alias(cursor)?;
    Ok(source)
}

fn update(cursor: &mut Cursor) -> Result<Written, Error> {
    let table = aliased_source(cursor)?;
    let changes = changes(cursor)?;
    let condition = condition(cursor)?;
    let returning = returning(cursor)?;
    Ok(Written::Update { table, changes, condition, returning })
}

/// Parses `FROM table WHERE … SET …`, an UPDATE with its clauses in another order.
fn from_first(cursor: &mut Cursor) -> Result<Written, Error> {
    let table = source(cursor)?;
    let condition = condition(cursor)?;
    let changes = changes(cursor)?;
    let returning = returning(cursor)?;
    Ok(Written::Update { table, changes, condition, returning })
}

fn changes(cursor: &mut Cursor) -> Result<Vec<Change>, Error> {
    let mut changes = Vec::new();
    loop {
        if cursor.eat_keyword("set") {
            assignments(cursor, &mut changes)?;
        } else if cursor.eat_keyword("remove") {
            changes.push(Change::Remove(path::simple(cursor)?));
        } else if changes.is_empty() {
            return Err(malformed("Expected data manipulation"));
        } else {
            return Ok(changes);
        }
    }
}

fn assignments(cursor: &mut Cursor, changes: &mut Vec<Change>) -> Result<(), Error> {
    loop {
        let path = path::simple(cursor)?;
        cursor.expect_symbol("=", "Expected '=' for assignment")?;
        changes.push(Change::Set(path, expression(cursor)?));
        if !cursor.eat_symbol(",") {
            return Ok(());
        }
    }
}

fn delete(cursor: &mut Cursor) -> Result<Written, Error> {
    cursor.expect_keyword("from", "Expected FROM after DELETE")?;
    let table = aliased_source(cursor)?;
    let condition = condition(cursor)?;
    let returning = returning(cursor)?;
    Ok(Written::Delete { table, condition, returning })
}

fn returning(cursor: &mut Cursor) -> Result<Option<Returning>, Error> {
    if !cursor.eat_keyword("returning") {
        return Ok(None);
    }
    let modified = cursor.eat_keyword("modified");
    if !modified {
        cursor.expect_keyword("all", "Expected ALL or MODIFIED in a returning clause.")?;
    }
    let new = cursor.eat_keyword("new");
    if !new {
        cursor.expect_keyword("old", "Expected OLD or NEW in a returning clause.")?;
    }
    cursor.expect_symbol("*", "Expected * in a returning clause.")?;
    Ok(Some(Returning { modified, new }))
}
