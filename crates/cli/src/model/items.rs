//! Items that `keyform check` compares with a model: those of a file, or those of the tables of a store.

use std::collections::BTreeMap;

use clap::ArgMatches;
use keyform_check::Checked;
use keyform_language::Severity;
use keyform_runtime::run::{SamplePlace, SampleReport, Sampler, Unfit, json};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::open_store::{self, OpenStore};

use super::source;

/// Default value of the variable `stage` in a data directory.
const STAGE: &str = "local";

/// Origin of the items.
pub(super) struct Source<'a> {
    /// Name and text of the file.
    file: Option<(&'a str, String)>,
    store: Option<&'a str>,
    arguments: &'a ArgMatches,
}

impl<'a> Source<'a> {
    pub(super) fn of(arguments: &'a ArgMatches) -> Result<Self, Failure> {
        let file = arguments.get_one::<String>("samples");
        let file = file.map(|file| source::read(file).map(|text| (file.as_str(), text))).transpose()?;
        let store = arguments.get_one::<String>("stored-items").map(String::as_str);
        Ok(Self { file, store, arguments })
    }

    /// Compares the items with each model that has no errors.
    pub(super) fn compare<'c>(&self, models: impl Iterator<Item = &'c Checked>) -> Result<Vec<Compared>, Failure> {
        if self.file.is_none() && self.store.is_none() {
            return Ok(Vec::new());
        }
        models.filter(|checked| !checked.has_errors()).map(|checked| self.compared(checked)).collect()
    }

    fn compared(&self, checked: &Checked) -> Result<Compared, Failure> {
        let mut variables = open_store::variables(self.arguments)?;
        if self.store.is_some_and(|store| store.starts_with("data:")) {
            variables.entry("stage".to_owned()).or_insert_with(|| STAGE.to_owned());
        }
        let mut sampler = Sampler::new(&checked.model, variables.clone());
        if let Some((_, text)) = &self.file {
            sampler.add_lines(text);
        }
        if let Some(store) = self.store {
            check_names(checked, &variables)?;
            let timeouts = open_store::config(self.arguments)?.store_timeouts();
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(async {
                let store = OpenStore::named(store, timeouts).await?;
                sampler.add_store(&*store.store()).await.map_err(|error| Failure::new(error.message()))?;
                store.close()
            })?;
        }
        let file = self.file.as_ref().map(|(name, _)| (*name).to_owned()).unwrap_or_default();
        Ok(Compared { model: checked.model.name.clone(), file, report: sampler.finish() })
    }
}

fn check_names(checked: &Checked, variables: &BTreeMap<String, String>) -> Result<(), Failure> {
    match keyform_language::bind::unnamed_table(&checked.model, variables) {
        Some(name) => Err(Failure::new(format!("the table name {name} has a variable: pass its value with --set"))),
        None => Ok(()),
    }
}

/// Items compared with one model.
pub(super) struct Compared {
    model: String,
    file: String,
    report: SampleReport,
}

impl Compared {
    /// Returns the severity of each item that does not fit: a warning if reads return it nevertheless.
    pub(super) fn severities(&self) -> impl Iterator<Item = Severity> {
        let broken = (self.report.broken > 0).then_some(Severity::Error);
        broken.into_iter().chain(self.report.unfit.iter().map(severity))
    }

    /// Formats the items that do not fit, one per line, and a summary.
    pub(super) fn text(&self) -> String {
        let mut lines: Vec<String> = self.report.unfit.iter().map(|unfit| self.line(unfit)).collect();
        lines.push(self.summary());
        lines.join("\n")
    }

    fn line(&self, unfit: &Unfit) -> String {
        let place = match &unfit.place {
            SamplePlace::Line(line) => format!("{}:{line}", self.file),
            SamplePlace::Table(table) => table.clone(),
        };
        let entity = unfit.entity.as_ref().map(|entity| format!("{entity}: ")).unwrap_or_default();
        let key = if unfit.key.is_empty() { String::new() } else { format!(" {}", Value::Object(key(unfit))) };
        format!("{}: {place}{key}: {entity}{}", severity(unfit), unfit.reason)
    }

    fn summary(&self) -> String {
        let SampleReport { items, own, entities, broken, .. } = &self.report;
        let counted = |(name, count): (&String, &u64)| format!("{count} {name}");
        let mut parts: Vec<String> = entities.iter().map(counted).collect();
        if *own > 0 {
            parts.push(format!("{own} of Keyform"));
        }
        parts.push(format!("{broken} broken"));
        let unit = if *items == 1 { "item" } else { "items" };
        format!("{items} {unit} compared with {}: {}", self.model, parts.join(", "))
    }

    fn json(&self) -> Value {
        let SampleReport { items, own, entities, broken, unfit } = &self.report;
        let unfit: Vec<Value> = unfit.iter().map(unfit_json).collect();
        json!({
            "model": self.model, "items": items, "own": own, "entities": entities, "broken": broken, "unfit": unfit,
        })
    }
}

fn severity(unfit: &Unfit) -> Severity {
    if unfit.is_readable { Severity::Warning } else { Severity::Error }
}

fn key(unfit: &Unfit) -> Map<String, Value> {
    unfit.key.iter().map(|(name, value)| (name.clone(), json::to_json(value))).collect()
}

fn unfit_json(unfit: &Unfit) -> Value {
    let (line, table) = match &unfit.place {
        SamplePlace::Line(line) => (Some(line), None),
        SamplePlace::Table(table) => (None, Some(table)),
    };
    json!({
        "severity": severity(unfit).to_string(), "line": line, "table": table, "key": key(unfit),
        "entity": unfit.entity, "field": unfit.field, "message": unfit.reason,
    })
}

/// Adds the compared items to the JSON form of the findings, as `samples`.
pub(super) fn json(findings: &str, compared: &[Compared]) -> Result<String, Failure> {
    if compared.is_empty() {
        return Ok(findings.to_owned());
    }
    let mut report: Value = serde_json::from_str(findings)?;
    report["samples"] = compared.iter().map(Compared::json).collect();
    Ok(serde_json::to_string_pretty(&report)?)
}
