//! `keyform generate typescript`: an HTTP client in one file, for browsers, Node and other runtimes with `fetch`.
//!
//! 1. `naming` gives every type and method a valid TypeScript name.
//! 2. `types` generates the types and their JSON decoders.
//! 3. `methods` generates a method for each pattern.
//! 4. `live` generates a method for each read that can be followed live.
//!
//! `runtime.ts` is the common code of all clients, `live.ts` that of clients with live reads; both are copied
//! verbatim.

mod live;
mod methods;
mod naming;
mod types;

use keyform_language::Checked;

use super::Settings;
use super::client::{Client, lines, names};
use naming::Naming;

const RUNTIME: &str = include_str!("runtime.ts");
const LIVE: &str = include_str!("live.ts");

/// Generates the client.
///
/// # Errors
/// Returns an error if an argument conflicts with one that the client adds.
pub(super) fn print(checked: &Checked, _: &Settings) -> Result<String, String> {
    let client = Client::of(checked);
    client.check()?;
    let naming = Naming::of(&client);
    let own = |text: &str| names::renamed(text, naming::OWN, &naming.types);
    let live = |part: String| if client.is_live() { part } else { String::new() };
    let parts = [
        head(&client),
        types::print(&client, &naming),
        methods::outcomes(&client, &naming),
        methods::class(&client, &naming),
        live(live::class(&client, &naming)),
        own(RUNTIME),
        live(own(LIVE)),
        types::decoders(&client, &naming),
    ];
    Ok(parts.iter().filter(|part| !part.is_empty()).map(|part| part.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n")
}

fn head(client: &Client<'_>) -> String {
    let mut text = vec![format!("A client of the model `{}` over HTTP.", client.model)];
    let docs = lines(client.docs);
    if !docs.is_empty() {
        text.push(String::new());
        text.extend(docs);
    }
    text.extend([
        String::new(),
        "Printed by `keyform generate typescript`: change the model, not this file.".to_owned(),
    ]);
    text.extend([String::new(), "@module".to_owned()]);
    comment("", &text)
}

/// Formats a doc comment; empty for no lines.
fn comment(indent: &str, lines: &[String]) -> String {
    let safe: Vec<String> = lines.iter().map(|line| line.replace("*/", "*\\/")).collect();
    match safe.as_slice() {
        [] => String::new(),
        [line] => format!("{indent}/** {line} */\n"),
        lines => {
            let body: String = lines
                .iter()
                .map(|line| format!("{} {line}", " *").trim_end().to_owned())
                .map(|line| format!("{indent}{line}\n"))
                .collect();
            format!("{indent}/**\n{body}{indent} */\n")
        }
    }
}

/// Formats a string literal.
fn quoted(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    let inner = json.get(1..json.len() - 1).unwrap_or_default();
    format!("'{}'", inner.replace("\\\"", "\"").replace('\'', "\\'"))
}

/// Formats a property name, quoted if necessary.
fn property(name: &str) -> String {
    let mut letters = name.chars();
    let begins = letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$');
    let is_name = begins && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_' || letter == '$');
    if is_name { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_author_writes_stays_text() {
        assert_eq!(quoted(r#"it's "so" \ "#), r#"'it\'s "so" \\ '"#);
        assert_eq!(property("user-id"), "'user-id'");
        assert_eq!(property("userId"), "userId");
        assert_eq!(comment("  ", &["ends */ here".to_owned()]), "  /** ends *\\/ here */\n");
    }
}
