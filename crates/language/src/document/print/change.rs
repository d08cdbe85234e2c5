//! Formats `on` and `evolve` declarations.

use super::super::ast::{Event, Evolve, EvolveEntry, Image, Line, Notes, On, Target};
use super::row::{Row, braced, lines};
use super::{entity, expression, word};

/// Row kind of `on`.
const ON: u8 = 4;
/// Row kind of the entries of an `evolve`.
const EVOLVE: u8 = 1;

/// Formats `on ENTITY events -> target`.
pub(super) fn on<'a>(on: &On, notes: &'a Notes) -> Row<'a> {
    let events: Vec<&str> = on.events.iter().map(|event| event_word(*event)).collect();
    let target = match &on.target {
        Target::Live(read, fields) => format!("live {}({})", word::name(read), word::names(fields)),
        Target::Handler(name) => format!("handler {}", word::name(name)),
    };
    let images: Vec<&str> = on.needs.iter().map(|image| image_word(*image)).collect();
    let needs = if images.is_empty() { String::new() } else { format!(" needs {}", images.join(", ")) };
    let cells = vec![format!("on {} {}", word::name(&on.entity), events.join(", ")), format!("-> {target}{needs}")];
    Row::cells(notes, ON, cells)
}

fn event_word(event: Event) -> &'static str {
    match event {
        Event::Insert => "insert",
        Event::Modify => "modify",
        Event::Remove => "remove",
        Event::Expire => "expire",
    }
}

fn image_word(image: Image) -> &'static str {
    match image {
        Image::Old => "old",
        Image::New => "new",
    }
}

/// Formats `evolve ENTITY { … }`.
pub(super) fn evolve(evolve: &Evolve) -> Vec<String> {
    let rows = evolve.body.lines.iter().map(entry).collect();
    braced(&format!("evolve {}", word::name(&evolve.entity)), lines(rows, &evolve.body.tail))
}

fn entry(line: &Line<EvolveEntry>) -> Row<'_> {
    let (keyword, rest) = match &line.value {
        EvolveEntry::Table(name) => ("from", format!("table {}", word::name(name))),
        EvolveEntry::Key(key) => {
            let what = key.index.as_ref().map_or("key".to_owned(), |index| word::name_unless(index, &["key", "table"]));
            ("from", format!("{what} {}", entity::key_sources(key)))
        }
        EvolveEntry::Rename(old, new) => ("rename", format!("{} -> {}", word::name(old), word::name(new))),
        EvolveEntry::Set(field, value) => ("set", format!("{} = {}", word::name(field), expression::text(value))),
        EvolveEntry::Allow(allow) => return Row::plain(&line.notes, vec![word::allow(allow)]),
    };
    Row::cells(&line.notes, EVOLVE, vec![keyword.to_owned(), rest])
}
