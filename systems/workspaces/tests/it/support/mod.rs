//! Shared setup of this system's tests.

pub mod http;

use std::collections::BTreeMap;
use std::sync::Arc;

use keyform::flow::Host;
use keyform::operation::Scan;
use keyform::{AttributeValue, Attributes, Execute, ExecuteExt, Uuid};
use keyform_scenario::{Clock, Scene};
use keyform_workspaces::model::{Caller, CreateInviteInput, Invite, Item, WorkspaceId, Workspaces};

/// System on a store, with its table.
#[derive(Clone)]
pub struct Home {
    pub host: Host,
    pub clock: Clock,
    pub stage: String,
    pub workspaces: Workspaces,
}

impl Home {
    pub async fn open(scene: &Scene) -> Self {
        let stage = Uuid::fresh().to_string();
        let host = scene.host.clone().variable("stage", &stage);
        let workspaces = Workspaces::on(host.store(), host.options()).unwrap();
        workspaces.create_tables().await.unwrap();
        Self { host, clock: scene.clock.clone(), stage, workspaces }
    }

    /// Returns the handle of a person.
    pub fn of(&self, person: &Uuid) -> Workspaces {
        self.workspaces.as_caller(Caller { user_id: person.clone() })
    }

    pub fn through(&self, store: Arc<dyn Execute>, person: &Uuid) -> Workspaces {
        let workspaces = Workspaces::on(store, self.host.options()).unwrap();
        workspaces.as_caller(Caller { user_id: person.clone() })
    }

    /// Creates a workspace; returns its id and its owner.
    pub async fn founded(&self, name: &str) -> (WorkspaceId, Uuid) {
        let owner = Uuid::fresh();
        let workspace = self.of(&owner).create_workspace(name).await.unwrap();
        (workspace.workspace_id, owner)
    }

    pub async fn invited(&self, workspace: &WorkspaceId, owner: &Uuid, max_uses: Option<i64>) -> Invite {
        let input = CreateInviteInput { max_uses, ..CreateInviteInput::new(workspace.clone()) };
        self.of(owner).create_invite(input).await.unwrap()
    }

    /// Adds a new person to a workspace.
    pub async fn joined(&self, workspace: &WorkspaceId, owner: &Uuid) -> Uuid {
        let person = Uuid::fresh();
        let invite = self.invited(workspace, owner, Some(1)).await;
        self.of(&person).join_by_invite(&invite.code).await.unwrap().unwrap();
        person
    }

    pub async fn saved(&self, workspace: &WorkspaceId, person: &Uuid, title: &str) -> Item {
        self.of(person).create_item(workspace, title, "text").await.unwrap()
    }

    pub fn table(&self) -> String {
        format!("workspaces-{}", self.stage)
    }

    /// Returns all items of the table by key.
    pub async fn dump(&self) -> BTreeMap<(String, String), Attributes> {
        let mut scan = Scan { consistent: true, ..Scan::of(self.table()) };
        let mut all = BTreeMap::new();
        loop {
            let page = self.host.store().call(scan.clone()).await.unwrap();
            for item in page.items.unwrap() {
                let item = item.to_attributes();
                let key = (text(&item, "PK"), text(&item, "SK"));
                assert!(all.insert(key, item).is_none());
            }
            match page.last_key {
                Some(last) => scan.start = Some(last.to_attributes()),
                None => return all,
            }
        }
    }
}

pub fn text(item: &Attributes, name: &str) -> String {
    match item.get(name) {
        Some(AttributeValue::S(text)) => text.clone(),
        other => panic!("{name}: {other:?}"),
    }
}
