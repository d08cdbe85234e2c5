//! Formats a plan as text.
//!
//! `+` creates, `~` changes, `-` removes; `!` is a warning, `×` a refusal, `·` a note.

use std::fmt::Write as _;

use super::change::Change;
use super::plan::{Plan, PlannedChange, TablePlan};

/// Formats the plan: one paragraph per table, and a summary in the last line.
#[must_use]
pub fn text(plan: &Plan) -> String {
    let mut out = String::new();
    for table in &plan.tables {
        paragraph(&mut out, table);
    }
    for note in &plan.notes {
        line(&mut out, "· ", note);
    }
    line(&mut out, "", &summary(plan));
    out
}

fn line(out: &mut String, mark: &str, words: &str) {
    writeln!(out, "{mark}{words}").expect("writing to a String never fails");
}

fn paragraph(out: &mut String, plan: &TablePlan) {
    let declared = match &plan.declared {
        Some(purpose) if plan.own => format!("internal table of Keyform: {purpose}"),
        Some(name) => format!("table {name}"),
        None => "not in the model".to_owned(),
    };
    let idle = plan.steps.is_empty() && plan.refusals.is_empty();
    line(out, "", &format!("{} ({declared}){}", plan.table, if idle { ": up to date" } else { "" }));
    for step in &plan.steps {
        line(out, &format!("  {} ", mark(step)), &step.change.words());
        if let Some(warning) = &step.warning {
            line(out, "    ! ", warning);
        }
    }
    for refusal in &plan.refusals {
        line(out, "  × ", &refusal.what);
        line(out, "    ", &refusal.remedy);
    }
    for note in &plan.notes {
        line(out, "  · ", note);
    }
    out.push('\n');
}

fn mark(step: &PlannedChange) -> char {
    match &step.change {
        change if change.destroys() => '-',
        Change::CreateTable(_) | Change::CreateIndex { .. } | Change::StreamOn(_) | Change::ExpiryOn(_) => '+',
        _ => '~',
    }
}

fn summary(plan: &Plan) -> String {
    let count = |wanted: &dyn Fn(&Change) -> bool| {
        plan.tables.iter().flat_map(|table| &table.steps).filter(|step| wanted(&step.change)).count()
    };
    let made = count(&|change| matches!(change, Change::CreateTable(_)));
    let gone = count(&Change::destroys);
    let refused: usize = plan.tables.iter().map(|table| table.refusals.len()).sum();
    if refused > 0 {
        return format!("Refused: {refused}. Nothing will be changed.");
    }
    if !plan.has_changes() {
        return "Nothing to do.".to_owned();
    }
    let others = plan.steps() - made - gone;
    format!("{made} to create, {others} to change, {gone} to delete.")
}
