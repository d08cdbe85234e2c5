//! Resolves `Entity(keys)`: an item addressed by its whole key.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{ExprKind, ItemRef, Name};
use crate::schema::expression::Expr;
use crate::schema::pattern::Equality;
use crate::schema::{Entity, EntityId, FieldId};

use super::code;
use super::expression::Scope;
use super::found::Found;

impl Scope<'_> {
    /// Resolves the values of the key fields, positional or named, and of further fields, by name. If `whole`, all key
    /// fields must be given; otherwise the item is new, and only key fields may be given.
    pub(super) fn item(
        &self,
        item: &ItemRef,
        entity: Option<EntityId>,
        whole: bool,
        found: &mut Found,
    ) -> (Vec<(FieldId, Expr)>, Vec<Equality>) {
        let key = entity.map(|id| self.model.entity(id)).filter(|entity| entity.has_whole_key());
        let Some(entity) = key else {
            item.keys.iter().for_each(|argument| drop(self.expr(&argument.value, found)));
            return (Vec::new(), Vec::new());
        };
        let fields = entity.key_fields();
        let mut equalities: Vec<Equality> = Vec::new();
        let mut keys: Vec<(FieldId, Expr)> = Vec::new();
        let mut surplus = false;
        for (number, argument) in item.keys.iter().enumerate() {
            let field = match &argument.name {
                None => fields.get(number).copied(),
                Some(name) => {
                    if let Some(field) = further_field(entity, &fields, name).filter(|_| whole) {
                        let value = self.value(&argument.value, &entity.field(field).kind, found);
                        equalities.push(Equality { field, value, written: true });
                        continue;
                    }
                    let field = key_field(entity, &fields, name, found);
                    if field.is_none() {
                        self.expr(&argument.value, found);
                        return (keys, equalities);
                    }
                    field
                }
            };
            match field.filter(|field| !keys.iter().any(|(other, _)| other == field)) {
                Some(field) => {
                    let kind = &entity.field(field).kind;
                    keys.push((field, self.value(&argument.value, kind, found)));
                }
                None => {
                    surplus = true;
                    self.expr(&argument.value, found);
                }
            }
        }
        if let Some(finding) = misplaced(item, entity, &fields) {
            found.add(finding);
        } else if surplus || whole && keys.len() < fields.len() {
            wrong_keys(item, entity, &fields, &keys, found);
        }
        (keys, equalities)
    }
}

/// Returns the field with this name that is not part of the key.
fn further_field(entity: &Entity, fields: &[FieldId], name: &Name) -> Option<FieldId> {
    // The store cannot compare an encrypted field.
    let is_comparable = |field: &FieldId| entity.field(*field).flags.encrypted.is_none();
    entity.field_named(&name.text).filter(|field| !fields.contains(field)).filter(is_comparable)
}

/// Returns the key field with this name; reports an unknown one.
fn key_field(entity: &Entity, fields: &[FieldId], name: &Name, found: &mut Found) -> Option<FieldId> {
    let find = |name: &str| fields.iter().copied().find(|field| entity.field(*field).name == name);
    find(&name.text).or_else(|| {
        let known = fields.iter().map(|field| entity.field(*field).name.as_str());
        let message = format!("`{}` is not part of the key of `{}`", name.text, entity.name);
        found.unknown(code::ITEM, name, message, known).and_then(find)
    })
}

/// Reports a key field passed at the position of another key field of a different type. A field of the same type may be
/// intended.
fn misplaced(item: &ItemRef, entity: &Entity, fields: &[FieldId]) -> Option<Diagnostic> {
    let places = fields.iter().zip(&item.keys).filter(|(_, argument)| argument.name.is_none());
    let (wanted, given) = places.into_iter().find_map(|(wanted, argument)| {
        let ExprKind::Name(given) = &*argument.value.kind else { return None };
        let meant = fields.iter().find(|field| entity.field(**field).name == given.text)?;
        let kind = |field: &FieldId| entity.field(*field).kind.resolved();
        (!kind(meant).is_same_kind(kind(wanted))).then_some((wanted, given))
    })?;
    let name = |field: &FieldId| entity.field(*field).name.as_str();
    let message = format!("`{}` stands where the key of `{}` has `{}`", given.text, entity.name, name(wanted));
    let finding = Diagnostic::error(code::ITEM, given.span, message);
    let finding = match &entity.key {
        Some(key) => finding.also(key.span, "its key"),
        None => finding,
    };
    let whole = fields.iter().map(name).collect::<Vec<_>>().join(", ");
    Some(finding.help(format!("write `{}({whole})`", entity.name)))
}

fn wrong_keys(item: &ItemRef, entity: &Entity, fields: &[FieldId], keys: &[(FieldId, Expr)], found: &mut Found) {
    let name = |field: &FieldId| entity.field(*field).name.as_str();
    let given = |field: &&FieldId| keys.iter().any(|(other, _)| other == *field);
    let missing: Vec<String> = fields.iter().filter(|field| !given(field)).map(|f| format!("`{}`", name(f))).collect();
    let message = match missing.as_slice() {
        [] => {
            let parts = if fields.len() == 1 { "part" } else { "parts" };
            format!("the key of `{}` has {} {parts}, not {}", entity.name, fields.len(), item.keys.len())
        }
        missing => {
            format!("a reference to `{}` needs the complete key: {} is missing", entity.name, missing.join(", "))
        }
    };
    let whole = fields.iter().map(name).collect::<Vec<_>>().join(", ");
    let mut finding = Diagnostic::error(code::ITEM, item.span, message);
    if let Some(key) = &entity.key {
        finding = finding.also(key.span, "its key");
    }
    found.add(finding.help(format!("write `{}({whole})`", entity.name)));
}
