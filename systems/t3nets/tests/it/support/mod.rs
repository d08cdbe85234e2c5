//! Tenants and people for scenarios. Stores are shared, so every id is unique.

use keyform::SystemWorld;
use keyform::World as _;
use keyform_scenario::Scene;
use keyform_t3nets::model::{
    Caller, ConversationId, CreateTenantInput, CreateUserInput, SaveTurnInput, T3nets, Tenant, TenantId, User, UserId,
};
use keyform_t3nets::{settings, tenants};

/// Creates the system on a scene, with its tables.
pub async fn system(scene: &Scene) -> T3nets {
    let t3nets = handle(scene);
    t3nets.create_tables().await.unwrap();
    t3nets.calls().runner().create_answer_table().await.unwrap();
    t3nets
}

/// Returns the system on a scene with existing tables.
pub fn handle(scene: &Scene) -> T3nets {
    T3nets::on(scene.host.store(), scene.host.options()).unwrap()
}

/// Returns a unique name.
pub fn fresh(prefix: &str) -> String {
    format!("{prefix}-{}", SystemWorld.code(10).to_lowercase())
}

pub fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// Returns a caller of a tenant.
pub fn person(tenant: &TenantId, user: &str) -> Caller {
    Caller { tenant_id: tenant.clone(), user_id: id(user), guest: None, operator: None }
}

/// Returns an operator of the installation.
pub fn operator() -> Caller {
    Caller { tenant_id: id("operators"), user_id: id("support"), guest: None, operator: Some(true) }
}

/// Returns the input for a tenant whose administrator is Ada.
pub fn new_tenant() -> CreateTenantInput {
    let tenant = fresh("team");
    CreateTenantInput {
        tenant_id: id(&tenant),
        name: "Outlocks".to_owned(),
        settings: settings::defaults(),
        user_id: id("ada"),
        email: format!("ada@{tenant}.example"),
        display_name: "Ada".to_owned(),
    }
}

/// Creates an active tenant whose administrator is Ada.
pub async fn active_tenant(t3nets: &T3nets) -> Tenant {
    let tenant = t3nets.create_tenant(new_tenant()).await.unwrap();
    tenants::activate(t3nets, &tenant.tenant_id).await.unwrap()
}

/// Creates a user of a tenant.
pub async fn user(t3nets: &T3nets, tenant: &TenantId, name: &str) -> User {
    let user_id: UserId = id(name);
    let input = CreateUserInput::new(tenant.clone(), user_id, format!("{name}@{tenant}.example"), name);
    t3nets.create_user(input).await.unwrap()
}

pub fn turn(number: usize) -> SaveTurnInput {
    SaveTurnInput::new(default(), format!("question {number}"), format!("answer {number}"))
}

/// Returns the id of the dashboard's conversation.
pub fn default() -> ConversationId {
    id("default")
}
