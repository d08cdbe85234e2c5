//! Work with a time limit.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::World;

/// The time limit passed before the work was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elapsed;

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the time limit has passed")
    }
}

impl std::error::Error for Elapsed {}

/// Runs `work` for at most `limit`, counted from the first poll. Work that is done at its first poll needs no timer.
///
/// # Errors
/// [`Elapsed`] if the limit passes first; the work is then dropped at its current await point.
pub async fn timeout<T>(world: &dyn World, limit: Duration, work: impl Future<Output = T>) -> Result<T, Elapsed> {
    let mut work = pin!(work);
    let mut timer = None;
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        let timer = timer.get_or_insert_with(|| world.sleep(limit));
        timer.as_mut().poll(cx).map(|()| Err(Elapsed))
    })
    .await
}
