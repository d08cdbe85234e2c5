//! Formats items, keys and templates for notes that show an example.

use keyform_language::schema::{Entity, Template};
use keyform_language::template::Values;

/// `User { userId = "a" }`
pub(super) fn item(entity: &Entity, values: &Values) -> String {
    format!("{} {{ {} }}", entity.name, fields(entity, values))
}

/// `userId = "a", name = "b"`
pub(super) fn fields(entity: &Entity, values: &Values) -> String {
    let shown = values.iter().map(|(field, value)| format!("{} = {value:?}", entity.field(*field).name));
    shown.collect::<Vec<_>>().join(", ")
}

/// `("USER#a", "PROFILE")`
pub(super) fn key(texts: &[String]) -> String {
    let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("({})", quoted.join(", "))
}

/// Formats a template as in the source, without quotes.
pub(super) fn template(entity: &Entity, template: &Template) -> String {
    template.text(|field| &entity.field(field).name)
}

/// Joins names for a sentence: `a`, `b` and `c`.
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}
