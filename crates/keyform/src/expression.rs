//! Expressions of operations: parsed from DynamoDB's text, or built as trees.

pub use keyform_core::expression::{
    Comparator, Condition, ConditionKind, KeyCondition, KeyPredicate, KeyTest, Operand, Path, PathElement, Projection,
    SetAction, SetValue, Substitutions, Update, UpdateOperand, parse_condition, parse_key_condition, parse_projection,
    parse_update,
};
