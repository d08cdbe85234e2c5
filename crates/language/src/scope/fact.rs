//! Values that one alternative of an `allow` authorises: the least set that contains the claims and is closed under
//! equality, guards, items that were read, bearer values, granted references and fresh values.

use crate::document::ast::{Number, Verb};
use crate::plan::{Plans, RequestKind};
use crate::schema::{
    Entity, EntityId, Expr, ExprKind, FieldId, GuardId, Let, LetSource, Model, Origin, Parameter, PathStep, Permission,
    Read, ReadId, Require, Result as ReadResult, ValuePath, Write, WriteStep,
};

use super::call;
use super::disjunct::{claim, conjuncts, equality};
use super::domain::{Domain, Domains};
use super::enforced::{self, Enforced, place};
use super::reach;

/// Pattern whose `allow` is examined.
#[derive(Clone, Copy, Debug)]
pub struct Pattern<'a> {
    /// Parameters of the pattern.
    pub parameters: &'a [Parameter],
    /// `let`s of a write.
    pub lets: &'a [Let],
    /// `require`s of a write.
    pub requires: &'a [Require],
    /// Write whose steps create items; `None` for a read.
    pub write: Option<&'a Write>,
    /// Permission of the pattern.
    pub allow: &'a Permission,
}

/// A value that the caller is authorised for, as the thing that it identifies; `None` if it may identify anything.
#[derive(Clone, Debug)]
struct Fact {
    value: Expr,
    domain: Option<Domain>,
    /// Claim that the value equals.
    claim: Option<usize>,
}

/// Values that one alternative authorises.
#[derive(Debug)]
pub struct Facts<'a> {
    model: &'a Model,
    plans: &'a Plans,
    domains: &'a Domains<'a>,
    pattern: Pattern<'a>,
    facts: Vec<Fact>,
    /// Ids of the items that the write creates.
    made: Vec<Expr>,
    /// `let`s whose item, or whose every row, is authorised.
    items: Vec<usize>,
    /// Lists that the enclosing `for`s iterate over, outermost first.
    lists: Vec<Expr>,
}

impl<'a> Facts<'a> {
    /// Computes the values that the conditions of an alternative authorise.
    #[must_use]
    pub fn of(
        model: &'a Model,
        plans: &'a Plans,
        domains: &'a Domains<'a>,
        pattern: Pattern<'a>,
        conditions: &[&'a Expr],
    ) -> Self {
        let mut facts = Self {
            model,
            plans,
            domains,
            pattern,
            facts: Vec::new(),
            made: Vec::new(),
            items: Vec::new(),
            lists: Vec::new(),
        };
        let required = pattern.requires.iter().flat_map(|require| conjuncts(&require.condition));
        let conditions: Vec<&Expr> = conditions.iter().copied().chain(required).collect();
        facts.created();
        loop {
            let before = (facts.facts.len(), facts.items.len());
            conditions.iter().for_each(|condition| facts.learn(condition));
            (0..pattern.lets.len()).for_each(|number| facts.read_item(number));
            facts.checked();
            if before == (facts.facts.len(), facts.items.len()) {
                return facts;
            }
        }
    }

    /// Returns the model of the pattern.
    pub(super) const fn model(&self) -> &'a Model {
        self.model
    }

    /// Returns true if the item or every row of a `let` is authorised.
    pub(super) fn is_authorised(&self, number: usize) -> bool {
        self.items.contains(&number)
    }

    /// Returns true if a value is authorised only because this write makes it, as the id of a new item.
    pub(super) fn is_made(&self, value: &Expr) -> bool {
        self.claim_of(value).is_none() && (value.is_fresh() || self.made.iter().any(|made| made.same(value)))
    }

    /// Returns true if an authorised value determines a field of an item.
    #[must_use]
    pub fn binds(&self, entity: EntityId, field: FieldId, value: &Expr) -> bool {
        match self.domains.field(entity, field) {
            Some(domain) => self.domains.is_global(&domain) && self.knows(value, &domain),
            // A free text identifies nothing by itself; one that equals the caller's id identifies the caller.
            None => {
                let is_text = self.model.entity(entity).field(field).kind.free_text().is_some();
                is_text && self.claim_of(value).is_some_and(|claim| self.domains.is_identifying(claim))
            }
        }
    }

    /// Returns the claim that a value equals, by index.
    fn claim_of(&self, value: &Expr) -> Option<usize> {
        let fact = || self.facts.iter().find(|fact| fact.value.same(value) && fact.claim.is_some());
        claim(value).or_else(|| fact().and_then(|fact| fact.claim))
    }

    /// Returns true if the caller is authorised for a value, as an id of this domain.
    #[must_use]
    pub fn knows(&self, value: &Expr, domain: &Domain) -> bool {
        let is_same = |fact: &Fact| fact.value.same(value) && fact.domain.as_ref().is_none_or(|own| own == domain);
        value.is_fresh() || claim(value).is_some() || self.facts.iter().any(is_same) || self.follows(value, domain)
    }

    /// Returns true if a value is that of a `let`, or a field of an authorised row.
    fn follows(&self, value: &Expr, domain: &Domain) -> bool {
        let ExprKind::ValuePath(ValuePath { origin, path }) = &value.kind else { return false };
        match (origin, path.as_slice()) {
            (Origin::Let { number, field: None, .. }, []) => {
                matches!(&self.pattern.lets[*number].source, LetSource::Value(value) if self.knows(value, domain))
            }
            (Origin::Element(depth), [PathStep::Member(name)]) => self.row(*depth).is_some_and(|(number, entity)| {
                let field = self.model.entity(entity).field_named(name);
                self.items.contains(&number) && field.is_some_and(|field| self.of_item(number, entity, field, domain))
            }),
            _ => false,
        }
    }

    /// Returns true if a field of an authorised item is authorised too: its id, a reference with `grants`, or a field
    /// that the read compared with an authorised value.
    fn of_item(&self, number: usize, entity: EntityId, field: FieldId, domain: &Domain) -> bool {
        let item = self.model.entity(entity);
        let is_own = item.id_field() == Some(field) || grants(item, field);
        if is_own && self.domains.field(entity, field).as_ref() == Some(domain) {
            return true;
        }
        let LetSource::Read { read, arguments } = &self.pattern.lets[number].source else { return false };
        self.read_values(*read, arguments).iter().any(|it| it.field == field && self.knows(&it.value, domain))
    }

    /// Returns the `let` and the entity of the rows that a `for` iterates over.
    fn row(&self, depth: usize) -> Option<(usize, EntityId)> {
        let list = self.lists.get(depth)?;
        let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) = &list.kind else {
            return None;
        };
        let read = self.pattern.lets[*number].read()?;
        let [entity] = self.model.read(read).result.entities()[..] else { return None };
        path.is_empty().then_some((*number, entity))
    }

    /// Enters a `for`, whose elements come from this list.
    pub fn enter(&mut self, list: &Expr) {
        self.lists.push(list.clone());
    }

    /// Leaves a `for`.
    pub fn leave(&mut self) {
        self.lists.pop();
    }

    /// Returns true if a step addresses an authorised item that was read: every part of its key is a field of that item.
    #[must_use]
    pub fn is_read_item(&self, entity: EntityId, keys: &[(FieldId, Expr)]) -> bool {
        let source = |(field, value): &(FieldId, Expr)| {
            let ExprKind::ValuePath(ValuePath { origin, path }) = &value.kind else { return None };
            match (origin, path.as_slice()) {
                (Origin::Let { number, entity: Some(of), field: Some(own) }, []) if *of == entity && own == field => {
                    Some(*number)
                }
                (Origin::Element(depth), [PathStep::Member(name)]) => {
                    let (number, of) = self.row(*depth)?;
                    (of == entity && self.model.entity(of).field(*field).name == *name).then_some(number)
                }
                _ => None,
            }
        };
        let sources: Option<Vec<usize>> = keys.iter().map(source).collect();
        sources.is_some_and(|sources| {
            sources.first().is_some_and(|first| self.items.contains(first) && sources.iter().all(|one| one == first))
        })
    }

    fn add(&mut self, value: Expr, domain: Option<Domain>) {
        self.add_equal(value, domain, None);
    }

    fn add_equal(&mut self, value: Expr, domain: Option<Domain>, claim: Option<usize>) {
        let is_known = |fact: &Fact| fact.value.same(&value) && (fact.domain.is_none() || fact.domain == domain);
        if !self.facts.iter().any(is_known) {
            self.facts.push(Fact { value, domain, claim });
        }
    }

    /// Adds the ids of the items that the write creates: no other caller has them. An id that every token carries is not
    /// new, because it belongs to the caller who has it.
    fn created(&mut self) {
        let actions = self.pattern.write.map(Write::actions).unwrap_or_default();
        for action in actions.into_iter().filter(|action| action.verb == Verb::Create) {
            let Some((entity, id)) = action.entity.and_then(|id| Some((id, self.model.entity(id).id_field()?))) else {
                continue;
            };
            let domain = self.domains.field(entity, id);
            if domain == Some(Domain::Entity(entity))
                && self.domains.is_own_id(entity, id)
                && !self.domains.is_of_callers(entity, id)
                && let Some(value) = action.value_of(id)
            {
                self.made.push(value.clone());
                self.add(value.clone(), domain);
            }
        }
    }

    /// Adds the ids of items that the same request requires to exist and whose scope it verifies and keeps. Steps inside a `for` are
    /// left out: their values belong to one element.
    fn checked(&mut self) {
        let Some(write) = self.pattern.write.filter(|write| write.batch.is_none()) else { return };
        for step in &write.steps {
            let WriteStep::Action(action) = step else { continue };
            let Some(entity) = action.entity.filter(|&id| reach::needs_item(self.model, id, action)) else { continue };
            let item = self.model.entity(entity);
            let id = item.id_field().filter(|&id| self.domains.field(entity, id) == Some(Domain::Entity(entity)));
            let value = id.and_then(|id| action.keys.iter().find(|(field, _)| *field == id)).map(|(_, value)| value);
            let is_bound = |it: &Enforced| {
                let is_known = item.field(it.field).flags.bearer.is_some() || self.binds(entity, it.field, &it.value);
                is_known && action.value_of(it.field).is_none()
            };
            if let Some(value) = value
                && enforced::of_step(item, action).iter().any(is_bound)
            {
                self.add(value.clone(), Some(Domain::Entity(entity)));
            }
        }
    }

    /// Adds what follows from a condition.
    fn learn(&mut self, condition: &Expr) {
        if let Some((left, right)) = equality(condition) {
            self.equal(left, right);
            self.equal(right, left);
        }
        if let ExprKind::Guard { guard, arguments } = &condition.kind {
            self.guarded(*guard, arguments);
        }
        let mut reads = Vec::new();
        condition.walk(&mut |part| {
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, arguments, .. }, .. }) = &part.kind {
                reads.push((*read, arguments.clone()));
            }
        });
        reads.into_iter().for_each(|(read, arguments)| self.permit_read(read, &arguments));
    }

    fn equal(&mut self, value: &Expr, known: &Expr) {
        let own = self.domain_of(value);
        let is_known = match (&own, claim(known)) {
            (_, Some(_)) => true,
            (Some(domain), None) => self.knows(known, domain),
            (None, None) => self.facts.iter().any(|fact| fact.value.same(known)),
        };
        if is_known && claim(value).is_none() {
            self.add_equal(value.clone(), own, self.claim_of(known));
        }
    }

    /// Returns what a value identifies, if that is known.
    fn domain_of(&self, value: &Expr) -> Option<Domain> {
        let ExprKind::ValuePath(ValuePath { origin, path }) = &value.kind else { return None };
        if !path.is_empty() {
            return None;
        }
        match origin {
            Origin::Parameter(number) => {
                let (entity, field) = self.pattern.parameters.get(*number)?.field?;
                self.domains.field(entity, field)
            }
            Origin::Let { entity: Some(entity), field: Some(field), .. } => self.domains.field(*entity, *field),
            Origin::Read { read, field: Some(field), .. } => {
                let entity = *self.model.read(*read).result.entities().first()?;
                self.domains.field(entity, *field)
            }
            Origin::Field(..) | Origin::Let { .. } | Origin::Caller(_) | Origin::Element(_) | Origin::Read { .. } => {
                None
            }
        }
    }

    /// Adds the arguments of a guard whose item is tied to the caller.
    fn guarded(&mut self, guard: GuardId, arguments: &[Expr]) {
        let guard = &self.model.guards[guard.0];
        let Some(entity) = guard.entity.filter(|_| call::is_tied(guard, &call::claimed(arguments))) else { return };
        let equal = guard.equalities.iter().map(|it| (it.field, &it.value));
        for (field, value) in guard.keys.iter().map(|(field, value)| (*field, value)).chain(equal) {
            let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = &value.kind else {
                continue;
            };
            if let Some(argument) = arguments.get(*number) {
                self.add(argument.clone(), self.domains.field(entity, field));
            }
        }
    }

    /// Returns the fields that a read compares with the arguments of a call.
    fn read_values(&self, read: ReadId, arguments: &[Expr]) -> Vec<Enforced> {
        let called = self.model.read(read);
        let Some((plan, entity)) = self.plans.read(read).zip(called.result.entities().first().copied()) else {
            return Vec::new();
        };
        let first = |number: usize| called.parameters[..number].iter().map(|it| it.arguments.len()).sum::<usize>();
        let given = |it: Enforced| {
            let value = match &it.value.kind {
                ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) => {
                    arguments.get(first(*number))?.clone()
                }
                _ => it.value.clone(),
            };
            Some(Enforced { value, ..it })
        };
        enforced::of_read(self.model, called, plan, entity).into_iter().filter_map(given).collect()
    }

    /// Returns true if a read finds authorised items only.
    fn is_bound(&self, read: ReadId, arguments: &[Expr]) -> bool {
        let Some(&entity) = self.model.read(read).result.entities().first() else { return false };
        let item = self.model.entity(entity);
        self.read_values(read, arguments)
            .iter()
            .any(|it| item.field(it.field).flags.bearer.is_some() || self.binds(entity, it.field, &it.value))
    }

    /// Adds what follows from the item or the rows of a `let`.
    fn read_item(&mut self, number: usize) {
        let LetSource::Read { read, arguments } = &self.pattern.lets[number].source else { return };
        let called = self.model.read(*read);
        let [entity] = called.result.entities()[..] else { return };
        let of = |field| place(Origin::Let { number, entity: Some(entity), field: Some(field) });
        let is_one = self.is_one(*read);
        let has_field = || {
            is_one
                && (0..self.model.entity(entity).fields.len())
                    .any(|field| self.binds(entity, FieldId(field), &of(FieldId(field))))
        };
        if !self.items.contains(&number) && !self.is_bound(*read, arguments) && !has_field() {
            return;
        }
        if !self.items.contains(&number) {
            self.items.push(number);
        }
        if is_one {
            self.authorise(entity, &self.read_values(*read, arguments), &of);
        }
    }

    /// Adds what follows from a read in `allow`, which authorises its item through one of its fields.
    fn permit_read(&mut self, read: ReadId, arguments: &[Expr]) {
        let [entity] = self.model.read(read).result.entities()[..] else { return };
        let of = |field| place(Origin::Read { read, arguments: arguments.to_vec(), field: Some(field) });
        let has_field = || {
            (0..self.model.entity(entity).fields.len())
                .any(|field| self.binds(entity, FieldId(field), &of(FieldId(field))))
        };
        if self.is_one(read) && (self.is_bound(read, arguments) || has_field()) {
            self.authorise(entity, &self.read_values(read, arguments), &of);
        }
    }

    /// Adds the id of an authorised item and the references that it grants.
    fn authorise(&mut self, entity: EntityId, given: &[Enforced], of: &dyn Fn(FieldId) -> Expr) {
        let item = self.model.entity(entity);
        let id = item.id_field();
        for number in 0..item.fields.len() {
            let field = FieldId(number);
            if id == Some(field) || grants(item, field) {
                let domain = self.domains.field(entity, field);
                self.add(of(field), domain.clone());
                for it in given.iter().filter(|it| it.field == field) {
                    self.add(it.value.clone(), domain.clone());
                }
            }
        }
        for it in given {
            let domain = self.domains.field(entity, it.field);
            if domain.as_ref().is_some_and(|domain| self.knows(&it.value, domain)) {
                self.add(of(it.field), domain);
            }
        }
    }

    /// Returns true if a read returns one item, by its key or by a value that identifies it.
    fn is_one(&self, read: ReadId) -> bool {
        let called: &Read = self.model.read(read);
        let is_one = matches!(&called.result, ReadResult::Parts(parts)
            if matches!(parts.as_slice(), [(_, Number::One | Number::Maybe, _)]));
        is_one && self.plans.read(read).is_some_and(|plan| plan.unique || plan.request == RequestKind::Get)
    }
}

/// Returns true if an authorised item authorises the item that this reference names. A reference that may change could
/// name another item by the time of the request.
fn grants(item: &Entity, field: FieldId) -> bool {
    let of = item.field(field);
    of.flags.grants.is_some() && (of.is_fixed() || item.key_fields().contains(&field))
}
