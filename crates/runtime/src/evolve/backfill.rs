//! Backfill: migrates every old item, page by page, starting at the checkpoints.
//!
//! An interrupted run resumes at its last checkpoints. The checkpoint is written after the page, so a page may be
//! repeated: its items already carry marks and stay unchanged.

use keyform_core::Attributes;

use super::carry::{Carried, carry, follow};
use super::form::{Class, Form};
use super::join::join;
use super::migration::{Held, MigrateError, Migration, Pace, Progress, SEGMENTS, Watch, shown_key};
use super::state::{Checkpoint, Phase, State};
use crate::contention::Tries;

/// Attempts per item under contention.
const TRIES_MAX: u32 = 12;
/// Limit of reported stuck items.
const EXAMPLES_MAX: usize = 10;

/// Result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// State at the end of the run.
    pub state: State,
    /// Tables and indexes that the run created.
    pub made: Vec<String>,
    /// Items that cannot be converted, each with the reason; the first few.
    pub stuck: Vec<String>,
}

impl Migration {
    /// Migrates every old item. Resumes an interrupted run from its checkpoints.
    ///
    /// # Errors
    ///
    /// Returns an error if another process runs the migration, it is already complete, or the store fails.
    pub async fn run(&self, pace: &Pace, watch: Watch<'_>) -> Result<Ran, MigrateError> {
        let phase = self.status().await?.phase;
        match phase {
            Phase::Closing | Phase::Closed => {
                return Err(MigrateError::Phase(phase, "remove the `evolve` from the model"));
            }
            Phase::RollingBack => {
                return Err(MigrateError::Phase(phase, "complete `keyform migrate rollback` first"));
            }
            Phase::Open | Phase::Filling | Phase::Filled | Phase::RolledBack => {}
        }
        self.accept().await?;
        let mut held = self.take(pace).await?;
        let made = self.prepare().await?;
        // A run after a complete one reads everything again: an old application may have written items since.
        if matches!(held.state.phase, Phase::Filled | Phase::RolledBack) {
            held.state.checkpoints.clear();
        }
        if held.state.checkpoints.is_empty() {
            held.state.scanned_before = held.state.counts.scanned;
        }
        held.state.counts.stuck = 0;
        held.enter(Phase::Filling).await?;
        let mut stuck = Vec::new();
        let mut total = 0;
        for (table, _) in self.sources() {
            total += self.item_count(&table).await?;
        }
        let begun = held.state.scanned_before;
        for (table, forms) in self.sources() {
            for segment in 0..SEGMENTS {
                let mut tell = |held: &Held<'_>| {
                    let counts = held.state.counts.clone();
                    watch(&Progress { step: "migrating", done: counts.scanned.saturating_sub(begun), total, counts });
                };
                self.segment(&mut held, pace, &table, &forms, segment, &mut stuck, &mut tell).await?;
            }
        }
        // The store's count of items is an estimate; the last report says that nothing is left.
        let counts = held.state.counts.clone();
        let all = total.max(counts.scanned.saturating_sub(begun));
        watch(&Progress { step: "migrating", done: all, total: all, counts });
        match stuck.is_empty() {
            true => held.state.phase = Phase::Filled,
            // The next run reads everything again.
            false => held.state.checkpoints.clear(),
        }
        Ok(Ran { state: held.release().await?, made, stuck })
    }

    #[expect(clippy::too_many_arguments, reason = "what a segment needs is what a run knows")]
    async fn segment(
        &self,
        held: &mut Held<'_>,
        pace: &Pace,
        table: &str,
        forms: &[&Form],
        segment: u32,
        stuck: &mut Vec<String>,
        tell: &mut (dyn FnMut(&Held<'_>) + Send),
    ) -> Result<(), MigrateError> {
        let mut start = match held.checkpoint(table, segment) {
            Some(Checkpoint::Done) => return Ok(()),
            Some(Checkpoint::At(key)) => Some(key.clone()),
            None => None,
        };
        loop {
            let (items, last) = self.page(table, Some(segment), start.take()).await?;
            self.carry_page(held, pace, forms, &items, stuck).await?;
            held.state.counts.scanned += items.len() as u64;
            // After the page: the checkpoint may lag behind the work, but is never ahead of it.
            held.set_checkpoint(table, segment, last.clone());
            held.save().await?;
            tell(held);
            match last {
                Some(key) => start = Some(key),
                None => return Ok(()),
            }
        }
    }

    async fn carry_page(
        &self,
        held: &mut Held<'_>,
        pace: &Pace,
        forms: &[&Form],
        items: &[Attributes],
        stuck: &mut Vec<String>,
    ) -> Result<(), MigrateError> {
        let mut old: Vec<(&Form, &Attributes)> = Vec::new();
        for item in items {
            let is_old = |form: &&&Form| matches!(form.class(item), Class::Old | Class::Moved(_));
            old.extend(forms.iter().find(is_old).map(|form| (*form, item)));
        }
        for some in old.chunks(pace.at_once.max(1)) {
            let carried = some.iter().map(|(form, item)| {
                let future: keyform_core::execute::BoxFuture<'_, _> = Box::pin(self.carry_one(form, item));
                future
            });
            let mut units = 0.0;
            for ((form, item), done) in some.iter().zip(join(carried.collect()).await) {
                let (done, spent) = done?;
                units += spent;
                let counts = &mut held.state.counts;
                match done {
                    Carried::Moved => counts.carried += 1,
                    Carried::Superseded => counts.superseded += 1,
                    Carried::Already => {}
                    Carried::Busy => {
                        return Err(MigrateError::Store(keyform_core::Error::internal(
                            "an item kept changing during the migration: run it again",
                        )));
                    }
                    Carried::Stuck(why) => {
                        counts.stuck += 1;
                        if stuck.len() < EXAMPLES_MAX {
                            let key = shown_key(&form.old.key_of(item));
                            stuck.push(format!("{} {key}: {why}", form.new.entity.name));
                        }
                    }
                }
            }
            held.spent(units).await?;
        }
        Ok(())
    }

    async fn carry_one(&self, form: &Form, item: &Attributes) -> Result<(Carried, f64), MigrateError> {
        let mut units = 0.0;
        let mut tries = Tries::new(&*self.world, TRIES_MAX);
        while tries.next().await {
            let now = self.world.now_millis();
            let (done, spent) = match form.class(item) {
                Class::Moved(mark) if tries.is_first() => follow(&*self.store, form, item, &mark, now).await?,
                // The item changed in the meantime; the next run handles it.
                Class::Moved(_) => return Ok((Carried::Already, units)),
                _ => carry(&*self.store, form, item, now).await?,
            };
            units += spent;
            if done != Carried::Busy {
                return Ok((done, units));
            }
        }
        Ok((Carried::Busy, units))
    }
}
