//! Proves that a model isolates its tenants. The proof is derived from the model alone, so that it covers new patterns
//! automatically.
//!
//! 1. `concepts` finds the fields, references, claims and parameters that identify the same thing; `vocabulary` gives
//!    each a value per tenant, in the `variant` that the seed selects. Free text is a canary of its tenant.
//! 2. `seed` creates an item of every entity for each of two tenants, and what gives further `caller`s rights: another
//!    member, and a member of both tenants. A removed member and a stranger have nothing.
//! 3. `world` fills three stores: one with the caller's tenant *alone*, one with *both* tenants, and one with both where
//!    the contents of the other one are *changed*.
//! 4. `trial` calls each pattern as everyone, with `arguments` that are own, foreign, absent, unknown or of another
//!    meaning, in the form in which a client of the HTTP API sends them.
//! 5. The property: **the results and effects of a call are the same whether the other tenant exists or not, and
//!    whatever it contains.** A read must return the same in all stores, errors included. A write that succeeds must succeed in all, return the same,
//!    and leave the stores different by exactly the other tenant, unchanged (`effect`). A write may be refused because of
//!    the other tenant (a name is taken), but then it must not change anything, and the refusal must not expose an item.
//! 6. Further properties: no item is created in the scope of the other tenant; no write gives a right that its caller
//!    does not have (`right`); cursors and idempotency keys give nothing to a caller without a right (`replay`); stored
//!    items fit their entities.
//!
//! `exception` respects what the model declares: items of an entity with `unscoped`, and items that a `bearer` value
//! or a `grants` reference opens, are in both stores for the calls concerned.

mod arguments;
mod caller;
mod concepts;
mod effect;
mod exception;
mod replay;
mod report;
mod right;
mod seed;
mod show;
mod trial;
mod variant;
mod vocabulary;
mod world;

use keyform_check::Checked;
use keyform_language::schema::ReadId;
use keyform_runtime::run::RunError;

use concepts::Concepts;
use trial::{Session, Worlds};
use variant::Variant;
use vocabulary::Vocabulary;
use world::{Tenants, World};

pub use caller::Persona;
pub use report::{Class, Kind, Leak, Note, Promise, Proof, Tried};

/// Number of seeds of [`prove`]: they cover every variant of the worlds.
pub const SEEDS: u64 = 8;

/// Options of [`prove_with`].
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Number of seeds, each with its own worlds and calls.
    pub seeds: u64,
    /// Called after each pattern of each seed with the number of patterns done and the total.
    pub progress: Option<&'a dyn Fn(u64, u64)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { seeds: SEEDS, progress: None }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("seeds", &self.seeds).finish_non_exhaustive()
    }
}

/// Tries every pattern of a model with the default options.
///
/// ```
/// let checked = keyform_check::Checked::read("model empty\n\ncaller userId: ulid\n\ntable T { key pk }\n");
/// assert!(keyform_prove::prove(&checked)?.leaks.is_empty());
/// # Ok::<(), keyform_runtime::run::RunError>(())
/// ```
///
/// # Errors
///
/// The model has errors other than findings about permissions, or its tables cannot be created. A model without
/// `caller` has nothing to test.
pub fn prove(checked: &Checked) -> Result<Proof, RunError> {
    prove_with(checked, &Options::default())
}

/// Tries every pattern of a model.
///
/// # Errors
///
/// The same as of [`prove`].
pub fn prove_with(checked: &Checked, options: &Options<'_>) -> Result<Proof, RunError> {
    let mut session = Session::default();
    if checked.model.caller.is_none() {
        return Ok(session.proof);
    }
    let concepts = Concepts::of(&checked.model);
    for seed in 0..options.seeds {
        let crossed = session.crossed.clone();
        let vocabulary = Vocabulary { model: &checked.model, concepts: &concepts, variant: Variant::of(seed), crossed };
        let mut worlds = worlds(checked, vocabulary)?;
        let mut progress = Progress::of(checked, options, seed);
        for (number, read) in checked.model.reads.iter().enumerate() {
            if checked.plans.read(ReadId(number)).is_some() {
                session.read(&mut worlds, read);
            }
            progress.step();
        }
        for write in &checked.model.writes {
            session.write(&mut worlds, write);
            progress.step();
        }
        replay::all(&mut session, &mut worlds, checked);
        session.proof.seeds = seed + 1;
    }
    Ok(session.proof)
}

/// Fills the stores of a seed.
fn worlds<'a>(checked: &Checked, vocabulary: Vocabulary<'a>) -> Result<Worlds<'a>, RunError> {
    let alone = World::new(checked, &vocabulary, Tenants::Alone)?;
    let both = World::new(checked, &vocabulary, Tenants::Both)?;
    let changed = World::new(checked, &vocabulary, Tenants::Changed)?;
    let rights = right::of_items(both.model(), &vocabulary, both.seeded());
    Ok(Worlds { alone, both, changed, vocabulary, rights })
}

/// Counts patterns for the callback.
struct Progress<'a> {
    report: Option<&'a dyn Fn(u64, u64)>,
    done: u64,
    total: u64,
}

impl<'a> Progress<'a> {
    fn of(checked: &Checked, options: &Options<'a>, seed: u64) -> Self {
        let patterns = checked.model.reads.len() + checked.model.writes.len();
        let patterns = u64::try_from(patterns).unwrap_or(u64::MAX);
        Self { report: options.progress, done: seed * patterns, total: options.seeds * patterns }
    }

    fn step(&mut self) {
        self.done += 1;
        if let Some(report) = self.report {
            report(self.done, self.total);
        }
    }
}
