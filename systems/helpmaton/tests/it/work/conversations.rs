//! Conversations of any length, with concurrent appends.

use std::sync::Arc;
use std::time::Duration;

use keyform::flow::FlowError;
use keyform_helpmaton::conversations::{self, Said, Start, append, start, whole};
use keyform_helpmaton::model::{ConversationConversationType, ConversationId};
use keyform_helpmaton::prices::{Cost, Tokens};
use keyform_scenario::fault::{Lossy, Mortal};
use keyform_scenario::{on_embedded, on_every_store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::office::{Office, id, units};

fn said(n: usize, chars: usize) -> Said {
    Said {
        message: json!({"id": format!("m{n}"), "role": "user", "content": "x".repeat(chars)}),
        tokens: Tokens { prompt_tokens: 2, completion_tokens: 1 },
        cost: Cost { usd: units(3), eur: units(2), gbp: units(1) },
    }
}

fn begin(office: &Office, conversation: &ConversationId) -> Start {
    Start {
        model_name: Some("gemini-2.5-flash".into()),
        provider: Some("google".into()),
        ..Start::new(
            office.workspace.clone(),
            office.agent.clone(),
            conversation.clone(),
            ConversationConversationType::Test,
        )
    }
}

async fn ids(office: &Office, conversation: &ConversationId) -> Vec<String> {
    let whole = whole(&office.by(), &office.workspace, &office.agent, conversation).await.unwrap().unwrap();
    assert_eq!(whole.conversation.message_count, i64::try_from(whole.messages.len()).unwrap());
    whole.messages.iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect()
}

async fn say(office: &Office, conversation: &ConversationId, said: Said) -> Result<(), FlowError> {
    append(&office.system, &office.workspace, &office.agent, conversation, said).await
}

#[test]
fn a_conversation_goes_on_beyond_the_size_of_an_item_in_order() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let conversation: ConversationId = id();
        start(&office.system, begin(&office, &conversation)).await.unwrap();
        // 60 messages of up to 12 KB, and a long one in between: more than 400 KB.
        for n in 0..60 {
            say(&office, &conversation, said(n, if n == 10 { 90_000 } else { 200 * n })).await.unwrap();
        }
        let expected: Vec<String> = (0..60).map(|n| format!("m{n}")).collect();
        assert_eq!(ids(&office, &conversation).await, expected);
        let whole = whole(&office.by(), &office.workspace, &office.agent, &conversation).await.unwrap().unwrap();
        assert!(whole.messages.iter().map(|message| message.to_string().len()).sum::<usize>() > 400 * 1024);
        assert_eq!(whole.conversation.messages.len(), 10);
        assert_eq!(whole.conversation.token_usage.total_tokens, 180);
        let cost = (whole.conversation.cost_usd, whole.conversation.cost_eur, whole.conversation.cost_gbp);
        assert_eq!(cost, (units(180), units(120), units(60)));
        let too_long = say(&office, &conversation, said(99, 390_000)).await;
        assert!(matches!(too_long, Err(FlowError::Refused { outcome, .. }) if outcome == "MessageTooLong"));
    });
}

#[test]
fn it_may_begin_with_more_than_fits() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let conversation: ConversationId = id();
        let messages: Vec<Value> =
            (0..70).map(|n| json!({"id": format!("m{n}"), "content": "y".repeat(2000)})).collect();
        let begun = Start { messages, ..begin(&office, &conversation) };
        for _ in 0..2 {
            start(&office.system, begun.clone()).await.unwrap();
            let expected: Vec<String> = (0..70).map(|n| format!("m{n}")).collect();
            assert_eq!(ids(&office, &conversation).await, expected);
        }
        let unknown = Start { agent_id: id(), ..begin(&office, &id()) };
        let refused = start(&office.system, unknown).await;
        assert!(matches!(refused, Err(FlowError::Refused { outcome, .. }) if outcome == "UnknownAgent"));
    });
}

#[test]
fn of_messages_that_come_at_once_none_is_lost() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let conversation: ConversationId = id();
        start(&office.system, begin(&office, &conversation)).await.unwrap();
        let mut work = JoinSet::new();
        for person in 0..4 {
            let (office, conversation) = (office.clone(), conversation.clone());
            work.spawn(async move {
                for n in 0..14 {
                    say(&office, &conversation, said(person * 100 + n, 500)).await.unwrap();
                }
            });
        }
        while let Some(done) = work.join_next().await {
            done.unwrap();
        }
        let found = ids(&office, &conversation).await;
        assert_eq!(found.len(), 56);
        for person in 0..4 {
            let theirs = found.iter().filter_map(|id| id[1..].parse::<usize>().ok()).filter(|n| n / 100 == person);
            assert_eq!(theirs.collect::<Vec<_>>(), (0..14).map(|n| person * 100 + n).collect::<Vec<_>>());
        }
    });
}

#[test]
fn a_message_that_is_delivered_again_is_recognised() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let lossy = office.through(Arc::new(Lossy::new(office.scene.host.store(), 2)));
        let conversation: ConversationId = id();
        start(&office.system, begin(&office, &conversation)).await.unwrap();
        for n in 0..50 {
            let mut tries = 0;
            while say(&lossy, &conversation, said(n, 1500)).await.is_err() {
                tries += 1;
                assert!(tries < 20);
            }
        }
        assert_eq!(ids(&office, &conversation).await, (0..50).map(|n| format!("m{n}")).collect::<Vec<_>>());
        let found = office.system.model.conversation_by_id(&office.workspace, &office.agent, &conversation).await;
        assert_eq!(found.unwrap().unwrap().token_usage.total_tokens, 150);
    });
}

#[test]
fn a_conversation_goes_with_its_messages_whenever_the_removal_is_killed() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        for requests in 0.. {
            let conversation: ConversationId = id();
            let messages = (0..60).map(|n| json!({"id": format!("m{n}"), "content": "z".repeat(3000)})).collect();
            start(&office.system, Start { messages, ..begin(&office, &conversation) }).await.unwrap();
            let mortal = office.through(Arc::new(Mortal::new(office.scene.host.store(), requests)));
            let remove = async |office: &Office| {
                conversations::remove(&office.system, &office.workspace, &office.agent, &conversation).await
            };
            let survived = remove(&mortal).await.is_ok();
            match remove(&office).await {
                Ok(()) => {}
                Err(FlowError::Refused { outcome, .. }) => assert_eq!(outcome, "UnknownConversation"),
                Err(other) => panic!("{other}"),
            }
            let left = office.system.model.conversation_messages(&office.workspace, &conversation).all().await;
            assert_eq!(left.unwrap().len(), 0);
            if survived {
                break;
            }
        }
    });
}

#[test]
fn a_conversation_lives_for_thirty_days_after_its_last_message() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let conversation: ConversationId = id();
        let day = Duration::from_secs(24 * 3600);
        start(&office.system, begin(&office, &conversation)).await.unwrap();
        office.scene.clock.advance(29 * day);
        say(&office, &conversation, said(0, 10)).await.unwrap();
        office.scene.clock.advance(29 * day);
        assert_eq!(ids(&office, &conversation).await, ["m0"]);
        office.scene.clock.advance(2 * day);
        let over = say(&office, &conversation, said(1, 10)).await;
        assert!(matches!(over, Err(FlowError::Refused { outcome, .. }) if outcome == "UnknownConversation"));
    });
}
