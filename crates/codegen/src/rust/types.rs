//! Maps fields and parameters of a model to Rust types.
//!
//! The id of an entity has its own type, which every `ref` to it and every field of the same name and type shares.
//! (The last of several key fields is such an id if its name says so: `memberId` of `Member`, but not `personId`.) A
//! literal union becomes an enum, a record a struct, each named after its position.

use std::collections::BTreeMap;

use keyform_check::Checked;
use keyform_language::scalar::generated::{self, RustId};
use keyform_language::schema::{Entity, EntityId, Field, FieldId, Model, Type};

use super::fields::{self, Shown};
use super::names::{PRELUDE, Scope, pascal, snake};
use super::{docs, layout};

/// Limit of followed references; the checker has already reported cycles.
const REFERENCES_MAX: usize = 8;

/// Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RustType {
    /// As the type of a field.
    pub(super) owned: String,
    /// As the type of a parameter.
    pub(super) passed: Passed,
}

/// Way of passing a value to a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Passed {
    /// By value.
    Copied,
    /// As `&str`.
    Text,
    /// By reference.
    Referred,
    /// As a slice of this element type.
    Slice(String),
}

impl RustType {
    fn new(owned: impl Into<String>, passed: Passed) -> Self {
        Self { owned: owned.into(), passed }
    }

    /// Returns the type of a parameter.
    pub(super) fn parameter(&self) -> String {
        match &self.passed {
            Passed::Copied => self.owned.clone(),
            Passed::Text => "&str".to_owned(),
            Passed::Referred => format!("&{}", self.owned),
            Passed::Slice(of) => format!("&[{of}]"),
        }
    }

    /// Returns the type of a list of these.
    pub(super) fn list(&self) -> Self {
        Self::new(format!("Vec<{}>", self.owned), Passed::Slice(self.owned.clone()))
    }

    pub(super) fn text() -> Self {
        Self::new("String", Passed::Text)
    }
}

impl From<generated::RustType> for RustType {
    fn from(scalar: generated::RustType) -> Self {
        let passed = match scalar.passed {
            generated::Passed::Copied => Passed::Copied,
            generated::Passed::Text => Passed::Text,
            generated::Passed::Referred => Passed::Referred,
        };
        Self::new(scalar.name, passed)
    }
}

/// Position of a type: its identity, and the name of a type generated for it.
#[derive(Clone, Debug)]
pub(super) struct TypePosition {
    key: String,
    name: String,
}

impl TypePosition {
    pub(super) fn new(key: String, name: String) -> Self {
        Self { key, name }
    }

    fn within(&self, part: &str) -> Self {
        Self { key: format!("{}/{part}", self.key), name: format!("{}{}", self.name, pascal(part)) }
    }
}

/// Types of a model, and the names of all generated items.
pub(super) struct Types<'a> {
    pub(super) checked: &'a Checked,
    pub(super) names: Scope,
    /// Names of the entity structs.
    entities: Vec<String>,
    /// Names of the id types, by the field that they belong to.
    ids: BTreeMap<(EntityId, FieldId), String>,
    /// Types generated for positions, by the position's key.
    made: BTreeMap<String, RustType>,
    /// Code of generated types that is not in the output yet.
    pub(super) unprinted: String,
}

impl<'a> Types<'a> {
    pub(super) fn new(checked: &'a Checked) -> Self {
        let mut names = Scope::with(&PRELUDE);
        let entities =
            checked.model.entities.iter().map(|entity| names.take(&pascal(&entity.name), "Entity")).collect();
        Self { checked, names, entities, ids: BTreeMap::new(), made: BTreeMap::new(), unprinted: String::new() }
    }

    fn model(&self) -> &'a Model {
        &self.checked.model
    }

    /// Returns the name of an entity's struct.
    pub(super) fn entity(&self, id: EntityId) -> &str {
        &self.entities[id.0]
    }

    /// Generates the id types.
    pub(super) fn make_ids(&mut self) -> String {
        let model = self.model();
        let own = |id: EntityId| {
            let entity = model.entity(id);
            let field = entity.id_field().filter(|&field| is_own_id(entity.field(field)))?;
            let alone = entity.key_fields().len() == 1 || entity.field(field).is_generated();
            (alone || names_itself(entity, field)).then_some((id, field))
        };
        let own: Vec<(EntityId, FieldId)> = model.entity_ids().filter_map(own).collect();
        let (named, others): (Vec<_>, Vec<_>) =
            own.into_iter().partition(|&(entity, field)| names_itself(model.entity(entity), field));
        let mut code = String::new();
        for (entity, field) in named.into_iter().chain(others) {
            // A field named after another entity's id has that id's type.
            if self.id_called(model.entity(entity).field(field)).is_none() {
                code.push_str(&self.make_id(entity, field));
            }
        }
        code
    }

    fn make_id(&mut self, id: EntityId, field_id: FieldId) -> String {
        let entity = self.model().entity(id);
        let field = entity.field(field_id);
        let name = self.names.take(&id_name(&entity.name, &field.name), "Key");
        let about = docs::comment(0, &[format!("The {} of [`{}`].", docs::code(&field.name), self.entity(id))]);
        self.ids.insert((id, field_id), name.clone());
        let Some(form) = form(&field.kind) else {
            return format!(
                "{about}#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub struct {name}(pub i64);\n\nkeyform::int_id! {{ {name} }}\n\n"
            );
        };
        format!(
            "{about}#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub struct {name}(String);\n\nkeyform::text_id! {{ {name}, {form} }}\n\n"
        )
    }

    /// Returns the id type of a field whose name and type match an entity's id.
    fn id_called(&self, field: &Field) -> Option<RustType> {
        let model = self.model();
        let mut found = self.ids.iter().filter(|((entity, id), _)| {
            let (of, other) = (model.entity(*entity), model.entity(*entity).field(*id));
            let called = match other.name.as_str() {
                "id" => pascal(&field.name) == format!("{}Id", pascal(&of.name)),
                name => name == field.name && names_itself(of, *id),
            };
            called && alike(&other.kind, &field.kind)
        });
        let (&(entity, id), name) = found.next()?;
        found.next().is_none().then(|| id_type(model.entity(entity).field(id), name))
    }

    /// Returns the type of an entity's field.
    pub(super) fn of_field(&mut self, id: EntityId, field: FieldId) -> RustType {
        self.followed(id, field, 0)
    }

    fn followed(&mut self, id: EntityId, field_id: FieldId, depth: usize) -> RustType {
        let entity = self.model().entity(id);
        let field = entity.field(field_id);
        if let Some(name) = self.ids.get(&(id, field_id)) {
            return id_type(field, name);
        }
        match &field.kind {
            Type::Ref { entity: Some(target), field: Some(of), .. }
            | Type::Copy { entity: Some(target), field: Some(of), .. }
                if depth < REFERENCES_MAX =>
            {
                self.followed(*target, *of, depth + 1)
            }
            kind => {
                let place = TypePosition::new(
                    format!("entity {}.{}", entity.name, field.name),
                    format!("{}{}", pascal(&entity.name), pascal(&field.name)),
                );
                self.id_called(field).unwrap_or_else(|| self.of(kind, &place))
            }
        }
    }

    /// Returns the type of a parameter or claim that declares its own type.
    pub(super) fn of_named(&mut self, field: &Field, place: &TypePosition) -> RustType {
        self.id_called(field).unwrap_or_else(|| self.of(&field.kind, place))
    }

    /// Returns the Rust type of a model type.
    pub(super) fn of(&mut self, kind: &Type, place: &TypePosition) -> RustType {
        match kind {
            Type::Scalar(scalar, _) => scalar.rust().into(),
            Type::Unknown => RustType::text(),
            Type::Json => RustType::new("keyform::serde_json::Value", Passed::Referred),
            Type::List(of, _) => self.of(of, &place.within("item")).list(),
            Type::Set(of, _) => {
                let of = self.of(of, &place.within("item")).owned;
                RustType::new(format!("std::collections::BTreeSet<{of}>"), Passed::Referred)
            }
            Type::Map(of, _) => {
                let of = self.of(of, &place.within("item")).owned;
                RustType::new(format!("std::collections::BTreeMap<String, {of}>"), Passed::Referred)
            }
            Type::OneOf(texts) => self.made_once(place, |types| types.make_enum(texts, place)),
            Type::Record(parts) => self.made_once(place, |types| types.make_record(parts, place)),
            Type::Ref { entity: Some(entity), field: Some(field), .. }
            | Type::Copy { entity: Some(entity), field: Some(field), .. } => self.of_field(*entity, *field),
            Type::Ref { plain, .. } | Type::Copy { plain, .. } => self.of(plain, place),
        }
    }

    fn made_once(&mut self, place: &TypePosition, make: impl FnOnce(&mut Self) -> RustType) -> RustType {
        if let Some(made) = self.made.get(&place.key) {
            return made.clone();
        }
        let made = make(self);
        self.made.insert(place.key.clone(), made.clone());
        made
    }

    fn make_enum(&mut self, texts: &[String], place: &TypePosition) -> RustType {
        let name = self.names.take(&place.name, "Choice");
        let mut scope = Scope::with(&["Self"]);
        let variants: Vec<String> = texts.iter().map(|text| scope.take(&pascal(text), "")).collect();
        let mut code = format!(
            "/// One of {} values.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]\npub enum {name} {{\n",
            texts.len()
        );
        for (variant, text) in variants.iter().zip(texts) {
            code.push_str(&docs::comment(4, &[docs::code(text)]));
            code.push_str(&format!("    {variant},\n"));
        }
        let pairs: Vec<String> =
            variants.iter().zip(texts).map(|(variant, text)| format!("{variant} = {text:?}")).collect();
        code.push_str(&format!("}}\n\n{}\n", layout::implementation("one_of", &name, &pairs)));
        self.unprinted.push_str(&code);
        RustType::new(name, Passed::Copied)
    }

    fn make_record(&mut self, parts: &[Field], place: &TypePosition) -> RustType {
        let name = self.names.take(&place.name, "Record");
        let mut scope = Scope::default();
        let mut shown = Vec::new();
        for field in parts {
            let kind = self.of(&field.kind, &place.within(&field.name));
            shown.push(Shown::of(self.checked, field, scope.take(&snake(&field.name), "_"), kind));
        }
        let about = vec!["A record within an item.".to_owned()];
        let code = fields::print(&name, &about, &shown);
        self.unprinted.push_str(&code);
        RustType::new(name, Passed::Referred)
    }
}

/// Returns whether a field of this type can have its own id type.
fn is_own_id(field: &Field) -> bool {
    matches!(field.kind, Type::Scalar(scalar, _) if scalar.rust().id.is_some())
}

/// Returns whether the field's name refers to its entity: `userId` of `User`, `inviteId` of `WorkspaceInvite`, or
/// `id`.
fn names_itself(entity: &Entity, field: FieldId) -> bool {
    let name = &entity.field(field).name;
    name == "id" || id_name(&entity.name, name) != format!("{}{}", pascal(&entity.name), pascal(name))
}

/// Returns the name of an id type: both names joined, without repeating a common part.
fn id_name(entity: &str, field: &str) -> String {
    let (of, own) = (pascal(entity), pascal(field));
    if own.starts_with(&of) && own != of {
        return own;
    }
    let first = pascal(field.split(|letter: char| !letter.is_lowercase()).next().unwrap_or_default());
    match own.strip_prefix(&first) {
        Some(rest) if !rest.is_empty() && of.ends_with(&first) => format!("{of}{rest}"),
        _ => format!("{of}{own}"),
    }
}

fn id_type(field: &Field, name: &str) -> RustType {
    let passed = if form(&field.kind).is_some() { Passed::Referred } else { Passed::Copied };
    RustType::new(name, passed)
}

/// Returns the validation of a string id; `None` for an integer.
fn form(kind: &Type) -> Option<String> {
    let end = |end: Option<i64>| end.map_or_else(|| "None".to_owned(), |end| format!("Some({end})"));
    let (scalar, bounds) = kind.scalar()?;
    match scalar.rust().id? {
        RustId::Text(form) if scalar.counted().is_some() => {
            Some(format!("{form}({}, {})", end(bounds.min), end(bounds.max)))
        }
        RustId::Text(form) => Some(form.to_owned()),
        RustId::Number => None,
    }
}

/// Returns whether both are the same plain type that an id can have, including bounds.
fn alike(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Scalar(one, bounds), Type::Scalar(other, others)) => {
            one.rust().id.is_some() && (one, bounds) == (other, others)
        }
        _ => false,
    }
}
