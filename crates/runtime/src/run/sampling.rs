//! Compares stored items with a model, before a server reads them: `keyform check --samples` and `--store`.
//!
//! 1. Keyform's own items are known: sentinels of unique fields, and items that a migration has moved.
//! 2. An item of an old form is converted, as reads convert it.
//! 3. The tag or the key determines the entity, and the key must match the entity's templates.
//! 4. The fields are read as a read does. What a read rejects is an error; a value beyond its bounds, which a read
//!    returns as it is, is a warning.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_core::operation::Scan;
use keyform_core::{AttributeValue, Attributes, Error, Execute, ExecuteExt, Item};
use keyform_language::bind::{is_sentinel, table_name};
use keyform_language::reading::{Misfit, Reader, Wanted};
use keyform_language::schema::words::described;
use keyform_language::schema::{Entity, EntityId, FieldId, Model, Table, TableId};
use keyform_language::template::parse::{key_text, parse};
use keyform_language::template::render::Values;
use serde_json::Value;

use super::{fits, json};
use crate::evolve::{Class, Form};

/// Listed items; further ones are only counted.
const LISTED_MAX: usize = 1000;

/// Origin of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SamplePlace {
    /// Line of a file, counted from 1.
    Line(usize),
    /// Table of a store; the item's key identifies it there.
    Table(String),
}

/// Reason why an item does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfit {
    /// Origin of the item.
    pub place: SamplePlace,
    /// Attributes of the primary key that the item has.
    pub key: Attributes,
    /// Entity, if it is known.
    pub entity: Option<String>,
    /// Field, with the path to the part, if the entity is known and its key matches.
    pub field: Option<String>,
    /// True if reads return the item nevertheless: a value exceeds its bounds.
    pub is_readable: bool,
    /// Reason as a sentence.
    pub reason: String,
}

/// Items that were compared with a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleReport {
    /// Number of items.
    pub items: u64,
    /// Number of items that Keyform itself stores beside the entities.
    pub own: u64,
    /// Number of items of each entity that reads return.
    pub entities: BTreeMap<String, u64>,
    /// Number of items that reads reject, or do not find.
    pub broken: u64,
    /// Items that do not fit, at most 1,000.
    pub unfit: Vec<Unfit>,
}

/// Compares items with a model.
pub struct Sampler<'a> {
    model: &'a Model,
    variables: BTreeMap<String, String>,
    forms: Vec<Form>,
    readers: Vec<Reader>,
    report: SampleReport,
}

impl<'a> Sampler<'a> {
    /// Prepares to compare items with a model. `variables` are the values of the variables in table names.
    #[must_use]
    pub fn new(model: &'a Model, variables: BTreeMap<String, String>) -> Self {
        let forms = Form::all(model, &variables);
        let readers = model.entities.iter().map(Reader::of).collect();
        Self { model, variables, forms, readers, report: SampleReport::default() }
    }

    /// Returns what was found.
    #[must_use]
    pub fn finish(self) -> SampleReport {
        self.report
    }

    /// Compares the items of a file: JSON lines, plain or in DynamoDB JSON. Lines that are no items are broken.
    pub fn add_lines(&mut self, text: &str) {
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = SamplePlace::Line(number + 1);
            match item_of_line(line) {
                Ok(item) => self.add(place, &item),
                Err(reason) => {
                    self.report.items += 1;
                    self.report.broken += 1;
                    self.list(Unfit {
                        place,
                        key: Attributes::new(),
                        entity: None,
                        field: None,
                        is_readable: false,
                        reason: format!("not an item: {reason}"),
                    });
                }
            }
        }
    }

    /// Compares all items of the model's tables. Tables that do not exist have none.
    ///
    /// # Errors
    ///
    /// Returns an error if the store fails.
    pub async fn add_store(&mut self, store: &dyn Execute) -> Result<(), Error> {
        let names = self.model.tables.iter().map(|table| table_name(table, &self.variables));
        for name in names.collect::<Vec<_>>() {
            let mut scan = whole_table(&name);
            loop {
                let page = match store.call(scan.clone()).await {
                    Err(error) if error.code() == keyform_core::ErrorCode::ResourceNotFound => break,
                    page => page?,
                };
                page.ensure_progress(scan.start.as_ref())?;
                for item in page.items.iter().flatten() {
                    self.add(SamplePlace::Table(name.clone()), &item.to_attributes());
                }
                let Some(last) = page.last_key else { break };
                scan.start = Some(last.to_attributes());
            }
        }
        Ok(())
    }

    /// Compares one item.
    pub fn add(&mut self, place: SamplePlace, item: &Attributes) {
        self.report.items += 1;
        let tables = self.tables(&place, item);
        let key = self.key(&tables, item);
        let unfit = |entity: Option<&Entity>, field, reason| Unfit {
            place: place.clone(),
            key: key.clone(),
            entity: entity.map(|entity| entity.name.clone()),
            field,
            is_readable: false,
            reason,
        };
        let judged = match self.current_form(&tables, item) {
            Ok(None) => {
                self.report.own += 1;
                return;
            }
            Ok(Some(item)) => self.entity(&tables, &item).and_then(|id| Ok((id, self.beyond_bounds(id, &item)?))),
            Err(reason) => Err((None, None, reason)),
        };
        match judged {
            Ok((id, beyond)) => {
                let entity = self.model.entity(id);
                *self.report.entities.entry(entity.name.clone()).or_default() += 1;
                let warnings = beyond
                    .into_iter()
                    .map(|(field, reason)| Unfit { is_readable: true, ..unfit(Some(entity), Some(field), reason) });
                warnings.collect::<Vec<_>>().into_iter().for_each(|warning| self.list(warning));
            }
            Err((entity, field, reason)) => {
                self.report.broken += 1;
                let unfit = unfit(entity.map(|id| self.model.entity(id)), field, reason);
                self.list(unfit);
            }
        }
    }

    fn list(&mut self, unfit: Unfit) {
        if self.report.unfit.len() < LISTED_MAX {
            self.report.unfit.push(unfit);
        }
    }

    /// Returns the tables that may hold the item: the one it is from, or those whose key attributes it has.
    fn tables(&self, place: &SamplePlace, item: &Attributes) -> Vec<TableId> {
        let may_hold = |table: &Table| match place {
            SamplePlace::Table(name) => table_name(table, &self.variables) == *name,
            SamplePlace::Line(_) => table.key_names().all(|name| item.contains_key(name)),
        };
        let tables = self.model.tables.iter().enumerate();
        tables.filter(|(_, table)| may_hold(table)).map(|(number, _)| TableId(number)).collect()
    }

    fn key(&self, tables: &[TableId], item: &Attributes) -> Attributes {
        let names = tables.iter().flat_map(|table| self.model.table(*table).key_names());
        names.filter_map(|name| Some((name.to_owned(), item.get(name)?.clone()))).collect()
    }

    /// Returns the item in the form of the model; `None` if it is one of Keyform's own.
    fn current_form(&self, tables: &[TableId], item: &Attributes) -> Result<Option<Attributes>, String> {
        if tables.iter().any(|table| is_own(self.model.table(*table), item)) {
            return Ok(None);
        }
        for form in self.forms.iter().filter(|form| form.old.entity.table.is_some_and(|old| tables.contains(&old))) {
            match form.class(item) {
                Class::Old => {
                    let converted = form.converted(item, 0);
                    return converted.map(Some).map_err(|error| format!("`evolve` cannot convert it: {error}"));
                }
                Class::Moved(_) => return Ok(None),
                Class::New | Class::Other => {}
            }
        }
        Ok(Some(item.clone()))
    }

    /// Returns the entity of an item. A line of a file does not name its table, so any table may have the entity; the
    /// reason is then that of the table which came closest.
    fn entity(&self, tables: &[TableId], item: &Attributes) -> Result<EntityId, Rejected> {
        let mut rejected = match tables {
            [] => (None, None, "it lacks the key attributes of every table".to_owned()),
            _ => (None, None, "no entity has such a key".to_owned()),
        };
        for table in tables {
            match self.entity_in(*table, item) {
                Ok(id) => return Ok(id),
                Err(reason) if reason.0.is_some() || tables.len() == 1 => rejected = reason,
                Err(_) => {}
            }
        }
        Err(rejected)
    }

    /// Returns the entity of an item of a table by its tag, or else by its key.
    fn entity_in(&self, table: TableId, item: &Attributes) -> Result<EntityId, Rejected> {
        let entities: Vec<EntityId> = self.model.entities_of(table).map(|(id, _)| id).collect();
        let has_key = |id: &EntityId| self.has_key(self.model.entity(*id), item);
        let tag = self.model.table(table).tag.as_ref();
        let tag = tag.and_then(|tag| Some((&tag.value, item.get(&tag.value)?)));
        let Some((attribute, AttributeValue::S(tag))) = tag else {
            let found = entities.into_iter().find(has_key);
            return found.ok_or_else(|| (None, None, "no entity has such a key".to_owned()));
        };
        let tagged: Vec<EntityId> = entities.into_iter().filter(|id| self.model.entity(*id).tag == *tag).collect();
        let Some(first) = tagged.first() else {
            return Err((None, None, format!("no entity has the tag `{attribute}` = \"{tag}\"")));
        };
        let name = &self.model.entity(*first).name;
        let found = tagged.iter().copied().find(has_key);
        found.ok_or_else(|| (Some(*first), None, format!("its key does not match the templates of {name}")))
    }

    fn has_key(&self, entity: &Entity, item: &Attributes) -> bool {
        entity.key.as_ref().is_some_and(|key| {
            key.parts().all(|part| {
                let text = item.get(&part.attribute).and_then(key_text);
                text.is_some_and(|text| parse(&part.template.parts, &text, &entity.fields, &Values::new()).is_some())
            })
        })
    }

    /// Reads the fields of an item; returns those whose values exceed their bounds, or the one that does not fit.
    /// Encrypted fields cannot be judged.
    fn beyond_bounds(&self, id: EntityId, item: &Attributes) -> Result<Vec<(String, String)>, Rejected> {
        let entity = self.model.entity(id);
        let mut fields: Vec<FieldId> = (0..entity.fields.len()).map(FieldId).collect();
        fields.sort_unstable_by(|one, other| entity.field(*one).name.cmp(&entity.field(*other).name));
        let is_sealed = |field: FieldId| entity.field(field).flags.encrypted.is_some();
        let stored = |field: &FieldId| item.get(&entity.field(*field).name).filter(|_| !is_sealed(*field)).cloned();
        let mut values: Vec<Option<AttributeValue>> = fields.iter().map(stored).collect();
        let is_judged = |field| !is_sealed(field) || !item.contains_key(&entity.field(field).name);
        let complete = self.readers[id.0]
            .complete(entity, Wanted::Fields(&is_judged), &mut values, |name| item.get(name).cloned());
        complete.map_err(|misfit: Misfit| (Some(id), Some(misfit.field.clone()), misfit.to_string()))?;
        if let Some(name) = self.readers[id.0].contradiction(entity, |name| item.get(name).cloned()) {
            let reason = format!("`{name}` has another value than the key");
            return Err((Some(id), Some(name.to_owned()), reason));
        }
        let beyond = fields.iter().zip(values).filter_map(|(field, value)| {
            let (field, value) = (entity.field(*field), value?);
            let is_fit = value == AttributeValue::Null || fits(&value, &field.kind);
            (!is_fit).then(|| (field.name.clone(), format!("`{}` is not {}", field.name, described(&field.kind))))
        });
        Ok(beyond.collect())
    }
}

/// Returns true for the sentinel of a unique field. It may have a tag of its own.
fn is_own(table: &Table, item: &Attributes) -> bool {
    let tag = table.tag.as_ref().map(|tag| tag.value.as_str());
    let untagged = item.iter().filter(|(name, _)| Some(name.as_str()) != tag);
    let untagged: Attributes = untagged.map(|(name, value)| (name.clone(), value.clone())).collect();
    is_sentinel(table, &Item::from(&untagged))
}

/// Returns the Scan of all items of a table.
fn whole_table(name: &str) -> Scan {
    Scan {
        table: name.to_owned(),
        index: None,
        filter: None,
        projection: None,
        select: None,
        limit: None,
        consistent: true,
        segment: None,
        start: None,
        return_capacity: Default::default(),
    }
}

/// Entity and field as far as they are known, and the reason.
type Rejected = (Option<EntityId>, Option<String>, String);

/// Parses a line: `{"pk": "A"}`, `{"pk": {"S": "A"}}` or `{"Item": {"pk": {"S": "A"}}}`.
///
/// # Errors
///
/// Returns the reason why the line is not an item.
pub fn item_of_line(line: &str) -> Result<Attributes, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let value = value.get("Item").cloned().unwrap_or(value);
    let Value::Object(attributes) = value else { return Err("not a JSON object".to_owned()) };
    let typed: Option<Attributes> =
        attributes.iter().map(|(name, value)| Some((name.clone(), typed(value)?))).collect();
    let plain = || attributes.iter().map(|(name, value)| Some((name.clone(), json::any(value)?))).collect();
    typed.or_else(plain).ok_or_else(|| "a number exceeds 38 digits".to_owned())
}

/// Parses a value in DynamoDB JSON.
fn typed(value: &Value) -> Option<AttributeValue> {
    let mut members = value.as_object()?.iter();
    let ((kind, inner), None) = (members.next()?, members.next()) else { return None };
    let texts = || inner.as_array()?.iter().map(Value::as_str).collect::<Option<Vec<_>>>();
    let bytes = |text: &str| STANDARD.decode(text).ok();
    Some(match kind.as_str() {
        "S" => inner.as_str()?.into(),
        "N" => AttributeValue::N(inner.as_str()?.parse().ok()?),
        "B" => AttributeValue::B(bytes(inner.as_str()?)?),
        "BOOL" => inner.as_bool()?.into(),
        "NULL" => AttributeValue::Null,
        "L" => AttributeValue::L(inner.as_array()?.iter().map(typed).collect::<Option<_>>()?),
        "M" => {
            let part = |(name, part): (&String, &Value)| Some((name.clone(), typed(part)?));
            AttributeValue::M(inner.as_object()?.iter().map(part).collect::<Option<_>>()?)
        }
        "SS" => AttributeValue::Ss(texts()?.into_iter().map(str::to_owned).collect()),
        "NS" => AttributeValue::Ns(texts()?.into_iter().map(|text| text.parse().ok()).collect::<Option<_>>()?),
        "BS" => AttributeValue::Bs(texts()?.into_iter().map(bytes).collect::<Option<_>>()?),
        _ => return None,
    })
}
