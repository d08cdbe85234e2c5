//! One owner per channel, no lost turn, and the daily limit is never exceeded: with real concurrency, conflicts, lost
//! answers and kills.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use keyform::World as _;
use keyform::{CallError, Timestamp};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{Scene, on_every_store};
use keyform_t3nets::channels::{self, Channel, ChannelType};
use keyform_t3nets::conversations::{self, Recorder};
use keyform_t3nets::model::{
    Caller, ClaimChannelError, IdentityChannelType, ReleaseChannelError, SaveTurnError, T3nets, TenantId, UserId,
};
use keyform_t3nets::tenants;
use tokio::task::JoinSet;

use crate::support::{active_tenant, default, fresh, handle, id, person, system, turn, user};

/// Returns another instance of the program, with transaction conflicts and lost answers.
fn troubled(scene: &Scene, number: u64) -> Scene {
    let lossy = Arc::new(Lossy::new(scene.host.store(), 7 + number));
    scene.through(Arc::new(Contended::new(lossy, 4 + number)))
}

/// Returns whether the call lost to concurrent writers, or its answer was lost.
fn may_be_repeated(error: &CallError) -> bool {
    matches!(error, CallError::Busy | CallError::Unknown(_) | CallError::Store(_))
}

/// Connects until it is answered; returns whether the tenant owns the channel now.
async fn connect(ada: &T3nets, tenant: &TenantId, channel: &Channel) -> bool {
    loop {
        match channels::connect(ada, tenant, channel).await {
            Ok(_) => return true,
            Err(ClaimChannelError::ChannelTaken) => return false,
            Err(ClaimChannelError::Conflict(_)) => {}
            Err(ClaimChannelError::Failed(error)) if may_be_repeated(&error) => {}
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// Disconnects until it is answered. After a lost answer, the channel may already belong to another tenant.
async fn disconnect(ada: &T3nets, channel: &Channel) {
    let mut in_doubt = false;
    loop {
        match channels::disconnect(ada, channel).await {
            Ok(()) => return,
            Err(ReleaseChannelError::NotYours) if in_doubt => return,
            Err(ReleaseChannelError::Conflict(_)) => {}
            Err(ReleaseChannelError::Failed(error)) if may_be_repeated(&error) => in_doubt = true,
            Err(other) => panic!("{other:?}"),
        }
    }
}

/// Claims and releases a channel repeatedly; returns the number of successful claims.
async fn compete(scene: Scene, tenant: TenantId, channel: Channel) -> usize {
    let t3nets = handle(&scene);
    let ada = t3nets.as_caller(person(&tenant, "ada"));
    let mut had = 0;
    for _ in 0..12 {
        if connect(&ada, &tenant, &channel).await {
            let owner = channels::owner(&t3nets, &channel).await.unwrap();
            assert_eq!(owner.as_ref(), Some(&tenant), "no other tenant has it while it is ours");
            had += 1;
            disconnect(&ada, &channel).await;
        }
    }
    had
}

/// Returns the owner of a channel after checking that only this tenant lists it.
async fn checked_owner(t3nets: &T3nets, tenants: &[TenantId], channel: &Channel) -> Option<TenantId> {
    let owner = channels::owner(t3nets, channel).await.unwrap();
    for tenant in tenants {
        let listed = t3nets.channels_of_tenant(tenant).all().await.unwrap();
        let lists = listed.iter().any(|mapping| mapping.channel_id == channel.stored_id());
        assert_eq!(lists, owner.as_ref() == Some(tenant), "only the owner lists the channel");
    }
    owner
}

#[test]
fn a_channel_has_one_owner_however_many_want_it() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let channel = Channel::new(ChannelType::Slack, fresh("T"));
        let (mut tasks, mut tenants) = (JoinSet::new(), Vec::new());
        for number in 0..4 {
            let tenant = active_tenant(&t3nets).await.tenant_id;
            tasks.spawn(compete(troubled(&scene, number), tenant.clone(), channel.clone()));
            tenants.push(tenant);
        }
        let mut had = 0;
        while let Some(times) = tasks.join_next().await {
            had += times.unwrap();
        }
        assert!(had > 0);
        assert_eq!(checked_owner(&t3nets, &tenants, &channel).await, None);
    });
}

#[test]
fn a_channel_has_one_owner_or_none_when_claims_are_killed() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let tenants = [tenant.clone()];
        for requests in 0..8 {
            let channel = Channel::new(ChannelType::Slack, fresh("T"));
            let dying = || handle(&scene.through(Arc::new(Mortal::new(scene.host.store(), requests))));
            let claimed = channels::connect(&dying().as_caller(person(&tenant, "ada")), &tenant, &channel).await;
            let owner = checked_owner(&t3nets, &tenants, &channel).await;
            assert!(claimed.is_err() || owner.as_ref() == Some(&tenant));
            let released = channels::disconnect(&dying().as_caller(person(&tenant, "ada")), &channel).await;
            let owner = checked_owner(&t3nets, &tenants, &channel).await;
            assert!(released.is_err() || owner.is_none());
        }
    });
}

/// Sends turns with keys, each until it is answered; returns the ids of the saved ones.
async fn send(scene: Scene, caller: Caller, sender: usize, turns: usize) -> Vec<String> {
    let recorder = Recorder::new(handle(&scene), &scene.host);
    let mut saved = Vec::new();
    for number in 0..turns {
        let key = format!("{sender}-{number}");
        loop {
            match recorder.record(caller.clone(), &turn(100 * sender + number), Some(&key)).await {
                Ok(turn) => break saved.push(turn.turn_id.to_string()),
                Err(SaveTurnError::DailyLimitReached) => break,
                Err(SaveTurnError::Conflict(_)) => {}
                Err(SaveTurnError::Failed(error)) if may_be_repeated(&error) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }
    saved
}

/// Returns the stored turns of a user's conversation, and the count in its head.
async fn stored(t3nets: &T3nets, tenant: &TenantId, user: &UserId) -> (BTreeSet<String>, i64) {
    let Some(head) = t3nets.conversation(tenant, user, &default()).await.unwrap() else {
        return (BTreeSet::new(), 0);
    };
    let turns = t3nets.turns(tenant, user, &head.thread_id).all().await.unwrap();
    (turns.into_iter().map(|turn| turn.turn_id.to_string()).collect(), head.turns)
}

async fn counted(scene: &Scene, t3nets: &T3nets, tenant: &TenantId) -> i64 {
    let today = Timestamp::of_millis(scene.clock.now_millis()).date();
    t3nets.usage_of_day(tenant, today).await.unwrap().map_or(0, |usage| usage.messages)
}

#[test]
fn no_turn_is_lost_and_the_daily_limit_holds_whoever_sends() {
    on_every_store(async |scene| {
        const LIMIT: usize = 25;
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        user(&t3nets, &tenant, "grace").await;
        t3nets.set_daily_limit(&tenant, i64::try_from(LIMIT).unwrap()).await.unwrap();
        let mut tasks = JoinSet::new();
        for sender in 0..4 {
            let who = if sender % 2 == 0 { "ada" } else { "grace" };
            let scene = troubled(&scene, u64::try_from(sender).unwrap());
            tasks.spawn(send(scene, person(&tenant, who), sender, 10));
        }
        let mut saved = BTreeSet::new();
        while let Some(ids) = tasks.join_next().await {
            saved.extend(ids.unwrap());
        }
        let (ada, grace) = (stored(&t3nets, &tenant, &id("ada")).await, stored(&t3nets, &tenant, &id("grace")).await);
        assert_eq!((ada.0.len(), grace.0.len()), (usize::try_from(ada.1).unwrap(), usize::try_from(grace.1).unwrap()));
        let there: BTreeSet<String> = ada.0.union(&grace.0).cloned().collect();
        assert_eq!(there, saved, "what was answered is there, and nothing else");
        assert_eq!(saved.len(), LIMIT);
        assert_eq!(counted(&scene, &t3nets, &tenant).await, i64::try_from(LIMIT).unwrap());
    });
}

#[test]
fn turns_and_their_count_agree_when_senders_are_killed() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        t3nets.set_daily_limit(&tenant, 4).await.unwrap();
        let mut sure = 0;
        for requests in 0..16 {
            let mortal = Arc::new(Mortal::new(scene.host.store(), requests));
            let dying = handle(&scene.through(mortal)).as_caller(person(&tenant, "ada"));
            sure += i64::from(conversations::record(&dying, &turn(0)).await.is_ok());
            let (turns, head) = stored(&t3nets, &tenant, &id("ada")).await;
            assert_eq!(i64::try_from(turns.len()).unwrap(), head);
            assert_eq!(counted(&scene, &t3nets, &tenant).await, head);
            assert!(head >= sure && head <= 4, "{head} saved, {sure} answered");
        }
        assert!(sure > 0);
    });
}

#[test]
fn a_user_whose_removal_is_killed_leaves_nothing_behind() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let mut interrupted = 0;
        for requests in 0..12 {
            let name = format!("u{requests}");
            let leaver = user(&t3nets, &tenant, &name).await.user_id;
            for session in ["s1", "s2"] {
                t3nets.as_caller(person(&tenant, &name)).remember(session, "x", &[]).await.unwrap();
            }
            t3nets.link_identity(&tenant, IdentityChannelType::Slack, &name, &leaver).await.unwrap();
            let mortal = Arc::new(Mortal::new(scene.host.store(), requests));
            // The answer does not cover the cascade that follows.
            let _answered = handle(&scene.through(mortal)).delete_user(&tenant, &leaver).await;
            if t3nets.user_by_id(&tenant, &leaver).await.unwrap().is_some() {
                continue;
            }
            interrupted += t3nets.memory_of_user(&tenant, &leaver).all().await.unwrap().len();
            // The lease of the killed process expires after a while.
            scene.clock.advance(Duration::from_secs(120));
            t3nets.resume_cascades().await.unwrap();
            assert_eq!(t3nets.memory_of_user(&tenant, &leaver).all().await.unwrap(), []);
            assert_eq!(t3nets.identity(&tenant, IdentityChannelType::Slack, &name).await, Ok(None));
        }
        assert!(interrupted > 0, "no removal was killed in the middle");
    });
}

#[test]
fn settings_that_are_changed_at_once_are_all_kept() {
    on_every_store(async |scene| {
        let t3nets = system(&scene).await;
        let tenant = active_tenant(&t3nets).await.tenant_id;
        let mut tasks = JoinSet::new();
        for json in [r#"{"ai_model":"m"}"#, r#"{"max_tokens_per_message":7}"#, r#"{"messages_per_day":8}"#] {
            let (ada, tenant) = (t3nets.as_caller(person(&tenant, "ada")), tenant.clone());
            let change = keyform::serde_json::from_str(json).unwrap();
            tasks.spawn(async move { tenants::change_settings(&ada, &tenant, change).await.unwrap() });
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let settings = t3nets.tenant_by_id(&tenant).await.unwrap().unwrap().settings;
        assert_eq!(
            (settings.ai_model.as_str(), settings.max_tokens_per_message, settings.messages_per_day),
            ("m", 7, 8)
        );
    });
}
