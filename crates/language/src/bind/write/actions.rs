//! Computes the actions of a write's request.

use keyform_core::Attributes;
use keyform_core::operation::{DeleteItem, TransactAction};

use crate::document::ast::Verb;
use crate::plan::{self, Outline, WriteKind, WritePlan};
use crate::schema::{Entity, FieldId, Table};

use super::super::evaluate::Scope;
use super::super::expiry::Expiry;
use super::super::fields::Fields;
use super::super::intent::{LEASE_MILLIS, Parent};
use super::super::limit::Limit;
use super::super::sealed::Sealer;
use super::super::update::Changing;
use super::super::{BindError, CurrentItem, item, limit, sentinel, twice};
use super::demand::{self, Demands};
use super::unique::{self, SentinelAction, UniqueValues, unchanged, values_before};
use super::walk::{Visited, Visitor, key_of};
use super::{BoundAction, Clearing, Demand, Refusal};

/// Pass that computes the request.
pub(super) struct Actions<'a> {
    plan: &'a WritePlan,
    scope: Scope<'a>,
    /// Actions in transaction form; a single action becomes a plain request later.
    requested: Vec<TransactAction>,
    actions: Vec<BoundAction>,
    refused: Option<Refusal>,
    parents: Vec<Parent>,
}

/// Result of the pass.
pub(super) struct Done {
    pub(super) refused: Option<Refusal>,
    pub(super) requested: Vec<TransactAction>,
    pub(super) actions: Vec<BoundAction>,
    pub(super) parents: Vec<Parent>,
}

impl<'a> Visitor<'a> for Actions<'a> {
    fn scope(&mut self) -> &mut Scope<'a> {
        &mut self.scope
    }

    fn visit(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        match visited.action.verb {
            Verb::Create | Verb::Put => self.put(visited),
            Verb::Update | Verb::Upsert => self.update(visited),
            Verb::Delete => self.delete(visited),
            Verb::Check => self.check(visited),
        }
    }
}

impl<'a> Actions<'a> {
    /// Creates the pass, with room for the planned actions.
    pub(super) fn new(plan: &'a WritePlan, scope: Scope<'a>) -> Self {
        let count = plan.actions.len();
        Self {
            plan,
            scope,
            requested: Vec::with_capacity(count),
            actions: Vec::with_capacity(count),
            refused: None,
            parents: Vec::new(),
        }
    }

    /// Completes the request after the last action.
    pub(super) fn done(mut self) -> Result<Done, BindError> {
        if self.refused.is_none() {
            self.refused = self.repeated()?;
        }
        self.intend();
        let Self { refused, requested, actions, parents, .. } = self;
        Ok(Done { refused, requested, actions, parents })
    }

    fn put(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        let Visited { action, entity, table, .. } = visited;
        let guarded: Vec<FieldId> = match action.verb {
            Verb::Put => plan::guarded_fields(entity).collect(),
            _ => unique::set_fields(entity, action).collect(),
        };
        let mut fields = item::new_fields(&mut self.scope, entity, action)?;
        let name = self.scope.inputs.table_name(table);
        let mut before = Fields::new();
        let mut unchanged_tests = Vec::new();
        let mut limits = Vec::new();
        let mut strict = None;
        // The puts of a batch have no conditions.
        let is_alone = action.verb == Verb::Put && self.plan.request != WriteKind::Batch;
        if action.verb == Verb::Put && (!guarded.is_empty() || is_alone) {
            let expiry = self.expiry(visited);
            let key = item::key(table, entity, &fields)?;
            let current = self.living(&name, &key, expiry);
            before = values_before(entity, &guarded, expiry, current.as_ref(), &Fields::new());
            unchanged_tests = unchanged(entity, &guarded, &before);
            if is_alone {
                limits = limit::kept(entity, action, &fields);
                limits.extend(limit::continued(entity, action, current.as_ref(), &mut fields));
                strict = Some(CurrentItem { table: name.clone(), key, item: None });
            }
        }
        let after = if guarded.is_empty() { Fields::new() } else { fields.clone() };
        let item = self.sealed_item(visited, fields)?;
        let demands = self.demands(visited, unchanged_tests, limits)?;
        let condition = demands.condition();
        let put = TransactAction::Put { table: name, item, condition, return_item_on_failure: false };
        let bound = self.push(put, visited.path, demands.list);
        bound.is_new = action.verb == Verb::Create;
        bound.strict = strict.filter(|_| bound.demands.iter().any(|demand| demand.is_strict));
        self.move_sentinels(visited, &UniqueValues { fields: &guarded, before: &before, after: &after })
    }

    /// Builds the item that a step puts, with its encrypted fields sealed.
    fn sealed_item(&self, visited: Visited<'a, '_>, fields: Fields) -> Result<Attributes, BindError> {
        let Visited { entity, table, .. } = visited;
        let mut item = item::whole(self.outline(visited.path)?, entity, fields)?;
        if entity.encrypted_fields().next().is_some() {
            let key = key_of(table, &item);
            Sealer::new(self.scope.inputs, table, entity, &key).seal_item(&mut item)?;
        }
        Ok(item)
    }

    fn update(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        let Visited { action, entity, table, .. } = visited;
        let keys = item::key_fields(&self.scope, entity, action)?;
        let key = item::key(table, entity, &keys)?;
        let name = self.scope.inputs.table_name(table);
        let expiry = self.expiry(visited);
        let guarded: Vec<FieldId> = plan::moved_fields(table, entity, action).collect();
        let current = self.living(&name, &key, expiry);
        self.scope.item = keys;
        let sealer = Sealer::new(self.scope.inputs, table, entity, &key);
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
        let limits = changing.limits()?;
        let keys = std::mem::take(&mut self.scope.item);
        let before = values_before(entity, &guarded, expiry, current.as_ref(), &keys);
        let demands = self.demands(visited, unchanged(entity, &guarded, &before), limits)?;
        let condition = demands.condition();
        let clearing = expiry.filter(|_| action.verb == Verb::Upsert).map(|expiry| {
            let (table, key) = (name.clone(), key.clone());
            Clearing { lives: expiry.lives(), delete: DeleteItem { table, key, options: expiry.is_over().into() } }
        });
        let is_strict = demands.list.iter().any(|demand| demand.is_strict);
        let strict = is_strict.then(|| CurrentItem { table: name.clone(), key: key.clone(), item: None });
        let update = TransactAction::Update { table: name, key, update, condition, return_item_on_failure: false };
        let bound = self.push(update, visited.path, demands.list);
        (bound.clearing, bound.strict) = (clearing, strict);
        let mut after = keys;
        after.overlay(known);
        self.move_sentinels(visited, &UniqueValues { fields: &guarded, before: &before, after: &after })
    }

    fn delete(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        let Visited { action, entity, table, .. } = visited;
        let keys = item::key_fields(&self.scope, entity, action)?;
        let key = item::key(table, entity, &keys)?;
        let name = self.scope.inputs.table_name(table);
        let watched = unique::watched_fields(self.scope.model, visited.id);
        let current = self.living(&name, &key, self.expiry(visited));
        if self.differs(visited, current.as_ref())? {
            return Ok(());
        }
        let before = values_before(entity, &watched, None, current.as_ref(), &keys);
        self.leave_behind(visited, &name, &key, &[&before, &keys]);
        let demands = self.demands(visited, unchanged(entity, &watched, &before), Vec::new())?;
        let condition = demands.condition();
        let delete = TransactAction::Delete { table: name.clone(), key, condition, return_item_on_failure: false };
        self.push(delete, visited.path, demands.list);
        for field in plan::guarded_fields(entity) {
            if let Some(key) = sentinel::key(table, entity, field, &before)? {
                self.push(sentinel::release(name.clone(), key), visited.path, Vec::new());
            }
        }
        Ok(())
    }

    /// Returns true if an item that was read differs in a field that it must have: it is treated as absent.
    fn differs(&self, visited: Visited<'a, '_>, current: Option<&Attributes>) -> Result<bool, BindError> {
        let Some(current) = current.filter(|_| !visited.action.equalities.is_empty()) else { return Ok(false) };
        let item = keyform_core::Item::from(current);
        let tests = demand::equalities(&self.scope, visited.entity, visited.action)?;
        let has_conditions = !visited.action.conditions.is_empty();
        Ok(!has_conditions && tests.iter().any(|test| !test.holds(Some(&item))))
    }

    fn check(&mut self, visited: Visited<'a, '_>) -> Result<(), BindError> {
        let keys = item::key_fields(&self.scope, visited.entity, visited.action)?;
        let key = item::key(visited.table, visited.entity, &keys)?;
        let demands = self.demands(visited, Vec::new(), Vec::new())?;
        if let Some(condition) = demands.condition() {
            let table = self.scope.inputs.table_name(visited.table);
            let check = TransactAction::Check { table, key, condition, return_item_on_failure: false };
            self.push(check, visited.path, demands.list);
        }
        Ok(())
    }

    fn move_sentinels(&mut self, visited: Visited<'a, '_>, values: &UniqueValues<'_>) -> Result<(), BindError> {
        if values.fields.is_empty() {
            return Ok(());
        }
        let name = self.scope.inputs.table_name(visited.table);
        for moved in unique::moves(visited, &name, self.scope.inputs.now_millis, values)? {
            match moved {
                SentinelAction::Release(action) | SentinelAction::Renew(action) => {
                    self.push(action, visited.path, Vec::new());
                }
                SentinelAction::Claim(claim, taken) => {
                    let demands = unique::demand_of(&claim, taken).into_iter().collect();
                    self.push(claim, visited.path, demands).is_new = true;
                }
            }
        }
        Ok(())
    }

    /// Collects the conditions of an action, and remembers the first refusal that is known before sending.
    fn demands(
        &mut self,
        visited: Visited<'a, '_>,
        unchanged: Vec<keyform_core::expression::Condition>,
        limits: Vec<Limit>,
    ) -> Result<Demands<'a>, BindError> {
        let mut demands = Demands::of(&self.scope, visited, unchanged, limits)?;
        if self.refused.is_none() {
            self.refused = demands.refused.take();
        }
        Ok(demands)
    }

    /// Appends an action. With several conditions it requests the item on failure, which shows the condition that
    /// failed.
    fn push(&mut self, mut action: TransactAction, path: &[usize], demands: Vec<Demand>) -> &mut BoundAction {
        let (TransactAction::Put { return_item_on_failure, .. }
        | TransactAction::Update { return_item_on_failure, .. }
        | TransactAction::Delete { return_item_on_failure, .. }
        | TransactAction::Check { return_item_on_failure, .. }) = &mut action;
        *return_item_on_failure = demands.len() > 1;
        self.requested.push(action);
        self.actions.push_mut(BoundAction { step: path.to_vec(), demands, ..BoundAction::default() })
    }

    /// Records a deleted item that other items refer to.
    fn leave_behind(&mut self, visited: Visited<'a, '_>, table: &str, key: &Attributes, known: &[&Fields]) {
        if !self.plan.parents.iter().any(|step| step == visited.path) {
            return;
        }
        let name = |field: FieldId| visited.entity.field(field).name.clone();
        let values = known.iter().flat_map(|fields| fields.iter()).map(|(field, value)| (name(field), value.clone()));
        self.parents.push(Parent {
            entity: visited.id,
            table: table.to_owned(),
            key: key.clone(),
            values: values.collect(),
            cascades: self.plan.intends(visited.path),
        });
    }

    /// Adds the intents of cascading deletes; the runtime puts those of a batch before the batch. A request with a
    /// token must be identical on every attempt, so its intents have no due time (ADR 0020).
    fn intend(&mut self) {
        if self.plan.request == WriteKind::Batch {
            return;
        }
        let inputs = self.scope.inputs;
        let due = inputs.token.is_none().then_some(inputs.now_millis + LEASE_MILLIS);
        for parent in self.parents.iter().filter(|parent| parent.cascades) {
            self.requested.push(parent.intend(self.scope.model, due));
            self.actions.push(BoundAction::default());
        }
    }

    /// Returns the refusal of a write that addresses one item twice. The second of two creates, or of two claims of one
    /// unique value, is refused as if the first had been written before.
    fn repeated(&self) -> Result<Option<Refusal>, BindError> {
        if self.requested.len() < 2 {
            return Ok(None);
        }
        let model = self.scope.model;
        let entity = |number: usize| -> Option<&Entity> {
            self.plan.at(&self.actions[number].step).map(|planned| model.entity(planned.entity))
        };
        let table = |number: usize| entity(number)?.table.map(|table| model.table(table));
        let key_names = |number: usize| table(number).into_iter().flat_map(Table::key_names);
        let Some(second) = twice::second(&self.requested, key_names) else { return Ok(None) };
        let action = &self.actions[second];
        match action.demands.first().map(|demand| &demand.refusal) {
            Some(refusal) if action.is_new && !matches!(refusal.outcome.as_str(), "" | "keep") => {
                Ok(Some(refusal.clone()))
            }
            _ => Err(BindError::Twice(entity(second).map_or("item", |entity| &entity.name).to_owned())),
        }
    }

    /// Returns the outline of the item that a step puts.
    fn outline(&self, path: &[usize]) -> Result<&'a Outline, BindError> {
        let outline = self.plan.at(path).and_then(|planned| planned.outline.as_deref());
        outline.ok_or_else(|| BindError::Missing("the plan of an item".to_owned()))
    }

    fn expiry(&self, visited: Visited<'a, '_>) -> Option<Expiry<'a>> {
        Expiry::of(visited.table, visited.entity, self.scope.inputs.now_millis)
    }

    /// Returns the item as it was read, unless it has expired.
    fn living(&self, table: &str, key: &Attributes, expiry: Option<Expiry<'_>>) -> Option<Attributes> {
        let current = self.scope.inputs.current.iter().find(|current| current.table == table && current.key == *key);
        let item = current.and_then(|current| current.item.clone());
        item.filter(|item| expiry.is_none_or(|expiry| !expiry.ended(item)))
    }
}
