//! Least-privilege IAM policies, one for each pattern.
//!
//! 1. [`grant`] is one action on one table or index, limited to partition keys and attributes.
//! 2. [`known`] determines what is known about a value in advance: a claim of the caller, a string, or nothing.
//! 3. [`pattern`] walks a read or a write with its guards, `let`s, actions and sentinels, and collects grants.
//!
//! A partition key whose template is filled by claims is limited to the caller's own: the claim `userId` is the
//! principal tag of that name, `${aws:PrincipalTag/userId}`. An unknown value becomes `*`, between the literals of the
//! template.

mod grant;
mod known;
mod pattern;

use serde_json::{Map, Value, json};

use keyform_check::Checked;
use keyform_language::bookkeeping::{ANSWERS, MIGRATIONS, MODELS};
use keyform_language::schema::{ReadId, TableId, WriteId};

use super::CodegenSettings;
use grant::Grant;
use pattern::Collector;

pub(super) fn print(checked: &Checked, settings: &CodegenSettings) -> Result<String, String> {
    let mut policies = Map::new();
    let collector = || Collector::new(checked, settings);
    for (number, read) in checked.model.reads.iter().enumerate() {
        policies.insert(read.name.clone(), policy(&read.name, collector().read_pattern(ReadId(number))));
    }
    for (number, write) in checked.model.writes.iter().enumerate() {
        policies.insert(write.name.clone(), policy(&write.name, collector().write_pattern(WriteId(number))));
    }
    for (number, table) in checked.model.tables.iter().enumerate() {
        let id = TableId(number);
        let entities = &checked.model.entities;
        let of_table = |entity: keyform_language::schema::EntityId| entities[entity.0].table == Some(id);
        if checked.model.consumers.iter().any(|consumer| consumer.entity.is_some_and(of_table)) {
            let name = format!("changesOf{}", table.name);
            policies.insert(name.clone(), policy(&name, collector().changes(id)));
        }
    }
    if !checked.model.writes.is_empty() {
        policies.insert(ANSWERS.to_owned(), policy(ANSWERS, collector().answers()));
    }
    policies.insert(MODELS.to_owned(), policy(MODELS, collector().accepted_models()));
    if !checked.model.evolutions.is_empty() {
        policies.insert(MIGRATIONS.to_owned(), policy(MIGRATIONS, collector().migrations()));
    }
    serde_json::to_string_pretty(&Value::Object(policies)).map_err(|error| error.to_string())
}

fn policy(name: &str, grants: Vec<Grant>) -> Value {
    let label: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let statements = grant::statements(grants);
    let numbered = statements.into_iter().enumerate().map(|(number, mut statement)| {
        statement.insert("Sid".to_owned(), format!("{label}{}", number + 1).into());
        Value::Object(statement)
    });
    json!({ "Version": "2012-10-17", "Statement": numbered.collect::<Vec<_>>() })
}
