//! System with people for scenarios.

use std::fmt::Debug;
use std::sync::Arc;

use keyform::Uuid;
use keyform::flow::FlowError;
use keyform_helpmaton::identity::caller_of;
use keyform_helpmaton::model::{Caller, Subscription, SubscriptionPlan, WorkspaceId};
use keyform_helpmaton::notify::{Notice, Recorded};
use keyform_helpmaton::open_workspace::NewWorkspace;
use keyform_helpmaton::secrets::Hashing;
use keyform_helpmaton::{Helpmaton, RequestLimit, Settings};
use keyform_scenario::{Clock, Scene, eventually};

/// System on a scene.
#[derive(Clone)]
pub struct World {
    pub system: Helpmaton,
    pub told: Recorded,
    pub clock: Clock,
    pub scene: Scene,
}

impl World {
    /// Creates the system with its tables and fast hashes.
    pub async fn on(scene: Scene) -> Self {
        let world = Self::with(scene, RequestLimit::Strict, Recorded::default());
        world.system.model.create_tables().await.unwrap();
        world
    }

    /// Returns the same system with a soft request limit.
    pub fn softly(&self) -> Self {
        Self::with(self.scene.clone(), RequestLimit::Soft, self.told.clone())
    }

    /// Returns the same system as another instance that uses another store.
    pub fn through(&self, execute: Arc<dyn keyform::Execute>) -> Self {
        Self::with(self.scene.through(execute), RequestLimit::Strict, self.told.clone())
    }

    fn with(scene: Scene, request_limit: RequestLimit, told: Recorded) -> Self {
        let notifier = Arc::new(told.clone());
        let settings = Settings { hashing: Hashing::with_log_n(2), notifier, request_limit, ..Settings::default() };
        let system = Helpmaton::on(&scene.host, settings).unwrap();
        Self { system, told, clock: scene.clock.clone(), scene }
    }

    /// Signs up a person.
    pub async fn person(&self, name: &str) -> Caller {
        let user = self.system.user_of_email(&address(name), Some(name)).await.unwrap();
        self.system.model.verify_email(&user.id).await.unwrap();
        caller_of(&user)
    }

    /// Creates a workspace of a person.
    pub async fn workspace(&self, of: &Caller) -> WorkspaceId {
        let new = NewWorkspace { name: "Engines".to_owned(), ..NewWorkspace::default() };
        self.system.open_workspace(of, new, None).await.unwrap().workspace_id
    }

    /// Creates a person on the largest plan, with a workspace.
    pub async fn pro(&self, name: &str) -> (Caller, WorkspaceId) {
        let owner = self.person(name).await;
        let subscription = self.subscription(&owner).await;
        self.system.put_on_plan(&subscription.subscription_id, SubscriptionPlan::Pro).await.unwrap();
        let workspace = self.workspace(&owner).await;
        (owner, workspace)
    }

    pub async fn subscription(&self, of: &Caller) -> Subscription {
        self.system.subscription_of(&of.user_id).await.unwrap()
    }

    /// Returns the last token that was mailed to an address.
    pub fn mailed(&self, email: &str) -> String {
        let mut tokens = self.told.told(email).into_iter().filter_map(|notice| match notice {
            Notice::SignIn { token } | Notice::Invited { token, .. } => Some(token.reveal().to_owned()),
            _ => None,
        });
        tokens.next_back().unwrap()
    }
}

/// Returns a unique address.
pub fn address(name: &str) -> String {
    format!("{name}-{}@example.com", Uuid::fresh())
}

/// Reads from an index until the item appears.
pub async fn found<T>(read: impl AsyncFn() -> Result<Option<T>, keyform::CallError>) -> T {
    eventually(true, async || read().await.unwrap().is_some()).await;
    read().await.unwrap().unwrap()
}

/// Returns the outcome name of a refusal.
pub fn refusal<T: Debug>(answer: Result<T, FlowError>) -> String {
    match answer {
        Err(FlowError::Refused { outcome, .. }) => outcome,
        Err(FlowError::Forbidden) => "Forbidden".to_owned(),
        other => panic!("{other:?}"),
    }
}
