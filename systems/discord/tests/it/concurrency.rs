//! Invariants under concurrency, conflicts, lost answers and killed programs: an invite is never used more often than
//! allowed, no reaction is lost, unread counts are right, and an address has one account.

use std::sync::Arc;

use keyform::FromAttributes as _;
use keyform::flow::FlowError;
use keyform::runtime::run::{Call, Caller};
use keyform::{AttributeValue, CallError, EpochMs, ErrorCode, Execute};
use keyform_discord::model::{
    AddReactionError, ChannelId, CreateInviteInput, CreateServerInput, JoinByInviteError, Message, ServerId, User,
    UserId,
};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{Scene, on_every_store};
use tokio::task::JoinSet;

use crate::support::{World, registration, world};

/// Returns the same chat on a store with transaction conflicts and lost answers.
fn unsteady(world: &World) -> Arc<World> {
    let store: Arc<dyn Execute> = Arc::new(Contended::new(world.scene.host.store(), 5));
    Arc::new(world.through(Arc::new(Lossy::new(store, 7))))
}

/// Returns whether to retry: the call lost to concurrent writers, or its outcome is unknown.
fn is_unsure(error: &CallError) -> bool {
    match error {
        CallError::Busy | CallError::Unknown(_) => true,
        CallError::Store(error) => error.code() == ErrorCode::InternalServer,
        _ => false,
    }
}

/// Posts with an idempotency key until it is confirmed; posts once.
async fn post_once(world: &World, author: &User, channel: &ChannelId, text: &str) -> Message {
    let text_of = |text: &str| AttributeValue::from(text);
    let call = Call {
        arguments: [("channelId".to_owned(), text_of(channel.as_str())), ("content".to_owned(), text_of(text))].into(),
        caller: Caller::Claims([("userId".to_owned(), text_of(author.user_id.as_str()))].into()),
        ..Call::default()
    };
    loop {
        match world.code().calls().runner().write_once("postMessage", &call, text).await {
            Ok(found) => return Message::from_attributes(found.unwrap().fields).unwrap(),
            Err(error) => {
                let error = CallError::from(error);
                assert!(is_unsure(&error), "{error}");
            }
        }
    }
}

async fn all<T: Send + 'static>(work: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>) -> Vec<T> {
    let mut tasks = JoinSet::new();
    for work in work {
        tasks.spawn(work);
    }
    tasks.join_all().await
}

#[test]
fn an_invite_is_never_used_more_often_than_it_allows() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let (server, _) = world.server(&ada, "Engines").await;
        let invite = world.invite(&ada, &server.server_id, Some(4)).await.invite_code;
        let mut guests = Vec::new();
        for number in 0..10 {
            guests.push(world.user(&format!("guest{number}")).await);
        }
        let unsteady = unsteady(&world);
        // Every guest clicks twice.
        let clicks = guests.iter().chain(&guests).map(|guest| {
            let (world, guest, code) = (unsteady.clone(), guest.clone(), invite.clone());
            async move {
                loop {
                    match world.of(&guest).join_by_invite(&code).await {
                        Ok(_) => return true,
                        Err(JoinByInviteError::InviteUsedUp) => return false,
                        Err(JoinByInviteError::Failed(error)) if is_unsure(&error) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        all(clicks).await;
        let uses = world.code().invite_by_code(&invite).await.unwrap().unwrap().uses;
        let members = world.code().members_of_server(&server.server_id).all().await.unwrap().len();
        assert_eq!((uses, members), (4, 5), "as many uses as allowed, and a member for each");
    });
}

#[test]
fn no_reaction_is_lost() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let (server, channel) = world.server(&ada, "Engines").await;
        let message = world.post(&ada, &channel.channel_id, "vote").await;
        let mut voters = Vec::new();
        for number in 0..8 {
            let voter = world.user(&format!("voter{number}")).await;
            world.join(&ada, &server.server_id, &voter).await;
            voters.push(voter);
        }
        let unsteady = unsteady(&world);
        let clicks = voters.iter().flat_map(|voter| ["👍", "🎉", "🚀"].map(|emoji| (voter.clone(), emoji)));
        let clicks = clicks.map(|(voter, emoji)| {
            let (world, message) = (unsteady.clone(), message.clone());
            async move { react(&world, &voter, &message, emoji).await }
        });
        all(clicks).await;
        let seen = world.of(&ada).messages(&channel.channel_id).await.unwrap().items.remove(0);
        assert_eq!(seen.reactions.values().map(|users| users.len()).collect::<Vec<_>>(), [8, 8, 8]);
    });
}

async fn react(world: &World, voter: &User, message: &Message, emoji: &str) {
    loop {
        let (channel, at, id) = (&message.channel_id, message.created_at, &message.message_id);
        match world.of(voter).add_reaction(channel, at, id, emoji).await {
            Ok(_) => return,
            Err(AddReactionError::Failed(error)) if is_unsure(&error) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn unread_counts_are_right_while_everybody_writes() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        world.code().calls().runner().create_answer_table().await.unwrap();
        let unsteady = unsteady(&world);
        let writers = [&company.ada, &company.grace].into_iter().cycle().take(24).enumerate();
        let posts = writers.map(|(number, writer)| {
            let (world, writer, channel) = (unsteady.clone(), writer.clone(), company.channel.clone());
            async move { post_once(&world, &writer, &channel, &format!("message {number}")).await }
        });
        let mut posted = all(posts).await;
        posted.sort_by_key(|message| (message.created_at, message.message_id.clone()));
        let listed = world.of(&company.grace).messages(&company.channel).all().await.unwrap();
        assert_eq!(listed.len(), 24, "each once, although answers were lost");
        // Marks arrive in any order, and the latest one wins.
        let marks = posted[..12].iter().rev().map(|message| {
            let (world, grace, message) = (unsteady.clone(), company.grace.clone(), message.clone());
            async move {
                let at = EpochMs::from(message.created_at);
                loop {
                    let id = message.message_id.clone().into();
                    match world.of(&grace).mark_read(&message.channel_id, &id, at).await {
                        Ok(_) => return,
                        Err(keyform_discord::model::MarkReadError::Failed(error)) if is_unsure(&error) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        all(marks).await;
        let unread = posted[12..].iter().filter(|message| message.user_id == company.ada.user_id).count();
        let badges = world.service.unread_badges(&company.grace.user_id, Default::default()).await.unwrap();
        assert_eq!(badges.iter().map(|badge| badge.unread).collect::<Vec<_>>(), [unread]);
    });
}

#[test]
fn an_address_has_one_account_however_many_register_at_once() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let unsteady = unsteady(&world);
        let tries = (0..8).map(|number| {
            let world = unsteady.clone();
            let mut who = registration("ada");
            who.username = format!("ada {number}");
            let key = format!("key {number} {}", who.username);
            async move {
                loop {
                    match world.service.register(who.clone(), Some(&key)).await {
                        Ok(session) => return Some(session.user.user_id),
                        Err(FlowError::Refused { .. }) => return None,
                        Err(FlowError::Failed(error)) => assert!(is_unsure(&error.into())),
                        Err(error) => panic!("{error}"),
                    }
                }
            }
        });
        let registered: Vec<UserId> = all(tries).await.into_iter().flatten().collect();
        let ada = world.code().user_by_email("ada@example.com").await.unwrap().unwrap();
        assert_eq!(registered, std::slice::from_ref(&ada.user_id), "the first call, also if its answer was lost");
        assert!(world.code().credentials(&ada.user_id).await.unwrap().is_some());
    });
}

/// Typical use of a server, until the program is killed.
async fn evening(world: &World, ada: &User, grace: &User) -> Option<()> {
    let server = world.of(ada).create_server(CreateServerInput::new("Engines")).await.ok()?.server_id;
    let channels = world.of(ada).channels_of_server(&server).await.ok()?;
    let channel = &channels.items.first()?.channel_id;
    let invite = CreateInviteInput { max_uses: Some(1), ..CreateInviteInput::new(server.clone()) };
    let invite = world.of(ada).create_invite(invite).await.ok()?.invite_code;
    world.of(grace).join_by_invite(&invite).await.ok()?;
    let message = world.of(grace).post_message(channel, "hello").await.ok()?;
    let connection = world.service.mailboxes().name("evening").ok()?;
    world.of(grace).connect(&connection, channel).await.ok()?;
    world.of(ada).add_reaction(channel, message.created_at, &message.message_id, "👍").await.ok()?;
    world.of(grace).leave_server(&server).await.ok()?;
    Some(())
}

/// Checks that no part of a server is missing.
async fn check_server(world: &World, server: &ServerId, ada: &User) {
    let found = world.code().server_by_id(server).await.unwrap().unwrap();
    let channels = world.code().channel_count(server).await.unwrap();
    assert_eq!(u64::try_from(found.channels).unwrap(), channels);
    let members = world.code().members_of_server(server).all().await.unwrap();
    assert!(members.iter().any(|member| member.user_id == ada.user_id));
    let invites = world.code().invites_of_server(server).all().await.unwrap();
    let uses: i64 = invites.iter().map(|invite| invite.uses).sum();
    assert!(uses <= 1 && i64::try_from(members.len()).unwrap() <= 1 + uses, "{uses} uses, {} members", members.len());
    let online = world.code().online_in_server(server).all().await.unwrap();
    for row in &online {
        let rows = world.code().connections_in_channel(&row.channel_id).all().await.unwrap();
        assert_eq!(rows.len(), online.len(), "a connection is there from both sides, or not at all");
    }
}

#[test]
fn a_program_that_is_killed_leaves_nothing_by_half() {
    on_every_store(async |scene: Scene| {
        let world = world(&scene).await;
        let (ada, grace) = (world.user("ada").await, world.user("grace").await);
        let mut finished = 0;
        for requests in 1..40 {
            let mortal = Arc::new(Mortal::new(world.scene.host.store(), requests));
            if evening(&world.through(mortal), &ada, &grace).await.is_some() {
                finished += 1;
                break;
            }
        }
        assert_eq!(finished, 1, "with enough requests it comes to its end");
        for membership in world.of(&ada).servers_of_user(&ada.user_id).all().await.unwrap() {
            check_server(&world, &membership.server_id, &ada).await;
        }
    });
}
