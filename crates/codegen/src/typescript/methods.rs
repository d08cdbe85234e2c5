//! Generates a method for each pattern.

use crate::client::names::{self, Names};
use crate::client::{Argument, Call, Client, Kind, ObjectId, Returns, lines};
use keyform_language::document::ast::Number;

use super::naming::{CallNames, Naming};
use super::types::{decoder, optional};
use super::{comment, property, quoted};

/// Generates the type of each write's refusals.
pub(super) fn outcomes(client: &Client<'_>, naming: &Naming) -> String {
    let line = |call: &Call<'_>| {
        let names = call.outcomes.iter().map(String::as_str).map(quoted);
        format!("  readonly {}: {}\n", property(call.name), names.collect::<Vec<_>>().join(" | "))
    };
    let body: String = client.writes().map(line).collect();
    format!(
        "/** Outcomes of each write when it is refused. */\nexport interface {} {{\n{body}}}\n",
        naming.own("Outcomes")
    )
}

/// Generates the client's class, after the types of its arguments and answers.
pub(super) fn class(client: &Client<'_>, naming: &Naming) -> String {
    let mut text = String::new();
    for (call, names) in client.calls.iter().zip(&naming.calls) {
        text.push_str(&arguments(call, names, naming));
        text.push_str(&parts(call, names, naming));
    }
    text.push_str(&format!("/** Calls the patterns of the model `{}`. */\n", client.model));
    text.push_str(&format!("export class {} {{\n", naming.class));
    text.push_str(&format!("  readonly #connection: {}\n", naming.own("Connection")));
    let (declared, made) = live(client, naming);
    text.push_str(&format!("{declared}\n"));
    text.push_str(&format!("  constructor(options: {}) {{\n", naming.own("ClientOptions")));
    text.push_str(&format!(
        "    this.#connection = new {}({}, options)\n{made}  }}\n",
        naming.own("Connection"),
        quoted(client.model)
    ));
    for (call, names) in client.calls.iter().zip(&naming.calls) {
        text.push('\n');
        text.push_str(&method(client, call, names, naming));
    }
    text + "}\n"
}

/// Returns the declaration and the initialisation of the live reads.
fn live(client: &Client<'_>, naming: &Naming) -> (String, String) {
    if !client.is_live() {
        return Default::default();
    }
    let (name, class) = (&naming.live, &naming.live_class);
    (
        format!("  /** Live reads: the current items, then every change. */\n  readonly {name}: {class}\n"),
        format!("    this.{name} = new {class}(options)\n"),
    )
}

fn arguments(call: &Call<'_>, names: &CallNames, naming: &Naming) -> String {
    if call.arguments.is_empty() {
        return String::new();
    }
    let line = |argument: &Argument<'_>| {
        let optional = optional(argument.name, !argument.required);
        let kind = naming.argument(&argument.kind);
        let docs = comment("  ", &lines(&argument.docs));
        format!("{docs}  readonly {}{}: {kind}{}\n", property(argument.name), optional.0, optional.1)
    };
    let body: String = call.arguments.iter().map(line).collect();
    format!("/** Arguments of `{}`. */\nexport interface {} {{\n{body}}}\n\n", names.method, names.arguments)
}

/// Returns the names of the parts of an answer, such as `channel` and `messages`.
fn part_names(parts: &[(String, ObjectId, Number)]) -> Vec<String> {
    let mut taken = Names::default();
    let name = |(name, _, number): &(String, ObjectId, Number)| {
        let one = names::camel(name);
        taken.take(&if *number == Number::Many { names::plural(&one) } else { one })
    };
    parts.iter().map(name).collect()
}

fn parts(call: &Call<'_>, names: &CallNames, naming: &Naming) -> String {
    let Returns::Parts(parts) = &call.returns else { return String::new() };
    let line = |((_, object, number), name): (&(String, ObjectId, Number), String)| {
        let object = naming.object(*object);
        let kind = match number {
            Number::One => object.to_owned(),
            Number::Maybe => format!("{object} | null"),
            Number::Many => format!("readonly {object}[]"),
        };
        format!("  readonly {name}: {kind}\n")
    };
    let body: String = parts.iter().zip(part_names(parts)).map(line).collect();
    format!("/** Result of `{}`. */\nexport interface {} {{\n{body}}}\n\n", names.method, names.parts)
}

fn method(client: &Client<'_>, call: &Call<'_>, names: &CallNames, naming: &Naming) -> String {
    let options = naming.own(if call.is_write { "WriteOptions" } else { "CallOptions" });
    let takes = takes(call, names);
    let (returns, body) = answer(client, call, names, naming);
    let is_async = if matches!(call.returns, Returns::Pages(_)) { "" } else { "async " };
    format!(
        "{}  {is_async}{}({takes}options: {options} = {{}}): {returns} {{\n{body}  }}\n",
        comment("  ", &docs(call, naming)),
        names.method
    )
}

/// Returns the parameter for the arguments; empty without arguments.
pub(super) fn takes(call: &Call<'_>, names: &CallNames) -> String {
    match call.arguments.as_slice() {
        [] => String::new(),
        arguments if arguments.iter().all(|argument| !argument.required) => {
            format!("args: {} = {{}}, ", names.arguments)
        }
        _ => format!("args: {}, ", names.arguments),
    }
}

fn docs(call: &Call<'_>, naming: &Naming) -> Vec<String> {
    let mut text = call.docs.join(&String::new());
    if call.is_write {
        let names = call.outcomes.iter().map(String::as_str);
        let names = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        text.extend([String::new(), format!("@throws {{@link {}}} {names}", naming.own("Refused"))]);
    }
    text
}

/// Returns the type of an answer, and the lines that produce it.
fn answer(client: &Client<'_>, call: &Call<'_>, names: &CallNames, naming: &Naming) -> (String, String) {
    let sent = sent(call, if call.arguments.is_empty() { "{}" } else { "args" });
    let decode =
        |object: &ObjectId| decoder(client, naming, &Kind::Object(*object)).unwrap_or_else(|| "decode.same".to_owned());
    match &call.returns {
        Returns::Nothing => ("Promise<void>".to_owned(), format!("    await {sent}\n")),
        Returns::Count => ("Promise<number>".to_owned(), format!("    return decode.count(await {sent})\n")),
        Returns::One(object) => {
            let kind = naming.object(*object);
            (format!("Promise<{kind}>"), format!("    return {}(await {sent}) as {kind}\n", decode(object)))
        }
        Returns::Maybe(object) => {
            let kind = format!("{} | null", naming.object(*object));
            let body = format!("    return decode.maybe(await {sent}, {}) as {kind}\n", decode(object));
            (format!("Promise<{kind}>"), body)
        }
        Returns::Items(object) => {
            let kind = format!("{}[]", naming.object(*object));
            let body = format!("    return decode.items(await {sent}, {}) as {kind}\n", decode(object));
            (format!("Promise<{kind}>"), body)
        }
        Returns::Pages(object) => pages(call, naming, *object, &decode(object)),
        Returns::Parts(found) => {
            (format!("Promise<{}>", names.parts), parts_body(found, names, naming, &sent, &decode))
        }
    }
}

fn pages(call: &Call<'_>, naming: &Naming, object: ObjectId, decode: &str) -> (String, String) {
    let kind = naming.object(object);
    let (page, pages) = (naming.own("Page"), naming.own("Pages"));
    let sent = sent(call, if call.arguments.is_empty() { "{ cursor }" } else { "{ ...args, cursor }" });
    let body = format!(
        "    return new {pages}(async (cursor) => {{\n      return decode.page(await {sent}, {decode}) as {page}<{kind}>\n    }})\n"
    );
    (format!("{pages}<{kind}>"), body)
}

fn parts_body(
    parts: &[(String, ObjectId, Number)],
    names: &CallNames,
    naming: &Naming,
    sent: &str,
    decode: &dyn Fn(&ObjectId) -> String,
) -> String {
    let line = |((entity, object, number), name): (&(String, ObjectId, Number), String)| {
        let kind = naming.object(*object);
        let part = format!("decode.part(json, {}, {})", quoted(entity), decode(object));
        match number {
            Number::Many => format!("      {name}: {part} as {kind}[],\n"),
            Number::One => format!("      {name}: {part}[0] as {kind},\n"),
            Number::Maybe => format!("      {name}: ({part}[0] ?? null) as {kind} | null,\n"),
        }
    };
    let body: String = parts.iter().zip(part_names(parts)).map(line).collect();
    format!("    const json = await {sent}\n    const answer: {} = {{\n{body}    }}\n    return answer\n", names.parts)
}

fn sent(call: &Call<'_>, args: &str) -> String {
    let name = quoted(call.name);
    if call.is_write {
        return format!("this.#connection.post({name}, {args}, options)");
    }
    let as_json: Vec<String> =
        call.arguments.iter().filter(|argument| argument.as_json).map(|argument| quoted(argument.name)).collect();
    format!("this.#connection.get({name}, {args}, [{}], options)", as_json.join(", "))
}
