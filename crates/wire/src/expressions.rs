//! Parses the expressions of a request with its placeholders.

use keyform_core::Error;
use keyform_core::expression::{
    Condition, ConditionKind, KeyCondition, Projection, Substitutions, Update, parse_condition, parse_key_condition,
    parse_projection, parse_update,
};

use crate::request::{Parameters, Values};

/// Placeholders of a request. Each of them must be used by one of the request's expressions.
pub(crate) struct Expressions {
    substitutions: Substitutions,
}

impl Expressions {
    /// Takes the placeholders from a request.
    pub(crate) fn of(parameters: &mut Parameters) -> Result<Self, Error> {
        let values = parameters.values.take().transpose().map_err(|bad| bad.alone)?;
        Self::with(parameters, values)
    }

    /// Takes the placeholders from an action of a transaction, whose errors name the placeholder.
    pub(crate) fn of_action(parameters: &mut Parameters) -> Result<Self, Error> {
        let values = parameters.values.take().transpose().map_err(|bad| bad.named)?;
        Self::with(parameters, values)
    }

    fn with(parameters: &mut Parameters, values: Option<Values>) -> Result<Self, Error> {
        Ok(Self { substitutions: Substitutions::new(parameters.names.take(), values)? })
    }

    /// Parses a ConditionExpression.
    pub(crate) fn condition(&mut self, text: Option<&str>) -> Result<Option<Condition>, Error> {
        text.map(|text| parse_condition(text, ConditionKind::Condition, &mut self.substitutions)).transpose()
    }

    /// Parses a FilterExpression.
    pub(crate) fn filter(&mut self, text: Option<&str>) -> Result<Option<Condition>, Error> {
        text.map(|text| parse_condition(text, ConditionKind::Filter, &mut self.substitutions)).transpose()
    }

    /// Parses a KeyConditionExpression.
    pub(crate) fn key_condition(&mut self, text: Option<&str>) -> Result<Option<KeyCondition>, Error> {
        text.map(|text| parse_key_condition(text, &mut self.substitutions)).transpose()
    }

    /// Parses a ProjectionExpression.
    pub(crate) fn projection(&mut self, text: Option<&str>) -> Result<Option<Projection>, Error> {
        text.map(|text| parse_projection(text, &mut self.substitutions)).transpose()
    }

    /// Parses an UpdateExpression.
    pub(crate) fn update(&mut self, text: Option<&str>) -> Result<Option<Update>, Error> {
        text.map(|text| parse_update(text, &mut self.substitutions)).transpose()
    }

    /// Checks that every placeholder was used.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.substitutions.finish()
    }
}
