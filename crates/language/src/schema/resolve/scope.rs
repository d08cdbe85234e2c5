//! Name lookup at a position of the file.

use std::cell::RefCell;

use crate::diagnostic::Diagnostic;
use crate::document::ast::Name;
use crate::schema::field::Type;
use crate::schema::pattern::{Parameter, Test};
use crate::schema::{EntityId, FieldId, Model};

use super::code;
use super::found::{Found, nearest};
use super::names::Names;

/// Names that are visible at a position, and the constructs allowed there.
#[derive(Clone)]
pub(super) struct Scope<'a> {
    pub(super) names: &'a Names<'a>,
    pub(super) model: &'a Model,
    /// Entities of the current item; if there are several, the first that has a field wins.
    pub(super) items: Vec<EntityId>,
    /// True if a field must be named with its entity, as in `Member.status`: in the filter of a read that returns
    /// several entities.
    pub(super) by_part: bool,
    /// Parameters of the pattern.
    pub(super) parameters: &'a [Parameter],
    /// Preceding `let`s.
    pub(super) lets: &'a [Known],
    /// Names of later `let`s, for a precise error.
    pub(super) later: Vec<&'a str>,
    /// Elements of the enclosing `for`s, outermost first.
    pub(super) elements: Vec<Known>,
    /// True if a field of the item hides a parameter of the same name: in conditions and filters, not in values.
    pub(super) fields_first: bool,
    /// True if guards and reads can be called: in `allow`.
    pub(super) calls: bool,
    /// True if `absent` and `exists` are allowed: in the conditions of a step.
    pub(super) presence: bool,
    /// True if a part of the pattern was already reported, so that unknown names may be follow-on errors.
    pub(super) broken: bool,
    /// Fields that only old items have, in an evolution; the lookup may add more.
    pub(super) old: Option<&'a RefCell<Vec<String>>>,
}

/// A `let` or a loop element.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) name: String,
    pub(super) content: Content,
}

/// Content of a `let` or a loop element.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// A single item.
    Item(EntityId),
    /// A list of items.
    Items(EntityId),
    /// A value of this type.
    Value(Type),
    /// Already reported, or a result of several entities.
    Unknown,
}

/// Meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Field(EntityId, FieldId),
    Parameter(usize),
    Let(usize),
    Element(usize),
}

impl<'a> Scope<'a> {
    /// Creates a scope in which only the fields of these entities are visible.
    pub(super) fn of_items(names: &'a Names<'a>, model: &'a Model, items: Vec<EntityId>) -> Self {
        Self {
            names,
            model,
            items,
            by_part: false,
            parameters: &[],
            lets: &[],
            later: Vec::new(),
            elements: Vec::new(),
            fields_first: true,
            calls: false,
            presence: false,
            broken: false,
            old: None,
        }
    }

    /// Looks up a name; `into` is true if a path follows, as in `invite.code`.
    pub(super) fn meaning(&self, name: &str, into: bool) -> Option<Meaning> {
        let field = || self.field(name);
        let local = || self.element(name).or_else(|| self.read_before(name));
        let parameter = || self.parameter(name);
        match (into, self.fields_first) {
            (true, true) => local().or_else(field).or_else(parameter),
            (_, false) => local().or_else(parameter).or_else(field),
            (false, true) => field().or_else(local).or_else(parameter),
        }
    }

    fn field(&self, name: &str) -> Option<Meaning> {
        let fields = self.items.iter().filter_map(|id| {
            let field = self.model.entity(*id).field_named(name)?;
            Some(Meaning::Field(*id, field))
        });
        fields.into_iter().next().or_else(|| self.old_field(name))
    }

    fn old_field(&self, name: &str) -> Option<Meaning> {
        let (old, entity) = (self.old?, self.items.first()?);
        let number = old.borrow().iter().position(|other| other == name)?;
        Some(Meaning::Field(*entity, FieldId(self.model.entity(*entity).fields.len() + number)))
    }

    fn parameter(&self, name: &str) -> Option<Meaning> {
        let named = |parameter: &Parameter| parameter.arguments.iter().any(|argument| argument == name);
        self.parameters.iter().position(named).map(Meaning::Parameter)
    }

    fn element(&self, name: &str) -> Option<Meaning> {
        self.elements.iter().rposition(|element| element.name == name).map(Meaning::Element)
    }

    fn read_before(&self, name: &str) -> Option<Meaning> {
        self.lets.iter().position(|it| it.name == name).map(Meaning::Let)
    }

    /// Returns the type of a parameter in an expression; a list for `in`.
    pub(super) fn parameter_type(&self, number: usize) -> Type {
        match self.parameters.get(number) {
            Some(Parameter { test: Test::In, kind, .. }) => Type::List(Box::new(kind.clone()), Default::default()),
            Some(parameter) => parameter.kind.clone(),
            None => Type::Unknown,
        }
    }

    /// Reports an unknown name. In an evolution it may be an old attribute, which is then added.
    pub(super) fn unknown(&self, name: &Name, found: &mut Found) -> Option<Meaning> {
        if self.broken {
            return None;
        }
        if self.later.contains(&name.text.as_str()) {
            let message = format!("`{}` is used before it is read", name.text);
            found.add(Diagnostic::error(code::EARLY, name.span, message).help("move its `let` before this step"));
            return None;
        }
        let known = self.all();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        if let Some(old) = self.old.filter(|_| nearest(&name.text, &known).is_none()) {
            old.borrow_mut().push(name.text.clone());
            return self.old_field(&name.text);
        }
        let finding = Diagnostic::error(code::NAME, name.span, format!("unknown name `{}`", name.text));
        let near = found.suggest(finding.label(self.nothing()), name, &known)?;
        self.meaning(near, false)
    }

    /// Describes for the message what the name is not.
    fn nothing(&self) -> String {
        let items = self.items.iter().map(|id| format!("`{}`", self.model.entity(*id).name)).collect::<Vec<_>>();
        match (items.as_slice(), self.parameters.is_empty() && self.lets.is_empty()) {
            ([], _) => "neither a parameter nor the result of a read".into(),
            (items, true) => format!("not a field of {}", items.join(" or ")),
            (items, false) => format!("neither a field of {} nor a parameter", items.join(" or ")),
        }
    }

    /// Returns all visible names, each once.
    fn all(&self) -> Vec<String> {
        let locals = self.elements.iter().chain(self.lets).map(|it| it.name.clone());
        let parameters = self.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
        let items = self.items.iter().flat_map(|id| &self.model.entity(*id).fields);
        let old = self.old.map(|old| old.borrow().clone()).unwrap_or_default();
        let mut all: Vec<String> = Vec::new();
        for name in locals.chain(parameters).chain(items.map(|field| field.name.clone())).chain(old) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }
}
