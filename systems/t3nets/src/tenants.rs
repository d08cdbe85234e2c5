//! Life cycle of tenants: onboarding, changes, suspension.
//!
//! A new tenant is *onboarding*: its administrator can configure it, but the assistant does not answer yet.
//! `finishOnboarding` makes it *active*. While it is *suspended*, a guard of the model refuses all its callers.

use keyform::CallError;
use keyform::flow::FlowError;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::model::{
    CreateTenantError, CreateTenantInput, SetTenantStatusError, T3nets, Tenant, TenantId, TenantStatus,
    UpdateTenantError, UserId,
};
use crate::settings::{self, SettingsChange};

/// Attempts of a change against concurrent changes of the same tenant.
const ATTEMPTS: u32 = 8;

/// A new tenant, with its first administrator.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTenant {
    /// At least three lower-case letters, digits and hyphens, without a hyphen at the ends, because it is part of addresses.
    pub tenant_id: String,
    /// Name of the tenant.
    pub name: String,
    /// Id of the administrator.
    pub user_id: String,
    /// E-mail address of the administrator.
    pub email: String,
    /// Name of the administrator.
    pub display_name: String,
    /// Settings that differ from the defaults.
    #[serde(default)]
    pub settings: SettingsChange,
}

/// Creates a tenant. A `repeated` call returns the tenant that it created before.
///
/// # Errors
/// The id is taken or invalid, or a setting is out of bounds.
pub async fn onboard(t3nets: &T3nets, new: NewTenant, repeated: bool) -> Result<Tenant, FlowError> {
    let tenant_id = tenant_id(&new.tenant_id)?;
    let user_id = UserId::new(&new.user_id).map_err(|wrong| FlowError::Arguments(format!("user_id: {wrong}")))?;
    let input = CreateTenantInput {
        tenant_id: tenant_id.clone(),
        name: new.name,
        settings: new.settings.applied_to(settings::defaults()),
        user_id: user_id.clone(),
        email: new.email,
        display_name: new.display_name,
    };
    match t3nets.create_tenant(input.clone()).await {
        Err(CreateTenantError::TenantExists) if repeated => {
            let made = made_before(t3nets, &input).await?;
            made.ok_or_else(|| CreateTenantError::TenantExists.into())
        }
        made => Ok(made?),
    }
}

/// Returns the tenant if it is the one that this call would create.
async fn made_before(t3nets: &T3nets, input: &CreateTenantInput) -> Result<Option<Tenant>, CallError> {
    let Some(tenant) = t3nets.tenant_by_id(&input.tenant_id).await? else { return Ok(None) };
    let first = t3nets.user_by_id(&input.tenant_id, &input.user_id).await?;
    let same = first.is_some_and(|user| user.email == input.email.trim().to_lowercase());
    Ok(Some(tenant).filter(|tenant| same && tenant.name == input.name))
}

/// Parses a tenant id.
///
/// # Errors
/// The text does not have the form of a tenant id.
pub fn tenant_id(text: &str) -> Result<TenantId, FlowError> {
    let form = "3 to 63 lower-case letters, digits and hyphens, without a hyphen at the ends";
    let wrong = || FlowError::Arguments(format!("tenant_id: `{text}` is not {form}"));
    let letters = text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if !letters || text.starts_with('-') || text.ends_with('-') {
        return Err(wrong());
    }
    TenantId::new(text).map_err(|_| wrong())
}

/// Changes some settings and keeps the others, including concurrent changes.
///
/// # Errors
/// The caller is not an administrator of the tenant, or a setting is out of bounds.
pub async fn change_settings(
    t3nets: &T3nets,
    tenant: &TenantId,
    change: SettingsChange,
) -> Result<Tenant, UpdateTenantError> {
    let mut attempt = 0;
    loop {
        let now = t3nets.tenant_by_id(tenant).await?.ok_or(UpdateTenantError::UnknownTenant)?;
        let settings = change.clone().applied_to(now.settings);
        match t3nets.update_tenant(tenant, &now.name, &settings, now.version).await {
            Err(UpdateTenantError::Changed | UpdateTenantError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
            done => return done,
        }
    }
}

/// Suspends a tenant: from now on all its callers, and messages from its channels, are refused.
///
/// # Errors
/// The tenant does not exist, or the caller is not an operator.
pub async fn suspend(t3nets: &T3nets, tenant: &TenantId) -> Result<Tenant, SetTenantStatusError> {
    set_status(t3nets, tenant, TenantStatus::Suspended).await
}

/// Activates a tenant, whatever its status.
///
/// # Errors
/// The tenant does not exist, or the caller is not an operator.
pub async fn activate(t3nets: &T3nets, tenant: &TenantId) -> Result<Tenant, SetTenantStatusError> {
    set_status(t3nets, tenant, TenantStatus::Active).await
}

async fn set_status(t3nets: &T3nets, tenant: &TenantId, status: TenantStatus) -> Result<Tenant, SetTenantStatusError> {
    let mut attempt = 0;
    loop {
        match t3nets.set_tenant_status(tenant, status).await {
            Err(SetTenantStatusError::Conflict(_)) if attempt < ATTEMPTS => attempt += 1,
            done => return done,
        }
    }
}
