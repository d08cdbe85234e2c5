//! Life cycle of a workspace, and the flows around it.

use std::time::Duration;

use crate::support::Home;
use crate::support::http::Served;
use keyform::flow::TokenKeys;
use keyform::{CallError, Uuid};
use keyform_scenario::{eventually, on_embedded, on_every_store};
use keyform_workspaces::application;
use keyform_workspaces::invitation::{self, Terms};
use keyform_workspaces::model::*;
use serde_json::{Value, json};

#[test]
fn invites_last_as_long_and_let_in_as_many_as_they_say() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let clock = home.host.world();
        let invite = async |terms: Terms| invitation::invite(&home.of(&owner), &*clock, &id, terms).await;
        for days in [0, 31] {
            let refused = invite(Terms { days: Some(days), ..Terms::default() }).await;
            assert_eq!(refused, Err(CreateInviteError::BadExpiry), "{days} days");
        }
        let none = invite(Terms { max_uses: Some(0), ..Terms::default() }).await;
        assert!(matches!(none, Err(CreateInviteError::Failed(CallError::Arguments(_)))), "{none:?}");
        let week = invite(Terms::default()).await.unwrap();
        let two = invite(Terms { days: Some(30), max_uses: Some(2) }).await.unwrap();
        let (ada, bob, cy) = (Uuid::fresh(), Uuid::fresh(), Uuid::fresh());
        let join = async |person: &Uuid, code: &InviteCode| invitation::join(&home.of(person), person, code).await;
        assert!(join(&ada, &two.code).await.unwrap().is_new);
        // Joining again changes nothing and uses nothing up.
        let again = join(&ada, &two.code).await.unwrap();
        assert_eq!((again.is_new, again.role), (false, MemberRole::Member));
        assert_eq!(join(&owner, &two.code).await.unwrap().role, MemberRole::Owner, "an owner stays one");
        assert_eq!(invitation::about(&home.workspaces, &two.code).await.unwrap().unwrap().uses_left, Some(1));
        join(&bob, &two.code).await.unwrap();
        assert_eq!(join(&cy, &two.code).await, Err(JoinByInviteError::InviteUsedUp));
        assert_eq!(invitation::about(&home.workspaces, &two.code).await.unwrap(), None);
        assert_eq!(home.of(&owner).invite_by_code(&two.code).await.unwrap().unwrap().uses, 2);
        let about = invitation::about(&home.workspaces, &week.code).await.unwrap().unwrap();
        assert_eq!((about.name.as_str(), about.uses_left), ("Kitchen", None));
        scene.clock.advance(Duration::from_secs(7 * 24 * 3600 + 1));
        let late = join(&cy, &week.code).await;
        assert!(matches!(late, Err(JoinByInviteError::UnknownInvite | JoinByInviteError::InviteExpired)), "{late:?}");
        assert_eq!(home.of(&owner).members_of_workspace(&id).await.unwrap().items.len(), 3);
    });
}

#[test]
fn owners_see_and_revoke_invites() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        scene.clock.advance(Duration::from_secs(1));
        let (one, other) = (home.invited(&id, &owner, None).await, home.founded("Garden").await);
        // Latest first.
        let latest = async || home.of(&owner).invites_of_workspace(&id).await.unwrap().items.into_iter().next();
        eventually(Some(one.clone()), latest).await;
        assert_eq!(home.of(&guest).invites_of_workspace(&id).await, Err(CallError::Forbidden));
        assert_eq!(
            home.of(&guest).create_invite(CreateInviteInput::new(id.clone())).await,
            Err(CallError::Forbidden.into())
        );
        let (this, another): (Uuid, Uuid) = (id.clone().into(), other.0.clone().into());
        assert_eq!(home.of(&guest).revoke_invite(&one.code, &this).await, Err(CallError::Forbidden.into()));
        // The owner of another workspace cannot revoke it by naming their own.
        assert_eq!(home.of(&other.1).revoke_invite(&one.code, &another).await, Err(RevokeInviteError::UnknownInvite));
        home.of(&owner).revoke_invite(&one.code, &this).await.unwrap();
        assert_eq!(home.of(&owner).revoke_invite(&one.code, &this).await, Err(RevokeInviteError::UnknownInvite));
        let eve = Uuid::fresh();
        assert_eq!(home.of(&eve).join_by_invite(&one.code).await, Err(JoinByInviteError::UnknownInvite));
    });
}

#[test]
fn items_are_edited_by_version() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        let item = home.saved(&id, &owner, "bread").await;
        assert_eq!((item.version, item.status, &item.created_by), (1, ItemStatus::Open, &Some(owner.clone())));
        let edit = |title: &str, expected: i64| EditItemInput {
            workspace_id: id.clone(),
            item_id: item.item_id.clone(),
            title: title.to_owned(),
            content: "flour".to_owned(),
            expected,
        };
        scene.clock.advance(Duration::from_secs(5));
        let edited = home.of(&guest).edit_item(edit("rye bread", 1)).await.unwrap();
        assert_eq!((edited.version, edited.title.as_str()), (2, "rye bread"));
        assert!(edited.updated_at > item.updated_at && edited.created_at == item.created_at);
        match home.of(&owner).edit_item(edit("white bread", 1)).await {
            Err(EditItemError::Conflict(Some(current))) => assert_eq!(*current, edited),
            other => panic!("{other:?}"),
        }
        // A status change ignores the version, and increments it.
        let done = home.of(&owner).set_item_status(&id, &item.item_id, ItemStatus::Done).await.unwrap();
        assert_eq!((done.version, done.title.as_str()), (3, "rye bread"));
        home.of(&guest).delete_item(&id, &item.item_id).await.unwrap();
        assert_eq!(home.of(&guest).delete_item(&id, &item.item_id).await, Err(DeleteItemError::UnknownItem));
        assert_eq!(home.of(&owner).edit_item(edit("again", 3)).await, Err(EditItemError::UnknownItem));
        let eve = Uuid::fresh();
        assert_eq!(home.of(&eve).create_item(&id, "no", "no").await, Err(CallError::Forbidden.into()));
    });
}

#[test]
fn settings_are_put_and_taken_away() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        for value in [json!("dark"), json!({ "save": ["Alt", "S"] }), json!(12), json!(null)] {
            home.of(&owner).set_setting(&id, "theme", &value).await.unwrap();
            let found = home.of(&owner).setting_by_name(&id, "theme").await.unwrap().unwrap();
            assert_eq!(found.value, value);
        }
        home.of(&owner).set_setting(&id, "another", &json!(true)).await.unwrap();
        let names: Vec<String> = home
            .of(&owner)
            .settings_of_workspace(&id)
            .await
            .unwrap()
            .items
            .into_iter()
            .map(|it| it.name.to_string())
            .collect();
        assert_eq!(names, ["another", "theme"]);
        home.of(&owner).delete_setting(&id, "theme").await.unwrap();
        assert_eq!(home.of(&owner).setting_by_name(&id, "theme").await.unwrap(), None);
        let nowhere: WorkspaceId = Uuid::fresh().into();
        let refused = home.workspaces.set_setting(&nowhere, "theme", &json!(1)).await;
        assert_eq!(refused, Err(SetSettingError::UnknownWorkspace));
    });
}

#[test]
fn members_come_and_go_and_one_owner_stays() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        assert_eq!(home.of(&owner).leave_workspace(&id).await, Err(LeaveWorkspaceError::IsOwner));
        assert_eq!(home.of(&owner).remove_member(&id, &owner).await, Err(RemoveMemberError::IsOwner));
        assert_eq!(home.of(&guest).remove_member(&id, &owner).await, Err(CallError::Forbidden.into()));
        assert_eq!(home.of(&guest).transfer_ownership(&id, &guest).await, Err(CallError::Forbidden.into()));
        assert_eq!(home.of(&owner).transfer_ownership(&id, &owner).await, Err(TransferOwnershipError::AlreadyOwner));
        let stranger = home.of(&owner).transfer_ownership(&id, &Uuid::fresh()).await;
        assert_eq!(stranger, Err(TransferOwnershipError::NotAMember));
        let heir = home.of(&owner).transfer_ownership(&id, &guest).await.unwrap();
        assert_eq!((heir.user_id, heir.role), (guest.clone(), MemberRole::Owner));
        assert_eq!(home.of(&owner).rename_workspace(&id, "no more").await, Err(CallError::Forbidden.into()));
        home.of(&guest).rename_workspace(&id, "Larder").await.unwrap();
        home.of(&owner).leave_workspace(&id).await.unwrap();
        let whole = home.of(&guest).workspace(&id).await.unwrap();
        assert_eq!((whole.workspace.name.as_str(), whole.members.len()), ("Larder", 1));
        assert_eq!(home.of(&guest).remove_member(&id, &owner).await, Err(RemoveMemberError::NotAMember));
    });
}

#[test]
fn a_deleted_workspace_leaves_nothing_behind() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        let (other, gardener) = home.founded("Garden").await;
        home.saved(&other, &gardener, "tomatoes").await;
        let kept = home.dump().await.into_iter().filter(|((pk, _), _)| pk.ends_with(other.as_str()));
        let kept: Vec<_> = kept.map(|(key, _)| key).collect();
        // More items than one transaction or batch can take.
        for number in 0..110 {
            home.saved(&id, &guest, &format!("item {number}")).await;
        }
        let invite = home.invited(&id, &owner, None).await;
        home.of(&owner).set_setting(&id, "theme", &json!("dark")).await.unwrap();
        assert_eq!(home.of(&guest).delete_workspace(&id).await, Err(CallError::Forbidden.into()));
        home.of(&owner).delete_workspace(&id).await.unwrap();
        // Where an index lags behind, a later run finds the rest.
        let left = async || {
            scene.clock.advance(Duration::from_secs(60));
            home.workspaces.calls().resume_cascades().await.unwrap();
            home.dump().await.into_keys().collect::<Vec<_>>()
        };
        eventually(kept, left).await;
        let eve = Uuid::fresh();
        assert_eq!(home.of(&eve).join_by_invite(&invite.code).await, Err(JoinByInviteError::UnknownInvite));
        eventually(Vec::new(), async || home.of(&guest).workspaces_of_user(&guest).await.unwrap().items).await;
    });
}

#[test]
fn sample_data_are_written_once() {
    on_embedded(async |scene| {
        let home = Home::open(&scene).await;
        let application = application(&home.host).unwrap();
        let first = application.make_sample().await.unwrap();
        let written = home.dump().await.len();
        assert_eq!(application.make_sample().await.unwrap(), first);
        assert_eq!(home.dump().await.len(), written);
        assert!(first.len() > 2 && first[1].starts_with("curl "), "{first:?}");
    });
}

/// Over HTTP, with tokens that the application's host issued.
#[test]
fn a_person_is_invited_over_http() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let served = Served::start(&home.host, home.host.token_keys().clone());
        let client = |person: &Uuid| {
            let claims = [("userId".to_owned(), Value::from(person.as_str()))].into_iter().collect();
            served.client_with_token(&home.host.issue_token(claims, Duration::from_secs(60)).unwrap())
        };
        let (ada, bob) = (Uuid::fresh(), Uuid::fresh());
        let (status, founded) = client(&ada).post_once("createWorkspace", &json!({ "name": "Kitchen" }), "one").await;
        assert_eq!(status, 200, "{founded}");
        let again = client(&ada).post_once("createWorkspace", &json!({ "name": "Kitchen" }), "one").await;
        assert_eq!(again, (200, founded.clone()), "sent again, it is the same workspace");
        let id = founded["workspaceId"].as_str().unwrap();
        let terms = json!({ "workspaceId": id, "maxUses": 1 });
        let (status, invite) = client(&ada).post_once("createInvite", &terms, "two").await;
        assert_eq!(status, 200, "{invite}");
        assert_eq!(client(&ada).post_once("createInvite", &terms, "two").await, (200, invite.clone()));
        assert_eq!(client(&bob).post("createInvite", &terms).await.0, 403);
        let (status, problem) = client(&ada).post("createInvite", &json!({ "workspaceId": id, "expiresAt": 12 })).await;
        assert_eq!((status, &problem["outcome"]), (409, &json!("BadExpiry")));
        let code = json!({ "code": invite["code"] });
        let (status, about) = client(&bob).post("aboutInvite", &code).await;
        assert_eq!((status, &about["name"], &about["usesLeft"]), (200, &json!("Kitchen"), &json!(1)));
        let (status, joined) = client(&bob).post_once("join", &code, "three").await;
        assert_eq!((status, &joined["isNew"]), (200, &json!(true)), "{joined}");
        let (status, problem) = client(&Uuid::fresh()).post("join", &code).await;
        assert_eq!((status, &problem["outcome"]), (409, &json!("InviteUsedUp")));
        let mine = async || client(&bob).post("myWorkspaces", &json!({})).await.1["workspaces"].clone();
        eventually(json!("Kitchen"), async || mine().await[0]["name"].clone()).await;
        assert_eq!(mine().await[0]["role"], "member");
        let (status, whole) = client(&bob).get(&format!("workspace?workspaceId={id}")).await;
        assert_eq!((status, whole["Member"].as_array().unwrap().len()), (200, 2), "{whole}");
        // Calls without a valid token are refused.
        assert_eq!(served.client_with_token("made.up.token").post("myWorkspaces", &json!({})).await.0, 401);
    });
}

#[test]
fn callers_on_loopback_may_be_believed() {
    on_embedded(async |scene| {
        let home = Home::open(&scene).await;
        let served = Served::start(&home.host, TokenKeys::default());
        let (id, owner) = home.founded("Kitchen").await;
        let (status, mine) = served.client(&owner).post("myWorkspaces", &json!({})).await;
        assert_eq!((status, &mine["workspaces"][0]["workspaceId"]), (200, &json!(id.as_str())), "{mine}");
        let missing = json!({ "hash": "0".repeat(64) });
        assert_eq!(served.client(&owner).post("itemByOldId", &missing).await.0, 403, "no member of the old home");
    });
}
