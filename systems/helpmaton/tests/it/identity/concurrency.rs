//! Invariants under concurrency, conflicts, lost answers and killed programs.

use std::sync::Arc;
use std::time::Duration;

use keyform::Execute;
use keyform_helpmaton::identity::caller_of;
use keyform_helpmaton::model::{Caller, SubscriptionId, UserId, WorkspaceId};
use keyform_helpmaton::permissions::Level;
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{eventually, on_every_store};
use tokio::task::JoinSet;

use super::support::{World, address, refusal};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Returns the same system on stores with frequent conflicts or lost answers.
fn troubled(world: &World) -> [World; 3] {
    let store = world.scene.host.store();
    [
        world.clone(),
        world.through(Arc::new(Contended::new(store.clone(), 3))),
        world.through(Arc::new(Lossy::new(store, 4))),
    ]
}

/// Runs a task for each number concurrently; returns the results.
async fn all_at_once<T: Send + 'static, W>(numbers: usize, make: impl Fn(usize) -> W) -> Vec<T>
where
    W: Future<Output = T> + Send + 'static,
{
    let tasks: JoinSet<T> = (0..numbers).map(make).collect();
    tasks.join_all().await
}

/// Returns the subscription of an address; retries lost answers, as clients do.
async fn subscribed(world: World, email: String) -> (UserId, SubscriptionId) {
    for _ in 0..9 {
        let Ok(user) = world.system.user_of_email(&email, None).await else { continue };
        let Ok(subscription) = world.system.subscription_of(&user.id).await else { continue };
        return (user.id, subscription.subscription_id);
    }
    panic!("answers are lost again and again");
}

async fn owners(world: &World, workspace: &WorkspaceId) -> (i64, i64) {
    let members = world.system.model.members_of_workspace(workspace).all().await.unwrap();
    let counted = members.iter().filter(|member| member.r#type == 3).count();
    let says = world.system.model.workspace_by_id(workspace).await.unwrap().unwrap().owners;
    (i64::try_from(counted).unwrap(), says)
}

/// Returns the number of taken seats and of available ones.
async fn seats(world: &World, subscription: &SubscriptionId) -> (i64, i64) {
    let seats = world.system.model.seats(subscription).all().await.unwrap();
    let left = world.system.model.subscription_by_id(subscription).await.unwrap().unwrap().users_left;
    (i64::try_from(seats.len()).unwrap(), left)
}

async fn people(world: &World, number: usize) -> Vec<Caller> {
    let mut people = Vec::new();
    for _ in 0..number {
        people.push(world.person("somebody").await);
    }
    people
}

#[test]
fn the_last_owner_stays() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let mut all = people(&world, 3).await;
        for person in &all {
            world.system.give_access(&ada, &workspace, &person.user_id, Level::Owner).await.unwrap();
        }
        all.push(ada);
        let worlds = troubled(&world);
        // Every owner leaves, steps down, and removes the next one.
        all_at_once(all.len() * 3, |number| {
            let (world, workspace) = (worlds[number % 3].clone(), workspace.clone());
            let (me, next) = (all[number % all.len()].clone(), all[(number + 1) % all.len()].clone());
            async move {
                let done = match number / 4 {
                    0 => world.system.remove_access(&me, &workspace, &me.user_id).await,
                    1 => world.system.change_access(&me, &workspace, &me.user_id, Level::Read).await,
                    _ => world.system.remove_access(&me, &workspace, &next.user_id).await,
                };
                done.is_ok()
            }
        })
        .await;
        let (counted, says) = owners(&world, &workspace).await;
        assert!(counted >= 1, "it has an owner");
        assert_eq!(counted, says);
    });
}

#[test]
fn an_address_is_one_user_with_one_subscription() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let worlds = troubled(&world);
        let email = address("ada");
        let wanted = |number: usize| subscribed(worlds[number % 3].clone(), email.clone());
        let mut found = all_at_once(8, wanted).await;
        found.dedup();
        assert_eq!(found.len(), 1, "{found:?}");
        let (user, first) = found.remove(0);

        // Closed, then requested by many concurrently.
        world.system.model.close_free_subscription(&first, &user).await.unwrap();
        let mut found = all_at_once(8, wanted).await;
        found.dedup();
        assert_eq!(found.len(), 1, "{found:?}");
        eventually(1, async || world.system.model.subscriptions_of_user(&user).all().await.unwrap().len()).await;
    });
}

#[test]
fn of_many_who_refresh_with_one_token_one_wins() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let worlds = troubled(&world);
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        let answers = all_at_once(8, |number| {
            // Not on the store that loses answers: a call that is repeated after the family has ended cannot succeed.
            let (world, token) = (worlds[number % 2].clone(), session.refresh_token.clone());
            async move { world.system.refresh(&token, None).await }
        })
        .await;
        let (won, lost): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!(won.len(), 1);
        assert!(lost.into_iter().all(|answer| refusal(answer) == "TokenReused"));
        let tokens = world.system.model.refresh_tokens_of_user(&user.id).all().await.unwrap();
        assert_eq!(tokens.len(), 2, "the first, and the one that took its place");
        let families = world.system.model.token_families(&user.id).all().await.unwrap();
        assert!(families.iter().all(|family| family.revoked_at.is_some()), "the reuse ended the family");
    });
}

#[test]
fn accepted_invitations_never_exceed_the_seats() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let subscription = world.subscription(&ada).await.subscription_id;
        let people = people(&world, 7).await;
        for person in &people {
            world.system.invite(&ada, &workspace, &person.email, Level::Read, None).await.unwrap();
        }
        let worlds = troubled(&world);
        // Each person accepts twice concurrently, and then once more without faults, because a lost answer may have
        // left a seat.
        all_at_once(14, |number| {
            let (world, person) = (worlds[number % 3].clone(), people[number / 2].clone());
            async move { world.system.accept_invitation(&person, &world.mailed(&person.email)).await.is_ok() }
        })
        .await;
        let members = async || world.system.model.members_of_workspace(&workspace).all().await.unwrap().len();
        let (taken, left) = seats(&world, &subscription).await;
        assert!(members().await <= 5 && left >= 0 && taken + left == 5, "{taken} {left}");
        for person in &people {
            let token = world.mailed(&person.email);
            world.system.accept_invitation(person, &token).await.map(drop).unwrap_or_default();
        }
        assert_eq!((members().await, seats(&world, &subscription).await), (5, (5, 0)));
    });
}

#[test]
fn seats_never_exceed_the_plan() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let subscription = world.subscription(&ada).await.subscription_id;
        let people = people(&world, 8).await;
        let worlds = troubled(&world);
        all_at_once(8, |number| {
            let (world, ada, workspace) = (worlds[number % 3].clone(), ada.clone(), workspace.clone());
            let person = people[number].user_id.clone();
            async move { world.system.give_access(&ada, &workspace, &person, Level::Write).await.is_ok() }
        })
        .await;
        let members = async || world.system.model.members_of_workspace(&workspace).all().await.unwrap().len();
        let (taken, left) = seats(&world, &subscription).await;
        assert!(members().await <= 5 && left >= 0 && taken + left == 5, "{taken} {left}");
        for person in &people {
            let given = world.system.ensure_access(&ada, &workspace, &person.user_id, Level::Write).await;
            given.map(drop).unwrap_or_default();
        }
        assert_eq!((members().await, seats(&world, &subscription).await), (5, (5, 0)));

        // Some leave while others join: every member has a seat.
        all_at_once(12, |number| {
            let (world, ada, workspace) = (worlds[number % 3].clone(), ada.clone(), workspace.clone());
            let person = people[number % 8].user_id.clone();
            async move {
                match number % 2 {
                    0 => world.system.remove_access(&ada, &workspace, &person).await.is_ok(),
                    _ => world.system.ensure_access(&ada, &workspace, &person, Level::Read).await.is_ok(),
                }
            }
        })
        .await;
        let (taken, left) = seats(&world, &subscription).await;
        assert_eq!(taken + left, 5, "nothing is lost");
        assert!(i64::try_from(members().await).unwrap() <= taken && left >= 0, "{taken} {left}");
    });
}

#[test]
fn a_strict_limit_is_never_exceeded_not_even_around_a_full_hour() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let now = world.system.now_millis();
        world.clock.set_millis(now - now.rem_euclid(3_600_000) + 3_600_000 - 1);
        let subscription = world.subscription(&world.person("ada").await).await.subscription_id;
        let worlds = troubled(&world);
        let admitted = all_at_once(4, |number| {
            let (world, subscription) = (worlds[number % 2].clone(), subscription.clone());
            async move {
                let mut admitted = 0;
                for turn in 0..15 {
                    if number == 0 && turn == 5 {
                        world.clock.advance(MINUTE);
                    }
                    admitted += i64::from(world.system.admit_request(&subscription).await.is_ok());
                }
                admitted
            }
        })
        .await;
        let counted: i64 = admitted.into_iter().sum();
        // Every admitted call is counted.
        eventually(counted, async || world.system.requests_of_day(&subscription).await.unwrap()).await;
        assert!(counted <= 50, "{counted}");
        while world.system.admit_request(&subscription).await.is_ok() {}
        eventually(50, async || world.system.requests_of_day(&subscription).await.unwrap()).await;
    });
}

#[test]
fn kills_leave_nothing_that_the_next_call_or_the_hourly_job_does_not_mend() {
    on_every_store(async |scene| {
        if scene.store == "extenddb" {
            return;
        }
        let world = World::on(scene).await;
        let (ada, workspace) = world.pro("ada").await;
        let subscription = world.subscription(&ada).await.subscription_id;
        // After every request on the fast store, after every fifth on the others.
        let step = if world.scene.store == "embedded" { 1 } else { 5 };
        for requests in (0..24).step_by(step) {
            let store: Arc<dyn Execute> = world.scene.host.store();
            let mortal = Arc::new(Mortal::new(store, requests));
            let doomed = world.through(mortal.clone());
            let person = address("somebody");
            let invited = doomed.system.invite(&ada, &workspace, &person, Level::Owner, None).await.is_ok();
            let token = if invited { Some(world.mailed(&person)) } else { None };
            if let Some(token) = &token {
                doomed.system.accept_invitation_as_guest(token, None).await.map(drop).unwrap_or_default();
            }
            // Another instance takes over.
            if let Some(token) = token {
                match world.system.accept_invitation_as_guest(&token, None).await {
                    Ok(_) => {}
                    refused => match refusal(refused).as_str() {
                        "AlreadyAccepted" => {}
                        // They were signed up before the program died, so they sign in by mail and accept.
                        "SignInFirst" => {
                            world.system.request_sign_in(&person).await.unwrap();
                            world.system.sign_in(&person, &world.mailed(&person), None).await.unwrap();
                            let user = world.system.user_named(&person).await.unwrap();
                            world.system.accept_invitation(&caller_of(&user), &token).await.unwrap();
                        }
                        other => panic!("{other}"),
                    },
                }
                let user = world.system.user_named(&person).await.unwrap();
                assert_eq!(world.system.level_of(&user.id, &workspace).await.unwrap(), Some(Level::Owner));
                let doomed = world.through(Arc::new(Mortal::new(world.scene.host.store(), requests % 5)));
                doomed.system.remove_access(&ada, &workspace, &user.id).await.map(drop).unwrap_or_default();
                if world.system.level_of(&user.id, &workspace).await.unwrap().is_some() {
                    world.system.remove_access(&ada, &workspace, &user.id).await.unwrap();
                }
            }
            let (counted, says) = owners(&world, &workspace).await;
            assert_eq!((counted, says), (1, 1), "after {requests} requests");
            world.clock.advance(HOUR * 2);
            world.system.keep_subscriptions().await.unwrap();
            assert_eq!(seats(&world, &subscription).await, (1, 4), "after {requests} requests");
        }
    });
}
