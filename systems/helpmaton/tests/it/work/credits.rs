//! Credits: estimate, reserve, settle, refund, expire, purchase, trial; and spending limits.

use std::time::Duration;

use keyform::Money;
use keyform::flow::{FlowCall, FlowError};
use keyform::runtime::run::Caller as Claims;
use keyform_helpmaton::credits::purchase::{Order, PurchaseError, purchase, signature};
use keyform_helpmaton::credits::reserve::estimated;
use keyform_helpmaton::credits::{
    CloseError, ReserveError, Reserved, expire_due, refund, reserve, settle, settle_tokens, trial,
};
use keyform_helpmaton::model::{
    CreditReservationStatus, RequestTrialCreditError, TrialCreditRequestStatus, WorkspaceApiKeyProvider,
};
use keyform_helpmaton::prices::{Currency, Tokens};
use keyform_helpmaton::spending::{self, ChangeLimitError, Limits, Scope, TimeFrame, Whose};
use keyform_helpmaton::{application_with, provider_keys};
use keyform_scenario::{on_embedded, on_every_store};
use serde_json::json;

use super::office::{Office, credit, id, person, units};

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_call_is_estimated_reserved_and_settled() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        let (tokens, cost) = estimated(&office.system, &call).await.unwrap();
        assert_eq!(tokens, Tokens { prompt_tokens: 7, completion_tokens: 100 });
        let estimate = cost.unwrap().usd;
        assert_eq!(estimate, Money::of_nanos(7 * 300 + 100 * 2500));

        let reservation = credit(reserve(&office.system, &call).await.unwrap());
        assert_eq!(reservation.reserved_amount, estimate);
        assert_eq!(office.account().await.credit_balance, units(5) - estimate);
        office.balanced().await;

        let used = Tokens { prompt_tokens: 1000, completion_tokens: 1000 };
        let settled =
            settle_tokens(&office.system, &call.reservation_id, "gemini-2.5-flash", Some(used)).await.unwrap();
        assert_eq!(settled.settled_cost, Some(Money::of_nanos(2_800_000)));
        assert_eq!(office.account().await.credit_balance, units(5) - Money::of_nanos(2_800_000));
        office.balanced().await;
    });
}

#[test]
fn each_step_done_again_changes_nothing() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        let first = credit(reserve(&office.system, &call).await.unwrap());
        assert_eq!(credit(reserve(&office.system, &call).await.unwrap()), first);
        settle(&office.system, &call.reservation_id, units(1)).await.unwrap();
        let again = settle(&office.system, &call.reservation_id, units(3)).await.unwrap();
        assert_eq!(again.settled_cost, Some(units(1)));
        assert_eq!(
            refund(&office.system, &call.reservation_id).await,
            Err(CloseError::AlreadyClosed(CreditReservationStatus::Settled))
        );
        assert_eq!(credit(reserve(&office.system, &call).await.unwrap()).status, CreditReservationStatus::Settled);

        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        refund(&office.system, &call.reservation_id).await.unwrap();
        refund(&office.system, &call.reservation_id).await.unwrap();
        let late = settle(&office.system, &call.reservation_id, units(1)).await;
        assert_eq!(late, Err(CloseError::AlreadyClosed(CreditReservationStatus::Refunded)));
        assert_eq!(office.account().await.credit_balance, units(4));
        office.balanced().await;
    });
}

#[test]
fn a_call_without_usage_costs_what_was_reserved_and_one_that_cost_more_is_paid_below_zero() {
    on_embedded(async |scene| {
        let office = Office::with_credit(scene, units(1)).await;
        let call = office.call();
        let reservation = credit(reserve(&office.system, &call).await.unwrap());
        let settled = settle_tokens(&office.system, &call.reservation_id, "gemini-2.5-flash", None).await.unwrap();
        assert_eq!(settled.settled_cost, Some(reservation.reserved_amount));
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        settle(&office.system, &call.reservation_id, units(2)).await.unwrap();
        assert!(office.account().await.credit_balance < units(-1));
        office.balanced().await;
        assert!(matches!(reserve(&office.system, &office.call()).await, Err(ReserveError::InsufficientCredits { .. })));
        assert_eq!(settle(&office.system, &call.reservation_id, units(-1)).await, Err(CloseError::Negative));
        assert_eq!(settle(&office.system, &id(), units(1)).await, Err(CloseError::UnknownReservation));
    });
}

#[test]
fn all_of_the_balance_may_be_reserved_and_no_more() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let (_, cost) = estimated(&office.system, &office.call()).await.unwrap();
        let refused = reserve(&office.system, &office.call()).await;
        let required = cost.unwrap().usd;
        assert_eq!(refused, Err(ReserveError::InsufficientCredits { required, available: Money::ZERO }));
        office.buy(required).await;
        reserve(&office.system, &office.call()).await.unwrap();
        assert_eq!(office.account().await.credit_balance, Money::ZERO);
        office.balanced().await;
    });
}

#[test]
fn the_request_limit_comes_first_and_only_calls_that_are_made_count() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let made = async || office.system.requests_of_day(&office.subscription).await.unwrap();
        assert!(matches!(reserve(&office.system, &office.call()).await, Err(ReserveError::InsufficientCredits { .. })));
        assert_eq!(made().await, 0, "a call that was refused does not count");
        office.buy(units(5)).await;
        let call = office.call();
        for _ in 0..2 {
            reserve(&office.system, &call).await.unwrap();
        }
        assert_eq!(made().await, 1);
        office.limit_requests(2).await;
        reserve(&office.system, &office.call()).await.unwrap();
        let by = office.by();
        spending::set(&by, &whose(&office, false), TimeFrame::Daily, Money::ZERO).await.unwrap();
        assert_eq!(reserve(&office.system, &office.call()).await, Err(ReserveError::RequestLimitReached));
        office.scene.clock.advance(24 * 60 * MINUTE);
        assert!(matches!(reserve(&office.system, &office.call()).await, Err(ReserveError::SpendingLimits(_))));
        office.balanced().await;
    });
}

#[test]
fn who_brings_their_own_key_reserves_nothing() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let google = WorkspaceApiKeyProvider::Google;
        provider_keys::set(&office.by(), &office.workspace, google, "their own key").await.unwrap();
        let reserved = reserve(&office.system, &office.call()).await.unwrap();
        assert!(matches!(reserved, Reserved::Byok { estimate } if estimate.usd > Money::ZERO));
        assert!(office.balanced().await.is_empty());
        provider_keys::set(&office.by(), &office.workspace, google, "").await.unwrap();
        assert!(matches!(reserve(&office.system, &office.call()).await, Err(ReserveError::InsufficientCredits { .. })));
    });
}

#[test]
fn what_nobody_settles_goes_back_however_long_the_job_paused() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let shared = office.scene.store == "extenddb";
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        if !shared {
            assert_eq!(expire_due(&office.system).await.unwrap().given_back, 0);
        }
        office.scene.clock.advance(14 * MINUTE);
        office.balanced().await;
        for pause in [2 * MINUTE, 60 * MINUTE, 60 * 50 * MINUTE] {
            let call = office.call();
            reserve(&office.system, &call).await.unwrap();
            office.scene.clock.advance(15 * MINUTE + pause);
            expire_due(&office.system).await.unwrap();
            let found = office.system.model.reservation_by_id(&call.reservation_id).await.unwrap().unwrap();
            // On a shared store another test with its own clock may have processed the reservation first.
            assert!(shared || found.status == CreditReservationStatus::Expired, "{pause:?}");
            office.balanced().await;
        }
        if !shared {
            assert_eq!(office.account().await.credit_balance, units(5));
        }
    });
}

#[test]
fn a_call_that_is_settled_too_late_is_paid_once() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        office.scene.clock.advance(16 * MINUTE);
        office.system.model.expire_reservation(&call.reservation_id).await.unwrap();
        office.balanced().await;
        for _ in 0..2 {
            let settled = settle(&office.system, &call.reservation_id, units(2)).await.unwrap();
            assert_eq!(settled.status, CreditReservationStatus::Settled);
        }
        assert_eq!(office.account().await.credit_balance, units(3));
        office.balanced().await;
    });
}

#[test]
fn an_order_counts_once_and_in_its_currency() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let order = Order {
            order_id: "4711".to_owned(),
            workspace_id: office.workspace.clone(),
            amount: units(10),
            currency: Currency::Usd,
        };
        for _ in 0..3 {
            assert_eq!(purchase(&office.system, &order).await.unwrap().credit_balance, units(10));
        }
        let euros = Order { order_id: "4712".to_owned(), currency: Currency::Eur, ..order.clone() };
        assert_eq!(purchase(&office.system, &euros).await, Err(PurchaseError::WrongCurrency));
        let nothing = Order { order_id: "4713".to_owned(), amount: Money::ZERO, ..order.clone() };
        assert_eq!(purchase(&office.system, &nothing).await, Err(PurchaseError::NotPositive));
        let elsewhere = Order { workspace_id: id(), ..order };
        assert_eq!(purchase(&office.system, &elsewhere).await, Err(PurchaseError::UnknownWorkspace));
        office.balanced().await;
    });
}

#[test]
fn an_order_over_http_is_signed() {
    on_embedded(async |scene| {
        let office = Office::open(scene).await;
        let application = application_with(&office.scene.host, office.settings.clone()).unwrap();
        let order = Order {
            order_id: "1".to_owned(),
            workspace_id: office.workspace.clone(),
            amount: units(3),
            currency: Currency::Usd,
        };
        let call = |signature: &str| FlowCall {
            caller: Claims::Claims(keyform::Attributes::new()),
            client: keyform::flow::Client::LOCAL,
            arguments: json!({
                "orderId": "1", "workspaceId": office.workspace, "amount": 3_000_000_000_i64, "currency": "usd",
                "signature": signature
            }),
            token: None,
        };
        let flow = application.find_flow("recordPurchase").unwrap();
        assert!(matches!(flow.call(call("00")).await, Err(FlowError::Forbidden)));
        let answer = flow.call(call(&signature("shop", &order))).await.unwrap();
        assert_eq!(answer["balance"], 3_000_000_000_i64);
    });
}

#[test]
fn trial_credit_is_asked_for_once_and_decided_once() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        office.by().request_trial_credit(&office.workspace).await.unwrap();
        let again = office.by().request_trial_credit(&office.workspace).await;
        assert_eq!(again, Err(RequestTrialCreditError::AlreadyRequested));
        for _ in 0..2 {
            let approved = trial::approve(&office.system, &office.workspace, units(2), "admin").await.unwrap();
            assert_eq!(approved.status, TrialCreditRequestStatus::Approved);
        }
        assert!(trial::reject(&office.system, &office.workspace, "admin").await.is_err());
        let account = office.account().await;
        assert_eq!((account.credit_balance, account.trial_credit_amount), (units(2), Some(units(2))));
        assert_eq!(trial::used_percent(&account), Some(0));
        office.balanced().await;
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        settle(&office.system, &call.reservation_id, units(1)).await.unwrap();
        assert_eq!(trial::used_percent(&office.account().await), Some(50));
    });
}

#[test]
fn trial_credit_can_be_rejected_and_is_for_new_users() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        office.by().request_trial_credit(&office.workspace).await.unwrap();
        for _ in 0..2 {
            let rejected = trial::reject(&office.system, &office.workspace, "admin").await.unwrap();
            assert_eq!(rejected.status, TrialCreditRequestStatus::Rejected);
        }
        assert!(trial::approve(&office.system, &office.workspace, units(2), "admin").await.is_err());
        assert_eq!(office.account().await.credit_balance, Money::ZERO);

        let old = Office::open(office.scene.clone()).await;
        old.scene.clock.advance(8 * 24 * 60 * MINUTE);
        let refused = old.by().request_trial_credit(&old.workspace).await;
        assert_eq!(refused, Err(RequestTrialCreditError::AccountTooOld));
    });
}

#[test]
fn all_limits_are_looked_at_and_told_together() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(100)).await;
        let (of_workspace, of_agent) = (whose(&office, false), whose(&office, true));
        let by = office.by();
        spending::set(&by, &of_workspace, TimeFrame::Daily, units(3)).await.unwrap();
        spending::set(&by, &of_workspace, TimeFrame::Monthly, units(50)).await.unwrap();
        spending::set(&by, &of_agent, TimeFrame::Weekly, units(3)).await.unwrap();
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        settle(&office.system, &call.reservation_id, units(3)).await.unwrap();
        let Err(ReserveError::SpendingLimits(failed)) = reserve(&office.system, &office.call()).await else {
            panic!("the limits are reached")
        };
        let failed: Vec<_> = failed.iter().map(|limit| (limit.scope, limit.time_frame, limit.spent)).collect();
        let expected = [(Scope::Workspace, TimeFrame::Daily, units(3)), (Scope::Agent, TimeFrame::Weekly, units(3))];
        assert_eq!(failed, expected);

        // The next day resets the daily limit but not the weekly one.
        office.scene.clock.advance(24 * 60 * MINUTE);
        let Err(ReserveError::SpendingLimits(failed)) = reserve(&office.system, &office.call()).await else {
            panic!("the week's limit is reached")
        };
        assert_eq!(failed.iter().map(|limit| limit.time_frame).collect::<Vec<_>>(), [TimeFrame::Weekly]);
        spending::remove(&by, &of_agent, TimeFrame::Weekly).await.unwrap();
        reserve(&office.system, &office.call()).await.unwrap();
        office.balanced().await;
    });
}

#[test]
fn limits_are_set_changed_and_removed_by_those_who_may_write() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let by = office.by();
        for whose in [whose(&office, false), whose(&office, true)] {
            let missing = spending::update(&by, &whose, TimeFrame::Daily, units(1)).await;
            assert_eq!(missing, Err(ChangeLimitError::NoSuchLimit));
            spending::set(&by, &whose, TimeFrame::Daily, units(1)).await.unwrap();
            let both = spending::set(&by, &whose, TimeFrame::Weekly, units(5)).await.unwrap();
            assert_eq!(both, Limits { daily: Some(units(1)), weekly: Some(units(5)), monthly: None });
            spending::update(&by, &whose, TimeFrame::Daily, units(2)).await.unwrap();
            spending::remove(&by, &whose, TimeFrame::Weekly).await.unwrap();
            let left = spending::remove(&by, &whose, TimeFrame::Weekly).await.unwrap();
            assert_eq!(left, Limits { daily: Some(units(2)), ..Limits::default() });
            assert_eq!(spending::remove(&by, &whose, TimeFrame::Daily).await.unwrap(), Limits::default());
            let negative = spending::set(&by, &whose, TimeFrame::Daily, units(-1)).await;
            assert_eq!(negative, Err(ChangeLimitError::Negative));
        }
        assert_eq!(office.account().await.spending_limits, None);
        let stranger = office.system.model.as_caller(person(&office.system).await);
        let refused = spending::set(&stranger, &whose(&office, false), TimeFrame::Daily, units(1)).await;
        assert_eq!(refused, Err(ChangeLimitError::Failed(keyform::CallError::Forbidden)));
    });
}

fn whose(office: &Office, agent: bool) -> Whose {
    Whose { workspace_id: office.workspace.clone(), agent_id: agent.then(|| office.agent.clone()) }
}

#[test]
fn a_call_is_refused_for_what_is_not_there() {
    on_embedded(async |scene| {
        let office = Office::with_credit(scene, units(5)).await;
        let unknown = keyform_helpmaton::credits::Reserve { workspace_id: id(), ..office.call() };
        assert_eq!(reserve(&office.system, &unknown).await, Err(ReserveError::UnknownWorkspace));
        let unknown = keyform_helpmaton::credits::Reserve { agent_id: id(), ..office.call() };
        assert_eq!(reserve(&office.system, &unknown).await, Err(ReserveError::UnknownAgent));
        let call = office.call();
        reserve(&office.system, &call).await.unwrap();
        let other = office.another_agent().await;
        let taken = keyform_helpmaton::credits::Reserve { agent_id: other, ..call };
        assert_eq!(reserve(&office.system, &taken).await, Err(ReserveError::ReservationExists));
        office.balanced().await;
    });
}
