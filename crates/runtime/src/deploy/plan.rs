//! Deploy plan: steps, refusals and notes per table.

use super::change::Change;
use super::compare::compare;
use super::desired::Desired;
use super::destroy::Destroy;
use super::live::Live;

/// Changes of a deploy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Plans per table: those of the model in declaration order, then others to be removed.
    pub tables: Vec<TablePlan>,
    /// Notes that concern no single table.
    pub notes: Vec<String>,
}

/// Changes of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TablePlan {
    /// Name in the store.
    pub table: String,
    /// Name in the model; `None` if the model does not declare it. For an internal table, its purpose.
    pub declared: Option<String>,
    /// Set for an internal table of Keyform.
    pub own: bool,
    /// Set if the store has the table.
    pub exists: bool,
    /// Changes in the order in which they are applied.
    pub steps: Vec<PlannedChange>,
    /// Differences that cannot be applied.
    pub refusals: Vec<Refusal>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Names that [`Request::destroy`](super::Request::destroy) accepts, to remove what stays or is refused otherwise.
    pub destroyable: Vec<String>,
}

/// Change with an optional warning.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedChange {
    /// Change to make.
    pub change: Change,
    /// Consequence to be aware of.
    pub warning: Option<String>,
}

/// Difference that cannot be applied, or only with explicit consent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Difference between model and store.
    pub what: String,
    /// Steps that resolve the difference, as a sentence.
    pub remedy: String,
}

impl Plan {
    /// Returns whether the plan has any steps.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.tables.iter().any(|table| !table.steps.is_empty())
    }

    /// Returns whether the plan has any refusals.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.tables.iter().any(|table| !table.refusals.is_empty())
    }

    /// Returns the number of steps.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.tables.iter().map(|table| table.steps.len()).sum()
    }
}

impl TablePlan {
    pub(super) fn step(&mut self, change: Change) {
        self.steps.push(PlannedChange { change, warning: None });
    }

    pub(super) fn warned(&mut self, change: Change, warning: impl Into<String>) {
        self.steps.push(PlannedChange { change, warning: Some(warning.into()) });
    }

    pub(super) fn refuse(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.refusals.push(Refusal { what: what.into(), remedy: remedy.into() });
    }

    pub(super) fn destroyable(&mut self, name: impl Into<String>) {
        self.destroyable.push(name.into());
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Compares existing with declared tables. `destroy` names the resources that may be removed.
#[must_use]
pub fn plan(desired: &[Desired], live: &[Live], destroy: &[String]) -> Plan {
    let mut destroy = Destroy::new(destroy, live);
    let mut plan = Plan::default();
    for wanted in desired {
        let found = live.iter().find(|live| live.description.name == wanted.create.table);
        plan.tables.push(compare(wanted, found, &mut destroy));
    }
    let strangers =
        live.iter().filter(|live| desired.iter().all(|wanted| wanted.create.table != live.description.name));
    for stranger in strangers.filter(|live| destroy.table(&live.description.name)).collect::<Vec<_>>() {
        plan.tables.push(removal(stranger));
    }
    plan.notes = destroy.without_object();
    plan
}

/// Plans the removal of a table that the model does not declare.
fn removal(live: &Live) -> TablePlan {
    let table = live.description.name.clone();
    let mut plan = TablePlan { table, exists: true, ..TablePlan::default() };
    remove_table(&mut plan, live);
    plan
}

/// Adds the removal of a table, unless it is protected; returns whether it did.
pub(super) fn remove_table(plan: &mut TablePlan, live: &Live) -> bool {
    if live.description.deletion_protected {
        plan.refuse(
            "the table has deletion protection",
            "disable the protection first: remove `protected` from the model and apply, or use the store",
        );
        return false;
    }
    plan.warned(Change::DeleteTable, format!("{} items are deleted permanently", live.description.item_count));
    true
}
