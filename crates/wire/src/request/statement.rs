//! PartiQL requests: ExecuteStatement, BatchExecuteStatement, ExecuteTransaction.

use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::limits::{BATCH_STATEMENTS_MAX, TRANSACTION_ACTIONS_MAX};
use keyform_core::operation::{BatchExecuteStatement, BatchedStatement, ExecuteStatement, ExecuteTransaction};
use keyform_core::{AttributeValue, Error};

use super::parameters::{Parameters, checked_list};
use super::{Body, choice, shown, transaction};
use crate::Echo;
use crate::json::Reader;
use crate::partiql;
use crate::value::{Checked, attribute_value};

const STATEMENT_LENGTH_MAX: usize = 8192;
const MEMBERS: &[&str] = &["ConsistentRead", "Limit", "ReturnConsumedCapacity", "ReturnValuesOnConditionCheckFailure"];

/// A statement and its settings before they are checked.
#[derive(Default)]
struct RawStatement {
    statement: Option<String>,
    values: Option<Vec<Checked<AttributeValue>>>,
    next: Option<String>,
    parameters: Parameters,
}

/// Several statements and their settings before they are checked.
#[derive(Default)]
struct RawStatements {
    statements: Option<Vec<RawStatement>>,
    token: Option<String>,
    parameters: Parameters,
}

/// Reads an ExecuteStatement.
pub(super) fn execute(body: Body<'_>) -> Result<(ExecuteStatement, Echo), Error> {
    let (raw, echo) = body.read(raw_statement)?;
    let mut violations = Violations::new();
    check_statement(&mut violations, &raw, "");
    choice::check_return_capacity(&mut violations, &raw.parameters);
    if let Some(limit) = raw.parameters.limit.filter(|limit| *limit < 1) {
        violations.low(limit, "limit", 1);
    }
    violations.finish()?;
    let RawStatement { statement, values, next, parameters } = raw;
    let statement = parse(statement, values)?;
    let request = ExecuteStatement {
        statement,
        consistent: parameters.consistent.unwrap_or(false),
        limit: parameters.limit.and_then(|limit| usize::try_from(limit).ok()),
        next,
        return_item_on_failure: choice::return_item_on_failure(parameters.return_on_failure.as_deref()),
        return_capacity: choice::return_capacity(parameters.return_capacity.as_deref()),
    };
    Ok((request, echo))
}

/// Reads a BatchExecuteStatement.
pub(super) fn batch(body: Body<'_>) -> Result<(BatchExecuteStatement, Echo), Error> {
    let (raw, echo) = body.read(|reader| raw_statements(reader, "Statements"))?;
    check_statements(&raw, "statements", shown_batched, BATCH_STATEMENTS_MAX)?;
    let request = BatchExecuteStatement {
        return_capacity: choice::return_capacity(raw.parameters.return_capacity.as_deref()),
        statements: raw.statements.unwrap_or_default().into_iter().map(batched).collect(),
    };
    Ok((request, echo))
}

/// Reads an ExecuteTransaction.
pub(super) fn transaction(body: Body<'_>) -> Result<(ExecuteTransaction, Echo), Error> {
    let (raw, echo) = body.read(|reader| raw_statements(reader, "TransactStatements"))?;
    check_statements(&raw, "transactStatements", shown_parameterized, TRANSACTION_ACTIONS_MAX)?;
    let statements: Vec<BatchedStatement> = raw.statements.unwrap_or_default().into_iter().map(batched).collect();
    check_all_parsed(&statements)?;
    let request = ExecuteTransaction {
        token: raw.token,
        return_capacity: choice::return_capacity(raw.parameters.return_capacity.as_deref()),
        statements,
    };
    Ok((request, echo))
}

/// Rejects a transaction with a statement that does not parse.
fn check_all_parsed(statements: &[BatchedStatement]) -> Result<(), Error> {
    for (place, statement) in statements.iter().enumerate() {
        if let Err(reason) = &statement.statement {
            return Err(request::transaction_statement(place, reason));
        }
    }
    Ok(())
}

fn raw_statement(reader: &mut Reader<'_>) -> Result<RawStatement, Error> {
    let mut raw = RawStatement::default();
    reader.opt_structure("ParameterizedStatement", |reader, name| {
        match name {
            "Statement" => raw.statement = reader.opt_string()?,
            "Parameters" => raw.values = checked_list(reader, attribute_value)?,
            "NextToken" => raw.next = reader.opt_string()?,
            name if MEMBERS.contains(&name) => raw.parameters.member(reader, name)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

fn raw_statements(reader: &mut Reader<'_>, member: &str) -> Result<RawStatements, Error> {
    let mut raw = RawStatements::default();
    reader.opt_structure("StatementsInput", |reader, name| {
        match name {
            name if name == member => raw.statements = checked_list(reader, raw_statement)?,
            "ClientRequestToken" if member == "TransactStatements" => raw.token = reader.opt_string()?,
            "ReturnConsumedCapacity" => raw.parameters.member(reader, name)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

fn check_statements(
    raw: &RawStatements,
    member: &str,
    shown: fn(&RawStatement) -> String,
    count_max: usize,
) -> Result<(), Error> {
    let mut violations = Violations::new();
    match raw.statements.as_deref() {
        None => violations.null(member),
        Some([]) => violations.short("[]", member, 1),
        Some(statements) if statements.len() > count_max => {
            violations.long(&shown::list(statements.iter().map(shown)), member, count_max);
        }
        Some(_) => {}
    }
    transaction::check_token(&mut violations, raw.token.as_deref());
    choice::check_return_capacity(&mut violations, &raw.parameters);
    for (place, statement) in raw.statements.iter().flatten().enumerate() {
        check_statement(&mut violations, statement, &format!("{member}.{}.member.", place + 1));
    }
    violations.finish()
}

/// Formats a statement of a batch as DynamoDB's error messages do.
fn shown_batched(raw: &RawStatement) -> String {
    let fields = [
        ("statement", shown::string(raw.statement.as_ref())),
        ("parameters", shown::values(raw.values.as_ref())),
        ("consistentRead", raw.parameters.consistent.map_or_else(shown::null, |value| value.to_string())),
        ("returnValuesOnConditionCheckFailure", shown::string(raw.parameters.return_on_failure.as_ref())),
    ];
    shown::object("BatchStatementRequest", &fields)
}

/// Formats a statement of a transaction as DynamoDB's error messages do.
fn shown_parameterized(raw: &RawStatement) -> String {
    let fields = [
        ("statement", shown::string(raw.statement.as_ref())),
        ("parameters", shown::values(raw.values.as_ref())),
        ("returnValuesOnConditionCheckFailure", shown::string(raw.parameters.return_on_failure.as_ref())),
    ];
    shown::object("ParameterizedStatement", &fields)
}

fn check_statement(violations: &mut Violations, raw: &RawStatement, prefix: &str) {
    let member = format!("{prefix}statement");
    match raw.statement.as_deref() {
        None => violations.null(&member),
        Some("") => violations.short("", &member, 1),
        Some(text) if text.len() > STATEMENT_LENGTH_MAX => violations.long(text, &member, STATEMENT_LENGTH_MAX),
        Some(_) => {}
    }
    if raw.values.as_ref().is_some_and(Vec::is_empty) {
        violations.short("[]", &format!("{prefix}parameters"), 1);
    }
    let on_failure = raw.parameters.return_on_failure.as_deref();
    choice::check(
        violations,
        on_failure,
        format_args!("{prefix}returnValuesOnConditionCheckFailure"),
        &["ALL_OLD", "NONE"],
    );
}

fn batched(raw: RawStatement) -> BatchedStatement {
    BatchedStatement {
        statement: parse(raw.statement, raw.values),
        consistent: raw.parameters.consistent.unwrap_or(false),
        return_item_on_failure: choice::return_item_on_failure(raw.parameters.return_on_failure.as_deref()),
    }
}

fn parse(
    statement: Option<String>,
    values: Option<Vec<Checked<AttributeValue>>>,
) -> Result<keyform_core::statement::Statement, Error> {
    let values = values.map(|values| values.into_iter().collect::<Result<Vec<_>, _>>()).transpose()?;
    partiql::parse(&statement.unwrap_or_default(), values)
}
