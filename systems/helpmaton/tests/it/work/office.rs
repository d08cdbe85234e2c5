//! Workspace on a large plan, with its owner and an agent.

use std::sync::Arc;

use keyform::{Money, Uuid};
use keyform_helpmaton::agents::{self, AgentSettings};
use keyform_helpmaton::credits::purchase::{Order, purchase};
use keyform_helpmaton::credits::{Reserve, Reserved};
use keyform_helpmaton::model::{
    self, AgentId, Caller, ChangePlanInput, ChangePlanOldPlan, CreateWorkspaceInput, CreditReservation,
    CreditReservationStatus, SignUpInput, SubscriptionId, SubscriptionPlan, SubscriptionStatus, UserId, Workspace,
    WorkspaceId,
};
use keyform_helpmaton::objects::Memory;
use keyform_helpmaton::prices::Currency;
use keyform_helpmaton::secrets::Hashing;
use keyform_helpmaton::{Helpmaton, Settings};
use keyform_scenario::Scene;
use serde_json::json;

/// Workspace with its system and members.
#[derive(Clone)]
pub struct Office {
    pub scene: Scene,
    pub settings: Settings,
    pub objects: Memory,
    pub system: Helpmaton,
    pub owner: Caller,
    pub subscription: SubscriptionId,
    pub workspace: WorkspaceId,
    pub agent: AgentId,
}

pub fn id<Id: From<Uuid>>() -> Id {
    Uuid::fresh().into()
}

pub fn units(units: i64) -> Money {
    Money::of_units(units)
}

impl Office {
    /// Creates a workspace with one agent and no credit. Lagging indexes are read after they have caught up, because
    /// these scenarios do not test the lag.
    pub async fn open(scene: Scene) -> Self {
        let scene = scene.caught_up();
        let objects = Memory::default();
        let settings = Settings {
            hashing: Hashing::with_log_n(2),
            objects: Arc::new(objects.clone()),
            administrators: ["admin@example.org".to_owned()].into(),
            shop_secret: Some("shop".to_owned().into()),
            ..Settings::default()
        };
        let system = Helpmaton::on(&scene.host, settings.clone()).unwrap();
        system.model.create_tables().await.unwrap();
        let owner = person(&system).await;
        let subscription = system.model.subscription_of_user(&owner.user_id).await.unwrap().unwrap().subscription_id;
        enlarge(&system, &subscription).await;
        let workspace: WorkspaceId = id();
        let input = CreateWorkspaceInput::new(workspace.clone(), subscription.clone(), "Office");
        system.model.as_caller(owner.clone()).create_workspace(input).await.unwrap();
        let office = Self { scene, settings, objects, system, owner, subscription, workspace, agent: id() };
        office.make_agent(&office.agent).await;
        office
    }

    /// Creates a workspace with credit.
    pub async fn with_credit(scene: Scene, credit: Money) -> Self {
        let office = Self::open(scene).await;
        office.buy(credit).await;
        office
    }

    /// Returns the same workspace through another store, such as one with faults.
    pub fn through(&self, store: Arc<dyn keyform::Execute>) -> Self {
        let scene = self.scene.through(store);
        let system = Helpmaton::on(&scene.host, self.settings.clone()).unwrap();
        Self { scene, system, ..self.clone() }
    }

    /// Returns the owner's handle.
    pub fn by(&self) -> model::Helpmaton {
        self.system.model.as_caller(self.owner.clone())
    }

    pub async fn make_agent(&self, agent: &AgentId) {
        let settings =
            AgentSettings { name: "Agent".into(), system_prompt: "You help.".into(), ..AgentSettings::default() };
        agents::create(&self.by(), &self.workspace, agent, settings).await.unwrap();
    }

    pub async fn another_agent(&self) -> AgentId {
        let agent = id();
        self.make_agent(&agent).await;
        agent
    }

    pub async fn buy(&self, amount: Money) {
        let order = Order {
            order_id: Uuid::fresh().to_string(),
            workspace_id: self.workspace.clone(),
            amount,
            currency: Currency::Usd,
        };
        purchase(&self.system, &order).await.unwrap();
    }

    /// Returns a call with a small estimate.
    pub fn call(&self) -> Reserve {
        Reserve {
            reservation_id: id(),
            workspace_id: self.workspace.clone(),
            agent_id: self.agent.clone(),
            messages: vec![json!({"role": "user", "content": "Hello"})],
            tools: Vec::new(),
        }
    }

    /// Changes the limit on model calls in 24 hours.
    pub async fn limit_requests(&self, requests: i64) {
        let input = ChangePlanInput {
            old_plan: ChangePlanOldPlan::Pro,
            new_plan: SubscriptionPlan::Starter,
            new_requests_per_day: requests,
            ..larger_plan(&self.subscription)
        };
        self.system.model.change_plan(input).await.unwrap();
    }

    pub async fn account(&self) -> Workspace {
        self.system.model.workspace_by_id(&self.workspace).await.unwrap().unwrap()
    }

    /// Returns all reservations after checking the invariant: balance + open reservations = credits − settled costs.
    pub async fn balanced(&self) -> Vec<CreditReservation> {
        let account = self.account().await;
        let reservations = self.system.model.reservations_of_workspace(&self.workspace).all().await.unwrap();
        let of = |status: CreditReservationStatus| {
            reservations.iter().filter(move |reservation| reservation.status == status)
        };
        let open: Money = of(CreditReservationStatus::Open).map(|open| open.reserved_amount).sum();
        let settled: Money = of(CreditReservationStatus::Settled).filter_map(|settled| settled.settled_cost).sum();
        let entries = self.system.model.credit_entries(&self.workspace).all().await.unwrap();
        let credited: Money = entries.iter().map(|entry| entry.amount).sum();
        assert_eq!(account.reserved_credits, open, "what is set aside");
        assert_eq!(account.settled_total, settled, "what was settled");
        assert_eq!(account.credited_total, credited, "what was credited");
        assert_eq!(account.credit_balance + open, credited - settled, "the account");
        let today = self.system.now().date();
        let first = keyform::Date::of_days(today.days() - 60);
        let spent = self.system.model.workspace_spending(&self.workspace, first, today).await.unwrap();
        assert_eq!(spent.iter().map(|day| day.spent).sum::<Money>(), open + settled, "spending");
        reservations
    }
}

/// Returns the reservation of a result.
pub fn credit(reserved: Reserved) -> CreditReservation {
    match reserved {
        Reserved::Credit(reservation) => *reservation,
        Reserved::Byok { .. } => panic!("the platform pays"),
    }
}

/// Signs up a person.
pub async fn person(system: &Helpmaton) -> Caller {
    let user_id: UserId = id();
    let email = format!("{}@example.org", &user_id.as_str()[..13]);
    system.model.sign_up(SignUpInput::new(user_id.clone(), email.clone(), id())).await.unwrap();
    system.model.verify_email(&user_id).await.unwrap();
    Caller { user_id, email }
}

async fn enlarge(system: &Helpmaton, subscription: &SubscriptionId) {
    system.model.change_plan(larger_plan(subscription)).await.unwrap();
}

fn larger_plan(subscription: &SubscriptionId) -> ChangePlanInput {
    ChangePlanInput {
        subscription_id: subscription.clone(),
        old_plan: ChangePlanOldPlan::Free,
        new_plan: SubscriptionPlan::Pro,
        new_status: SubscriptionStatus::Active,
        workspaces: 5,
        documents: 1000,
        document_bytes: 100 << 20,
        agents: 50,
        managers: 5,
        users: 10,
        agent_keys: 250,
        channels: 50,
        mcp_servers: 50,
        new_requests_per_day: 25_000,
    }
}
