//! Checks projected attributes: each should be a field of an entity of the table.

use crate::diagnostic::Diagnostic;
use crate::schema::Model;
use crate::schema::key::{Table, TableId};
use crate::span::{Span, Spanned};

use super::code;
use super::found::{Found, nearest};

/// Warns about projected attributes that no entity has.
pub(super) fn check(model: &mut Model, found: &mut Found) {
    for number in 0..model.tables.len() {
        let entities = model.entities_of(TableId(number)).map(|(_, entity)| entity);
        let fields = entities.flat_map(|entity| &entity.fields).map(|field| field.name.clone());
        let known = Known { fields: fields.collect(), own: own(&model.tables[number]) };
        if !known.fields.is_empty() {
            known.check(&mut model.tables[number], found);
        }
    }
}

/// Returns the names of attributes that the table itself defines: keys and tag.
fn own(table: &Table) -> Vec<String> {
    let indexes = table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    let names = table.key_names().chain(indexes.map(|attribute| attribute.name.as_str()));
    names.chain(table.tag.iter().map(|tag| tag.value.as_str())).map(str::to_owned).collect()
}

struct Known {
    fields: Vec<String>,
    own: Vec<String>,
}

impl Known {
    fn check(&self, table: &mut Table, found: &mut Found) {
        for index in &mut table.indexes {
            for Spanned { value: name, span } in index.projection.iter_mut().flatten() {
                self.one(name, *span, &format!("index `{}` projects `{name}`", index.name), found);
            }
        }
    }

    /// Warns about an unknown attribute and replaces it by the most similar one.
    fn one(&self, name: &mut String, span: Span, what: &str, found: &mut Found) {
        if self.fields.contains(name) || self.own.contains(name) {
            return;
        }
        let message = format!("{what}, but no entity of the table has this field");
        let finding = Diagnostic::warning(code::ATTRIBUTE, span, message);
        let fields: Vec<&str> = self.fields.iter().map(String::as_str).collect();
        match nearest(name, &fields) {
            Some(near) => {
                found.add(finding.help(format!("did you mean `{near}`?")).edit(span, near));
                near.clone_into(name);
            }
            None => found.add(finding.help("declare the field in the entities that have it")),
        }
    }
}
