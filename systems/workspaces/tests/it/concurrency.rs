//! Invariants under concurrency: no user joins twice, an invite admits no more people than allowed, no member remains in
//! a deleted workspace, a workspace has one owner, and no edit is lost. With conflicts, lost answers and kills.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::support::Home;
use keyform::{CallError, Execute, Uuid};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{Scene, on_embedded, on_every_store};
use keyform_workspaces::invitation;
use keyform_workspaces::model::*;
use tokio::task::JoinSet;

/// Returns the store with conflicts and lost answers.
fn rough(store: Arc<dyn Execute>) -> Arc<dyn Execute> {
    Arc::new(Lossy::new(Arc::new(Contended::new(store, 5)), 7))
}

/// Returns whether the answer is missing and a retry is harmless.
fn is_passing(error: &CallError) -> bool {
    matches!(error, CallError::Busy | CallError::Unknown(_) | CallError::Store(_))
}

#[test]
fn an_invite_lets_in_as_many_as_it_says_and_each_once() {
    on_every_store(async |scene: Scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let invite = home.invited(&id, &owner, Some(5)).await;
        let store = rough(home.host.store());
        let mut joining = JoinSet::new();
        let people: Vec<Uuid> = (0..9).map(|_| Uuid::fresh()).collect();
        // Each person joins twice concurrently.
        for person in people.iter().chain(&people) {
            let (handle, person, code) = (home.through(store.clone(), person), person.clone(), invite.code.clone());
            joining.spawn(async move {
                loop {
                    match invitation::join(&handle, &person, &code).await {
                        Ok(joined) => return (joined.is_new, Some(person)),
                        Err(JoinByInviteError::InviteUsedUp) => return (false, None),
                        Err(JoinByInviteError::Failed(error)) if is_passing(&error) => {}
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        let mut inside = BTreeSet::new();
        while let Some(joined) = joining.join_next().await {
            inside.extend(joined.unwrap().1);
        }
        assert_eq!(inside.len(), 5);
        let members = home.of(&owner).members_of_workspace(&id).all().await.unwrap();
        let members: BTreeSet<Uuid> = members.into_iter().map(|member| member.user_id).collect();
        inside.insert(owner);
        assert_eq!(members, inside);
        assert_eq!(home.workspaces.invite_by_code(&invite.code).await.unwrap().unwrap().uses, 5);
    });
}

#[test]
fn an_invite_whose_time_is_over_lets_nobody_in() {
    on_every_store(async |scene: Scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let invite = home.invited(&id, &owner, None).await;
        let ends = invite.expires_at;
        let mut joining = JoinSet::new();
        for number in 0..20 {
            let (home, code) = (home.clone(), invite.code.clone());
            joining.spawn(async move {
                if number == 10 {
                    home.clock.set_millis(ends.0 * 1000 + 1);
                }
                let person = Uuid::fresh();
                let began = home.host.world().now_millis();
                let joined = home.of(&person).join_by_invite(&code).await;
                assert!(joined.is_err() || began < ends.0 * 1000, "{joined:?}");
            });
        }
        joining.join_all().await;
        let members = home.of(&owner).members_of_workspace(&id).all().await.unwrap();
        assert!(members.iter().all(|member| member.joined_at.millis() < ends.0 * 1000));
    });
}

#[test]
fn a_workspace_has_one_owner_whoever_hands_over_leaves_and_removes() {
    on_every_store(async |scene: Scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let mut people = vec![owner.clone()];
        for _ in 0..3 {
            people.push(home.joined(&id, &owner).await);
        }
        let invite = home.invited(&id, &owner, None).await;
        let store = rough(home.host.store());
        let mut acting = JoinSet::new();
        for (number, person) in people.iter().enumerate() {
            let (handle, people) = (home.through(store.clone(), person), people.clone());
            let (id, code) = (id.clone(), invite.code.clone());
            acting.spawn(async move {
                for round in 0..8 {
                    let other = &people[(number + round + 1) % people.len()];
                    // Any of these may be refused; the test checks the invariants during and after the run.
                    match round % 4 {
                        0 | 3 => drop(handle.transfer_ownership(&id, other).await),
                        1 => drop(handle.leave_workspace(&id).await),
                        _ => drop(handle.remove_member(&id, other).await),
                    }
                    drop(handle.join_by_invite(&code).await);
                }
            });
        }
        let looker = home.clone();
        let (place, done) = (id.clone(), Arc::new(std::sync::atomic::AtomicBool::new(false)));
        let stop = done.clone();
        let looking = tokio::spawn(async move {
            while !stop.load(std::sync::atomic::Ordering::SeqCst) {
                // A Query reads items one after another, so it may see half of a transfer, but never an empty
                // workspace.
                let members = looker.workspaces.members_of_workspace(&place).await.unwrap().items;
                assert!(!members.is_empty());
                tokio::task::yield_now().await;
            }
        });
        acting.join_all().await;
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        looking.await.unwrap();
        let members = home.workspaces.members_of_workspace(&id).all().await.unwrap();
        let owners = members.iter().filter(|member| member.role == MemberRole::Owner).count();
        assert_eq!(owners, 1, "{members:?}");
    });
}

#[test]
fn no_edit_is_lost() {
    on_every_store(async |scene: Scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let item = home.saved(&id, &owner, "list").await;
        let store: Arc<dyn Execute> = Arc::new(Contended::new(home.host.store(), 5));
        let mut editing = JoinSet::new();
        for number in 0..4 {
            let handle = home.through(store.clone(), &owner);
            let (id, item) = (id.clone(), item.clone());
            editing.spawn(async move {
                for round in 0..5 {
                    let mut current = handle.item_by_id(&id, &item.item_id).await.unwrap().unwrap();
                    loop {
                        let input = EditItemInput {
                            workspace_id: id.clone(),
                            item_id: item.item_id.clone(),
                            title: current.title.clone(),
                            content: format!("{} {number}.{round}", current.content),
                            expected: current.version,
                        };
                        match handle.edit_item(input).await {
                            Ok(_) => break,
                            Err(EditItemError::Conflict(Some(now))) => current = *now,
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
        editing.join_all().await;
        let now = home.workspaces.item_by_id(&id, &item.item_id).await.unwrap().unwrap();
        let words: Vec<&str> = now.content.split(' ').collect();
        let distinct: BTreeSet<&str> = words.iter().copied().collect();
        assert_eq!((words.len(), distinct.len(), now.version), (21, 21, 21), "{}", now.content);
    });
}

/// People join, save and set while the workspace is deleted, and the deleting process is killed at any request.
#[test]
fn nobody_is_in_a_workspace_that_is_not_there() {
    on_every_store(async |scene: Scene| {
        let kills: &[i64] = if scene.store == "embedded" { &[1, 2, 3, 4, 6, 9, 14, 1000] } else { &[3, 1000] };
        for requests in kills {
            let home = Home::open(&scene).await;
            let (id, owner) = home.founded("Kitchen").await;
            for number in 0..6 {
                home.saved(&id, &owner, &format!("item {number}")).await;
            }
            let invite = home.invited(&id, &owner, None).await;
            let mut acting = JoinSet::new();
            for _ in 0..4 {
                let (home, id, code) = (home.clone(), id.clone(), invite.code.clone());
                acting.spawn(async move {
                    for _ in 0..3 {
                        let person = Uuid::fresh();
                        // Refused once the workspace is deleted.
                        drop(home.of(&person).join_by_invite(&code).await);
                        drop(home.of(&person).create_item(&id, "late", "text").await);
                        drop(home.of(&person).set_setting(&id, "late", &serde_json::json!(1)).await);
                    }
                });
            }
            let mortal: Arc<dyn Execute> = Arc::new(Mortal::new(home.host.store(), *requests));
            drop(home.through(mortal, &owner).delete_workspace(&id).await);
            acting.join_all().await;
            // Another instance resumes the cascade; if nothing had started, the owner retries.
            match home.of(&owner).delete_workspace(&id).await {
                Ok(())
                | Err(DeleteWorkspaceError::UnknownWorkspace | DeleteWorkspaceError::Failed(CallError::Forbidden)) => {}
                Err(error) => panic!("{error}"),
            }
            for _ in 0..4 {
                home.clock.advance(Duration::from_secs(120));
                home.workspaces.calls().resume_cascades().await.unwrap();
            }
            let left: Vec<_> = home.dump().await.into_keys().collect();
            assert!(left.is_empty(), "killed after {requests} requests: {left:?}");
        }
    });
}

/// Start of a program. Killed anywhere and restarted, it reaches the same state.
async fn begin(handle: &Workspaces, guest: &Workspaces, person: &Uuid, owner: &Uuid) -> Result<(), CallError> {
    let mine = keyform_workspaces::mine::my_workspaces(handle, owner, None).await?;
    let id = match mine.workspaces.first() {
        Some(workspace) => workspace.workspace_id.clone(),
        None => handle.create_workspace("Kitchen").await.map_err(failure)?.workspace_id,
    };
    let open = handle.invites_of_workspace(&id).await?;
    let code = match open.items.first() {
        Some(invite) => invite.code.clone(),
        None => {
            let input = CreateInviteInput { max_uses: Some(1), ..CreateInviteInput::new(id.clone()) };
            handle.create_invite(input).await.map_err(failure)?.code
        }
    };
    invitation::join(guest, person, &code).await.map_err(failure)?;
    if handle.items_of_workspace(&id).await?.items.is_empty() {
        guest.create_item(&id, "bread", "flour").await.map_err(failure)?;
    }
    Ok(())
}

fn failure(error: impl std::fmt::Display) -> CallError {
    CallError::Unexpected(error.to_string())
}

#[test]
fn a_program_that_is_killed_anywhere_goes_on() {
    on_embedded(async |scene: Scene| {
        for requests in 0.. {
            let home = Home::open(&scene).await;
            let (owner, guest) = (Uuid::fresh(), Uuid::fresh());
            let mortal = Arc::new(Mortal::new(home.host.store(), requests));
            let (dying, dying_guest) = (home.through(mortal.clone(), &owner), home.through(mortal.clone(), &guest));
            let first = begin(&dying, &dying_guest, &guest, &owner).await;
            assert_eq!(first.is_err(), mortal.is_dead(), "{first:?}");
            begin(&home.of(&owner), &home.of(&guest), &guest, &owner).await.unwrap();
            let dump = home.dump().await;
            let keys: Vec<&str> = dump.keys().map(|(_, sk)| sk.split('#').next().unwrap()).collect();
            assert_eq!(keys, ["INVITE", "ITEM", "MEMBER", "MEMBER", "WORKSPACE"], "killed after {requests} requests");
            if !mortal.is_dead() {
                assert!(requests > 8, "too few requests to mean anything: {requests}");
                return;
            }
        }
    });
}
