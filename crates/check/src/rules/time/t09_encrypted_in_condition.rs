//! T09: the store would have to evaluate an encrypted field.
//!
//! ADR 0014: a field is encrypted above the store, with different bytes for each call, bound to its table, item and
//! name.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::Verb;
use keyform_language::plan::{Filter, ReadOutcome};
use keyform_language::schema::{
    Action, ChangeKind, Entity, EntityId, Expr, ExprKind, Field, FieldId, Format, Model, Origin, Part, Type, ValuePath,
};
use keyform_language::span::Span;

use crate::rules::key::all_keys;

pub(super) static RULE: Rule = Rule {
    code: Code("T09"),
    severity: Severity::Error,
    title: "the store cannot evaluate an encrypted field",
    page: include_str!("../../../../../docs/rules/T09.md"),
    find,
};

const ANSWER: &str = "the stored bytes differ each time";

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for entity in &model.entities {
        fields(model, entity, findings);
    }
    keys(model, findings);
    for (number, read) in model.reads.iter().enumerate() {
        let tested = filtered(context, number).filter_map(|parameter| {
            let parameter = &read.parameters[parameter];
            asked(model, parameter.field?, parameter.span)
        });
        findings.extend(tested);
        read.filter.iter().for_each(|filter| expression(model, filter, findings));
    }
    for guard in &model.guards {
        guard.condition.iter().for_each(|condition| expression(model, condition, findings));
    }
    for action in model.writes.iter().flat_map(|write| write.actions()) {
        action.conditions.iter().for_each(|condition| expression(model, &condition.condition, findings));
        changes(model, action, findings);
    }
}

/// Returns the parameters that a read filters by. Parameters of the key are excluded, because a key may contain their
/// hash.
fn filtered<'a>(context: &Context<'a>, read: usize) -> impl Iterator<Item = usize> + use<'a> {
    let plan = match &context.plans.reads[read] {
        ReadOutcome::Planned(plan) => Some(plan),
        _ => None,
    };
    plan.into_iter().flat_map(|plan| &plan.filters).filter_map(|filter| match filter {
        Filter::Parameter(number) => Some(*number),
        _ => None,
    })
}

fn sealed(field: &Field) -> bool {
    field.flags.encrypted.is_some()
}

fn finding(span: Span, message: String, field: &Field, help: &str) -> Diagnostic {
    let finding = Diagnostic::error(RULE.code, span, message);
    let finding = match field.flags.encrypted {
        Some(flag) => finding.also(flag, "marked here"),
        None => finding,
    };
    finding.help(help)
}

/// Reports encrypted fields that are also unique, a version, part of the key or the TTL attribute, and unencrypted
/// copies of encrypted fields.
fn fields(model: &Model, entity: &Entity, findings: &mut Vec<Diagnostic>) {
    let ttl = entity.table.and_then(|table| model.table(table).ttl.as_ref()).map(|ttl| &ttl.value);
    for field in &entity.fields {
        let name = &field.name;
        for per in field.flags.unique.iter().flat_map(|unique| &unique.per).map(|per| entity.field(*per)) {
            if sealed(per) {
                let message =
                    format!("`{name}` of {} is unique within `{}`, which is encrypted", entity.name, per.name);
                findings.push(finding(
                    field.name_span,
                    message,
                    per,
                    "make it unique within a field that is not encrypted",
                ));
            }
        }
        nested(&field.kind, findings);
        if let Type::Copy { entity: Some(of), field: Some(source), .. } = &field.kind
            && sealed(model.entity(*of).field(*source))
            && !sealed(field)
        {
            let source = model.entity(*of).field(*source);
            let message = format!("`{name}` of {} keeps an unencrypted copy of `{}`", entity.name, source.name);
            findings.push(finding(field.name_span, message, source, "mark the copy `encrypted` too"));
        }
        if !sealed(field) {
            continue;
        }
        let also = [
            (field.flags.unique.as_ref().map(|unique| unique.span), "unique"),
            (field.flags.version, "a version"),
            (field.flags.id, "a part of the key"),
            (ttl.filter(|ttl| *ttl == name).map(|_| field.name_span), "the TTL attribute"),
        ];
        for (span, what) in also.into_iter().filter_map(|(span, what)| Some((span?, what))) {
            let message = format!("`{name}` of {} is encrypted and cannot be {what}", entity.name);
            findings.push(finding(span, message, field, "remove one of the two"));
        }
    }
}

/// Reports encrypted fields inside a record: only a whole field of an entity can be encrypted.
fn nested(kind: &Type, findings: &mut Vec<Diagnostic>) {
    match kind.resolved() {
        Type::Record(fields) => {
            for field in fields {
                if sealed(field) {
                    let message =
                        format!("`{}` is inside another field, but only whole fields can be encrypted", field.name);
                    findings.push(finding(field.name_span, message, field, "mark the outer field `encrypted`"));
                }
                nested(&field.kind, findings);
            }
        }
        Type::List(of, _) | Type::Map(of, _) | Type::Set(of, _) => nested(of, findings),
        _ => {}
    }
}

/// Reports encrypted fields in keys. A hash is allowed, because it is computed before encryption.
fn keys(model: &Model, findings: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for keyed in all_keys(model) {
        for part in keyed.parts().flat_map(|part| &part.template.parts) {
            let Part::Field { field: id, format, span } = part else { continue };
            let field = keyed.entity.field(*id);
            if sealed(field) && *format != Format::Hash && !reported.contains(&(keyed.id, *id)) {
                reported.push((keyed.id, *id));
                let message = format!("`{}` is encrypted but part of {}", field.name, keyed.title());
                let help = format!("write `{{{}:hash}}`, or key by another field", field.name);
                findings.push(finding(keyed.place_of(*span), message, field, &help).label("keys are not encrypted"));
            }
        }
    }
}

fn asked(model: &Model, (entity, field): (EntityId, FieldId), span: Span) -> Option<Diagnostic> {
    let entity = model.entity(entity);
    let field = entity.field(field);
    let message = || format!("`{}` of {} is encrypted, so the store cannot compare it", field.name, entity.name);
    let help = "test another field, or read the item and compare in code; `is none` and `is some` are allowed";
    sealed(field).then(|| finding(span, message(), field, help).label(ANSWER))
}

/// Reports encrypted fields that a condition compares. Tests for presence are allowed.
fn expression(model: &Model, expr: &Expr, findings: &mut Vec<Diagnostic>) {
    let mut whether = Vec::new();
    let mut compared = Vec::new();
    expr.walk(&mut |part| match &part.kind {
        ExprKind::IsNone(of) | ExprKind::IsSome(of) => whether.push(of.span),
        ExprKind::ValuePath(ValuePath { origin: Origin::Field(entity, field), .. }) => {
            compared.push((*entity, *field, part.span));
        }
        _ => {}
    });
    let compared = compared.into_iter().filter(|(_, _, span)| !whether.contains(span));
    findings.extend(compared.filter_map(|(entity, field, span)| asked(model, (entity, field), span)));
}

/// Reports changes that the store would have to compute from encrypted bytes, or copy between fields.
fn changes(model: &Model, action: &Action, findings: &mut Vec<Diagnostic>) {
    let Some(entity) = action.entity.map(|id| model.entity(id)) else { return };
    for change in &action.changes {
        let Some(field) = change.field.map(|id| entity.field(id)) else { continue };
        let is_part = !change.path().is_empty() || change.is_cumulative();
        if sealed(field) && is_part {
            let message = format!("`{}` of {} is encrypted and cannot be changed in part", field.name, entity.name);
            let help = "read the item with a `let` and set the whole field";
            findings.push(finding(change.span, message, field, help).label(ANSWER));
            continue;
        }
        let ChangeKind::Set(value) = &change.kind else { continue };
        let in_process = matches!(action.verb, Verb::Create | Verb::Put);
        let own = value.own_fields();
        if let Some(source) = own.iter().map(|id| entity.field(*id)).find(|source| sealed(source) || sealed(field))
            && !in_process
        {
            let message = format!("the store would copy another field into `{}` of {}", field.name, entity.name);
            let flagged = if sealed(source) { source } else { field };
            let help = "read the item with a `let` and set the field to the value read";
            findings.push(finding(value.span, message, flagged, help).label(
                "an encrypted value can be decrypted only \
                in its own field",
            ));
        }
    }
}
