//! Objects of documents: access control, and no leaked or lost objects, wherever a program stops.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use keyform::CallError;
use keyform::execute::BoxFuture;
use keyform::flow::FlowError;
use keyform_helpmaton::documents::{self, Upload};
use keyform_helpmaton::model::{
    Caller, CreateAgentKeyError, CreateAgentKeyInput, CreateDocumentError, CreateDocumentInput, DeleteDocumentError,
    ReplaceContentError, ReplaceContentInput, UnusedObjectKey, WorkspaceDocument, WorkspaceDocumentId, WorkspaceId,
};
use keyform_helpmaton::objects::{Memory, Objects, ObjectsFailed};
use keyform_helpmaton::open_workspace::NewWorkspace;
use keyform_helpmaton::unused_objects::sweep;
use keyform_helpmaton::{Helpmaton, Settings};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{on_embedded, on_every_store};
use tokio::task::JoinSet;

use super::office::{Office, id, person};

const FORBIDDEN: CallError = CallError::Forbidden;

fn file(name: &str, text: &str) -> Upload {
    Upload { document_id: id(), name: name.into(), folder: String::new(), content: text.as_bytes().to_vec() }
}

async fn upload(office: &Office, text: &str) -> WorkspaceDocument {
    documents::upload(&office.system, &office.owner, &office.workspace, file("a.md", text)).await.unwrap()
}

async fn member(office: &Office, level: i64) -> Caller {
    let member = person(&office.system).await;
    office.system.model.take_seat(&office.workspace, &member.user_id).await.unwrap();
    office.by().add_member(&office.workspace, &member.user_id, level).await.unwrap();
    member
}

fn new_document(workspace: &WorkspaceId, key: &str, by: &Caller) -> CreateDocumentInput {
    CreateDocumentInput::new(workspace.clone(), "a", "a.md", "", key, "text/markdown", 1, by.user_id.clone())
}

/// Checks that objects and documents match, no entry is left, and the plan's counts are right.
async fn all_is_in_order(office: &Office, (documents_before, bytes_before): (i64, i64)) {
    office.scene.clock.advance(Duration::from_secs(2 * 3600));
    sweep(&office.system).await.unwrap();
    let mut referred = BTreeSet::new();
    let (mut count, mut bytes) = (0, 0);
    for listed in office.system.model.documents_in_workspace(&office.workspace).all().await.unwrap() {
        let found = office.system.model.document_by_id(&office.workspace, &listed.document_id).await.unwrap().unwrap();
        referred.insert(found.s3_key.expose().clone());
        (count, bytes) = (count + 1, bytes + found.size);
    }
    assert_eq!(office.objects.keys().into_iter().collect::<BTreeSet<_>>(), referred);
    assert_eq!(office.system.model.unused_objects().all().await.unwrap(), []);
    assert_eq!(left(office).await, (documents_before - count, bytes_before - bytes));
}

async fn left(office: &Office) -> (i64, i64) {
    let found = office.system.model.subscription_by_id(&office.subscription).await.unwrap().unwrap();
    (found.documents_left, found.document_bytes_left)
}

#[test]
fn only_code_says_where_content_is() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (by, workspace, owner) = (office.by(), &office.workspace, &office.owner);
        let made = upload(&office, "text").await;
        let key = made.s3_key.expose();
        assert_eq!(
            by.create_document(new_document(workspace, key, owner)).await,
            Err(CreateDocumentError::Failed(FORBIDDEN))
        );
        let replaced = ReplaceContentInput {
            workspace_id: workspace.clone(),
            document_id: made.document_id.clone(),
            s3_key: key.clone(),
            new_size: 1,
            growth: -3,
            expected_version: 1,
            by: owner.user_id.clone(),
        };
        assert_eq!(by.replace_content(replaced).await, Err(ReplaceContentError::Failed(FORBIDDEN)));
        let deleted = by.delete_document(workspace, &made.document_id, &owner.user_id).await;
        assert_eq!(deleted, Err(DeleteDocumentError::Failed(FORBIDDEN)));
        let planted = CreateAgentKeyInput::new(
            workspace.clone(),
            office.agent.clone(),
            keyform::Uuid::fresh().to_string(),
            "0".repeat(64),
            owner.user_id.clone(),
        );
        assert_eq!(by.create_agent_key(planted).await, Err(CreateAgentKeyError::Failed(FORBIDDEN)));
        let shown = serde_json::to_string(&made).unwrap();
        assert!(!shown.contains("s3Key") && !shown.contains(key.as_str()), "{shown}");
        let listed = by.documents_in_workspace(workspace).all().await.unwrap();
        assert!(!serde_json::to_string(&listed).unwrap().contains("s3Key"));
    });
}

#[test]
fn readers_write_nothing_and_former_members_reach_nothing() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (system, workspace) = (&office.system, &office.workspace);
        let made = upload(&office, "text").await;
        let document = &made.document_id;
        let (reader, former) = (member(&office, 1).await, member(&office, 2).await);
        office.by().remove_member(workspace, &former.user_id).await.unwrap();
        for who in [&reader, &former, &person(system).await] {
            let is_forbidden = |failed: FlowError| assert!(matches!(failed, FlowError::Forbidden), "{failed}");
            is_forbidden(documents::upload(system, who, workspace, file("b.md", "")).await.unwrap_err());
            is_forbidden(documents::replace(system, who, workspace, document, vec![1]).await.unwrap_err());
            is_forbidden(documents::remove(system, who, workspace, document).await.unwrap_err());
            // The transactions check the permission themselves, because a member may be removed while a flow works for
            // them.
            let write = system.model.delete_document(workspace, document, &who.user_id).await;
            assert_eq!(write, Err(DeleteDocumentError::Forbidden));
        }
        assert_eq!(documents::content(system, &reader, workspace, document).await.unwrap(), b"text");
        let refused = documents::content(system, &former, workspace, document).await;
        assert!(matches!(refused, Err(FlowError::Forbidden)));
        assert_eq!(office.objects.keys().len(), 1);
    });
}

#[test]
fn a_key_that_was_planted_before_reaches_no_object_of_another_workspace() {
    on_embedded(async |scene| {
        let victim = Office::open(scene).await;
        let secret = upload(&victim, "secret").await;
        let eve = person(&victim.system).await;
        let new = NewWorkspace { name: "Eve's".into(), ..NewWorkspace::default() };
        let own = victim.system.open_workspace(&eve, new, None).await.unwrap().workspace_id;
        let key = UnusedObjectKey::new(secret.s3_key.expose().as_str()).unwrap();
        victim.system.model.stage_object(&key, &own).await.unwrap();
        let planted = victim.system.model.create_document(new_document(&own, key.as_str(), &eve)).await.unwrap();
        let read = documents::content(&victim.system, &eve, &own, &planted.document_id).await;
        assert!(matches!(read, Err(FlowError::Broken(_))), "{read:?}");
        documents::remove(&victim.system, &eve, &own, &planted.document_id).await.unwrap();
        sweep(&victim.system).await.unwrap();
        let content = documents::content(&victim.system, &victim.owner, &victim.workspace, &secret.document_id).await;
        assert_eq!(content.unwrap(), b"secret");
        assert_eq!(victim.system.model.unused_objects().all().await.unwrap(), []);
    });
}

#[derive(Clone, Copy, Debug)]
enum Work {
    Upload,
    Replace,
    Remove,
}

/// Performs the work on a document and ignores failures.
async fn work(office: &Office, work: Work, document: &WorkspaceDocumentId) {
    let (system, owner, workspace) = (&office.system, &office.owner, &office.workspace);
    match work {
        Work::Upload => drop(documents::upload(system, owner, workspace, file("b.md", "new")).await),
        Work::Replace => drop(documents::replace(system, owner, workspace, document, b"longer text".to_vec()).await),
        Work::Remove => drop(documents::remove(system, owner, workspace, document).await),
    }
}

const WORKS: [Work; 3] = [Work::Upload, Work::Replace, Work::Remove];

#[test]
fn work_on_a_document_may_be_killed_after_any_request() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let before = left(&office).await;
        for what in WORKS {
            for requests in 0.. {
                let document = upload(&office, "text").await.document_id;
                let mortal = Arc::new(Mortal::new(office.scene.host.store(), requests));
                work(&office.through(mortal.clone()), what, &document).await;
                all_is_in_order(&office, before).await;
                if !mortal.is_dead() {
                    break;
                }
            }
        }
    });
}

#[test]
fn lost_answers_lose_and_leave_no_object() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let before = left(&office).await;
        for every in 1..6 {
            for what in WORKS {
                let document = upload(&office, "text").await.document_id;
                work(&office.through(Arc::new(Lossy::new(office.scene.host.store(), every))), what, &document).await;
                all_is_in_order(&office, before).await;
            }
        }
    });
}

#[test]
fn documents_that_many_change_at_once_lose_and_leave_no_object() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let before = left(&office).await;
        let documents = [upload(&office, "one").await.document_id, upload(&office, "two").await.document_id];
        let contended = office.through(Arc::new(Contended::new(office.scene.host.store(), 4)));
        let mut work = JoinSet::new();
        for n in 0..16_usize {
            let (office, living) = (contended.clone(), office.clone());
            let document = documents[n % 2].clone();
            work.spawn(async move {
                let (owner, workspace) = (&office.owner, &office.workspace);
                let content = vec![b'x'; n];
                match n {
                    // The second document is deleted while others read and write it.
                    9 => drop(documents::remove(&office.system, owner, workspace, &document).await),
                    _ => drop(documents::replace(&office.system, owner, workspace, &document, content).await),
                }
                sweep(&living.system).await.unwrap();
            });
        }
        while let Some(done) = work.join_next().await {
            done.unwrap();
        }
        let content = documents::content(&office.system, &office.owner, &office.workspace, &documents[0]).await;
        assert!(content.is_ok(), "{content:?}");
        all_is_in_order(&office, before).await;
    });
}

#[test]
fn an_upload_that_takes_too_long_finds_its_object_gone() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let before = left(&office).await;
        let key = UnusedObjectKey::new(format!("workspaces/{}/documents/a/b", office.workspace)).unwrap();
        let model = &office.system.model;
        model.stage_object(&key, &office.workspace).await.unwrap();
        office.objects.put(key.as_str(), b"x".to_vec()).await.unwrap();
        assert_eq!(sweep(&office.system).await.unwrap(), 0, "it has an hour");
        model.claim_object(&key).await.unwrap();
        let late = new_document(&office.workspace, key.as_str(), &office.owner);
        assert_eq!(model.create_document(late.clone()).await, Err(CreateDocumentError::ObjectGone));
        all_is_in_order(&office, before).await;
        assert_eq!(model.create_document(late).await, Err(CreateDocumentError::ObjectGone));
    });
}

/// Objects whose deletion fails for a while.
#[derive(Clone, Default)]
struct Stubborn {
    memory: Memory,
    works: Arc<AtomicBool>,
}

impl Objects for Stubborn {
    fn put(&self, key: &str, content: Vec<u8>) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.memory.put(key, content)
    }

    fn get(&self, key: &str) -> BoxFuture<'_, Result<Option<Vec<u8>>, ObjectsFailed>> {
        self.memory.get(key)
    }

    fn delete(&self, key: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        if self.works.load(Ordering::SeqCst) {
            return self.memory.delete(key);
        }
        Box::pin(async { Err(ObjectsFailed("out of order".to_owned())) })
    }

    fn delete_all(&self, prefix: &str) -> BoxFuture<'_, Result<(), ObjectsFailed>> {
        self.memory.delete_all(prefix)
    }
}

#[test]
fn an_object_that_cannot_be_deleted_is_deleted_later() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let stubborn = Stubborn::default();
        let settings = Settings { objects: Arc::new(stubborn.clone()), ..office.settings.clone() };
        let system = Helpmaton::on(&office.scene.host, settings).unwrap();
        let office = Office { system, objects: stubborn.memory.clone(), ..office };
        let before = left(&office).await;
        let made = upload(&office, "text").await;
        documents::remove(&office.system, &office.owner, &office.workspace, &made.document_id).await.unwrap();
        assert_eq!(office.objects.keys().len(), 1);
        assert_eq!(sweep(&office.system).await.unwrap(), 0);
        stubborn.works.store(true, Ordering::SeqCst);
        assert_eq!(sweep(&office.system).await.unwrap(), 1);
        all_is_in_order(&office, before).await;
    });
}
