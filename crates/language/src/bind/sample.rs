//! Sample calls: arguments, a caller and items, deterministic for a given model.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use keyform_core::{AttributeValue, Attributes, Item, Number};

use crate::bind::{self, BindError, CurrentItem, Fresh, Inputs, SEALED_OVERHEAD_BYTES, Seal, SealedField};
use crate::document::ast;
use crate::scalar::{Scalar, Stored};
use crate::schema::{Entity, EntityId, LetSource, Model, Parameter, Read, Result as ReadResult, Test, Type, Write};
use crate::template::{render, sample};

/// Generator of sample calls for one model.
pub struct Sample<'a> {
    model: &'a Model,
    fresh: Numbered,
}

/// Source of ids that differ within a run but are the same in every run.
#[derive(Default)]
struct Numbered {
    count: AtomicUsize,
}

impl Numbered {
    fn next(&self, kind: &Type, word: &str) -> String {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        sample::of_type(kind, word, number)
    }
}

impl Fresh for Numbered {
    fn ulid(&self) -> String {
        self.next(&Scalar::Ulid.into(), "fresh")
    }

    fn uuid(&self) -> String {
        self.next(&Scalar::Uuid.into(), "fresh")
    }

    fn code(&self, length: usize) -> String {
        let exactly = i64::try_from(length).ok();
        self.next(&Type::Scalar(Scalar::String, ast::Bounds { min: exactly, max: exactly }), "code")
    }

    fn token(&self, bytes: usize) -> String {
        self.code(bytes)
    }
}

impl<'a> Sample<'a> {
    /// Creates the generator for a model.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        Self { model, fresh: Numbered::default() }
    }

    /// Returns the inputs of a call without arguments.
    #[must_use]
    pub fn no_call(&self) -> Inputs<'_> {
        self.inputs(&[])
    }

    /// Returns the inputs of a call of a read.
    #[must_use]
    pub fn of_read(&self, read: &Read) -> Inputs<'_> {
        self.inputs(&read.parameters)
    }

    /// Returns the inputs of a call of a write, including the results of its reads.
    ///
    /// # Errors
    ///
    /// Returns an error if no sample exists for a value that the write needs.
    pub fn of_write(&self, write: &Write) -> Result<Inputs<'_>, BindError> {
        let mut inputs = self.inputs(&write.parameters);
        inputs.token = write.idempotent.map(|_| sample::of_type(&Scalar::Uuid.into(), &write.name, 0));
        for binding in &write.lets {
            inputs.lets.push(match &binding.source {
                LetSource::Read { read, .. } => self.answer(self.model.read(*read)),
                LetSource::Value(_) | LetSource::Unknown => None,
            });
        }
        let first = bind::read_first(self.model, write, &inputs)?;
        inputs.current = first.into_iter().map(|get| self.found(get.table, get.key)).collect();
        Ok(inputs)
    }

    fn inputs(&self, parameters: &[Parameter]) -> Inputs<'_> {
        let caller = self.model.caller.iter().flat_map(|caller| &caller.fields);
        Inputs {
            arguments: Cow::Owned(parameters.iter().flat_map(arguments).collect()),
            caller: Cow::Owned(caller.map(|claim| (claim.name.clone(), value(&claim.kind, &claim.name, 0))).collect()),
            lets: Vec::new(),
            current: Vec::new(),
            variables: self.variables(),
            start: None,
            token: None,
            now_millis: now_millis(),
            fresh: &self.fresh,
            sealing: Some(Arc::new(Unkeyed)),
        }
    }

    /// Sets every variable in table names to `dev`.
    fn variables(&self) -> BTreeMap<String, String> {
        let names = self.model.tables.iter().flat_map(|table| {
            table.physical.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.to_owned())
        });
        names.map(|name| (name, "dev".to_owned())).collect()
    }

    /// Returns the sample result of a read before a write.
    fn answer(&self, read: &Read) -> Option<AttributeValue> {
        match &read.result {
            ReadResult::Count(..) => Some(AttributeValue::from(2)),
            ReadResult::Parts(parts) => match parts.first()? {
                (Some(entity), ast::Number::Many, _) => {
                    Some(AttributeValue::L((0..2).map(|number| self.item(*entity, number)).collect()))
                }
                (entity, _, _) => entity.map(|entity| self.item(entity, 0)),
            },
        }
    }

    fn item(&self, entity: EntityId, number: usize) -> AttributeValue {
        AttributeValue::M(fields(self.model.entity(entity), number))
    }

    /// Returns a sample of an existing item for this key; its unique values differ from the arguments.
    fn found(&self, table: String, key: Attributes) -> CurrentItem {
        let of_table = self.model.entities.iter().filter(|entity| {
            let named = entity.table.map(|table| bind::table_name(self.model.table(table), &self.variables()));
            named.as_ref() == Some(&table) && entity.fields.iter().any(|field| field.flags.unique.is_some())
        });
        let item = of_table.map(|entity| fields(entity, 1)).reduce(|mut all, more| {
            all.extend(more);
            all
        });
        CurrentItem { table, key, item }
    }
}

/// Returns the time of sample calls in milliseconds since 1970.
fn now_millis() -> i64 {
    let kind = Scalar::Timestamp.into();
    render::millis(&kind, &sample::of_type(&kind, "now", 0)).unwrap_or(0)
}

/// Returns sample attributes for an item's fields.
fn fields(entity: &Entity, number: usize) -> Attributes {
    entity.fields.iter().map(|field| (field.name.clone(), value(&field.kind, &field.name, number))).collect()
}

/// Returns sample arguments for a parameter.
fn arguments(parameter: &Parameter) -> Vec<(String, AttributeValue)> {
    let named = parameter.arguments.iter().enumerate();
    named
        .map(|(number, name)| {
            let one = |number| value(&parameter.kind, &parameter.field_name, number);
            let value = match parameter.test {
                Test::In => AttributeValue::L(vec![one(0), one(1)]),
                _ => one(number),
            };
            (name.clone(), value)
        })
        .collect()
}

/// Returns a sample value of a type, with a word that makes free text readable.
#[must_use]
pub fn value(kind: &Type, word: &str, number: usize) -> AttributeValue {
    let text = || sample::of_type(kind, word, number);
    match kind.resolved() {
        Type::Scalar(scalar, _) => match scalar.stored() {
            Stored::Text => AttributeValue::S(text()),
            Stored::Number => AttributeValue::N(text().parse().unwrap_or_else(|_| Number::from(1))),
            Stored::Bool => AttributeValue::Bool(text() == "true"),
            Stored::Bytes => AttributeValue::B(text().into_bytes()),
        },
        Type::List(of, _) => AttributeValue::L(vec![value(of, singular(word), number)]),
        Type::Set(of, _) => set(value(of, singular(word), number)),
        Type::Map(of, _) => AttributeValue::M([(singular(word).to_owned(), value(of, singular(word), number))].into()),
        Type::Record(fields) => AttributeValue::M(
            fields.iter().map(|field| (field.name.clone(), value(&field.kind, &field.name, number))).collect(),
        ),
        Type::Json | Type::Unknown => AttributeValue::S(word.to_owned()),
        Type::OneOf(_) | Type::Ref { .. } | Type::Copy { .. } => AttributeValue::S(text()),
    }
}

fn set(element: AttributeValue) -> AttributeValue {
    match element {
        AttributeValue::N(number) => AttributeValue::Ns([number].into()),
        AttributeValue::B(bytes) => AttributeValue::Bs([bytes].into()),
        AttributeValue::S(text) => AttributeValue::Ss([text].into()),
        other => other,
    }
}

fn singular(word: &str) -> &str {
    word.strip_suffix('s').filter(|word| !word.is_empty()).unwrap_or(word)
}

/// Seals without a key: the values have only the length of sealed ones.
struct Unkeyed;

impl Seal for Unkeyed {
    fn seal(&self, _: &SealedField<'_>, value: &AttributeValue) -> AttributeValue {
        let encoded = Item::from(&Attributes::from([("v".to_owned(), value.clone())]));
        AttributeValue::B(vec![0; encoded.as_bytes().len() + SEALED_OVERHEAD_BYTES])
    }

    fn open(&self, _: &SealedField<'_>, sealed: &AttributeValue) -> Option<AttributeValue> {
        Some(sealed.clone())
    }
}
