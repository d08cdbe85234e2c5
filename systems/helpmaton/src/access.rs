//! Who may call a flow that acts for a workspace with the rights of code.

use keyform::runtime::run::Caller;
use keyform::server::FlowError;

use crate::Helpmaton;
use crate::model::WorkspaceId;
use crate::permissions::Level;

/// Lets callers through who may look at the workspace.
///
/// # Errors
/// [`FlowError::Forbidden`] for everybody else.
pub(crate) async fn reader(helpmaton: &Helpmaton, caller: &Caller, workspace: &WorkspaceId) -> Result<(), FlowError> {
    let (caller, _) = helpmaton.as_caller(caller)?;
    helpmaton.require_level(&caller.user_id, workspace, Level::Read).await.map(drop)
}

/// Lets callers through who may change what is in the workspace.
///
/// # Errors
/// [`FlowError::Forbidden`] for everybody else.
pub(crate) async fn writer(helpmaton: &Helpmaton, caller: &Caller, workspace: &WorkspaceId) -> Result<(), FlowError> {
    let (caller, _) = helpmaton.as_caller(caller)?;
    helpmaton.require_level(&caller.user_id, workspace, Level::Write).await.map(drop)
}
