//! Each read as exactly one request, each write as exactly one atomic request.
//!
//! Planning decides, the rules word it: a pattern that has no plan has an [`Obstacle`], and the rules of `check/rules/read` turn it into a
//! finding. Nothing is decided twice.
//!
//! 1. `bound` fills the templates of a key with the arguments of a read, as far as they reach.
//! 2. `range` turns a range of a field into a range of the key that holds exactly the same items.
//! 3. `read` plans one read through one key; `collection` joins the entities of a read that returns several.
//! 4. `overlap` says which entities a key condition can meet, `unique` whether it can meet more than one item, `order` in which order.
//! 5. `dependent` finds, for each entity, the items that a delete of one of it removes, or that refuse it.
//! 6. `write` counts the actions of a write, the sentinels of unique fields among them; `outline` is what it puts, as far as it is known.

mod bound;
mod collection;
mod dependent;
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

pub use dependent::{Dependent, Dependents, Finder, Found, OnDelete, is_reusable, referred_fields, remaining_name};
pub use order::{Order, order};
pub use outline::{Outline, Source};
pub use unique::fixed_fields;
pub use write::guarded_fields;
pub(crate) use write::moved_fields;

/// Plans every read and write of a model.
#[must_use]
pub fn plan(model: &Model) -> Plans {
    let dependents = Dependents::of_model(model);
    Plans {
        reads: model.reads.iter().map(|read| read::plan(model, read)).collect(),
        writes: model.writes.iter().map(|write| write::plan(model, &dependents, write)).collect(),
        dependents,
    }
}

/// Whether a read, whatever it says of an index, could be answered through this one (`None`: the table's key).
#[must_use]
pub fn is_served_by(model: &Model, read: &crate::schema::Read, index: Option<IndexId>) -> bool {
    read::through(model, read, index).is_ok()
}

/// The plans of a model, in the order of its patterns.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    /// One for each read.
    pub reads: Vec<ReadOutcome>,
    /// One for each write.
    pub writes: Vec<Option<WritePlan>>,
    /// What deletes mean for the items that refer to what is deleted.
    pub dependents: Dependents,
}

/// A read's plan, or why there is none.
#[derive(Clone, Debug)]
pub enum ReadOutcome {
    /// It is proved.
    Planned(Box<ReadPlan>),
    /// It cannot run as one request.
    Blocked(Blocked),
    /// Something it is made of has been reported already.
    Broken,
}

/// Why a read has no plan.
#[derive(Clone, Debug)]
pub struct Blocked {
    /// What is in the way.
    pub obstacles: Vec<Obstacle>,
    /// The index it was to go through.
    pub index: Option<IndexId>,
    /// What would answer it with the parameters it has: indexes, or `None` for the table's key.
    pub served_by: Vec<Option<IndexId>>,
}

/// How a read runs.
#[derive(Clone, Debug)]
pub struct ReadPlan {
    /// The request.
    pub request: RequestKind,
    /// The table.
    pub table: TableId,
    /// The index, if it goes through one.
    pub index: Option<IndexId>,
    /// The value of each attribute of the partition key; empty for a Scan.
    pub partition: Vec<BoundKey>,
    /// The condition on the sort key.
    pub sort: SortCondition,
    /// From the largest sort key to the smallest.
    pub backwards: bool,
    /// Items a page, if limited.
    pub page: Option<u64>,
    /// Consistent.
    pub strong: bool,
    /// Conditions on items after they were read: the author's filter, parameters that are no part of the key, expiry, entity tags.
    pub filters: Vec<Filter>,
    /// Every entity of the table whose items the key condition can match.
    pub matches: Vec<EntityId>,
    /// The entities the read returns or counts.
    pub returns: Vec<EntityId>,
    /// At most one item can match (of each entity returned as one).
    pub unique: bool,
    /// It only counts.
    pub count: bool,
}

/// The request a read sends.
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

/// A key attribute's value, made of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundKey {
    /// The attribute.
    pub attribute: String,
    /// Its pieces.
    pub parts: Vec<BoundPart>,
}

/// A piece of a bound key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BoundPart {
    /// Text as it is.
    Text(String),
    /// An argument of the read: the number of its parameter, the number of the argument within it.
    Argument {
        /// The parameter.
        parameter: usize,
        /// The argument of it (1 is the upper end of `between`).
        argument: usize,
        /// How it is written.
        format: Format,
    },
}

/// The condition on the sort key (the last attribute of it that is limited by more than equality; earlier ones are equal).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortCondition {
    /// Attributes before the last, of a key with several: equal to these.
    pub equal: Vec<BoundKey>,
    /// The last.
    pub range: Option<SortRange>,
}

/// A range of a sort key's attribute. Every open end is closed by the prefix: `MSG#` ends before `MSG$`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SortRange {
    /// `=`
    Equal(BoundKey),
    /// `begins_with`
    Begins(BoundKey),
    /// `BETWEEN` these two, both included, as DynamoDB has it.
    Between(BoundKey, BoundKey),
    /// `>=` with no end: only where the whole partition may follow.
    From(BoundKey),
    /// `>`
    After(BoundKey),
    /// `<=`
    Until(BoundKey),
    /// `<`
    Before(BoundKey),
}

/// A condition on items after they were read.
#[derive(Clone, Debug)]
pub enum Filter {
    /// The author's `where`.
    Where,
    /// A parameter that is no part of the key, by its number.
    Parameter(usize),
    /// Only these entities, by the table's tag.
    Tag(Vec<EntityId>),
    /// Only items whose time is not over.
    NotExpired(String),
    /// Nothing that only keeps a unique value, by this attribute of the table's key.
    NotSentinel(String),
}

/// Why a read is not one request.
#[derive(Clone, Debug)]
pub enum Obstacle {
    /// The partition key's template needs fields that no parameter gives by equality.
    PartitionOpen {
        /// The entity.
        entity: EntityId,
        /// The fields nobody gives.
        missing: Vec<FieldId>,
    },
    /// A range, prefix or list on the partition key.
    PartitionRange {
        /// The parameter, or the place in the key condition.
        at: Limit,
    },
    /// A later part of the sort key is given, an earlier one is not.
    SortGap {
        /// The entity.
        entity: EntityId,
        /// The parameter that gives the later part.
        parameter: usize,
        /// The fields before it that nobody gives by equality.
        missing: Vec<FieldId>,
    },
    /// A parameter is no part of the key.
    NotInKey {
        /// The parameter.
        parameter: usize,
    },
    /// One item is wanted, and the key is not complete.
    KeyIncomplete {
        /// The entity.
        entity: EntityId,
        /// The fields nobody gives.
        missing: Vec<FieldId>,
    },
    /// A list of values is given, but not the rest of the table's key.
    ListIncomplete {
        /// The parameter.
        parameter: usize,
        /// The fields nobody gives by equality.
        missing: Vec<FieldId>,
    },
    /// The entity never writes keys of the shape that is asked for.
    NeverWritten {
        /// The entity.
        entity: EntityId,
        /// The test it never meets.
        span: Span,
    },
    /// The entity is not in the index.
    NotInIndex {
        /// The entity.
        entity: EntityId,
        /// Where the index is named.
        span: Span,
    },
    /// A parameter's type, or what is asked of it, is not what the key holds.
    WrongType {
        /// The parameter.
        parameter: usize,
        /// What the key holds, in words.
        wanted: String,
    },
    /// A range of a field that is no range of the key.
    NotARange {
        /// The parameter.
        parameter: usize,
        /// Why, in words.
        why: String,
    },
    /// The order that is asked for is not the sort key's.
    WrongOrder {
        /// The clause.
        span: Span,
        /// What the sort key orders by, in words.
        actual: String,
    },
    /// The entities returned do not share a partition, or the part of it that is asked for.
    DifferentPartitions {
        /// The first.
        first: EntityId,
        /// The one that lies elsewhere.
        second: EntityId,
        /// Where the second is named in the result.
        span: Span,
    },
}

/// What limits a partition key by more than equality.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// A parameter.
    Parameter(usize),
    /// A test in a `key` clause.
    Clause(Span),
}

/// How a write runs.
#[derive(Clone, Debug, Default)]
pub struct WritePlan {
    /// The reads before, by their number among the write's lets.
    pub lets: Vec<usize>,
    /// The request.
    pub request: WriteKind,
    /// What it does, in order: the author's actions, the sentinels of unique fields, and the intents of deletes that cascade.
    pub actions: Vec<PlannedAction>,
    /// How many actions there are at most, with every `for` at its maximum; `None` if one has no maximum.
    pub actions_max: Option<u64>,
    /// It is sent under a token.
    pub has_token: bool,
    /// The steps that delete items which others refer to: those go with them, or may refuse.
    pub parents: Vec<Vec<usize>>,
}

/// The request of a write.
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

/// One action of a write's request.
#[derive(Clone, Debug)]
pub struct PlannedAction {
    /// The entity whose item it is, or whose unique field the sentinel guards.
    pub entity: EntityId,
    /// What it does.
    pub role: Role,
    /// Which of the write's actions it comes from: a path of numbers through `for`s.
    pub step: Vec<usize>,
    /// Whether the item must be there, must not, or may.
    pub presence: Option<Presence>,
    /// It is done for each element of a `for`.
    pub repeated: bool,
    /// Of the author's own put: the outline of the item.
    pub outline: Option<Arc<Outline>>,
}

/// What an action of a request is.
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
    /// Put of the intent to remove what refers to a deleted item of the entity.
    Intend,
}

impl Plans {
    /// The plan of a read, if it has one.
    #[must_use]
    pub fn read(&self, read: crate::schema::ReadId) -> Option<&ReadPlan> {
        match self.reads.get(read.0) {
            Some(ReadOutcome::Planned(plan)) => Some(plan),
            _ => None,
        }
    }

    /// All reads with a plan.
    pub fn planned<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = (&'a crate::schema::Read, &'a ReadPlan)> {
        model.reads.iter().zip(&self.reads).filter_map(|(read, outcome)| match outcome {
            ReadOutcome::Planned(plan) => Some((read, &**plan)),
            _ => None,
        })
    }
}
