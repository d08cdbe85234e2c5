//! Effect of a delete on the items that refer to the deleted one: `cascade` removes them, `restrict` refuses while any
//! exist (ADR 0020).
//!
//! The read planner also plans the reads that find the dependents of one parent. Their
//! parameters are the `ref` and, where the key begins with more, the fields that repeat the rest of the parent's key.
//!
//! ```text
//! Channel  key "SERVER#{serverId}", "CHANNEL#{channelId}"
//! Message  key "CHANNEL#{channelId}", "MSG#…"              channelId: ref Channel   → Query pk = CHANNEL#…
//! Presence index "SERVER#{serverId}", "ONLINE#…"           channelId: ref Channel   → Query SERVER#…, filtered by channelId
//! ```
//!
//! A field of the child repeats a key field of the parent if it is a `copy` of it, a `ref` to it, or has the same name
//! and type. An item belongs to the parent with which it shares all of them. If several reads find the children, an
//! exact read is preferred to one that filters, and the table's key to an index, because an index may lag. The planner
//! never uses a Scan: rule W19 reports dependents without a usable key.

use std::collections::BTreeSet;

use crate::document::ast::{BinaryOp, Number, Verb};
use crate::schema::{
    Entity, EntityId, Expr, ExprKind, Field, FieldId, IndexId, LetSource, Model, Origin, Parameter, Read,
    Result as ReadResult, Test, Type, ValuePath, Write,
};
use crate::span::{Span, Spanned};

use super::{ReadPlan, read, unique};

/// Page size of the reads that find dependents.
const PAGE_ITEMS: u64 = 100;

/// Effect of a delete on the items that refer to the deleted one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDelete {
    /// Deletes them.
    Cascade,
    /// Refuses the delete while any exist.
    Restrict,
}

/// An entity whose items refer to a parent with `cascade` or `restrict`.
#[derive(Clone, Debug)]
pub struct Dependent {
    /// Referring entity.
    pub entity: EntityId,
    /// Field of the referring entity that holds the `ref`.
    pub field: FieldId,
    /// Effect of deleting the parent.
    pub on_delete: OnDelete,
    /// Way to find the referring items.
    pub found: Found,
}

/// Way to find the items that refer to one parent.
#[derive(Clone, Debug)]
pub enum Found {
    /// With a read.
    By(Box<Finder>),
    /// Through another dependent entity: each item also refers to an item of that entity, which the cascade reaches.
    Through(EntityId),
    /// Not possible: the shared fields match several parents, because these fields of the parent's key are not
    /// repeated.
    Ambiguous(Vec<FieldId>),
    /// Not possible: no key or index contains the reference.
    Nowhere,
}

/// A read that finds the items that refer to one parent.
#[derive(Clone, Debug)]
pub struct Finder {
    /// Synthetic read, as an author would have written it.
    pub read: Read,
    /// Plan of that read.
    pub plan: ReadPlan,
    /// Field of the parent that supplies each parameter.
    pub given: Vec<FieldId>,
    /// Fields an item shares with its parent (child field, parent field), including those the read does not use.
    pub shared: Vec<(FieldId, FieldId)>,
    /// True if it uses a global index, which may lag behind writes.
    pub lags: bool,
}

/// Dependents of every entity of a model.
#[derive(Clone, Debug, Default)]
pub struct Dependents {
    of: Vec<Vec<Dependent>>,
}

impl Dependents {
    /// Finds the dependents of every entity.
    pub(super) fn of_model(model: &Model) -> Self {
        let mut direct: Vec<Vec<Dependent>> = model.entities.iter().map(|_| Vec::new()).collect();
        for (parent, dependent) in every_direct(model) {
            direct[parent.0].push(dependent);
        }
        let mut all = Self { of: direct };
        all.go_with_others(model);
        all
    }

    /// Returns the dependents of an entity; those without dependents of their own come first.
    #[must_use]
    pub fn of(&self, parent: EntityId) -> &[Dependent] {
        self.of.get(parent.0).map_or(&[], Vec::as_slice)
    }

    /// Iterates over the dependents that a delete of the parent removes, each with the read that finds them.
    pub fn cascading(&self, parent: EntityId) -> impl Iterator<Item = (&Dependent, &Finder)> {
        self.of(parent).iter().filter(|it| it.on_delete == OnDelete::Cascade).filter_map(with_finder)
    }

    /// Iterates over the dependents that make a delete of the parent fail, each with the read that finds them.
    pub fn restricting(&self, parent: EntityId) -> impl Iterator<Item = (&Dependent, &Finder)> {
        self.of(parent).iter().filter(|it| it.on_delete == OnDelete::Restrict).filter_map(with_finder)
    }

    /// Returns the entities whose items a delete of the parent removes, at any depth.
    #[must_use]
    pub fn reach(&self, parent: EntityId) -> BTreeSet<EntityId> {
        let mut reached = BTreeSet::new();
        let mut next = vec![parent];
        while let Some(entity) = next.pop() {
            for (dependent, _) in self.cascading(entity) {
                if reached.insert(dependent.entity) {
                    next.push(dependent.entity);
                }
            }
        }
        reached
    }

    /// Returns true if dependents of the parent are found through an index that may lag.
    #[must_use]
    pub fn lags(&self, parent: EntityId) -> bool {
        self.cascading(parent).any(|(_, finder)| finder.lags)
    }

    /// Iterates over the dependents of `entity` that refuse a delete of an item of `root`, where `entity` is the root
    /// or is removed with it. Dependents that are removed as well do not refuse.
    pub fn refusing(&self, root: EntityId, entity: EntityId) -> impl Iterator<Item = (&Dependent, &Finder)> {
        let going = if root == entity { BTreeSet::new() } else { self.reach(root) };
        self.restricting(entity).filter(move |(dependent, _)| !going.contains(&dependent.entity))
    }

    /// Returns true if a dependent at or below an entity may refuse a delete of an item of `root`.
    #[must_use]
    pub fn may_refuse(&self, root: EntityId, entity: EntityId) -> bool {
        let refuses = |entity: EntityId| self.refusing(root, entity).next().is_some();
        refuses(entity) || self.reach(entity).into_iter().any(refuses)
    }

    /// Returns all entities whose items may refuse a delete of an item of `root`, each once.
    #[must_use]
    pub fn all_refusing(&self, root: EntityId) -> Vec<EntityId> {
        let mut refusing = Vec::new();
        for entity in [root].into_iter().chain(self.reach(root)) {
            for (dependent, _) in self.refusing(root, entity) {
                if !refusing.contains(&dependent.entity) {
                    refusing.push(dependent.entity);
                }
            }
        }
        refusing
    }

    /// Marks dependents that no key finds but that another cascade removes, and sorts dependents without dependents
    /// first.
    fn go_with_others(&mut self, model: &Model) {
        for parent in model.entity_ids() {
            let others: Vec<(EntityId, BTreeSet<EntityId>)> =
                self.cascading(parent).map(|(dependent, _)| (dependent.entity, self.reach(dependent.entity))).collect();
            for dependent in &mut self.of[parent.0] {
                let lost = matches!(dependent.found, Found::Nowhere) && dependent.on_delete == OnDelete::Cascade;
                let with = others
                    .iter()
                    .find(|(other, reached)| *other != dependent.entity && reached.contains(&dependent.entity));
                if let (true, Some((with, _))) = (lost, with) {
                    dependent.found = Found::Through(*with);
                }
            }
        }
        let has_own: Vec<bool> = self.of.iter().map(|dependents| !dependents.is_empty()).collect();
        for dependents in &mut self.of {
            dependents.sort_by_key(|dependent| has_own[dependent.entity.0]);
        }
    }
}

fn with_finder(dependent: &Dependent) -> Option<(&Dependent, &Finder)> {
    match &dependent.found {
        Found::By(finder) => Some((dependent, finder)),
        Found::Through(_) | Found::Ambiguous(_) | Found::Nowhere => None,
    }
}

/// Returns the outcome name of a delete that an item of this entity refuses: `MemberRemains`.
#[must_use]
pub fn remaining_name(entity: &str) -> String {
    let mut letters = entity.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}Remains", letters.as_str())
}

/// Returns the fields of an entity that dependents refer to and that are not part of its key.
#[must_use]
pub fn referred_fields(model: &Model, parent: EntityId) -> Vec<FieldId> {
    let keys = model.entity(parent).key_fields();
    let fields = model.entities.iter().flat_map(|entity| &entity.fields);
    let mut referred: Vec<FieldId> = fields
        .filter(|field| on_delete(field).is_some())
        .filter_map(|field| target(field, parent))
        .filter(|target| !keys.contains(target))
        .collect();
    referred.sort_unstable();
    referred.dedup();
    referred
}

/// Returns true if a deleted item's key may be used again, because a caller chooses it or its values can repeat.
#[must_use]
pub fn is_reusable(model: &Model, id: EntityId) -> bool {
    let entity = model.entity(id);
    !entity
        .key_fields()
        .into_iter()
        .any(|field| unique::is_fresh(entity, field) && model.writes.iter().all(|write| makes_afresh(write, id, field)))
}

/// Returns true if every action of the write that creates items of the entity generates a new value for the field.
fn makes_afresh(write: &Write, id: EntityId, field: FieldId) -> bool {
    let makes = write
        .actions()
        .into_iter()
        .filter(|action| action.entity == Some(id) && matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert));
    let is_fresh = |expr: &Expr| match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) if path.is_empty() => {
            matches!(&write.lets[*number].source, LetSource::Value(value) if value.is_fresh())
        }
        _ => expr.is_fresh(),
    };
    makes.into_iter().all(|action| {
        let key = action.keys.iter().find(|(key, _)| *key == field).map(|(_, expr)| expr);
        action.value_of(field).or(key).is_none_or(is_fresh)
    })
}

fn on_delete(field: &Field) -> Option<OnDelete> {
    match (&field.flags.cascade, &field.flags.restrict) {
        (Some(_), _) => Some(OnDelete::Cascade),
        (None, Some(_)) => Some(OnDelete::Restrict),
        (None, None) => None,
    }
}

/// Returns the field of the parent that a `ref` points to.
fn target(field: &Field, parent: EntityId) -> Option<FieldId> {
    match field.kind {
        Type::Ref { entity: Some(entity), field, .. } if entity == parent => field,
        _ => None,
    }
}

/// Returns the direct dependents of all entities in one pass, each after its parent and with the read that finds its
/// items.
fn every_direct(model: &Model) -> Vec<(EntityId, Dependent)> {
    let mut dependents = Vec::new();
    for id in model.entity_ids() {
        for (number, field) in model.entity(id).fields.iter().enumerate() {
            let Type::Ref { entity: Some(parent), .. } = field.kind else { continue };
            let Some((on_delete, target)) = on_delete(field).zip(target(field, parent)) else { continue };
            let refers = Refers { model, child: id, parent, field: FieldId(number), target, on_delete };
            let dependent = Dependent { entity: id, field: refers.field, on_delete, found: refers.found() };
            dependents.push((parent, dependent));
        }
    }
    dependents
}

/// A `ref` from a child entity to a parent entity.
struct Refers<'a> {
    model: &'a Model,
    child: EntityId,
    parent: EntityId,
    field: FieldId,
    target: FieldId,
    on_delete: OnDelete,
}

/// A field of the child and the field of the parent it repeats.
type Pair = (FieldId, FieldId);

impl Refers<'_> {
    fn child(&self) -> &Entity {
        self.model.entity(self.child)
    }

    fn parent(&self) -> &Entity {
        self.model.entity(self.parent)
    }

    fn found(&self) -> Found {
        let companions = self.companions();
        let is_known = |key: &FieldId| *key == self.target || companions.iter().any(|(_, of)| of == key);
        let needed = if self.names_one() { Vec::new() } else { self.parent().key_fields() };
        let missing: Vec<FieldId> = needed.iter().copied().filter(|key| !is_known(key)).collect();
        if !missing.is_empty() {
            return Found::Ambiguous(missing);
        }
        let best = self.finders(&companions, &needed).min_by_key(|(rank, _)| *rank);
        best.map_or(Found::Nowhere, |(_, finder)| Found::By(Box::new(finder)))
    }

    /// Returns true if the referenced field alone identifies the parent item.
    fn names_one(&self) -> bool {
        let parent = self.parent();
        parent.key_fields() == [self.target]
            || unique::is_fresh(parent, self.target)
            || parent.field(self.target).flags.unique.as_ref().is_some_and(|unique| unique.per.is_empty())
    }

    /// Returns the required fields of the child that repeat other fields of the parent's key.
    fn companions(&self) -> Vec<Pair> {
        let keys = self.parent().key_fields().into_iter().filter(|key| *key != self.target);
        keys.filter_map(|key| Some((self.repeated(key)?, key))).collect()
    }

    fn repeated(&self, key: FieldId) -> Option<FieldId> {
        let name = &self.parent().field(key).name;
        let fields = || {
            let all = self.child().fields.iter().enumerate().map(|(number, field)| (FieldId(number), field));
            all.filter(|(id, field)| *id != self.field && !field.optional && !field.null)
        };
        let says_so = |field: &Field| {
            matches!(field.kind, Type::Ref { entity: Some(entity), field: Some(of), .. }
                | Type::Copy { entity: Some(entity), field: Some(of), .. } if (entity, of) == (self.parent, key))
        };
        let alike = |field: &Field| {
            let (one, other) = (field.kind.resolved(), self.parent().field(key).kind.resolved());
            field.name == *name && one.is_same_kind(other)
        };
        fields()
            .find(|(_, field)| says_so(field))
            .or_else(|| fields().find(|(_, field)| alike(field)))
            .map(|(id, _)| id)
    }

    /// Iterates over all reads that find the children, each with its rank; smaller is better.
    fn finders<'a>(
        &'a self,
        companions: &'a [Pair],
        needed: &'a [FieldId],
    ) -> impl Iterator<Item = ((bool, u8, usize), Finder)> + 'a {
        let own = (self.field, self.target);
        let subsets = 0..1_usize << (companions.len() + 1).min(8);
        let ways = self.ways().into_iter().flat_map(move |index| subsets.clone().map(move |subset| (index, subset)));
        ways.filter_map(move |(index, subset)| {
            let pairs = [own].into_iter().chain(companions.iter().copied()).enumerate();
            let (by_key, others): (Vec<_>, Vec<_>) = pairs.partition(|(bit, _)| subset >> bit & 1 == 1);
            let by_key: Vec<Pair> = by_key.into_iter().map(|(_, pair)| pair).collect();
            let must = |(_, (_, of)): &(usize, Pair)| *of == self.target || needed.contains(of);
            let filtered: Vec<Pair> = others.into_iter().filter(must).map(|(_, pair)| pair).collect();
            let shared = [own].into_iter().chain(companions.iter().copied()).collect();
            let finder = self.finder(index, &by_key, &filtered, shared)?;
            Some(((!filtered.is_empty(), self.distance(index), by_key.len()), finder))
        })
    }

    /// Returns the table's key and the indexes that contain every child.
    fn ways(&self) -> Vec<Option<IndexId>> {
        let indexes = self.child().indexes.iter().filter(|key| {
            let is_there = |field: FieldId| field == self.field || !self.child().field(field).optional;
            !key.partition.is_empty() && key.fields().all(is_there)
        });
        [None].into_iter().chain(indexes.map(|key| key.index)).collect()
    }

    /// Ranks a key by its lag: 0 for the table's key, 1 for a local index, 2 for a global index.
    fn distance(&self, index: Option<IndexId>) -> u8 {
        match index {
            None => 0,
            Some(_) if !self.lags(index) => 1,
            Some(_) => 2,
        }
    }

    /// Returns true for a global index, which lags behind the table.
    fn lags(&self, index: Option<IndexId>) -> bool {
        let table = self.child().table.map(|table| self.model.table(table));
        index.zip(table).is_some_and(|(index, table)| !table.index_at(index).local)
    }

    fn finder(&self, index: Option<IndexId>, by_key: &[Pair], filtered: &[Pair], shared: Vec<Pair>) -> Option<Finder> {
        let read = self.read(index, by_key, filtered);
        let plan = read::of_children(self.model, &read, index)?;
        let given = by_key.iter().chain(filtered).map(|(_, of)| *of).collect();
        Some(Finder { read, plan, given, shared, lags: self.lags(index) })
    }

    fn read(&self, index: Option<IndexId>, by_key: &[Pair], filtered: &[Pair]) -> Read {
        let entity = self.child();
        let span = entity.field(self.field).span;
        let by_name = |field: FieldId| entity.field(field).name.clone();
        // The parameters of the key match fields by name; those of the filter need names that match none.
        let apart = |field: FieldId| format!("the parent's {}", entity.field(field).name);
        let of_key = by_key.iter().map(|(field, _)| (*field, by_name(*field)));
        let parameters = of_key.chain(filtered.iter().map(|(field, _)| (*field, apart(*field))));
        let parameters = parameters.map(|(field, name)| parameter((self.child, field), entity, name, span));
        let table = entity.table.map(|table| self.model.table(table));
        let named = index.zip(table).map(|(id, table)| (table.index_at(id).name.clone(), span, Some(id)));
        Read {
            name: format!("{}Of{}", entity.name, self.parent().name),
            name_span: entity.field(self.field).name_span,
            span,
            docs: Vec::new(),
            parameters: parameters.collect(),
            result: ReadResult::Parts(vec![(Some(self.child), Number::Many, span)]),
            via: named,
            newest_first: None,
            ordered: None,
            page: Some(Spanned::new(PAGE_ITEMS, span)),
            all: None,
            strong: (!self.lags(index)).then_some(span),
            filter: self.filter(by_key.len(), filtered, span),
            select: None,
            scan: None,
            with_expired: (self.on_delete == OnDelete::Cascade).then_some(span),
            key: None,
            rate: None,
            allow: None,
            unscoped: Vec::new(),
        }
    }

    /// Returns the filter for fields the key does not cover. Its parameters follow those of the key.
    fn filter(&self, first: usize, filtered: &[Pair], span: Span) -> Option<Expr> {
        let place = |origin| Box::new(Expr { kind: ExprKind::ValuePath(ValuePath { origin, path: Vec::new() }), span });
        let test = |(number, (field, _)): (usize, &Pair)| {
            let (left, right) = (place(Origin::Field(self.child, *field)), place(Origin::Parameter(first + number)));
            Expr { kind: ExprKind::Binary(BinaryOp::Equal, left, right), span }
        };
        let both = |one: Expr, other: Expr| Expr {
            kind: ExprKind::Binary(BinaryOp::And, Box::new(one), Box::new(other)),
            span,
        };
        filtered.iter().enumerate().map(test).reduce(both)
    }
}

fn parameter(field: (EntityId, FieldId), entity: &Entity, name: String, span: Span) -> Parameter {
    Parameter {
        field_name: name.clone(),
        arguments: vec![name],
        test: Test::Equal,
        field: Some(field),
        kind: entity.field(field.1).kind.clone(),
        declared: false,
        optional: false,
        span,
    }
}
