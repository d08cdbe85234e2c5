//! Section with the purpose of the model and its tables.

use crate::doc::block::Page;
use keyform_language::schema::{Index, KeyAttribute, Model, Table, TableId};

use super::code;

pub(crate) fn write(model: &Model, page: &mut Page) {
    page.docs(&model.docs);
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    page.paragraph(format!(
        "{}, {}, {} and {}.",
        count(model.tables.len(), "table", "tables"),
        count(model.entities.len(), "entity", "entities"),
        count(model.reads.len(), "read", "reads"),
        count(model.writes.len(), "write", "writes"),
    ));
    page.heading(2, "Overview");
    let rows = (0..model.tables.len()).map(|number| row(model, TableId(number))).collect();
    page.table(&["table", "name in the store", "key", "indexes", "entities"], rows);
    if let Some(caller) = &model.caller {
        let claims: Vec<String> = caller.fields.iter().map(|field| format!("`{}`", field.name)).collect();
        page.paragraph(format!("A caller's token contains {}.", claims.join(", ")));
    }
}

fn row(model: &Model, id: TableId) -> Vec<String> {
    let table = model.table(id);
    let entities: Vec<&str> = model.entities_of(id).map(|(_, entity)| entity.name.as_str()).collect();
    let indexes: Vec<String> = table.indexes.iter().map(|index| code(&index.name)).collect();
    vec![table.name.clone(), code(&table.physical), code(&key(table)), indexes.join(", "), entities.join(", ")]
}

/// Formats the key attributes of a table: `pk, sk`.
pub(super) fn key(table: &Table) -> String {
    table.key_names().collect::<Vec<_>>().join(", ")
}

/// Formats the key of an index: `gsi1pk, gsi1sk`; several attributes are joined by `+`.
pub(super) fn index_key(index: &Index) -> String {
    let joined = |attributes: &[KeyAttribute]| {
        attributes.iter().map(|attribute| attribute.name.as_str()).collect::<Vec<_>>().join(" + ")
    };
    let parts: Vec<String> =
        [joined(&index.partition), joined(&index.sort)].into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}
