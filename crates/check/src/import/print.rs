//! Formats imported tables as a model, in the style of the formatter.

use keyform_language::document::{parse, print};

use super::table::{Attribute, Encryption, Entity, Index, Table};

/// Formats the whole model.
pub(super) fn model(name: &str, tables: &[Table]) -> String {
    let mut text = format!(
        "/// Imported. Next: give entities their key templates and fields, add `read` and `write` for each access \
        pattern,\n/// and run `keyform check`.\nmodel {}\n",
        identifier(name)
    );
    for table in tables {
        text.push_str(&format!("\n{}", self::table(table)));
        let placeholder = [starting_entity(table)];
        let entities = if table.entities.is_empty() { &placeholder[..] } else { &table.entities };
        for entity in entities {
            text.push_str(&format!("\n{}", self::entity(table, entity)));
        }
    }
    let (document, _) = parse(&text);
    print(&document)
}

fn table(table: &Table) -> String {
    let name = identifier(&table.name);
    let physical =
        table.physical.as_ref().filter(|physical| **physical != name).map(|physical| format!(" {}", quoted(physical)));
    let mut lines = vec![format!("key {}", joined(&table.key, ", "))];
    lines.extend(table.indexes.iter().map(index));
    lines.extend(table.ttl.iter().map(|ttl| format!("ttl {ttl}")));
    lines.extend(table.stream.as_deref().map(|view| format!("stream {}", stream(view))));
    lines.extend(table.kms.as_ref().map(|encryption| match encryption {
        Encryption::Managed => "encryption managed".to_owned(),
        Encryption::Key(key) => format!("encryption kms {}", quoted(key)),
    }));
    lines
        .extend(table.provisioned.map(|(reads, writes)| format!("billing provisioned {reads} reads, {writes} writes")));
    lines.extend(table.infrequent.then(|| "class infrequent".to_owned()));
    lines.extend(table.recovery.then(|| "recovery".to_owned()));
    lines.extend(table.protected.then(|| "protected".to_owned()));
    format!("table {name}{} {{\n  {}\n}}\n", physical.unwrap_or_default(), lines.join("\n  "))
}

fn joined(attributes: &[Attribute], by: &str) -> String {
    let typed = |attribute: &Attribute| match attribute.kind.as_str() {
        "N" => format!("{}: number", attribute.name),
        "B" => format!("{}: binary", attribute.name),
        _ => attribute.name.clone(),
    };
    attributes.iter().map(typed).collect::<Vec<_>>().join(by)
}

fn index(index: &Index) -> String {
    let name = identifier(&index.name);
    let physical = if name == index.name { String::new() } else { format!(" {}", quoted(&index.name)) };
    let partition = if index.local { String::new() } else { joined(&index.partition, " + ") };
    let parts: Vec<String> =
        [partition, joined(&index.sort, " + ")].into_iter().filter(|part| !part.is_empty()).collect();
    let projection = match &index.projection {
        None => String::new(),
        Some(names) if names.is_empty() => " project keys".to_owned(),
        Some(names) => format!(" project ({})", names.join(", ")),
    };
    let local = if index.local { "local " } else { "" };
    format!("{local}index {name}{physical} ({}){projection}", parts.join(", "))
}

fn stream(view: &str) -> &'static str {
    match view {
        "NEW_IMAGE" => "new",
        "OLD_IMAGE" => "old",
        "KEYS_ONLY" => "keys",
        _ => "new_and_old",
    }
}

/// Creates an entity with the fields that the keys of the table and its indexes need.
fn starting_entity(table: &Table) -> Entity {
    let mut fields: Vec<Attribute> = Vec::new();
    let keys = table.indexes.iter().flat_map(|index| index.partition.iter().chain(&index.sort));
    for attribute in table.key.iter().chain(keys) {
        if !fields.iter().any(|field| field.name == attribute.name) {
            fields.push(attribute.clone());
        }
    }
    if let Some(ttl) = table.ttl.as_ref().filter(|ttl| !fields.iter().any(|field| field.name == **ttl)) {
        fields.push(Attribute { name: ttl.clone(), kind: "N".to_owned() });
    }
    Entity { name: format!("{}Item", capital(&identifier(&table.name))), templates: Vec::new(), fields }
}

fn entity(table: &Table, entity: &Entity) -> String {
    let name = capital(&identifier(&entity.name));
    let mut lines = Vec::new();
    if !entity.templates.is_empty() {
        let templates: Vec<String> = entity.templates.iter().map(|template| quoted(template)).collect();
        lines.push(format!("key {}\n", templates.join(", ")));
    }
    lines.extend(entity.fields.iter().map(|field| self::field(table, field)));
    format!("entity {name} in {} {{\n  {}\n}}\n", identifier(&table.name), lines.join("\n  "))
}

fn field(table: &Table, field: &Attribute) -> String {
    let is_key = table.key.iter().any(|key| key.name == field.name);
    let is_index_key = table
        .indexes
        .iter()
        .flat_map(|index| index.partition.iter().chain(&index.sort))
        .any(|key| key.name == field.name);
    let is_ttl = table.ttl.as_ref() == Some(&field.name);
    let kind = match field.kind.as_str() {
        "N" if is_ttl => "epoch",
        "N" => "number",
        "B" => "binary(1..1024)",
        "BOOL" => "bool",
        "M" => "map<json>",
        "L" => "list<json>",
        "SS" => "set<string>",
        "NS" => "set<number>",
        "BS" => "set<binary>",
        _ if is_key || is_index_key => "string(1..255)",
        "S" => "string",
        _ => "json",
    };
    let optional =
        if (is_index_key || is_ttl) && !is_key || matches!(field.kind.as_str(), "SS" | "NS" | "BS") { "?" } else { "" };
    format!("{}: {kind}{optional}", field.name)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Converts a name to letters, digits and underscores.
fn identifier(name: &str) -> String {
    let mut out = String::new();
    let mut upper = false;
    for character in name.chars() {
        match character {
            '_' => out.push('_'),
            character if character.is_ascii_alphanumeric() => {
                out.push(if upper { character.to_ascii_uppercase() } else { character });
                upper = false;
            }
            _ => upper = !out.is_empty(),
        }
    }
    if out.is_empty() || out.starts_with(|first: char| first.is_ascii_digit()) { format!("t{out}") } else { out }
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}
