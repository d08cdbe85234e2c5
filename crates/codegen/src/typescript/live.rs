//! Generates a method for each read that can be followed live. Their common code is in `live.ts`.

use crate::client::{Call, Client, Kind, Live, ObjectId};

use super::methods::takes;
use super::naming::{CallNames, Naming};
use super::types::decoder;
use super::{comment, property, quoted};

/// Line width.
const LINE_MAX: usize = 120;

/// Generates the class of live reads.
pub(super) fn class(client: &Client<'_>, naming: &Naming) -> String {
    let (model, reads) = (client.model, naming.own("LiveReads"));
    let mut text = format!("/** Live reads of the model `{model}`: the current items, then every change. */\n");
    text.push_str(&format!("export class {} {{\n  readonly #reads: {reads}\n\n", naming.live_class));
    text.push_str(&format!("  /** @internal */\n  constructor(options: {}) {{\n", naming.own("ClientOptions")));
    text.push_str(&format!("    this.#reads = new {reads}({}, options)\n  }}\n", quoted(model)));
    for (call, names) in client.calls.iter().zip(&naming.calls) {
        if let Some(live) = &call.live {
            text.push('\n');
            text.push_str(&method(client, call, live, names, naming));
        }
    }
    text + "}\n"
}

fn method(client: &Client<'_>, call: &Call<'_>, live: &Live, names: &CallNames, naming: &Naming) -> String {
    let args = if call.arguments.is_empty() { "{}" } else { "args" };
    let given = format!("{}, {args}, options", quoted(call.name));
    let decoders = |entities: &[(String, ObjectId)]| decoders(client, naming, entities);
    let (options, returns, body) = match live {
        Live::One(entity, object) => (
            "LiveOptions",
            format!("{}<{} | null>", naming.own("Live"), naming.object(*object)),
            format!("this.#reads.one({given}, {})", decoders(&[(entity.clone(), *object)])),
        ),
        Live::Items(entities) => (
            "LiveItemsOptions",
            format!("{}<{}>", naming.own("LiveItems"), types(naming, entities)),
            format!("this.#reads.items({given}, {})", decoders(entities)),
        ),
        Live::Count => {
            ("LiveOptions", format!("{}<number>", naming.own("Live")), format!("this.#reads.count({given})"))
        }
    };
    let takes = format!("{}options: {} = {{}}", takes(call, names), naming.own(options));
    let head = signature(&names.live, &takes, &returns);
    format!("{}{head} {{\n    return {body}\n  }}\n", comment("  ", &docs(call, live, naming)))
}

fn signature(name: &str, takes: &str, returns: &str) -> String {
    let short = format!("  {name}({takes}): {returns}");
    if short.chars().count() <= LINE_MAX - " {".len() {
        return short;
    }
    format!("  {name}(\n    {},\n  ): {returns}", takes.replace(", options:", ",\n    options:"))
}

fn docs(call: &Call<'_>, live: &Live, naming: &Naming) -> Vec<String> {
    let tells = match live {
        Live::One(..) => "Yields the item, or `null` if it does not exist, and again after each change.",
        Live::Items(_) => {
            "Yields a page of the current items, then each insert, change and removal, also beyond the \
            page."
        }
        Live::Count => "Yields the number of items, and again after each change.",
    };
    let mut text = call.summary.clone();
    if !text.is_empty() {
        text.push(String::new());
    }
    text.push(format!("{tells} {{@link {}}} reports its end.", naming.own("Live")));
    text
}

/// Returns the type of each entity, by name.
fn types(naming: &Naming, entities: &[(String, ObjectId)]) -> String {
    let entity = |(name, object): &(String, ObjectId)| format!("{}: {}", property(name), naming.object(*object));
    format!("{{ {} }}", entities.iter().map(entity).collect::<Vec<_>>().join("; "))
}

/// Returns the decoders of the entities that need one, by name.
fn decoders(client: &Client<'_>, naming: &Naming, entities: &[(String, ObjectId)]) -> String {
    let entity = |(name, object): &(String, ObjectId)| {
        let decoder = decoder(client, naming, &Kind::Object(*object))?;
        Some(format!("{}: {decoder}", property(name)))
    };
    let decoders: Vec<String> = entities.iter().filter_map(entity).collect();
    if decoders.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", decoders.join(", ")) }
}
