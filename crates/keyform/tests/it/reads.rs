//! Each planned read finds exactly the items that a naive filter finds.
//!
//! The test writes random items of every entity to an in-memory database. It binds every read of the model to random
//! arguments, runs it page by page, and compares the result with a filter over all items that compares fields and
//! ignores keys.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use keyform::operation::{PageOutput, PutItem};
use keyform::value::Number;
use keyform::{AttributeValue, Attributes, Database, Item, Options, Output};
use keyform_check::Checked;
use keyform_engine::store::Store;
use keyform_language::bind::{self, Fresh, Inputs};
use keyform_language::document::ast::{BinaryOp, Number as Quantity};
use keyform_language::plan::{self, ReadPlan, RequestKind};
use keyform_language::scalar::Scalar;
use keyform_language::schema::{
    Entity, EntityId, Expr, ExprKind, Field, FieldId, KeyAttribute, KeyCondition, KeyTest, Model, Origin, Parameter,
    Read, Result as ReadResult, Template, Test, Type, ValuePath,
};
use keyform_language::template::render::render;
use keyform_scenario::Dice;
use keyform_world::testing::ManualWorld;

use crate::naive::compare::{compare, holds, normalised, text};
use crate::naive::draw;

const NOW_MS: u64 = 1_773_480_413_589;
const SEEDS: u64 = 8;
const ITEMS: usize = 36;
const CALLS: usize = 10;

struct NoFresh;

impl Fresh for NoFresh {
    fn ulid(&self) -> String {
        panic!("a read makes no ids")
    }
    fn uuid(&self) -> String {
        self.ulid()
    }
    fn code(&self, _: usize) -> String {
        self.ulid()
    }
    fn token(&self, _: usize) -> String {
        self.ulid()
    }
}

fn inputs(arguments: Attributes) -> Inputs<'static> {
    Inputs {
        arguments: Cow::Owned(arguments),
        caller: Cow::default(),
        lets: Vec::new(),
        current: Vec::new(),
        variables: BTreeMap::from([("stage".to_owned(), "test".to_owned())]),
        start: None,
        token: None,
        now_millis: NOW_MS as i64,
        fresh: &NoFresh,
        sealing: None,
    }
}

/// Draws a value from a small pool, so that items share values and values are close together.
fn value(kind: &Type, word: &str, dice: &mut Dice) -> AttributeValue {
    draw::value(kind, word, NOW_MS as i64, dice)
}

/// Item as its fields, and as it is stored.
struct Stored {
    entity: EntityId,
    fields: Attributes,
    item: Attributes,
}

struct World {
    checked: Checked,
    database: Database,
    items: Vec<Stored>,
}

impl World {
    fn new(text: &str, dice: &mut Dice) -> Self {
        let checked = Checked::read(text);
        let env = Arc::new(ManualWorld::at_ms(NOW_MS));
        let options = Options { world: env, sweep_interval: None, ..Options::default() };
        let database = Database::on(Store::in_memory(), options).expect("an empty store opens");
        for table in &checked.model.tables {
            let create = bind::create_table(table, &inputs(Attributes::new()));
            database.call_blocking(create).expect("the model's tables can be made");
        }
        let mut world = Self { checked, database, items: Vec::new() };
        for id in world.checked.model.entity_ids() {
            for _ in 0..ITEMS {
                world.put(id, dice);
            }
        }
        world
    }

    fn put(&mut self, id: EntityId, dice: &mut Dice) {
        let model = &self.checked.model;
        let entity = model.entity(id);
        let table = model.table(entity.table.expect("the entity has a table"));
        let mut fields = Attributes::new();
        for field in &entity.fields {
            if !(field.optional && dice.below(3) == 0) {
                fields.insert(field.name.clone(), value(&field.kind, &field.name, dice));
            }
        }
        let Ok(item) = bind::item(table, entity, &fields) else { return };
        if self.breaks_uniqueness(id, &item) {
            return;
        }
        let name = inputs(Attributes::new()).table_name(table);
        let put = PutItem { table: name, item: item.clone(), ..PutItem::default() };
        self.database.call_blocking(put).expect("an item that bind made can be put");
        let keys: Vec<&str> = table.key_names().collect();
        let same = |other: &Stored| {
            model.entity(other.entity).table == entity.table
                && keys.iter().all(|key| other.item.get(*key) == item.get(*key))
        };
        self.items.retain(|other| !same(other));
        let fields =
            entity.fields.iter().filter_map(|field| Some((field.name.clone(), item.get(&field.name)?.clone())));
        self.items.push(Stored { entity: id, fields: fields.collect(), item });
    }

    /// Returns whether another item has the same unique value, or the same generated id.
    fn breaks_uniqueness(&self, id: EntityId, item: &Attributes) -> bool {
        let entity = self.checked.model.entity(id);
        let shared = |field: &Field| {
            let per =
                field.flags.unique.iter().flat_map(|unique| &unique.per).map(|per| entity.field(*per).name.as_str());
            let names: Vec<&str> = per.chain([field.name.as_str()]).collect();
            let same = |other: &Stored| {
                other.entity == id && names.iter().all(|name| other.item.get(*name) == item.get(*name))
            };
            item.contains_key(&field.name) && self.items.iter().any(same)
        };
        entity.fields.iter().any(|field| (field.flags.unique.is_some() || field.is_generated()) && shared(field))
    }

    /// Returns all items of a read's answer, or their number.
    fn run(&self, read: &Read, plan: &ReadPlan, arguments: &Attributes) -> (Vec<Attributes>, usize) {
        let mut found = Vec::new();
        let mut count = 0;
        let mut inputs = inputs(arguments.clone());
        loop {
            let bound = bind::read(&self.checked.model, read, plan, &inputs).expect("the arguments fit");
            let Some(request) = bound.request.clone() else { return (found, count) };
            let output = self.database.execute_blocking(request.into());
            let output = output.unwrap_or_else(|error| panic!("{}: {error}", read.name));
            let page = page(output);
            count += page.count;
            let items: Vec<Item> = page.items.unwrap_or_default();
            found.extend(items.iter().filter(|item| bound.keeps(item)).map(Item::to_attributes));
            match page.last_key {
                Some(last) if plan.page != Some(1) => inputs.start = Some(last.to_attributes()),
                _ => return (found, count),
            }
        }
    }

    /// Returns the items that a naive filter finds.
    fn naive(&self, read: &Read, plan: &ReadPlan, arguments: &Attributes) -> Vec<&Stored> {
        self.items.iter().filter(|stored| self.meets(read, plan, arguments, stored)).collect()
    }

    fn meets(&self, read: &Read, plan: &ReadPlan, arguments: &Attributes, stored: &Stored) -> bool {
        let entity = self.checked.model.entity(stored.entity);
        plan.returns.contains(&stored.entity)
            && is_in_index(&self.checked.model, entity, plan, stored)
            && (read.with_expired.is_some() || !is_expired(&self.checked.model, entity, stored))
            && read.key.as_ref().is_none_or(|key| has_key(&self.checked.model, read, plan, key, arguments, stored))
            && read.parameters.iter().all(|parameter| {
                read.key.is_some()
                    || entity.field_named(&parameter.field_name).is_none()
                    || holds(parameter, entity, arguments, &stored.fields)
            })
            && read.filter.as_ref().is_none_or(|filter| Naive { read, entity, arguments, stored }.is_true(filter))
    }
}

/// Evaluates a `key` clause against the key texts of an item.
fn has_key(
    model: &Model,
    read: &Read,
    plan: &ReadPlan,
    key: &KeyCondition,
    arguments: &Attributes,
    stored: &Stored,
) -> bool {
    let table = model.table(plan.table);
    let (partition, sort) = match plan.index.map(|index| table.index_at(index)) {
        Some(index) => (index.partition.first(), index.sort.first()),
        None => (table.partition.as_ref(), table.sort.as_ref()),
    };
    let meets = |test: &KeyTest, attribute: Option<&KeyAttribute>| {
        let Some(value) = attribute.and_then(|attribute| stored.item.get(&attribute.name)) else { return false };
        let (value, low) = (text(value), rendered(read, &test.template, arguments));
        match test.test {
            Test::Equal => value == low,
            Test::Begins => value.starts_with(&low),
            Test::After => value > low,
            Test::From => value >= low,
            Test::Before => value < low,
            Test::Until => value <= low,
            Test::Between => {
                value >= low && test.upper.as_ref().is_some_and(|upper| value <= rendered(read, upper, arguments))
            }
            Test::In => panic!("a key clause has no lists"),
        }
    };
    meets(&key.partition, partition) && key.sort.as_ref().is_none_or(|test| meets(test, sort))
}

/// Renders a clause's template with the arguments.
fn rendered(read: &Read, template: &Template, arguments: &Attributes) -> String {
    let value = |(number, parameter): (usize, &Parameter)| {
        let argument = arguments.get(&parameter.arguments[0])?;
        let text = match argument {
            AttributeValue::N(number) => number.to_string(),
            argument => text(&normalised(&parameter.kind, argument)),
        };
        Some((FieldId(number), text))
    };
    let values = read.parameters.iter().enumerate().filter_map(value).collect();
    render(template, |field| &read.parameters[field.0].kind, &values).expect("all arguments are given")
}

/// Naive evaluation of a `where` clause for one item.
struct Naive<'a> {
    read: &'a Read,
    entity: &'a Entity,
    arguments: &'a Attributes,
    stored: &'a Stored,
}

impl Naive<'_> {
    fn is_true(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => self.is_true(left) && self.is_true(right),
            ExprKind::Binary(BinaryOp::Or, left, right) => self.is_true(left) || self.is_true(right),
            ExprKind::Not(of) => !self.is_true(of),
            ExprKind::IsNone(of) => self.value(of, None).is_none(),
            ExprKind::IsSome(of) => self.value(of, None).is_some(),
            ExprKind::Binary(op, left, right) => self.compared(*op, left, right),
            ExprKind::Between(of, low, high) => {
                self.compared(BinaryOp::GreaterEqual, of, low) && self.compared(BinaryOp::LessEqual, of, high)
            }
            ExprKind::In(of, list) => list.iter().any(|other| self.compared(BinaryOp::Equal, of, other)),
            ExprKind::ValuePath(_) => self.value(expr, None) == Some(AttributeValue::Bool(true)),
            other => panic!("{other:?} is no condition"),
        }
    }

    fn compared(&self, op: BinaryOp, left: &Expr, right: &Expr) -> bool {
        let kind = self.kind(left).or_else(|| self.kind(right));
        let (one, other) = (self.value(left, kind), self.value(right, kind));
        let order = one.as_ref().zip(other.as_ref()).map(|(one, other)| compare(one, other));
        match op {
            BinaryOp::Equal => one == other,
            BinaryOp::NotEqual => one != other,
            BinaryOp::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            BinaryOp::LessEqual => order.is_some_and(std::cmp::Ordering::is_le),
            BinaryOp::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            BinaryOp::GreaterEqual => order.is_some_and(std::cmp::Ordering::is_ge),
            BinaryOp::Begins => one.zip(other).is_some_and(|(one, other)| text(&one).starts_with(&text(&other))),
            BinaryOp::Contains => one.zip(other).is_some_and(|(one, other)| text(&one).contains(&text(&other))),
            BinaryOp::Or | BinaryOp::And | BinaryOp::Plus | BinaryOp::Minus => panic!("{op:?} compares nothing"),
        }
    }

    /// Returns the type of a field.
    fn kind(&self, expr: &Expr) -> Option<&Type> {
        match &expr.kind {
            ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), .. }) => {
                Some(&self.entity.field(*field).kind)
            }
            _ => None,
        }
    }

    fn value(&self, expr: &Expr, kind: Option<&Type>) -> Option<AttributeValue> {
        let value = match &expr.kind {
            ExprKind::Text(text) => text.as_str().into(),
            ExprKind::Number(digits) => AttributeValue::N(digits.parse().expect("digits")),
            ExprKind::Bool(value) => AttributeValue::Bool(*value),
            ExprKind::None => return None,
            ExprKind::Call { function, .. } if function == "now" => now(kind),
            ExprKind::ValuePath(place) if place.path.is_empty() => match &place.origin {
                Origin::Field(_, field) => self.stored.fields.get(&self.entity.field(*field).name)?.clone(),
                Origin::Parameter(number) => self.arguments.get(&self.read.parameters[*number].arguments[0])?.clone(),
                Origin::Caller(_) => return None,
                other => panic!("{other:?} is nothing a read sees"),
            },
            other => panic!("{other:?} is no value"),
        };
        Some(kind.map_or_else(|| value.clone(), |kind| normalised(kind, &value)))
    }
}

/// Returns the current time as a field of the type stores it.
fn now(kind: Option<&Type>) -> AttributeValue {
    let millis = i64::try_from(NOW_MS).expect("small enough");
    match kind.map(Type::resolved) {
        Some(Type::Scalar(Scalar::Epoch, _)) => AttributeValue::N((millis / 1000).into()),
        Some(Type::Scalar(Scalar::EpochMs, _)) => AttributeValue::N(millis.into()),
        _ => "2026-03-14T09:26:53.589Z".into(),
    }
}

fn page(output: Output) -> PageOutput {
    match output {
        Output::Query(page) | Output::Scan(page) => page,
        Output::GetItem(output) => {
            let items: Vec<Item> = output.item.into_iter().collect();
            PageOutput { count: items.len(), items: Some(items), ..PageOutput::default() }
        }
        Output::BatchGetItem(output) => {
            let items: Vec<Item> = output.responses.into_values().flatten().collect();
            PageOutput { count: items.len(), items: Some(items), ..PageOutput::default() }
        }
        other => panic!("no read answers {other:?}"),
    }
}

fn is_in_index(model: &Model, entity: &Entity, plan: &ReadPlan, stored: &Stored) -> bool {
    let Some(index) = plan.index else { return true };
    let index = model.table(plan.table).index_at(index);
    let keys = index.partition.iter().chain(&index.sort);
    entity.key_of(plan.index).is_some() && keys.into_iter().all(|key| stored.item.contains_key(&key.name))
}

fn is_expired(model: &Model, entity: &Entity, stored: &Stored) -> bool {
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref());
    let time = ttl.filter(|ttl| entity.field_named(&ttl.value).is_some()).and_then(|ttl| stored.fields.get(&ttl.value));
    matches!(time, Some(AttributeValue::N(time)) if *time < Number::from(NOW_MS as i64 / 1000))
}

/// Draws arguments, mostly of a stored item, so that reads find something.
fn arguments(world: &World, read: &Read, dice: &mut Dice) -> Attributes {
    let entities = read.result.entities();
    let items: Vec<&Stored> = world.items.iter().filter(|stored| entities.contains(&stored.entity)).collect();
    let like = (!items.is_empty()).then(|| items[dice.below(items.len())]);
    let mut arguments = Attributes::new();
    for parameter in &read.parameters {
        // The bounds of a range are rarely those of one item, because nothing would lie between them.
        let rarely = if matches!(parameter.test, Test::Equal | Test::In | Test::Begins) { 0 } else { 3 };
        for name in &parameter.arguments {
            let of_item =
                like.and_then(|stored| stored.fields.get(&parameter.field_name)).filter(|_| dice.below(5) > rarely);
            let one = |dice: &mut Dice| value(&parameter.kind, &parameter.field_name, dice);
            let argument = match (parameter.test, of_item) {
                (Test::In, of_item) => {
                    let mut list = vec![one(dice), one(dice)];
                    list.extend(of_item.cloned());
                    AttributeValue::L(list)
                }
                (Test::Begins, Some(AttributeValue::S(text))) => AttributeValue::S(text.chars().take(1).collect()),
                (_, Some(value)) => value.clone(),
                (_, None) => one(dice),
            };
            arguments.insert(name.clone(), argument);
        }
    }
    arguments
}

/// Returns whether results can be compared: entities in the same key range must be distinguishable.
fn can_be_compared(model: &Model, plan: &ReadPlan) -> bool {
    model.table(plan.table).tag.is_some() || plan.matches.iter().all(|entity| plan.returns.contains(entity))
}

/// Returns the attributes that a read returns: all, those it selects, or those of the table's key if the index projects
/// only some.
fn returned(model: &Model, read: &Read, plan: &ReadPlan, item: &Attributes) -> Attributes {
    let table = model.table(plan.table);
    let is_partial = plan.index.is_some_and(|index| table.index_at(index).projection.is_some());
    let names: Vec<&str> = match &read.select {
        Some(fields) => {
            fields.iter().map(|((entity, field), _)| model.entity(*entity).field(*field).name.as_str()).collect()
        }
        None if is_partial => table.key_names().collect(),
        None => return item.clone(),
    };
    item.iter()
        .filter(|(name, _)| names.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Compares one call; returns the number of items found.
fn check(world: &World, read: &Read, plan: &ReadPlan, dice: &mut Dice) -> usize {
    let arguments = arguments(world, read, dice);
    let (found, count) = world.run(read, plan, &arguments);
    let expected = world.naive(read, plan, &arguments);
    let context = format!("{}({arguments:?}) by {:?} {:?}", read.name, plan.partition, plan.sort);
    if plan.count {
        assert_eq!(count, expected.len(), "{context}");
        return count;
    }
    let model = &world.checked.model;
    let mut wanted: Vec<Attributes> = expected.iter().map(|stored| returned(model, read, plan, &stored.item)).collect();
    let mut got: Vec<Attributes> = found.iter().map(|item| returned(model, read, plan, item)).collect();
    let key = |item: &Attributes| format!("{item:?}");
    wanted.sort_by_key(key);
    got.sort_by_key(key);
    if is_first_of_order(read, plan) {
        assert_eq!(got.len().min(1), wanted.len().min(1), "{context}");
        assert!(got.iter().all(|item| wanted.contains(item)), "{context}");
    } else {
        assert_eq!(got, wanted, "{context}");
    }
    check_order(world, read, plan, &found, &wanted, &context);
    assert!(!is_one(read) || !plan.unique || found.len() <= 1, "{context} is unique");
    found.len()
}

fn is_one(read: &Read) -> bool {
    matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Quantity::One | Quantity::Maybe, _)]))
}

/// Returns whether the read returns the first of many items in an order.
fn is_first_of_order(read: &Read, plan: &ReadPlan) -> bool {
    is_one(read) && plan.request == RequestKind::Query && !plan.unique
}

/// Checks that the result is ordered by the first field in the sort key.
fn check_order(
    world: &World,
    read: &Read,
    plan: &ReadPlan,
    found: &[Attributes],
    wanted: &[Attributes],
    context: &str,
) {
    if read.newest_first.is_none() && read.ordered.is_none() || read.select.is_some() {
        return;
    }
    let entity = world.checked.model.entity(plan.returns[0]);
    let Some(order) = plan::order(read, entity, plan.index) else { return };
    let name = &entity.field(order.field).name;
    let in_order = |one: &Attributes, other: &Attributes| {
        let order = compare(&one[name], &other[name]);
        if plan.backwards { order.is_ge() } else { order.is_le() }
    };
    assert!(found.windows(2).all(|pair| in_order(&pair[0], &pair[1])), "{context} is in order");
    if let Some(first) = found.first() {
        assert!(wanted.iter().all(|other| in_order(first, other)), "{context} begins with the first");
    }
}

fn check_model(text: &str) {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..SEEDS {
        let mut dice = Dice(seed);
        let world = World::new(text, &mut dice);
        for (read, plan) in world.checked.plans.planned(&world.checked.model) {
            if can_be_compared(&world.checked.model, plan) {
                let items: usize = (0..CALLS).map(|_| check(&world, read, plan, &mut dice)).sum();
                *found.entry(read.name.clone()).or_default() += items;
            }
        }
    }
    let empty: Vec<&String> = found.iter().filter(|(_, items)| **items == 0).map(|(name, _)| name).collect();
    assert!(!found.is_empty() && empty.is_empty(), "{empty:?} never find anything");
}

#[test]
fn every_shape_of_key_finds_what_a_walk_over_all_items_finds() {
    let text = include_str!("../reads/shapes.kf");
    let checked = Checked::read(text);
    let unplanned: Vec<&str> = checked
        .model
        .reads
        .iter()
        .zip(&checked.plans.reads)
        .filter(|(_, outcome)| !matches!(outcome, plan::ReadOutcome::Planned(_)))
        .map(|(read, _)| read.name.as_str())
        .collect();
    assert!(unplanned.is_empty(), "{unplanned:?}: {:#?}", checked.diagnostics);
    check_model(text);
}

#[test]
fn the_reads_of_the_systems_find_what_a_walk_over_all_items_finds() {
    for name in ["agencies", "discord", "helpmaton", "t3nets", "workspaces"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../systems/{name}/{name}.kf"));
        check_model(&fs::read_to_string(path).expect("the system has a model"));
    }
}
