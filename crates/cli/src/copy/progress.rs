//! Progress display of a copy: a bar on a terminal, periodic lines otherwise.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use keyform::{SystemWorld, World as _};
use keyform_transfer::{Phase, Progress};

use crate::output;

/// Interval of the lines that replace the bar where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(30);

pub(super) struct Line {
    /// Hidden if standard error is not a terminal.
    bar: ProgressBar,
    state: Mutex<State>,
}

struct State {
    /// Moments on the monotonic clock.
    begun: Duration,
    told: Duration,
    table: String,
    /// Items that an earlier run copied.
    before: u64,
}

impl Default for Line {
    fn default() -> Self {
        let now = SystemWorld.monotonic();
        let state = State { begun: now, told: now, table: String::new(), before: 0 };
        let bar = ProgressBar::no_length().with_style(style("{msg}"));
        Self { bar, state: Mutex::new(state) }
    }
}

impl Line {
    pub(super) fn show(&self, progress: &Progress) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemWorld.monotonic();
        if state.table != progress.table {
            state.table.clone_from(&progress.table);
            (state.begun, state.before) = (now, progress.items);
        }
        if !self.bar.is_hidden() {
            self.draw(progress, &words(progress, &state));
        } else if now - state.told >= BETWEEN_LINES {
            state.told = now;
            let share = if progress.phase == Phase::Copying { share(progress) } else { String::new() };
            output::note(&format!("{}{share}: {}", progress.table, words(progress, &state)));
        }
    }

    fn draw(&self, progress: &Progress, words: &str) {
        if progress.phase == Phase::Copying {
            self.bar.set_style(style("{prefix} [{bar:24}] {percent:>3} % {msg}"));
            // The source's item count may be hours old.
            self.bar.set_length(progress.items_total.max(progress.items).max(1));
            self.bar.set_position(progress.items);
        } else {
            self.bar.set_style(style("{prefix}: {msg}"));
        }
        self.bar.set_prefix(progress.table.clone());
        self.bar.set_message(words.to_owned());
    }

    /// Displays the number of items so far.
    pub(super) fn count(&self, table: &str, items: u64) {
        let begun = self.state.lock().unwrap_or_else(PoisonError::into_inner).begun;
        self.bar.set_message(format!("{table}: {items} items, {:.0} items/s", rate(items, begun)));
    }

    /// Writes a separate line.
    pub(super) fn say(&self, text: &str) {
        self.bar.suspend(|| output::note(text));
    }

    /// Clears the line.
    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is valid").progress_chars("# ")
}

fn rate(items: u64, begun: Duration) -> f64 {
    items as f64 / (SystemWorld.monotonic() - begun).as_secs_f64().max(0.001)
}

fn words(progress: &Progress, state: &State) -> String {
    let Progress { items, bytes, changes, .. } = progress;
    match progress.phase {
        Phase::Copying => {
            let rate = rate(items.saturating_sub(state.before), state.begun);
            format!("{items} items, {}, {rate:.0} items/s", HumanBytes(*bytes))
        }
        Phase::Following => {
            let state = if progress.caught_up { "caught up" } else { "behind" };
            format!("following, {changes} changes, {state}")
        }
        Phase::Verifying => "comparing both sides".to_owned(),
    }
}

/// Formats how much of the table is copied, if the source has counted its items.
fn share(progress: &Progress) -> String {
    match progress.items_total {
        0 => String::new(),
        total => format!(", {} %", progress.items.min(total) * 100 / total),
    }
}
