//! Purchased credit.
//!
//! A shop may report an order any number of times: the order's id is the id of the entry in the workspace's account, so
//! it counts once. Reports over HTTP are signed with a secret that shop and program share.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use keyform::flow::FlowError;
use keyform::{CallError, Money};
use sha2::Sha256;

use crate::Helpmaton;
use crate::model::{CreditEntryId, CreditPurchaseError, Workspace, WorkspaceId};
use crate::prices::Currency;

/// Paid order.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Id that the shop assigned.
    pub order_id: String,
    /// Workspace that receives the credit.
    pub workspace_id: WorkspaceId,
    /// Paid amount in nano-units.
    pub amount: Money,
    /// Currency of the amount.
    pub currency: Currency,
}

/// Reason why an order gives no credit.
#[derive(Clone, Debug, PartialEq)]
pub enum PurchaseError {
    /// The workspace does not exist.
    UnknownWorkspace,
    /// The workspace is being removed: the payment must be refunded.
    WorkspaceGone,
    /// The workspace's credit is in another currency.
    WrongCurrency,
    /// The amount is not above zero.
    NotPositive,
    /// A call failed. Repeating it is safe.
    Failed(CallError),
}

impl fmt::Display for PurchaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorkspace => f.write_str("unknown workspace"),
            Self::WorkspaceGone => f.write_str("the workspace is being deleted: refund the order"),
            Self::WrongCurrency => f.write_str("the workspace's credit has another currency: refund the order"),
            Self::NotPositive => f.write_str("the amount must be greater than zero"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for PurchaseError {}

impl From<CallError> for PurchaseError {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

impl From<PurchaseError> for FlowError {
    fn from(error: PurchaseError) -> Self {
        let detail = error.to_string();
        match error {
            PurchaseError::UnknownWorkspace => Self::refused("UnknownWorkspace", detail),
            PurchaseError::WorkspaceGone => Self::refused("WorkspaceGone", detail),
            PurchaseError::WrongCurrency => Self::refused("WrongCurrency", detail),
            PurchaseError::NotPositive => Self::refused("NotPositive", detail),
            PurchaseError::Failed(error) => error.into(),
        }
    }
}

/// Adds purchased credit and returns the workspace. An order that was reported before changes nothing.
///
/// # Errors
/// [`PurchaseError`]
pub async fn purchase(helpmaton: &Helpmaton, order: &Order) -> Result<Workspace, PurchaseError> {
    let entry = CreditEntryId::new(format!("order-{}", order.order_id));
    let entry = entry.map_err(|wrong| CallError::Arguments(wrong.to_string()))?;
    let model = &helpmaton.model;
    match model.credit_purchase(&order.workspace_id, &entry, order.amount, order.currency.into()).await {
        Ok(workspace) => Ok(workspace),
        Err(CreditPurchaseError::AlreadyCredited) => {
            let workspace = model.workspace_by_id(&order.workspace_id).await?;
            workspace.ok_or(PurchaseError::UnknownWorkspace)
        }
        Err(CreditPurchaseError::UnknownWorkspace | CreditPurchaseError::Conflict(_)) => {
            Err(PurchaseError::UnknownWorkspace)
        }
        Err(CreditPurchaseError::WorkspaceGone) => Err(PurchaseError::WorkspaceGone),
        Err(CreditPurchaseError::WrongCurrency) => Err(PurchaseError::WrongCurrency),
        Err(CreditPurchaseError::NotPositive) => Err(PurchaseError::NotPositive),
        Err(CreditPurchaseError::Failed(error)) => Err(error.into()),
    }
}

/// Returns the signed text: order, workspace, nano-units and currency, one per line.
fn signed_text(order: &Order) -> String {
    let currency = match order.currency {
        Currency::Usd => "usd",
        Currency::Eur => "eur",
        Currency::Gbp => "gbp",
    };
    format!("{}\n{}\n{}\n{currency}", order.order_id, order.workspace_id, order.amount.nanos())
}

fn authenticator(secret: &str, order: &Order) -> Hmac<Sha256> {
    let made = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("an HMAC accepts a key of any length");
    made.chain_update(signed_text(order).as_bytes())
}

/// Returns the signature of an order: HMAC-SHA-256 in hexadecimal digits.
#[must_use]
pub fn signature(secret: &str, order: &Order) -> String {
    hex::encode(authenticator(secret, order).finalize().into_bytes())
}

/// Verifies the signature of an order in constant time.
#[must_use]
pub fn is_signed(secret: &str, order: &Order, signature: &str) -> bool {
    hex::decode(signature).is_ok_and(|bytes| authenticator(secret, order).verify_slice(&bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use keyform::Uuid;

    use super::*;

    #[test]
    fn a_signature_holds_for_one_order_and_one_secret() {
        let order = Order {
            order_id: "1".to_owned(),
            workspace_id: Uuid::fresh().into(),
            amount: Money::of_units(5),
            currency: Currency::Eur,
        };
        let signed = signature("secret", &order);
        assert!(is_signed("secret", &order, &signed));
        assert!(!is_signed("other", &order, &signed));
        assert!(!is_signed("secret", &Order { amount: Money::of_units(50), ..order.clone() }, &signed));
        for wrong in ["", "0", "zz", &signed[2..], &format!("{signed}00"), "é"] {
            assert!(!is_signed("secret", &order, wrong), "{wrong}");
        }
    }
}
