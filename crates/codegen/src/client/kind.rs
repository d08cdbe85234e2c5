//! Types of a model as clients see them, by their JSON encoding.

use keyform_language::scalar::generated::{ClientType, SMALL_INTEGER};
use keyform_language::schema::{EntityId, Field, FieldId, Model, Type};

use super::names;
use super::object::{Member, Object, ObjectId};

/// Type of a value in a client.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Scalar, by its JSON encoding.
    Scalar(&'static ClientType),
    /// Id of an entity: a string with its own type.
    Id(EntityId),
    /// One of these strings.
    OneOf(Vec<String>),
    /// Array.
    List(Box<Self>),
    /// Set, encoded as an array.
    Set(Box<Self>),
    /// Map with string keys.
    Map(Box<Self>),
    /// Record.
    Object(ObjectId),
    /// Any JSON value.
    Json,
}

impl Kind {
    /// Returns the record that this is, or that its elements are.
    pub(crate) fn object(&self) -> Option<ObjectId> {
        match self {
            Self::Object(object) => Some(*object),
            Self::List(of) | Self::Set(of) | Self::Map(of) => of.object(),
            _ => None,
        }
    }
}

/// Converts types to kinds and collects the objects on the way.
pub(super) struct Kinds<'a> {
    model: &'a Model,
    /// Entities whose ids have their own type.
    ids: Vec<EntityId>,
    objects: Vec<Object>,
}

impl<'a> Kinds<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let ids = model.entity_ids().filter(|&entity| has_own_id(model, entity)).collect();
        Self { model, ids, objects: Vec::new() }
    }

    /// Returns the id types with their names, and all objects.
    pub(super) fn finish(self) -> (Vec<(EntityId, String)>, Vec<Object>) {
        let named = self.ids.iter().map(|&id| (id, id_name(self.model, id))).collect();
        (named, self.objects)
    }

    /// Returns the object of an entity's items; with `only`, of a selection of its fields.
    pub(super) fn entity(&mut self, id: EntityId, name: &str, only: Option<&[String]>) -> ObjectId {
        let entity = self.model.entity(id);
        let wanted = |field: &Field| only.is_none_or(|only| only.contains(&field.name));
        let key = if only.is_some() { format!("selection {name}") } else { format!("entity {name}") };
        if let Some(known) = self.known(&key) {
            return known;
        }
        let docs = match only {
            Some(_) => vec![format!("Selected fields of `{}`.", entity.name)],
            None => entity.docs.clone(),
        };
        let place = self.reserve(key, names::pascal(name), docs);
        let mut members = Vec::new();
        for (number, field) in entity.fields.iter().enumerate() {
            if field.flags.secret.is_none() && wanted(field) {
                members.push(self.member(field, self.kind_of_field(id, FieldId(number)), &entity.name));
            }
        }
        self.objects[place.0].members = members;
        place
    }

    fn known(&self, key: &str) -> Option<ObjectId> {
        self.objects.iter().position(|object| object.key == key).map(ObjectId)
    }

    /// Adds an object whose members are set later.
    fn reserve(&mut self, key: String, name: String, docs: Vec<String>) -> ObjectId {
        self.objects.push(Object { key, name, docs, members: Vec::new() });
        ObjectId(self.objects.len() - 1)
    }

    /// Returns the kind of an id or a version field; `None` if the kind follows from the type.
    fn kind_of_field(&self, entity: EntityId, field: FieldId) -> Option<Kind> {
        if self.model.entity(entity).field(field).flags.version.is_some() {
            // One write per microsecond takes 285 years to reach 2⁵³.
            return Some(Kind::Scalar(&SMALL_INTEGER));
        }
        let is_id = self.ids.contains(&entity) && self.model.entity(entity).id_field() == Some(field);
        is_id.then_some(Kind::Id(entity))
    }

    fn member(&mut self, field: &Field, known: Option<Kind>, owner: &str) -> Member {
        let kind = known.unwrap_or_else(|| self.of(&field.kind, &format!("{owner} {}", field.name)));
        Member { name: field.name.clone(), docs: field.docs.clone(), kind, optional: field.optional, null: field.null }
    }

    /// Returns the fields of a record or of a caller.
    pub(super) fn members(&mut self, fields: &[&Field], owner: &str) -> Vec<Member> {
        fields.iter().map(|field| self.member(field, None, owner)).collect()
    }

    /// Returns the kind of an entity's field.
    pub(super) fn field(&mut self, (entity, field): (EntityId, FieldId)) -> Kind {
        let of = self.model.entity(entity);
        let known = self.kind_of_field(entity, field);
        self.member(of.field(field), known, &of.name).kind
    }

    /// Returns the kind of a type. `place` names a record after its position.
    pub(super) fn of(&mut self, kind: &Type, place: &str) -> Kind {
        match kind {
            Type::Ref { entity: Some(entity), field, plain } => {
                self.id_of(*entity, *field).unwrap_or_else(|| self.of(plain, place))
            }
            Type::Copy { entity: Some(entity), field: Some(field), plain } => {
                self.id_of(*entity, Some(*field)).unwrap_or_else(|| self.of(plain, place))
            }
            Type::Ref { plain, .. } | Type::Copy { plain, .. } => self.of(plain, place),
            Type::List(of, _) => Kind::List(Box::new(self.of(of, place))),
            Type::Set(of, _) => Kind::Set(Box::new(self.of(of, place))),
            Type::Map(of, _) => Kind::Map(Box::new(self.of(of, place))),
            Type::Record(fields) => Kind::Object(self.record(fields, place)),
            Type::Scalar(scalar, bounds) => Kind::Scalar(scalar.client(*bounds)),
            Type::OneOf(texts) => Kind::OneOf(texts.clone()),
            Type::Json | Type::Unknown => Kind::Json,
        }
    }

    fn record(&mut self, fields: &[Field], place: &str) -> ObjectId {
        let key = format!("record {place}");
        if let Some(known) = self.known(&key) {
            return known;
        }
        let found = self.reserve(key, names::pascal(place), Vec::new());
        let members = self.members(&fields.iter().collect::<Vec<_>>(), place);
        self.objects[found.0].members = members;
        found
    }

    /// Returns the id that a reference points to, following entities whose id is itself a reference.
    fn id_of(&self, entity: EntityId, field: Option<FieldId>) -> Option<Kind> {
        let (mut entity, mut field) = (entity, field);
        for _ in 0..self.model.entities.len() {
            let of = self.model.entity(entity);
            let id = of.id_field();
            let at = field.or(id)?;
            if self.ids.contains(&entity) && Some(at) == id {
                return Some(Kind::Id(entity));
            }
            match of.field(at).kind {
                Type::Ref { entity: Some(next), field: next_field, .. } => (entity, field) = (next, next_field),
                _ => return None,
            }
        }
        None
    }
}

/// Returns whether the id of an entity deserves its own type: it is a string, and is generated or referred to.
fn has_own_id(model: &Model, entity: EntityId) -> bool {
    let of = model.entity(entity);
    let Some(id) = of.id_field().map(|id| of.field(id)) else { return false };
    let is_text = matches!(id.kind, Type::Scalar(scalar, _) if scalar.is_client_id());
    let fields = || model.entities.iter().flat_map(|entity| &entity.fields);
    let is_referred =
        || fields().any(|field| matches!(field.kind, Type::Ref { entity: Some(to), field: None, .. } if to == entity));
    id.flags.secret.is_none() && is_text && (id.is_generated() || is_referred())
}

/// Returns the type name: `UserId` for `userId` in `User`, `InviteCode` for `code` in `Invite`.
fn id_name(model: &Model, entity: EntityId) -> String {
    let of = model.entity(entity);
    let field = of.id_field().map_or("id", |id| of.field(id).name.as_str());
    let words = names::words(&of.name);
    let last = words.last().map(|word| word.to_lowercase()).unwrap_or_default();
    if field.to_lowercase().contains(&last) {
        names::pascal(field)
    } else {
        names::pascal(&format!("{} {field}", of.name))
    }
}
