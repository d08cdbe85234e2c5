//! Credit that was bought.
//!
//! A shop tells of an order as often as it likes: the order's id is that of the entry in the workspace's account, so it counts once. What it says over HTTP
//! is signed with a secret that shop and program share.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use keyform::server::FlowError;
use keyform::{CallError, Money};
use sha2::Sha256;

use crate::Helpmaton;
use crate::model::{CreditEntryId, CreditPurchaseError, Workspace, WorkspaceId};
use crate::prices::Currency;

/// An order that was paid.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The shop's id of it.
    pub order_id: String,
    /// The workspace whose credit was bought.
    pub workspace_id: WorkspaceId,
    /// How much was paid, in nano-units.
    pub amount: Money,
    /// In which currency.
    pub currency: Currency,
}

/// Why an order gives no credit.
#[derive(Clone, Debug, PartialEq)]
pub enum PurchaseError {
    /// There is no such workspace.
    UnknownWorkspace,
    /// The workspace is being removed: the money has to go back.
    WorkspaceGone,
    /// The workspace's credit is in another currency.
    WrongCurrency,
    /// The amount is not above zero.
    NotPositive,
    /// It failed. Doing it again is safe.
    Failed(CallError),
}

impl fmt::Display for PurchaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownWorkspace => f.write_str("there is no such workspace"),
            Self::WorkspaceGone => f.write_str("the workspace is being removed: give the money back"),
            Self::WrongCurrency => f.write_str("the workspace's credit is in another currency: give the money back"),
            Self::NotPositive => f.write_str("the amount is not above zero"),
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

/// Adds what was bought. An order that was told before changes nothing; the answer is the workspace either way.
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

/// What the shop signs: the lines of order, workspace, nano-units and currency.
fn signed_text(order: &Order) -> String {
    let currency = match order.currency {
        Currency::Usd => "usd",
        Currency::Eur => "eur",
        Currency::Gbp => "gbp",
    };
    format!("{}\n{}\n{}\n{currency}", order.order_id, order.workspace_id, order.amount.nanos())
}

fn authenticator(secret: &str, order: &Order) -> Hmac<Sha256> {
    let made = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("a key of any length will do");
    made.chain_update(signed_text(order).as_bytes())
}

/// The signature of an order: HMAC-SHA-256 in hexadecimal digits.
#[must_use]
pub fn signature(secret: &str, order: &Order) -> String {
    authenticator(secret, order).finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a signature is the order's, found out in constant time.
#[must_use]
pub fn is_signed(secret: &str, order: &Order, signature: &str) -> bool {
    let pair = |at: usize| signature.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    let bytes: Option<Vec<u8>> = (0..signature.len()).step_by(2).map(pair).collect();
    bytes.is_some_and(|bytes| authenticator(secret, order).verify_slice(&bytes).is_ok())
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
