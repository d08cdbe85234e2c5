//! Gateway: events, audiences, at-least-once delivery, connections that are gone, and users who go offline by expiry.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use keyform::World as _;
use keyform::execute::BoxFuture;
use keyform::live::feed::From as Begin;
use keyform::{Database, Options};
use keyform_discord::gateway::{Deliver, Event, Following, Gateway, GatewayError, Known, Mailboxes, Undelivered, What};
use keyform_discord::model::{ConnectionId, CreateChannelInput, UpdateChannelInput, User, UserId};
use keyform_scenario::{ManualWorld, Scene, on_embedded, on_every_store};

use crate::support::{Company, World, world};

/// Listener, with the gateway executed step by step.
struct Listener<'a> {
    world: &'a World,
    user: UserId,
    connection: ConnectionId,
    following: Following,
    after: u64,
}

impl<'a> Listener<'a> {
    async fn new(world: &'a World, company: &Company, user: &User) -> Self {
        let mailboxes = world.service.mailboxes();
        let connection = mailboxes.name(&user.username).unwrap();
        mailboxes.open(&connection, &user.user_id);
        world.of(user).connect(&connection, &company.channel).await.unwrap();
        let following = world.service.gateway().follow(Begin::Now).await.unwrap();
        Self { world, user: user.user_id.clone(), connection, following, after: 0 }
    }

    /// Returns the next event.
    async fn next(&mut self) -> What {
        loop {
            let mailboxes = self.world.service.mailboxes();
            let heard = mailboxes.take(&self.connection, &self.user, self.after, Duration::ZERO).await.unwrap();
            if let Some(first) = heard.first() {
                self.after = first.number;
                return first.event.what.clone();
            }
            self.following.catch_up().await.unwrap();
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn what_happens_in_a_channel_and_its_server_is_told() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let mut ada = Listener::new(&world, &company, &company.ada).await;
        let grace = world.of(&company.grace);

        let message = world.post(&company.grace, &company.channel, "helo").await;
        let (channel, at, id) = (&company.channel, message.created_at, message.message_id.clone());
        assert_eq!(ada.next().await, What::MessageCreated { message: Box::new(message) });
        let edited = grace.edit_message(channel, at, &id, "hello").await.unwrap();
        assert_eq!(ada.next().await, What::MessageEdited { message: Box::new(edited) });
        let reacted = grace.add_reaction(channel, at, &id, "👍").await.unwrap();
        assert_eq!(ada.next().await, What::ReactionsChanged { message: Box::new(reacted) });
        grace.delete_message(channel, at, &id).await.unwrap();
        assert_eq!(ada.next().await, What::MessageDeleted { channel_id: channel.clone(), message_id: id });

        let eve = world.user("eve").await;
        world.join(&company.ada, &company.server, &eve).await;
        let What::MemberJoined { membership } = ada.next().await else { panic!("no member joined") };
        assert_eq!(membership.user_id, eve.user_id);
        world.of(&eve).leave_server(&company.server).await.unwrap();
        let (server_id, user_id) = (company.server.clone(), eve.user_id);
        assert_eq!(ada.next().await, What::MemberLeft { server_id: server_id.clone(), user_id });

        let looms = CreateChannelInput::new(server_id.clone(), "looms");
        let looms = grace.create_channel(looms).await.unwrap();
        // One transaction, so the events come in either order.
        let (one, other) = (ada.next().await, ada.next().await);
        let told = [one, other];
        assert!(told.contains(&What::ChannelCreated { channel: Box::new(looms.clone()) }), "{told:?}");
        assert!(told.iter().any(|what| matches!(what, What::ServerChanged { server } if server.channels == 2)));
        let input = UpdateChannelInput::new(server_id.clone(), looms.channel_id.clone(), "the looms");
        let renamed = world.of(&company.ada).update_channel(input).await.unwrap();
        assert_eq!(ada.next().await, What::ChannelChanged { channel: Box::new(renamed) });
        // Messages of other channels are not delivered to this listener.
        world.post(&company.grace, &looms.channel_id, "not here").await;

        let connection = ConnectionId::new("elsewhere-1").unwrap();
        grace.connect(&connection, channel).await.unwrap();
        let user_id = company.grace.user_id.clone();
        assert_eq!(ada.next().await, What::PresenceOnline { server_id: server_id.clone(), user_id: user_id.clone() });
        // Listening to a second channel is not another arrival, and leaving the first one is not a departure.
        grace.connect(&connection, &looms.channel_id).await.unwrap();
        grace.stop_listening(&connection, channel).await.unwrap();
        world.post(&company.grace, channel, "still here").await;
        assert!(matches!(ada.next().await, What::MessageCreated { .. }));
        grace.stop_listening(&connection, &looms.channel_id).await.unwrap();
        assert_eq!(ada.next().await, What::PresenceOffline { server_id, user_id, expired: false });
    });
}

/// Clocks of the gateway and the store, advanced together.
struct Time {
    env: ManualWorld,
    scene: Scene,
}

impl Time {
    fn advance(&self, time: Duration) {
        self.env.advance_ms(u64::try_from(time.as_millis()).unwrap());
        self.scene.clock.advance(time);
    }
}

#[test]
fn whoever_is_not_heard_of_is_offline_when_the_store_removes_the_connection() {
    on_embedded(async |scene| {
        let env = ManualWorld::at_ms(u64::try_from(scene.clock.now_millis()).unwrap());
        let options = Options { world: Arc::new(env.clone()), sweep_interval: None, ..Options::default() };
        let database = Database::in_memory_with(options);
        let scene = scene.through(Arc::new(database.clone()));
        let world = world(&scene).await;
        let time = Time { env, scene: scene.clone() };
        let company = world.company().await;
        let mut ada = Listener::new(&world, &company, &company.ada).await;
        let connection = ConnectionId::new("elsewhere-1").unwrap();
        world.of(&company.grace).connect(&connection, &company.channel).await.unwrap();
        let (server_id, user_id) = (company.server.clone(), company.grace.user_id.clone());
        let online = What::PresenceOnline { server_id: server_id.clone(), user_id: user_id.clone() };
        assert_eq!(ada.next().await, online);
        // Ada renews her connection, Grace does not.
        for _ in 0..3 {
            time.advance(Duration::from_secs(240));
            world.service.keep_connected(&ada.user, &ada.connection).await.unwrap();
        }
        database.sweep().unwrap();
        assert_eq!(ada.next().await, What::PresenceOffline { server_id, user_id, expired: true });
        assert!(world.code().connection_by_id(&connection).all().await.unwrap().is_empty());
    });
}

#[test]
fn a_connection_that_is_gone_loses_its_rows_and_one_elsewhere_keeps_them() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let mut ada = Listener::new(&world, &company, &company.ada).await;
        // One connection of this process without a listener, and one of another process.
        let gone = world.service.mailboxes().name("gone").unwrap();
        let elsewhere = Mailboxes::new(scene.host.world()).name("there").unwrap();
        let looms = CreateChannelInput::new(company.server.clone(), "looms");
        let looms = world.of(&company.ada).create_channel(looms).await.unwrap().channel_id;
        for channel in [&company.channel, &looms] {
            world.of(&company.grace).connect(&gone, channel).await.unwrap();
        }
        world.of(&company.grace).connect(&elsewhere, &company.channel).await.unwrap();
        world.post(&company.ada, &company.channel, "is anybody there?").await;
        while !matches!(ada.next().await, What::MessageCreated { .. }) {}
        let left = world.of(&company.grace).connections_of_user(&company.grace.user_id).all().await.unwrap();
        assert_eq!(left.iter().map(|row| &row.connection_id).collect::<Vec<_>>(), [&elsewhere]);
        // A mailbox that was not read for too long is removed as well.
        scene.clock.advance(Duration::from_secs(100));
        world.service.keep_connected(&ada.user, &ada.connection).await.unwrap();
        let idle = world.service.mailboxes().name("idle").unwrap();
        world.service.mailboxes().open(&idle, &company.grace.user_id);
        world.of(&company.grace).connect(&idle, &company.channel).await.unwrap();
        scene.clock.advance(Duration::from_secs(100));
        world.service.mailboxes().touch(&ada.connection, &ada.user);
        world.post(&company.ada, &company.channel, "still there?").await;
        while !matches!(ada.next().await, What::MessageCreated { .. }) {}
        assert!(world.code().connection_by_id(&idle).all().await.unwrap().is_empty());
    });
}

/// Delivery that fails now and then.
#[derive(Default)]
struct Unsteady {
    tries: AtomicU32,
    delivered: std::sync::Mutex<Vec<(ConnectionId, Arc<Event>)>>,
}

impl Deliver for Unsteady {
    fn deliver<'a>(
        &'a self,
        connection: &'a ConnectionId,
        _: &'a UserId,
        event: &'a Arc<Event>,
    ) -> BoxFuture<'a, Result<(), Undelivered>> {
        let fails = self.tries.fetch_add(1, Ordering::SeqCst) % 5 == 1;
        let done = if fails {
            Err(Undelivered::Failed("the line is busy".to_owned()))
        } else {
            self.delivered.lock().unwrap().push((connection.clone(), event.clone()));
            Ok(())
        };
        Box::pin(std::future::ready(done))
    }
}

#[test]
fn what_fails_is_delivered_again_and_known_by_its_id_and_time() {
    on_every_store(async |scene| {
        let world = world(&scene).await;
        let company = world.company().await;
        let phones = ["phone-1", "phone-2"].map(|name| ConnectionId::new(name).unwrap());
        for phone in &phones {
            world.of(&company.ada).connect(phone, &company.channel).await.unwrap();
        }
        let unsteady = Arc::new(Unsteady::default());
        let gateway = Gateway::new(world.code().clone(), unsteady.clone());
        let mut following = gateway.follow(Begin::Now).await.unwrap();
        let mut expected = Vec::new();
        for number in 0..6 {
            expected.push(world.post(&company.grace, &company.channel, &format!("message {number}")).await);
        }
        let edited = &expected[2];
        let (at, id) = (edited.created_at, edited.message_id.clone());
        scene.clock.advance(Duration::from_millis(1));
        expected[2] = world.of(&company.grace).edit_message(&company.channel, at, &id, "edited").await.unwrap();
        let last = expected.pop().unwrap();
        world.of(&company.grace).delete_message(&company.channel, last.created_at, &last.message_id).await.unwrap();

        let mut failures = 0;
        let is_over = |(phone, event): &(ConnectionId, Arc<Event>)| {
            *phone == phones[1] && matches!(event.what, What::MessageDeleted { .. })
        };
        while !unsteady.delivered.lock().unwrap().iter().any(is_over) {
            match following.step().await {
                Ok(_) => {}
                Err(GatewayError::Delivery(_)) => failures += 1,
                Err(error) => panic!("{error}"),
            }
            assert!(failures < 50, "it does not get through");
        }
        let delivered = unsteady.delivered.lock().unwrap().clone();
        assert!(failures > 0 && delivered.len() > 16, "some came twice: {}", delivered.len());
        for phone in &phones {
            let mut known = Known::default();
            let hers = delivered.iter().filter(|(to, _)| to == phone);
            let news = hers.filter(|(_, event)| known.is_news(event)).count();
            assert_eq!(news, 8, "six messages, one of them edited, one deleted");
            for message in &expected {
                assert_eq!(known.message(&message.message_id), Some(message));
            }
            assert_eq!(known.message(&last.message_id), None, "what is deleted stays deleted");
        }
    });
}
