//! The plan: for each table what is done, in order; what is refused, with the way out; and what is worth knowing.

use super::change::Change;
use super::compare::compare;
use super::desired::Desired;
use super::destroy::Destroy;
use super::live::Live;

/// What a deploy does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Table by table: those of the model in the order of the file, then others that are to be removed.
    pub tables: Vec<TablePlan>,
    /// What is worth knowing of the whole.
    pub notes: Vec<String>,
}

/// What a deploy does with one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TablePlan {
    /// Its name in the store.
    pub table: String,
    /// Its name in the model; `None` if it is not there.
    pub declared: Option<String>,
    /// It is Keyform's own; `declared` then says what it is for.
    pub own: bool,
    /// Whether it is there.
    pub exists: bool,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// What cannot be done.
    pub refusals: Vec<Refusal>,
    /// What is worth knowing.
    pub notes: Vec<String>,
}

/// One change, with what to mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The change.
    pub change: Change,
    /// What to mind.
    pub warning: Option<String>,
}

/// Something that cannot be done, or not without being told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What differs.
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

impl Plan {
    /// Whether there is anything to do.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.tables.iter().any(|table| !table.steps.is_empty())
    }

    /// Whether anything is refused.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.tables.iter().any(|table| !table.refusals.is_empty())
    }

    /// How many changes there are.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.tables.iter().map(|table| table.steps.len()).sum()
    }
}

impl TablePlan {
    pub(super) fn step(&mut self, change: Change) {
        self.steps.push(Step { change, warning: None });
    }

    pub(super) fn warned(&mut self, change: Change, warning: impl Into<String>) {
        self.steps.push(Step { change, warning: Some(warning.into()) });
    }

    pub(super) fn refuse(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.refusals.push(Refusal { what: what.into(), remedy: remedy.into() });
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }
}

/// Compares what there is with what there shall be; `destroy` names what may be removed.
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

/// The plan of a table that the model does not have and that is to be removed.
fn removal(live: &Live) -> TablePlan {
    let table = live.description.name.clone();
    let mut plan = TablePlan { table, exists: true, ..TablePlan::default() };
    remove_table(&mut plan, live);
    plan
}

/// Removes a table, unless it is protected.
pub(super) fn remove_table(plan: &mut TablePlan, live: &Live) -> bool {
    if live.description.deletion_protected {
        plan.refuse(
            "the table is protected from deletion",
            "switch the protection off first: by the model without `protected`, or in the store",
        );
        return false;
    }
    plan.warned(Change::DeleteTable, format!("{} items are lost for good", live.description.item_count));
    true
}
