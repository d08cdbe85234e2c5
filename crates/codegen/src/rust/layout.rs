//! Breaks lines as rustfmt does with its default settings.

/// Line width.
const COLUMNS_MAX: usize = 100;
/// Width of a call's arguments on one line.
const ARGUMENTS_MAX: usize = 60;
/// Width of a method chain on one line.
const CHAIN_MAX: usize = 60;
/// Width of a struct literal's fields on one line.
const FIELDS_MAX: usize = 18;

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Formats `pub async fn name(…) -> Result {`, indented by four.
pub(super) fn signature(start: &str, parameters: &[String], result: &str) -> String {
    let result = if result.is_empty() { String::new() } else { format!(" -> {result}") };
    let short = format!("    {start}({}){result} {{\n", parameters.join(", "));
    if width(&short) <= COLUMNS_MAX + 1 || parameters.is_empty() {
        return short;
    }
    let lines: String = parameters.iter().map(|parameter| format!("        {parameter},\n")).collect();
    format!("    {start}(\n{lines}    ){result} {{\n")
}

/// Formats `call.argument(…);`, indented by eight.
pub(super) fn call(start: &str, arguments: &[String]) -> String {
    let joined = arguments.join(", ");
    let short = format!("        {start}({joined});\n");
    if width(&joined) <= ARGUMENTS_MAX && width(&short) <= COLUMNS_MAX + 1 {
        return short;
    }
    let lines: String = arguments.iter().map(|argument| format!("            {argument},\n")).collect();
    format!("        {start}(\n{lines}        );\n")
}

/// Formats `let call = self.calls.call("name");`, indented by eight.
pub(super) fn begun(binding: &str, pattern: &str) -> String {
    let chain = format!("self.calls.call({pattern:?})");
    if width(&chain) <= CHAIN_MAX {
        return format!("        let {binding} = {chain};\n");
    }
    format!("        let {binding} = self\n            .calls\n            .call({pattern:?});\n")
}

/// Formats `name: Type,`.
pub(super) fn field(indent: usize, name: &str, kind: &str) -> String {
    let short = format!("{:indent$}pub {name}: {kind},\n", "");
    if width(&short) <= COLUMNS_MAX + 1 {
        return short;
    }
    let below = format!("{:deeper$}{kind},\n", "", deeper = indent + 4);
    if width(&below) <= COLUMNS_MAX + 1 {
        return format!("{:indent$}pub {name}:\n{below}", "");
    }
    format!("{:indent$}pub {name}: {},\n", "", unfolded(kind, indent))
}

/// Breaks a type that is too long for a line, with each argument on its own line.
fn unfolded(kind: &str, indent: usize) -> String {
    let Some((name, arguments)) = kind.strip_suffix('>').and_then(|kind| kind.split_once('<')) else {
        return kind.to_owned();
    };
    let deeper = indent + 4;
    let line = |argument: &str| {
        let short = format!("{:deeper$}{argument},\n", "");
        if width(&short) <= COLUMNS_MAX + 1 {
            return short;
        }
        format!("{:deeper$}{},\n", "", unfolded(argument, deeper))
    };
    let lines: String = arguments_of(arguments).into_iter().map(line).collect();
    format!("{name}<\n{lines}{:indent$}>", "")
}

/// Splits the arguments of a generic type at top-level commas.
fn arguments_of(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let cut = |letter: char| {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    };
    text.split(cut).map(str::trim).collect()
}

/// Formats a struct literal as the last expression of a function, indented by eight.
pub(super) fn value(start: &str, fields: &[String], end: &str) -> String {
    let joined = fields.join(", ");
    if width(&joined) <= FIELDS_MAX {
        return match joined.as_str() {
            "" => format!("        {start} {{}}{end}\n"),
            joined => format!("        {start} {{ {joined} }}{end}\n"),
        };
    }
    let lines: String = fields.iter().map(|field| format!("            {field},\n")).collect();
    format!("        {start} {{\n{lines}        }}{end}\n")
}

/// Formats a macro call that implements the traits of an item, such as `keyform::record! { User { … } }`.
pub(super) fn implementation(name: &str, of: &str, pairs: &[String]) -> String {
    let short = format!("keyform::{name}! {{ {of} {{ {} }} }}\n", pairs.join(", "));
    match pairs {
        [] => format!("keyform::{name}! {{ {of} {{}} }}\n"),
        _ if width(&short) <= COLUMNS_MAX + 1 => short,
        pairs => {
            let lines: String = pairs.iter().map(|pair| format!("        {pair},\n")).collect();
            format!("keyform::{name}! {{\n    {of} {{\n{lines}    }}\n}}\n")
        }
    }
}
