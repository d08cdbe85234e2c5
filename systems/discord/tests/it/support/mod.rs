//! Common setup of scenarios: the chat on a store, people, a server.

use std::sync::Arc;

use keyform::{Execute, Secret};
use keyform_discord::account::Registration;
use keyform_discord::model::{
    Channel, ChannelId, CreateInviteInput, CreateServerInput, Discord, Invite, Message, Server, ServerId, User, UserId,
};
use keyform_discord::password::Passwords;
use keyform_discord::{Service, Settings};
use keyform_scenario::Scene;

pub const PASSWORD: &str = "correct horse battery";

/// Chat on a store.
pub struct World {
    pub scene: Scene,
    pub service: Service,
}

pub fn settings() -> Settings {
    Settings { passwords: Passwords::quick(), ..Settings::default() }
}

/// Creates the chat on a store, with its table. Lagging indexes are read after they have caught up, because these
/// scenarios do not test the lag.
pub async fn world(scene: &Scene) -> World {
    let scene = scene.caught_up();
    let service = Service::new(&scene.host, settings()).unwrap();
    service.model().create_tables().await.unwrap();
    World { scene, service }
}

pub fn registration(name: &str) -> Registration {
    Registration {
        email: format!("{name}@example.com"),
        username: name.to_owned(),
        password: Secret::new(PASSWORD.to_owned()),
    }
}

impl World {
    /// Returns the same chat through another store, such as one with faults.
    pub fn through(&self, execute: Arc<dyn Execute>) -> Self {
        let scene = self.scene.through(execute);
        let service = Service::new(&scene.host, settings()).unwrap();
        Self { scene, service }
    }

    /// Returns the model for code.
    pub fn code(&self) -> &Discord {
        self.service.model()
    }

    /// Returns the model for a user.
    pub fn of(&self, user: &User) -> Discord {
        self.service.as_user(&user.user_id)
    }

    /// Registers a new user.
    pub async fn user(&self, name: &str) -> User {
        self.service.register(registration(name), None).await.unwrap().user
    }

    /// Creates a server, and returns it with its first channel.
    pub async fn server(&self, owner: &User, name: &str) -> (Server, Channel) {
        let server = self.of(owner).create_server(CreateServerInput::new(name)).await.unwrap();
        let channels = self.of(owner).channels_of_server(&server.server_id).await.unwrap();
        (server, channels.items.into_iter().next().unwrap())
    }

    pub async fn invite(&self, by: &User, server: &ServerId, max_uses: Option<i64>) -> Invite {
        let input = CreateInviteInput { max_uses, ..CreateInviteInput::new(server.clone()) };
        self.of(by).create_invite(input).await.unwrap()
    }

    /// Adds a guest to a server.
    pub async fn join(&self, owner: &User, server: &ServerId, guest: &User) {
        let invite = self.invite(owner, server, None).await;
        self.of(guest).join_by_invite(&invite.invite_code).await.unwrap();
    }

    /// Creates Ada's server with Grace as a member.
    pub async fn company(&self) -> Company {
        let (ada, grace) = (self.user("ada").await, self.user("grace").await);
        let (server, channel) = self.server(&ada, "Engines").await;
        self.join(&ada, &server.server_id, &grace).await;
        Company { ada, grace, server: server.server_id, channel: channel.channel_id }
    }

    pub async fn post(&self, author: &User, channel: &ChannelId, text: &str) -> Message {
        self.of(author).post_message(channel, text).await.unwrap()
    }
}

/// Server with two members.
pub struct Company {
    pub ada: User,
    pub grace: User,
    pub server: ServerId,
    pub channel: ChannelId,
}

pub fn ids<'a>(users: impl IntoIterator<Item = &'a UserId>) -> Vec<String> {
    users.into_iter().map(ToString::to_string).collect()
}
