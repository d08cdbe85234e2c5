//! Plans each read as exactly one request and each write as exactly one atomic request (ADR 0009).
//!
//! Planning decides, and the rules report: a pattern without a plan has an [`Obstacle`], which the rules in
//! `check/rules/read` turn into a finding.
//!
//! 1. `bound` fills key templates with the arguments of a read, as far as they reach.
//!    `loose` finds values that may continue beyond their place in a key.
//! 2. `range` turns a range of a field into a range of the key that contains exactly the same items.
//! 3. `read` plans one read through one key; `collection` joins the entities of a read that returns several.
//! 4. `overlap` computes which entities a key condition can match, among those that `beginnings` finds, `unique` whether it can match more than one item,
//!    and `order` the order of the items.
//! 5. `dependent` finds the items that a delete of their parent removes, or that refuse it.
//! 6. `write` counts the actions of a write, including the sentinels of unique fields; `outline` precomputes the
//!    attributes of the items it puts. `held` decides which guards the request carries.

mod beginnings;
mod bound;
mod collection;
mod dependent;
mod held;
mod loose;
mod order;
mod outline;
mod overlap;
mod range;
mod read;
mod unique;
pub mod words;
mod write;

use std::sync::Arc;

use crate::document::ast::Presence;
use crate::schema::{EntityId, FieldId, Format, IndexId, Model, TableId};
use crate::span::Span;

pub use beginnings::Beginnings;
pub use dependent::{Dependent, Dependents, Finder, Found, OnDelete, is_reusable, referred_fields, remaining_name};
pub use held::{HeldGuard, Hold, Unholdable, unholdable};
pub(crate) use loose::may_continue;
pub use order::{Order, order};
pub use outline::{Outline, Source};
pub use unique::{InPlace, arguments_in_place, fixed_fields};
pub use write::guarded_fields;
pub(crate) use write::moved_fields;

/// Plans every read and write of a model.
#[must_use]
pub fn plan(model: &Model) -> Plans {
    let dependents = Dependents::of_model(model);
    let authority = held::authority(model);
    let of_write = |write: &crate::schema::Write| {
        let mut plan = write::plan(model, &dependents, write)?;
        plan.held = held::guards(model, &authority, write, &plan);
        Some(plan)
    };
    Plans {
        reads: model.reads.iter().map(|read| read::plan(model, read)).collect(),
        writes: model.writes.iter().map(of_write).collect(),
        dependents,
    }
}

/// Returns true if this index (`None`: the table's key) could serve the read, regardless of its `via` clause.
#[must_use]
pub fn is_served_by(model: &Model, read: &crate::schema::Read, index: Option<IndexId>) -> bool {
    read::through(model, read, index).is_ok()
}

/// Plans of a model, in the order of its patterns.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    /// One outcome per read.
    pub reads: Vec<ReadOutcome>,
    /// One plan per write; `None` if an entity of the write did not resolve.
    pub writes: Vec<Option<WritePlan>>,
    /// Effects of deletes on referring items.
    pub dependents: Dependents,
}

/// Plan of a read, or the reason it has none.
#[derive(Clone, Debug)]
pub enum ReadOutcome {
    /// One request serves the read.
    Planned(Box<ReadPlan>),
    /// No single request serves the read.
    Blocked(Blocked),
    /// A part of the read did not resolve and was already reported.
    Broken,
}

/// Reason a read has no plan.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// Obstacles, each reported by a rule.
    pub obstacles: Vec<Obstacle>,
    /// Index the read was planned through; `None` for the table's key.
    pub index: Option<IndexId>,
    /// Keys that would serve the read with its parameters: indexes, or `None` for the table's key.
    pub served_by: Vec<Option<IndexId>>,
}

/// Plan of a read.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// Operation to send.
    pub request: RequestKind,
    /// Table it reads.
    pub table: TableId,
    /// Index it reads; `None` for the table's key.
    pub index: Option<IndexId>,
    /// Value of each partition key attribute; empty for a Scan.
    pub partition: Vec<BoundKey>,
    /// Condition on the sort key.
    pub sort: SortCondition,
    /// True if the Query runs in descending sort key order.
    pub backwards: bool,
    /// Items per page, if limited.
    pub page: Option<u64>,
    /// True for a strongly consistent read.
    pub strong: bool,
    /// Conditions that apply after the key condition: `where`, parameters outside the key, expiry, entity tags.
    pub filters: Vec<Filter>,
    /// Entities of the table whose items the key condition can match.
    pub matches: Vec<EntityId>,
    /// Entities the read returns or counts.
    pub returns: Vec<EntityId>,
    /// True if at most one item can match (per entity that is returned as one).
    pub unique: bool,
    /// True if the read returns only the number of items.
    pub count: bool,
}

/// Operation that a read sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// GetItem
    Get,
    /// BatchGetItem
    BatchGet,
    /// Query
    Query,
    /// Scan
    Scan,
}

/// Value of a key attribute, composed of text and arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundKey {
    /// Name of the key attribute.
    pub attribute: String,
    /// Pieces that are concatenated.
    pub parts: Vec<BoundPart>,
}

impl BoundKey {
    /// Returns the literal text before the first argument.
    fn beginning(&self) -> String {
        let texts = self.parts.iter().map_while(|part| match part {
            BoundPart::Text(text) => Some(text.as_str()),
            BoundPart::Argument { .. } => None,
        });
        texts.collect()
    }
}

/// A piece of a bound key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundPart {
    /// Literal text.
    Text(String),
    /// An argument of the read.
    Argument {
        /// Index of the parameter.
        parameter: usize,
        /// Index of the argument within it (1 is the upper end of `between`).
        argument: usize,
        /// Format of the value.
        format: Format,
    },
}

/// Condition on the sort key. Only the last limited attribute may have a range; earlier ones are fixed by equality.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortCondition {
    /// Equality on the attributes before the last, for a key with several attributes.
    pub equal: Vec<BoundKey>,
    /// Range of the last limited attribute.
    pub range: Option<SortRange>,
}

impl SortCondition {
    /// Returns the literal text with which every matching first attribute begins.
    fn beginning(&self) -> String {
        let of_range = || self.range.as_ref().and_then(SortRange::prefix);
        self.equal.first().cloned().or_else(of_range).map(|key| key.beginning()).unwrap_or_default()
    }
}

/// Range of a sort key attribute. The template's prefix closes every open end: `MSG#` ends before `MSG$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortRange {
    /// `=`
    Equal(BoundKey),
    /// `begins_with`
    Begins(BoundKey),
    /// `BETWEEN` these two, both inclusive, as in DynamoDB.
    Between(BoundKey, BoundKey),
    /// `>=` without upper end: from a template without prefix, or from a `key` clause.
    From(BoundKey),
    /// `>`
    After(BoundKey),
    /// `<=`
    Until(BoundKey),
    /// `<`
    Before(BoundKey),
}

impl SortRange {
    /// Iterates over the keys it compares with.
    pub fn keys(&self) -> impl Iterator<Item = &BoundKey> {
        let (first, second) = match self {
            Self::Equal(key)
            | Self::Begins(key)
            | Self::From(key)
            | Self::After(key)
            | Self::Until(key)
            | Self::Before(key) => (key, None),
            Self::Between(low, high) => (low, Some(high)),
        };
        std::iter::once(first).chain(second)
    }

    /// Returns the beginning that all keys of the range share; `None` if a range has an open end.
    #[must_use]
    pub fn prefix(&self) -> Option<BoundKey> {
        match self {
            Self::Equal(key) | Self::Begins(key) => Some(key.clone()),
            Self::Between(low, high) => {
                let pairs = low.parts.iter().zip(&high.parts).take_while(|(one, other)| one == other);
                let parts = pairs.map(|(part, _)| part.clone()).collect();
                Some(BoundKey { attribute: low.attribute.clone(), parts })
            }
            Self::From(_) | Self::After(_) | Self::Until(_) | Self::Before(_) => None,
        }
    }
}

/// A condition that applies after the key condition.
#[derive(Clone, Debug)]
pub enum Filter {
    /// The `where` clause.
    Where,
    /// A parameter that is not part of the key, by index.
    Parameter(usize),
    /// Only these entities, by the table's tag attribute.
    Tag(Vec<EntityId>),
    /// Only items that have not expired, by this attribute.
    NotExpired(String),
    /// No sentinels of unique values, by this partition key attribute.
    NotSentinel(String),
}

/// Reason a read cannot be served by one request.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// The partition key's template needs fields that no parameter fixes by equality.
    PartitionOpen {
        /// Entity whose key is incomplete.
        entity: EntityId,
        /// Fields without a value.
        missing: Vec<FieldId>,
    },
    /// A range, prefix or list on the partition key.
    PartitionRange {
        /// Parameter, or position in the key condition.
        at: Limit,
    },
    /// A later part of the sort key is given, but an earlier one is not.
    SortGap {
        /// Entity whose key has the gap.
        entity: EntityId,
        /// Index of the parameter that gives the later part.
        parameter: usize,
        /// Fields before it that no parameter fixes by equality.
        missing: Vec<FieldId>,
    },
    /// A parameter is not part of the key.
    NotInKey {
        /// Index of the parameter.
        parameter: usize,
    },
    /// The read returns one item, but the key is incomplete.
    KeyIncomplete {
        /// Entity whose key is incomplete.
        entity: EntityId,
        /// Fields without a value.
        missing: Vec<FieldId>,
    },
    /// A list of values is given, but not the rest of the table's key.
    ListIncomplete {
        /// Index of the list parameter.
        parameter: usize,
        /// Fields that no parameter fixes by equality.
        missing: Vec<FieldId>,
    },
    /// The entity never writes keys of the requested form.
    NeverWritten {
        /// Entity that is read.
        entity: EntityId,
        /// Source range of the test it never matches.
        span: Span,
    },
    /// The entity is not in the index.
    NotInIndex {
        /// Entity that is read.
        entity: EntityId,
        /// Source range where the index is named.
        span: Span,
    },
    /// The type or the comparison of a parameter does not match the content of the key.
    WrongType {
        /// Index of the parameter.
        parameter: usize,
        /// Content of the key, as the message shows it.
        wanted: String,
    },
    /// A range of a field that is not a range of the key.
    NotARange {
        /// Index of the parameter.
        parameter: usize,
        /// Reason, as the message shows it.
        why: String,
    },
    /// The requested order is not the order of the sort key.
    WrongOrder {
        /// Source range of the clause.
        span: Span,
        /// Actual order of the sort key, as the message shows it.
        actual: String,
    },
    /// The returned entities do not share a partition, or the requested range of it.
    DifferentPartitions {
        /// First entity of the result.
        first: EntityId,
        /// Entity in a different partition.
        second: EntityId,
        /// Source range of the second entity in the result.
        span: Span,
    },
}

/// Source of a partition key limit other than equality.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// A parameter, by index.
    Parameter(usize),
    /// A test in a `key` clause.
    Clause(Span),
}

/// Plan of a write.
#[derive(Clone, Debug, Default)]
pub struct WritePlan {
    /// Indexes of the `let`s that are reads, which run first.
    pub lets: Vec<usize>,
    /// Operation to send.
    pub request: WriteKind,
    /// Actions in order: those of the author, the sentinels of unique fields, and the intents of cascading deletes.
    pub actions: Vec<PlannedAction>,
    /// Maximum number of actions, with every `for` at its maximum; `None` if one has no maximum.
    pub actions_max: Option<u64>,
    /// True if the request carries a client request token.
    pub has_token: bool,
    /// Steps that delete items other items refer to. Those are removed as well, or may refuse the delete.
    pub parents: Vec<Vec<usize>>,
    /// Guards that the request of a caller carries, so that it fails if a permission ends before it is applied.
    pub held: Vec<HeldGuard>,
}

/// Operation that a write sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteKind {
    /// PutItem
    Put,
    /// UpdateItem
    Update,
    /// DeleteItem
    Delete,
    /// TransactWriteItems
    #[default]
    Transaction,
    /// BatchWriteItem
    Batch,
}

/// An action of a write's request.
#[derive(Clone, Debug)]
pub struct PlannedAction {
    /// Entity of the item, or of the unique field that the sentinel enforces.
    pub entity: EntityId,
    /// Purpose of the action.
    pub role: Role,
    /// Step of the write it comes from, as a path of indexes through `for`s.
    pub step: Vec<usize>,
    /// Required presence of the item; `None` if it may exist or not.
    pub presence: Option<Presence>,
    /// True if it runs for each element of a `for`.
    pub repeated: bool,
    /// Outline of the item, for a put by the author.
    pub outline: Option<Arc<Outline>>,
}

/// Purpose of an action in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Put
    Put,
    /// Update
    Update,
    /// Delete
    Delete,
    /// ConditionCheck
    Check,
    /// Put of a sentinel that must not exist, for this unique field.
    Claim(FieldId),
    /// Delete of the sentinel of this unique field's old value.
    Release(FieldId),
    /// Put of the intent to remove the items that refer to a deleted item of the entity.
    Intend,
}

impl Plans {
    /// Returns the plan of a read, if it has one.
    #[must_use]
    pub fn read(&self, read: crate::schema::ReadId) -> Option<&ReadPlan> {
        match self.reads.get(read.0) {
            Some(ReadOutcome::Planned(plan)) => Some(plan),
            _ => None,
        }
    }

    /// Iterates over the reads that have a plan.
    pub fn planned<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a crate::schema::Read, &'a ReadPlan)> {
        model.reads.iter().zip(&self.reads).filter_map(|(read, outcome)| match outcome {
            ReadOutcome::Planned(plan) => Some((read, &**plan)),
            _ => None,
        })
    }
}
