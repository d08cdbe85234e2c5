//! Generates a method for each pattern.

use crate::client::{Argument, Call, Client, Kind, Member, ObjectId, Returns};
use keyform_language::document::ast::Number;

use keyform_check::surface::CONFLICT;

use super::naming::{self, CallNames, Naming};
use super::types::decoder;
use super::{docstring, quoted};

/// Generates the type of all refusals' names.
pub(super) fn outcome(client: &Client<'_>, naming: &Naming) -> String {
    let mut names: Vec<&str> = client.writes().flat_map(|call| &call.outcomes).map(String::as_str).collect();
    if names.is_empty() {
        names.push(CONFLICT);
    }
    names.sort_unstable();
    names.dedup();
    let body: String = names.iter().map(|name| format!("    {},\n", quoted(name))).collect();
    format!("{} = Literal[\n{body}]\n\"\"\"Outcomes of refused writes.\"\"\"\n", naming.own("Outcome"))
}

/// Generates the client's class, after the classes of answers with several parts.
pub(super) fn class(client: &Client<'_>, naming: &Naming) -> String {
    let mut classes: Vec<String> =
        client.calls.iter().zip(&naming.calls).filter_map(|(call, names)| parts_class(call, names, naming)).collect();
    let mut text =
        format!("class {}:\n    \"\"\"Calls the patterns of the model `{}`.\"\"\"\n\n", naming.class, client.model);
    text.push_str(&constructor(client, naming));
    for (call, names) in client.calls.iter().zip(&naming.calls) {
        text.push('\n');
        text.push_str(&method(call, names, naming));
    }
    classes.push(text);
    classes.join("\n\n")
}

fn constructor(client: &Client<'_>, naming: &Naming) -> String {
    let (takes, says, given) = match &client.caller {
        None => (String::new(), String::new(), "None".to_owned()),
        Some(members) => (
            format!("        caller: {} | None = None,\n", naming.own("Caller")),
            ":param caller: claims of the caller, for a server in development mode, which verifies no tokens\n"
                .to_owned(),
            claims(members),
        ),
    };
    format!(
        "    def __init__(
        self,
        base_url: str,
        *,
        token: str | Callable[[], str] | None = None,
{takes}        timeout: float = 10.0,
        tries_max: int = 4,
        headers: Mapping[str, str] | None = None,
        transport: {transport} | None = None,
    ) -> None:
        \"\"\"A client of the server at a URL.

        :param token: bearer token, or a function that returns it before each request
{says}        :param timeout: timeout of one attempt in seconds
        :param tries_max: maximum attempts if the network fails or the server is busy
        :param headers: additional headers of every request
        :param transport: sends the requests; ``urllib`` by default
        \"\"\"
        claims = {given}
        self._connection = _Connection({model}, base_url, token, claims, timeout, tries_max, headers, transport)
{live}",
        transport = naming.own("Transport"),
        model = quoted(client.model),
        live = live(client, naming),
    )
}

/// Generates the property with the live reads.
fn live(client: &Client<'_>, naming: &Naming) -> String {
    if !client.is_live() {
        return String::new();
    }
    format!(
        "        self.{} = {}(self._connection)
        \"\"\"Live reads: the current items, then every change.\"\"\"
",
        naming.live, naming.live_class
    )
}

fn claims(members: &[Member]) -> String {
    let names = naming::fields(members);
    let claim = |(member, name): (&Member, &String)| format!("{}: caller.{name}", quoted(&member.name));
    let claims: Vec<String> = members.iter().zip(&names).map(claim).collect();
    format!("None if caller is None else {{{}}}", claims.join(", "))
}

fn part_names(parts: &[(String, ObjectId, Number)]) -> Vec<String> {
    let wanted: Vec<(String, bool)> =
        parts.iter().map(|(name, _, number)| (name.clone(), *number == Number::Many)).collect();
    naming::parts(&wanted)
}

fn parts_class(call: &Call<'_>, names: &CallNames, naming: &Naming) -> Option<String> {
    let Returns::Parts(parts) = &call.returns else { return None };
    let line = |((_, object, number), name): (&(String, ObjectId, Number), String)| {
        let object = naming.object(*object);
        let kind = match number {
            Number::One => object.to_owned(),
            Number::Maybe => format!("{object} | None"),
            Number::Many => format!("list[{object}]"),
        };
        format!("    {name}: {kind}\n")
    };
    let body: String = parts.iter().zip(part_names(parts)).map(line).collect();
    Some(format!(
        "@dataclass(frozen=True, slots=True, kw_only=True)\nclass {}:\n    \"\"\"Result of `{}`.\"\"\"\n\n{body}",
        names.parts, names.method
    ))
}

fn method(call: &Call<'_>, names: &CallNames, naming: &Naming) -> String {
    let mut takes = parameters(call, names, naming);
    if call.is_write {
        takes.push(format!("{}: str | None = None", names.key));
    }
    let (returns, body) = answer(call, names, naming);
    let head = signature(&names.method, &takes, &returns);
    format!("{head}{}{}{body}", docstring("        ", &docs(call, naming)), apart(call, names))
}

/// Returns the arguments as parameters.
pub(super) fn parameters(call: &Call<'_>, names: &CallNames, naming: &Naming) -> Vec<String> {
    let argument = |(argument, name): (&Argument<'_>, &String)| {
        let kind = naming.argument(&argument.kind);
        if argument.required { format!("{name}: {kind}") } else { format!("{name}: {kind} | None = None") }
    };
    call.arguments.iter().zip(&names.arguments).map(argument).collect()
}

/// Width of the arguments on the line of a call.
const GIVEN_MAX: usize = 60;

/// Returns the arguments by their names on the wire.
fn given(call: &Call<'_>, names: &CallNames) -> Vec<String> {
    let pair = |(argument, name): (&Argument<'_>, &String)| format!("{}: {name}", quoted(argument.name));
    call.arguments.iter().zip(&names.arguments).map(pair).collect()
}

fn is_long(given: &[String]) -> bool {
    given.iter().map(|pair| pair.chars().count()).sum::<usize>() > GIVEN_MAX
}

/// Puts long arguments on separate lines before the call.
pub(super) fn apart(call: &Call<'_>, names: &CallNames) -> String {
    let given = given(call, names);
    if !is_long(&given) {
        return String::new();
    }
    let lines: String = given.iter().map(|pair| format!("            {pair},\n")).collect();
    format!("        _given = {{\n{lines}        }}\n")
}

pub(super) fn signature(name: &str, takes: &[String], returns: &str) -> String {
    let short = match takes {
        [] => format!("    def {name}(self) -> {returns}:\n"),
        takes => format!("    def {name}(self, *, {}) -> {returns}:\n", takes.join(", ")),
    };
    if short.chars().count() <= 120 {
        return short;
    }
    let lines: String = takes.iter().map(|argument| format!("        {argument},\n")).collect();
    format!("    def {name}(\n        self,\n        *,\n{lines}    ) -> {returns}:\n")
}

fn docs(call: &Call<'_>, naming: &Naming) -> Vec<String> {
    let mut text = call.docs.join(&String::new());
    if call.is_write {
        let names = call.outcomes.iter().map(String::as_str);
        let names = names.map(|name| format!("``{name}``")).collect::<Vec<_>>().join(", ");
        text.extend([String::new(), format!(":raises {}: {names}", naming.own("Refused"))]);
    }
    text
}

/// Returns the type of an answer, and the lines that produce it.
fn answer(call: &Call<'_>, names: &CallNames, naming: &Naming) -> (String, String) {
    let sent = sent(call, names, None);
    let reader = |object: &ObjectId| decoder(&Kind::Object(*object), naming).unwrap_or_default();
    match &call.returns {
        Returns::Nothing => ("None".to_owned(), format!("        {sent}\n")),
        Returns::Count => ("int".to_owned(), format!("        return int({sent}[\"count\"])\n")),
        Returns::One(object) => {
            (naming.object(*object).to_owned(), format!("        return {}({sent})\n", reader(object)))
        }
        Returns::Maybe(object) => {
            let body = format!("        return _optional({}, {sent})\n", reader(object));
            (format!("{} | None", naming.object(*object)), body)
        }
        Returns::Items(object) => {
            let body = format!("        return _list({})({sent}[\"items\"])\n", reader(object));
            (format!("list[{}]", naming.object(*object)), body)
        }
        Returns::Pages(object) => pages(call, names, naming, *object, &reader(object)),
        Returns::Parts(parts) => (names.parts.clone(), parts_body(parts, names, &sent, &reader)),
    }
}

fn pages(call: &Call<'_>, names: &CallNames, naming: &Naming, object: ObjectId, reader: &str) -> (String, String) {
    let kind = naming.object(object);
    let (page, pages) = (naming.own("Page"), naming.own("Pages"));
    let sent = sent(call, names, Some("_cursor"));
    let body = format!(
        "        def read(_cursor: str | None) -> {page}[{kind}]:\n            return _page({reader}, {sent})\n\n        return {pages}(read)\n"
    );
    (format!("{pages}[{kind}]"), body)
}

fn parts_body(
    parts: &[(String, ObjectId, Number)],
    names: &CallNames,
    sent: &str,
    reader: &dyn Fn(&ObjectId) -> String,
) -> String {
    let line = |((entity, object, number), name): (&(String, ObjectId, Number), String)| {
        let part = format!("_list({})(_json.get({}, []))", reader(object), quoted(entity));
        match number {
            Number::Many => format!("            {name}={part},\n"),
            Number::One => format!("            {name}={part}[0],\n"),
            Number::Maybe => format!("            {name}=next(iter({part}), None),\n"),
        }
    };
    let body: String = parts.iter().zip(part_names(parts)).map(line).collect();
    format!("        _json = {sent}\n        return {}(\n{body}        )\n", names.parts)
}

/// Returns the expression of the arguments to send.
pub(super) fn sent_arguments(call: &Call<'_>, names: &CallNames, cursor: Option<&str>) -> String {
    let given = given(call, names);
    match (is_long(&given), cursor) {
        (true, None) => "_given".to_owned(),
        (true, Some(cursor)) => format!("{{**_given, \"cursor\": {cursor}}}"),
        (false, cursor) => {
            let pairs = given.into_iter().chain(cursor.map(|cursor| format!("\"cursor\": {cursor}")));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}

fn sent(call: &Call<'_>, names: &CallNames, cursor: Option<&str>) -> String {
    let given = sent_arguments(call, names, cursor);
    let name = quoted(call.name);
    if call.is_write {
        return format!("self._connection.post({name}, {given}, {})", names.key);
    }
    let as_json: Vec<String> =
        call.arguments.iter().filter(|argument| argument.as_json).map(|argument| quoted(argument.name)).collect();
    let as_json = if as_json.is_empty() { String::new() } else { format!(", [{}]", as_json.join(", ")) };
    format!("self._connection.get({name}, {given}{as_json})")
}
