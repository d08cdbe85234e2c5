//! Transactions, whose items succeed or fail together: TransactGetItems and TransactWriteItems.

use std::fmt;

use keyform_core::error::constraint::Violations;
use keyform_core::error::request;
use keyform_core::expression::Condition;
use keyform_core::limits::TRANSACTION_ACTIONS_MAX;
use keyform_core::operation::{TransactAction, TransactGet, TransactGetItems, TransactWriteItems};
use keyform_core::{Attributes, Error};

use super::parameters::{Parameters, checked_list};
use super::{Body, choice, mixture, shown, table_name};
use crate::Echo;
use crate::expressions::Expressions;
use crate::json::Reader;

/// Maximum length of an idempotency token.
const TOKEN_LENGTH_MAX: usize = 36;

const GET: &[&str] = &["TableName", "Key", "ProjectionExpression", "ExpressionAttributeNames"];
const ACTION: &[&str] = &[
    "TableName",
    "Key",
    "Item",
    "UpdateExpression",
    "ConditionExpression",
    "ExpressionAttributeNames",
    "ExpressionAttributeValues",
    "ReturnValuesOnConditionCheckFailure",
];

/// Kind of action of a transaction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ActionKind {
    Check,
    Put,
    Delete,
    Update,
}

impl ActionKind {
    fn from_member(name: &str) -> Option<Self> {
        Some(match name {
            "ConditionCheck" => Self::Check,
            "Put" => Self::Put,
            "Delete" => Self::Delete,
            "Update" => Self::Update,
            _ => return None,
        })
    }

    /// Returns the member name used in constraint violations.
    fn member(self) -> &'static str {
        match self {
            Self::Check => "conditionCheck",
            Self::Put => "put",
            Self::Delete => "delete",
            Self::Update => "update",
        }
    }
}

/// Elements of a transaction and its other members before they are checked.
struct Raw<T> {
    elements: Option<Vec<T>>,
    token: Option<String>,
    parameters: Parameters,
}

/// Actions of one element; a valid element has exactly one.
type RawAction = Vec<(ActionKind, Parameters)>;

/// Reads a TransactGetItems.
pub(super) fn get(body: Body<'_>) -> Result<(TransactGetItems, Echo), Error> {
    let (raw, mut echo) = body.read(|reader| read(reader, "TransactGetItemsInput", raw_get))?;
    check_get_constraints(&raw)?;
    let elements = raw.elements.unwrap_or_default().into_iter().flatten();
    let gets = elements.map(|get| transact_get(get, &mut echo)).collect::<Result<_, _>>()?;
    let return_capacity = choice::return_capacity(raw.parameters.return_capacity.as_deref());
    Ok((TransactGetItems { gets, return_capacity }, echo))
}

/// Reads a TransactWriteItems.
pub(super) fn write(body: Body<'_>) -> Result<(TransactWriteItems, Echo), Error> {
    let (raw, mut echo) = body.read(|reader| read(reader, "TransactWriteItemsInput", raw_action))?;
    check_write_constraints(&raw)?;
    let elements = raw.elements.unwrap_or_default().into_iter();
    let actions = elements.map(|element| transact_action(element, &mut echo)).collect::<Result<_, _>>()?;
    let request = TransactWriteItems {
        actions,
        token: raw.token,
        return_capacity: choice::return_capacity(raw.parameters.return_capacity.as_deref()),
        return_metrics: choice::return_metrics(raw.parameters.return_metrics.as_deref()),
    };
    Ok((request, echo))
}

fn read<T>(
    reader: &mut Reader<'_>,
    class: &str,
    element: fn(&mut Reader<'_>) -> Result<T, Error>,
) -> Result<Raw<T>, Error> {
    let mut raw = Raw { elements: None, token: None, parameters: Parameters::default() };
    reader.opt_structure(class, |reader, name| {
        match name {
            "TransactItems" => raw.elements = checked_list(reader, element)?,
            "ClientRequestToken" => raw.token = reader.opt_string()?,
            "ReturnConsumedCapacity" | "ReturnItemCollectionMetrics" => raw.parameters.member(reader, name)?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(raw)
}

fn raw_get(reader: &mut Reader<'_>) -> Result<Option<Parameters>, Error> {
    let mut get = None;
    reader.opt_structure("TransactGetItem", |reader, name| {
        match name {
            "Get" => get = Some(Parameters::read(reader, name, GET)?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(get)
}

fn raw_action(reader: &mut Reader<'_>) -> Result<RawAction, Error> {
    let mut actions = RawAction::new();
    reader.opt_structure("TransactWriteItem", |reader, name| {
        match ActionKind::from_member(name) {
            Some(kind) => actions.push((kind, Parameters::read(reader, name, ACTION)?)),
            None => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(actions)
}

fn check_get_constraints(raw: &Raw<Option<Parameters>>) -> Result<(), Error> {
    let mut violations = Violations::new();
    check_count(&mut violations, raw, shown_get);
    choice::check_return_capacity(&mut violations, &raw.parameters);
    for (place, get) in raw.elements.iter().flatten().enumerate() {
        check_get(&mut violations, get.as_ref(), format_args!("transactItems.{}.member.get", place + 1));
    }
    violations.finish()
}

fn check_write_constraints(raw: &Raw<RawAction>) -> Result<(), Error> {
    let mut violations = Violations::new();
    check_count(&mut violations, raw, shown_action);
    check_token(&mut violations, raw.token.as_deref());
    choice::check_return_capacity(&mut violations, &raw.parameters);
    choice::check_return_metrics(&mut violations, &raw.parameters);
    for (place, element) in raw.elements.iter().flatten().enumerate() {
        for (kind, action) in element {
            let member = format_args!("transactItems.{}.member.{}", place + 1, kind.member());
            check_action(&mut violations, *kind, action, member);
        }
    }
    violations.finish()
}

/// Checks an idempotency token.
pub(super) fn check_token(violations: &mut Violations, token: Option<&str>) {
    match token {
        Some("") => violations.short("", "clientRequestToken", 1),
        Some(token) if token.len() > TOKEN_LENGTH_MAX => violations.long(token, "clientRequestToken", TOKEN_LENGTH_MAX),
        _ => {}
    }
}

fn check_count<T>(violations: &mut Violations, raw: &Raw<T>, shown: fn(&T) -> String) {
    match raw.elements.as_deref() {
        None => violations.null("transactItems"),
        Some([]) => violations.short("[]", "transactItems", 1),
        Some(elements) if elements.len() > TRANSACTION_ACTIONS_MAX => {
            violations.long(&shown::list(elements.iter().map(shown)), "transactItems", TRANSACTION_ACTIONS_MAX);
        }
        Some(_) => {}
    }
}

/// Formats a read as DynamoDB's error messages do.
fn shown_get(get: &Option<Parameters>) -> String {
    let fields = |get: &Parameters| {
        [
            ("key", shown::attributes(get.key.as_ref())),
            ("tableName", shown::string(get.table.as_ref())),
            ("projectionExpression", shown::string(get.projection.as_ref())),
            ("expressionAttributeNames", shown::names(get.names.as_ref())),
            ("workloadProfileName", shown::null()),
        ]
    };
    let shown = get.as_ref().map_or_else(shown::null, |get| shown::object("Get", &fields(get)));
    shown::object("TransactGetItem", &[("get", shown)])
}

/// Formats an action as DynamoDB's error messages do.
fn shown_action(element: &RawAction) -> String {
    let shown = |kind: ActionKind| {
        let action = element.iter().find(|(given, _)| *given == kind);
        (kind.member(), action.map_or_else(shown::null, |(_, action)| shown_parameters(kind, action)))
    };
    let kinds = [ActionKind::Check, ActionKind::Put, ActionKind::Delete, ActionKind::Update];
    shown::object("TransactWriteItem", &kinds.map(shown))
}

fn shown_parameters(kind: ActionKind, action: &Parameters) -> String {
    let key = || ("key", shown::attributes(action.key.as_ref()));
    let (class, mut fields) = match kind {
        ActionKind::Check => ("ConditionCheck", vec![key()]),
        ActionKind::Put => ("Put", vec![("item", shown::attributes(action.item.as_ref()))]),
        ActionKind::Delete => ("Delete", vec![key()]),
        ActionKind::Update => ("Update", vec![key(), ("updateExpression", shown::string(action.update.as_ref()))]),
    };
    fields.extend(shown::action_fields(action));
    shown::object(class, &fields)
}

fn check_get(violations: &mut Violations, get: Option<&Parameters>, member: fmt::Arguments<'_>) {
    let Some(get) = get else { return violations.null(&member.to_string()) };
    check_table(violations, get, member);
    check_given(violations, get.key.is_some(), member, "key");
}

fn check_action(violations: &mut Violations, kind: ActionKind, action: &Parameters, member: fmt::Arguments<'_>) {
    match kind {
        ActionKind::Put => check_given(violations, action.item.is_some(), member, "item"),
        ActionKind::Check | ActionKind::Delete | ActionKind::Update => {
            check_given(violations, action.key.is_some(), member, "key");
        }
    }
    check_table(violations, action, member);
    match kind {
        ActionKind::Update => check_given(violations, action.update.is_some(), member, "updateExpression"),
        ActionKind::Check => check_given(violations, action.condition.is_some(), member, "conditionExpression"),
        ActionKind::Put | ActionKind::Delete => {}
    }
    let on_failure = action.return_on_failure.as_deref();
    let on_failure_member = format_args!("{member}.returnValuesOnConditionCheckFailure");
    choice::check(violations, on_failure, on_failure_member, &["ALL_OLD", "NONE"]);
}

fn check_given(violations: &mut Violations, given: bool, member: fmt::Arguments<'_>, name: &str) {
    if !given {
        violations.null(&format!("{member}.{name}"));
    }
}

fn check_table(violations: &mut Violations, parameters: &Parameters, member: fmt::Arguments<'_>) {
    match parameters.table.as_deref() {
        None => violations.null(&format!("{member}.tableName")),
        Some(table) if table_name::name_in_arn(table).is_some() => {}
        Some(table) => table_name::check_name(violations, table, format_args!("{member}.tableName")),
    }
}

fn transact_get(mut parameters: Parameters, echo: &mut Echo) -> Result<TransactGet, Error> {
    mixture::check(&parameters)?;
    let key = parameters.key.take().transpose()?.unwrap_or_default();
    let mut expressions = Expressions::of_action(&mut parameters)?;
    let projection = expressions.projection(parameters.projection.as_deref())?;
    expressions.finish()?;
    Ok(TransactGet { table: echo.resolve(parameters.table.take()), key, projection })
}

fn transact_action(mut actions: RawAction, echo: &mut Echo) -> Result<TransactAction, Error> {
    let (kind, parameters) = actions.pop().ok_or_else(request::action_missing)?;
    if !actions.is_empty() {
        return Err(request::action_ambiguous());
    }
    action(kind, parameters, echo)
}

fn action(kind: ActionKind, mut parameters: Parameters, echo: &mut Echo) -> Result<TransactAction, Error> {
    mixture::check(&parameters)?;
    let return_item_on_failure = choice::return_item_on_failure(parameters.return_on_failure.as_deref());
    let table = echo.resolve(parameters.table.take());
    if kind == ActionKind::Put {
        let item = parameters.item.take().transpose()?.unwrap_or_default();
        let condition = condition(&mut parameters)?;
        return Ok(TransactAction::Put { table, item, condition, return_item_on_failure });
    }
    let key = parameters.key.take().transpose()?.unwrap_or_default();
    if kind == ActionKind::Update {
        return update(parameters, table, key, return_item_on_failure);
    }
    let condition = condition(&mut parameters)?;
    match condition {
        Some(condition) if kind == ActionKind::Check => {
            Ok(TransactAction::Check { table, key, condition, return_item_on_failure })
        }
        condition => Ok(TransactAction::Delete { table, key, condition, return_item_on_failure }),
    }
}

fn update(
    mut parameters: Parameters,
    table: String,
    key: Attributes,
    return_item_on_failure: bool,
) -> Result<TransactAction, Error> {
    let mut expressions = Expressions::of_action(&mut parameters)?;
    let update = expressions.update(parameters.update.as_deref())?.unwrap_or_default();
    let condition = expressions.condition(parameters.condition.as_deref())?;
    expressions.finish()?;
    Ok(TransactAction::Update { table, key, update, condition, return_item_on_failure })
}

fn condition(parameters: &mut Parameters) -> Result<Option<Condition>, Error> {
    let mut expressions = Expressions::of_action(parameters)?;
    let condition = expressions.condition(parameters.condition.as_deref())?;
    expressions.finish()?;
    Ok(condition)
}
