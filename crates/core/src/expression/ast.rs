//! The trees that expressions become: names are substituted and values encoded, so nothing needs the text any more.

use crate::value::{AttributeType, Value};

/// Where a value stands in an item: an attribute, and steps into it. Never empty; the first element is an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// The steps.
    pub elements: Vec<PathElement>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// Into the attribute or map entry of that name.
    Attribute(String),
    /// Into the list element at that place.
    Index(usize),
}

impl Path {
    /// The path of a top-level attribute.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self { elements: vec![PathElement::Attribute(name.into())] }
    }

    /// The top-level attribute that the path starts in.
    pub fn root(&self) -> &str {
        match self.elements.first() {
            Some(PathElement::Attribute(name)) => name,
            _ => "",
        }
    }

    /// The attribute's name, if the path has no further step.
    pub fn as_attribute(&self) -> Option<&str> {
        match self.elements.as_slice() {
            [PathElement::Attribute(name)] => Some(name),
            _ => None,
        }
    }
}

/// Something a condition compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// What stands at a path.
    Path(Path),
    /// A constant.
    Value(Value),
    /// The size of what stands at a path.
    Size(Path),
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

impl Comparator {
    /// The operator as it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// The comparison that says the same with its sides swapped.
    pub fn swapped(self) -> Self {
        match self {
            Self::Equal | Self::NotEqual => self,
            Self::Less => Self::Greater,
            Self::LessOrEqual => Self::GreaterOrEqual,
            Self::Greater => Self::Less,
            Self::GreaterOrEqual => Self::LessOrEqual,
        }
    }
}

/// A condition or filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All hold.
    And(Vec<Condition>),
    /// At least one holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// Two operands compare so.
    Compare {
        /// Left side.
        left: Operand,
        /// How they are compared.
        comparator: Comparator,
        /// Right side.
        right: Operand,
    },
    /// The operand is from `low` to `high`, both included.
    Between {
        /// What is tested.
        operand: Operand,
        /// The lower end.
        low: Operand,
        /// The upper end.
        high: Operand,
    },
    /// The operand equals one of the others.
    In {
        /// What is tested.
        operand: Operand,
        /// What it may equal.
        candidates: Vec<Operand>,
    },
    /// There is something at the path.
    AttributeExists(Path),
    /// There is nothing at the path.
    AttributeNotExists(Path),
    /// What stands at the path is of that type.
    AttributeType(Path, AttributeType),
    /// The first starts with the second.
    BeginsWith(Operand, Operand),
    /// The first (string, set or list) contains the second.
    Contains(Operand, Operand),
}

/// A key condition: predicates over key attributes, all of which must hold. Which attribute is partition and which is sort key
/// is known only when a table is at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition {
    /// The predicates in the order in which they were written.
    pub predicates: Vec<KeyPredicate>,
}

/// A test of one key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPredicate {
    /// The attribute.
    pub attribute: String,
    /// The test.
    pub test: KeyTest,
}

/// How a key attribute is tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyTest {
    /// A comparison; never [`Comparator::NotEqual`].
    Compare(Comparator, Value),
    /// From the first to the second, both included.
    Between(Value, Value),
    /// Starts with it.
    BeginsWith(Value),
}

/// Which attributes an answer carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Paths, none overlapping another.
    pub paths: Vec<Path>,
}

/// What an update does to an item. All right sides see the item as it was before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// `SET`
    pub set: Vec<SetAction>,
    /// `REMOVE`
    pub remove: Vec<Path>,
    /// `ADD` to a number or a set.
    pub add: Vec<(Path, Value)>,
    /// `DELETE` from a set.
    pub delete: Vec<(Path, Value)>,
    /// Whether it was stated as AttributeUpdates, whose values of the wrong type have a text of their own.
    pub legacy: bool,
}

/// One assignment of `SET`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAction {
    /// Where.
    pub path: Path,
    /// What.
    pub value: SetValue,
}

/// The right side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// One operand.
    Operand(UpdateOperand),
    /// A sum.
    Plus(UpdateOperand, UpdateOperand),
    /// A difference.
    Minus(UpdateOperand, UpdateOperand),
}

/// Something an assignment is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOperand {
    /// What stands at a path.
    Path(Path),
    /// A constant.
    Value(Value),
    /// What stands at the path, or else the operand.
    IfNotExists(Path, Box<UpdateOperand>),
    /// Two lists in a row.
    ListAppend(Box<UpdateOperand>, Box<UpdateOperand>),
}
