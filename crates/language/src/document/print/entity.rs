//! Formats shapes and entities: keys, fields, volumes.

use super::super::ast::{Entity, EntityEntry, EntityKey, Field, KeySource, Line, Notes, Shape, Volume};
use super::row::{Row, braced, columns, lines};
use super::{WIDTH, types, word};

/// Row kind of keys.
const KEY: u8 = 1;
/// Row kind of fields.
const FIELD: u8 = 2;

/// Formats `shape NAME { … }`.
pub(super) fn shape(shape: &Shape) -> Vec<String> {
    let width = name_width(shape.body.lines.iter().map(|line| &line.value));
    let rows = shape.body.lines.iter().map(|line| field(&line.value, &line.notes, width)).collect();
    braced(&format!("shape {}", word::name(&shape.name)), lines(rows, &shape.body.tail))
}

/// Formats `entity NAME in TABLE with SHAPE { … }`.
pub(super) fn entity(entity: &Entity) -> Vec<String> {
    let shapes =
        if entity.shapes.is_empty() { String::new() } else { format!(" with {}", word::names(&entity.shapes)) };
    let header = format!("entity {} in {}{shapes}", word::name(&entity.name), word::name(&entity.table));
    let fields = entity.body.lines.iter().filter_map(|line| match &line.value {
        EntityEntry::Field(field) => Some(field),
        _ => None,
    });
    let width = name_width(fields);
    let rows = entity.body.lines.iter().map(|line| entry(line, width)).collect();
    braced(&header, lines(rows, &entity.body.tail))
}

/// Returns the width of the longest field name, which decides if a field fits on one line.
fn name_width<'a>(fields: impl Iterator<Item = &'a Field>) -> usize {
    fields.map(|field| columns(&word::name(&field.name))).max().unwrap_or_default()
}

fn entry(line: &Line<EntityEntry>, width: usize) -> Row<'_> {
    match &line.value {
        EntityEntry::Tag(text) => key_row(&line.notes, "tag".to_owned(), word::text(text)),
        EntityEntry::Key(key) => key_row(&line.notes, key_word(key), key_sources(key)),
        EntityEntry::Field(value) => field(value, &line.notes, width),
        EntityEntry::Volume(value) => Row::plain(&line.notes, volume(value)),
        EntityEntry::Allow(allow) => Row::plain(&line.notes, vec![word::allow(allow)]),
    }
}

fn key_row(notes: &Notes, word: String, rest: String) -> Row<'_> {
    Row { space: 2, ..Row::cells(notes, KEY, vec![word, rest]) }
}

fn key_word(key: &EntityKey) -> String {
    match &key.index {
        None => "key".to_owned(),
        Some(index) => word::name_in_expression(index, &["key", "tag", "volume", "allow"]),
    }
}

/// Formats `"partition", "sort"`.
pub(super) fn key_sources(key: &EntityKey) -> String {
    let sort = key.sort.as_ref().map(|sort| format!(", {}", key_source(sort))).unwrap_or_default();
    format!("{}{sort}", key_source(&key.partition))
}

fn key_source(source: &KeySource) -> String {
    match source {
        KeySource::Template(text) => word::text(text),
        KeySource::Fields(fields) => format!("({})", word::names(fields)),
    }
}

fn field<'a>(field: &Field, notes: &'a Notes, width: usize) -> Row<'a> {
    let name = format!("{}:", word::name(&field.name));
    let value = types::field_value(field);
    if columns(&value) + width + 4 <= WIDTH {
        return Row::cells(notes, FIELD, vec![name, value]);
    }
    let mut value = types::long_field_value(field, columns(&name) + 1);
    let more = value.split_off(1);
    if more.is_empty() {
        return Row::cells(notes, FIELD, vec![name, value.remove(0)]);
    }
    Row { more, ..Row::plain(notes, vec![format!("{name} {}", value.remove(0))]) }
}

fn volume(volume: &Volume) -> Vec<String> {
    let figures = [
        volume.items.map(|items| format!("{} items", word::count(items))),
        volume.bytes.map(word::size),
        volume.bytes_max.map(|bytes| format!("max {}", word::size(bytes))),
        volume.per_partition.map(|count| format!("{} per partition", word::count(count))),
        volume.per_partition_max.map(|count| format!("max {} per partition", word::count(count))),
        volume.top_percent.map(|percent| format!("top {percent}%")),
        volume.lives_secs.map(|secs| format!("lives {}", word::duration(secs))),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    vec![format!("volume {}", figures.join(", "))]
}
