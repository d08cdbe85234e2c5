//! P06: a claim has another type than the value it is compared with.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{
    EntityId, Expr, ExprKind, FieldId, Origin, Parameter, Permission, Type, ValuePath, words,
};
use keyform_language::scope::disjunct::{claim, equality};

pub(super) static RULE: Rule = Rule {
    code: Code("P06"),
    severity: Severity::Error,
    title: "a claim has another type than the value it is compared with",
    page: include_str!("../../../../../docs/rules/P06.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let reads = context.model.reads.iter().map(|read| (read.allow.as_ref(), read.parameters.as_slice()));
    let writes = context.model.writes.iter().map(|write| (write.allow.as_ref(), write.parameters.as_slice()));
    for (allow, parameters) in reads.chain(writes) {
        if let Some(condition) = allow.and_then(Permission::condition) {
            compared(context, condition, parameters, findings);
        }
    }
    for guard in &context.model.guards {
        for (field, value) in &guard.keys {
            let kind = guard.entity.map(|entity| &context.model.entity(entity).field(*field).kind);
            findings.extend(kind.and_then(|kind| mismatch(context, value, kind)));
        }
        guard.condition.iter().for_each(|condition| compared(context, condition, &guard.parameters, findings));
    }
}

fn compared(context: &Context<'_>, condition: &Expr, parameters: &[Parameter], findings: &mut Vec<Diagnostic>) {
    condition.walk(&mut |part| {
        if let ExprKind::Binary(BinaryOp::Contains, whole, element) = &part.kind {
            let kind = kind_of(context, whole, parameters).and_then(element_kind);
            findings.extend(kind.and_then(|kind| mismatch(context, element, kind)));
        }
        let Some((left, right)) = equality(part) else { return };
        for (claim, other) in [(left, right), (right, left)] {
            findings.extend(kind_of(context, other, parameters).and_then(|kind| mismatch(context, claim, kind)));
        }
    });
}

/// Returns the type of the elements of a list or a set.
fn element_kind(kind: &Type) -> Option<&Type> {
    match kind.resolved() {
        Type::List(of, _) | Type::Set(of, _) => Some(of.as_ref()),
        _ => None,
    }
}

fn kind_of<'a>(context: &Context<'a>, expr: &Expr, parameters: &'a [Parameter]) -> Option<&'a Type> {
    let ExprKind::ValuePath(ValuePath { origin, path }) = &expr.kind else { return None };
    let field = |entity: EntityId, field: FieldId| &context.model.entity(entity).field(field).kind;
    match origin {
        _ if !path.is_empty() => None,
        Origin::Field(entity, of) | Origin::Let { entity: Some(entity), field: Some(of), .. } => {
            Some(field(*entity, *of))
        }
        Origin::Parameter(number) => parameters.get(*number).map(|parameter| &parameter.kind),
        Origin::Read { read, field: Some(of), .. } => {
            let entity = *context.model.read(*read).result.entities().first()?;
            Some(field(entity, *of))
        }
        Origin::Let { .. } | Origin::Caller(_) | Origin::Element(_) | Origin::Read { .. } => None,
    }
}

fn mismatch(context: &Context<'_>, value: &Expr, kind: &Type) -> Option<Diagnostic> {
    let claim = context.model.caller.as_ref()?.fields.get(claim(value)?)?;
    let (given, wanted) = (claim.kind.resolved(), kind.resolved());
    if given.is_same_kind(wanted) || matches!(given, Type::Unknown) || matches!(wanted, Type::Unknown) {
        return None;
    }
    let message = format!(
        "the claim `{}` is {}, and is compared with {}",
        claim.name,
        words::described(given),
        words::described(wanted)
    );
    let finding =
        Diagnostic::error(RULE.code, value.span, message).label("they are equal for no caller, or by accident");
    Some(finding.also(claim.name_span, "the claim").help("give the claim the type of the field"))
}
