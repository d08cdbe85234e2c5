//! `keyform generate python`: an HTTP client in one module, for Python 3.10 and later, using only the standard
//! library.
//!
//! 1. `naming` gives every class, method and argument a valid Python name.
//! 2. `types` generates the types and their JSON decoders.
//! 3. `methods` generates a method for each pattern.
//! 4. `live` generates a method for each read that can be followed live.
//!
//! `runtime.py` is the common code of all clients, `live.py` that of clients with live reads; both are copied
//! verbatim.

mod live;
mod methods;
mod naming;
mod types;

use keyform_language::Checked;

use super::Settings;
use super::client::{Client, lines, names};
use naming::Naming;

const RUNTIME: &str = include_str!("runtime.py");
const LIVE: &str = include_str!("live.py");

/// Additional imports of live reads, each with the import that it precedes.
const LIVE_IMPORTS: &[(&str, &str)] = &[
    ("import hashlib\n", "import http.client\n"),
    ("import os\n", "import random\n"),
    ("import socket\n", "import time\n"),
    ("import ssl\n", "import time\n"),
    ("import threading\n", "import time\n"),
];

const IMPORTS: &str = "from __future__ import annotations

import base64
import datetime as dt
import decimal
import http.client
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Generic, Literal, NewType, TypeVar";

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
        format!("{}\n{}", head(&client), imports(&client)),
        types::ids(&client, &naming),
        types::print(&client, &naming),
        methods::outcome(&client, &naming),
        own(RUNTIME),
        live(own(LIVE)),
        types::decoders(&client, &naming),
        live(live::class(&client, &naming)),
        methods::class(&client, &naming),
    ];
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).filter(|part| !part.is_empty()).collect();
    Ok(parts.join("\n\n\n") + "\n")
}

fn imports(client: &Client<'_>) -> String {
    if !client.is_live() {
        return IMPORTS.to_owned();
    }
    let imports = IMPORTS.replace("Callable, Iterator", "Callable, Generator, Iterator");
    LIVE_IMPORTS.iter().fold(imports, |text, (module, before)| text.replace(before, &format!("{module}{before}")))
}

fn head(client: &Client<'_>) -> String {
    let mut text = vec![format!("A client of the model `{}` over HTTP.", client.model)];
    let docs = lines(client.docs);
    if !docs.is_empty() {
        text.push(String::new());
        text.extend(docs);
    }
    text.extend([String::new(), "Printed by `keyform generate python`: change the model, not this file.".to_owned()]);
    docstring("", &text)
}

/// Formats a docstring; empty for no lines.
fn docstring(indent: &str, lines: &[String]) -> String {
    let safe: Vec<String> =
        lines.iter().map(|line| line.replace('\\', "\\\\").replace("\"\"\"", "\\\"\\\"\\\"")).collect();
    match safe.as_slice() {
        [] => String::new(),
        [line] if line.ends_with('"') => format!("{indent}\"\"\"{line} \"\"\"\n"),
        [line] => format!("{indent}\"\"\"{line}\"\"\"\n"),
        [first, rest @ ..] => {
            let body: String = rest.iter().map(|line| format!("{indent}{line}").trim_end().to_owned() + "\n").collect();
            format!("{indent}\"\"\"{first}\n{body}{indent}\"\"\"\n")
        }
    }
}

/// Formats a string literal.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_author_writes_stays_text() {
        assert_eq!(quoted("it's \"so\" \\ "), r#""it's \"so\" \\ ""#);
        assert_eq!(
            docstring("", &[r#"a \d """ and "so""#.to_owned()]),
            "\"\"\"a \\\\d \\\"\\\"\\\" and \"so\" \"\"\"\n"
        );
    }
}
