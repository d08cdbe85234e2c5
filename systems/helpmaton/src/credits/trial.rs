//! Trial credit: requested once by a workspace of a new user, and decided by an administrator.
//!
//! The request is the model's `requestTrialCredit`. A decision is final; repeating the same decision changes nothing.

use keyform::flow::FlowError;
use keyform::{CallError, Money};

use crate::Helpmaton;
use crate::model::{
    ApproveTrialCreditError, ApproveTrialCreditInput, RejectTrialCreditError, RejectTrialCreditInput,
    TrialCreditRequest, TrialCreditRequestStatus, Workspace, WorkspaceId,
};

/// Approves a request and credits the amount, in one transaction.
///
/// # Errors
/// [`ApproveTrialCreditError`]: there is no request, or it was rejected.
pub async fn approve(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    amount: Money,
    by: &str,
) -> Result<TrialCreditRequest, ApproveTrialCreditError> {
    let input = ApproveTrialCreditInput {
        approved_by: Some(by.to_owned()),
        ..ApproveTrialCreditInput::new(workspace_id.clone(), amount)
    };
    match helpmaton.model.approve_trial_credit(input).await {
        Err(ApproveTrialCreditError::AlreadyDecided) => {
            let decided = decided(helpmaton, workspace_id, TrialCreditRequestStatus::Approved).await?;
            decided.ok_or(ApproveTrialCreditError::AlreadyDecided)
        }
        answer => answer,
    }
}

/// Rejects a request.
///
/// # Errors
/// [`RejectTrialCreditError`]: there is no request, or it was approved.
pub async fn reject(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    by: &str,
) -> Result<TrialCreditRequest, RejectTrialCreditError> {
    let input = RejectTrialCreditInput {
        approved_by: Some(by.to_owned()),
        ..RejectTrialCreditInput::new(workspace_id.clone())
    };
    match helpmaton.model.reject_trial_credit(input).await {
        Err(RejectTrialCreditError::AlreadyDecided) => {
            let decided = decided(helpmaton, workspace_id, TrialCreditRequestStatus::Rejected).await?;
            decided.ok_or(RejectTrialCreditError::AlreadyDecided)
        }
        answer => answer,
    }
}

/// Returns the request, if it has this status.
async fn decided(
    helpmaton: &Helpmaton,
    workspace_id: &WorkspaceId,
    status: TrialCreditRequestStatus,
) -> Result<Option<TrialCreditRequest>, CallError> {
    let request = helpmaton.model.trial_credit_request(workspace_id).await?;
    Ok(request.filter(|request| request.status == status))
}

/// Returns the used part of a workspace's trial credit in whole percent; `None` without trial credit.
#[must_use]
pub fn used_percent(workspace: &Workspace) -> Option<u8> {
    let amount = workspace.trial_credit_amount.filter(|&amount| amount > Money::ZERO)?;
    let used = (amount - workspace.credit_balance).nanos().clamp(0, amount.nanos());
    u8::try_from(used * 100 / amount.nanos()).ok()
}

/// Requires that the caller is an administrator.
pub(crate) fn administrator(helpmaton: &Helpmaton, email: &str) -> Result<(), FlowError> {
    if helpmaton.settings().administrators.contains(email) { Ok(()) } else { Err(FlowError::Forbidden) }
}
