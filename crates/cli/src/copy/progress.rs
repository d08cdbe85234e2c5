//! Progress display of a copy: one updated line on a terminal, periodic lines otherwise.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keyform::copy::{Phase, Progress};
use keyform::{SystemWorld, World as _};

use crate::output;

const ON_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(30);
const WIDTH: usize = 24;

/// Progress line.
pub(super) struct Line {
    state: Mutex<State>,
    is_terminal: bool,
}

struct State {
    /// Moments on the monotonic clock.
    begun: Duration,
    told: Option<Duration>,
    is_open: bool,
    table: String,
    /// Items that an earlier run copied.
    before: u64,
}

impl Default for Line {
    fn default() -> Self {
        let state =
            State { begun: SystemWorld.monotonic(), told: None, is_open: false, table: String::new(), before: 0 };
        Self { state: Mutex::new(state), is_terminal: std::io::stderr().is_terminal() }
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
        let between = if self.is_terminal { ON_TERMINAL } else { ELSEWHERE };
        if state.told.is_some_and(|told| now - told < between) || (!self.is_terminal && state.told.is_none()) {
            state.told.get_or_insert(now);
            return;
        }
        state.told = Some(now);
        let text = words(progress, now - state.begun, state.before);
        if self.is_terminal {
            state.is_open = true;
            // Ignore errors: standard error may be closed.
            drop(write!(std::io::stderr(), "\r\u{1b}[K{text}"));
        } else {
            output::note(&text);
        }
    }

    /// Displays the number of items so far.
    pub(super) fn count(&self, table: &str, items: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemWorld.monotonic();
        if self.is_terminal && state.told.is_none_or(|told| now - told >= ON_TERMINAL) {
            (state.told, state.is_open) = (Some(now), true);
            let rate = items as f64 / (now - state.begun).as_secs_f64().max(0.001);
            drop(write!(std::io::stderr(), "\r\u{1b}[K{table}: {items} items, {rate:.0} items/s"));
        }
    }

    /// Writes a separate line.
    pub(super) fn say(&self, text: &str) {
        self.end();
        output::note(text);
    }

    /// Clears the line.
    pub(super) fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut state.is_open) {
            drop(write!(std::io::stderr(), "\r\u{1b}[K"));
        }
    }
}

fn words(progress: &Progress, took: Duration, before: u64) -> String {
    let Progress { table, items, bytes, items_total, changes, .. } = progress;
    match progress.phase {
        Phase::Copying => {
            let rate = items.saturating_sub(before) as f64 / took.as_secs_f64().max(0.001);
            format!("{table} {} {items} items, {}, {rate:.0} items/s", bar(*items, *items_total), size(*bytes))
        }
        Phase::Following => {
            let state = if progress.caught_up { "caught up" } else { "behind" };
            format!("{table}: following, {changes} changes, {state}")
        }
        Phase::Verifying => format!("{table}: comparing both sides"),
    }
}

/// Formats a progress bar. The source's item count may be hours old, so the ratio is capped at 1.
fn bar(items: u64, total: u64) -> String {
    let part = if total == 0 { 0.0 } else { (items as f64 / total as f64).min(1.0) };
    let full = (part * WIDTH as f64) as usize;
    format!("[{}{}] {:3.0} %", "#".repeat(full), " ".repeat(WIDTH - full), part * 100.0)
}

fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => format!("{bytes} bytes"),
        10_000..=9_999_999 => format!("{} KB", bytes / 1024),
        _ => format!("{} MB", bytes / 1024 / 1024),
    }
}
