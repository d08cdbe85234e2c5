//! Binds the arguments of a read.

use std::borrow::Cow;

use keyform_core::expression::{Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path, Projection};
use keyform_core::operation::{BatchGetItem, BatchGetRequest, GetItem, Query, Scan, Select};
use keyform_core::{AttributeValue, Attributes, Item, Operation};

use crate::document::ast::KeyType;
use crate::plan::{BoundKey, BoundPart, Filter, ReadPlan, RequestKind, SortRange};
use crate::schema::{EntityId, EntityKey, Expr, FieldId, KeyAttribute, KeyPart, Model, Parameter, Read, Table, Test};

use super::absence::{self, Subject};
use super::condition::{Logic, and, or};
use super::constant::when_absent;
use super::evaluate::Scope;
use super::value::{self, KeyText};
use super::{BindError, Inputs, sentinel};

/// A read that is ready to run.
#[derive(Clone, Debug)]
pub struct BoundRead {
    /// Request; `None` if no item can match the arguments, so nothing needs to be sent.
    pub request: Option<ReadRequest>,
    /// Condition to apply to the returned items, because the service accepts no such filter in the request.
    pub after: Option<Condition>,
}

impl BoundRead {
    /// Returns true if a returned item is part of the result.
    #[must_use]
    pub fn keeps(&self, item: &Item) -> bool {
        self.after.as_ref().is_none_or(|condition| condition.holds(Some(item)))
    }
}

/// Request of a read.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadRequest {
    /// Reads one item by its key.
    Get(GetItem),
    /// Reads items by their keys.
    BatchGet(BatchGetItem),
    /// Reads pages of items.
    Page(PageRead),
}

/// Request for a page of items.
#[derive(Clone, Debug, PartialEq)]
pub enum PageRead {
    /// Reads one partition.
    Query(Query),
    /// Reads a whole table or index.
    Scan(Scan),
}

impl PageRead {
    /// Returns the exclusive start key.
    #[must_use]
    pub fn start(&self) -> Option<&Attributes> {
        match self {
            Self::Query(query) => query.start.as_ref(),
            Self::Scan(scan) => scan.start.as_ref(),
        }
    }

    /// Continues after a key.
    pub fn set_start(&mut self, start: Option<Attributes>) {
        match self {
            Self::Query(query) => query.start = start,
            Self::Scan(scan) => scan.start = start,
        }
    }

    /// Sets the maximum number of items to read, before the filter.
    pub fn set_limit(&mut self, limit: Option<usize>) {
        match self {
            Self::Query(query) => query.limit = limit,
            Self::Scan(scan) => scan.limit = limit,
        }
    }
}

impl From<PageRead> for Operation {
    fn from(read: PageRead) -> Self {
        match read {
            PageRead::Query(query) => query.into(),
            PageRead::Scan(scan) => scan.into(),
        }
    }
}

impl From<ReadRequest> for Operation {
    fn from(request: ReadRequest) -> Self {
        match request {
            ReadRequest::Get(get) => get.into(),
            ReadRequest::BatchGet(batch) => batch.into(),
            ReadRequest::Page(page) => page.into(),
        }
    }
}

/// Binds the arguments of a read.
///
/// # Errors
///
/// Returns an error if an argument is missing or has the wrong type.
pub fn read(model: &Model, read: &Read, plan: &ReadPlan, inputs: &Inputs<'_>) -> Result<BoundRead, BindError> {
    let scope = Scope::new(model, inputs, &read.parameters, &[])?;
    let pass = Pass { model, read, plan, scope, table: model.table(plan.table) };
    let (filter, after) = pass.filters()?;
    let Some(filter) = filter else { return Ok(BoundRead { request: None, after: None }) };
    let Some(after) = after else { return Ok(BoundRead { request: None, after: None }) };
    let (filter, after) = (test(filter), test(after));
    let request = match plan.request {
        RequestKind::Get => Some(ReadRequest::Get(pass.get(after.as_ref())?)),
        RequestKind::BatchGet => pass.batch(after.as_ref())?.map(ReadRequest::BatchGet),
        RequestKind::Query => pass.query(filter, after.as_ref())?.map(PageRead::Query).map(ReadRequest::Page),
        RequestKind::Scan => Some(ReadRequest::Page(PageRead::Scan(pass.scan(filter, after.as_ref())))),
    };
    Ok(BoundRead { request, after })
}

fn test(logic: Logic) -> Option<Condition> {
    match logic {
        Logic::Known(_) => None,
        Logic::Test(condition) => Some(condition),
    }
}

struct Pass<'a> {
    model: &'a Model,
    read: &'a Read,
    plan: &'a ReadPlan,
    scope: Scope<'a>,
    table: &'a Table,
}

impl Pass<'_> {
    fn name(&self) -> String {
        self.scope.inputs.table_name(self.table)
    }

    fn index_name(&self) -> Option<String> {
        self.plan.index.map(|index| self.table.index_at(index).physical.clone())
    }

    /// Iterates over the attributes of the key that the read uses.
    fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        let (partition, sort) = match self.plan.index {
            None => (self.table.partition.as_slice(), self.table.sort.as_slice()),
            Some(index) => {
                let index = self.table.index_at(index);
                (index.partition.as_slice(), index.sort.as_slice())
            }
        };
        partition.iter().chain(sort)
    }

    fn kind(&self, attribute: &str) -> KeyType {
        let found = self.key_attributes().find(|key| key.name == attribute);
        found.map_or(KeyType::String, |key| key.kind)
    }

    /// Renders a key attribute; for a list parameter, with the element at this index.
    fn key(&self, bound: &BoundKey, element: usize) -> Result<AttributeValue, BindError> {
        let kind = self.kind(&bound.attribute);
        if let [BoundPart::Argument { parameter, argument, format }] = bound.parts.as_slice()
            && value::is_key_itself(kind, *format)
        {
            return self.element(*parameter, *argument, element).map(Cow::into_owned);
        }
        let mut text = KeyText::new();
        for part in &bound.parts {
            match part {
                BoundPart::Text(part) => text.push_text(part),
                BoundPart::Argument { parameter, argument, format } => {
                    let value = self.element(*parameter, *argument, element)?;
                    text.push_value(&value, &self.read.parameters[*parameter].kind, *format)?;
                }
            }
        }
        text.value(kind)
    }

    /// Returns an argument; for a list parameter, the element at this index.
    fn element(&self, parameter: usize, argument: usize, element: usize) -> Result<Cow<'_, AttributeValue>, BindError> {
        let given = &self.read.parameters[parameter];
        let value = match self.scope.raw_argument(given, argument) {
            Some(AttributeValue::L(parts)) if given.test == Test::In => parts.get(element),
            value => value,
        };
        value.and_then(|value| value::fitting(value, &given.kind)).ok_or_else(|| missing(given, argument))
    }

    fn given(&self, parameter: usize, argument: usize) -> Result<AttributeValue, BindError> {
        let value = self.scope.argument(parameter, argument);
        value.ok_or_else(|| missing(&self.read.parameters[parameter], argument))
    }

    /// Renders the whole primary key; for a list parameter, with the element at this index.
    fn whole_key(&self, element: usize) -> Result<Attributes, BindError> {
        let sort = match &self.plan.sort.range {
            Some(SortRange::Equal(key)) => Some(key),
            _ => None,
        };
        let keys = self.plan.partition.iter().chain(&self.plan.sort.equal).chain(sort);
        keys.map(|bound| Ok((bound.attribute.clone(), self.key(bound, element)?))).collect()
    }

    fn get(&self, after: Option<&Condition>) -> Result<GetItem, BindError> {
        Ok(GetItem {
            table: self.name(),
            key: self.whole_key(0)?,
            projection: self.projection(after),
            consistent: self.plan.strong,
            ..GetItem::default()
        })
    }

    /// Builds a BatchGetItem with one key per distinct element; `None` if the list is empty.
    fn batch(&self, after: Option<&Condition>) -> Result<Option<BatchGetItem>, BindError> {
        let list = self.read.parameters.iter().position(|parameter| parameter.test == Test::In);
        let count = match list.map(|list| self.given(list, 0)).transpose()? {
            Some(AttributeValue::L(parts)) => parts.len(),
            _ => 0,
        };
        let mut keys: Vec<Attributes> = Vec::new();
        for element in 0..count {
            let key = self.whole_key(element)?;
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let request = BatchGetRequest { keys, projection: self.projection(after), consistent: self.plan.strong };
        let is_empty = request.keys.is_empty();
        let batch = BatchGetItem { tables: vec![(self.name(), request)], ..BatchGetItem::default() };
        Ok((!is_empty).then_some(batch))
    }

    fn query(&self, filter: Option<Condition>, after: Option<&Condition>) -> Result<Option<Query>, BindError> {
        let Some(key) = self.key_condition()? else { return Ok(None) };
        let counts = self.plan.count && after.is_none();
        Ok(Some(Query {
            table: self.name(),
            index: self.index_name(),
            key,
            filter,
            projection: if counts { None } else { self.projection(after) },
            select: counts.then_some(Select::Count),
            limit: self.plan.page.and_then(|page| usize::try_from(page).ok()),
            consistent: self.plan.strong,
            reverse: self.plan.backwards,
            start: self.scope.inputs.start.clone(),
            return_capacity: Default::default(),
        }))
    }

    fn scan(&self, filter: Option<Condition>, after: Option<&Condition>) -> Scan {
        let counts = self.plan.count && after.is_none();
        Scan {
            table: self.name(),
            index: self.index_name(),
            filter,
            projection: if counts { None } else { self.projection(after) },
            select: counts.then_some(Select::Count),
            limit: self.plan.page.and_then(|page| usize::try_from(page).ok()),
            consistent: self.plan.strong,
            segment: None,
            start: self.scope.inputs.start.clone(),
            return_capacity: Default::default(),
        }
    }

    /// Builds the key condition; `None` if the lower end exceeds the upper one, which the service rejects.
    fn key_condition(&self) -> Result<Option<KeyCondition>, BindError> {
        let mut predicates = Vec::new();
        for bound in self.plan.partition.iter().chain(&self.plan.sort.equal) {
            let test = KeyTest::Compare(Comparator::Equal, self.key(bound, 0)?.into());
            predicates.push(KeyPredicate { attribute: bound.attribute.clone(), test });
        }
        if let Some(range) = &self.plan.sort.range {
            let Some(predicate) = self.range(range)? else { return Ok(None) };
            predicates.push(predicate);
        }
        Ok(Some(KeyCondition { predicates }))
    }

    fn range(&self, range: &SortRange) -> Result<Option<KeyPredicate>, BindError> {
        let compare = |bound: &BoundKey, comparator| -> Result<Option<KeyPredicate>, BindError> {
            let test = KeyTest::Compare(comparator, self.key(bound, 0)?.into());
            Ok(Some(KeyPredicate { attribute: bound.attribute.clone(), test }))
        };
        match range {
            SortRange::Equal(bound) => compare(bound, Comparator::Equal),
            SortRange::From(bound) => compare(bound, Comparator::GreaterOrEqual),
            SortRange::After(bound) => compare(bound, Comparator::Greater),
            SortRange::Until(bound) => compare(bound, Comparator::LessOrEqual),
            SortRange::Before(bound) => compare(bound, Comparator::Less),
            SortRange::Begins(bound) => {
                let test = KeyTest::BeginsWith(self.key(bound, 0)?.into());
                Ok(Some(KeyPredicate { attribute: bound.attribute.clone(), test }))
            }
            SortRange::Between(low, high) => {
                let (first, last) = (self.key(low, 0)?, self.key(high, 0)?);
                if is_above(&first, &last) {
                    return Ok(None);
                }
                let test = KeyTest::Between(first.into(), last.into());
                Ok(Some(KeyPredicate { attribute: low.attribute.clone(), test }))
            }
        }
    }

    /// Returns the filter of the request and the filter to apply afterwards; `None` if one of them never holds.
    fn filters(&self) -> Result<(Option<Logic>, Option<Logic>), BindError> {
        if self.plan.filters.is_empty() {
            return Ok((Some(Logic::Known(true)), Some(Logic::Known(true))));
        }
        let keys: Vec<&str> = self.key_attributes().map(|key| key.name.as_str()).collect();
        let takes_filter = matches!(self.plan.request, RequestKind::Query | RequestKind::Scan);
        let takes_keys = self.plan.request == RequestKind::Scan;
        let (mut within, mut after) = (Vec::new(), Vec::new());
        for filter in &self.plan.filters {
            for test in conjuncts(self.filter(filter)?) {
                let on_key = matches!(&test, Logic::Test(test) if test.roots().iter().any(|root| keys.contains(root)));
                let goes_along = takes_filter && (takes_keys || !on_key);
                if goes_along { within.push(test) } else { after.push(test) }
            }
        }
        let holds = |logic: Logic| (logic != Logic::Known(false)).then_some(logic);
        Ok((holds(and(within)), holds(and(after))))
    }

    fn filter(&self, filter: &Filter) -> Result<Logic, BindError> {
        let key = self.table.partition.as_ref().map_or("", |key| key.name.as_str());
        match filter {
            Filter::Where => match &self.read.filter {
                Some(expr) if self.plan.returns.len() > 1 => {
                    let parts = expr.conjuncts().into_iter().map(|part| self.of_part(part, key));
                    Ok(and(parts.collect::<Result<Vec<_>, _>>()?))
                }
                Some(expr) => self.scope.condition(expr, key),
                None => Ok(Logic::Known(true)),
            },
            Filter::Parameter(number) => self.limited(*number),
            Filter::Tag(entities) => Ok(Logic::Test(self.tagged(entities))),
            Filter::NotSentinel(attribute) => Ok(Logic::Test(sentinel::is_none(attribute))),
            Filter::NotExpired(attribute) => Ok(Logic::Test(self.not_expired(attribute))),
        }
    }

    /// Binds a condition on one part of a result with several: items of the other entities pass.
    fn of_part(&self, condition: &Expr, key: &str) -> Result<Logic, BindError> {
        let test = self.scope.condition(condition, key)?;
        let Some(entity) = condition.own_entities().into_iter().next() else { return Ok(test) };
        let of_another = Condition::Not(Box::new(self.tagged(&[entity])));
        Ok(or(Logic::Test(of_another), test))
    }

    /// Turns a parameter into a test of the attribute with its name.
    fn limited(&self, number: usize) -> Result<Logic, BindError> {
        let parameter = &self.read.parameters[number];
        if parameter.optional && self.scope.argument(number, 0).is_none() {
            return Ok(Logic::Known(false));
        }
        let path = || Operand::Path(Path::attribute(parameter.field_name.clone()));
        let value =
            |argument| -> Result<Operand, BindError> { Ok(Operand::Value(self.given(number, argument)?.into())) };
        let compare = |comparator| -> Result<Condition, BindError> {
            Ok(Condition::Compare { left: path(), comparator, right: value(0)? })
        };
        let test = match parameter.test {
            Test::Equal | Test::After | Test::From | Test::Before | Test::Until => {
                compare(parameter.test.comparator().expect("these tests are comparisons"))?
            }
            Test::Begins => Condition::BeginsWith(path(), value(0)?),
            Test::Between => {
                let (AttributeValue::S(_) | AttributeValue::N(_) | AttributeValue::B(_)) = self.given(number, 0)?
                else {
                    return Err(BindError::WrongValue(format!("`{}`", parameter.field_name)));
                };
                if is_above(&self.given(number, 0)?, &self.given(number, 1)?) {
                    return Ok(Logic::Known(false));
                }
                Condition::Between { operand: path(), low: value(0)?, high: value(1)? }
            }
            Test::In => match self.given(number, 0)? {
                AttributeValue::L(parts) if !parts.is_empty() => Condition::In {
                    operand: path(),
                    candidates: parts.into_iter().map(|part| Operand::Value(part.into())).collect(),
                },
                _ => return Ok(Logic::Known(false)),
            },
        };
        Ok(absence::total(test, &self.default_of(&parameter.field_name), Subject { key: "", may_be_absent: false }))
    }

    /// Returns the constant default of a field that all returned entities share.
    fn default_of<'n>(&self, name: &'n str) -> Vec<(&'n str, AttributeValue)> {
        let field = |id: &EntityId| {
            let entity = self.model.entity(*id);
            entity.field_named(name).and_then(|field| when_absent(entity.field(field)))
        };
        let mut defaults = self.plan.returns.iter().map(field);
        let first = defaults.next().flatten();
        first
            .filter(|first| defaults.all(|other| other.as_ref() == Some(first)))
            .map(|first| (name, first))
            .into_iter()
            .collect()
    }

    fn tagged(&self, entities: &[EntityId]) -> Condition {
        let attribute = self.table.tag.as_ref().map_or("", |tag| tag.value.as_str());
        let tag =
            |entity: &EntityId| Operand::Value(AttributeValue::from(self.model.entity(*entity).tag.as_str()).into());
        let operand = Operand::Path(Path::attribute(attribute));
        match entities {
            [entity] => Condition::Compare { left: operand, comparator: Comparator::Equal, right: tag(entity) },
            _ => Condition::In { operand, candidates: entities.iter().map(tag).collect() },
        }
    }

    /// Returns the condition that an item has not expired. It expires after the second its attribute names.
    fn not_expired(&self, attribute: &str) -> Condition {
        let seconds = self.scope.inputs.now_millis.div_euclid(1000);
        let path = || Path::attribute(attribute);
        Condition::Or(vec![
            Condition::AttributeNotExists(path()),
            Condition::Compare {
                left: Operand::Path(path()),
                comparator: Comparator::GreaterOrEqual,
                right: Operand::Value(AttributeValue::from(seconds).into()),
            },
        ])
    }

    /// Returns the key attributes that contain a field. Another program may store the field nowhere else, and then it is
    /// derived from them.
    fn containing(&self, entity: EntityId, field: FieldId) -> Vec<&str> {
        let entity = self.model.entity(entity);
        // An index has the table's key, but perhaps not the keys of other indexes.
        let contains = |key: &&EntityKey| {
            let is_there = key.index.is_none() || self.plan.index.is_none() || key.index == self.plan.index;
            is_there && key.fields().any(|of| of == field)
        };
        let is_own = |part: &&KeyPart| part.attribute == entity.field(field).name;
        let Some(key) = entity.key.iter().chain(&entity.indexes).find(contains) else { return Vec::new() };
        match key.parts().any(|part| is_own(&part)) {
            true => Vec::new(),
            false => key.parts().map(|part| part.attribute.as_str()).collect(),
        }
    }

    /// Returns the selected attributes plus those needed to filter items, to distinguish entities, to open encrypted
    /// fields and to derive fields from keys.
    fn projection(&self, after: Option<&Condition>) -> Option<Projection> {
        let selected = self.read.select.as_ref()?;
        let name = |(entity, field): &(EntityId, FieldId)| self.model.entity(*entity).field(*field).name.as_str();
        let mut names: Vec<&str> = selected.iter().map(|(field, _)| name(field)).collect();
        let needed = after.map(Condition::roots).unwrap_or_default();
        let tag = self.table.tag.as_ref().filter(|_| self.plan.returns.len() > 1).map(|tag| tag.value.as_str());
        let is_sealed = |((entity, field), _): &((EntityId, FieldId), _)| {
            self.model.entity(*entity).field(*field).flags.encrypted.is_some()
        };
        // ADR 0014: the item's key is part of the associated data of an encrypted field, so opening one needs the key.
        let keys = selected.iter().any(is_sealed).then(|| self.table.key_names()).into_iter().flatten();
        let keys = keys.chain(selected.iter().flat_map(|((entity, field), _)| self.containing(*entity, *field)));
        names.extend(needed.into_iter().chain(tag).chain(keys));
        let mut paths: Vec<Path> = Vec::new();
        for name in names {
            let path = Path::attribute(name);
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        Some(Projection { paths })
    }
}

fn missing(parameter: &Parameter, argument: usize) -> BindError {
    let name = parameter.arguments.get(argument).unwrap_or(&parameter.field_name);
    BindError::Missing(format!("argument `{name}`"))
}

/// Splits a condition into the parts that must all hold.
fn conjuncts(logic: Logic) -> Vec<Logic> {
    match logic {
        Logic::Test(Condition::And(tests)) => tests.into_iter().map(Logic::Test).collect(),
        other => vec![other],
    }
}

fn is_above(low: &AttributeValue, high: &AttributeValue) -> bool {
    match (low, high) {
        (AttributeValue::S(low), AttributeValue::S(high)) => low.as_bytes() > high.as_bytes(),
        (AttributeValue::N(low), AttributeValue::N(high)) => low > high,
        (AttributeValue::B(low), AttributeValue::B(high)) => low > high,
        _ => false,
    }
}
