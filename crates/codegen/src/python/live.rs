//! Generates a method for each read that can be followed live. Their common code is in `live.py`.

use crate::client::{Call, Client, Kind, Live, ObjectId};

use super::methods::{apart, parameters, sent_arguments, signature};
use super::naming::{CallNames, Naming};
use super::types::decoder;
use super::{docstring, quoted};

/// Line width.
const LINE_MAX: usize = 120;

/// Generates the class of live reads.
pub(super) fn class(client: &Client<'_>, naming: &Naming) -> String {
    let mut text = format!(
        "class {}:\n    \"\"\"Live reads of the model `{}`: the current items, then every change.\"\"\"\n\n    def __init__(self, connection: _Connection) -> None:\n        self._connection = connection\n",
        naming.live_class, client.model
    );
    for (call, names) in client.calls.iter().zip(&naming.calls) {
        if let Some(live) = &call.live {
            text.push('\n');
            text.push_str(&method(call, live, names, naming));
        }
    }
    text
}

fn method(call: &Call<'_>, live: &Live, names: &CallNames, naming: &Naming) -> String {
    let mut takes = parameters(call, names, naming);
    let reader = |object: &ObjectId| decoder(&Kind::Object(*object), naming).unwrap_or_default();
    let (class, of, told, from) = match live {
        Live::One(_, object) => {
            ("Live", format!("{} | None", naming.object(*object)), format!("_live_one({})", reader(object)), "None")
        }
        Live::Items(entities) => {
            takes.push(format!("{}: str | None = None", names.live_token));
            let kinds: Vec<&str> = entities.iter().map(|(_, object)| naming.object(*object)).collect();
            let entity = |(name, object): &(String, ObjectId)| format!("{}: {}", quoted(name), reader(object));
            let decoders = entities.iter().map(entity).collect::<Vec<_>>().join(", ");
            ("LiveItems", kinds.join(" | "), format!("{{{decoders}}}"), names.live_token.as_str())
        }
        Live::Count => ("Live", "int".to_owned(), "_live_count()".to_owned(), "None"),
    };
    takes.push(format!("{}: int | None = None", names.live_tries));
    let class = naming.own(class);
    let head = signature(&names.live, &takes, &format!("{class}[{of}]"));
    let (name, given) = (quoted(call.name), sent_arguments(call, names, None));
    let made = made(&class, &["self._connection", &name, &given, &told, from, &names.live_tries]);
    format!(
        "{head}{}{}        return {made}\n",
        docstring("        ", &docs(call, live, names, naming)),
        apart(call, names)
    )
}

/// Formats a call, on one line if it fits.
fn made(class: &str, given: &[&str]) -> String {
    let short = format!("{class}({})", given.join(", "));
    if short.chars().count() <= LINE_MAX - "        return ".len() {
        return short;
    }
    let lines: String = given.iter().map(|given| format!("            {given},\n")).collect();
    format!("{class}(\n{lines}        )")
}

fn docs(call: &Call<'_>, live: &Live, names: &CallNames, naming: &Naming) -> Vec<String> {
    let tells = match live {
        Live::One(..) => "Yields the item, or ``None`` if it does not exist, and again after each change.",
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
    text.extend([format!("{tells} :class:`{}` reports its end.", naming.own("Live")), String::new()]);
    if matches!(live, Live::Items(_)) {
        text.push(format!(
            ":param {}: resumes after the event with this token, if it is not too old",
            names.live_token
        ));
    }
    text.push(format!(":param {}: consecutive attempts to reconnect; 12 by default", names.live_tries));
    text
}
