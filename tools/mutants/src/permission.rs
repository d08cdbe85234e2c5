//! Mutants of permissions and guards.

use keyform_language::document::ast::{
    Argument, BinaryOp, DeclarationKind, Expr, ExprKind, Name, Parameter, Permission, Test, TypeRef,
};
use keyform_language::span::Span;

use crate::operator::Scene;
use crate::place::{Place, arguments, claim, each, expressions, named, parameters, permission, vary};

pub(crate) fn public(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let mut kind = kind.clone();
    match permission(&mut kind) {
        Some(permission) if permission.condition().is_some() => *permission = Permission::Public,
        _ => return Vec::new(),
    }
    vec![kind]
}

pub(crate) fn drop_conjunct(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    vary(kind, |at| at == Place::Allow, &operands)
}

/// Returns both operands of `and`.
pub(crate) fn operands(expr: &Expr) -> Vec<Expr> {
    match &*expr.kind {
        ExprKind::Binary(BinaryOp::And, left, right) => vec![left.clone(), right.clone()],
        _ => Vec::new(),
    }
}

pub(crate) fn widen(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let Some(anyone) = scene.anyone() else { return Vec::new() };
    let mut kind = kind.clone();
    let mut places = expressions(&mut kind);
    let Some((_, allow)) = places.iter_mut().find(|(at, _)| *at == Place::Allow) else { return Vec::new() };
    **allow = ExprKind::Binary(BinaryOp::Or, allow.clone(), anyone).into();
    vec![kind]
}

pub(crate) fn swap_guard_argument(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let others = arguments(kind);
    vary(kind, |at| at == Place::Allow, &|expr| match &*expr.kind {
        ExprKind::Call(name, given) if scene.guard(&name.text).is_some() => replaced(name, given, &others),
        _ => Vec::new(),
    })
}

/// Returns a call with each argument replaced by each of the names.
pub(crate) fn replaced(name: &Name, given: &[Argument], others: &[String]) -> Vec<Expr> {
    let mut all = Vec::new();
    for number in 0..given.len() {
        for other in others {
            let mut given = given.to_vec();
            given[number].value = named(other);
            all.push(ExprKind::Call(name.clone(), given).into());
        }
    }
    all
}

pub(crate) fn weaker_guard(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    vary(kind, |at| at == Place::Allow, &|expr| {
        let ExprKind::Call(name, given) = &*expr.kind else { return Vec::new() };
        let Some(strong) = scene.guard(&name.text).filter(|guard| guard.condition.is_some()) else { return Vec::new() };
        let weaker = scene.guards.iter().filter(|weak| {
            let is_same = weak.item.entity.text == strong.item.entity.text && weak.name.text != strong.name.text;
            is_same && weak.parameters.len() == strong.parameters.len()
        });
        weaker.map(|weak| ExprKind::Call(weak.name.clone(), given.clone()).into()).collect()
    })
}

pub(crate) fn drop_guard_where(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let DeclarationKind::Guard(guard) = kind else { return Vec::new() };
    let Some(condition) = &guard.condition else { return Vec::new() };
    let parts = each(condition, &operands).into_iter().map(Some).chain([None]);
    parts
        .map(|condition| {
            let mut guard = guard.clone();
            guard.condition = condition;
            DeclarationKind::Guard(guard)
        })
        .collect()
}

pub(crate) fn claim_to_parameter(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    if matches!(kind, DeclarationKind::Guard(_)) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for of in &scene.claims {
        let name = &of.name.text;
        let to_name = |expr: &Expr| if claim(expr) == Some(name) { vec![named(name)] } else { Vec::new() };
        for mut changed in vary(kind, |_| true, &to_name) {
            if !arguments(kind).contains(name)
                && let Some(parameters) = parameters(&mut changed)
            {
                let kind = TypeRef { optional: false, ..of.kind.clone() };
                let field = Name::from(name.clone());
                parameters.push(Parameter { field, test: Test::Equal, kind: Some(kind), span: Span::default() });
            }
            all.push(changed);
        }
    }
    all
}

pub(crate) fn negate(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    vary(kind, |at| matches!(at, Place::Allow | Place::Condition), &|expr| match &*expr.kind {
        ExprKind::Binary(
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual,
            _,
            _,
        ) => vec![ExprKind::Not(expr.clone()).into()],
        _ => Vec::new(),
    })
}
