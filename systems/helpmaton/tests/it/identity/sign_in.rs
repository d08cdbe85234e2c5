//! Sign-in by mail and with external accounts, refresh tokens, API keys.

use std::time::Duration;

use keyform::execute::BoxFuture;
use keyform::{Error, Execute, Operation, Output};
use keyform_helpmaton::model::{AccountProvider, SubscriptionPlan};
use keyform_scenario::{on_embedded, on_every_store};

use super::support::{World, address, refusal};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn who_reads_the_mail_signs_up_and_in() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let email = address("ada");
        world.system.request_sign_in(&email.to_uppercase()).await.unwrap();
        let token = world.mailed(&email);
        assert_eq!(refusal(world.system.sign_in(&email, "another", None).await), "UnknownToken");
        assert_eq!(refusal(world.system.sign_in(&address("eve"), &token, None).await), "UnknownToken");
        let session = world.system.sign_in(&email, &token, Some("Ada")).await.unwrap();
        assert_eq!(refusal(world.system.sign_in(&email, &token, None).await), "UnknownToken", "a token is good once");
        let user = world.system.user_named(&session.user_id).await.unwrap();
        assert_eq!((user.email.as_str(), user.name.as_deref()), (email.as_str(), Some("Ada")));
        assert_eq!(user.email_verified, Some(world.system.now()));
        let subscription = world.system.subscription_of(&user.id).await.unwrap();
        assert_eq!(subscription.plan, SubscriptionPlan::Free, "a user has a subscription from the start");

        world.system.request_sign_in(&email).await.unwrap();
        let again = world.system.sign_in(&email, &world.mailed(&email), None).await.unwrap();
        assert_eq!(again.user_id, session.user_id);
        world.system.request_sign_in(&email).await.unwrap();
        world.clock.advance(DAY + MINUTE);
        let late = refusal(world.system.sign_in(&email, &world.mailed(&email), None).await);
        assert!(["TokenExpired", "UnknownToken"].contains(&late.as_str()), "{late}");
        assert!(world.system.request_sign_in("no address").await.is_err());
    });
}

#[test]
fn an_account_elsewhere_signs_in_its_user() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let (email, identifier) = (address("ada"), address("id"));
        let first = world.system.sign_in_by_account(AccountProvider::Google, &identifier, &email).await.unwrap();
        let moved =
            world.system.sign_in_by_account(AccountProvider::Google, &identifier, &address("new")).await.unwrap();
        assert_eq!(moved.user_id, first.user_id, "the account counts, not the address it has today");
    });
}

#[test]
fn a_refresh_token_is_good_once_and_a_second_use_ends_its_family() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let first = world.system.start_session(&user).await.unwrap();
        let second = world.system.refresh(&first.refresh_token, None).await.unwrap();
        let other = world.system.start_session(&user).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&first.refresh_token, None).await), "TokenReused");
        assert_eq!(refusal(world.system.refresh(&second.refresh_token, None).await), "FamilyRevoked");
        world.system.refresh(&other.refresh_token, None).await.unwrap();
        for unknown in
            ["", "hmat_refresh_", &"hmat_refresh_".replace('_', "-"), &format!("hmat_refresh_{}", "0".repeat(64))]
        {
            assert_eq!(refusal(world.system.refresh(unknown, None).await), "UnknownToken");
        }
    });
}

#[test]
fn refresh_tokens_end_after_thirty_days_and_with_the_session() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        world.clock.advance(DAY * 29);
        let session = world.system.refresh(&session.refresh_token, None).await.unwrap();
        world.clock.advance(DAY * 30 + MINUTE);
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, None).await), "TokenExpired");
        let session = world.system.start_session(&user).await.unwrap();
        world.system.sign_out(&session.refresh_token).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, None).await), "FamilyRevoked");
        world.system.sign_out("nothing").await.unwrap();
    });
}

#[test]
fn a_refresh_that_is_repeated_under_its_key_is_no_reuse() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let user = world.system.user_of_email(&address("ada"), None).await.unwrap();
        let session = world.system.start_session(&user).await.unwrap();
        let key = address("key");
        for _ in 0..3 {
            world.system.refresh(&session.refresh_token, Some(&key)).await.unwrap();
        }
        let last = world.system.refresh(&session.refresh_token, Some(&key)).await.unwrap();
        world.system.refresh(&last.refresh_token, Some("the next call")).await.unwrap();
        assert_eq!(refusal(world.system.refresh(&session.refresh_token, Some("a thief's")).await), "TokenReused");
    });
}

#[test]
fn an_api_key_is_recognised_until_it_is_deleted() {
    on_every_store(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, None, Some("call 1")).await.unwrap();
        assert_eq!(refusal(world.system.make_api_key(&ada.user_id, None, Some("call 1")).await), "KeyExists");
        let id = made.key_id.parse().unwrap();
        let used = async || world.system.model.api_key(&ada.user_id, &id).await.unwrap().unwrap().last_used_at;
        assert_eq!(used().await, None);
        assert_eq!(world.system.user_of_api_key(&made.key).await.unwrap().id, ada.user_id);
        let first = used().await;
        assert_eq!(first, Some(world.system.now()));
        world.clock.advance(MINUTE);
        world.system.user_of_api_key(&made.key).await.unwrap();
        assert_eq!(used().await, first, "noted every five minutes");
        world.clock.advance(MINUTE * 5);
        world.system.user_of_api_key(&made.key).await.unwrap();
        assert_eq!(used().await, Some(world.system.now()));
        for wrong in [
            "",
            "hmat_",
            &made.key[1..],
            &made.key.replace("hmat_", "hmat_refresh_"),
            &format!("hmat_{}", "0".repeat(64)),
        ] {
            assert_eq!(refusal(world.system.user_of_api_key(wrong).await), "InvalidKey");
        }
        world.system.model.as_caller(ada.clone()).delete_api_key(&ada.user_id, &id).await.unwrap();
        assert_eq!(refusal(world.system.user_of_api_key(&made.key).await), "InvalidKey");
    });
}

/// Store that rejects updates and transactions.
struct Frozen(std::sync::Arc<dyn Execute>);

impl Execute for Frozen {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        match operation {
            Operation::UpdateItem(_) | Operation::TransactWriteItems(_) => {
                Box::pin(async { Err(Error::internal("frozen")) })
            }
            other => self.0.execute(other),
        }
    }
}

#[test]
fn a_key_is_good_although_its_use_cannot_be_noted() {
    on_embedded(async |scene| {
        let world = World::on(scene).await;
        let ada = world.person("ada").await;
        let made = world.system.make_api_key(&ada.user_id, None, None).await.unwrap();
        let frozen = world.through(std::sync::Arc::new(Frozen(world.scene.host.store())));
        assert_eq!(frozen.system.user_of_api_key(&made.key).await.unwrap().id, ada.user_id);
    });
}
