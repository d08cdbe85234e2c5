//! Requests of a delete for the items that refer to the deleted one: reads before it, for dependents that refuse, and
//! removals after it, for dependents that cascade.

use std::collections::BTreeSet;

use keyform_language::plan::words::key_condition;
use keyform_language::plan::{
    Dependent, Dependents, Filter, Finder, Found, WritePlan, guarded_fields, is_reusable, remaining_name,
};
use keyform_language::schema::{EntityId, Model, Write, WriteStep};

/// Additional requests of a write whose deleted items have dependents.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// Descriptions of the reads before the delete.
    pub first: Vec<String>,
    /// Descriptions of the removals after the delete.
    pub after: Vec<String>,
    /// Maximum number of additional requests; `None` if it depends on the stored items.
    pub requests: Option<usize>,
}

/// Describes the requests for the dependents of a write's deletes.
#[must_use]
pub fn sent(model: &Model, dependents: &Dependents, write: &Write, plan: &WritePlan) -> Sent {
    let mut sent = Sent { requests: Some(0), ..Sent::default() };
    for step in &plan.parents {
        let Some(planned) = plan.at(step) else { continue };
        let telling = Telling { model, dependents, root: planned.entity };
        let looks = telling.looks();
        let direct = dependents.refusing(planned.entity, planned.entity).count();
        if looks.len() > direct || planned.repeated {
            sent.requests = None;
        }
        sent.requests = sent.requests.map(|sum| sum + direct);
        sent.first.extend(looks);
        sent.after.extend(telling.removals());
    }
    if !sent.first.is_empty() {
        let conditions = conditions(&write.steps);
        sent.requests = sent.requests.map(|sum| sum + conditions);
        if conditions > 0 {
            sent.first
                .push("if so, first reads the items that conditions test: their outcomes take precedence".to_owned());
        }
    }
    if plan.cascades() {
        sent.requests = None;
        sent.after.push("then deletes the intent, which resumes an interrupted cascade".to_owned());
    }
    sent
}

/// Counts the actions that have a condition.
fn conditions(steps: &[WriteStep]) -> usize {
    let of = |step: &WriteStep| match step {
        WriteStep::Action(action) => {
            let always = matches!(
                action.verb,
                keyform_language::document::ast::Verb::Create | keyform_language::document::ast::Verb::Update
            );
            usize::from(always || action.presence.is_some() || !action.conditions.is_empty())
        }
        WriteStep::For(each) => conditions(&each.steps),
    };
    steps.iter().map(of).sum()
}

struct Telling<'a> {
    model: &'a Model,
    dependents: &'a Dependents,
    root: EntityId,
}

impl Telling<'_> {
    fn name(&self, entity: EntityId) -> &str {
        &self.model.entity(entity).name
    }

    /// Returns the name with its article: `a Message`, `an Invite`.
    fn one(&self, entity: EntityId) -> String {
        let name = self.name(entity);
        let article = if name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {name}")
    }

    /// Describes the reads before the delete.
    fn looks(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for parent in [self.root].into_iter().chain(self.dependents.reach(self.root)) {
            let those = match parent == self.root {
                true => format!("the {}", self.name(parent)),
                false => {
                    format!("{} that is deleted with the {}, for each of them", self.one(parent), self.name(self.root))
                }
            };
            for (dependent, finder) in self.dependents.refusing(self.root, parent) {
                let child = self.name(dependent.entity);
                lines.push(format!(
                    "first checks whether {} refers to {those}: {}, else {}",
                    self.one(dependent.entity),
                    query(finder),
                    remaining_name(child)
                ));
            }
        }
        lines
    }

    /// Describes the removals after the delete, one line per entity and parent.
    fn removals(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.removals_of(self.root, &mut BTreeSet::new(), &mut lines);
        lines
    }

    fn removals_of(&self, parent: EntityId, told: &mut BTreeSet<EntityId>, lines: &mut Vec<String>) {
        if !told.insert(parent) {
            return;
        }
        let whose = if parent == self.root {
            format!("the {}", self.name(parent))
        } else {
            format!("such {}", self.one(parent))
        };
        for (dependent, finder) in self.dependents.cascading(parent) {
            let child = self.name(dependent.entity);
            let request = self.request(dependent, finder);
            let again = if finder.lags { "; repeated some seconds later, because an index may lag behind" } else { "" };
            lines.push(format!(
                "then deletes each {child} of {whose}: {}, page by page, {request}{again}",
                query(finder)
            ));
            self.removals_of(dependent.entity, told, lines);
        }
        for dependent in self.dependents.of(parent) {
            if let Found::Through(between) = dependent.found {
                let (child, between) = (self.name(dependent.entity), self.name(between));
                lines.push(format!("each {child} of {whose} is deleted with its {between}"));
            }
        }
    }

    fn request(&self, dependent: &Dependent, finder: &Finder) -> &'static str {
        let entity = self.model.entity(dependent.entity);
        let keys = entity.key_fields();
        let may_move = finder.shared.iter().any(|(field, _)| !keys.contains(field));
        let has_sentinels = guarded_fields(entity).next().is_some();
        match may_move || has_sentinels || is_reusable(self.model, self.root) {
            true => "with TransactWriteItems, on the condition that it is unchanged",
            false => "with BatchWriteItem",
        }
    }
}

/// Formats the Query of a finder: `Query gsi1pk = "SERVER#{serverId}" via gsi1, filtered`.
fn query(finder: &Finder) -> String {
    let via = finder.read.via.as_ref().map(|(name, _, _)| format!(" via {name}")).unwrap_or_default();
    let filtered = finder.plan.filters.iter().any(|filter| matches!(filter, Filter::Where | Filter::Parameter(_)));
    let filtered = if filtered { ", filtered" } else { "" };
    let consistent = if finder.plan.strong { ", consistent" } else { "" };
    format!("Query {}{via}{filtered}{consistent}", key_condition(&finder.read, &finder.plan))
}
