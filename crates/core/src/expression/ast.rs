//! Expression trees. Names are substituted and values encoded, so evaluation does not need the
//! text or the placeholders.

use crate::value::{AttributeType, Value};

/// Path to a value in an item: a top-level attribute and steps into it. Never empty; the first
/// element is an attribute.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    /// Steps, from the item inwards.
    pub elements: Vec<PathElement>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathElement {
    /// The attribute or map entry with this name.
    Attribute(String),
    /// The list element at this index, starting at zero.
    Index(usize),
}

impl Path {
    /// Returns the path of a top-level attribute.
    pub fn attribute(name: impl Into<String>) -> Self {
        Self { elements: vec![PathElement::Attribute(name.into())] }
    }

    /// Returns the top-level attribute in which the path starts.
    pub fn root(&self) -> &str {
        match self.elements.first() {
            Some(PathElement::Attribute(name)) => name,
            _ => "",
        }
    }

    /// Returns the attribute name if the path is a top-level attribute.
    pub fn as_attribute(&self) -> Option<&str> {
        match self.elements.as_slice() {
            [PathElement::Attribute(name)] => Some(name),
            _ => None,
        }
    }
}

/// Operand of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The value at a path.
    Path(Path),
    /// A constant.
    Value(Value),
    /// The size of the value at a path.
    Size(Path),
}

/// Comparison operator.
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
    /// Returns the operator's notation in expressions.
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

    /// Returns the equivalent operator for swapped operands.
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

/// A condition or filter expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Holds if all parts hold.
    And(Vec<Condition>),
    /// Holds if at least one part holds.
    Or(Vec<Condition>),
    /// Holds if the part does not hold.
    Not(Box<Condition>),
    /// Compares two operands.
    Compare {
        /// Left operand.
        left: Operand,
        /// Comparison operator.
        comparator: Comparator,
        /// Right operand.
        right: Operand,
    },
    /// Holds if the operand is between `low` and `high`, inclusive.
    Between {
        /// Tested operand.
        operand: Operand,
        /// Lower bound.
        low: Operand,
        /// Upper bound.
        high: Operand,
    },
    /// Holds if the operand equals one of the candidates.
    In {
        /// Tested operand.
        operand: Operand,
        /// Values to compare with; at most 100.
        candidates: Vec<Operand>,
    },
    /// Holds if the path leads to a value.
    AttributeExists(Path),
    /// Holds if the path does not lead to a value.
    AttributeNotExists(Path),
    /// Holds if the value at the path has this type.
    AttributeType(Path, AttributeType),
    /// Holds if the first operand starts with the second.
    BeginsWith(Operand, Operand),
    /// Holds if the first operand (string, binary, set or list) contains the second.
    Contains(Operand, Operand),
}

/// A key condition: predicates over key attributes that must all hold. The tree does not distinguish partition from
/// sort key; that needs the table's schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCondition {
    /// Predicates in the order of the text.
    pub predicates: Vec<KeyPredicate>,
}

/// A test of one key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPredicate {
    /// Name of the key attribute.
    pub attribute: String,
    /// Test that the attribute must pass.
    pub test: KeyTest,
}

/// Test of a key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyTest {
    /// Comparison with a value; never [`Comparator::NotEqual`].
    Compare(Comparator, Value),
    /// Between the two values, inclusive.
    Between(Value, Value),
    /// Starts with the value.
    BeginsWith(Value),
}

/// Attributes that a read returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Paths to return; no two of them overlap.
    pub paths: Vec<Path>,
}

/// Changes to an item. All right-hand sides are evaluated against the item before the update.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// Assignments of the `SET` section.
    pub set: Vec<SetAction>,
    /// Paths of the `REMOVE` section.
    pub remove: Vec<Path>,
    /// `ADD` section: numbers to add, and sets to merge.
    pub add: Vec<(Path, Value)>,
    /// `DELETE` section: set elements to remove.
    pub delete: Vec<(Path, Value)>,
    /// Set for updates from the legacy AttributeUpdates parameter, which has its own message for type errors.
    pub legacy: bool,
}

/// One assignment of the `SET` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAction {
    /// Target of the assignment.
    pub path: Path,
    /// Right-hand side.
    pub value: SetValue,
}

/// Right-hand side of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SetValue {
    /// A single operand.
    Operand(UpdateOperand),
    /// The sum of two numbers.
    Plus(UpdateOperand, UpdateOperand),
    /// The difference of two numbers.
    Minus(UpdateOperand, UpdateOperand),
}

/// Operand of an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpdateOperand {
    /// The value at a path, which must exist.
    Path(Path),
    /// A constant.
    Value(Value),
    /// The value at the path, or the operand if the path does not exist.
    IfNotExists(Path, Box<UpdateOperand>),
    /// Concatenation of two lists.
    ListAppend(Box<UpdateOperand>, Box<UpdateOperand>),
}
