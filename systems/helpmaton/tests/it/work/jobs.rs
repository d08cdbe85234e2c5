//! Daily usage: aggregated once, again, after a missed day, and for continued conversations.

use std::time::Duration;

use keyform::{Date, Money};
use keyform_helpmaton::application_with;
use keyform_helpmaton::conversations::{Said, Start, append, start};
use keyform_helpmaton::model::{ConversationConversationType, ConversationId};
use keyform_helpmaton::prices::{Cost, Tokens};
use keyform_helpmaton::usage::{aggregate, aggregate_due, workspace_statistics};
use keyform_scenario::{on_embedded, on_every_store};
use serde_json::json;

use super::office::{Office, id};

const DAY: Duration = Duration::from_secs(24 * 3600);
const TOKENS: Tokens = Tokens { prompt_tokens: 10, completion_tokens: 5 };

fn cost() -> Cost {
    Cost { usd: Money::of_nanos(100), eur: Money::of_nanos(92), gbp: Money::of_nanos(79) }
}

pub async fn talk(office: &Office, model: &str, byok: bool) -> ConversationId {
    let conversation: ConversationId = id();
    let kind = ConversationConversationType::Webhook;
    let begun = Start {
        messages: vec![json!("Hello")],
        model_name: Some(model.into()),
        provider: Some("google".into()),
        uses_byok: byok,
        tokens: TOKENS,
        cost: cost(),
        ..Start::new(office.workspace.clone(), office.agent.clone(), conversation.clone(), kind)
    };
    start(&office.system, begun).await.unwrap();
    conversation
}

fn yesterday(office: &Office) -> Date {
    Date::of_days(office.system.now().date().days() - 1)
}

async fn tokens_between(office: &Office, first: Date, last: Date) -> i64 {
    let statistics = workspace_statistics(&office.by(), &office.workspace, first, last).await.unwrap();
    statistics.total.total_tokens
}

#[test]
fn a_day_is_summed_up_once_however_often() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        talk(&office, "a", false).await;
        talk(&office, "a", false).await;
        talk(&office, "a", true).await;
        talk(&office, "b", false).await;
        let day = office.system.now().date();
        office.scene.clock.advance(DAY);
        talk(&office, "a", false).await;
        for _ in 0..2 {
            aggregate(&office.system, day, yesterday(&office)).await.unwrap();
            let rows = office.by().usage_of_day(&office.workspace, day).await.unwrap().items;
            assert_eq!(rows.len(), 3);
            let all = workspace_statistics(&office.by(), &office.workspace, day, day).await.unwrap();
            assert_eq!((all.total.input_tokens, all.total.output_tokens, all.total.total_tokens), (40, 20, 60));
            assert_eq!(all.total.cost.usd, Money::of_nanos(400));
            assert_eq!(all.total.cost.gbp, Money::of_nanos(316));
            assert_eq!((all.byok.total_tokens, all.by_model["a"].total_tokens), (15, 45));
        }
        let today = office.system.now().date();
        assert_eq!(tokens_between(&office, today, today).await, 0, "today is not over");
        let owner = &office.owner.user_id;
        let mine = office.by().user_usage(owner, day, day).all().await.unwrap();
        assert_eq!(mine.len(), 3);
    });
}

#[test]
fn a_missed_day_is_made_up_for() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let first = office.system.now().date();
        talk(&office, "a", false).await;
        office.scene.clock.advance(DAY);
        assert_eq!(aggregate_due(&office.system).await.unwrap().unwrap().rows, 1);
        assert_eq!(aggregate_due(&office.system).await.unwrap(), None, "the day is done");
        for _ in 0..3 {
            talk(&office, "a", false).await;
            office.scene.clock.advance(DAY);
        }
        assert_eq!(aggregate_due(&office.system).await.unwrap().unwrap().rows, 3);
        assert_eq!(tokens_between(&office, first, yesterday(&office)).await, 60);
    });
}

#[test]
fn a_conversation_that_goes_on_is_counted_on_the_day_it_began() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let first = office.system.now().date();
        let conversation = talk(&office, "a", false).await;
        talk(&office, "a", false).await;
        office.scene.clock.advance(DAY);
        aggregate_due(&office.system).await.unwrap();
        let said = Said { message: json!("More"), tokens: TOKENS, cost: cost() };
        append(&office.system, &office.workspace, &office.agent, &conversation, said).await.unwrap();
        office.scene.clock.advance(DAY);
        aggregate_due(&office.system).await.unwrap();
        assert_eq!(tokens_between(&office, first, first).await, 45);
        assert_eq!(tokens_between(&office, first, yesterday(&office)).await, 45);
    });
}

#[test]
fn the_jobs_run_in_the_application() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        talk(&office, "a", false).await;
        office.scene.clock.advance(DAY);
        let application = application_with(&office.scene.host, office.settings.clone()).unwrap();
        let named = |name: &str| application.jobs().iter().find(|job| job.name() == name).unwrap().clone();
        assert_eq!(named("aggregate usage").run().await.unwrap(), "1 rows of 1 workspaces");
        assert_eq!(named("aggregate usage").run().await.unwrap(), "");
        assert_eq!(named("expire reservations").run().await.unwrap(), "");
        assert_eq!(named("finish removals of workspaces").run().await.unwrap(), "");
    });
}
