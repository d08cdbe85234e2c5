//! The expressions of a request: texts and their placeholders become trees.

use keyform_core::Error;
use keyform_core::expression::{
    Condition, ConditionKind, KeyCondition, Projection, Substitutions, Update, parse_condition, parse_key_condition,
    parse_projection, parse_update,
};

use crate::request::{Parameters, Values};

/// The placeholders of a request, of which each must be used by one of its expressions.
pub(crate) struct Expressions {
    substitutions: Substitutions,
}

impl Expressions {
    /// Takes the placeholders out of a request.
    pub(crate) fn of(parameters: &mut Parameters) -> Result<Self, Error> {
        let values = parameters.values.take().transpose().map_err(|bad| bad.alone)?;
        Self::with(parameters, values)
    }

    /// Takes the placeholders out of an action of a transaction.
    pub(crate) fn of_action(parameters: &mut Parameters) -> Result<Self, Error> {
        let values = parameters.values.take().transpose().map_err(|bad| bad.named)?;
        Self::with(parameters, values)
    }

    fn with(parameters: &mut Parameters, values: Option<Values>) -> Result<Self, Error> {
        Ok(Self { substitutions: Substitutions::new(parameters.names.take(), values)? })
    }

    /// A ConditionExpression.
    pub(crate) fn condition(&mut self, text: Option<&str>) -> Result<Option<Condition>, Error> {
        text.map(|text| parse_condition(text, ConditionKind::Condition, &mut self.substitutions)).transpose()
    }

    /// A FilterExpression.
    pub(crate) fn filter(&mut self, text: Option<&str>) -> Result<Option<Condition>, Error> {
        text.map(|text| parse_condition(text, ConditionKind::Filter, &mut self.substitutions)).transpose()
    }

    /// A KeyConditionExpression.
    pub(crate) fn key_condition(&mut self, text: Option<&str>) -> Result<Option<KeyCondition>, Error> {
        text.map(|text| parse_key_condition(text, &mut self.substitutions)).transpose()
    }

    /// A ProjectionExpression.
    pub(crate) fn projection(&mut self, text: Option<&str>) -> Result<Option<Projection>, Error> {
        text.map(|text| parse_projection(text, &mut self.substitutions)).transpose()
    }

    /// An UpdateExpression.
    pub(crate) fn update(&mut self, text: Option<&str>) -> Result<Option<Update>, Error> {
        text.map(|text| parse_update(text, &mut self.substitutions)).transpose()
    }

    /// Makes sure that every placeholder was used.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.substitutions.finish()
    }
}
