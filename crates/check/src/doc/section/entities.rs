//! Section with the entities: keys, fields, a sample item.

use crate::Checked;
use crate::cost::text::count;
use crate::doc::block::Page;
use crate::doc::sample;
use keyform_language::schema::{Entity, EntityKey, Field, Model, words};

use super::code;

pub(crate) fn write(checked: &Checked, page: &mut Page) {
    let model = &checked.model;
    page.heading(2, "Entities");
    for entity in &model.entities {
        page.heading(3, entity.name.clone());
        page.docs(&entity.docs);
        let table = entity.table.map_or("?", |table| &model.table(table).name);
        page.paragraph(format!("In table {table}{}.", volume(entity)));
        page.table(&["key", "attribute", "template"], keys(model, entity));
        page.table(
            &["field", "type", "", "default", "description"],
            entity.fields.iter().map(|field| row(checked, field)).collect(),
        );
        page.code("json", sample::text(&sample::item(model, entity, 0)));
    }
}

fn volume(entity: &Entity) -> String {
    let volume = &entity.volume;
    let mut parts = Vec::new();
    parts.extend(volume.items.map(|items| format!("{} items", count(items))));
    parts.extend(volume.bytes.map(|bytes| format!("{bytes} bytes each")));
    parts.extend(volume.per_partition.map(|items| format!("{} per partition", count(items))));
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

fn keys(model: &Model, entity: &Entity) -> Vec<Vec<String>> {
    let table = entity.table.map(|table| model.table(table));
    let name = |key: &EntityKey| match (key.index, table) {
        (Some(index), Some(table)) => code(&table.index_at(index).name),
        _ => "table".to_owned(),
    };
    let lines = |key: &EntityKey| -> Vec<Vec<String>> {
        let row = |part: &keyform_language::schema::KeyPart| {
            vec![name(key), code(&part.attribute), code(&part.template.text(|field| &entity.field(field).name))]
        };
        key.parts().map(row).collect()
    };
    entity.key.iter().chain(&entity.indexes).flat_map(lines).collect()
}

fn row(checked: &Checked, field: &Field) -> Vec<String> {
    let default = field.default.as_ref().map(|default| checked.words(default.span)).unwrap_or_default();
    let docs = field.docs.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    vec![
        code(&field.name),
        code(&words::field_type(&checked.model, field)),
        words::flags(&field.flags).join(", "),
        code(&default),
        docs,
    ]
}
