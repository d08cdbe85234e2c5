//! Every access pattern of the schema document, each in a test with its name. `docs/systems/discord.md` lists them, and
//! the last test compares this file with it.

use std::collections::BTreeSet;
use std::time::Duration;

use keyform::{CallError, EpochMs, Timestamp, Ulid};
use keyform_discord::account::LogIn;
use keyform_discord::gateway::What;
use keyform_discord::model::{
    AddReactionError, ConnectionId, CreateChannelInput, CreateInviteInput, DeleteMessageError, EditMessageError,
    InviteCode, JoinByInviteError, MembershipRole, Message, MessageId, PostMessageError, ServerId, TransferServerError,
    UpdateProfileInput, UserId,
};
use keyform_scenario::on_every_store;

use crate::support::{self, PASSWORD, World, world};

/// Patterns of the document, each with its test.
macro_rules! patterns {
    ($($document:literal => $test:ident),* $(,)?) => {
        const PATTERNS: &[(&str, fn())] = &[$(($document, $test)),*];
    };
}

patterns! {
    "Get user by ID" => get_user_by_id,
    "Get user by email (login)" => get_user_by_email_login,
    "Get server by ID" => get_server_by_id,
    "Get all servers (admin)" => get_all_servers_admin,
    "Get user's servers" => get_users_servers,
    "Get server's members" => get_servers_members,
    "Get server's channels" => get_servers_channels,
    "Channel counts of a user's servers" => channel_counts_of_a_users_servers,
    "Get channel by ID" => get_channel_by_id,
    "Get messages in channel (paginated)" => get_messages_in_channel_paginated,
    "Get messages after timestamp" => get_messages_after_timestamp,
    "Get message by ID (edit/delete)" => get_message_by_id_edit_delete,
    "Update/delete message" => update_delete_message,
    "Reactions" => reactions,
    "Get invite by code" => get_invite_by_code,
    "Get server's invites" => get_servers_invites,
    "Increment invite uses" => increment_invite_uses,
    "Get connections in channel" => get_connections_in_channel,
    "Get connection by ID (disconnect)" => get_connection_by_id_disconnect,
    "Get user's connections" => get_users_connections,
    "Cleanup on disconnect" => cleanup_on_disconnect,
    "Get user's last read for channel" => get_users_last_read_for_channel,
    "Get all users' read status for a channel" => get_all_users_read_status_for_a_channel,
    "Update last read" => update_last_read,
    "Check server membership" => check_server_membership,
    "Check if a user can access a channel" => check_if_a_user_can_access_a_channel,
    "Registration, log-in" => registration_log_in,
    "Stream, real-time updates" => stream_real_time_updates,
    "(implied) servers, channels, invites, presence" => implied_servers_channels_invites_presence,
}

fn a_ulid() -> Ulid {
    Ulid::fresh()
}

fn connection(name: &str) -> ConnectionId {
    ConnectionId::new(name).unwrap()
}

fn contents(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

#[test]
fn get_user_by_id() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let (ada, grace) = (world.user("ada").await, world.user("grace").await);
        let found = world.of(&ada).user_by_id(&ada.user_id).await.unwrap().unwrap();
        assert_eq!((found.email.as_str(), found.username.as_str(), found.avatar_url), ("ada@example.com", "ada", None));
        // Others see only the public profile, without the address.
        assert_eq!(world.of(&grace).user_by_id(&ada.user_id).await.unwrap_err(), CallError::Forbidden);
        let seen = world.of(&grace).profile(&ada.user_id).await.unwrap().unwrap();
        assert_eq!(seen.username, "ada");
        let both = world.of(&grace).users_by_id(&[ada.user_id.clone(), grace.user_id.clone()]).await.unwrap();
        assert_eq!(both.len(), 2);
        assert_eq!(world.code().user_by_id(&UserId::from(a_ulid())).await.unwrap(), None);
    });
}

#[test]
fn get_user_by_email_login() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let found = world.code().user_by_email(" Ada@Example.COM ").await.unwrap().unwrap();
        assert_eq!(found, ada);
        let credentials = world.code().credentials(&ada.user_id).await.unwrap().unwrap();
        assert!(credentials.password_hash.expose().starts_with("$argon2id$"));
        assert_eq!(world.code().user_by_email("nobody@example.com").await.unwrap(), None);
        assert_eq!(world.of(&ada).user_by_email("ada@example.com").await.unwrap_err(), CallError::Forbidden);
        assert_eq!(world.of(&ada).credentials(&ada.user_id).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn get_server_by_id() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let (ada, eve) = (world.user("ada").await, world.user("eve").await);
        let (server, _) = world.server(&ada, "Engines").await;
        let found = world.of(&ada).server_by_id(&server.server_id).await.unwrap().unwrap();
        assert_eq!((found.name.as_str(), &found.owner_id, found.channels), ("Engines", &ada.user_id, 1));
        assert_eq!(world.of(&eve).server_by_id(&server.server_id).await.unwrap_err(), CallError::Forbidden);
        assert_eq!(world.code().server_by_id(&ServerId::from(a_ulid())).await.unwrap(), None);
    });
}

#[test]
fn get_all_servers_admin() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let mut made = Vec::new();
        for number in 0..3 {
            made.push(world.server(&ada, &format!("Server {number}")).await.0.server_id);
        }
        let all = world.code().all_servers().all().await.unwrap();
        let listed: Vec<ServerId> = all.into_iter().map(|server| server.server_id).collect();
        assert_eq!(listed, made, "in the order in which they were made");
        assert_eq!(world.of(&ada).all_servers().await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn get_users_servers() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        world.server(&company.ada, "Looms").await;
        let mine = world.of(&company.ada).servers_of_user(&company.ada.user_id).await.unwrap();
        assert_eq!(mine.items.len(), 2);
        assert!(mine.items.iter().all(|membership| membership.role == MembershipRole::Owner));
        let hers = world.of(&company.grace).servers_of_user(&company.grace.user_id).await.unwrap();
        assert_eq!(hers.items.iter().map(|row| &row.server_id).collect::<Vec<_>>(), [&company.server]);
        assert_eq!(hers.items[0].role, MembershipRole::Member);
        let others = world.of(&company.grace).servers_of_user(&company.ada.user_id).await;
        assert_eq!(others.unwrap_err(), CallError::Forbidden);
        let new = world.user("new").await;
        assert!(world.of(&new).servers_of_user(&new.user_id).await.unwrap().items.is_empty());
    });
}

#[test]
fn get_servers_members() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        // A connection has the same index key, but is not a member.
        world.of(&company.grace).connect(&connection("c1"), &company.channel).await.unwrap();
        let members = world.of(&company.grace).members_of_server(&company.server).all().await.unwrap();
        let members: BTreeSet<&UserId> = members.iter().map(|member| &member.user_id).collect();
        assert_eq!(members, [&company.ada.user_id, &company.grace.user_id].into());
        let eve = world.user("eve").await;
        let asked = world.of(&eve).members_of_server(&company.server).await;
        assert_eq!(asked.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn get_servers_channels() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        world.invite(&company.ada, &company.server, None).await;
        let new = CreateChannelInput {
            topic: Some("cards".into()),
            ..CreateChannelInput::new(company.server.clone(), "looms")
        };
        let looms = world.of(&company.grace).create_channel(new).await.unwrap();
        let channels = world.of(&company.ada).channels_of_server(&company.server).all().await.unwrap();
        let names: Vec<&str> = channels.iter().map(|channel| channel.name.as_str()).collect();
        assert_eq!(names, ["general", "looms"], "in the order in which they were made, and nothing else of the server");
        assert_eq!(channels[1].topic.as_deref(), Some("cards"));
        let some = world
            .of(&company.ada)
            .channels_by_id(&company.server, std::slice::from_ref(&looms.channel_id))
            .await
            .unwrap();
        assert_eq!(some, [looms]);
        let eve = world.user("eve").await;
        assert_eq!(world.of(&eve).channels_of_server(&company.server).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn channel_counts_of_a_users_servers() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        for name in ["one", "two"] {
            let new = CreateChannelInput::new(company.server.clone(), name);
            world.of(&company.ada).create_channel(new).await.unwrap();
        }
        assert_eq!(world.of(&company.grace).channel_count(&company.server).await.unwrap(), 3);
        // The list of servers includes the number.
        let mine = world.service.list_my_servers(&company.grace.user_id, Default::default()).await.unwrap();
        assert_eq!(mine.items.iter().map(|server| server.channels).collect::<Vec<_>>(), [3]);
        world.of(&company.ada).delete_channel(&company.server, &company.channel).await.unwrap();
        assert_eq!(world.of(&company.grace).channel_count(&company.server).await.unwrap(), 2);
        let server = world.of(&company.ada).server_by_id(&company.server).await.unwrap().unwrap();
        assert_eq!(server.channels, 2);
    });
}

#[test]
fn get_channel_by_id() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        // Read marks have the same index key.
        let message = world.post(&company.ada, &company.channel, "hello").await;
        mark(&world, &company.grace, &message).await;
        let channel = world.of(&company.grace).channel_by_id(&company.channel).await.unwrap().unwrap();
        assert_eq!((channel.name.as_str(), &channel.server_id), ("general", &company.server));
        let eve = world.user("eve").await;
        assert_eq!(world.of(&eve).channel_by_id(&company.channel).await.unwrap_err(), CallError::Forbidden);
        assert_eq!(world.code().channel_by_id(&a_ulid().into()).await.unwrap(), None);
    });
}

#[test]
fn get_messages_in_channel_paginated() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        for number in 0..53 {
            scene.clock.advance(Duration::from_millis(number % 2));
            world.post(&company.ada, &company.channel, &format!("message {number}")).await;
        }
        let grace = world.of(&company.grace);
        let first = grace.messages(&company.channel).await.unwrap();
        assert_eq!((first.items.len(), first.items[0].content.as_str()), (50, "message 52"));
        let second = grace.messages(&company.channel).after(first.cursor.unwrap()).await.unwrap();
        assert_eq!(contents(&second.items), ["message 2", "message 1", "message 0"]);
        assert_eq!(second.cursor, None);
        let eve = world.user("eve").await;
        assert_eq!(world.of(&eve).messages(&company.channel).await.unwrap_err(), CallError::Forbidden);
        assert_eq!(grace.messages(&company.channel).after("made up").await.unwrap_err(), CallError::Cursor);
    });
}

#[test]
fn get_messages_after_timestamp() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let mut times = Vec::new();
        for text in ["one", "two", "three"] {
            times.push(world.post(&company.ada, &company.channel, text).await.created_at);
            // Two messages of the same millisecond, then another time.
            world.post(&company.ada, &company.channel, &format!("{text} again")).await;
            scene.clock.advance(Duration::from_millis(1));
        }
        world.of(&company.grace).connect(&connection("c1"), &company.channel).await.unwrap();
        let after = async |time| world.of(&company.grace).messages_after(&company.channel, time).all().await.unwrap();
        assert_eq!(contents(&after(times[0]).await), ["two", "two again", "three", "three again"]);
        assert_eq!(contents(&after(times[1]).await), ["three", "three again"]);
        assert!(after(times[2]).await.is_empty());
    });
}

#[test]
fn get_message_by_id_edit_delete() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let message = world.post(&company.ada, &company.channel, "hello").await;
        assert_eq!(world.code().message_by_id(&message.message_id).await.unwrap(), Some(message.clone()));
        assert_eq!(world.code().message_by_id(&MessageId::from(a_ulid())).await.unwrap(), None);
        let asked = world.of(&company.ada).message_by_id(&message.message_id).await;
        assert_eq!(asked.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn update_delete_message() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let (ada, grace) = (world.of(&company.ada), world.of(&company.grace));
        let message = world.post(&company.grace, &company.channel, "helo").await;
        assert!(!message.edited && message.edited_at.is_none());
        let (channel, at, id) = (&company.channel, message.created_at, &message.message_id);
        scene.clock.advance(Duration::from_secs(60));
        assert_eq!(ada.edit_message(channel, at, id, "mine").await.unwrap_err(), EditMessageError::NotTheAuthor);
        let edited = grace.edit_message(channel, at, id, "hello").await.unwrap();
        assert_eq!((edited.content.as_str(), edited.edited), ("hello", true));
        assert_eq!(edited.edited_at, Some(edited.updated_at));
        assert!(edited.updated_at > edited.created_at && edited.created_at == at);
        assert_eq!(ada.delete_message(channel, at, id).await.unwrap_err(), DeleteMessageError::NotTheAuthor);
        grace.delete_message(channel, at, id).await.unwrap();
        assert_eq!(grace.delete_message(channel, at, id).await.unwrap_err(), DeleteMessageError::UnknownMessage);
        assert_eq!(grace.edit_message(channel, at, id, "x").await.unwrap_err(), EditMessageError::UnknownMessage);
        // The server's owner may delete messages of others.
        let other = world.post(&company.grace, channel, "spam").await;
        let denied = grace.remove_message(channel, other.created_at, &other.message_id).await;
        assert!(denied.is_err());
        ada.remove_message(channel, other.created_at, &other.message_id).await.unwrap();
        assert!(grace.messages(channel).await.unwrap().items.is_empty());
    });
}

#[test]
fn reactions() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let message = world.post(&company.ada, &company.channel, "hello").await;
        let (channel, at, id) = (&company.channel, message.created_at, &message.message_id);
        let react = async |user, emoji: &str| world.of(user).add_reaction(channel, at, id, emoji).await.unwrap();
        react(&company.ada, "👍").await;
        react(&company.grace, "👍").await;
        let twice = react(&company.grace, "👍").await;
        assert_eq!(twice.reactions["👍"].len(), 2, "twice is once");
        let both = react(&company.grace, "🎉").await;
        assert_eq!(both.reactions.len(), 2);
        let left = world.of(&company.ada).remove_reaction(channel, at, id, "👍").await.unwrap();
        assert_eq!(left.reactions["👍"].len(), 1);
        let eve = world.user("eve").await;
        let denied = world.of(&eve).add_reaction(channel, at, id, "👍").await.unwrap_err();
        assert_eq!(denied, AddReactionError::Failed(CallError::Forbidden));
        let gone = MessageId::from(a_ulid());
        let unknown = world.of(&company.ada).add_reaction(channel, at, &gone, "👍").await.unwrap_err();
        assert_eq!(unknown, AddReactionError::UnknownMessage);
    });
}

#[test]
fn get_invite_by_code() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let invite = world.invite(&company.ada, &company.server, Some(3)).await;
        let found = world.of(&company.grace).invite_by_code(&invite.invite_code).await.unwrap().unwrap();
        assert_eq!(found, invite);
        assert_eq!((found.max_uses, found.uses, found.expires_at), (Some(3), 0, None));
        let unknown = InviteCode::new("nobodyknows").unwrap();
        assert_eq!(world.of(&company.grace).invite_by_code(&unknown).await.unwrap(), None);
    });
}

#[test]
fn get_servers_invites() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let invite = world.invite(&company.grace, &company.server, None).await;
        let (other, _) = world.server(&company.ada, "Looms").await;
        world.invite(&company.ada, &other.server_id, None).await;
        let invites = world.of(&company.grace).invites_of_server(&company.server).all().await.unwrap();
        assert_eq!(invites.len(), 2, "the one that let Grace in, and hers");
        assert!(
            invites
                .iter()
                .any(|known| known.invite_code == invite.invite_code && known.created_by == company.grace.user_id)
        );
        let denied = world.of(&company.grace).invites_of_server(&other.server_id).await;
        assert_eq!(denied.unwrap_err(), CallError::Forbidden);
        world.of(&company.ada).revoke_invite(&company.server, &invite.invite_code).await.unwrap();
        assert_eq!(world.code().invite_by_code(&invite.invite_code).await.unwrap(), None);
    });
}

#[test]
fn increment_invite_uses() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let (server, _) = world.server(&ada, "Engines").await;
        let (grace, eve, joan) = (world.user("grace").await, world.user("eve").await, world.user("joan").await);
        let once = world.invite(&ada, &server.server_id, Some(1)).await.invite_code;
        world.of(&grace).join_by_invite(&once).await.unwrap();
        world.of(&grace).join_by_invite(&once).await.unwrap();
        let used = world.code().invite_by_code(&once).await.unwrap().unwrap();
        assert_eq!(used.uses, 1, "who is a member already uses nothing up");
        assert_eq!(world.of(&eve).join_by_invite(&once).await.unwrap_err(), JoinByInviteError::InviteUsedUp);
        assert_eq!(world.code().membership(&eve.user_id, &server.server_id).await.unwrap(), None);
        let endless = world.invite(&ada, &server.server_id, None).await.invite_code;
        world.of(&eve).join_by_invite(&endless).await.unwrap();
        let until = Timestamp::of_millis(keyform::World::now_millis(&scene.clock)) + Duration::from_secs(60);
        let soon = CreateInviteInput { expires_at: Some(until), ..CreateInviteInput::new(server.server_id.clone()) };
        let soon = world.of(&ada).create_invite(soon).await.unwrap().invite_code;
        scene.clock.advance(Duration::from_secs(61));
        assert_eq!(world.of(&joan).join_by_invite(&soon).await.unwrap_err(), JoinByInviteError::InviteExpired);
        let unknown = InviteCode::new("nobodyknows").unwrap();
        assert_eq!(world.of(&joan).join_by_invite(&unknown).await.unwrap_err(), JoinByInviteError::UnknownInvite);
    });
}

#[test]
fn get_connections_in_channel() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        world.post(&company.ada, &company.channel, "hello").await;
        world.of(&company.ada).connect(&connection("c-ada"), &company.channel).await.unwrap();
        world.of(&company.grace).connect(&connection("c-grace"), &company.channel).await.unwrap();
        let listening = async || world.of(&company.ada).connections_in_channel(&company.channel).all().await.unwrap();
        assert_eq!(listening().await.len(), 2, "and no message among them");
        // One connection is renewed, the other is not.
        scene.clock.advance(Duration::from_secs(400));
        world.service.keep_connected(&company.ada.user_id, &connection("c-ada")).await.unwrap();
        scene.clock.advance(Duration::from_secs(400));
        let left = listening().await;
        assert_eq!(left.iter().map(|row| row.connection_id.as_str()).collect::<Vec<_>>(), ["c-ada"]);
        let eve = world.user("eve").await;
        assert_eq!(world.of(&eve).connections_in_channel(&company.channel).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn get_connection_by_id_disconnect() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let new = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(new).await.unwrap();
        for channel in [&company.channel, &looms.channel_id] {
            world.of(&company.ada).connect(&connection("c1"), channel).await.unwrap();
        }
        let rows = world.code().connection_by_id(&connection("c1")).all().await.unwrap();
        let channels: BTreeSet<_> = rows.iter().map(|row| &row.channel_id).collect();
        assert_eq!(channels, [&company.channel, &looms.channel_id].into(), "a row for each channel");
        assert!(world.code().connection_by_id(&connection("c2")).all().await.unwrap().is_empty());
    });
}

#[test]
fn get_users_connections() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        for name in ["c1", "c2"] {
            world.of(&company.grace).connect(&connection(name), &company.channel).await.unwrap();
        }
        world.of(&company.ada).connect(&connection("c3"), &company.channel).await.unwrap();
        let hers = world.of(&company.grace).connections_of_user(&company.grace.user_id).all().await.unwrap();
        assert_eq!(hers.iter().map(|row| row.connection_id.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
        let denied = world.of(&company.ada).connections_of_user(&company.grace.user_id).await;
        assert_eq!(denied.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn cleanup_on_disconnect() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let new = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(new).await.unwrap();
        for channel in [&company.channel, &looms.channel_id] {
            world.of(&company.ada).connect(&connection("c1"), channel).await.unwrap();
        }
        world.of(&company.grace).connect(&connection("c2"), &company.channel).await.unwrap();
        world.code().disconnect(&connection("c1")).await.unwrap();
        world.code().disconnect(&connection("c1")).await.unwrap();
        assert!(world.code().connection_by_id(&connection("c1")).all().await.unwrap().is_empty());
        let online = world.of(&company.ada).online_in_server(&company.server).all().await.unwrap();
        assert_eq!(support::ids(online.iter().map(|row| &row.user_id)), support::ids([&company.grace.user_id]));
    });
}

async fn mark(
    world: &World,
    user: &keyform_discord::model::User,
    message: &Message,
) -> Option<keyform_discord::model::LastRead> {
    let at = EpochMs::from(message.created_at);
    world.of(user).mark_read(&message.channel_id, &message.message_id.clone().into(), at).await.unwrap()
}

#[test]
fn get_users_last_read_for_channel() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let grace = world.of(&company.grace);
        assert_eq!(grace.last_read(&company.grace.user_id, &company.channel).await.unwrap(), None);
        let first = world.post(&company.ada, &company.channel, "one").await;
        for text in ["two", "three"] {
            world.post(&company.ada, &company.channel, text).await;
        }
        world.post(&company.grace, &company.channel, "mine").await;
        mark(&world, &company.grace, &first).await;
        let known = grace.last_read(&company.grace.user_id, &company.channel).await.unwrap().unwrap();
        assert_eq!(known.last_read_message_id, first.message_id.clone().into());
        assert_eq!(grace.last_reads(&company.grace.user_id).all().await.unwrap(), std::slice::from_ref(&known));
        let unread = grace.unread_count(&company.channel, known.last_read_timestamp, &known.last_read_message_id);
        assert_eq!(unread.await.unwrap(), 2, "those of others in the same millisecond count, one's own do not");
        let denied = world.of(&company.ada).last_read(&company.grace.user_id, &company.channel).await;
        assert_eq!(denied.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn get_all_users_read_status_for_a_channel() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let message = world.post(&company.ada, &company.channel, "one").await;
        mark(&world, &company.ada, &message).await;
        mark(&world, &company.grace, &message).await;
        let readers = world.of(&company.ada).readers_of_channel(&company.channel).all().await.unwrap();
        let readers: BTreeSet<_> = readers.into_iter().map(|mark| mark.user_id).collect();
        assert_eq!(readers, [company.ada.user_id.clone(), company.grace.user_id.clone()].into());
        let eve = world.user("eve").await;
        assert_eq!(world.of(&eve).readers_of_channel(&company.channel).await.unwrap_err(), CallError::Forbidden);
    });
}

#[test]
fn update_last_read() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let first = world.post(&company.ada, &company.channel, "one").await;
        scene.clock.advance(Duration::from_millis(5));
        let second = world.post(&company.ada, &company.channel, "two").await;
        assert!(mark(&world, &company.grace, &second).await.is_some());
        // An older mark is ignored silently.
        mark(&world, &company.grace, &first).await;
        let grace = world.of(&company.grace);
        let known = grace.last_read(&company.grace.user_id, &company.channel).await.unwrap().unwrap();
        assert_eq!(known.last_read_message_id, second.message_id.into());
    });
}

#[test]
fn check_server_membership() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let eve = world.user("eve").await;
        let found = world.of(&company.ada).membership(&company.grace.user_id, &company.server).await.unwrap().unwrap();
        assert_eq!(found.role, MembershipRole::Member);
        assert_eq!(world.of(&eve).membership(&eve.user_id, &company.server).await.unwrap(), None);
        let denied = world.of(&eve).membership(&company.grace.user_id, &company.server).await;
        assert_eq!(denied.unwrap_err(), CallError::Forbidden);
        // Takes effect immediately.
        world.of(&company.grace).leave_server(&company.server).await.unwrap();
        assert_eq!(world.code().membership(&company.grace.user_id, &company.server).await.unwrap(), None);
    });
}

#[test]
fn check_if_a_user_can_access_a_channel() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let eve = world.user("eve").await;
        assert!(world.of(&company.grace).messages(&company.channel).await.is_ok());
        assert_eq!(world.of(&eve).messages(&company.channel).await.unwrap_err(), CallError::Forbidden);
        let refused = world.of(&eve).post_message(&company.channel, "hello").await.unwrap_err();
        assert_eq!(refused, PostMessageError::Failed(CallError::Forbidden));
        world.of(&company.ada).remove_member(&company.grace.user_id, &company.server).await.unwrap();
        assert_eq!(world.of(&company.grace).messages(&company.channel).await.unwrap_err(), CallError::Forbidden);
        // A missing channel looks like an inaccessible one.
        let nowhere = world.of(&company.ada).post_message(&a_ulid().into(), "hello").await.unwrap_err();
        assert_eq!(nowhere, PostMessageError::Failed(CallError::Forbidden));
    });
}

#[test]
fn registration_log_in() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let who = LogIn { email: "ADA@example.com".to_owned(), password: PASSWORD.to_owned().into() };
        let session = world.service.log_in(who).await.unwrap();
        assert_eq!(session.user, ada);
        assert!(session.token.is_some());
        let picture = UpdateProfileInput {
            avatar_url: Some("https://example.com/ada.png".into()),
            ..UpdateProfileInput::new("Ada L.")
        };
        let renamed = world.of(&ada).update_profile(picture).await.unwrap();
        assert_eq!((renamed.username.as_str(), renamed.user_id), ("Ada L.", ada.user_id));
    });
}

#[test]
fn stream_real_time_updates() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let ada = &company.ada.user_id;
        let name = world.service.mailboxes().name("ada").unwrap();
        world.service.mailboxes().open(&name, ada);
        world.of(&company.ada).connect(&name, &company.channel).await.unwrap();
        let mut following = world.service.gateway().follow(keyform::live::feed::From::Now).await.unwrap();
        let message = world.post(&company.grace, &company.channel, "hello").await;
        mark(&world, &company.grace, &message).await;
        // A store without notifications reports changes after a while, so poll.
        let heard = loop {
            following.catch_up().await.unwrap();
            let heard = world.service.mailboxes().take(&name, ada, 0, Duration::ZERO).await.unwrap();
            if !heard.is_empty() {
                break heard;
            }
        };
        let what: Vec<&What> = heard.iter().map(|heard| &heard.event.what).collect();
        assert_eq!(what, [&What::MessageCreated { message: Box::new(message) }], "read marks are not delivered");
    });
}

#[test]
fn implied_servers_channels_invites_presence() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let (ada, grace) = (world.of(&company.ada), world.of(&company.grace));
        // The owner cannot leave before transferring the server; the transfer changes the server and both memberships.
        assert!(ada.leave_server(&company.server).await.is_err());
        let eve = world.user("eve").await;
        assert_eq!(
            ada.transfer_server(&company.server, &eve.user_id).await.unwrap_err(),
            TransferServerError::NotAMember
        );
        let server = ada.transfer_server(&company.server, &company.grace.user_id).await.unwrap();
        assert_eq!(server.owner_id, company.grace.user_id);
        let roles = grace.members_of_server(&company.server).all().await.unwrap();
        let owners: Vec<_> =
            roles.iter().filter(|row| row.role == MembershipRole::Owner).map(|row| &row.user_id).collect();
        assert_eq!(owners, [&company.grace.user_id]);
        ada.leave_server(&company.server).await.unwrap();
        // Presence: one row per channel, visible from the user's and the server's side.
        grace.connect(&connection("c1"), &company.channel).await.unwrap();
        let new = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = grace.create_channel(new).await.unwrap();
        grace.switch_channel(&connection("c1"), &company.channel, &looms.channel_id).await.unwrap();
        let online = grace.online_in_server(&company.server).all().await.unwrap();
        assert_eq!(online.iter().map(|row| &row.channel_id).collect::<Vec<_>>(), [&looms.channel_id]);
        let hers = grace.presence_of(&company.server, &company.grace.user_id).all().await.unwrap();
        assert_eq!(hers, online);
        assert!(grace.connections_in_channel(&company.channel).await.unwrap().items.is_empty());
    });
}

#[test]
fn every_pattern_of_the_document_has_its_test() {
    let page = include_str!("../../../../docs/systems/discord.md");
    let table = page.split("## From the document to the model").nth(1).unwrap().split("## ").next().unwrap();
    let rows =
        table.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(2)).map(str::trim);
    let described: BTreeSet<&str> = rows.filter(|row| *row != "document").collect();
    let tested: BTreeSet<&str> = PATTERNS.iter().map(|(document, _)| *document).collect();
    assert_eq!(described, tested);
    assert_eq!(described.len(), PATTERNS.len());
}
