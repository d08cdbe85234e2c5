//! Flows called from code: accounts, lists, badges, search, connections, sample data; refusals and expiry.

use std::sync::Arc;
use std::time::Duration;

use keyform::flow::FlowError;
use keyform::{EpochMs, Secret};
use keyform_discord::account::{LogIn, PasswordChange};
use keyform_discord::connections::Hear;
use keyform_discord::gateway::What;
use keyform_discord::model::{CreateChannelInput, User, UserId};
use keyform_discord::search::Search;
use keyform_discord::servers::{MyServers, OfServer};
use keyform_discord::unread::Badges;
use keyform_scenario::{Counting, on_embedded, on_every_store};

use crate::support::{PASSWORD, World, registration, world};

/// Returns the outcome name of a refusal.
fn refusal<T: std::fmt::Debug>(answer: Result<T, FlowError>) -> String {
    match answer.unwrap_err() {
        FlowError::Refused { outcome, .. } => outcome,
        other => format!("{other:?}"),
    }
}

fn secret(text: &str) -> Secret<String> {
    Secret::new(text.to_owned())
}

async fn log_in(world: &World, email: &str, password: &str) -> Result<UserId, FlowError> {
    let session = world.service.log_in(LogIn { email: email.to_owned(), password: secret(password) }).await?;
    assert!(session.token.is_some());
    Ok(session.user.user_id)
}

#[test]
fn an_address_has_one_account_however_it_is_written() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let mut who = registration("ada");
        who.email = " Ada@Example.com".to_owned();
        who.username = "  Ada  ".to_owned();
        let session = world.service.register(who, None).await.unwrap();
        assert_eq!((session.user.email.as_str(), session.user.username.as_str()), ("ada@example.com", "Ada"));
        assert_eq!(refusal(world.service.register(registration("ada"), None).await), "EmailTaken");
        assert_eq!(log_in(&world, "ADA@EXAMPLE.COM", PASSWORD).await.unwrap(), session.user.user_id);
        for (email, username) in [("no address", "eve"), ("eve@example.com", "  "), ("eve@example.com", "a\u{1b}b")] {
            let mut wrong = registration("eve");
            (wrong.email, wrong.username) = (email.to_owned(), username.to_owned());
            let answer = world.service.register(wrong, None).await;
            assert!(matches!(answer, Err(FlowError::Arguments(_))), "{email} {username}");
        }
        let mut weak = registration("eve");
        weak.password = secret("1234567890");
        assert_eq!(refusal(world.service.register(weak, None).await), "WeakPassword");
    });
}

#[test]
fn a_registration_that_is_sent_again_is_the_same_account() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let first = world.service.register(registration("ada"), Some("key 1")).await.unwrap();
        let second = world.service.register(registration("ada"), Some("key 1")).await.unwrap();
        assert_eq!(first.user, second.user);
        assert_eq!(refusal(world.service.register(registration("ada"), Some("key 2")).await), "EmailTaken");
        let mut other = registration("ada");
        other.password = secret("another password");
        assert!(world.service.register(other, Some("key 1")).await.is_err());
        assert_eq!(log_in(&world, "ada@example.com", PASSWORD).await.unwrap(), first.user.user_id);
    });
}

#[test]
fn a_wrong_password_and_an_unknown_address_are_the_same_to_whoever_tries() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        world.user("ada").await;
        let counting = Arc::new(Counting::new(world.scene.host.store()));
        let counted = world.through(counting.clone());
        let mut tried = Vec::new();
        for email in ["ada@example.com", "nobody@example.com"] {
            counting.take();
            let answer = log_in(&counted, email, "a wrong password").await.unwrap_err();
            tried.push((answer.to_string(), counting.take()));
        }
        assert_eq!(tried[0], tried[1], "the same words after the same number of reads");
        assert!(tried[0].0.starts_with("WrongCredentials"), "{tried:?}");
    });
}

#[test]
fn a_password_is_changed_by_whoever_knows_it() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let change = async |password: &str, new: &str| {
            let change = PasswordChange { password: secret(password), new_password: secret(new) };
            world.service.change_my_password(&ada.user_id, change).await
        };
        assert_eq!(refusal(change("a wrong password", "another password").await), "WrongCredentials");
        assert_eq!(refusal(change(PASSWORD, "ada").await), "WeakPassword");
        change(PASSWORD, "another password").await.unwrap();
        assert_eq!(refusal(log_in(&world, "ada@example.com", PASSWORD).await), "WrongCredentials");
        assert_eq!(log_in(&world, "ada@example.com", "another password").await.unwrap(), ada.user_id);
        assert_eq!(world.service.me(&ada.user_id).await.unwrap(), ada);
        let nobody = UserId::from(keyform::Ulid::fresh());
        assert_eq!(refusal(world.service.me(&nobody).await), "UnknownUser");
    });
}

#[test]
fn lists_have_the_names_that_people_see() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let grace = &company.grace.user_id;
        let servers = world.service.list_my_servers(grace, MyServers::default()).await.unwrap();
        assert_eq!(servers.items.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["Engines"]);
        assert_eq!(servers.cursor, None);
        let listening = world.service.open_connection(&company.ada.user_id, &company.channel, None).await.unwrap();
        assert_eq!(listening.channel_ids, std::slice::from_ref(&company.channel));
        let of = || OfServer { server_id: company.server.clone(), cursor: None };
        let members = world.service.list_members(grace, of()).await.unwrap();
        let mut seen: Vec<(&str, bool)> =
            members.items.iter().map(|member| (member.username.as_str(), member.online)).collect();
        seen.sort_unstable();
        assert_eq!(seen, [("ada", true), ("grace", false)]);
        let overview = world.service.server_overview(grace, &company.server).await.unwrap();
        assert_eq!((overview.server.name.as_str(), overview.online), ("Engines", vec!["ada".to_owned()]));
        assert_eq!(overview.channels.iter().map(|channel| channel.name.as_str()).collect::<Vec<_>>(), ["general"]);
        let eve = world.user("eve").await;
        assert!(matches!(world.service.list_members(&eve.user_id, of()).await, Err(FlowError::Forbidden)));
        let denied = world.service.server_overview(&eve.user_id, &company.server).await;
        assert!(matches!(denied, Err(FlowError::Forbidden)));
        assert!(world.service.list_my_servers(&eve.user_id, MyServers::default()).await.unwrap().items.is_empty());
        world.service.gateway().stop().await;
    });
}

/// Returns the badges as names and numbers.
async fn badges(world: &World, user: &User) -> Vec<(String, usize, bool)> {
    let badges = world.service.unread_badges(&user.user_id, Badges::default()).await.unwrap();
    badges.into_iter().map(|badge| (badge.name, badge.unread, badge.more)).collect()
}

#[test]
fn badges_count_what_others_wrote_since_one_read_or_joined() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let ada = world.user("ada").await;
        let (server, channel) = world.server(&ada, "Engines").await;
        world.post(&ada, &channel.channel_id, "before anybody came").await;
        scene.clock.advance(Duration::from_secs(1));
        let grace = world.user("grace").await;
        world.join(&ada, &server.server_id, &grace).await;
        scene.clock.advance(Duration::from_secs(1));
        assert_eq!(badges(&world, &grace).await, [("general".to_owned(), 0, false)]);
        let first = world.post(&ada, &channel.channel_id, "one").await;
        world.post(&ada, &channel.channel_id, "two").await;
        world.post(&grace, &channel.channel_id, "her own").await;
        assert_eq!(badges(&world, &grace).await, [("general".to_owned(), 2, false)]);
        let at = EpochMs::from(first.created_at);
        world.of(&grace).mark_read(&channel.channel_id, &first.message_id.into(), at).await.unwrap();
        assert_eq!(badges(&world, &grace).await, [("general".to_owned(), 1, false)]);
        let looms = CreateChannelInput::new(server.server_id.clone(), "looms");
        let looms = world.of(&ada).create_channel(looms).await.unwrap();
        for number in 0..103 {
            world.post(&ada, &looms.channel_id, &format!("message {number}")).await;
        }
        let seen = badges(&world, &grace).await;
        assert_eq!(seen, [("general".to_owned(), 1, false), ("looms".to_owned(), 100, true)]);
        let eve = world.user("eve").await;
        let which = Badges { server_id: Some(server.server_id.clone()) };
        assert!(matches!(world.service.unread_badges(&eve.user_id, which).await, Err(FlowError::Forbidden)));
    });
}

#[test]
fn a_search_looks_at_a_bounded_number_of_messages_and_goes_on_where_it_stopped() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        world.post(&company.ada, &company.channel, "The LOOM weaves").await;
        for number in 0..510 {
            if number % 100 == 0 {
                world.post(&company.grace, &company.channel, &format!("no loom {number}")).await;
            } else if scene.store == "embedded" {
                world.post(&company.grace, &company.channel, "flowers and leaves").await;
            }
        }
        let search = async |user: &User, text: &str, author: Option<&UserId>, cursor: Option<String>| {
            let search =
                Search { channel_id: company.channel.clone(), text: text.to_owned(), user_id: author.cloned(), cursor };
            world.service.search_messages(&user.user_id, search).await
        };
        let first = search(&company.grace, " loom ", None, None).await.unwrap();
        if scene.store == "embedded" {
            assert_eq!((first.items.len(), first.examined), (5, 500));
            let rest = search(&company.grace, "loom", None, first.cursor).await.unwrap();
            let found: Vec<&str> = rest.items.iter().map(|message| message.content.as_str()).collect();
            assert_eq!((found, rest.cursor), (vec!["no loom 0", "The LOOM weaves"], None));
        } else {
            assert_eq!((first.items.len(), first.cursor), (7, None));
        }
        let hers = search(&company.grace, "loom", Some(&company.ada.user_id), None).await.unwrap();
        assert_eq!(hers.items.len(), usize::from(scene.store != "embedded"));
        assert!(matches!(search(&company.grace, "  ", None, None).await, Err(FlowError::Arguments(_))));
        let eve = world.user("eve").await;
        assert!(matches!(search(&eve, "loom", None, None).await, Err(FlowError::Forbidden)));
    });
}

#[test]
fn a_connection_hears_stays_moves_and_ends() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let (ada, service) = (&company.ada.user_id, &world.service);
        let listening = service.open_connection(ada, &company.channel, Some("key")).await.unwrap();
        let again = service.open_connection(ada, &company.channel, Some("key")).await.unwrap();
        assert_eq!(listening.connection_id, again.connection_id);
        let connection = listening.connection_id;
        let message = world.post(&company.grace, &company.channel, "hello").await;
        let hear = async |after| {
            let hear = Hear { connection_id: connection.clone(), after, wait_seconds: 20 };
            service.next_events(ada, hear).await.unwrap().events
        };
        // Unconfirmed events are returned again.
        let mut heard = hear(0).await;
        let came = |heard: &[keyform_discord::gateway::Numbered]| {
            heard.iter().any(|heard| heard.event.what == What::MessageCreated { message: Box::new(message.clone()) })
        };
        while !came(&heard) {
            heard = hear(heard.last().map_or(0, |last| last.number - 1)).await;
        }
        let last = heard.last().unwrap().number;
        assert!(came(&hear(last - 1).await));
        service.typing(&company.grace.user_id, &company.channel).await.unwrap();
        let mut after = last;
        loop {
            let heard = hear(after).await;
            if heard
                .iter()
                .any(|heard| matches!(&heard.event.what, What::Typing { username, .. } if username == "grace"))
            {
                break;
            }
            after = heard.last().map_or(after, |last| last.number);
        }
        // A connection belongs to its user.
        let grace = &company.grace.user_id;
        let stolen = Hear { connection_id: connection.clone(), after: 0, wait_seconds: 0 };
        assert_eq!(refusal(service.next_events(grace, stolen.clone()).await), "NotConnected");
        assert_eq!(refusal(service.keep_connected(grace, &connection).await), "NotConnected");
        service.close_connection(grace, &connection).await.unwrap();
        scene.clock.advance(Duration::from_secs(60));
        assert_eq!(
            service.keep_connected(ada, &connection).await.unwrap().channel_ids,
            std::slice::from_ref(&company.channel)
        );
        let looms = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(looms).await.unwrap().channel_id;
        world.of(&company.ada).switch_channel(&connection, &company.channel, &looms).await.unwrap();
        assert_eq!(service.keep_connected(ada, &connection).await.unwrap().channel_ids, [looms]);
        service.close_connection(ada, &connection).await.unwrap();
        service.close_connection(ada, &connection).await.unwrap();
        assert_eq!(refusal(service.next_events(ada, stolen).await), "NotConnected");
        assert!(world.of(&company.ada).connections_of_user(ada).all().await.unwrap().is_empty());
        assert!(world.of(&company.ada).online_in_server(&company.server).all().await.unwrap().is_empty());
        service.gateway().stop().await;
    });
}

#[test]
fn strangers_neither_listen_nor_type() {
    on_embedded(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let eve = world.user("eve").await;
        let refused = world.service.open_connection(&eve.user_id, &company.channel, None).await;
        assert!(matches!(refused, Err(FlowError::Forbidden)), "{refused:?}");
        assert!(matches!(world.service.typing(&eve.user_id, &company.channel).await, Err(FlowError::Forbidden)));
        // A user who leaves the server receives no more events.
        let grace = &company.grace.user_id;
        let connection = world.service.open_connection(grace, &company.channel, None).await.unwrap().connection_id;
        world.of(&company.grace).leave_server(&company.server).await.unwrap();
        assert_eq!(refusal(world.service.keep_connected(grace, &connection).await), "NotConnected");
        world.service.gateway().stop().await;
    });
}

#[test]
fn sample_data_are_made_once() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let first = world.service.make_sample().await.unwrap();
        let second = world.service.make_sample().await.unwrap();
        assert_eq!(first, second);
        assert!(first.iter().any(|line| line.contains("invite code")), "{first:?}");
        let ada = log_in(&world, "ada@example.com", &keyform_discord::sample::password("ada")).await.unwrap();
        let servers = world.service.list_my_servers(&ada, MyServers::default()).await.unwrap();
        assert_eq!(
            servers.items.iter().map(|server| (server.name.as_str(), server.channels)).collect::<Vec<_>>(),
            [("Engines", 2)]
        );
        let grace = log_in(&world, "grace@example.com", &keyform_discord::sample::password("grace")).await.unwrap();
        let unread = world.service.unread_badges(&grace, Badges::default()).await.unwrap();
        assert_eq!(unread.iter().map(|badge| badge.unread).sum::<usize>(), 2);
    });
}
