//! W30: `unique per` the id of the item itself compares each item only with itself.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, EntityId, Field, FieldId, Model, Type};
use keyform_language::scope::Domains;

pub(super) static RULE: Rule = Rule {
    code: Code("W30"),
    severity: Severity::Warning,
    title: "a value is unique only within its own item",
    page: include_str!("../../../../../docs/rules/W30.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    let ids = Ids::of(model);
    for id in model.entity_ids() {
        let entity = model.entity(id);
        for field in entity.fields.iter().filter(|field| field.flags.unique.is_some()) {
            let per = field.flags.unique.as_ref().map_or(&[][..], |unique| &unique.per);
            let own = per.iter().find(|of| ids.identifies(id, **of, field));
            let whole = || per.last().filter(|_| has_whole_key(entity, per));
            findings.extend(own.or_else(whole).map(|of| finding(entity, field, *of)));
        }
    }
}

/// Returns whether the fields within which a value is unique are the whole key, so that one item has them.
fn has_whole_key(entity: &Entity, per: &[FieldId]) -> bool {
    let keys = entity.key_fields();
    !keys.is_empty() && keys.iter().all(|key| per.contains(key))
}

/// Ids of all entities.
struct Ids<'a> {
    model: &'a Model,
    domains: Domains<'a>,
    /// Number of entities that are known by an id of this name.
    named: BTreeMap<&'a str, usize>,
    /// Entities that a `ref` names.
    targets: BTreeSet<EntityId>,
}

impl<'a> Ids<'a> {
    fn of(model: &'a Model) -> Self {
        let mut named = BTreeMap::new();
        let mut targets = BTreeSet::new();
        for entity in model.entity_ids().map(|id| model.entity(id)) {
            let own = entity.id_field().map(|own| entity.field(own)).filter(|own| !is_link(own));
            if let Some(own) = own {
                *named.entry(own.name.as_str()).or_default() += 1;
            }
            targets.extend(entity.fields.iter().filter_map(|field| match field.kind {
                Type::Ref { entity, .. } => entity,
                _ => None,
            }));
        }
        Self { model, domains: Domains::of(model), named, targets }
    }

    /// Returns whether one item at most has a value of `of`: the id that names the item.
    ///
    /// A key field that is not generated may also name something with several items, such as a user who is a member of
    /// several organisations. A time or a number can be unique within those; a name or an address is not.
    fn identifies(&self, id: EntityId, of: FieldId, unique: &Field) -> bool {
        let entity = self.model.entity(id);
        let field = entity.field(of);
        let is_unique = field.flags.unique.as_ref().is_some_and(|unique| unique.per.is_empty());
        if is_unique || self.domains.is_own_id(id, of) || field.flags.id.is_some() {
            return true;
        }
        let is_only = self.named.get(field.name.as_str()) == Some(&1);
        let is_last = entity.id_field() == Some(of) && !is_link(field) && is_only;
        is_last && (self.targets.contains(&id) || unique.kind.is_text() && !unique.kind.is_time())
    }
}

fn is_link(field: &Field) -> bool {
    matches!(field.kind, Type::Ref { .. } | Type::Copy { .. })
}

fn finding(entity: &Entity, field: &Field, of: FieldId) -> Diagnostic {
    let own = &entity.field(of).name;
    let scope = entity.key_fields().into_iter().find(|key| *key != of).map(|key| &entity.field(key).name);
    let span = field.flags.unique.as_ref().map_or(field.name_span, |unique| unique.span);
    let help = match scope {
        Some(scope) => {
            format!("write `unique per {scope}`, or `unique` if no two items of the table may share a value")
        }
        None => "write `unique`, or remove the flag".to_owned(),
    };
    Diagnostic::warning(
        RULE.code,
        span,
        format!("every {} may have the same `{}`: `{own}` identifies the item itself", entity.name, field.name),
    )
    .label(format!("two items never share a `{own}`"))
    .also(entity.field(of).name_span, "the item's own id")
    .help(help)
}
