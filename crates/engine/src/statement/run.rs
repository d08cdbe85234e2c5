//! `ExecuteStatement`, `BatchExecuteStatement` and `ExecuteTransaction`.

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform_core::capacity::{ConsumedCapacity, ReturnConsumedCapacity};
use keyform_core::error::{CancellationCause, CancellationReason, Detail, item, partiql, transaction};
use keyform_core::limits::PAGE_BYTES_MAX;
use keyform_core::operation::{
    BatchExecuteStatement, BatchExecuteStatementOutput, BatchedStatement, ExecuteStatement, ExecuteStatementOutput,
    ExecuteTransaction, ExecuteTransactionOutput, GetItem, PageOutput, ReturnValues, StatementResponse, TransactAction,
    TransactGet, TransactGetItems, TransactWriteItems, WriteItemOutput,
};
use keyform_core::statement::{SelectStatement, Statement};
use keyform_core::{Error, ErrorCode, Item};

use super::schema::Schema;
use super::select::{self, Read, ReadOptions, SelectPlan};
use super::shape::{self, Shape};
use super::token::NextToken;
use super::write;
use crate::catalog::Table;
use crate::engine::{Engine, Started, Waiting};
use crate::store::Commit;

/// Request options that are not part of the statement.
#[derive(Clone, Copy)]
struct Wanted {
    consistent: bool,
    return_item_on_failure: bool,
    return_capacity: ReturnConsumedCapacity,
}

/// Result of one statement.
struct Outcome {
    item: Option<Item>,
    capacity: Option<ConsumedCapacity>,
}

impl Engine {
    pub(crate) fn execute_statement(
        &self,
        request: ExecuteStatement,
    ) -> Result<Started<ExecuteStatementOutput>, Error> {
        if let Statement::Select(statement) = &request.statement {
            return self.select(&request, statement).map(Started::Done);
        }
        if request.next.is_some() {
            return Err(partiql::next_token_mismatch());
        }
        let wanted = Wanted {
            consistent: request.consistent,
            return_item_on_failure: request.return_item_on_failure,
            return_capacity: request.return_capacity,
        };
        let step = self.write_statement(request.statement, wanted)?;
        Ok(step.map(|written| ExecuteStatementOutput {
            items: written.attributes.into_iter().collect(),
            capacity: written.capacity,
            ..ExecuteStatementOutput::default()
        }))
    }

    fn table(&self, name: &str) -> Result<Arc<Table>, Error> {
        self.catalog.read().table(name).cloned()
    }

    fn select(&self, request: &ExecuteStatement, statement: &SelectStatement) -> Result<ExecuteStatementOutput, Error> {
        let table = self.table(&statement.table)?;
        let options = ReadOptions { consistent: request.consistent, return_capacity: request.return_capacity };
        let plan = select::select(&Schema::from(&*table), statement, options)?;
        let start = request.next.as_deref().map(|token| NextToken::decode(token, &request.statement)).transpose()?;
        let mut pages = Pages::new(request.limit, start);
        self.read_all(plan, &mut pages)?;
        let next = pages.next.map(|next| (next.encode(&request.statement), next.last_key));
        let (next, last_key) = next.unzip();
        Ok(ExecuteStatementOutput { items: pages.items, next, last_key: last_key.flatten(), capacity: pages.capacity })
    }

    /// Runs the reads in order until the page is full.
    fn read_all(&self, plan: SelectPlan, pages: &mut Pages) -> Result<(), Error> {
        let count = plan.reads.len();
        let skipped = pages.start.read as usize;
        for (place, read) in plan.reads.into_iter().enumerate().skip(skipped) {
            let page = self.read_one(read, pages)?;
            pages.add(page, place, count, plan.shape.as_ref());
            if pages.next.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn read_one(&self, read: Read, pages: &mut Pages) -> Result<PageOutput, Error> {
        let start = pages.start.last_key.take().map(|key| key.to_attributes());
        match read {
            Read::Query(mut query) => {
                (query.limit, query.start) = (pages.limit, start);
                self.query_filtering_keys(&query)
            }
            Read::Scan(mut scan) => {
                (scan.limit, scan.start) = (pages.limit, start);
                self.scan(&scan)
            }
        }
    }

    /// Runs a statement that is not a SELECT.
    fn write_statement(&self, statement: Statement, wanted: Wanted) -> Result<Started<WriteItemOutput>, Error> {
        let Wanted { return_item_on_failure, return_capacity, .. } = wanted;
        let table = self.table(statement.table())?;
        let schema = Schema::from(&*table);
        match statement {
            Statement::Insert { table, item } => {
                let mut put = write::insert(&schema, &table, item)?;
                put.options.return_capacity = return_capacity;
                Ok(self.put_item(put).map_err(write::duplicate)?.map_err(write::duplicate))
            }
            Statement::Update { table, update, condition, returning } => {
                let mut update = write::update(&schema, &table, update, &condition, returning)?;
                update.options.return_item_on_failure = return_item_on_failure;
                update.options.return_capacity = return_capacity;
                self.update_item(update)
            }
            Statement::Delete { table, condition, returning } => {
                let mut delete = write::delete(&schema, &table, &condition, returning)?;
                delete.options.return_item_on_failure = return_item_on_failure;
                delete.options.return_capacity = return_capacity;
                self.delete_item(delete)
            }
            Statement::Select(_) | Statement::Exists(_) => Err(partiql::exists_outside_transaction()),
        }
    }

    pub(crate) fn batch_execute_statement(
        &self,
        request: BatchExecuteStatement,
    ) -> Result<Started<BatchExecuteStatementOutput>, Error> {
        if mixes(&request.statements) {
            return Err(partiql::mixed_batch());
        }
        let mut output = BatchExecuteStatementOutput::default();
        let mut last: Option<Commit> = None;
        for statement in request.statements {
            let table = statement.statement.as_ref().ok().map(|statement| statement.table().to_owned());
            let (result, commit) = match self.batched_statement(statement, request.return_capacity) {
                Ok(Started::Done(done)) => (Ok(done), None),
                Ok(Started::Waiting(Waiting { commit, answer, .. })) => (answer, Some(commit)),
                Err(error) => (Err(error), None),
            };
            last = commit.or(last);
            let result = result.map(|outcome| {
                add_capacity(&mut output.capacity, outcome.capacity);
                outcome.item
            });
            output.responses.push(StatementResponse { table, result });
        }
        // Commits become durable in order, so waiting for the last one covers all (ADR 0003).
        Ok(match last {
            Some(commit) => Started::after(commit, output),
            None => Started::Done(output),
        })
    }

    fn batched_statement(
        &self,
        batched: BatchedStatement,
        capacity: ReturnConsumedCapacity,
    ) -> Result<Started<Outcome>, Error> {
        let wanted = Wanted {
            consistent: batched.consistent,
            return_item_on_failure: batched.return_item_on_failure,
            return_capacity: capacity,
        };
        match batched.statement? {
            Statement::Select(statement) => self.batched_select(&statement, wanted).map(Started::Done),
            statement @ (Statement::Insert { .. }
            | Statement::Update { .. }
            | Statement::Delete { .. }
            | Statement::Exists(_)) => {
                let written = self.write_statement(statement, wanted)?;
                Ok(written.map(|written| Outcome { item: written.attributes, capacity: written.capacity }))
            }
        }
    }

    fn batched_select(&self, statement: &SelectStatement, wanted: Wanted) -> Result<Outcome, Error> {
        let table = self.table(&statement.table)?;
        let key = select::single(&Schema::from(&*table), statement, "BatchExecuteStatement")?;
        let mut output = self.get_item(&GetItem {
            table: statement.table.clone(),
            key,
            projection: statement.columns.as_deref().map(shape::projection),
            consistent: wanted.consistent,
            return_capacity: wanted.return_capacity,
        })?;
        if let Some(shape) = statement.columns.as_deref().and_then(Shape::of) {
            output.item = output.item.map(|item| shape.apply(&item));
        }
        Ok(Outcome { item: output.item, capacity: output.capacity })
    }

    pub(crate) fn execute_transaction(
        &self,
        request: ExecuteTransaction,
    ) -> Result<Started<ExecuteTransactionOutput>, Error> {
        let statements = transaction_statements(&request.statements)?;
        if statements.iter().all(|statement| matches!(statement, Statement::Select(_))) {
            return self.read_transaction(&statements, request.return_capacity).map(Started::Done);
        }
        let inserts: Vec<bool> =
            statements.iter().map(|statement| matches!(statement, Statement::Insert { .. })).collect();
        let mut actions = Vec::with_capacity(statements.len());
        let count = statements.len();
        for (place, (statement, batched)) in statements.into_iter().zip(&request.statements).enumerate() {
            let action = self.action(statement, batched.return_item_on_failure);
            actions.push(action.map_err(|error| in_transaction(place, count, error))?);
        }
        let step = self.transact_write_items(TransactWriteItems {
            actions,
            token: request.token,
            return_capacity: request.return_capacity,
            ..TransactWriteItems::default()
        });
        Ok(step?
            .map(|written| ExecuteTransactionOutput { responses: Vec::new(), capacity: written.capacity })
            .map_err(|error| with_duplicates(error, &inserts)))
    }

    fn action(&self, statement: Statement, return_item_on_failure: bool) -> Result<TransactAction, Error> {
        let table = self.table(statement.table())?;
        let schema = Schema::from(&*table);
        Ok(match statement {
            Statement::Insert { table, item } => {
                let put = write::put(&schema, &table, item);
                TransactAction::Put {
                    table,
                    item: put.item,
                    condition: put.options.condition,
                    return_item_on_failure: false,
                }
            }
            Statement::Update { table, update, condition, .. } => {
                let request = write::update(&schema, &table, update, &condition, ReturnValues::None)?;
                TransactAction::Update {
                    table,
                    key: request.key,
                    update: request.update.unwrap_or_default(),
                    condition: request.options.condition,
                    return_item_on_failure,
                }
            }
            Statement::Delete { table, condition, .. } => {
                let request = write::delete(&schema, &table, &condition, ReturnValues::None)?;
                let condition = request.options.condition;
                TransactAction::Delete { table, key: request.key, condition, return_item_on_failure }
            }
            Statement::Exists(select) | Statement::Select(select) => {
                let (key, condition) = write::exists(&schema, &select)?;
                TransactAction::Check { table: select.table, key, condition, return_item_on_failure }
            }
        })
    }

    fn read_transaction(
        &self,
        statements: &[Statement],
        return_capacity: ReturnConsumedCapacity,
    ) -> Result<ExecuteTransactionOutput, Error> {
        let mut gets = Vec::with_capacity(statements.len());
        let mut shapes = Vec::with_capacity(statements.len());
        for (place, statement) in statements.iter().enumerate() {
            let Statement::Select(select) = statement else { return Err(partiql::mixed_transaction()) };
            let get = self.transact_get(select);
            gets.push(get.map_err(|error| in_transaction(place, statements.len(), error))?);
            shapes.push(select.columns.as_deref().and_then(Shape::of));
        }
        let output = self.transact_get_items(&TransactGetItems { gets, return_capacity })?;
        let shaped = |(item, shape): (Option<Item>, Option<Shape>)| match (item, shape) {
            (Some(item), Some(shape)) => Some(shape.apply(&item)),
            (item, _) => item,
        };
        let responses = output.responses.into_iter().zip(shapes).map(shaped).collect();
        Ok(ExecuteTransactionOutput { responses, capacity: output.capacity })
    }

    fn transact_get(&self, statement: &SelectStatement) -> Result<TransactGet, Error> {
        if statement.index.is_some() {
            return Err(partiql::index_in_transaction());
        }
        let table = self.table(&statement.table)?;
        let key = select::single(&Schema::from(&*table), statement, "ExecuteTransaction")?;
        let projection = statement.columns.as_deref().map(shape::projection);
        Ok(TransactGet { table: statement.table.clone(), key, projection })
    }
}

/// Page being filled.
struct Pages {
    start: NextToken,
    limit: Option<usize>,
    bytes: usize,
    items: Vec<Item>,
    capacity: Option<ConsumedCapacity>,
    next: Option<NextToken>,
}

impl Pages {
    fn new(limit: Option<usize>, start: Option<NextToken>) -> Self {
        let start = start.unwrap_or(NextToken { read: 0, last_key: None });
        Self { start, limit, bytes: 0, items: Vec::new(), capacity: None, next: None }
    }

    /// Adds the result of read number `place` of `count`, and decides whether there is a next page.
    fn add(&mut self, page: PageOutput, place: usize, count: usize, shape: Option<&Shape>) {
        let items = page.items.unwrap_or_default();
        self.bytes += items.iter().map(Item::size).sum::<usize>();
        self.items.extend(items.into_iter().map(|item| shape.map_or_else(|| item.clone(), |shape| shape.apply(&item))));
        self.limit = self.limit.map(|limit| limit.saturating_sub(page.scanned));
        let mut capacity: Vec<ConsumedCapacity> = self.capacity.take().into_iter().collect();
        add_capacity(&mut capacity, page.capacity);
        self.capacity = capacity.pop();
        let is_full = self.limit == Some(0) || self.bytes >= PAGE_BYTES_MAX;
        let next = u32::try_from(place).unwrap_or(u32::MAX);
        if page.last_key.is_some() {
            self.next = Some(NextToken { read: next, last_key: page.last_key });
        } else if is_full && place + 1 < count {
            self.next = Some(NextToken { read: next.saturating_add(1), last_key: None });
        }
    }
}

/// Returns whether some statements read and others write. Statements with syntax errors are ignored.
fn mixes(statements: &[BatchedStatement]) -> bool {
    let is_read = |batched: &BatchedStatement| match &batched.statement {
        Ok(statement) => Some(matches!(statement, Statement::Select(_))),
        Err(_) => None,
    };
    let mut kinds = statements.iter().filter_map(is_read);
    let first = kinds.next();
    kinds.any(|kind| Some(kind) != first)
}

/// Returns the statements of a transaction. Rejects those that a transaction cannot contain.
fn transaction_statements(batched: &[BatchedStatement]) -> Result<Vec<Statement>, Error> {
    let mut statements = Vec::with_capacity(batched.len());
    for (place, one) in batched.iter().enumerate() {
        let statement = one.statement.clone().map_err(|error| at_place(place, error))?;
        let returns = match &statement {
            Statement::Update { returning, .. } | Statement::Delete { returning, .. } => *returning,
            Statement::Select(_) | Statement::Insert { .. } | Statement::Exists(_) => ReturnValues::None,
        };
        if returns != ReturnValues::None {
            return Err(partiql::in_transaction(place, &partiql::returning_in_transaction()));
        }
        statements.push(statement);
    }
    if mixes(batched) { Err(partiql::mixed_transaction()) } else { Ok(statements) }
}

/// Adds the statement's number to a validation error; other errors concern the whole request.
fn at_place(place: usize, error: Error) -> Error {
    if error.code() == ErrorCode::Validation { partiql::in_transaction(place, &error) } else { error }
}

/// Returns the error for a statement of a transaction that cannot be planned. A key of the wrong type cancels the
/// transaction, as in `TransactWriteItems`; any other error rejects the request.
fn in_transaction(place: usize, count: usize, error: Error) -> Error {
    if !partiql::is_about_key_types(&error) {
        return at_place(place, error);
    }
    let mut reasons = vec![CancellationReason { cause: None, item: None }; count];
    reasons[place] = transaction::reason(&item::key_does_not_match_schema());
    transaction::cancelled(reasons)
}

/// Turns the failed conditions of INSERTs in a cancelled transaction into duplicate item reasons.
fn with_duplicates(error: Error, inserts: &[bool]) -> Error {
    let Detail::Cancellation(reasons) = error.detail() else { return error };
    let reason = |(reason, is_insert): (&CancellationReason, &bool)| match &reason.cause {
        Some(cause) if *is_insert && cause.code == "ConditionalCheckFailed" => {
            let message = partiql::duplicate_item().message().to_owned();
            CancellationReason { cause: Some(CancellationCause { code: "DuplicateItem", message }), item: None }
        }
        _ => reason.clone(),
    };
    transaction::cancelled(reasons.iter().zip(inserts).map(reason).collect())
}

/// Adds the capacity of one read or write to the sum of its table.
fn add_capacity(sums: &mut Vec<ConsumedCapacity>, consumed: Option<ConsumedCapacity>) {
    let Some(consumed) = consumed else { return };
    let Some(sum) = sums.iter_mut().find(|sum| sum.table == consumed.table) else {
        sums.push(consumed);
        return;
    };
    sum.total += consumed.total;
    if let (Some(sum), Some(part)) = (&mut sum.detail, consumed.detail) {
        sum.table += part.table;
        add_parts(&mut sum.local, part.local);
        add_parts(&mut sum.global, part.global);
    }
}

fn add_parts(sums: &mut BTreeMap<String, f64>, parts: BTreeMap<String, f64>) {
    for (name, units) in parts {
        *sums.entry(name).or_default() += units;
    }
}
