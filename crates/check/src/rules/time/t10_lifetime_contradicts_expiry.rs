//! T10: items expire earlier or later than their lifetime says.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::{BinaryOp, Verb};
use keyform_language::schema::{
    ChangeKind, Entity, EntityId, Expr, ExprKind, Field, FieldId, Model, Origin, ValuePath,
};

use super::ttl_field;

pub(super) static RULE: Rule = Rule {
    code: Code("T10"),
    severity: Severity::Warning,
    title: "items expire earlier or later than they are needed",
    page: include_str!("../../../../../docs/rules/T10.md"),
    find,
};

/// Two lifetimes that differ by more than this factor contradict each other.
const FACTOR_APART: f64 = 1.5;
/// Longest chain of defaults that refer to other fields.
const CHAIN_MAX: usize = 8;

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let writes = Writes::of(context.model);
    for id in context.model.entity_ids() {
        let entity = context.model.entity(id);
        let Some((ttl, field)) = ttl_field(context.model, entity) else { continue };
        let default = field.default.as_ref().and_then(|default| after(entity, default, 0));
        if let Some(default) = default {
            findings.extend(
                at_once(entity, field, default).or_else(|| before_deadline(entity, (ttl, field), default)).or_else(
                    || against_lifetime(entity, field, writes.range(id, default)?, writes.deleted.contains(&id)),
                ),
            );
        }
    }
}

/// Expiry times that writes set, and the entities that they delete.
struct Writes {
    /// Seconds after the write; `None` if a write computes another time.
    expiries: BTreeMap<EntityId, Vec<Option<i64>>>,
    deleted: BTreeSet<EntityId>,
}

impl Writes {
    fn of(model: &Model) -> Self {
        let mut writes = Self { expiries: BTreeMap::new(), deleted: BTreeSet::new() };
        for action in model.writes.iter().flat_map(keyform_language::schema::Write::actions) {
            let Some(id) = action.entity else { continue };
            if action.verb == Verb::Delete {
                writes.deleted.insert(id);
            }
            let entity = model.entity(id);
            let Some((ttl, _)) = ttl_field(model, entity) else { continue };
            for change in action.changes.iter().filter(|change| change.field == Some(ttl)) {
                let expiry = match &change.kind {
                    ChangeKind::Set(value) => after(entity, value, 0),
                    ChangeKind::Increase(_)
                    | ChangeKind::Decrease(_)
                    | ChangeKind::Append(_)
                    | ChangeKind::Add(_)
                    | ChangeKind::Take(_)
                    | ChangeKind::Remove => None,
                };
                writes.expiries.entry(id).or_default().push(expiry);
            }
        }
        writes
    }

    /// Returns the shortest and the longest expiry; `None` if one is unknown.
    fn range(&self, id: EntityId, default: i64) -> Option<(i64, i64)> {
        let set = self.expiries.get(&id).map(Vec::as_slice).unwrap_or_default();
        set.iter()
            .try_fold((default, default), |(least, most), expiry| Some((least.min((*expiry)?), most.max((*expiry)?))))
    }
}

/// Returns the seconds from the write of an item to this time.
fn after(entity: &Entity, expr: &Expr, depth: usize) -> Option<i64> {
    match &expr.kind {
        ExprKind::Call { function, .. } if function == "now" => Some(0),
        ExprKind::Binary(op @ (BinaryOp::Plus | BinaryOp::Minus), left, right) => {
            let ExprKind::Duration(seconds) = right.kind else { return None };
            let seconds = i64::try_from(seconds).ok()?;
            let start = after(entity, left, depth)?;
            if *op == BinaryOp::Plus { start.checked_add(seconds) } else { start.checked_sub(seconds) }
        }
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(_, field), path })
            if path.is_empty() && depth < CHAIN_MAX =>
        {
            of_field(entity, entity.fields.get(field.0)?, depth)
        }
        _ => None,
    }
}

fn of_field(entity: &Entity, field: &Field, depth: usize) -> Option<i64> {
    match &field.default {
        Some(default) => after(entity, default, depth + 1),
        None => field.flags.created.map(|_| 0),
    }
}

fn at_once(entity: &Entity, field: &Field, default: i64) -> Option<Diagnostic> {
    (default <= 0).then(|| {
        let message = format!("an item of {} expires when it is written", entity.name);
        Diagnostic::warning(RULE.code, field.span, message)
            .label("this time is not in the future")
            .help(format!("add the time that items are kept: `{} = now() + 30d`", field.name))
    })
}

/// Reports an item that expires before another time of it, such as `validUntil`.
fn before_deadline(entity: &Entity, (ttl, field): (FieldId, &Field), default: i64) -> Option<Diagnostic> {
    let others = entity.fields.iter().enumerate().filter(|(id, other)| FieldId(*id) != ttl && other.kind.is_time());
    let (later, deadline) = others
        .filter_map(|(_, other)| Some((other, of_field(entity, other, 0)?)))
        .find(|(_, seconds)| *seconds > default)?;
    let message = format!(
        "items of {} expire after {}, before `{}`, which is {} after",
        entity.name,
        duration(default),
        later.name,
        duration(deadline)
    );
    Some(
        Diagnostic::warning(RULE.code, field.span, message)
            .also(later.name_span, "a later time of the item")
            .help(format!("expire after it: `{} = {} + 1d`", field.name, later.name)),
    )
}

fn against_lifetime(entity: &Entity, field: &Field, (least, most): (i64, i64), is_deleted: bool) -> Option<Diagnostic> {
    let lives = i64::try_from(entity.volume.lives_secs?).ok()?;
    let apart = |one: i64, other: i64| one as f64 > other as f64 * FACTOR_APART;
    let message = if apart(lives, most) {
        format!("items of {} are needed for {}, and expire after {}", entity.name, duration(lives), duration(most))
    } else if !is_deleted && apart(least, lives) {
        format!("items of {} live for {}, but expire after {}", entity.name, duration(lives), duration(least))
    } else {
        return None;
    };
    let place = entity.volume_span.unwrap_or(entity.name_span);
    Some(
        Diagnostic::warning(RULE.code, field.span, message)
            .also(place, "states the lifetime")
            .help("correct the expiry, or `lives`"),
    )
}

/// Formats seconds in the largest unit that divides them: `30d`.
fn duration(seconds: i64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "m")];
    let unit = units.into_iter().find(|(length, _)| seconds != 0 && seconds % length == 0);
    unit.map_or_else(|| format!("{seconds}s"), |(length, unit)| format!("{}{unit}", seconds / length))
}
