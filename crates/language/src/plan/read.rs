//! Plans one read through one key: the table's or an index's.

use crate::document::ast::Number;
use crate::schema::{
    Entity, EntityId, EntityKey, FieldId, IndexId, KeyAttribute, KeyCondition, KeyTest, Model, Part, Permission, Read,
    Result as ReadResult, Table, TableId, Template, Test, Type, words,
};
use crate::span::Spanned;

use super::bound::{self, Filled, Given};
use super::{
    Blocked, BoundKey, Filter, Limit, Obstacle, ReadOutcome, ReadPlan, RequestKind, SortCondition, SortRange,
    collection, loose, order, overlap, overlap::Texts, range, unique,
};

/// Plans a read through the key it names.
pub(super) fn plan(model: &Model, read: &Read) -> ReadOutcome {
    let Some(index) = chosen_index(read) else { return ReadOutcome::Broken };
    if is_broken(model, read, index) {
        return ReadOutcome::Broken;
    }
    match through(model, read, index) {
        Ok(plan) => ReadOutcome::Planned(Box::new(plan)),
        Err(obstacles) => {
            let served_by = others(model, read, index);
            ReadOutcome::Blocked(Blocked { obstacles, index, served_by })
        }
    }
}

/// Plans a read that finds dependents, through an index or the table's key.
pub(super) fn of_children(model: &Model, read: &Read, index: Option<IndexId>) -> Option<ReadPlan> {
    if is_broken(model, read, index) {
        return None;
    }
    through(model, read, index).ok()
}

/// Returns the index a read names (`Some(None)` for the table's key); `None` if that index does not exist.
#[expect(clippy::option_option, reason = "no index and an unknown index are two things")]
fn chosen_index(read: &Read) -> Option<Option<IndexId>> {
    match &read.via {
        None => Some(None),
        Some((_, _, Some(index))) => Some(Some(*index)),
        Some((_, _, None)) => None,
    }
}

/// Returns true if a part of the read did not resolve and was already reported, so planning it would only add follow-on
/// errors.
fn is_broken(model: &Model, read: &Read, index: Option<IndexId>) -> bool {
    let entities = read.result.entities();
    let Some(table) = table_of(model, read) else { return true };
    read.result.is_broken()
        || entities.is_empty()
        || entities.iter().any(|&id| entity_is_broken(model.table(table), model.entity(id), index))
        || read.key.iter().any(condition_is_broken)
        || read.key.is_none() && read.parameters.iter().any(crate::schema::Parameter::is_unknown)
}

fn entity_is_broken(table: &Table, entity: &Entity, index: Option<IndexId>) -> bool {
    let Some(key) = entity.key_of(index) else { return index.is_none() };
    let (partition, sort) = attributes(table, index);
    let templates = || key.partition.iter().chain(&key.sort).map(|part| &part.template);
    key.partition.len() != partition.len()
        || key.sort.len() != sort.len()
        || templates().any(crate::schema::Template::is_broken)
}

fn condition_is_broken(condition: &KeyCondition) -> bool {
    let tests = [Some(&condition.partition), condition.sort.as_ref()];
    let templates = tests.into_iter().flatten().flat_map(|test| [Some(&test.template), test.upper.as_ref()]);
    templates.flatten().any(crate::schema::Template::is_broken)
}

/// Returns the table of the entities a read returns.
fn table_of(model: &Model, read: &Read) -> Option<TableId> {
    read.result.entities().first().and_then(|&id| model.entity(id).table)
}

/// Returns the other keys that would serve a read: any index of the table, or the table's key.
fn others(model: &Model, read: &Read, index: Option<IndexId>) -> Vec<Option<IndexId>> {
    let Some(table) = table_of(model, read) else { return Vec::new() };
    let indexes = (0..model.table(table).indexes.len()).map(|number| Some(IndexId(number)));
    std::iter::once(None)
        .chain(indexes)
        .filter(|&other| other != index && read.key.is_none())
        .filter(|&other| !is_broken(model, read, other) && answers(model, read, other))
        .collect()
}

/// Returns true if this key serves the read; if the read returns one item, the key must identify it or order the items.
fn answers(model: &Model, read: &Read, index: Option<IndexId>) -> bool {
    let one =
        matches!(&read.result, ReadResult::Parts(parts) if parts.iter().any(|(_, number, _)| *number != Number::Many));
    through(model, read, index)
        .is_ok_and(|plan| plan.unique || !one || read.newest_first.is_some() || read.ordered.is_some())
}

/// Returns the attributes of the partition key and of the sort key.
pub(super) fn attributes(table: &Table, index: Option<IndexId>) -> (Vec<&KeyAttribute>, Vec<&KeyAttribute>) {
    match index {
        None => (table.partition.iter().collect(), table.sort.iter().collect()),
        Some(index) => {
            let index = table.index_at(index);
            (index.partition.iter().collect(), index.sort.iter().collect())
        }
    }
}

/// Key condition that the parameters yield for an entity.
pub(super) struct Condition {
    pub(super) partition: Vec<BoundKey>,
    pub(super) sort: SortCondition,
    pub(super) used: Vec<usize>,
    /// Parameters that the key decides only approximately.
    pub(super) inexact: Vec<usize>,
}

/// Plans a read through an index, or with `None` through the table's key.
pub(super) fn through(model: &Model, read: &Read, index: Option<IndexId>) -> Result<ReadPlan, Vec<Obstacle>> {
    let entities = read.result.entities();
    let Some(table) = table_of(model, read) else { return Err(Vec::new()) };
    let pass = Pass { model, read, table, index, entities };
    if read.scan.is_some() {
        return Ok(pass.scan());
    }
    let condition = match &read.key {
        Some(clause) => pass.in_so_many_words(clause)?,
        None => pass.by_templates()?,
    };
    let verified = pass.leftovers(&condition)?;
    pass.finish(condition, verified)
}

/// State of planning one read through one key.
pub(super) struct Pass<'a> {
    pub(super) model: &'a Model,
    pub(super) read: &'a Read,
    pub(super) table: TableId,
    pub(super) index: Option<IndexId>,
    pub(super) entities: Vec<EntityId>,
}

impl<'a> Pass<'a> {
    fn given(&self, entity: EntityId) -> Given<'a> {
        Given { read: self.read, entity: self.model.entity(entity), lists: self.list().is_some() }
    }

    /// Returns the index of the list parameter, if there is one.
    fn list(&self) -> Option<usize> {
        self.read.parameters.iter().position(|parameter| parameter.test == Test::In)
    }

    pub(super) fn key(&self, entity: EntityId) -> Option<&'a EntityKey> {
        self.model.entity(entity).key_of(self.index)
    }

    /// Derives the key condition from the templates of the entities.
    fn by_templates(&self) -> Result<Condition, Vec<Obstacle>> {
        let mut conditions = Vec::new();
        for &entity in &self.entities {
            conditions.push(self.of_entity(entity)?);
        }
        collection::joined(self, conditions)
    }

    fn of_entity(&self, entity: EntityId) -> Result<Condition, Vec<Obstacle>> {
        let Some(key) = self.key(entity) else { return Err(vec![self.not_in_index(entity)]) };
        let given = self.given(entity);
        self.wrong_types(given, key)?;
        let mut condition = self.partition(given, key, entity)?;
        self.sort(given, key, entity, &mut condition)?;
        self.complete(given, key, entity)?;
        Ok(condition)
    }

    fn not_in_index(&self, entity: EntityId) -> Obstacle {
        let span = self.read.via.as_ref().map_or(self.read.name_span, |(_, span, _)| *span);
        Obstacle::NotInIndex { entity, span }
    }

    fn wrong_types(&self, given: Given<'_>, key: &EntityKey) -> Result<(), Vec<Obstacle>> {
        let wrong: Vec<Obstacle> = key
            .fields()
            .flat_map(|field| given.about(field).map(move |(number, parameter)| (field, number, parameter)))
            .filter(|(field, _, parameter)| {
                parameter.declared && !are_written_alike(&parameter.kind, &given.entity.field(*field).kind)
            })
            .map(|(field, parameter, _)| Obstacle::WrongType {
                parameter,
                wanted: words::described(&given.entity.field(field).kind),
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    /// Binds the partition key, which equality parameters must fix completely.
    fn partition(&self, given: Given<'_>, key: &EntityKey, entity: EntityId) -> Result<Condition, Vec<Obstacle>> {
        let missing: Vec<FieldId> = key.partition.iter().flat_map(|part| given.missing(&part.template)).collect();
        if !missing.is_empty() {
            let limited = missing.iter().find_map(|&field| given.about(field).next());
            return Err(vec![match limited {
                Some((parameter, _)) => Obstacle::PartitionRange { at: Limit::Parameter(parameter) },
                None => Obstacle::PartitionOpen { entity, missing },
            }]);
        }
        let mut condition =
            Condition { partition: Vec::new(), sort: SortCondition::default(), used: Vec::new(), inexact: Vec::new() };
        for part in &key.partition {
            let filled = given.fill(&part.template);
            condition.inexact.extend(loose(given, &part.template, &filled));
            condition.used.extend(filled.used);
            condition.partition.push(bound::key(&part.attribute, filled.parts));
        }
        Ok(condition)
    }

    /// Binds the sort key as far as equality reaches, followed by one range or prefix.
    fn sort(
        &self,
        given: Given<'_>,
        key: &EntityKey,
        entity: EntityId,
        condition: &mut Condition,
    ) -> Result<(), Vec<Obstacle>> {
        let (_, attributes) = attributes(self.model.table(self.table), self.index);
        for (part, attribute) in key.sort.iter().zip(attributes) {
            let filled = given.fill(&part.template);
            condition.used.extend(&filled.used);
            condition.inexact.extend(loose(given, &part.template, &filled));
            let Some(open) = filled.open else {
                condition.sort.equal.push(bound::key(&part.attribute, filled.parts));
                continue;
            };
            match range::of(given, attribute, &part.template, &filled.parts, open).map_err(|obstacle| vec![obstacle])? {
                Some(range) => {
                    condition.used.extend(range.used);
                    condition.inexact.extend(range.inexact);
                    condition.sort.range = Some(range.range);
                }
                None if filled.parts.is_empty() => {}
                None => {
                    condition.sort.range = Some(SortRange::Begins(bound::key(&part.attribute, filled.parts)));
                }
            }
            break;
        }
        if condition.sort.range.is_none()
            && let Some(last) = condition.sort.equal.pop()
        {
            condition.sort.range = Some(SortRange::Equal(last));
        }
        self.gaps(given, key, entity, &condition.used)
    }

    /// Reports a parameter for a part of the sort key whose earlier parts are not given.
    fn gaps(&self, given: Given<'_>, key: &EntityKey, entity: EntityId, used: &[usize]) -> Result<(), Vec<Obstacle>> {
        let mut missing = Vec::new();
        for field in key.sort.iter().flat_map(|part| part.template.fields()) {
            match given.about(field).find(|(number, _)| !used.contains(number)) {
                Some((parameter, _)) => return Err(vec![Obstacle::SortGap { entity, parameter, missing }]),
                None if given.equal(field).is_none() && !missing.contains(&field) => missing.push(field),
                None => {}
            }
        }
        Ok(())
    }

    /// Checks that the key is complete where the read needs it: for a list, and for one item of the table.
    fn complete(&self, given: Given<'_>, key: &EntityKey, entity: EntityId) -> Result<(), Vec<Obstacle>> {
        let missing: Vec<FieldId> = key.sort.iter().flat_map(|part| given.missing(&part.template)).collect();
        if let Some(parameter) = self.list() {
            return match (self.index, missing.is_empty()) {
                (None, true) => Ok(()),
                _ => Err(vec![Obstacle::ListIncomplete { parameter, missing }]),
            };
        }
        let one = self.index.is_none() && self.single() && !self.is_ordered();
        if one && !missing.is_empty() { Err(vec![Obstacle::KeyIncomplete { entity, missing }]) } else { Ok(()) }
    }

    /// Returns true if the read returns a single item and nothing else.
    fn single(&self) -> bool {
        matches!(&self.read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::One | Number::Maybe, _)]))
    }

    fn is_ordered(&self) -> bool {
        self.read.newest_first.is_some() || self.read.ordered.is_some()
    }

    /// Derives the key condition from a `key` clause.
    fn in_so_many_words(&self, clause: &KeyCondition) -> Result<Condition, Vec<Obstacle>> {
        if clause.partition.test != Test::Equal {
            return Err(vec![Obstacle::PartitionRange { at: Limit::Clause(clause.partition.template.span) }]);
        }
        let (partition, sort) = attributes(self.model.table(self.table), self.index);
        let mut condition = Condition {
            partition: Vec::new(),
            sort: SortCondition::default(),
            used: clause_parameters(clause),
            inexact: Vec::new(),
        };
        if let Some(attribute) = partition.first() {
            condition.partition.push(bound::key(&attribute.name, bound::of_parameters(&clause.partition.template)));
        }
        if let (Some(attribute), Some(test)) = (sort.first(), &clause.sort) {
            condition.sort.range = Some(worded(&attribute.name, test));
        }
        self.is_written(clause, &condition)?;
        self.clause_is_complete(&condition)?;
        Ok(condition)
    }

    /// Checks that each returned entity writes keys of the form the clause requests.
    fn is_written(&self, clause: &KeyCondition, condition: &Condition) -> Result<(), Vec<Obstacle>> {
        for &entity in &self.entities {
            let Some(key) = self.key(entity) else { return Err(vec![self.not_in_index(entity)]) };
            let item = self.model.entity(entity);
            let texts = self.texts(clause, item);
            if !overlap::partition(self.read, &condition.partition, item, key, texts) {
                return Err(vec![Obstacle::NeverWritten { entity, span: clause.partition.template.span }]);
            }
            if !overlap::sort(self.read, &condition.sort, item, key, texts) {
                let span = clause.sort.as_ref().map_or(clause.span, |test| test.template.span);
                return Err(vec![Obstacle::NeverWritten { entity, span }]);
            }
        }
        Ok(())
    }

    /// Chooses the assumption about free text: a parameter that is a field of the entity holds such a value; any other
    /// may hold a whole key with delimiters.
    fn texts(&self, clause: &KeyCondition, entity: &Entity) -> Texts {
        let is_field = |number: &usize| entity.field_named(&self.read.parameters[*number].field_name).is_some();
        if clause_parameters(clause).iter().all(is_field) { Texts::Usual } else { Texts::All }
    }

    /// Checks that a `key` clause for one item of the table gives the whole key.
    fn clause_is_complete(&self, condition: &Condition) -> Result<(), Vec<Obstacle>> {
        let (_, sort) = attributes(self.model.table(self.table), self.index);
        let whole = sort.is_empty() || matches!(condition.sort.range, Some(SortRange::Equal(_)));
        let one = self.index.is_none() && self.single() && !self.is_ordered();
        match self.entities.first() {
            Some(&entity) if one && !whole => {
                let key = self.key(entity);
                let missing = key.map(|key| key.sort.iter().flat_map(|part| part.template.fields()).collect());
                Err(vec![Obstacle::KeyIncomplete { entity, missing: missing.unwrap_or_default() }])
            }
            _ => Ok(()),
        }
    }

    /// Returns the parameters that are verified on the items, because the key does not decide them. Reports those that a
    /// Query would only filter by; a parameter that `allow` names must be verified, whatever it costs.
    fn leftovers(&self, condition: &Condition) -> Result<Vec<usize>, Vec<Obstacle>> {
        let (in_filter, in_allow) = (in_filter(self.read), in_allow(self.read));
        let reads_items = matches!(self.request(condition), RequestKind::Get | RequestKind::BatchGet);
        let (mut verified, mut left) = (Vec::new(), Vec::new());
        for (number, parameter) in self.read.parameters.iter().enumerate() {
            if self.is_decided(number, condition) || matches!(parameter.kind, crate::schema::Type::Unknown) {
                continue;
            }
            let named = |&&id: &&EntityId| self.model.entity(id).field_named(&parameter.field_name).is_some();
            let with_field = self.entities.iter().filter(named).count();
            let is_used = condition.used.contains(&number) || in_filter.contains(&number) || in_allow.contains(&number);
            if with_field == 0 && is_used {
                continue;
            }
            let is_verified = with_field == self.entities.len()
                && (reads_items || condition.used.contains(&number) || in_allow.contains(&number));
            if is_verified { verified.push(number) } else { left.push(Obstacle::NotInKey { parameter: number }) }
        }
        if left.is_empty() { Ok(verified) } else { Err(left) }
    }

    /// Returns true if the key condition fixes or limits what the parameter names, for every returned entity. In a `key`
    /// clause that holds only where the argument stands in the place of the field in the entity's own template.
    fn is_decided(&self, number: usize, condition: &Condition) -> bool {
        if self.read.key.is_none() {
            return condition.used.contains(&number);
        }
        self.entities.iter().all(|&entity| unique::is_in_place(self, entity, condition, number))
    }

    fn finish(&self, condition: Condition, verified: Vec<usize>) -> Result<ReadPlan, Vec<Obstacle>> {
        let request = self.request(&condition);
        let mut plan = self.base(request);
        plan.matches = match request {
            RequestKind::Get | RequestKind::BatchGet => self.entities.clone(),
            RequestKind::Query | RequestKind::Scan => self.matched(&condition, Texts::Usual),
        };
        let met = self.matched(&condition, Texts::All);
        plan.unique = self.entities_to_be_one().all(|entity| unique::is_unique(self, entity, &condition));
        plan.partition = condition.partition;
        plan.sort = condition.sort;
        let mut tested = condition.inexact;
        tested.extend(verified);
        tested.sort_unstable();
        tested.dedup();
        plan.filters.extend(tested.into_iter().map(Filter::Parameter));
        if request == RequestKind::Query {
            self.add_tag(&mut plan, &met);
        }
        order::check(self, &plan).map_err(|obstacle| vec![obstacle])?;
        self.limit_to_one(&mut plan);
        Ok(plan)
    }

    fn request(&self, condition: &Condition) -> RequestKind {
        let (_, sort) = attributes(self.model.table(self.table), self.index);
        let whole = sort.is_empty() || matches!(condition.sort.range, Some(SortRange::Equal(_)));
        if self.list().is_some() && self.read.key.is_none() {
            RequestKind::BatchGet
        } else if self.index.is_none() && self.single() && whole {
            RequestKind::Get
        } else {
            RequestKind::Query
        }
    }

    fn base(&self, request: RequestKind) -> ReadPlan {
        let descending = self.read.ordered.is_some_and(|(_, descending, _)| descending);
        ReadPlan {
            request,
            table: self.table,
            index: self.index,
            partition: Vec::new(),
            sort: SortCondition::default(),
            backwards: descending || self.read.newest_first.is_some_and(|newest| newest.value),
            page: self.read.page.map(|page| page.value),
            strong: self.read.strong.is_some(),
            filters: self.stated_filters(),
            matches: Vec::new(),
            returns: self.entities.clone(),
            unique: false,
            count: matches!(self.read.result, ReadResult::Count(..)),
        }
    }

    /// Returns the filters that follow from the model: `where` and expiry.
    fn stated_filters(&self) -> Vec<Filter> {
        let mut filters = Vec::new();
        if self.read.filter.is_some() {
            filters.push(Filter::Where);
        }
        if let Some(Spanned { value: attribute, .. }) = &self.model.table(self.table).ttl
            && self.read.with_expired.is_none()
            && self.entities.iter().any(|&id| self.model.entity(id).field_named(attribute).is_some())
        {
            filters.push(Filter::NotExpired(attribute.clone()));
        }
        filters
    }

    /// Returns the entities of the table that the condition can match.
    fn matched(&self, condition: &Condition, texts: Texts) -> Vec<EntityId> {
        let meets = |id: &EntityId| {
            let entity = self.model.entity(*id);
            entity.key_of(self.index).is_some_and(|key| {
                self.is_whole(key)
                    && overlap::partition(self.read, &condition.partition, entity, key, texts)
                    && overlap::sort(self.read, &condition.sort, entity, key, texts)
            })
        };
        let partition = condition.partition.first().map(BoundKey::beginning).unwrap_or_default();
        let sort = condition.sort.beginning();
        let mut met = self.model.beginnings().candidates((self.table, self.index), &partition, &sort);
        met.retain(meets);
        met
    }

    /// Returns true if the entity fills every attribute of the key; otherwise its items are not in the index.
    fn is_whole(&self, key: &EntityKey) -> bool {
        let (partition, sort) = attributes(self.model.table(self.table), self.index);
        key.partition.len() == partition.len() && key.sort.len() == sort.len()
    }

    /// Adds a tag filter if the condition also matches entities that are not returned.
    fn add_tag(&self, plan: &mut ReadPlan, met: &[EntityId]) {
        let others = met.iter().any(|entity| !self.entities.contains(entity));
        if others && self.model.table(self.table).tag.is_some() {
            plan.filters.push(Filter::Tag(self.entities.clone()));
        }
    }

    /// Limits the first item of an order to a page of one, unless a filter may drop that item.
    fn limit_to_one(&self, plan: &mut ReadPlan) {
        if plan.request == RequestKind::Query && self.single() && self.is_ordered() && plan.filters.is_empty() {
            plan.page = Some(1);
        }
    }

    fn entities_to_be_one(&self) -> impl Iterator<Item = EntityId> + '_ {
        let parts = match &self.read.result {
            ReadResult::Parts(parts) => parts.as_slice(),
            ReadResult::Count(..) => &[],
        };
        let one = parts.iter().any(|(_, number, _)| *number != Number::Many);
        parts.iter().filter(move |(_, number, _)| !one || *number != Number::Many).filter_map(|(entity, _, _)| *entity)
    }

    fn scan(&self) -> ReadPlan {
        let elsewhere = [in_filter(self.read), in_allow(self.read)].concat();
        let mut plan = self.base(RequestKind::Scan);
        let is_field = |number: &usize| {
            let name = &self.read.parameters[*number].field_name;
            self.entities.iter().all(|&id| self.model.entity(id).field_named(name).is_some())
        };
        let left = (0..self.read.parameters.len()).filter(|number| !elsewhere.contains(number) || is_field(number));
        plan.filters.extend(left.map(Filter::Parameter));
        let in_it = self
            .model
            .entities_of(self.table)
            .filter(|(_, entity)| entity.key_of(self.index).is_some_and(|key| self.is_whole(key)));
        let met: Vec<EntityId> = in_it.map(|(id, _)| id).collect();
        self.add_tag(&mut plan, &met);
        self.leave_out_sentinels(&mut plan);
        plan.matches = met;
        plan
    }

    /// Excludes sentinels from a read of a whole table.
    fn leave_out_sentinels(&self, plan: &mut ReadPlan) {
        let table = self.model.table(self.table);
        let is_guarded =
            self.model.entities_of(self.table).any(|(_, entity)| super::guarded_fields(entity).next().is_some());
        let is_tagged = plan.filters.iter().any(|filter| matches!(filter, Filter::Tag(_)));
        if !is_guarded || is_tagged || self.index.is_some() {
            return;
        }
        match (&table.tag, &table.partition) {
            (Some(_), _) => plan.filters.push(Filter::Tag(self.entities.clone())),
            (None, Some(key)) => plan.filters.push(Filter::NotSentinel(key.name.clone())),
            (None, None) => {}
        }
    }
}

/// Returns the parameters whose values may continue beyond their place in the key.
fn loose(given: Given<'_>, template: &Template, filled: &Filled) -> Vec<usize> {
    let end = filled.open.unwrap_or(template.parts.len());
    let loose = template.parts[..end].iter().enumerate().filter_map(|(place, part)| match part {
        Part::Field { field, .. } if loose::may_continue(given.entity, template, place, filled.open.is_some()) => {
            given.equal(*field)
        }
        Part::Field { .. } | Part::Text(_) | Part::Unknown { .. } => None,
    });
    loose.collect()
}

/// Turns a test of a `key` clause into a range.
fn worded(attribute: &str, test: &KeyTest) -> SortRange {
    let lower = bound::key(attribute, bound::of_parameters(&test.template));
    match test.test {
        Test::Equal | Test::In => SortRange::Equal(lower),
        Test::Begins => SortRange::Begins(lower),
        Test::After => SortRange::After(lower),
        Test::From => SortRange::From(lower),
        Test::Before => SortRange::Before(lower),
        Test::Until => SortRange::Until(lower),
        Test::Between => {
            let upper = test.upper.as_ref().unwrap_or(&test.template);
            SortRange::Between(lower, bound::key(attribute, bound::of_parameters(upper)))
        }
    }
}

fn clause_parameters(clause: &KeyCondition) -> Vec<usize> {
    let tests = [Some(&clause.partition), clause.sort.as_ref()];
    let templates = tests.into_iter().flatten().flat_map(|test| [Some(&test.template), test.upper.as_ref()]);
    templates.flatten().flat_map(crate::schema::Template::fields).map(|field| field.0).collect()
}

/// Returns the parameters that the `where` clause uses.
fn in_filter(read: &Read) -> Vec<usize> {
    read.filter.as_ref().map(crate::schema::Expr::parameters).unwrap_or_default()
}

/// Returns the parameters that the `allow` clause names.
fn in_allow(read: &Read) -> Vec<usize> {
    read.allow.as_ref().map(Permission::parameters).unwrap_or_default()
}

/// Returns true if a value has the same text in a key under both types. Times, normalized strings and bytes match only
/// their own type.
fn are_written_alike(given: &Type, wanted: &Type) -> bool {
    let (given, wanted) = (given.resolved(), wanted.resolved());
    let is_special = |kind: &Type| kind.is_time() || kind.is_bytes() || kind.normalize().is_some();
    match (given, wanted) {
        (Type::Unknown, _) | (_, Type::Unknown) => true,
        _ if is_special(given) || is_special(wanted) => given.is_same_kind(wanted),
        _ => given.is_text() == wanted.is_text() && given.is_numeric() == wanted.is_numeric(),
    }
}
