//! Reads, guards and writes.

use crate::document::ast::{Number, Presence, Rate, Verb};
use crate::span::Span;

use super::expression::{Expr, ExprKind, Origin, Place};
use super::field::Type;
use super::key::{IndexId, Template};
use super::{Entity, EntityId, FieldId};

/// The number of a read in [`Model::reads`](super::Model::reads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadId(pub usize);

/// The number of a write in [`Model::writes`](super::Model::writes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteId(pub usize);

/// The number of a guard in [`Model::guards`](super::Model::guards).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuardId(pub usize);

/// A parameter. A range with two ends (`between`) is one parameter with two arguments.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The field it is about, as written.
    pub field_name: String,
    /// The names of the arguments a caller gives: of an equality the field's, else those after the operator.
    pub arguments: Vec<String>,
    /// How it limits the field.
    pub test: Test,
    /// The field of the first entity the pattern is about that has it; `None` for a parameter with a type of its own, or one
    /// that only code or templates use.
    pub field: Option<(EntityId, FieldId)>,
    /// Its type: the declared one, or the field's.
    pub kind: Type,
    /// Whether the author gave the type.
    pub declared: bool,
    /// Whether the author gave a type with `?`: it may be left out, and is nothing then.
    pub optional: bool,
    /// Its place.
    pub span: Span,
}

impl Parameter {
    /// Whether nothing is known of it: it is no field, has no type, and its use tells none. Only a `key` clause may use such a one.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        !self.declared && self.field.is_none() && matches!(self.kind, Type::Unknown)
    }
}

/// How a parameter limits its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// `=`
    Equal,
    /// `>`
    After,
    /// `>=`
    From,
    /// `<`
    Before,
    /// `<=`
    Until,
    /// `between`
    Between,
    /// `begins`
    Begins,
    /// `in`
    In,
}

/// A guard: exactly one consistent GetItem.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The entity of the item that must exist.
    pub entity: Option<EntityId>,
    /// The values of its key's fields.
    pub keys: Vec<(FieldId, Expr)>,
    /// What must hold of it.
    pub condition: Option<Expr>,
}

/// Who may call a pattern.
#[derive(Clone, Debug)]
pub enum Permission {
    /// Everyone.
    Public(Span),
    /// Only code.
    System(Span),
    /// Those of whom this holds.
    When(Expr),
}

/// A read.
#[derive(Clone, Debug)]
pub struct Read {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Result,
    /// The index that serves it, by name: `Some((name, span, None))` if there is no such index (reported).
    pub via: Option<(String, Span, Option<IndexId>)>,
    /// `newest first` (true) or `oldest first` (false).
    pub newest_first: Option<(bool, Span)>,
    /// `ordered by FIELD`, of the first entity that has it, and whether descending.
    pub ordered: Option<((EntityId, FieldId), bool, Span)>,
    /// `page 50`
    pub page: Option<(u64, Span)>,
    /// `all`
    pub all: Option<Span>,
    /// `strong`
    pub strong: Option<Span>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `select (a, b)`, each of the first entity that has it.
    pub select: Option<Vec<((EntityId, FieldId), Span)>>,
    /// `scan`
    pub scan: Option<Span>,
    /// `with expired`
    pub with_expired: Option<Span>,
    /// `key "PK", "SK"`
    pub key: Option<KeyCondition>,
    /// `400/s`
    pub rate: Option<(Rate, Span)>,
    /// Who may call it.
    pub allow: Option<Permission>,
}

/// What a read returns.
#[derive(Clone, Debug)]
pub enum Result {
    /// Items, by entity.
    Parts(Vec<(Option<EntityId>, Number, Span)>),
    /// How many there are.
    Count(Option<EntityId>, Span),
}

impl Result {
    /// The entities it returns or counts.
    #[must_use]
    pub fn entities(&self) -> Vec<EntityId> {
        match self {
            Self::Parts(parts) => parts.iter().filter_map(|(entity, _, _)| *entity).collect(),
            Self::Count(entity, _) => entity.iter().copied().collect(),
        }
    }

    /// Whether a part of it has been reported.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.iter().any(|(entity, _, _)| entity.is_none()),
            Self::Count(entity, _) => entity.is_none(),
        }
    }
}

/// A key condition in so many words. The fields of its templates are [`Parameter`]s: `FieldId(n)` there is the n-th parameter.
#[derive(Clone, Debug)]
pub struct KeyCondition {
    /// The partition key's value.
    pub partition: KeyTest,
    /// The sort key's, if it is limited.
    pub sort: Option<KeyTest>,
    /// The whole clause.
    pub span: Span,
}

/// A test of a key attribute against templates.
#[derive(Clone, Debug)]
pub struct KeyTest {
    /// How.
    pub test: Test,
    /// The template, or the lower end of `between`.
    pub template: Template,
    /// The upper end of `between`.
    pub upper: Option<Template>,
}

/// A write.
#[derive(Clone, Debug)]
pub struct Write {
    /// Its name.
    pub name: String,
    /// Where its name stands.
    pub name_span: Span,
    /// The whole declaration.
    pub span: Span,
    /// Its documentation.
    pub docs: Vec<String>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The entity it returns.
    pub result: Option<(Option<EntityId>, Span)>,
    /// `idempotent`
    pub idempotent: Option<Span>,
    /// `batch`
    pub batch: Option<Span>,
    /// `50/s`
    pub rate: Option<(Rate, Span)>,
    /// Who may call it.
    pub allow: Option<Permission>,
    /// What it reads and makes first, in order.
    pub lets: Vec<Let>,
    /// What is refused early.
    pub requires: Vec<Require>,
    /// The steps that change or check something, in order.
    pub steps: Vec<Step>,
}

impl Write {
    /// Whether one of its actions, those within `for` included, is as asked.
    pub(crate) fn any_action(&self, is: &mut dyn FnMut(&Action) -> bool) -> bool {
        any(&self.steps, is)
    }

    /// Its actions in order, those within `for` included.
    #[must_use]
    pub fn actions(&self) -> Vec<&Action> {
        let mut actions = Vec::new();
        collect(&self.steps, &mut actions);
        actions
    }
}

fn any(steps: &[Step], is: &mut dyn FnMut(&Action) -> bool) -> bool {
    steps.iter().any(|step| match step {
        Step::Action(action) => is(action),
        Step::For(each) => any(&each.steps, is),
    })
}

fn collect<'a>(steps: &'a [Step], actions: &mut Vec<&'a Action>) {
    for step in steps {
        match step {
            Step::Action(action) => actions.push(action),
            Step::For(each) => collect(&each.steps, actions),
        }
    }
}

/// A step of the atomic request.
#[derive(Clone, Debug)]
pub enum Step {
    /// An action on one item.
    Action(Action),
    /// Actions for each element of a list.
    For(For),
}

/// `for x in list max 20 { … }`
#[derive(Clone, Debug)]
pub struct For {
    /// The name of an element.
    pub name: String,
    /// The list.
    pub list: Expr,
    /// How many elements it has at most.
    pub max: Option<u64>,
    /// What is done for each.
    pub steps: Vec<Step>,
    /// The whole step.
    pub span: Span,
}

/// `let x = readName(args) else Outcome`, `let id = ulid()`
#[derive(Clone, Debug)]
pub struct Let {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    /// What it stands for.
    pub source: LetSource,
    /// The outcome if there is nothing.
    pub outcome: Option<Outcome>,
    /// The whole step.
    pub span: Span,
}

/// What a `let` stands for.
#[derive(Clone, Debug)]
pub enum LetSource {
    /// What a read returns.
    Read {
        /// The read.
        read: ReadId,
        /// Its arguments, one for each argument name of the read's parameters, in order.
        arguments: Vec<Expr>,
    },
    /// A value, made once for the whole write.
    Value(Expr),
    /// It has been reported.
    Unknown,
}

impl Let {
    /// The read it calls, if it is one.
    #[must_use]
    pub fn read(&self) -> Option<ReadId> {
        match self.source {
            LetSource::Read { read, .. } => Some(read),
            LetSource::Value(_) | LetSource::Unknown => None,
        }
    }
}

/// `require CONDITION else Outcome`
#[derive(Clone, Debug)]
pub struct Require {
    /// What must hold.
    pub condition: Expr,
    /// The outcome if it does not.
    pub outcome: Option<Outcome>,
    /// The whole step.
    pub span: Span,
}

/// A named refusal.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Its name; `keep` is a silent success.
    pub name: String,
    /// Its place.
    pub span: Span,
}

/// An action on one item.
#[derive(Clone, Debug)]
pub struct Action {
    /// Which.
    pub verb: Verb,
    /// The entity.
    pub entity: Option<EntityId>,
    /// Where the entity's name stands.
    pub entity_span: Span,
    /// The values of its key's fields: for `create` and `put` those that are set, for the others the arguments.
    pub keys: Vec<(FieldId, Expr)>,
    /// What is set, by author, parameter or default: for `create` and `put` every field that has a source.
    pub changes: Vec<Change>,
    /// `exists` or `absent` after `check`.
    pub presence: Option<Presence>,
    /// The conditions in order.
    pub conditions: Vec<Condition>,
    /// The outcome if the item's presence is not as it must be.
    pub outcome: Option<Outcome>,
    /// The whole step.
    pub span: Span,
}

impl Action {
    /// Whether a condition of it looks at the field.
    #[must_use]
    pub fn tests(&self, field: FieldId) -> bool {
        self.conditions.iter().any(|condition| condition.condition.own_fields().contains(&field))
    }

    /// Whether all it changes means the same whatever was there before: it counts, and at most stamps who did it and when.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        let written: Vec<&Change> = self.changes.iter().filter(|change| change.written).collect();
        let is_harmless = |change: &&Change| change.is_cumulative() || change.is_stamp();
        written.iter().any(|change| change.is_cumulative()) && written.iter().all(is_harmless)
    }

    /// The value a field is set to, if it is set as a whole.
    #[must_use]
    pub fn value_of(&self, field: FieldId) -> Option<&Expr> {
        self.changes.iter().find_map(|change| match &change.kind {
            ChangeKind::Set(value) if change.field == Some(field) && change.path().is_empty() => Some(value),
            _ => None,
        })
    }
}

/// A condition with its outcome.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What must hold.
    pub condition: Expr,
    /// The outcome if it does not.
    pub outcome: Option<Outcome>,
}

/// A change of a field.
#[derive(Clone, Debug)]
pub struct Change {
    /// The field; `None` if it has been reported.
    pub field: Option<FieldId>,
    /// The path into it: its origin is the field.
    pub place: Option<Place>,
    /// What is done.
    pub kind: ChangeKind,
    /// Whether the author wrote it; else it comes from a parameter of the field's name or from the field's default.
    pub written: bool,
    /// Its place; of one that is not written the action's entity.
    pub span: Span,
}

impl Change {
    /// Whether it builds on what is there: a count, an element more or less.
    #[must_use]
    pub fn is_cumulative(&self) -> bool {
        !matches!(self.kind, ChangeKind::Set(_) | ChangeKind::Remove)
    }

    /// The default to which an argument that was left out leaves the field.
    #[must_use]
    pub fn fallback<'a>(&self, entity: &'a Entity) -> Option<&'a Expr> {
        let field = entity.field(self.field?);
        field.default.as_ref().filter(|_| !self.written || !field.optional)
    }

    /// Whether the value is made of no other field.
    #[must_use]
    pub fn is_plain(&self, entity: &Entity) -> bool {
        let is_plain = |expr: &Expr| !expr.has_own_fields();
        matches!(&self.kind, ChangeKind::Set(expr) if is_plain(expr) && self.fallback(entity).is_none_or(is_plain))
    }

    /// Whether it only says who did it, or when.
    fn is_stamp(&self) -> bool {
        let ChangeKind::Set(value) = &self.kind else { return false };
        match &value.kind {
            ExprKind::Place(place) => matches!(place.origin, Origin::Caller(_)),
            ExprKind::Call { function, .. } => function == "now" || function == "today",
            _ => false,
        }
    }

    /// The path into the field; empty if the change is of the whole field.
    #[must_use]
    pub fn path(&self) -> &[super::expression::Step] {
        self.place.as_ref().map_or(&[], |place| &place.path)
    }
}

/// What is done to a field.
#[derive(Clone, Debug)]
pub enum ChangeKind {
    /// `=`
    Set(Expr),
    /// `+=`
    Increase(Expr),
    /// `-=`
    Decrease(Expr),
    /// `append`
    Append(Expr),
    /// `add` to a set
    Add(Expr),
    /// `remove` from a set
    Take(Expr),
    /// `remove` the field
    Remove,
}
