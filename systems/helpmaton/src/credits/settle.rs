//! Closes a reservation: at the actual cost, or because the call was never made.

use std::fmt;

use keyform::flow::FlowError;
use keyform::{CallError, Money};

use crate::Helpmaton;
use crate::model::{
    CreditReservation, CreditReservationId, CreditReservationStatus, RefundReservationError, SettleLateError,
    SettleReservationError,
};
use crate::prices::Tokens;

/// Reason why a reservation cannot be closed.
#[derive(Clone, Debug, PartialEq)]
pub enum CloseError {
    /// The reservation does not exist; closed ones are deleted after a week.
    UnknownReservation,
    /// The reservation was closed with another status.
    AlreadyClosed(CreditReservationStatus),
    /// The cost is below zero.
    Negative,
    /// The model has no price.
    UnknownModel(String),
    /// A call failed. Repeating it is safe.
    Failed(CallError),
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownReservation => f.write_str("unknown reservation"),
            Self::AlreadyClosed(status) => write!(f, "the reservation is already closed: {status:?}"),
            Self::Negative => f.write_str("a cost cannot be below zero"),
            Self::UnknownModel(name) => write!(f, "the model `{name}` has no price"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CloseError {}

impl From<CallError> for CloseError {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

impl From<CloseError> for FlowError {
    fn from(error: CloseError) -> Self {
        let detail = error.to_string();
        match error {
            CloseError::UnknownReservation => Self::refused("UnknownReservation", detail),
            CloseError::AlreadyClosed(_) => Self::refused("AlreadyClosed", detail),
            CloseError::Negative => Self::Arguments(detail),
            CloseError::UnknownModel(_) => Self::refused("UnknownModel", detail),
            CloseError::Failed(error) => error.into(),
        }
    }
}

/// Settles a reservation at the actual cost. Repeating it changes nothing, even with another cost. An expired
/// reservation is settled too, because the call was made.
///
/// # Errors
/// [`CloseError`]
pub async fn settle(
    helpmaton: &Helpmaton,
    id: &CreditReservationId,
    cost: Money,
) -> Result<CreditReservation, CloseError> {
    if cost < Money::ZERO {
        return Err(CloseError::Negative);
    }
    match helpmaton.model.settle_reservation(id, cost).await {
        Ok(settled) => Ok(settled),
        Err(SettleReservationError::UnknownReservation) => Err(CloseError::UnknownReservation),
        Err(SettleReservationError::AlreadyClosed | SettleReservationError::Conflict(_)) => {
            settle_closed(helpmaton, id, cost).await
        }
        Err(SettleReservationError::Failed(error)) => Err(error.into()),
    }
}

/// Settles a reservation at the cost of its tokens, or at the reserved amount if they are unknown.
///
/// # Errors
/// [`CloseError`]
pub async fn settle_tokens(
    helpmaton: &Helpmaton,
    id: &CreditReservationId,
    model_name: &str,
    tokens: Option<Tokens>,
) -> Result<CreditReservation, CloseError> {
    let reservation = reservation(helpmaton, id).await?;
    let cost = match tokens {
        None => reservation.reserved_amount,
        Some(tokens) => {
            let cost = helpmaton.settings().prices.cost(model_name, tokens, reservation.day);
            cost.ok_or_else(|| CloseError::UnknownModel(model_name.to_owned()))?.of(reservation.currency.into())
        }
    };
    settle(helpmaton, id, cost).await
}

/// Handles a reservation that is already closed: nothing to do if it was settled, a late settlement if it expired.
async fn settle_closed(
    helpmaton: &Helpmaton,
    id: &CreditReservationId,
    cost: Money,
) -> Result<CreditReservation, CloseError> {
    let found = reservation(helpmaton, id).await?;
    match found.status {
        CreditReservationStatus::Settled => Ok(found),
        CreditReservationStatus::Expired => settle_late(helpmaton, id, cost).await,
        other => Err(CloseError::AlreadyClosed(other)),
    }
}

async fn settle_late(
    helpmaton: &Helpmaton,
    id: &CreditReservationId,
    cost: Money,
) -> Result<CreditReservation, CloseError> {
    match helpmaton.model.settle_late(id, cost).await {
        Ok(settled) => Ok(settled),
        Err(SettleLateError::UnknownReservation) => Err(CloseError::UnknownReservation),
        Err(SettleLateError::NotExpired | SettleLateError::Conflict(_)) => {
            let found = reservation(helpmaton, id).await?;
            match found.status {
                CreditReservationStatus::Settled => Ok(found),
                other => Err(CloseError::AlreadyClosed(other)),
            }
        }
        Err(SettleLateError::Failed(error)) => Err(error.into()),
    }
}

/// Returns the reserved credit, because the call was never made. Repeating it changes nothing.
///
/// # Errors
/// [`CloseError`]; [`CloseError::AlreadyClosed`] if it was settled.
pub async fn refund(helpmaton: &Helpmaton, id: &CreditReservationId) -> Result<CreditReservation, CloseError> {
    match helpmaton.model.refund_reservation(id).await {
        Ok(refunded) => Ok(refunded),
        Err(RefundReservationError::UnknownReservation) => Err(CloseError::UnknownReservation),
        Err(RefundReservationError::AlreadyClosed | RefundReservationError::Conflict(_)) => {
            let found = reservation(helpmaton, id).await?;
            match found.status {
                CreditReservationStatus::Refunded | CreditReservationStatus::Expired => Ok(found),
                other => Err(CloseError::AlreadyClosed(other)),
            }
        }
        Err(RefundReservationError::Failed(error)) => Err(error.into()),
    }
}

async fn reservation(helpmaton: &Helpmaton, id: &CreditReservationId) -> Result<CreditReservation, CloseError> {
    helpmaton.model.reservation_by_id(id).await?.ok_or(CloseError::UnknownReservation)
}
