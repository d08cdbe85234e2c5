//! W23: a write stores a reference from an argument without checking that its target exists.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{Presence, Verb};
use keyform_language::schema::{
    Action, EntityId, Expr, ExprKind, Field, FieldId, Guard, Let, LetSource, Model, Origin, Permission, Type,
    ValuePath, Write, WriteStep,
};

use keyform_language::scope::disjunct::{claim, equality};

use super::belongs::{self, PlainId};
use super::w15_missing_parent;

pub(super) static RULE: Rule = Rule {
    code: Code("W23"),
    severity: Severity::Warning,
    title: "a write stores a reference without checking its target",
    page: include_str!("../../../../../docs/rules/W23.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let plain = belongs::plain_ids(context.model);
    for write in context.model.writes.iter().filter(|write| write.batch.is_none()) {
        let lists = lists(&write.steps);
        for action in write.actions() {
            // A counter may be ahead of what it counts for.
            let is_counter = action.verb == Verb::Upsert && action.only_counts();
            let Some(id) = action.entity.filter(|_| !is_counter) else { continue };
            for (field, target, value) in references(context.model, &plain, id, action) {
                let reference = Reference { model: context.model, write, action, target, value };
                if is_given(value, &lists) && reference.is_checkable() && !reference.is_held() {
                    findings.push(reference.finding((id, field)));
                }
            }
        }
    }
}

/// Returns the references that a step stores, with their targets and values: each `ref`, and each field of a key with the
/// name of another entity's id. References into the parent's partition are W15, and a `keep` states that the target may
/// be missing.
fn references<'a>(
    model: &Model,
    plain: &[PlainId],
    id: EntityId,
    action: &'a Action,
) -> Vec<(FieldId, EntityId, &'a Expr)> {
    let entity = model.entity(id);
    let parents = w15_missing_parent::parents(model, id);
    let makes = matches!(action.verb, Verb::Create | Verb::Put | Verb::Upsert);
    let refers = |field: FieldId| match entity.field(field) {
        Field { kind: Type::Ref { entity: Some(target), field: Some(_), .. }, flags, .. } if flags.keep.is_none() => {
            Some((field, *target))
        }
        _ => None,
    };
    let value = |field: FieldId| {
        let key = || action.keys.iter().find(|(key, _)| makes && *key == field).map(|(_, value)| value);
        action.value_of(field).or_else(key)
    };
    let all = (0..entity.fields.len()).map(FieldId).filter_map(refers);
    let plain = plain.iter().filter(|it| it.child == id && belongs::is_in_key(entity, it.field));
    let apart = all.filter(|pair| !parents.contains(pair)).chain(plain.map(|it| (it.field, it.parent)));
    apart.filter_map(|(field, target)| Some((field, target, value(field)?))).collect()
}

/// Returns true if a value comes from the arguments of the call: a parameter, or an element of one.
fn is_given(value: &Expr, lists: &[&Expr]) -> bool {
    match &value.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(_), .. }) => true,
        ExprKind::ValuePath(ValuePath { origin: Origin::Element(_), .. }) => {
            lists.iter().any(|list| !list.parameters().is_empty())
        }
        _ => false,
    }
}

fn lists(steps: &[WriteStep]) -> Vec<&Expr> {
    let each = steps.iter().filter_map(|step| match step {
        WriteStep::For(each) => Some(each),
        WriteStep::Action(_) => None,
    });
    each.flat_map(|each| [vec![&each.list], lists(&each.steps)].concat()).collect()
}

/// A reference that a step stores.
struct Reference<'a> {
    model: &'a Model,
    write: &'a Write,
    action: &'a Action,
    target: EntityId,
    value: &'a Expr,
}

impl Reference<'_> {
    /// Returns true if the write may check the target. An item that is known by its id alone belongs to no scope of the
    /// caller, so a check of it would tell which ids exist (P01), unless the model says that these items are for all.
    fn is_checkable(&self) -> bool {
        self.is_in_scope() || self.is_for_all()
    }

    /// Returns true if no caller reaches the write, or if the target's key has more than its id.
    fn is_in_scope(&self) -> bool {
        let is_open = matches!(self.write.allow, Some(Permission::Public(_) | Permission::When(_)));
        self.model.caller.is_none() || !is_open || self.model.entity(self.target).key_fields().len() > 1
    }

    /// Returns true if a pattern has `unscoped` for the target.
    fn is_for_all(&self) -> bool {
        let reads = self.model.reads.iter().flat_map(|read| &read.unscoped);
        let writes = self.model.writes.iter().flat_map(|write| &write.unscoped);
        reads.chain(writes).any(|clause| clause.entity == Some(self.target))
    }

    /// Returns true if the target exists: the write makes, changes, checks or reads it, or an item that refers to it.
    fn is_held(&self) -> bool {
        let steps = self.write.actions();
        let others = steps.iter().filter(|other| !std::ptr::eq(**other, self.action));
        others.into_iter().any(|other| self.is_step_on_it(other))
            || self.write.lets.iter().any(|it| self.is_read(it))
            || self.write.allow.iter().filter_map(Permission::condition).any(|allow| self.is_permitted(allow))
    }

    /// Returns true if a field with this value names the target: its own field, a `ref` to it, or a field with the name of
    /// its id.
    fn names(&self, entity: EntityId, field: FieldId) -> bool {
        let of = self.model.entity(entity).field(field);
        let refers = matches!(of.kind, Type::Ref { entity: Some(target), .. } if target == self.target);
        let target = self.model.entity(self.target);
        let is_same = || target.id_field().is_some_and(|id| target.field(id).name == of.name);
        entity == self.target || refers || is_same()
    }

    fn is_step_on_it(&self, other: &Action) -> bool {
        let Some(entity) = other.entity else { return false };
        let makes = matches!(other.verb, Verb::Create | Verb::Put | Verb::Upsert);
        let needs = other.verb == Verb::Update
            || other.verb == Verb::Check && !matches!(other.presence, Some(Presence::Absent))
            || other.verb == Verb::Delete && !other.conditions.is_empty();
        let keys = other.keys.iter().map(|(field, value)| (*field, value));
        let equal = other.equalities.iter().map(|it| (it.field, &it.value));
        let set = other.changes.iter().filter_map(|change| Some((change.field?, other.value_of(change.field?)?)));
        let has = |(field, value): (FieldId, &Expr)| value.same(self.value) && self.names(entity, field);
        let tests = || other.conditions.iter().any(|it| self.is_tested(entity, &it.condition));
        needs && (keys.chain(equal).any(has) || tests()) || makes && entity == self.target && set.into_iter().any(has)
    }

    /// Returns true if a condition compares a field of the item that names the target with the value.
    fn is_tested(&self, entity: EntityId, condition: &Expr) -> bool {
        condition.conjuncts().into_iter().filter_map(equality).any(|(left, right)| {
            let is_own = |expr: &Expr| {
                matches!(&expr.kind, ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), .. })
                    if self.names(entity, *field))
            };
            is_own(left) && right.same(self.value) || is_own(right) && left.same(self.value)
        })
    }

    fn is_read(&self, it: &Let) -> bool {
        let LetSource::Read { read, arguments } = &it.source else { return false };
        let called = self.model.read(*read);
        let names = called.parameters.iter().flat_map(|it| it.arguments.iter().map(|_| &it.field_name));
        names.zip(arguments).any(|(name, argument)| {
            argument.same(self.value)
                && called.result.entities().into_iter().any(|entity| {
                    let field = self.model.entity(entity).field_named(name);
                    field.is_some_and(|field| self.names(entity, field))
                })
        })
    }

    /// Returns true if `allow` compares the value with a claim, or if a guard or a read of it finds the target or an item
    /// that refers to it.
    fn is_permitted(&self, allow: &Expr) -> bool {
        let mut found = false;
        allow.walk(&mut |part| {
            if let Some((left, right)) = equality(part) {
                found |= claim(left).is_some() && right.same(self.value);
                found |= claim(right).is_some() && left.same(self.value);
            }
            if let ExprKind::Guard { guard, arguments } = &part.kind {
                found |= self.is_guarded(&self.model.guards[guard.0], arguments);
            }
            if let ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, arguments, .. }, .. }) = &part.kind {
                let finds = self.model.read(*read).result.entities().contains(&self.target);
                found |= finds && arguments.iter().any(|argument| argument.same(self.value));
            }
        });
        found
    }

    fn is_guarded(&self, guard: &Guard, arguments: &[Expr]) -> bool {
        let Some(entity) = guard.entity else { return false };
        let keys = guard.keys.iter().map(|(field, value)| (*field, value));
        let equal = guard.equalities.iter().map(|it| (it.field, &it.value));
        keys.chain(equal).any(|(field, value)| {
            let ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), .. }) = &value.kind else {
                return false;
            };
            self.names(entity, field) && arguments.get(*number).is_some_and(|argument| argument.same(self.value))
        })
    }

    fn finding(&self, (id, field): (EntityId, FieldId)) -> Diagnostic {
        let (entity, target) = (self.model.entity(id), self.model.entity(self.target));
        let (field, name) = (entity.field(field), &target.name);
        let message = format!("`{}` stores `{}` without checking that the {name} exists", self.write.name, field.name);
        let is_ref = matches!(field.kind, Type::Ref { .. });
        let label = if is_ref { "refers to" } else { "names" };
        let keep = if is_ref { "`keep` to the `ref`".to_owned() } else { format!("write `ref {name} keep`") };
        let clause = if self.is_in_scope() { String::new() } else { format!(" and `unscoped {name} \"…\"`") };
        Diagnostic::warning(RULE.code, self.action.entity_span, message)
            .label(format!("nothing checks the {name}"))
            .also(field.name_span, format!("{label} the {name}"))
            .note("A caller can name an item that does not exist, or that is being deleted.")
            .help(format!(
                "add `check {name}(…) exists else …`{clause} to the same request, or {keep} if the target may be missing"
            ))
    }
}
