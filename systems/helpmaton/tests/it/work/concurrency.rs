//! Credit account under concurrency, conflicts, kills and lost answers; delegation and documents under concurrency.

use std::sync::Arc;
use std::time::Duration;

use keyform::Execute;
use keyform_helpmaton::agents;
use keyform_helpmaton::credits::{ReserveError, expire_due, refund, reserve, settle};
use keyform_helpmaton::model::{AgentId, CreditReservationStatus};
use keyform_helpmaton::spending::{self, TimeFrame, Whose};
use keyform_scenario::fault::{Contended, Lossy, Mortal};
use keyform_scenario::{on_embedded, on_every_store};
use tokio::task::JoinSet;

use super::office::{Office, credit, units};

const TRIES_MAX: usize = 50;

/// Repeats work until the store answers, as a caller without an answer does.
async fn until_answered<T, E, W: Future<Output = Result<T, E>>>(
    work: impl Fn() -> W,
    is_failure: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 0..TRIES_MAX {
        match work().await {
            Err(error) if is_failure(&error) => {}
            answer => return answer,
        }
    }
    panic!("no answer after {TRIES_MAX} tries")
}

/// Runs a call from start to end, each step repeated until it is answered. The number determines how it ends.
async fn one_call(office: Office, n: usize) {
    let call = office.call();
    let is_failure = |error: &ReserveError| matches!(error, ReserveError::Failed(_));
    match until_answered(|| reserve(&office.system, &call), is_failure).await {
        Err(ReserveError::InsufficientCredits { .. } | ReserveError::SpendingLimits(_)) => return,
        reserved => credit(reserved.unwrap()),
    };
    let id = &call.reservation_id;
    let is_failure = |error: &keyform_helpmaton::credits::CloseError| {
        matches!(error, keyform_helpmaton::credits::CloseError::Failed(_))
    };
    match n % 4 {
        0 => {}
        1 => drop(until_answered(|| refund(&office.system, id), is_failure).await.unwrap()),
        _ => drop(until_answered(|| settle(&office.system, id, units(1)), is_failure).await.unwrap()),
    }
}

/// Runs many concurrent calls, orders that are reported twice, and the expiry job.
async fn busy_day(office: &Office, faulty: &Office) {
    let mut work = JoinSet::new();
    for n in 0..24 {
        work.spawn(one_call(faulty.clone(), n));
    }
    while let Some(done) = work.join_next().await {
        done.unwrap();
    }
    let reservations = office.balanced().await;
    assert!(reservations.iter().any(|reservation| reservation.status == CreditReservationStatus::Open));
    office.scene.clock.advance(Duration::from_secs(16 * 60));
    let due: Vec<_> = reservations.iter().filter(|found| found.status == CreditReservationStatus::Open).collect();
    for reservation in due {
        let expire = || office.system.model.expire_reservation(&reservation.reservation_id);
        expire().await.unwrap();
        expire().await.unwrap_err();
    }
    let reservations = office.balanced().await;
    assert!(reservations.iter().all(|reservation| reservation.status != CreditReservationStatus::Open));
    let settled = reservations.iter().filter(|found| found.status == CreditReservationStatus::Settled).count();
    assert_eq!(office.account().await.credit_balance, units(100 - i64::try_from(settled).unwrap()));
}

#[test]
fn the_account_holds_while_many_call_at_once() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(100)).await;
        busy_day(&office, &office).await;
    });
}

#[test]
fn the_account_holds_when_transactions_meet() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(100)).await;
        let contended = office.through(Arc::new(Contended::new(office.scene.host.store(), 3)));
        busy_day(&office, &contended).await;
    });
}

#[test]
fn the_account_holds_when_answers_are_lost() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(100)).await;
        let lossy = office.through(Arc::new(Lossy::new(office.scene.host.store(), 3)));
        busy_day(&office, &lossy).await;
    });
}

/// Runs a sequence of calls that ends at the first failure, as if the process was killed.
async fn work(office: &Office, calls: &[keyform_helpmaton::credits::Reserve; 3]) -> Option<()> {
    for call in calls {
        reserve(&office.system, call).await.ok()?;
    }
    settle(&office.system, &calls[0].reservation_id, units(1)).await.ok()?;
    refund(&office.system, &calls[1].reservation_id).await.ok()?;
    Some(())
}

#[test]
fn the_account_holds_whenever_the_process_is_killed() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(1000)).await;
        let mut settled = 0;
        for requests in 0.. {
            let calls = [office.call(), office.call(), office.call()];
            let mortal = office.through(Arc::new(Mortal::new(office.scene.host.store(), requests)));
            let survived = work(&mortal, &calls).await.is_some();
            office.balanced().await;
            work(&office, &calls).await.unwrap();
            settled += 1;
            office.balanced().await;
            let last = office.system.model.reservation_by_id(&calls[2].reservation_id).await.unwrap().unwrap();
            assert_eq!(last.status, CreditReservationStatus::Open);
            refund(&office.system, &last.reservation_id).await.unwrap();
            if survived {
                break;
            }
        }
        assert_eq!(office.account().await.credit_balance, units(1000 - settled));
    });
}

#[test]
fn the_job_that_expires_may_be_killed_at_any_request() {
    on_embedded(async |scene| {
        let office = Office::with_credit(scene, units(10)).await;
        for requests in 0.. {
            for _ in 0..3 {
                reserve(&office.system, &office.call()).await.unwrap();
            }
            office.scene.clock.advance(Duration::from_secs(3 * 3600));
            let mortal = office.through(Arc::new(Mortal::new(office.scene.host.store(), requests)));
            let survived = expire_due(&mortal.system).await.is_ok_and(|done| done.failed == 0);
            office.balanced().await;
            expire_due(&office.system).await.unwrap();
            let left = office.balanced().await;
            assert!(left.iter().all(|reservation| reservation.status == CreditReservationStatus::Expired));
            assert_eq!(office.account().await.credit_balance, units(10));
            if survived {
                break;
            }
        }
    });
}

#[test]
fn a_limit_holds_while_many_call_at_once() {
    on_every_store(async |scene| {
        let office = Office::with_credit(scene, units(100)).await;
        let whose = Whose { workspace_id: office.workspace.clone(), agent_id: Some(office.agent.clone()) };
        let estimate = {
            let call = office.call();
            let reservation = credit(reserve(&office.system, &call).await.unwrap());
            refund(&office.system, &call.reservation_id).await.unwrap();
            reservation.reserved_amount
        };
        let limit = keyform::Money::of_nanos(estimate.nanos() * 5);
        spending::set(&office.by(), &whose, TimeFrame::Daily, limit).await.unwrap();
        let mut work = JoinSet::new();
        for _ in 0..12 {
            let office = office.clone();
            work.spawn(async move { reserve(&office.system, &office.call()).await });
        }
        let (mut made, mut refused) = (0, 0);
        while let Some(done) = work.join_next().await {
            match done.unwrap() {
                Ok(_) => made += 1,
                Err(ReserveError::SpendingLimits(_)) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((made, refused), (5, 7));
        office.balanced().await;
    });
}

#[test]
fn delegation_never_runs_in_a_circle() {
    on_every_store(async |scene| {
        let office = Office::open(scene).await;
        let mut ids: Vec<AgentId> = vec![office.agent.clone()];
        for _ in 0..4 {
            ids.push(office.another_agent().await);
        }
        let store: Arc<dyn Execute> = Arc::new(Contended::new(office.scene.host.store(), 4));
        let contended = office.through(store);
        let mut work = JoinSet::new();
        for from in 0..ids.len() {
            for step in 1..3 {
                let (office, ids) = (contended.clone(), ids.clone());
                work.spawn(async move {
                    let to = &ids[(from + step) % ids.len()];
                    drop(agents::allow_delegation(&office.by(), &office.workspace, &ids[from], to).await);
                });
            }
        }
        while let Some(done) = work.join_next().await {
            done.unwrap();
        }
        let agents = office.system.model.agents_in_workspace(&office.workspace).all().await.unwrap();
        assert_eq!(agents::circle(&agents), None);
        let links: usize = agents.iter().map(|agent| agent.delegatable_agent_ids.iter().flatten().count()).sum();
        let delegators: i64 = agents.iter().map(|agent| agent.delegators).sum();
        assert_eq!(i64::try_from(links).unwrap(), delegators);
        assert!(links >= ids.len() - 1, "{links} links");
    });
}
