//! Writes that are sent again under the same `Idempotency-Key`: they apply once, and all are answered alike.
//!
//! Answers are kept in memory for as long as the service keeps its tokens. What failed for a passing reason is not kept, so that it can be
//! tried again. Across a restart only the store's own token protects: the one of an `idempotent` write.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use aws_lc_rs::digest;
use keyform_core::{Attributes, Item};
use keyform_model::run::Caller;
use tokio::sync::OnceCell;

use super::problem::{self, Problem};

/// How long an answer is kept: as long as the service keeps the token of a transaction.
const KEPT: Duration = Duration::from_secs(600);
/// How many answers are kept at most; the oldest half goes first.
const ANSWERS_MAX: usize = 20_000;

/// What a write answered: the status and the body.
pub(super) type Answered = (u16, Vec<u8>);

type Hash = [u8; 32];

/// The answers of the last minutes.
#[derive(Default)]
pub(crate) struct Repeats(Mutex<HashMap<Hash, Arc<Entry>>>);

struct Entry {
    arguments: Hash,
    since: Instant,
    answer: OnceCell<Result<Answered, Problem>>,
}

/// Which call it is: the same key of another caller or for another pattern is another call.
pub(super) struct Scope<'a> {
    pub(super) model: &'a str,
    pub(super) pattern: &'a str,
    pub(super) caller: &'a Caller,
    pub(super) key: &'a str,
}

impl Scope<'_> {
    fn hash(&self) -> Hash {
        let claims = match self.caller {
            Caller::System => Vec::new(),
            Caller::Claims(claims) => Item::from(claims).as_bytes().to_vec(),
        };
        hash(&[self.model.as_bytes(), self.pattern.as_bytes(), &claims, self.key.as_bytes()])
    }

    /// The token for the store.
    pub(super) fn token(&self) -> String {
        self.hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl Repeats {
    /// The answer of the first call of this scope; others wait for it.
    pub(super) async fn once<F>(
        &self,
        scope: &Scope<'_>,
        arguments: &Attributes,
        write: impl FnOnce() -> F,
    ) -> Result<Answered, Problem>
    where
        F: Future<Output = Result<Answered, Problem>>,
    {
        let arguments = hash(&[Item::from(arguments).as_bytes()]);
        let entry = self.entry(scope.hash(), arguments);
        if entry.arguments != arguments {
            return Err(Problem::new(problem::KEY_REUSED, "the same Idempotency-Key came with other arguments"));
        }
        let lasting = async || match write().await {
            Err(problem) if problem.is_passing() => Err(problem),
            answer => Ok(answer),
        };
        match entry.answer.get_or_try_init(lasting).await {
            Ok(answer) => answer.clone(),
            Err(problem) => Err(problem),
        }
    }

    fn entry(&self, scope: Hash, arguments: Hash) -> Arc<Entry> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ANSWERS_MAX {
            let mut ages: Vec<Instant> = entries.values().map(|entry| entry.since).collect();
            ages.sort_unstable();
            let middle = ages[ages.len() / 2];
            entries.retain(|_, entry| entry.since > middle);
        }
        let fresh = || Arc::new(Entry { arguments, since: Instant::now(), answer: OnceCell::new() });
        let entry = entries.entry(scope).or_insert_with(fresh);
        if entry.since.elapsed() > KEPT {
            *entry = fresh();
        }
        entry.clone()
    }
}

/// The parts, each with its length, so that no two lists of parts read the same.
fn hash(parts: &[&[u8]]) -> Hash {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_le_bytes());
        context.update(part);
    }
    let mut hash = Hash::default();
    hash.copy_from_slice(context.finish().as_ref());
    hash
}
