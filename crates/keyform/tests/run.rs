//! The discord model at work: its flows as people use them, refusals by name, guards, pages and cursors.
//!
//! One suite of behaviours, on each store: the embedded engine in process, our own server through the AWS SDK, and the endpoint of
//! `KEYFORM_EXTENDDB_URL` through the AWS SDK, if there is one.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod stores;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keyform::model::Checked;
use keyform::model::run::{Answer, CASCADES, Call, Caller, Found, RunError, Runner, Settings};
use keyform::server::{self, Running, Server};
use keyform::{AttributeValue, Attributes, Database, Execute};
use keyform_aws::{Credentials, Options, Remote};
use stores::counted::Counted;

/// A chat on one store, in a table of its own.
struct Chat {
    runner: Runner,
    server: Option<Running>,
}

impl Drop for Chat {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            server.stop();
        }
    }
}

fn attributes(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), AttributeValue::from(*value))).collect()
}

fn text(found: &Found, field: &str) -> String {
    match found.fields.get(field) {
        Some(AttributeValue::S(text)) => text.clone(),
        other => panic!("{field} is {other:?}"),
    }
}

impl Chat {
    async fn embedded() -> Self {
        Self::open(Arc::new(Database::in_memory()), None).await
    }

    async fn served() -> Self {
        let server = Server::bind(server::Settings { port: 0, ..server::Settings::default() }).unwrap();
        let running = keyform::serve(server, &Database::in_memory()).unwrap();
        let remote = remote(&running.url()).await;
        Self::open(Arc::new(remote), Some(running)).await
    }

    async fn elsewhere() -> Option<Self> {
        let url = std::env::var("KEYFORM_EXTENDDB_URL").ok()?;
        Some(Self::open(Arc::new(remote(&url).await), None).await)
    }

    async fn open(store: Arc<dyn Execute>, server: Option<Running>) -> Self {
        static CHATS: AtomicU64 = AtomicU64::new(0);
        let source = include_str!("../../../systems/discord/discord.kf");
        let stage = format!("{}-{}", std::process::id(), CHATS.fetch_add(1, Ordering::Relaxed));
        let settings = Settings {
            variables: [("stage".to_owned(), stage.clone())].into(),
            cursor_key: [7; 32],
            ..Settings::default()
        };
        let counted = Counted::ticking(1_773_480_413_000, stage.clone());
        let runner = Runner::new(Arc::new(Checked::read(source)), store, Arc::new(counted), settings).unwrap();
        let mut made = runner.create_tables().await.unwrap();
        // Where stores are shared, another test may have made this one.
        made.retain(|table| table != CASCADES);
        assert_eq!(made, [format!("discord-clone-{stage}-DiscordTable")]);
        assert!(runner.create_tables().await.unwrap().is_empty(), "what is there stays");
        Self { runner, server }
    }

    fn call(user: Option<&str>, arguments: &[(&str, &str)]) -> Call {
        let caller = user.map_or(Caller::System, |user| Caller::Claims(attributes(&[("userId", user)])));
        Call { arguments: attributes(arguments), caller, ..Call::default() }
    }

    async fn write(
        &self,
        user: Option<&str>,
        name: &str,
        arguments: &[(&str, &str)],
    ) -> Result<Option<Found>, RunError> {
        self.runner.write(name, &Self::call(user, arguments)).await
    }

    async fn read(&self, user: Option<&str>, name: &str, arguments: &[(&str, &str)]) -> Result<Answer, RunError> {
        self.runner.read(name, &Self::call(user, arguments)).await
    }

    async fn page(&self, user: Option<&str>, name: &str, arguments: &[(&str, &str)]) -> Vec<Found> {
        match self.read(user, name, arguments).await.unwrap() {
            Answer::Page { items, .. } => items,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until an index has an item, which on some stores is a while after the table has it.
    async fn wait_for(&self, name: &str, arguments: &[(&str, &str)]) {
        for _ in 0..500 {
            if !matches!(self.read(None, name, arguments).await.unwrap(), Answer::One(None)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{name} did not find what was written");
    }

    async fn sign_up(&self, email: &str, username: &str) -> Result<String, RunError> {
        let arguments = [("email", email), ("username", username), ("passwordHash", "hash")];
        Ok(text(&self.write(None, "signUp", &arguments).await?.unwrap(), "userId"))
    }
}

/// The AWS SDK on an endpoint, with the credentials of the environment or the example pair of the documentation of AWS.
async fn remote(url: &str) -> Remote {
    let variable = |name: &str, otherwise: &str| std::env::var(name).unwrap_or_else(|_| otherwise.to_owned());
    let credentials = Credentials {
        access_key_id: variable("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE"),
        secret_access_key: variable("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    };
    Remote::connect(Options {
        endpoint_url: Some(url.to_owned()),
        region: Some("us-east-1".to_owned()),
        credentials: Some(credentials),
        ..Options::default()
    })
    .await
}

/// Each behaviour as a test on each store.
macro_rules! on_every_store {
    ($($behaviour:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(&super::Chat::embedded().await).await;
            })*
        }

        mod served {
            $(#[tokio::test]
            async fn $behaviour() {
                super::$behaviour(&super::Chat::served().await).await;
            })*
        }

        mod elsewhere {
            $(#[tokio::test]
            async fn $behaviour() {
                if let Some(chat) = super::Chat::elsewhere().await {
                    super::$behaviour(&chat).await;
                }
            })*
        }
    };
}

on_every_store! {
    people_sign_up_meet_in_a_server_and_talk,
    what_the_model_returns_has_no_keys_and_tags,
}

fn refusal(result: Result<impl std::fmt::Debug, RunError>) -> String {
    match result.unwrap_err() {
        RunError::Refused { outcome, .. } => outcome,
        other => panic!("{other}"),
    }
}

async fn people_sign_up_meet_in_a_server_and_talk(chat: &Chat) {
    let ada = chat.sign_up("Ada@Example.com ", "ada").await.unwrap();
    let grace = chat.sign_up("grace@example.com", "grace").await.unwrap();
    assert_eq!(refusal(chat.sign_up("ada@example.com", "impostor").await), "EmailTaken");

    let server = chat.write(Some(&ada), "createServer", &[("name", "Engines")]).await.unwrap().unwrap();
    let server = text(&server, "serverId");
    assert_eq!(chat.read(Some(&grace), "channelsOfServer", &[("serverId", &server)]).await, Err(RunError::Forbidden));
    let channels = chat.page(Some(&ada), "channelsOfServer", &[("serverId", &server)]).await;
    let channel = text(&channels[0], "channelId");

    chat.wait_for("channelById", &[("channelId", &channel)]).await;
    for number in 0..120 {
        let content = format!("message {number}");
        chat.write(Some(&ada), "postMessage", &[("channelId", &channel), ("content", &content)]).await.unwrap();
    }
    assert_eq!(
        chat.write(Some(&grace), "postMessage", &[("channelId", &channel), ("content", "let me in")]).await,
        Err(RunError::Forbidden)
    );

    let mut call = Chat::call(Some(&ada), &[("channelId", &channel)]);
    let mut seen = Vec::new();
    loop {
        let Answer::Page { items, cursor } = chat.runner.read("messages", &call).await.unwrap() else {
            panic!("a page")
        };
        seen.extend(items.iter().map(|item| text(item, "content")));
        let Some(cursor) = cursor else { break };
        call.cursor = Some(cursor);
    }
    let expected: Vec<String> = (0..120).rev().map(|number| format!("message {number}")).collect();
    assert_eq!(seen, expected);

    call.cursor = Some("forged".to_owned());
    assert_eq!(chat.runner.read("messages", &call).await, Err(RunError::Cursor));
}

async fn what_the_model_returns_has_no_keys_and_tags(chat: &Chat) {
    let ada = chat.sign_up("ada@example.com", "ada").await.unwrap();
    let Answer::One(Some(user)) = chat.read(Some(&ada), "userById", &[("userId", &ada)]).await.unwrap() else {
        panic!("a user")
    };
    assert_eq!(text(&user, "email"), "ada@example.com");
    assert!(
        !user.fields.keys().any(|name| ["pk", "sk", "gsi1pk", "gsi1sk", "entityType"].contains(&name.as_str())),
        "{user:?}"
    );
    let nobody = chat.read(None, "userById", &[("userId", "01KKP2T8SNZZZZZZZZZZZZZZZZ")]).await;
    assert_eq!(nobody, Ok(Answer::One(None)));
    assert!(matches!(chat.read(None, "userById", &[]).await, Err(RunError::Arguments(_))));
    assert_eq!(chat.read(None, "nothing", &[]).await, Err(RunError::UnknownPattern("nothing".to_owned())));
}
