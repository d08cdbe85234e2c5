//! Integration tests of the vocabulary: values and expressions.

mod expression_properties;
mod expression_semantics;
mod expression_texts;
mod support;
mod value_properties;
