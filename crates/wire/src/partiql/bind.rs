//! Converts parsed statements to [`Statement`]s.

use keyform_core::error::partiql;
use keyform_core::expression::Path;
use keyform_core::limits::EXPRESSION_OPERATORS_MAX;
use keyform_core::operation::ReturnValues;
use keyform_core::statement::{OrderBy, SelectStatement, Statement};
use keyform_core::{AttributeValue, Error};

use super::binder::Binder;
use super::path;
use super::syntax::{Change, Expr, ExprKind, Order, PathStep, Returning, Select, Source, Written, WrittenPath};

/// Binds the parameters and rejects statements without a valid meaning.
pub(super) fn bind(written: Written, operators: usize, parameters: Vec<AttributeValue>) -> Result<Statement, Error> {
    if operators > EXPRESSION_OPERATORS_MAX {
        return Err(partiql::too_many_operators(operators));
    }
    let mut binder = Binder::new(parameters);
    let statement = match written {
        Written::Select(select) => binder.select(&select).map(Statement::Select),
        Written::Insert { table, value } => insert(&binder, &table, &value),
        Written::Update { table, changes, condition, returning } => {
            binder.update_statement(&table, &changes, condition.as_ref(), returning)
        }
        Written::Delete { table, condition, returning } => binder.delete(&table, condition.as_ref(), returning),
        Written::Expression(expr) => binder.exists(&expr),
    }?;
    binder.finish()?;
    Ok(statement)
}

fn insert(binder: &Binder, table: &Source, value: &Expr) -> Result<Statement, Error> {
    let names = names(table)?;
    let item = binder.item(value)?;
    match names.as_slice() {
        [name] => Ok(Statement::Insert { table: name.clone(), item }),
        _ => Err(partiql::insert_into_index(table.expr.place)),
    }
}

impl Binder {
    fn select(&mut self, select: &Select) -> Result<SelectStatement, Error> {
        let (table, index) = table_and_index(&select.source)?;
        let columns = match &select.columns {
            Some(columns) => Some(columns.iter().map(column).collect::<Result<Vec<_>, _>>()?),
            None => None,
        };
        let condition = match &select.condition {
            Some(condition) => Some(self.condition(condition)?),
            None => None,
        };
        let order = select.order.iter().map(order).collect::<Result<Vec<_>, _>>()?;
        Ok(SelectStatement { table, index, columns, condition, order })
    }

    fn update_statement(
        &mut self,
        table: &Source,
        changes: &[Change],
        condition: Option<&Expr>,
        returning: Option<Returning>,
    ) -> Result<Statement, Error> {
        let table = written_table(table)?;
        let condition = condition.map(|condition| self.condition(condition)).transpose()?;
        let update = self.update(changes)?;
        self.finish()?;
        let condition = condition.ok_or_else(partiql::key_required)?;
        Ok(Statement::Update { table, update, condition, returning: return_values(returning) })
    }

    fn delete(
        &mut self,
        table: &Source,
        condition: Option<&Expr>,
        returning: Option<Returning>,
    ) -> Result<Statement, Error> {
        let table = written_table(table)?;
        let condition = condition.map(|condition| self.condition(condition)).transpose()?;
        self.finish()?;
        let returning = match returning {
            None => ReturnValues::None,
            Some(Returning { modified: false, new: false }) => ReturnValues::AllOld,
            Some(other) => return Err(partiql::delete_returning(printed(other))),
        };
        let condition = condition.ok_or_else(partiql::key_required)?;
        Ok(Statement::Delete { table, condition, returning })
    }

    /// Binds a statement that is an expression; only `EXISTS(SELECT …)` is valid.
    fn exists(&mut self, expr: &Expr) -> Result<Statement, Error> {
        match &expr.kind {
            ExprKind::Call(name, operands) if name.eq_ignore_ascii_case("exists") => match operands.as_slice() {
                [Expr { kind: ExprKind::Select(select), .. }] => self.select(select).map(Statement::Exists),
                _ => Err(partiql::exists_outside_transaction()),
            },
            ExprKind::Path(path) if path.steps.is_empty() => Err(partiql::unsupported_operation("Id")),
            ExprKind::Path(_) => Err(partiql::unsupported_operation("Path")),
            ExprKind::Text(_) | ExprKind::Number(_) | ExprKind::Bool(_) | ExprKind::Null | ExprKind::Ion(_) => {
                Err(partiql::unsupported_operation("Lit"))
            }
            ExprKind::Missing => Err(partiql::unsupported_operation("Missing")),
            ExprKind::Parameter(_) => Err(partiql::unsupported_operation("Parameter")),
            ExprKind::List(_) => Err(partiql::unsupported_operation("List")),
            ExprKind::Bag(_) => Err(partiql::unsupported_operation("Bag")),
            ExprKind::Struct(_) => Err(partiql::unsupported_operation("Struct")),
            ExprKind::Is(..) => Err(partiql::unsupported_operation("IsType")),
            _ => Err(partiql::exists_outside_transaction()),
        }
    }
}

/// Returns the names in FROM: at least one, none of them empty.
fn names(source: &Source) -> Result<Vec<String>, Error> {
    let ExprKind::Path(WrittenPath { root, steps, .. }) = &source.expr.kind else {
        return Err(partiql::several_sources());
    };
    if source.joined {
        return Err(partiql::several_sources());
    }
    if source.aliased {
        return Err(partiql::aliasing());
    }
    let mut names = vec![root.clone()];
    for step in steps {
        match step {
            PathStep::Name(name) => names.push(name.clone()),
            PathStep::Bracket(expr) => return Err(partiql::unexpected_path_component(expr.place)),
            PathStep::Every(place) => return Err(partiql::unexpected_path_component(place)),
        }
    }
    if names.iter().any(String::is_empty) { Err(partiql::empty_path_component()) } else { Ok(names) }
}

fn table_and_index(source: &Source) -> Result<(String, Option<String>), Error> {
    match names(source)?.as_slice() {
        [table] => Ok((table.clone(), None)),
        [table, index] => Ok((table.clone(), Some(index.clone()))),
        _ => Err(partiql::too_many_path_components()),
    }
}

/// Returns the table that UPDATE or DELETE addresses.
fn written_table(source: &Source) -> Result<String, Error> {
    match table_and_index(source)? {
        (table, None) => Ok(table),
        (_, Some(_)) => Err(partiql::write_on_index()),
    }
}

fn column(expr: &Expr) -> Result<Path, Error> {
    match &expr.kind {
        ExprKind::Path(written) => path::resolve(written),
        _ => Err(partiql::unexpected_path_component(expr.place)),
    }
}

fn order(term: &Order) -> Result<OrderBy, Error> {
    let place = term.expr.place;
    match &term.expr.kind {
        ExprKind::Path(path) if path.steps.is_empty() => {
            Ok(OrderBy { attribute: path.root.clone(), descending: term.descending })
        }
        ExprKind::Path(_) => Err(partiql::order_argument("PATH", place)),
        ExprKind::Text(text) | ExprKind::Number(text) => Err(partiql::order_argument(text, place)),
        _ => Err(partiql::order_argument(super::binder::value_class(&term.expr), place)),
    }
}

fn return_values(returning: Option<Returning>) -> ReturnValues {
    match returning {
        None => ReturnValues::None,
        Some(Returning { modified: false, new: false }) => ReturnValues::AllOld,
        Some(Returning { modified: false, new: true }) => ReturnValues::AllNew,
        Some(Returning { modified: true, new: false }) => ReturnValues::UpdatedOld,
        Some(Returning { modified: true, new: true }) => ReturnValues::UpdatedNew,
    }
}

fn printed(returning: Returning) -> &'static str {
    match (returning.modified, returning.new) {
        (false, false) => "ALL OLD",
        (false, true) => "ALL NEW",
        (true, false) => "MODIFIED OLD",
        (true, true) => "MODIFIED NEW",
    }
}
