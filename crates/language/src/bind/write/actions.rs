//! Binds the arguments of a write to one item request, one transaction or one batch.

use keyform_core::expression::{Comparator, Condition, Operand, Path};
use keyform_core::operation::{DeleteItem, GetItem, TransactAction};
use keyform_core::{AttributeValue, Attributes, Operation};

use crate::document::ast::{Presence, Verb};
use crate::plan::{Outline, WriteKind, WritePlan};
use crate::schema::{Action, Entity, Expr, ExprKind, FieldId, Model, Origin, Place, Step, Table, Write};

use super::condition::{Logic, and};
use super::evaluate::Scope;
use super::expiry::Expiry;
use super::fields::Fields;
use super::intent::{LEASE_MILLIS, Parent};
use super::sealed::Sealer;
use super::update::Changing;
use super::{BindError, Inputs, item, request, sentinel, twice};

/// A write that is ready to run.
#[derive(Clone, Debug)]
pub struct BoundWrite {
    /// Request; `None` if the write is already refused or has nothing to do.
    pub operation: Option<Operation>,
    /// Possible refusals of each action of the request, in the same order.
    pub actions: Vec<BoundAction>,
    /// Refusal decided before anything is sent.
    pub refused: Option<Refusal>,
    /// Deleted items that other items refer to.
    pub parents: Vec<Parent>,
}

/// An action of a write's request.
#[derive(Clone, Debug)]
pub struct BoundAction {
    /// Step of the write it comes from, as a path of indexes through `for`s. Empty for an intent, which has no step.
    pub step: Vec<usize>,
    /// Conditions in evaluation order, each with its outcome. The first that the stored item fails names the refusal
    /// (ADR 0010).
    pub refusals: Refusals,
    /// True if the item must not exist yet.
    pub is_new: bool,
    /// For an upsert that may meet an expired item: the condition that the item is live, and the delete that removes it
    /// otherwise (ADR 0017).
    pub clearing: Option<(Condition, DeleteItem)>,
}

/// Conditions, each with the outcome if it does not hold.
pub type Refusals = Vec<(Condition, Refusal)>;

/// Outcome of a refused write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Name in the model; `keep` is a silent success, empty if the model names none.
    pub outcome: String,
}

/// Binds the arguments of a write.
///
/// # Errors
///
/// Returns an error if an argument or an item that should have been read is missing, or a value has the wrong type.
pub fn write<'a>(
    model: &'a Model,
    write: &'a Write,
    plan: &'a WritePlan,
    inputs: &'a Inputs<'a>,
) -> Result<BoundWrite, BindError> {
    let mut pass = Pass::new(model, write, inputs)?;
    pass.follow(plan);
    if let Some(refused) = pass.required()? {
        return Ok(BoundWrite { operation: None, actions: Vec::new(), refused: Some(refused), parents: Vec::new() });
    }
    pass.steps(&write.steps, &mut Vec::with_capacity(1))?;
    if pass.refused.is_none() {
        pass.refused = pass.repeated()?;
    }
    pass.intend();
    let refused = pass.refused.take();
    let (bound, actions, parents) = (pass.bound, pass.actions, pass.parents);
    let operation = if refused.is_some() { None } else { request::of(write, plan, inputs.token.as_ref(), bound) };
    Ok(BoundWrite { operation, actions, refused, parents })
}

/// Returns the consistent reads that must precede binding: items whose unique values the write changes or removes, and
/// deleted items whose dependents refer to a field outside the key.
///
/// # Errors
///
/// Same as [`write()`].
pub fn read_first(model: &Model, write: &Write, inputs: &Inputs<'_>) -> Result<Vec<GetItem>, BindError> {
    let is_looked_at = |action: &Action| {
        action.entity.is_some_and(|entity| {
            crate::plan::guarded_fields(model.entity(entity)).next().is_some()
                || action.verb == Verb::Delete && !crate::plan::referred_fields(model, entity).is_empty()
        })
    };
    if !write.any_action(&mut |action| is_looked_at(action)) {
        return Ok(Vec::new());
    }
    let mut pass = Pass::new(model, write, inputs)?;
    pass.looks_only = true;
    // A write that is already refused may lack the values its steps use.
    if pass.required()?.is_some() {
        return Ok(Vec::new());
    }
    pass.steps(&write.steps, &mut Vec::with_capacity(1))?;
    Ok(pass.first)
}

struct Pass<'a> {
    model: &'a Model,
    write: &'a Write,
    /// `None` while only collecting the reads of [`read_first`].
    plan: Option<&'a WritePlan>,
    inputs: &'a Inputs<'a>,
    scope: Scope<'a>,
    /// Actions in transaction form; a single action becomes a plain request later.
    bound: Vec<TransactAction>,
    actions: Vec<BoundAction>,
    refused: Option<Refusal>,
    parents: Vec<Parent>,
    /// True while only collecting the reads of [`read_first`].
    looks_only: bool,
    first: Vec<GetItem>,
}

/// Conditions collected for one action, each with its refusal.
#[derive(Default)]
struct Demands<'a> {
    refusals: Refusals,
    expiry: Option<Expiry<'a>>,
}

impl Demands<'_> {
    fn add(&mut self, logic: Logic, outcome: Option<&crate::schema::Outcome>) {
        if let Logic::Test(test) = logic {
            let test = match self.expiry {
                Some(expiry) => expiry.as_absent(test),
                None => test,
            };
            self.refusals.push((test, refusal(outcome)));
        }
    }

    /// Combines all conditions into one.
    fn condition(&self) -> Option<Condition> {
        let condition = match self.refusals.as_slice() {
            [(test, _)] => test.clone(),
            tests => match and(tests.iter().map(|(test, _)| Logic::Test(test.clone()))) {
                Logic::Test(condition) => condition,
                Logic::Known(_) => return None,
            },
        };
        Some(without_repetition(condition))
    }
}

/// Returns the refusal for a taken unique value: the outcome of a `create`, which covers the whole item, else one named
/// after the field.
fn taken(entity: &Entity, field: FieldId, action: &Action) -> Refusal {
    match (action.verb, &action.outcome) {
        (Verb::Create, Some(outcome)) => Refusal { outcome: outcome.name.clone() },
        _ => Refusal { outcome: taken_name(&entity.field(field).name) },
    }
}

/// Returns the outcome name of a taken unique field: `EmailTaken` for `email`.
pub fn taken_name(field: &str) -> String {
    let mut letters = field.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}Taken", letters.as_str())
}

fn refusal(outcome: Option<&crate::schema::Outcome>) -> Refusal {
    Refusal { outcome: outcome.map(|outcome| outcome.name.clone()).unwrap_or_default() }
}

impl<'a> Pass<'a> {
    fn new(model: &'a Model, write: &'a Write, inputs: &'a Inputs<'a>) -> Result<Self, BindError> {
        let scope = Scope::new(model, inputs, &write.parameters, &write.lets)?;
        Ok(Self {
            model,
            write,
            plan: None,
            inputs,
            scope,
            bound: Vec::new(),
            actions: Vec::new(),
            refused: None,
            parents: Vec::new(),
            looks_only: false,
            first: Vec::new(),
        })
    }

    /// Sets the plan to follow and reserves room for its actions.
    fn follow(&mut self, plan: &'a WritePlan) {
        self.plan = Some(plan);
        self.bound.reserve_exact(plan.actions.len());
        self.actions.reserve_exact(plan.actions.len());
    }

    /// Returns the outline of the item that a step puts.
    fn outline(&self, path: &[usize]) -> Result<&'a Outline, BindError> {
        let planned = self.plan.and_then(|plan| plan.at(path));
        let outline = planned.and_then(|planned| planned.outline.as_deref());
        outline.ok_or_else(|| BindError::Missing("the plan of an item".to_owned()))
    }

    /// Returns the refusal that the reads decide: a `let` without result, or a `require` that does not hold.
    fn required(&self) -> Result<Option<Refusal>, BindError> {
        for (number, binding) in self.write.lets.iter().enumerate() {
            if binding.read().is_some() && binding.outcome.is_some() && self.scope.lets[number].is_none() {
                return Ok(Some(refusal(binding.outcome.as_ref())));
            }
        }
        for require in &self.write.requires {
            let holds = self.scope.condition(&require.condition, "")?;
            if holds == Logic::Known(false) {
                return Ok(Some(refusal(require.outcome.as_ref())));
            }
        }
        Ok(None)
    }

    fn steps(&mut self, steps: &'a [Step], path: &mut Vec<usize>) -> Result<(), BindError> {
        for (number, step) in steps.iter().enumerate() {
            path.push(number);
            match step {
                Step::Action(action) => self.action(action, path)?,
                Step::For(each) => {
                    let list = elements(self.scope.typed(&each.list, &crate::schema::Type::Unknown)?);
                    let most = each.max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
                    if list.len() > most
                        && let Some(list) = self.argument_of(&each.list)
                    {
                        return Err(BindError::TooMany { list, most });
                    }
                    for element in list.into_iter().take(most) {
                        self.scope.elements.push(element);
                        self.steps(&each.steps, path)?;
                        self.scope.elements.pop();
                    }
                }
            }
            path.pop();
        }
        Ok(())
    }

    /// Returns the name of the argument that a list comes from. Lists that were read have none: the author limits those
    /// in the model.
    fn argument_of(&self, list: &Expr) -> Option<String> {
        let ExprKind::Place(Place { origin: Origin::Parameter(number), .. }) = &list.kind else { return None };
        self.write.parameters.get(*number).map(|parameter| format!("`{}`", parameter.field_name))
    }

    /// Returns the refusal of a write that addresses one item twice. The second of two creates, or of two claims of one
    /// unique value, is refused as if the first had been written before.
    fn repeated(&self) -> Result<Option<Refusal>, BindError> {
        if self.bound.len() < 2 {
            return Ok(None);
        }
        let entity = |number: usize| {
            let planned = self.plan.and_then(|plan| plan.at(&self.actions[number].step));
            planned.map(|planned| self.model.entity(planned.entity))
        };
        let table = |number: usize| entity(number)?.table.map(|table| self.model.table(table));
        let Some(second) = twice::second(&self.bound, |number| table(number).into_iter().flat_map(Table::key_names))
        else {
            return Ok(None);
        };
        let action = &self.actions[second];
        match action.refusals.first().map(|(_, refusal)| refusal) {
            Some(refusal) if action.is_new && !matches!(refusal.outcome.as_str(), "" | "keep") => {
                Ok(Some(refusal.clone()))
            }
            _ => Err(BindError::Twice(entity(second).map_or("item", |entity| &entity.name).to_owned())),
        }
    }

    fn action(&mut self, action: &'a Action, path: &[usize]) -> Result<(), BindError> {
        let Some(id) = action.entity else { return Ok(()) };
        let entity = self.model.entity(id);
        let Some(table) = entity.table.map(|table| self.model.table(table)) else { return Ok(()) };
        match action.verb {
            Verb::Create | Verb::Put => self.put(action, path, entity, table),
            Verb::Update | Verb::Upsert => self.update(action, path, entity, table),
            Verb::Delete => self.delete(action, path, entity, table),
            Verb::Check => self.check(action, path, entity, table),
        }
    }

    fn put(&mut self, action: &Action, path: &[usize], entity: &Entity, table: &Table) -> Result<(), BindError> {
        let guarded: Vec<FieldId> = match action.verb {
            Verb::Put => crate::plan::guarded_fields(entity).collect(),
            _ => guarded(entity, action).collect(),
        };
        let replaces = action.verb == Verb::Put && !guarded.is_empty();
        if self.looks_only && !replaces {
            return Ok(());
        }
        let fields = item::new_fields(&mut self.scope, entity, action)?;
        let name = self.inputs.table_name(table);
        if self.looks_only {
            self.look(name, item::key(table, entity, &fields)?);
            return Ok(());
        }
        let expiry = Expiry::of(table, entity, self.inputs.now_millis);
        let mut before = Fields::new();
        let mut unchanged_tests = Vec::new();
        if replaces {
            let current = self.living(&name, &item::key(table, entity, &fields)?, expiry);
            before = values_before(entity, &guarded, expiry, current.as_ref(), &Fields::new());
            unchanged_tests = unchanged(entity, &guarded, &before);
        }
        let after = if guarded.is_empty() { Fields::new() } else { fields.clone() };
        let mut item = item::whole(self.outline(path)?, entity, fields)?;
        if entity.encrypted_fields().next().is_some() {
            let key = key_of(table, &item);
            Sealer::new(self.inputs, table, entity, &key).seal_item(&mut item)?;
        }
        let (condition, refusals) = self.demands(action, table, entity, unchanged_tests)?;
        let put = TransactAction::Put { table: name, item, condition, return_item_on_failure: false };
        self.push(put, path, refusals);
        self.mark_new(action.verb == Verb::Create);
        self.move_sentinels(action, path, (entity, table), &guarded, (&before, &after))
    }

    fn update(&mut self, action: &Action, path: &[usize], entity: &Entity, table: &Table) -> Result<(), BindError> {
        let keys = item::key_fields(&self.scope, entity, action)?;
        let key = item::key(table, entity, &keys)?;
        let name = self.inputs.table_name(table);
        let expiry = Expiry::of(table, entity, self.inputs.now_millis);
        let guarded: Vec<FieldId> = crate::plan::moved_fields(table, entity, action).collect();
        if self.looks_only {
            if !guarded.is_empty() {
                self.look(name, key);
            }
            return Ok(());
        }
        let current = self.living(&name, &key, expiry);
        self.scope.item = keys;
        let sealer = Sealer::new(self.inputs, table, entity, &key);
        let changing = Changing {
            scope: &self.scope,
            table,
            entity,
            action,
            moves_sentinels: !guarded.is_empty(),
            current: current.as_ref(),
            sealer: &sealer,
        };
        let (update, known) = changing.update()?;
        let keys = std::mem::take(&mut self.scope.item);
        let before = values_before(entity, &guarded, expiry, current.as_ref(), &keys);
        let (condition, refusals) = self.demands(action, table, entity, unchanged(entity, &guarded, &before))?;
        let clearing = expiry.filter(|_| action.verb == Verb::Upsert).map(|expiry| {
            let (table, key) = (name.clone(), key.clone());
            (expiry.lives(), DeleteItem { table, key, options: expiry.is_over().into() })
        });
        self.push(
            TransactAction::Update { table: name, key, update, condition, return_item_on_failure: false },
            path,
            refusals,
        );
        if let Some(bound) = self.actions.last_mut() {
            bound.clearing = clearing;
        }
        let mut after = keys;
        after.overlay(known);
        self.move_sentinels(action, path, (entity, table), &guarded, (&before, &after))
    }

    /// Releases the sentinels of old values and claims those of new ones. An unchanged value keeps its sentinel.
    fn move_sentinels(
        &mut self,
        action: &Action,
        path: &[usize],
        (entity, table): (&Entity, &Table),
        guarded: &[FieldId],
        (before, after): (&Fields, &Fields),
    ) -> Result<(), BindError> {
        if guarded.is_empty() {
            return Ok(());
        }
        let name = self.inputs.table_name(table);
        let expiry = Expiry::of(table, entity, self.inputs.now_millis);
        for &field in guarded {
            let replaces = action.verb == Verb::Put;
            let mut whole = if replaces { Fields::new() } else { before.clone() };
            whole.extend(after.iter().map(|(field, value)| (field, value.clone())));
            let old = sentinel::key(table, entity, field, before)?;
            let changed = action.changes.iter().any(|change| change.field == Some(field));
            let stays = replaces || !changed || after.contains(field);
            let new = if stays { sentinel::key(table, entity, field, &whole)? } else { None };
            if let Some(expiry) = expiry.filter(|expiry| touches(action, expiry.field)) {
                match after.get(expiry.field) {
                    Some(end) => whole.insert(expiry.field, end.clone()),
                    None if counts(action, expiry.field) => {
                        let what = "a counted deadline of an item with unique values";
                        return Err(BindError::Inexpressible(what.to_owned()));
                    }
                    None => whole.remove(expiry.field),
                }
            }
            if old == new {
                let ends = |expiry: Expiry<'_>| replaces || touches(action, expiry.field);
                if let Some(key) = new.filter(|_| expiry.is_some_and(ends)) {
                    self.push(sentinel::renew(table, name.clone(), key, entity, &whole), path, Vec::new());
                }
                continue;
            }
            if let Some(old) = old {
                self.push(sentinel::release(name.clone(), old), path, Vec::new());
            }
            if let Some(new) = new {
                self.claim(
                    taken(entity, field, action),
                    path,
                    sentinel::claim(table, name.clone(), new, entity, &whole, expiry),
                );
            }
        }
        Ok(())
    }

    fn delete(&mut self, action: &Action, path: &[usize], entity: &Entity, table: &Table) -> Result<(), BindError> {
        let keys = item::key_fields(&self.scope, entity, action)?;
        let key = item::key(table, entity, &keys)?;
        let name = self.inputs.table_name(table);
        let guarded: Vec<FieldId> = crate::plan::guarded_fields(entity).collect();
        let referred = action.entity.map(|id| crate::plan::referred_fields(self.model, id)).unwrap_or_default();
        let watched: Vec<FieldId> =
            guarded.iter().chain(referred.iter().filter(|field| !guarded.contains(field))).copied().collect();
        if self.looks_only {
            if !watched.is_empty() {
                self.look(name, key);
            }
            return Ok(());
        }
        let expiry = Expiry::of(table, entity, self.inputs.now_millis);
        let current = self.living(&name, &key, expiry);
        let before = values_before(entity, &watched, None, current.as_ref(), &keys);
        self.leaves_behind(action, path, (&name, &key), &keys, &before);
        let (condition, refusals) = self.demands(action, table, entity, unchanged(entity, &watched, &before))?;
        let delete = TransactAction::Delete { table: name, key, condition, return_item_on_failure: false };
        self.push(delete, path, refusals);
        for field in guarded {
            if let Some(key) = sentinel::key(table, entity, field, &before)? {
                self.push(sentinel::release(self.inputs.table_name(table), key), path, Vec::new());
            }
        }
        Ok(())
    }

    /// Records a deleted item that other items refer to.
    fn leaves_behind(
        &mut self,
        action: &Action,
        path: &[usize],
        (table, key): (&str, &Attributes),
        keys: &Fields,
        before: &Fields,
    ) {
        let Some((plan, id)) = self.plan.zip(action.entity) else { return };
        if plan.parents.iter().any(|step| step == path) {
            let entity = self.model.entity(id);
            let known = before
                .iter()
                .chain(keys.iter())
                .map(|(field, value)| (entity.field(field).name.clone(), value.clone()));
            self.parents.push(Parent {
                entity: id,
                table: table.to_owned(),
                key: key.clone(),
                values: known.collect(),
                cascades: plan.intends(path),
            });
        }
    }

    /// Adds the intents of cascading deletes; the runtime puts those of a batch before the batch. A request with a
    /// token must be identical on every attempt, so its intents have no due time (ADR 0020).
    fn intend(&mut self) {
        if self.plan.is_some_and(|plan| plan.request == WriteKind::Batch) {
            return;
        }
        let due = self.inputs.token.is_none().then_some(self.inputs.now_millis + LEASE_MILLIS);
        for parent in self.parents.iter().filter(|parent| parent.cascades) {
            self.bound.push(parent.intend(self.model, due));
            self.actions.push(BoundAction { step: Vec::new(), refusals: Vec::new(), is_new: false, clearing: None });
        }
    }

    fn check(&mut self, action: &Action, path: &[usize], entity: &Entity, table: &Table) -> Result<(), BindError> {
        if self.looks_only {
            return Ok(());
        }
        let keys = item::key_fields(&self.scope, entity, action)?;
        let key = item::key(table, entity, &keys)?;
        let (condition, refusals) = self.demands(action, table, entity, Vec::new())?;
        if let Some(condition) = condition {
            self.push(
                TransactAction::Check {
                    table: self.inputs.table_name(table),
                    key,
                    condition,
                    return_item_on_failure: false,
                },
                path,
                refusals,
            );
        }
        Ok(())
    }

    /// Appends an action. With several conditions it requests the item on failure, which shows the condition that
    /// failed.
    fn push(&mut self, mut action: TransactAction, path: &[usize], refusals: Refusals) {
        let (TransactAction::Put { return_item_on_failure, .. }
        | TransactAction::Update { return_item_on_failure, .. }
        | TransactAction::Delete { return_item_on_failure, .. }
        | TransactAction::Check { return_item_on_failure, .. }) = &mut action;
        *return_item_on_failure = refusals.len() > 1;
        self.bound.push(action);
        self.actions.push(BoundAction { step: path.to_vec(), refusals, is_new: false, clearing: None });
    }

    fn claim(&mut self, taken: Refusal, path: &[usize], claim: TransactAction) {
        let condition = match &claim {
            TransactAction::Put { condition, .. } => condition.clone(),
            _ => None,
        };
        self.push(claim, path, condition.map(|condition| (condition, taken)).into_iter().collect());
        self.mark_new(true);
    }

    /// Sets the `is_new` flag of the last action.
    fn mark_new(&mut self, is_new: bool) {
        if let Some(bound) = self.actions.last_mut() {
            bound.is_new = is_new;
        }
    }

    fn look(&mut self, table: String, key: Attributes) {
        self.first.push(GetItem { table, key, consistent: true, ..GetItem::default() });
    }

    /// Returns the item as it was read, unless it has expired.
    fn living(&self, table: &str, key: &Attributes, expiry: Option<Expiry<'_>>) -> Option<Attributes> {
        self.current(table, key).filter(|item| expiry.is_none_or(|expiry| !expiry.ended(item)))
    }

    fn current(&self, table: &str, key: &Attributes) -> Option<Attributes> {
        let found = self.inputs.current.iter().find(|(name, of, _)| name == table && of == key);
        found.and_then(|(_, _, item)| item.clone())
    }

    /// Collects all conditions of an action.
    fn demands(
        &mut self,
        action: &Action,
        table: &Table,
        entity: &Entity,
        unchanged: Vec<Condition>,
    ) -> Result<(Option<Condition>, Refusals), BindError> {
        let key = table.partition.as_ref().map_or("", |key| key.name.as_str());
        let expiry = Expiry::of(table, entity, self.inputs.now_millis);
        let mut demands = Demands { expiry, ..Demands::default() };
        if let Some(expiry) = expiry.filter(|_| action.verb == Verb::Upsert) {
            // ADR 0017: an update would keep the attributes of an expired item, so that item is deleted first.
            demands.expiry = None;
            demands.add(Logic::Test(expiry.lives()), None);
        }
        let presence = match action.verb {
            Verb::Create => Some(Presence::Absent),
            Verb::Update => Some(Presence::Exists),
            Verb::Put | Verb::Upsert | Verb::Delete | Verb::Check => action.presence,
        };
        if let Some(presence) = presence {
            demands.add(present(key, presence), action.outcome.as_ref());
        }
        for condition in &action.conditions {
            let logic = self.scope.condition(&condition.condition, key)?;
            if logic == Logic::Known(false) && self.refused.is_none() {
                self.refused = Some(refusal(condition.outcome.as_ref()));
            }
            demands.add(logic, condition.outcome.as_ref());
        }
        for test in unchanged {
            demands.add(Logic::Test(test), None);
        }
        Ok((demands.condition(), demands.refusals))
    }
}

/// Returns the elements a `for` iterates over; empty for a value that is not a list or set.
fn elements(list: Option<AttributeValue>) -> Vec<AttributeValue> {
    match list {
        Some(AttributeValue::L(list)) => list,
        Some(AttributeValue::Ss(set)) => set.into_iter().map(AttributeValue::S).collect(),
        Some(AttributeValue::Ns(set)) => set.into_iter().map(AttributeValue::N).collect(),
        Some(AttributeValue::Bs(set)) => set.into_iter().map(AttributeValue::B).collect(),
        _ => Vec::new(),
    }
}

/// Extracts the primary key of a whole item.
pub(super) fn key_of(table: &Table, item: &Attributes) -> Attributes {
    table.key_names().filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
}

/// Removes duplicate conditions, such as a repeated `attribute_exists`.
fn without_repetition(condition: Condition) -> Condition {
    let Condition::And(tests) = condition else { return condition };
    let mut kept: Vec<Condition> = Vec::new();
    for test in tests {
        if !kept.contains(&test) {
            kept.push(test);
        }
    }
    if kept.len() == 1 { kept.remove(0) } else { Condition::And(kept) }
}

fn present(key: &str, presence: Presence) -> Logic {
    let path = Path::attribute(key);
    Logic::Test(match presence {
        Presence::Exists => Condition::AttributeExists(path),
        Presence::Absent => Condition::AttributeNotExists(path),
    })
}

/// Iterates over the unique fields that an action sets and sentinels enforce.
fn guarded<'a>(entity: &'a Entity, action: &'a Action) -> impl Iterator<Item = FieldId> + 'a {
    let fields = action.changes.iter().filter_map(|change| change.field);
    fields.filter(|field| sentinel::is_guarded(entity, *field))
}

/// Returns the current values of the unique fields, of the fields they are unique within, and of the expiry time.
pub(super) fn values_before(
    entity: &Entity,
    guarded: &[FieldId],
    expiry: Option<Expiry<'_>>,
    current: Option<&Attributes>,
    keys: &Fields,
) -> Fields {
    let mut fields = Fields::new();
    if let Some(expiry) = expiry.filter(|_| !guarded.is_empty())
        && let Some(end) = current.and_then(|item| item.get(&entity.field(expiry.field).name))
    {
        fields.insert(expiry.field, end.clone());
    }
    for &field in guarded {
        let unique = entity.field(field).flags.unique.as_ref();
        for part in unique.iter().flat_map(|unique| &unique.per).chain([&field]) {
            let now = current.and_then(|item| item.get(&entity.field(*part).name));
            if let Some(value) = keys.get(*part).or(now).filter(|_| current.is_some()) {
                fields.insert(*part, value.clone());
            }
        }
    }
    fields
}

fn touches(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field))
}

/// Returns true if an action changes a field relative to its stored value.
fn counts(action: &Action, field: FieldId) -> bool {
    action.changes.iter().any(|change| change.field == Some(field) && change.is_cumulative())
}

/// Returns conditions that the values read are unchanged, so that the write releases the right sentinels.
pub(super) fn unchanged(entity: &Entity, guarded: &[FieldId], before: &Fields) -> Vec<Condition> {
    let test = |field: &FieldId| {
        let path = Path::attribute(entity.field(*field).name.clone());
        match before.get(*field) {
            Some(value) => Condition::Compare {
                left: Operand::Path(path),
                comparator: Comparator::Equal,
                right: Operand::Value(value.clone().into()),
            },
            None => Condition::AttributeNotExists(path),
        }
    };
    if guarded.is_empty() {
        return Vec::new();
    }
    let keys = entity.key_fields();
    let mut fields: Vec<FieldId> = Vec::new();
    for &field in guarded {
        let per = entity.field(field).flags.unique.iter().flat_map(|unique| unique.per.iter().copied());
        fields.extend(per.filter(|part| !keys.contains(part)).chain([field]));
    }
    fields.sort_unstable();
    fields.dedup();
    fields.iter().map(test).collect()
}
