//! The discord model in use: typical flows, named refusals, guards, pages and cursors.
//!
//! One behaviour suite for each store: the embedded engine, our own server through the AWS SDK, and ExtendDB
//! through the AWS SDK if `KEYFORM_EXTENDDB` names its binary.

use std::sync::Arc;

use keyform::runtime::run::{Answer, Call, Caller, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes};
use keyform_check::Checked;
use keyform_language::bookkeeping::CASCADES;
use keyform_scenario::{Counted, Store, stage};

/// Chat on one store, in its own table.
struct Chat {
    runner: Runner,
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
    async fn on(store: &Store) -> Self {
        let source = include_str!("../../../../systems/discord/discord.kf");
        let stage = stage();
        let settings = RunSettings {
            variables: [("stage".to_owned(), stage.clone())].into(),
            cursor_key: [7; 32],
            ..RunSettings::default()
        };
        let counted = Counted::ticking(1_773_480_413_000, stage.clone());
        let runner =
            Runner::new(Arc::new(Checked::read(source)), store.caught_up(), Arc::new(counted), settings).unwrap();
        let mut made = runner.create_tables().await.unwrap();
        // On shared stores another test may have created this table.
        made.retain(|table| table != CASCADES);
        assert_eq!(made, [format!("discord-clone-{stage}-DiscordTable")]);
        assert!(runner.create_tables().await.unwrap().is_empty(), "what is there stays");
        Self { runner }
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

    async fn sign_up(&self, email: &str, username: &str) -> Result<String, RunError> {
        let arguments = [("email", email), ("username", username), ("passwordHash", "hash")];
        Ok(text(&self.write(None, "signUp", &arguments).await?.unwrap(), "userId"))
    }
}

/// Runs a behaviour on each store.
async fn on_every_store(behaviour: impl AsyncFn(&Chat)) {
    for store in Store::all().await {
        behaviour(&Chat::on(&store).await).await;
        store.stop();
    }
}

#[tokio::test]
async fn people_sign_up_meet_in_a_server_and_talk() {
    on_every_store(sign_up_meet_and_talk).await;
}

#[tokio::test]
async fn what_the_model_returns_has_no_keys_and_tags() {
    on_every_store(has_no_keys_and_tags).await;
}

fn refusal(result: Result<impl std::fmt::Debug, RunError>) -> String {
    match result.unwrap_err() {
        RunError::Refused { outcome, .. } => outcome,
        other => panic!("{other}"),
    }
}

async fn sign_up_meet_and_talk(chat: &Chat) {
    let ada = chat.sign_up("Ada@Example.com ", "ada").await.unwrap();
    let grace = chat.sign_up("grace@example.com", "grace").await.unwrap();
    assert_eq!(refusal(chat.sign_up("ada@example.com", "impostor").await), "EmailTaken");

    let server = chat.write(Some(&ada), "createServer", &[("name", "Engines")]).await.unwrap().unwrap();
    let server = text(&server, "serverId");
    assert_eq!(chat.read(Some(&grace), "channelsOfServer", &[("serverId", &server)]).await, Err(RunError::Forbidden));
    let channels = chat.page(Some(&ada), "channelsOfServer", &[("serverId", &server)]).await;
    let channel = text(&channels[0], "channelId");

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
        let Answer::Page { items, cursor, .. } = chat.runner.read("messages", &call).await.unwrap() else {
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

async fn has_no_keys_and_tags(chat: &Chat) {
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
