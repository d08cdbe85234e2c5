//! Resolves writes: reads before the request, permission, early refusals, and the steps of the request.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, Name, WriteClause};
use crate::schema::expression::{Expr, ExprKind, FUNCTIONS, Origin, ValuePath};
use crate::schema::field::Type;
use crate::schema::pattern::{
    Action, ChangeKind, For, Let, LetSource, Outcome, Parameter, Permission, Require, Timing, Write, WriteStep,
};
use crate::schema::{EntityId, Model};
use crate::span::{Span, Spanned};

use super::expression::Scope;
use super::found::Found;
use super::names::{Declared, Names, twice};
use super::parameter::{self, Hints};
use super::scope::{Content, Known};
use super::types::Types;
use super::{action, code, mention, read, value_path, version};

pub(super) fn resolve(
    names: &Names<'_>,
    types: &Types<'_>,
    model: &Model,
    declared: Declared<'_, ast::Write>,
    found: &mut Found,
) -> Write {
    let it = declared.value;
    let mut entities = Vec::new();
    let mut checked = Vec::new();
    let complete = touched(names, &it.body, &mut entities, &mut checked);
    // Written entities come first: a parameter is preferably a field of a written entity, not of one that is only
    // checked.
    entities.extend(checked);
    let result = it.result.as_ref().map(|name| Spanned::new(names.entity(name, found), name.span));
    entities.extend(result.and_then(|result| result.value));
    let parameters = parameter::resolve(types, &it.parameters, &entities, &mention::in_write(it), found);
    let mut write = outline(declared, parameters.clone(), result);
    clauses(&mut write, it, found);
    let mut body = Body::new(names, model, it, &parameters);
    body.steps(&mut write, found);
    hints(model, &write).apply(&mut write.parameters);
    if complete {
        for (written, parameter) in it.parameters.iter().zip(&mut write.parameters) {
            parameter::report_unknown(model, written, parameter, &entities, found);
        }
        action::refill(model, &mut write);
    }
    action::from_parameters(model, &mut write);
    version::expect(model, &mut write);
    if model.caller.is_some() && write.allow.is_none() {
        read::no_allow(&it.name, found);
    }
    write
}

/// Collects the entities of the steps in order, those that are only `checked` separately; returns true if all names
/// resolve.
fn touched(
    names: &Names<'_>,
    block: &ast::Block<ast::Step>,
    entities: &mut Vec<EntityId>,
    checked: &mut Vec<EntityId>,
) -> bool {
    let mut complete = true;
    for line in &block.lines {
        match &line.value {
            ast::Step::Action(action) => match names.entity_named(&action.item.entity.text) {
                Some(entity) if action.verb == ast::Verb::Check => checked.push(entity),
                Some(entity) => entities.push(entity),
                None => complete = false,
            },
            ast::Step::For(each) => complete &= touched(names, &each.body, entities, checked),
            ast::Step::Let(_)
            | ast::Step::Permit(_)
            | ast::Step::Unscoped(_)
            | ast::Step::Allow(_)
            | ast::Step::Require(_) => {}
        }
    }
    complete
}

fn outline(
    declared: Declared<'_, ast::Write>,
    parameters: Vec<Parameter>,
    result: Option<Spanned<Option<EntityId>>>,
) -> Write {
    let it = declared.value;
    Write {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: declared.span,
        docs: declared.docs.to_vec(),
        parameters,
        result,
        idempotent: None,
        batch: None,
        rate: None,
        allow: None,
        timing: Timing::default(),
        unscoped: Vec::new(),
        lets: Vec::new(),
        requires: Vec::new(),
        steps: Vec::new(),
    }
}

fn clauses(write: &mut Write, it: &ast::Write, found: &mut Found) {
    for line in &it.clauses {
        let span = line.span;
        let first = match &line.value {
            WriteClause::Idempotent => write.idempotent.replace(span),
            WriteClause::Batch => write.batch.replace(span),
            WriteClause::Rate(rate) => write.rate.replace(Spanned::new(*rate, span)).map(|first| first.span),
            WriteClause::Allow(_) => None,
        };
        if let Some(first) = first {
            repeated(&it.name, span, first, found);
        }
    }
}

fn repeated(name: &Name, second: Span, first: Span, found: &mut Found) {
    let finding = Diagnostic::error(code::REPEATED, second, format!("duplicate clause of `{}`", name.text));
    found.add(finding.label("the second").also(first, "the first").help("remove one of them"));
}

/// Converts the name of an outcome.
pub(super) fn outcome(name: Option<&Name>) -> Option<Outcome> {
    name.map(|name| Outcome { name: name.text.clone(), span: name.span })
}

/// State of resolving the steps of a write.
struct Body<'a> {
    names: &'a Names<'a>,
    model: &'a Model,
    write: &'a ast::Write,
    parameters: &'a [Parameter],
    /// `let`s resolved so far.
    lets: Vec<Known>,
    /// Names of all `let`s.
    let_names: Vec<&'a Name>,
}

impl<'a> Body<'a> {
    fn new(names: &'a Names<'a>, model: &'a Model, write: &'a ast::Write, parameters: &'a [Parameter]) -> Self {
        let let_names = write.body.lines.iter().filter_map(|line| match &line.value {
            ast::Step::Let(it) => Some(&it.name),
            _ => None,
        });
        let let_names = let_names.collect();
        Self { names, model, write, parameters, lets: Vec::new(), let_names }
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            parameters: self.parameters,
            lets: &self.lets,
            later: self.let_names.iter().skip(self.lets.len()).map(|name| name.text.as_str()).collect(),
            fields_first: false,
            ..Scope::of_items(self.names, self.model, Vec::new())
        }
    }

    fn steps(&mut self, write: &mut Write, found: &mut Found) {
        let mut allow: Option<Span> = None;
        for line in &self.write.body.lines {
            match &line.value {
                ast::Step::Let(it) => self.read(write, it, line.span, found),
                ast::Step::Permit(it) => {
                    if let Some(first) = allow.replace(line.span) {
                        repeated(&self.write.name, line.span, first, found);
                    }
                    write.allow = Some(read::permission(it, line.span, &self.scope(), found));
                    write.timing = timing(it, line.span);
                }
                ast::Step::Unscoped(it) => write.unscoped.push(read::unscoped(self.names, it, line.span, found)),
                ast::Step::Allow(_) => {}
                ast::Step::Require(it) => write.requires.push(Require {
                    condition: self.scope().expr(&it.condition, found),
                    outcome: outcome(it.outcome.as_ref()),
                    span: line.span,
                }),
                ast::Step::Action(it) => {
                    write.steps.push(WriteStep::Action(action::resolve(&self.scope(), it, line.span, found)));
                }
                ast::Step::For(it) => {
                    let each = self.each(it, line.span, &self.scope(), found);
                    write.steps.push(WriteStep::For(each));
                }
            }
        }
    }

    fn read(&mut self, write: &mut Write, it: &ast::Let, span: Span, found: &mut Found) {
        self.name_is_free(&it.name, found);
        let (source, content) = self.source(&it.value, found);
        write.lets.push(Let {
            name: it.name.text.clone(),
            name_span: it.name.span,
            source,
            outcome: outcome(it.outcome.as_ref()),
            span,
        });
        self.lets.push(Known { name: it.name.text.clone(), content });
    }

    /// Resolves the right-hand side of a `let`.
    fn source(&self, value: &ast::Expr, found: &mut Found) -> (LetSource, Content) {
        let scope = self.scope();
        let ast::ExprKind::Call(name, arguments) = value.kind.as_ref() else { return made(&scope, value, found) };
        let mut read = self.names.read_named(&name.text);
        if read.is_none() && !scope.is_unknown_call(name) {
            return made(&scope, value, found);
        }
        if read.is_none() {
            let reads = self.names.reads.iter().map(|read| read.value.name.text.as_str());
            let message = format!("unknown read `{}`", name.text);
            let near = found.unknown(code::READ, name, message, reads.chain(FUNCTIONS));
            read = near.and_then(|near| self.names.read_named(near));
        }
        let Some(read) = read else {
            arguments.iter().for_each(|argument| drop(scope.expr(&argument.value, found)));
            return (LetSource::Unknown, Content::Unknown);
        };
        let called = self.model.read(read);
        let arguments = scope.arguments(name, &called.parameters, arguments, value.span, found);
        (LetSource::Read { read, arguments }, value_path::content(called))
    }

    /// Reports a name that a parameter or an earlier `let` already has.
    fn name_is_free(&self, name: &Name, found: &mut Found) {
        let earlier = self.let_names.iter().take(self.lets.len());
        let parameters = self.write.parameters.iter().map(|parameter| &parameter.field);
        if let Some(first) = earlier.copied().chain(parameters).find(|other| other.text == name.text) {
            let message = format!("`{}` has two meanings in `{}`", name.text, self.write.name.text);
            found.add(twice(code::REPEATED, name, first, message));
        }
    }

    fn each(&self, it: &ast::For, span: Span, scope: &Scope<'_>, found: &mut Found) -> For {
        self.name_is_free(&it.name, found);
        let (list, kind) = scope.typed(&it.list, found);
        let content = self.element(scope, &list, &kind, found);
        let mut elements = scope.elements.clone();
        elements.push(Known { name: it.name.text.clone(), content });
        let inner = Scope { elements, ..scope.clone() };
        let steps = it.body.lines.iter().filter_map(|line| self.inner_step(line, &inner, found)).collect();
        For { name: it.name.text.clone(), list, max: it.max, steps, span }
    }

    /// Returns the content of an element of the list.
    fn element(&self, scope: &Scope<'_>, list: &Expr, kind: &Type, found: &mut Found) -> Content {
        if let ExprKind::ValuePath(ValuePath { origin: Origin::Let { number, .. }, path }) = &list.kind
            && path.is_empty()
            && let Content::Items(entity) = scope.lets[*number].content
        {
            return Content::Item(entity);
        }
        match kind.resolved() {
            Type::List(of, _) | Type::Set(of, _) => Content::Value(of.as_ref().clone()),
            Type::Unknown | Type::Json => Content::Unknown,
            _ => {
                found.error(code::PLACE, list.span, "`for` iterates over a list or a set, and this is neither");
                Content::Unknown
            }
        }
    }

    fn inner_step(&self, line: &ast::Line<ast::Step>, scope: &Scope<'_>, found: &mut Found) -> Option<WriteStep> {
        let word = match &line.value {
            ast::Step::Action(it) => return Some(WriteStep::Action(action::resolve(scope, it, line.span, found))),
            ast::Step::For(it) => return Some(WriteStep::For(self.each(it, line.span, scope, found))),
            ast::Step::Allow(_) => return None,
            ast::Step::Let(_) => "let",
            ast::Step::Permit(_) => "allow",
            ast::Step::Unscoped(_) => "unscoped",
            ast::Step::Require(_) => "require",
        };
        let finding = Diagnostic::error(code::PLACE, line.span, format!("`{word}` is not allowed in a `for`"));
        found.add(finding.help("put it before the `for`; within one, every step has its own `if … else …`"));
        None
    }
}

/// Returns the declared moment at which the guards of a permission are evaluated.
fn timing(permission: &ast::Permission, span: Span) -> Timing {
    match permission {
        ast::Permission::Public | ast::Permission::System | ast::Permission::When(_) => Timing::Unstated,
        ast::Permission::Held(_) => Timing::Held(span),
        ast::Permission::Before(_, reason) => Timing::Before { reason: reason.text.clone(), span },
    }
}

/// Resolves a `let` with a value.
fn made(scope: &Scope<'_>, value: &ast::Expr, found: &mut Found) -> (LetSource, Content) {
    let (value, kind) = scope.typed(value, found);
    (LetSource::Value(value), Content::Value(kind))
}

/// Collects the parameter types that follow from the steps.
fn hints(model: &Model, write: &Write) -> Hints {
    let mut hints = Hints::default();
    for it in &write.lets {
        if let LetSource::Read { read, arguments } = &it.source {
            hints.arguments(&model.read(*read).parameters, arguments);
        }
        let_exprs(it).iter().for_each(|expr| hints.within(model, expr));
    }
    if let Some(Permission::When(condition)) = &write.allow {
        hints.within(model, condition);
    }
    write.requires.iter().for_each(|require| hints.within(model, &require.condition));
    write.actions().into_iter().for_each(|action| action_hints(model, action, &mut hints));
    hints
}

/// Returns the expressions of a `let`.
pub(super) fn let_exprs(it: &Let) -> &[Expr] {
    match &it.source {
        LetSource::Read { arguments, .. } => arguments,
        LetSource::Value(value) => std::slice::from_ref(value),
        LetSource::Unknown => &[],
    }
}

fn action_hints(model: &Model, action: &Action, hints: &mut Hints) {
    let Some(entity) = action.entity.map(|id| model.entity(id)) else { return };
    let equalities = action.equalities.iter().map(|equality| (&equality.field, &equality.value));
    for (field, value) in action.keys.iter().map(|(field, value)| (field, value)).chain(equalities) {
        hints.value(value, &entity.field(*field).kind);
        hints.within(model, value);
    }
    for change in &action.changes {
        let whole = change.place.as_ref().is_some_and(|place| place.path.is_empty());
        let kind = change.field.filter(|_| whole).map(|field| entity.field(field).kind.resolved().clone());
        let kind = kind.unwrap_or(Type::Unknown);
        match &change.kind {
            ChangeKind::Set(value) | ChangeKind::Increase(value) | ChangeKind::Decrease(value) => {
                hints.value(value, &kind);
                hints.within(model, value);
            }
            ChangeKind::Append(value) | ChangeKind::Add(value) | ChangeKind::Take(value) => {
                if let Type::List(of, _) | Type::Set(of, _) = &kind {
                    hints.value(value, of);
                }
                hints.within(model, value);
            }
            ChangeKind::Remove => {}
        }
    }
    action.conditions.iter().for_each(|condition| hints.within(model, &condition.condition));
}
