//! Generates structs: entities, selections, records, callers.

use keyform_check::Checked;
use keyform_language::schema::{Field, Type};

use super::names::serde_camel;
use super::types::RustType;
use super::{docs, layout};

/// Limit of the characters of a field's declaration that become its documentation.
const WORDS_MAX: usize = 80;

/// Field of a generated struct.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    /// Identifier in Rust.
    pub(super) name: String,
    /// Name of the attribute.
    pub(super) attribute: String,
    /// Type, including `Option` and `Secret`.
    pub(super) kind: String,
    pub(super) docs: Vec<String>,
    /// May be absent.
    optional: bool,
    /// Stores NULL for `None`.
    null: bool,
    secret: bool,
    /// Is a set, which is not stored when it is empty.
    set: bool,
}

impl Shown {
    pub(super) fn of(checked: &Checked, field: &Field, name: String, kind: RustType) -> Self {
        let secret = field.flags.secret.is_some();
        let kind = if secret { format!("keyform::Secret<{}>", kind.owned) } else { kind.owned };
        let kind = if field.optional || field.null { format!("Option<{kind}>") } else { kind };
        let mut lines = docs::of(&field.docs);
        if lines.is_empty() {
            let words = checked.words(field.span);
            let shown = words.char_indices().nth(WORDS_MAX).map_or(words.as_str(), |(at, _)| &words[..at]);
            let more = if shown.len() < words.len() { "…" } else { "" };
            lines = vec![docs::code(&format!("{shown}{more}"))];
        }
        Self {
            name,
            attribute: field.name.clone(),
            kind,
            docs: lines,
            optional: field.optional,
            null: field.null,
            secret,
            set: matches!(field.kind.resolved(), Type::Set(..)),
        }
    }

    fn print(&self, camel: bool) -> String {
        let mut code = docs::comment(4, &self.docs);
        let plain = self.name.strip_prefix("r#").unwrap_or(&self.name);
        let renamed = if camel { serde_camel(&self.name) } else { plain.to_owned() };
        if renamed != self.attribute {
            code.push_str(&format!("    #[serde(rename = {:?})]\n", self.attribute));
        }
        let words = match (self.optional, self.null || self.set) {
            _ if self.secret && self.optional => "default, skip_serializing",
            _ if self.secret => "skip_serializing",
            (true, _) => "default, skip_serializing_if = \"Option::is_none\"",
            (false, true) => "default",
            (false, false) => "",
        };
        if !words.is_empty() {
            code.push_str(&format!("    #[serde({words})]\n"));
        }
        code.push_str(&layout::field(4, &self.name, &self.kind));
        code
    }

    /// Formats `user_id = "userId"`.
    fn pair(&self) -> String {
        let null = if self.null && !self.optional { " null" } else { "" };
        format!("{} = {:?}{null}", self.name, self.attribute)
    }
}

/// Generates a struct and its conversions.
pub(super) fn print(name: &str, about: &[String], fields: &[Shown]) -> String {
    // serde's camelCase slices a name after its first byte, which panics unless that is ASCII.
    let camel = fields.iter().all(|field| field.name.is_ascii())
        && fields.iter().any(|field| field.name.contains('_') && serde_camel(&field.name) == field.attribute);
    let mut code = docs::comment(0, about);
    code.push_str("#[derive(Clone, Debug, PartialEq, Eq, keyform::serde::Serialize, keyform::serde::Deserialize)]\n");
    code.push_str(match camel {
        true => "#[serde(crate = \"keyform::serde\", rename_all = \"camelCase\")]\n",
        false => "#[serde(crate = \"keyform::serde\")]\n",
    });
    match fields {
        [] => code.push_str(&format!("pub struct {name} {{}}\n\n")),
        fields => {
            let lines: String = fields.iter().map(|field| field.print(camel)).collect();
            code.push_str(&format!("pub struct {name} {{\n{lines}}}\n\n"));
        }
    }
    let pairs: Vec<String> = fields.iter().map(Shown::pair).collect();
    code.push_str(&layout::implementation("record", name, &pairs));
    code.push('\n');
    code
}
