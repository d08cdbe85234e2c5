//! Estimates a migration: items, units, cost and time, from the current content of the store.

use keyform_core::Attributes;
use keyform_core::capacity::{ReadKind, read_units};
use keyform_core::value::size::of_attributes as size_of;
use serde::Serialize;

use keyform_check::cost::migration::{self, MigratedItem};
use keyform_check::cost::price::PRICES;
use keyform_check::cost::text;
use keyform_language::plan::{ReadPlan, RequestKind, SortRange};
use keyform_language::schema::{EntityKey, FieldId, Index, Table};

use super::form::{Class, Form};
use super::mark::{MARK, Mark};
use super::migration::{MigrateError, Migration, Progress, Watch};

/// Estimate of a migration.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// Estimate per evolution.
    pub forms: Vec<FormEstimate>,
    /// Tables and indexes that the run creates first.
    pub makes: Vec<String>,
    /// Read units of the scans of the run and of the cut-over.
    pub read_units: f64,
    /// Write units of the run.
    pub write_units: f64,
    /// Write units of the cut-over, which deletes the old items.
    pub removal_units: f64,
    /// Total in US dollars at on-demand prices.
    pub dollars: f64,
    /// Duration of the run in seconds at the given budget; `None` without a budget.
    pub seconds: Option<f64>,
    /// Reads that look for old items until the cut-over.
    pub reads: Vec<ReadEstimate>,
}

/// Estimate of one evolution.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormEstimate {
    /// Name of the entity.
    pub entity: String,
    /// Name of the old table in the store.
    pub from: String,
    /// Name of the new table in the store.
    pub to: String,
    /// Set if the key stays the same.
    pub in_place: bool,
    /// Old items to migrate.
    pub left: u64,
    /// Items that are already migrated.
    pub carried: u64,
    /// Items of the new form in the old table.
    pub new: u64,
    /// Items that cannot be converted.
    pub stuck: u64,
    /// Write units of the run.
    pub write_units: f64,
}

/// Additional cost of a read until the cut-over.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEstimate {
    /// Name of the read.
    pub read: String,
    /// Name of the evolving entity.
    pub entity: String,
    /// Request that finds the old items.
    pub reach: Reach,
}

/// Request that finds old items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// None: the read's own request returns them.
    Same,
    /// One additional GetItem.
    Get,
    /// One additional Query.
    Query,
    /// A Scan of the old table.
    Scan,
}

impl Migration {
    /// Counts the items in the store and estimates the migration at a budget of write units per second.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn estimate(
        &self,
        write_units_per_second: Option<f64>,
        watch: Watch<'_>,
    ) -> Result<Estimate, MigrateError> {
        let mut estimate = Estimate { makes: self.lacks().await?, reads: self.reads(), ..Estimate::default() };
        let mut forms: Vec<FormEstimate> = self.forms.iter().map(named).collect();
        for (table, of_table) in self.sources() {
            let total = self.item_count(&table).await?;
            let (mut start, mut done) = (None, 0);
            loop {
                let (items, last) = self.page(&table, None, start).await?;
                let bytes: usize = items.iter().map(size_of).sum();
                estimate.read_units += migration::SCANS * read_units(bytes, ReadKind::Strong);
                for form in &of_table {
                    let number = self.forms.iter().position(|other| std::ptr::eq(other, *form));
                    if let Some(of_form) = number.and_then(|number| forms.get_mut(number)) {
                        estimate.removal_units += count(form, &items, of_form);
                    }
                }
                done += items.len() as u64;
                watch(&Progress { step: "counting", done, total, counts: Default::default() });
                match last {
                    Some(key) => start = Some(key),
                    None => break,
                }
            }
        }
        estimate.write_units = forms.iter().map(|form| form.write_units).sum();
        let prices = PRICES.of(self.forms[0].new.table.class);
        estimate.dollars = estimate.read_units * prices.million_reads / 1e6
            + (estimate.write_units + estimate.removal_units) * prices.million_writes / 1e6;
        estimate.seconds =
            write_units_per_second.filter(|units| *units > 0.0).map(|units| estimate.write_units / units);
        estimate.forms = forms;
        Ok(estimate)
    }

    fn reads(&self) -> Vec<ReadEstimate> {
        let model = &self.checked.model;
        let mut reads = Vec::new();
        for (read, plan) in self.checked.plans.planned(model) {
            for form in self.forms.iter().filter(|form| plan.returns.contains(&form.entity)) {
                reads.push(ReadEstimate {
                    read: read.name.clone(),
                    entity: form.new.entity.name.clone(),
                    reach: form.reach(plan),
                });
            }
        }
        reads
    }
}

fn named(form: &Form) -> FormEstimate {
    FormEstimate {
        entity: form.new.entity.name.clone(),
        from: form.old.name.clone(),
        to: form.new.name.clone(),
        in_place: form.in_place,
        ..FormEstimate::default()
    }
}

/// Counts a page; returns the write units for deleting its old items.
fn count(form: &Form, items: &[Attributes], estimate: &mut FormEstimate) -> f64 {
    let mut removal = 0.0;
    for item in items {
        match form.class(item) {
            Class::Other => {}
            Class::New => estimate.new += 1,
            Class::Moved(_) => {
                estimate.carried += 1;
                removal += migrated(form, item, item).removal_units();
            }
            Class::Old => match form.converted(item, 0) {
                Err(_) => estimate.stuck += 1,
                Ok(new) => {
                    estimate.left += 1;
                    let one = migrated(form, item, &new);
                    estimate.write_units += one.units();
                    removal += one.removal_units();
                }
            },
        }
    }
    removal
}

/// Returns what the migration of one item writes.
fn migrated(form: &Form, old: &Attributes, new: &Attributes) -> MigratedItem {
    let bytes = |item: &Attributes| size_of(item) as u64;
    let (old_table, new_table) = (&form.old.table, &form.new.table);
    if form.in_place {
        let new_bytes = bytes(old).max(bytes(new));
        return MigratedItem {
            in_place: true,
            new_bytes,
            entries: entries(new_table, Some(old), Some(new)),
            ..MigratedItem::default()
        };
    }
    let mut marked = old.clone();
    marked.insert(MARK.to_owned(), Mark::carried(&form.new, new, 0).value());
    let unique = keyform_language::bind::evolve::claims(&form.new.table, &form.new.name, &form.new.entity, new);
    let written = entries(new_table, None, Some(new)).into_iter().chain(entries(old_table, Some(old), Some(&marked)));
    MigratedItem {
        in_place: false,
        new_bytes: bytes(new),
        marked_bytes: bytes(&marked),
        sentinels: unique.map_or(0, |unique| unique.len()) as u64,
        entries: written.collect(),
        old_entries: entries(old_table, Some(&marked), None),
    }
}

/// Returns the sizes of the index entries that a change of an item writes or deletes.
fn entries(table: &Table, before: Option<&Attributes>, after: Option<&Attributes>) -> Vec<u64> {
    let mut sizes = Vec::new();
    for index in &table.indexes {
        let (old, new) =
            (before.and_then(|item| entry(table, index, item)), after.and_then(|item| entry(table, index, item)));
        let size = |entry: &Option<Attributes>| entry.as_ref().map(|entry| size_of(entry) as u64);
        let key = |entry: &Option<Attributes>| {
            let names = index.partition.iter().chain(&index.sort).map(|key| key.name.as_str());
            entry.as_ref().map(|entry| names.map(|name| entry.get(name).cloned()).collect::<Vec<_>>())
        };
        match (&old, &new) {
            _ if old == new => {}
            _ if key(&old) == key(&new) => sizes.extend(size(&old).max(size(&new))),
            _ => sizes.extend(size(&old).into_iter().chain(size(&new))),
        }
    }
    sizes
}

/// Returns the attributes that an index holds of an item; `None` if the item is not in the index.
fn entry(table: &Table, index: &Index, item: &Attributes) -> Option<Attributes> {
    let keys = || index.partition.iter().chain(&index.sort).map(|key| key.name.as_str());
    if !keys().all(|key| item.contains_key(key)) {
        return None;
    }
    let Some(copied) = &index.projection else { return Some(item.clone()) };
    let names: Vec<&str> =
        copied.iter().map(|name| name.value.as_str()).chain(keys()).chain(table.key_names()).collect();
    Some(
        item.iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect(),
    )
}

impl Form {
    /// Returns how a read finds the old items, given the fields that it knows.
    #[must_use]
    pub fn reach(&self, plan: &ReadPlan) -> Reach {
        if self.in_place && plan.index.is_none_or(|index| self.fills(index)) {
            return Reach::Same;
        }
        let Some(templates) = self.new.entity.key_of(plan.index) else { return Reach::Same };
        let known = self.known_names(&fields_given(plan, templates));
        let has = |key: &EntityKey, whole: bool| {
            let parts = key.partition.iter().chain(key.sort.iter().filter(|_| whole));
            parts.flat_map(|part| part.template.fields()).all(|field| known.contains(&field))
        };
        match &self.old.entity.key {
            Some(key) if has(key, true) => Reach::Get,
            Some(key) if has(key, false) => Reach::Query,
            _ if self.old.entity.indexes.iter().any(|key| has(key, false)) => Reach::Query,
            _ => Reach::Scan,
        }
    }
}

/// Returns the fields that a read fixes to one value through its key.
fn fields_given(plan: &ReadPlan, templates: &EntityKey) -> Vec<FieldId> {
    let whole = matches!(plan.sort.range, Some(SortRange::Equal(_)));
    let parts = templates.partition.iter().chain(templates.sort.iter().filter(|_| whole));
    let given = parts.filter(|_| plan.request != RequestKind::Scan).flat_map(|part| part.template.fields());
    given.collect()
}

impl Estimate {
    /// Formats the estimate for people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.forms.iter().map(FormEstimate::line).collect();
        lines.extend(self.makes.iter().map(|name| format!("creates {name} first")));
        let units = |value: f64| text::count(value.ceil() as u64);
        lines.push(format!(
            "run: {} read units, {} write units; cut-over: {} write units; {} in total, on demand ({}, {})",
            units(self.read_units),
            units(self.write_units),
            units(self.removal_units),
            text::dollars(self.dollars),
            PRICES.region,
            PRICES.date,
        ));
        lines.push(match self.seconds {
            Some(seconds) => format!("time: {} at this budget", duration(seconds)),
            None => "time: as fast as the store allows, because no budget of write units is set".to_owned(),
        });
        for read in &self.reads {
            let how = match read.reach {
                Reach::Same => continue,
                Reach::Get => "one additional GetItem if the new key has no item",
                Reach::Query => "one additional Query",
                Reach::Scan => {
                    "a Scan of the old table: declare an old key or index (`from …`) that provides a partition"
                }
            };
            lines.push(format!("until the cut-over, `{}` finds old {} with {how}", read.read, read.entity));
        }
        lines.join("\n") + "\n"
    }
}

impl FormEstimate {
    fn line(&self) -> String {
        let way = match (self.in_place, self.from == self.to) {
            (true, _) => format!("in place in {}", self.from),
            (false, true) => format!("within {}", self.from),
            (false, false) => format!("from {} to {}", self.from, self.to),
        };
        let (left, units) = (text::count(self.left), text::count(self.write_units.ceil() as u64));
        let mut line = format!("{}: {left} items {way}, {units} write units", self.entity);
        for (count, what) in [(self.carried, "already migrated"), (self.stuck, "that cannot be converted")] {
            if count > 0 {
                line.push_str(&format!("; {} {what}", text::count(count)));
            }
        }
        line
    }
}

/// Formats a duration in a suitable unit.
fn duration(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        7200..172_800 => format!("{} h", seconds.div_ceil(3600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}
