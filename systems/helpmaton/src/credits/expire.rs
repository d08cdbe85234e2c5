//! Returns the credit of expired reservations.
//!
//! An index contains open reservations by the hour of their deadline; closing a reservation removes it from the index.
//! The job processes the hours since the last finished one, which it stores, so that a pause of any length loses
//! nothing. An hour is finished when no reservation can be added to it and all of its reservations are closed. The
//! first run, without a stored hour, scans the whole index.

use keyform::{CallError, Epoch, Timestamp};

use crate::Helpmaton;
use crate::model::{CreditReservation, ExpireReservationError, FinishTillError, JobProgressJob};

/// Name under which the progress is stored.
const JOB: &str = "expire-reservations";
const HOUR_SECS: i64 = 3600;
/// Time after which an hour can be finished, because the clocks of machines differ and the index lags.
const SETTLED_SECS: i64 = 2 * HOUR_SECS;

/// Result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expired {
    /// Reservations whose credit was returned.
    pub given_back: usize,
    /// Reservations that could not be closed. The next run retries them.
    pub failed: usize,
}

/// Returns the credit of all expired reservations.
///
/// # Errors
/// Reservations cannot be read, or the progress cannot be stored. Repeating the run is safe.
pub async fn expire_due(helpmaton: &Helpmaton) -> Result<Expired, CallError> {
    let now_secs = helpmaton.now_millis().div_euclid(1000);
    match helpmaton.model.job_progress(&job()).await? {
        None => expire_all(helpmaton, now_secs).await,
        Some(progress) => expire_since(helpmaton, Epoch::from(progress.finished_till).0 + HOUR_SECS, now_secs).await,
    }
}

fn job() -> JobProgressJob {
    JobProgressJob::new(JOB).expect("a name of a few letters")
}

/// Processes the whole index.
async fn expire_all(helpmaton: &Helpmaton, now_secs: i64) -> Result<Expired, CallError> {
    let mut done = Expired::default();
    let open = helpmaton.model.open_reservations().all().await?;
    let due = open.into_iter().filter(|open| open.expires.is_some_and(|Epoch(expires)| expires <= now_secs));
    expire(helpmaton, due, &mut done).await;
    if done.failed == 0 {
        finish(helpmaton, hour_of(now_secs - SETTLED_SECS)).await?;
    }
    Ok(done)
}

/// Processes hour by hour, from the first unfinished one.
async fn expire_since(helpmaton: &Helpmaton, first_hour: i64, now_secs: i64) -> Result<Expired, CallError> {
    let mut done = Expired::default();
    for hour in (hour_of(first_hour)..=now_secs).step_by(HOUR_SECS.unsigned_abs() as usize) {
        let due = helpmaton.model.expired_reservations(Epoch(hour), Epoch(now_secs + 1)).all().await?;
        expire(helpmaton, due, &mut done).await;
        if done.failed == 0 && hour + SETTLED_SECS <= now_secs {
            finish(helpmaton, hour).await?;
        }
    }
    Ok(done)
}

fn hour_of(secs: i64) -> i64 {
    secs - secs.rem_euclid(HOUR_SECS)
}

async fn expire(helpmaton: &Helpmaton, due: impl IntoIterator<Item = CreditReservation>, done: &mut Expired) {
    for reservation in due {
        match helpmaton.model.expire_reservation(&reservation.reservation_id).await {
            Ok(_) => done.given_back += 1,
            Err(ExpireReservationError::AlreadyClosed | ExpireReservationError::UnknownReservation) => {}
            Err(error) => {
                tracing::warn!(reservation = %reservation.reservation_id, "cannot expire a reservation: {error}");
                done.failed += 1;
            }
        }
    }
}

async fn finish(helpmaton: &Helpmaton, hour: i64) -> Result<(), CallError> {
    match helpmaton.model.finish_till(&job(), Timestamp::from(Epoch(hour))).await {
        Ok(_) | Err(FinishTillError::Conflict(_)) => Ok(()),
        Err(FinishTillError::Failed(error)) => Err(error),
    }
}
