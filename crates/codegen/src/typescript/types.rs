//! Generates types and their JSON decoders.

use keyform_language::scalar::generated::BYTES;

use crate::client::{Client, Kind, Member, Object, lines};

use super::naming::Naming;
use super::{comment, property, quoted};

/// Generates the types of ids, objects and the caller.
pub(super) fn print(client: &Client<'_>, naming: &Naming) -> String {
    let mut text = String::new();
    if !client.ids.is_empty() {
        text.push_str("declare const brand: unique symbol\n\n");
    }
    for (entity, _) in &client.ids {
        let name = naming.id(*entity);
        text.push_str(&format!(
            "/** A string that is known to be such an id. */\nexport type {name} = string & {{ readonly [brand]: {} }}\n",
            quoted(name)
        ));
        text.push_str(&format!("export const {name} = (text: string): {name} => text as {name}\n\n"));
    }
    for (object, name) in client.objects.iter().zip(&naming.names) {
        text.push_str(&interface(name, &lines(&object.docs), &object.members, naming));
        text.push('\n');
    }
    text + &caller(client, naming)
}

fn caller(client: &Client<'_>, naming: &Naming) -> String {
    let name = naming.own("Caller");
    match &client.caller {
        Some(members) => interface(&name, &["Claims of a caller's token.".to_owned()], members, naming),
        None => format!(
            "/** The model declares no caller. */\nexport type {name} = {{ readonly [claim: string]: never }}\n"
        ),
    }
}

fn interface(name: &str, docs: &[String], members: &[Member], naming: &Naming) -> String {
    let body: String = members.iter().map(|member| member_line(member, naming)).collect();
    if body.is_empty() {
        return format!("{}export interface {name} {{}}\n", comment("", docs));
    }
    format!("{}export interface {name} {{\n{body}}}\n", comment("", docs))
}

fn member_line(member: &Member, naming: &Naming) -> String {
    let null = if member.null { " | null" } else { "" };
    let optional = optional(&member.name, member.optional);
    let kind = naming.kind(&member.kind);
    format!(
        "{}  readonly {}{}: {kind}{null}{}\n",
        comment("  ", &lines(&member.docs)),
        property(&member.name),
        optional.0,
        optional.1
    )
}

/// Returns the suffixes of name and type of an optional property. An absent property that every object inherits reads
/// as a function.
pub(super) fn optional(name: &str, is_optional: bool) -> (&'static str, &'static str) {
    match is_optional {
        false => ("", ""),
        true if super::naming::INHERITED.contains(&name) => ("?", " | Function | undefined"),
        true => ("?", " | undefined"),
    }
}

/// Generates the decoders of objects that need one, dependencies first.
pub(super) fn decoders(client: &Client<'_>, naming: &Naming) -> String {
    let mut done = vec![false; client.objects.len()];
    let mut text = String::new();
    for number in client.returned() {
        decoder_of(client, naming, number, &mut done, &mut text);
    }
    text
}

fn decoder_of(client: &Client<'_>, naming: &Naming, number: usize, done: &mut [bool], text: &mut String) {
    if std::mem::replace(&mut done[number], true) {
        return;
    }
    let object = &client.objects[number];
    for inner in object.members.iter().filter_map(|member| member.kind.object()) {
        decoder_of(client, naming, inner.index(), done, text);
    }
    let field = |member: &Member| {
        let decoder = decoder(client, naming, &member.kind)?;
        Some(format!("  {}: {decoder},\n", self::field(&member.name)))
    };
    let fields: String = object.members.iter().filter_map(field).collect();
    if !fields.is_empty() {
        let sets = object.members.iter().filter(|member| !member.optional && matches!(member.kind, Kind::Set(_)));
        let sets: Vec<String> = sets.map(|member| quoted(&member.name)).collect();
        let sets = if sets.is_empty() { String::new() } else { format!(", [{}]", sets.join(", ")) };
        text.push_str(&format!("const decode{} = decode.record({{\n{fields}}}{sets})\n\n", naming.names[number]));
    }
}

/// Formats a field name. `__proto__` as a plain name would set the prototype.
fn field(name: &str) -> String {
    if name == "__proto__" { format!("[{}]", quoted(name)) } else { property(name) }
}

/// Returns the decoder of a kind; `None` if the JSON value is used as it is.
pub(super) fn decoder(client: &Client<'_>, naming: &Naming, kind: &Kind) -> Option<String> {
    match kind {
        Kind::Scalar(scalar) => scalar.typescript.decoder.map(str::to_owned),
        Kind::Set(of) if **of == Kind::Scalar(&BYTES) => Some("decode.list(decode.bytes)".to_owned()),
        Kind::Set(of) => {
            let of = decoder(client, naming, of).unwrap_or_else(|| "decode.same".to_owned());
            Some(format!("decode.set({of})"))
        }
        Kind::List(of) => decoder(client, naming, of).map(|of| format!("decode.list({of})")),
        Kind::Map(of) => decoder(client, naming, of).map(|of| format!("decode.map({of})")),
        Kind::Object(object) => {
            let is_more = is_more(client, naming, client.object(*object));
            is_more.then(|| format!("decode{}", naming.object(*object)))
        }
        _ => None,
    }
}

fn is_more(client: &Client<'_>, naming: &Naming, object: &Object) -> bool {
    object.members.iter().any(|member| decoder(client, naming, &member.kind).is_some())
}
