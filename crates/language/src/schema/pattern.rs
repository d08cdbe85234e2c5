//! Reads, guards and writes.

use keyform_core::expression::Comparator;

use crate::document::ast::{Number, Presence, Rate, Verb};
use crate::span::{Span, Spanned};

use super::expression::{Expr, ExprKind, Origin, ValuePath};
use super::field::Type;
use super::key::{IndexId, Template};
use super::{Entity, EntityId, FieldId};

/// Index of a read in [`Model::reads`](super::Model::reads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReadId(pub usize);

/// Index of a write in [`Model::writes`](super::Model::writes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriteId(pub usize);

/// Index of a guard in [`Model::guards`](super::Model::guards).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuardId(pub usize);

/// A parameter. A range with two ends (`between`) is one parameter with two arguments.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Field name as written.
    pub field_name: String,
    /// Argument names a caller passes: the field's name for an equality, else the names after the operator.
    pub arguments: Vec<String>,
    /// Comparison with the field.
    pub test: Test,
    /// Field of the first entity of the pattern that has one with this name; `None` for a parameter with its own type,
    /// or one that only code or templates use.
    pub field: Option<(EntityId, FieldId)>,
    /// Declared type, or the field's type.
    pub kind: Type,
    /// True if the author declared the type.
    pub declared: bool,
    /// True if the declared type ends in `?`: the argument may be omitted.
    pub optional: bool,
    /// Source range of the parameter.
    pub span: Span,
}

impl Parameter {
    /// Returns true if neither a field, nor a declared type, nor its use determines the type. Only a `key` clause may
    /// use such a parameter.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        !self.declared && self.field.is_none() && matches!(self.kind, Type::Unknown)
    }
}

/// Comparison between a parameter and its field.
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

impl Test {
    /// Returns DynamoDB's comparison operator; `None` for the other tests.
    #[must_use]
    pub fn comparator(self) -> Option<Comparator> {
        match self {
            Self::Equal => Some(Comparator::Equal),
            Self::After => Some(Comparator::Greater),
            Self::From => Some(Comparator::GreaterOrEqual),
            Self::Before => Some(Comparator::Less),
            Self::Until => Some(Comparator::LessOrEqual),
            Self::Between | Self::Begins | Self::In => None,
        }
    }
}

/// A guard of `allow`: exactly one consistent GetItem.
#[derive(Clone, Debug)]
pub struct Guard {
    /// Name in the model.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Entity of the item that must exist.
    pub entity: Option<EntityId>,
    /// Values of the key fields.
    pub keys: Vec<(FieldId, Expr)>,
    /// Further fields named in the item, which the item must have: `exists Doc(docId, orgId: org)`.
    pub equalities: Vec<Equality>,
    /// Condition the item must meet.
    pub condition: Option<Expr>,
}

/// A field of a stored item that must equal a value. An item that differs is treated as absent.
#[derive(Clone, Debug)]
pub struct Equality {
    /// Field of the stored item.
    pub field: FieldId,
    /// Value it must have.
    pub value: Expr,
    /// True if the author wrote it; false if it follows from a parameter that `allow` names.
    pub written: bool,
}

/// `unscoped ENTITY "reason"`: items of the entity need no scope in this pattern.
#[derive(Clone, Debug)]
pub struct Unscoped {
    /// Entity; `None` if the name did not resolve.
    pub entity: Option<EntityId>,
    /// Reason given by the author.
    pub reason: String,
    /// Source range of the clause.
    pub span: Span,
}

/// When the guards of a write are evaluated.
#[derive(Clone, Debug, Default)]
pub enum Timing {
    /// The author states nothing.
    #[default]
    Unstated,
    /// `allow held …`: as conditions of the write's request.
    Held(Span),
    /// `allow … before "reason"`: before the request.
    Before {
        /// Reason given by the author.
        reason: String,
        /// Source range of the clause.
        span: Span,
    },
}

/// The `allow` clause of a pattern. It binds external callers; Rust code bypasses it.
#[derive(Clone, Debug)]
pub enum Permission {
    /// Every caller.
    Public(Span),
    /// Rust code only.
    System(Span),
    /// Callers for which the condition holds.
    When(Expr),
}

impl Permission {
    /// Returns the condition, if there is one.
    #[must_use]
    pub fn condition(&self) -> Option<&Expr> {
        match self {
            Self::Public(_) | Self::System(_) => None,
            Self::When(condition) => Some(condition),
        }
    }

    /// Returns the parameters that it names, by index.
    #[must_use]
    pub fn parameters(&self) -> Vec<usize> {
        self.condition().map(Expr::parameters).unwrap_or_default()
    }
}

/// A read pattern.
#[derive(Clone, Debug)]
pub struct Read {
    /// Name in the model; unique among patterns.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Declared result.
    pub result: Result,
    /// Index named by `via`; its id is `None` if the index does not exist (reported).
    pub via: Option<(String, Span, Option<IndexId>)>,
    /// `newest first` (true) or `oldest first` (false).
    pub newest_first: Option<Spanned<bool>>,
    /// `ordered by FIELD`: field of the first entity that has it, and true if descending.
    pub ordered: Option<((EntityId, FieldId), bool, Span)>,
    /// `page 50`
    pub page: Option<Spanned<u64>>,
    /// `all`
    pub all: Option<Span>,
    /// `strong`
    pub strong: Option<Span>,
    /// `where …`
    pub filter: Option<Expr>,
    /// `select (a, b)`: each field of the first entity that has it.
    pub select: Option<Vec<((EntityId, FieldId), Span)>>,
    /// `scan`
    pub scan: Option<Span>,
    /// `with expired`
    pub with_expired: Option<Span>,
    /// `key "PK", "SK"`
    pub key: Option<KeyCondition>,
    /// `400/s`
    pub rate: Option<Spanned<Rate>>,
    /// `allow` clause.
    pub allow: Option<Permission>,
    /// `unscoped` clauses.
    pub unscoped: Vec<Unscoped>,
}

/// Declared result of a read.
#[derive(Clone, Debug)]
pub enum Result {
    /// Items of one or several entities, each with its number: one, at most one, or a list.
    Parts(Vec<(Option<EntityId>, Number, Span)>),
    /// Number of matching items.
    Count(Option<EntityId>, Span),
}

impl Result {
    /// Returns the entities that are returned or counted.
    #[must_use]
    pub fn entities(&self) -> Vec<EntityId> {
        match self {
            Self::Parts(parts) => parts.iter().filter_map(|(entity, _, _)| *entity).collect(),
            Self::Count(entity, _) => entity.iter().copied().collect(),
        }
    }

    /// Returns true if an entity of the result did not resolve.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        match self {
            Self::Parts(parts) => parts.iter().any(|(entity, _, _)| entity.is_none()),
            Self::Count(entity, _) => entity.is_none(),
        }
    }
}

/// An explicit key condition (`key` clause). `FieldId(n)` in its templates is the n-th [`Parameter`].
#[derive(Clone, Debug)]
pub struct KeyCondition {
    /// Test of the partition key.
    pub partition: KeyTest,
    /// Test of the sort key, if it is limited.
    pub sort: Option<KeyTest>,
    /// Source range of the clause.
    pub span: Span,
}

/// A comparison of a key attribute with templates.
#[derive(Clone, Debug)]
pub struct KeyTest {
    /// Comparison operator.
    pub test: Test,
    /// Template to compare with, or the lower end of `between`.
    pub template: Template,
    /// Upper end of `between`.
    pub upper: Option<Template>,
}

/// A write pattern: one atomic request (ADR 0009), except with `batch`.
#[derive(Clone, Debug)]
pub struct Write {
    /// Name in the model; unique among patterns.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Source range of the declaration.
    pub span: Span,
    /// Lines of the `///` comments, without the slashes.
    pub docs: Vec<String>,
    /// Parameters in source order.
    pub parameters: Vec<Parameter>,
    /// Entity it returns; `None` inside if the name did not resolve (reported).
    pub result: Option<Spanned<Option<EntityId>>>,
    /// `idempotent`
    pub idempotent: Option<Span>,
    /// `batch`
    pub batch: Option<Span>,
    /// `50/s`
    pub rate: Option<Spanned<Rate>>,
    /// `allow` clause.
    pub allow: Option<Permission>,
    /// Declared moment at which the guards of `allow` are evaluated.
    pub timing: Timing,
    /// `unscoped` steps.
    pub unscoped: Vec<Unscoped>,
    /// Values that are read or computed before the request, in order.
    pub lets: Vec<Let>,
    /// Conditions checked before the request. They decide by what was read and do not protect against concurrent
    /// writers.
    pub requires: Vec<Require>,
    /// Steps of the atomic request, in order.
    pub steps: Vec<WriteStep>,
}

impl Write {
    /// Returns the entity of the item that the write returns.
    #[must_use]
    pub fn returned_entity(&self) -> Option<EntityId> {
        self.result.and_then(|result| result.value)
    }

    /// Returns true if the predicate holds for an action, including actions inside `for`.
    pub(crate) fn any_action(&self, is: &mut dyn FnMut(&Action) -> bool) -> bool {
        any(&self.steps, is)
    }

    /// Returns the actions in order, including actions inside `for`.
    #[must_use]
    pub fn actions(&self) -> Vec<&Action> {
        let mut actions = Vec::new();
        collect(&self.steps, &mut actions);
        actions
    }
}

fn any(steps: &[WriteStep], is: &mut dyn FnMut(&Action) -> bool) -> bool {
    steps.iter().any(|step| match step {
        WriteStep::Action(action) => is(action),
        WriteStep::For(each) => any(&each.steps, is),
    })
}

fn collect<'a>(steps: &'a [WriteStep], actions: &mut Vec<&'a Action>) {
    for step in steps {
        match step {
            WriteStep::Action(action) => actions.push(action),
            WriteStep::For(each) => collect(&each.steps, actions),
        }
    }
}

/// A step of the atomic request.
#[derive(Clone, Debug)]
pub enum WriteStep {
    /// An action on one item.
    Action(Action),
    /// Steps for each element of a list.
    For(For),
}

/// `for x in list max 20 { … }`
#[derive(Clone, Debug)]
pub struct For {
    /// Name bound to the current element.
    pub name: String,
    /// List to iterate over.
    pub list: Expr,
    /// Maximum number of elements, which bounds the size of the transaction.
    pub max: Option<u64>,
    /// Steps that run once for each element.
    pub steps: Vec<WriteStep>,
    /// Source range of the step.
    pub span: Span,
}

/// `let x = readName(args) else Outcome`, `let id = ulid()`
#[derive(Clone, Debug)]
pub struct Let {
    /// Name by which later steps use the value.
    pub name: String,
    /// Source range of the name.
    pub name_span: Span,
    /// Read or value it is bound to.
    pub source: LetSource,
    /// Outcome if the read finds nothing.
    pub outcome: Option<Outcome>,
    /// Source range of the step.
    pub span: Span,
}

/// Right-hand side of a `let`.
#[derive(Clone, Debug)]
pub enum LetSource {
    /// Result of a read.
    Read {
        /// Called read.
        read: ReadId,
        /// One value per argument name of the read's parameters, in order.
        arguments: Vec<Expr>,
    },
    /// A value, evaluated once per write.
    Value(Expr),
    /// Unresolved; already reported.
    Unknown,
}

impl Let {
    /// Returns the read it calls, if any.
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
    /// Condition that must hold.
    pub condition: Expr,
    /// Outcome if the condition does not hold.
    pub outcome: Option<Outcome>,
    /// Source range of the step.
    pub span: Span,
}

/// Named reason a write is refused with.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Name in the model; `keep` means the write succeeds without a change.
    pub name: String,
    /// Source range of the name.
    pub span: Span,
}

/// An action on one item.
#[derive(Clone, Debug)]
pub struct Action {
    /// Operation: create, put, update, upsert, delete or check.
    pub verb: Verb,
    /// True for `replace`: a `put` that overwrites on purpose, with a new time of creation.
    pub replace: bool,
    /// Entity of the item; `None` if the name did not resolve.
    pub entity: Option<EntityId>,
    /// Source range of the entity's name.
    pub entity_span: Span,
    /// Values of the key fields: for `create` and `put` those that are set, for other verbs the arguments.
    pub keys: Vec<(FieldId, Expr)>,
    /// Fields of the stored item that must equal a value, besides the key: those that the author names in the item, then
    /// those of parameters that `allow` names. An item that differs is treated as absent.
    pub equalities: Vec<Equality>,
    /// Changed fields, from the author, a parameter or a default. For `create` and `put`, every field that has a
    /// source.
    pub changes: Vec<Change>,
    /// `exists` or `absent` after `check`.
    pub presence: Option<Presence>,
    /// Conditions in source order; the first that fails names the outcome (ADR 0010).
    pub conditions: Vec<Condition>,
    /// Outcome if the item unexpectedly exists or does not exist.
    pub outcome: Option<Outcome>,
    /// Source range of the step.
    pub span: Span,
}

impl Action {
    /// Returns true if a condition uses the field.
    #[must_use]
    pub fn tests(&self, field: FieldId) -> bool {
        self.conditions.iter().any(|condition| condition.condition.own_fields().contains(&field))
    }

    /// Returns true if the written changes do not depend on the previous state: they count, and at most record the
    /// caller or the time.
    #[must_use]
    pub fn only_counts(&self) -> bool {
        let written: Vec<&Change> = self.changes.iter().filter(|change| change.written).collect();
        let is_harmless = |change: &&Change| change.is_cumulative() || change.is_stamp();
        written.iter().any(|change| change.is_cumulative()) && written.iter().all(is_harmless)
    }

    /// Returns the value the whole field is set to, if any.
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
    /// Condition that must hold.
    pub condition: Expr,
    /// Outcome if the condition does not hold.
    pub outcome: Option<Outcome>,
}

/// A change of one field.
#[derive(Clone, Debug)]
pub struct Change {
    /// Changed field; `None` if the name did not resolve.
    pub field: Option<FieldId>,
    /// Path into the field; its origin is the field.
    pub place: Option<ValuePath>,
    /// Operation on the field.
    pub kind: ChangeKind,
    /// True if the author wrote it; false if it comes from a parameter of the field's name or from the field's default.
    pub written: bool,
    /// Source range; for an implicit change, that of the action's entity.
    pub span: Span,
}

impl Change {
    /// Returns true if the result depends on the stored value: counters, added or removed elements.
    #[must_use]
    pub fn is_cumulative(&self) -> bool {
        !matches!(self.kind, ChangeKind::Set(_) | ChangeKind::Remove)
    }

    /// Returns the default the field receives if the argument is omitted.
    #[must_use]
    pub fn fallback<'a>(&self, entity: &'a Entity) -> Option<&'a Expr> {
        let field = entity.field(self.field?);
        field.default.as_ref().filter(|_| !self.written || !field.optional)
    }

    /// Returns true if it sets a value, or a default, that uses no other field of the item.
    #[must_use]
    pub fn is_plain(&self, entity: &Entity) -> bool {
        let is_plain = |expr: &Expr| !expr.has_own_fields();
        matches!(&self.kind, ChangeKind::Set(expr) if is_plain(expr) && self.fallback(entity).is_none_or(is_plain))
    }

    /// Returns the value that it sets, adds or removes.
    #[must_use]
    pub fn value(&self) -> Option<&Expr> {
        match &self.kind {
            ChangeKind::Set(value)
            | ChangeKind::Increase(value)
            | ChangeKind::Decrease(value)
            | ChangeKind::Append(value)
            | ChangeKind::Add(value)
            | ChangeKind::Take(value) => Some(value),
            ChangeKind::Remove => None,
        }
    }

    /// Returns true if it only records the caller or the time.
    fn is_stamp(&self) -> bool {
        let ChangeKind::Set(value) = &self.kind else { return false };
        match &value.kind {
            ExprKind::ValuePath(place) => matches!(place.origin, Origin::Caller(_)),
            ExprKind::Call { function, .. } => function == "now" || function == "today",
            _ => false,
        }
    }

    /// Returns the path into the field; empty if the whole field changes.
    #[must_use]
    pub fn path(&self) -> &[super::expression::PathStep] {
        self.place.as_ref().map_or(&[], |place| &place.path)
    }
}

/// Operation on a field.
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
