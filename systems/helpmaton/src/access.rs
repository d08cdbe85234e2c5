//! Permission checks for flows that act for a workspace with the rights of code.

use keyform::flow::FlowError;
use keyform::runtime::run::Caller;

use crate::Helpmaton;
use crate::model::WorkspaceId;
use crate::permissions::Level;

/// Requires that the caller may read the workspace.
///
/// # Errors
/// [`FlowError::Forbidden`] otherwise.
pub(crate) async fn reader(helpmaton: &Helpmaton, caller: &Caller, workspace: &WorkspaceId) -> Result<(), FlowError> {
    let (caller, _) = helpmaton.as_caller(caller)?;
    helpmaton.require_level(&caller.user_id, workspace, Level::Read).await.map(drop)
}

/// Requires that the caller may write in the workspace.
///
/// # Errors
/// [`FlowError::Forbidden`] otherwise.
pub(crate) async fn writer(helpmaton: &Helpmaton, caller: &Caller, workspace: &WorkspaceId) -> Result<(), FlowError> {
    let (caller, _) = helpmaton.as_caller(caller)?;
    helpmaton.require_level(&caller.user_id, workspace, Level::Write).await.map(drop)
}
