//! Generates types and their JSON decoders.

use crate::client::{Client, Kind, Member, Object, lines};

use super::naming::{self, Naming};
use super::{docstring, quoted};

const FROZEN: &str = "@dataclass(frozen=True, slots=True, kw_only=True)\n";

/// Generates the types of ids.
pub(super) fn ids(client: &Client<'_>, naming: &Naming) -> String {
    let line = |name: &str| format!("{name} = NewType({}, str)\n", quoted(name));
    client.ids.iter().map(|(entity, _)| line(naming.id(*entity))).collect()
}

/// Generates the classes of objects and of the caller. A class comes before those that use it.
pub(super) fn print(client: &Client<'_>, naming: &Naming) -> String {
    let object = |(object, (name, _)): (&Object, &(String, String))| {
        class(name, &lines(&object.docs), &object.members, object.is_record(), naming)
    };
    let mut classes: Vec<String> = client.objects.iter().zip(&naming.objects).map(object).collect();
    if let Some(members) = &client.caller {
        classes.push(class(&naming.own("Caller"), &["Claims of a caller's token.".to_owned()], members, true, naming));
    }
    classes.join("\n\n")
}

/// Generates a class. With `sent`, it records the JSON names of its fields.
fn class(name: &str, docs: &[String], members: &[Member], sent: bool, naming: &Naming) -> String {
    let line = |(member, name): (&Member, String)| {
        let kind = naming.kind(&member.kind);
        let optional = if member.optional || member.null { " | None" } else { "" };
        let default = default(member, &name, sent);
        format!("    {name}: {kind}{optional}{default}\n{}", docstring("    ", &lines(&member.docs)))
    };
    let body: String = members.iter().zip(naming::fields(members)).map(line).collect();
    let docs = docstring("    ", docs);
    let gap = if docs.is_empty() || body.is_empty() { "" } else { "\n" };
    let body = if docs.is_empty() && body.is_empty() { "    pass\n".to_owned() } else { body };
    format!("{FROZEN}class {name}:\n{docs}{gap}{body}")
}

fn default(member: &Member, name: &str, sent: bool) -> String {
    let renamed = sent && name != member.name;
    match (member.optional, renamed) {
        (false, false) => String::new(),
        (true, false) => " = None".to_owned(),
        (false, true) => format!(" = field(metadata={{\"name\": {}}})", quoted(&member.name)),
        (true, true) => format!(" = field(default=None, metadata={{\"name\": {}}})", quoted(&member.name)),
    }
}

/// Generates the decoder of each object.
pub(super) fn decoders(client: &Client<'_>, naming: &Naming) -> String {
    let function = |(object, (name, reader)): (&Object, &(String, String))| {
        let line = |(member, name): (&Member, String)| format!("        {name}={},\n", read(member, naming));
        let body: String = object.members.iter().zip(naming::fields(&object.members)).map(line).collect();
        let body = if body.is_empty() {
            format!("    return {name}()\n")
        } else {
            format!("    return {name}(\n{body}    )\n")
        };
        format!("def {reader}(value: Any) -> {name}:\n{body}")
    };
    let returned = client.returned().into_iter().map(|number| (&client.objects[number], &naming.objects[number]));
    let functions: Vec<String> = returned.map(function).collect();
    functions.join("\n\n")
}

fn read(member: &Member, naming: &Naming) -> String {
    let name = quoted(&member.name);
    let value = match &member.kind {
        _ if member.optional || member.null => format!("value.get({name})"),
        // An empty set is not stored.
        Kind::Set(_) => format!("value.get({name}, ())"),
        _ => format!("value[{name}]"),
    };
    match decoder(&member.kind, naming) {
        None => value,
        Some(decoder) if member.optional || member.null => format!("_optional({decoder}, {value})"),
        Some(decoder) => format!("{decoder}({value})"),
    }
}

/// Returns the decoder of a kind; `None` if the JSON value is used as it is.
pub(super) fn decoder(kind: &Kind, naming: &Naming) -> Option<String> {
    let of = |kind: &Kind| decoder(kind, naming).unwrap_or_else(|| "_same".to_owned());
    match kind {
        Kind::Id(entity) => Some(naming.id(*entity).to_owned()),
        Kind::Scalar(scalar) => scalar.python.decoder.map(str::to_owned),
        Kind::List(inner) => decoder(inner, naming).map(|inner| format!("_list({inner})")),
        Kind::Set(inner) => Some(format!("_set({})", of(inner))),
        Kind::Map(inner) => decoder(inner, naming).map(|inner| format!("_map({inner})")),
        Kind::Object(object) => Some(naming.objects[object.index()].1.clone()),
        Kind::OneOf(_) | Kind::Json => None,
    }
}
