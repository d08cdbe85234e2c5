//! Generates the handle of a model: the struct that has the methods.

use keyform_check::Checked;
use keyform_language::schema::Permission;

use super::argument::Argument;
use super::fields::{self, Shown};
use super::names::{Scope, pascal, snake};
use super::types::{TypePosition, Types};
use super::{Items, docs, entity, layout, read, write};

/// Methods that every handle has, and `new`, which readers would take for a constructor.
const METHODS: [&str; 10] = [
    "as_caller",
    "calls",
    "change",
    "create_tables",
    "new",
    "on",
    "open",
    "open_with",
    "resume_cascades",
    "with_token",
];

/// Generated methods of all patterns, and the items that belong to them.
pub(super) struct Patterns {
    pub(super) methods: String,
    pub(super) items: String,
}

/// Generates all patterns: reads, then writes, in declaration order.
pub(super) fn patterns(types: &mut Types<'_>, items: &Items) -> Patterns {
    let model = &types.checked.model;
    let mut scope = Scope::with(&METHODS);
    let mut patterns = Patterns { methods: String::new(), items: String::new() };
    for number in 0..model.reads.len() {
        let method = scope.take(&snake(&model.reads[number].name), "_read");
        let (code, made) = read::print(types, number, &method);
        patterns.add(types, &code, &made);
    }
    for number in 0..model.writes.len() {
        let method = scope.take(&snake(&model.writes[number].name), "_write");
        let (code, made) = write::print(types, items, number, &method);
        patterns.add(types, &code, &made);
    }
    patterns
}

impl Patterns {
    fn add(&mut self, types: &mut Types<'_>, method: &str, items: &str) {
        self.methods.push('\n');
        self.methods.push_str(method);
        self.items.push_str(&std::mem::take(&mut types.unprinted));
        self.items.push_str(items);
    }
}

/// Generates the start of a method: the call with its arguments.
pub(super) fn begun(pattern: &str, arguments: &[Argument]) -> String {
    begun_by(pattern, arguments, Argument::passed)
}

/// Same, with `value` as the expression for each argument.
pub(super) fn begun_by(pattern: &str, arguments: &[Argument], value: impl Fn(&Argument) -> String) -> String {
    let binding = if arguments.is_empty() { "call" } else { "mut call" };
    let mut code = layout::begun(binding, pattern);
    for argument in arguments {
        let how = if argument.null { "call.argument_or_null" } else { "call.argument" };
        code.push_str(&layout::call(how, &[format!("{:?}", argument.name), value(argument)]));
    }
    code
}

/// Describes who may call a pattern.
pub(super) fn allowed(checked: &Checked, allow: Option<&Permission>) -> Option<String> {
    match allow? {
        Permission::Public(_) => Some("Anyone may call it.".to_owned()),
        Permission::System(_) => Some("Only code may call it.".to_owned()),
        Permission::When(condition) => {
            Some(format!("Callers may call it if {}.", docs::code(&checked.words(condition.span))))
        }
    }
}

/// Generates the struct of a caller's claims; empty if the model has no caller.
pub(super) fn caller(types: &mut Types<'_>, items: &Items) -> String {
    let checked = types.checked;
    let Some(caller) = &checked.model.caller else { return String::new() };
    let mut scope = Scope::default();
    let mut shown = Vec::new();
    for field in &caller.fields {
        let place =
            TypePosition::new(format!("caller.{}", field.name), format!("{}{}", items.caller, pascal(&field.name)));
        let kind = types.of_named(field, &place);
        shown.push(Shown::of(checked, field, scope.take(&snake(&field.name), "_"), kind));
    }
    fields::print(&items.caller, &["Claims of a caller's token.".to_owned()], &shown)
}

/// Generates the handle with its methods.
pub(super) fn print(types: &Types<'_>, items: &Items, methods: &str) -> String {
    let model = &types.checked.model;
    let mut about = docs::of(&model.docs);
    if about.is_empty() {
        about = vec![format!("The model {}.", docs::code(&model.name))];
    }
    let mut code = docs::comment(0, &about);
    code.push_str(&format!(
        "#[derive(Clone, Debug)]\npub struct {0} {{\n    calls: keyform::Calls,\n}}\n\nimpl {0} {{\n{OPEN}",
        items.handle
    ));
    if model.caller.is_some() {
        code.push_str(&AS_CALLER.replace("CALLER", &items.caller));
    }
    code.push_str(&change(types, items));
    code.push_str(methods);
    code.push_str("}\n\n");
    code
}

const OPEN: &str = "    /// Opens the model on an embedded database and creates missing tables.
    pub async fn open(database: &keyform::Database) -> Result<Self, keyform::CallError> {
        Self::open_with(database, keyform::ModelOptions::new()).await
    }

    /// Opens the model with options: variables in the names of tables, another clock.
    pub async fn open_with(
        database: &keyform::Database,
        options: keyform::ModelOptions,
    ) -> Result<Self, keyform::CallError> {
        let model = Self::on(database.clone(), options)?;
        model.create_tables().await?;
        Ok(model)
    }

    /// Opens the model on any store. Creates no tables.
    pub fn on(
        store: impl keyform::Execute + 'static,
        options: keyform::ModelOptions,
    ) -> Result<Self, keyform::CallError> {
        let calls = keyform::Calls::new(Self::SOURCE, std::sync::Arc::new(store), options)?;
        Ok(Self { calls })
    }

    /// Creates the missing tables and returns their names.
    pub async fn create_tables(&self) -> Result<Vec<String>, keyform::CallError> {
        self.calls.create_tables().await
    }

    /// Resumes interrupted cascades. Call it at startup and periodically.
    pub async fn resume_cascades(&self) -> Result<keyform::Resumed, keyform::CallError> {
        self.calls.resume_cascades().await
    }

    /// Returns a handle that sends each write with this idempotency token: DynamoDB applies a repeated request once. A
    /// call that generates new ids is a different request, which DynamoDB rejects.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        let calls = self.calls.with_token(token);
        Self { calls }
    }

    /// Returns the untyped calls, for what has no typed form.
    #[must_use]
    pub fn calls(&self) -> &keyform::Calls {
        &self.calls
    }
";

const AS_CALLER: &str = "
    /// Returns a handle that calls as this caller, subject to `allow` and guards. Without a caller, calls bypass both.
    #[must_use]
    pub fn as_caller(&self, caller: CALLER) -> Self {
        let calls = self.calls.as_caller(&caller);
        Self { calls }
    }
";

/// Generates the method that converts a record of a stream.
fn change(types: &Types<'_>, items: &Items) -> String {
    let model = &types.checked.model;
    let tables = entity::streamed(model);
    let (table, name, about) = match tables.as_slice() {
        [] => return String::new(),
        [table] => ("", format!("{:?}", model.table(*table).name), ""),
        _ => ("        table: &str,\n", "table".to_owned(), "The table is named as in the model or as in the store."),
    };
    format!(
        "\n    /// Decodes a record of a table's stream.{about}\n    pub fn change(\n        &self,\n{table}        record: &keyform::operation::ChangeRecord,\n    ) -> Result<{}, keyform::CallError> {{\n        self.calls.change({name}, record)\n    }}\n",
        items.change
    )
}

/// Generates the constant with the model's source, which the handle parses when it is opened.
pub(super) fn source(checked: &Checked, items: &Items) -> String {
    let text = &checked.source;
    let odd = |letter: char| {
        letter != '\n' && letter != '\t' && letter.is_control()
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let literal = if text.contains(odd) { format!("{text:?}") } else { raw(text) };
    format!(
        "impl {} {{\n    /// Source of the model.\n    pub const SOURCE: &'static str = {literal};\n}}\n",
        items.handle
    )
}

/// Returns a raw string literal with as many `#` as the text needs.
fn raw(text: &str) -> String {
    let marks = (1..).map(|count| "#".repeat(count)).find(|marks| !text.contains(&format!("\"{marks}")));
    let marks = marks.unwrap_or_default();
    format!("r{marks}\"{text}\"{marks}")
}
