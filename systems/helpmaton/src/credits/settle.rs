//! Closes a reservation: what the call cost, or that it was never made.

use std::fmt;

use keyform::server::FlowError;
use keyform::{CallError, Money};

use crate::Helpmaton;
use crate::model::{
    CreditReservation, CreditReservationId, CreditReservationStatus, RefundReservationError, SettleLateError,
    SettleReservationError,
};
use crate::prices::Tokens;

/// Why a reservation stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub enum CloseError {
    /// There is none of this id; after a week a closed one is forgotten.
    UnknownReservation,
    /// It was closed otherwise.
    AlreadyClosed(CreditReservationStatus),
    /// A cost is not below zero.
    Negative,
    /// The model has no price.
    UnknownModel(String),
    /// It failed. Doing it again is safe.
    Failed(CallError),
}

impl fmt::Display for CloseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownReservation => f.write_str("there is no such reservation"),
            Self::AlreadyClosed(status) => write!(f, "the reservation was closed before: {status:?}"),
            Self::Negative => f.write_str("a cost is not below zero"),
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

/// Settles a reservation at what the call cost. Done again it changes nothing, whatever the cost is said to be then. A reservation that expired meanwhile is
/// settled all the same: the call was made.
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

/// Settles a reservation at what its tokens cost; at the reserved amount if nobody knows how many they were.
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

/// What a second settlement does: nothing if the first did it, and the late one if time was over.
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

/// Gives back what was set aside: the call was never made. Done again it changes nothing.
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
