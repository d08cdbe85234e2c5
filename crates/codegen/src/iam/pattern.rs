//! Collects the grants that the requests of a pattern need.

use keyform_check::Checked;
use keyform_language::bookkeeping::{ANSWERS, CASCADES, MIGRATIONS, MODELS};
use keyform_language::document::ast::{KeyType, Verb};
use keyform_language::plan::{BoundPart, ReadPlan, RequestKind, Role, WriteKind};
use keyform_language::schema::{
    Action, Entity, EntityId, Expr, ExprKind, FieldId, GuardId, IndexId, LetSource, Model, Origin, Parameter, Part,
    Permission, Read, ReadId, TableId, Write, WriteId, WriteStep,
};

use super::super::CodegenSettings;
use super::super::variable::{pieces, written};
use super::grant::{Grant, Limits};
use super::known::{Arguments, Known, known, literal, proved};

/// Actions on the intent table.
const INTENTS: [&str; 5] =
    ["dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"];

/// Actions on items of the old form.
const OLDER_FORM: [&str; 7] = [
    "dynamodb:BatchGetItem",
    "dynamodb:ConditionCheckItem",
    "dynamodb:DeleteItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:Query",
    "dynamodb:UpdateItem",
];

/// Collector of grants.
pub(super) struct Collector<'a> {
    checked: &'a Checked,
    settings: &'a CodegenSettings,
    grants: Vec<Grant>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(checked: &'a Checked, settings: &'a CodegenSettings) -> Self {
        Self { checked, settings, grants: Vec::new() }
    }

    fn model(&self) -> &'a Model {
        &self.checked.model
    }

    /// Returns the grants of a read: its request, and those of its permission.
    pub(super) fn read_pattern(mut self, id: ReadId) -> Vec<Grant> {
        let read = self.model().read(id);
        let arguments = proved(self.model(), &read.parameters, read.allow.as_ref());
        self.permission(read.allow.as_ref(), &arguments, &[]);
        self.read(id, &arguments);
        self.grants
    }

    /// Returns the grants of a write: its permission, its `let`s, its request, and the reads for unique fields and for
    /// the result.
    pub(super) fn write_pattern(mut self, id: WriteId) -> Vec<Grant> {
        let write = &self.model().writes[id.0];
        let arguments = proved(self.model(), &write.parameters, write.allow.as_ref());
        let plan = self.checked.plans.writes[id.0].as_ref();
        let held: Vec<GuardId> = plan.into_iter().flat_map(|plan| plan.checks()).collect();
        self.permission(write.allow.as_ref(), &arguments, &held);
        for binding in &write.lets {
            if let LetSource::Read { read, arguments: given } = &binding.source {
                self.called(*read, given, &arguments);
            }
        }
        self.actions(id, write, &arguments);
        self.grants
    }

    /// Returns the grants for reading the changes of a table.
    pub(super) fn changes(mut self, table: TableId) -> Vec<Grant> {
        let resource = format!("{}/stream/*", self.arn(table));
        let on = |action, resource: &str| Grant { action, resource: resource.to_owned(), limits: Limits::default() };
        let of_streams = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"];
        self.grants.extend(of_streams.map(|action| on(action, &resource)));
        // IAM supports no resource for this action.
        self.grants.push(on("dynamodb:ListStreams", "*"));
        self.grants
    }

    /// Returns the additional grants of idempotency keys: their records.
    pub(super) fn answers(mut self) -> Vec<Grant> {
        let resource = self.arn_of(ANSWERS);
        let on = |action| Grant { action, resource: resource.clone(), limits: Limits::default() };
        self.grants.extend(["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"].map(on));
        self.grants
    }

    /// Returns the additional grants of every instance: the record of the accepted model, which it compares with its
    /// own and replaces by a compatible one.
    pub(super) fn accepted_models(mut self) -> Vec<Grant> {
        let resource = self.arn_of(MODELS);
        let on = |action| Grant { action, resource: resource.clone(), limits: Limits::default() };
        self.grants.extend(["dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:PutItem"].map(on));
        self.grants
    }

    /// Returns the additional grants for evolving entities until the cut-over: the migration's state, and items of the
    /// old form.
    pub(super) fn migrations(mut self) -> Vec<Grant> {
        let state = self.arn_of(MIGRATIONS);
        self.grants.push(Grant { action: "dynamodb:GetItem", resource: state, limits: Limits::default() });
        for evolution in &self.model().evolutions {
            let entity = evolution.entity.and_then(|entity| self.model().entity(entity).table);
            for table in evolution.table.into_iter().chain(entity) {
                let (table, index) = (self.arn(table), format!("{}/index/*", self.arn(table)));
                let on =
                    |action, resource: &String| Grant { action, resource: resource.clone(), limits: Limits::default() };
                self.grants.extend(OLDER_FORM.map(|action| on(action, &table)));
                self.grants.push(on("dynamodb:Query", &index));
            }
        }
        self.grants
    }

    /// Returns the ARN of a table, with `*` for unknown parts.
    fn arn(&self, table: TableId) -> String {
        let name = written(&pieces(self.model().table(table), &self.settings.variables), |_| "*".to_owned());
        self.arn_of(&name)
    }

    fn arn_of(&self, name: &str) -> String {
        let variable = |name: &str| self.settings.variables.get(name).map_or("*", String::as_str);
        format!("arn:aws:dynamodb:{}:{}:table/{name}", variable("region"), variable("account"))
    }

    fn grant(&mut self, action: &'static str, table: TableId, index: Option<IndexId>, limits: Limits) {
        let mut resource = self.arn(table);
        if let Some(index) = index {
            resource.push_str(&format!("/index/{}", self.model().table(table).index_at(index).physical));
        }
        self.grants.push(Grant { action, resource, limits });
    }

    /// Adds the guards and reads that a permission evaluates, and the checks of guards that a request holds.
    fn permission(&mut self, allow: Option<&Permission>, arguments: &Arguments, held: &[GuardId]) {
        let Some(Permission::When(condition)) = allow else { return };
        let mut asked: Vec<&Expr> = Vec::new();
        condition.walk(&mut |expr| asked.push(expr));
        for expr in asked {
            match &expr.kind {
                ExprKind::Guard { guard, arguments: given } => self.guard(*guard, given, arguments, held),
                ExprKind::ValuePath(place) => {
                    if let Origin::Read { read, arguments: given, .. } = &place.origin {
                        self.called(*read, given, arguments);
                    }
                }
                _ => {}
            }
        }
    }

    fn guard(&mut self, id: GuardId, given: &[Expr], arguments: &Arguments, held: &[GuardId]) {
        let model = self.model();
        let guard = &model.guards[id.0];
        let Some(entity) = guard.entity else { return };
        let arguments = passed(model, &guard.parameters, given, arguments);
        let leading = leading_of(model, model.entity(entity), &guard.keys, &arguments);
        if held.contains(&id) {
            self.item("dynamodb:ConditionCheckItem", entity, leading.clone());
        }
        self.item("dynamodb:GetItem", entity, leading);
    }

    /// Adds a read that another pattern calls.
    fn called(&mut self, id: ReadId, given: &[Expr], arguments: &Arguments) {
        let model = self.model();
        self.read(id, &passed(model, &model.read(id).parameters, given, arguments));
    }

    fn read(&mut self, id: ReadId, arguments: &Arguments) {
        let Some(plan) = self.checked.plans.read(id) else { return };
        let read = self.model().read(id);
        let action = match plan.request {
            RequestKind::Get => "dynamodb:GetItem",
            RequestKind::BatchGet => "dynamodb:BatchGetItem",
            RequestKind::Query => "dynamodb:Query",
            RequestKind::Scan => "dynamodb:Scan",
        };
        let attributes = attributes(self.model(), read, plan);
        let select = match (plan.count, attributes.is_empty()) {
            (true, _) => Some("COUNT"),
            (false, false) => Some("SPECIFIC_ATTRIBUTES"),
            (false, true) => None,
        };
        let leading = leading_of_read(self.model(), plan, arguments);
        self.grant(action, plan.table, plan.index, Limits { leading, attributes, select });
    }

    fn actions(&mut self, id: WriteId, write: &Write, arguments: &Arguments) {
        let Some(plan) = self.checked.plans.writes[id.0].as_ref() else { return };
        for planned in &plan.actions {
            let Some(action) = at(&write.steps, &planned.step) else { continue };
            let leading = leading_of(self.model(), self.model().entity(planned.entity), &action.keys, arguments);
            let verb = |single: &'static str| {
                if plan.request == WriteKind::Batch { "dynamodb:BatchWriteItem" } else { single }
            };
            let is_returned = write.returned_entity() == Some(planned.entity);
            if is_returned && plan.is_transaction_of_callers() && matches!(planned.role, Role::Update | Role::Delete) {
                self.item("dynamodb:GetItem", planned.entity, leading.clone());
            }
            match planned.role {
                Role::Put => self.item(verb("dynamodb:PutItem"), planned.entity, leading),
                Role::Delete => {
                    self.restriction(planned.entity);
                    self.item(verb("dynamodb:DeleteItem"), planned.entity, leading);
                }
                Role::Check => self.item("dynamodb:ConditionCheckItem", planned.entity, leading),
                Role::Update => {
                    // An expired item is deleted before the upsert creates it again.
                    if action.verb == Verb::Upsert && self.expires(planned.entity) {
                        self.item("dynamodb:DeleteItem", planned.entity, leading.clone());
                    }
                    self.item("dynamodb:UpdateItem", planned.entity, leading);
                }
                Role::Claim(field) => self.sentinel("dynamodb:PutItem", planned.entity, field),
                Role::Release(field) => {
                    self.item("dynamodb:GetItem", planned.entity, leading);
                    self.sentinel("dynamodb:DeleteItem", planned.entity, field);
                }
                Role::Intend => self.cascade(planned.entity),
            }
        }
    }

    /// Adds the grants for deleting everything that a delete cascades to.
    fn cascade(&mut self, root: EntityId) {
        let dependents = &self.checked.plans.dependents;
        let resource = self.arn_of(CASCADES);
        let on = |action| Grant { action, resource: resource.clone(), limits: Limits::default() };
        self.grants.extend(INTENTS.map(on));
        for parent in [root].into_iter().chain(dependents.reach(root)) {
            for (dependent, finder) in dependents.cascading(parent) {
                self.grant("dynamodb:Query", finder.plan.table, finder.plan.index, Limits::default());
                for action in ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:DeleteItem"] {
                    self.item(action, dependent.entity, None);
                }
            }
        }
        self.item("dynamodb:ConditionCheckItem", root, None);
    }

    /// Adds the grants for checking the items that may refuse a delete.
    fn restriction(&mut self, root: EntityId) {
        let dependents = &self.checked.plans.dependents;
        if !dependents.may_refuse(root, root) {
            return;
        }
        for parent in [root].into_iter().chain(dependents.reach(root)) {
            let looked = dependents.refusing(root, parent).chain(dependents.cascading(parent));
            let plans: Vec<_> = looked.map(|(_, finder)| (finder.plan.table, finder.plan.index)).collect();
            for (table, index) in plans {
                self.grant("dynamodb:Query", table, index, Limits::default());
            }
        }
    }

    /// Returns whether the items of an entity can expire.
    fn expires(&self, id: EntityId) -> bool {
        let entity = self.model().entity(id);
        let ttl = entity.table.and_then(|table| self.model().table(table).ttl.as_ref());
        ttl.is_some_and(|ttl| entity.field_named(&ttl.value).is_some())
    }

    /// Adds an action on an item of an entity.
    fn item(&mut self, action: &'static str, entity: EntityId, leading: Option<String>) {
        let Some(table) = self.model().entity(entity).table else { return };
        self.grant(action, table, None, Limits { leading, ..Limits::default() });
    }

    /// Adds an action on the sentinel of a unique field.
    fn sentinel(&mut self, action: &'static str, id: EntityId, field: FieldId) {
        let entity = self.model().entity(id);
        let leading = format!("UNIQUE#{}.{}#*", literal(&entity.name), literal(&entity.field(field).name));
        self.item(action, id, Some(leading));
    }
}

/// Returns the action at a path of positions through `for` steps.
fn at<'a>(steps: &'a [WriteStep], path: &[usize]) -> Option<&'a Action> {
    let (first, rest) = path.split_first()?;
    match steps.get(*first)? {
        WriteStep::Action(action) => Some(action),
        WriteStep::For(each) => at(&each.steps, rest),
    }
}

/// Returns what is known about the parameters of a callee, one entry per argument name.
fn passed(model: &Model, parameters: &[Parameter], given: &[Expr], arguments: &Arguments) -> Arguments {
    let mut given = given.iter();
    let of = |parameter: &Parameter| {
        let names = parameter.arguments.len().max(1);
        (0..names).map(|_| given.next().map_or(Known::Nothing, |expr| known(model, expr, arguments))).collect()
    };
    parameters.iter().map(of).collect()
}

fn is_text(model: &Model, table: TableId, index: Option<IndexId>) -> bool {
    let table = model.table(table);
    match index {
        None => table.partition.as_ref().is_some_and(|key| key.kind == KeyType::String),
        Some(index) => matches!(table.index_at(index).partition.as_slice(), [key] if key.kind == KeyType::String),
    }
}

/// Returns the pattern of the partition keys that a read uses; `None` if it is unknown or matches everything.
fn leading_of_read(model: &Model, plan: &ReadPlan, arguments: &Arguments) -> Option<String> {
    let [key] = plan.partition.as_slice() else { return None };
    if !is_text(model, plan.table, plan.index) || plan.request == RequestKind::Scan {
        return None;
    }
    let part = |part: &BoundPart| match part {
        BoundPart::Text(text) => literal(text),
        BoundPart::Argument { parameter, argument, format } => {
            let given = arguments.get(*parameter).and_then(|all| all.get(*argument));
            given.unwrap_or(&Known::Nothing).written(*format)
        }
    };
    limiting(key.parts.iter().map(part).collect())
}

/// Returns the pattern of the partition key of an entity's item with these key fields.
fn leading_of(model: &Model, entity: &Entity, keys: &[(FieldId, Expr)], arguments: &Arguments) -> Option<String> {
    let [key] = entity.key.as_ref()?.partition.as_slice() else { return None };
    if !is_text(model, entity.table?, None) {
        return None;
    }
    let part = |part: &Part| match part {
        Part::Text(text) => literal(text),
        Part::Field { field, format, .. } => {
            let value = keys.iter().find(|(key, _)| key == field);
            value.map_or(Known::Nothing, |(_, expr)| known(model, expr, arguments)).written(*format)
        }
        Part::Unknown { .. } => "*".to_owned(),
    };
    limiting(key.template.parts.iter().map(part).collect())
}

/// Returns `None` for a pattern that matches everything.
fn limiting(pattern: String) -> Option<String> {
    (!pattern.chars().all(|letter| letter == '*')).then_some(pattern)
}

/// Returns the attributes of a read that selects some: those, the keys, and the ones that its filters use.
fn attributes(model: &Model, read: &Read, plan: &ReadPlan) -> Vec<String> {
    let Some(selected) = &read.select else { return Vec::new() };
    let table = model.table(plan.table);
    let mut names: Vec<String> = table.key_names().map(str::to_owned).collect();
    let index = plan.index.map(|index| table.index_at(index));
    names.extend(
        index.into_iter().flat_map(|index| index.partition.iter().chain(&index.sort)).map(|key| key.name.clone()),
    );
    names.extend(table.tag.iter().chain(&table.ttl).map(|name| name.value.clone()));
    names.extend(read.parameters.iter().map(|parameter| parameter.field_name.clone()));
    names.extend(selected.iter().map(|((entity, field), _)| model.entity(*entity).field(*field).name.clone()));
    if let (Some(filter), Some(entity)) = (&read.filter, plan.returns.first()) {
        names.extend(filter.own_fields().into_iter().map(|field| model.entity(*entity).field(field).name.clone()));
    }
    names.sort();
    names.dedup();
    names
}
