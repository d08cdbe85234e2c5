//! K07: a template is not injective: different field values can produce the same text.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::template::injective::Example;
use keyform_language::template::{Ambiguity, FieldPiece, KeyShape, ambiguity};

use super::{Keyed, keys};
use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K07"),
    severity: Severity::Warning,
    title: "two different items can have the same key text",
    page: include_str!("../../../../../docs/rules/K07.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut reported = Vec::new();
    for keyed in keys(context.model) {
        let Some(shape) = KeyShape::of(keyed.entity, keyed.key) else { continue };
        let partition = shape.partition_only();
        let whole = || if keyed.key.index.is_none() { ambiguity(&shape) } else { None };
        let Some(doubt) = ambiguity(&partition).or_else(whole) else { continue };
        let Some(pair) = pair(&shape, &doubt) else { continue };
        let known = (keyed.id, pair.0.id, pair.1.map(|field| field.id));
        if !reported.contains(&known) {
            reported.push(known);
            findings.push(finding(keyed, &shape, &doubt, pair));
        }
    }
}

/// The field whose end is ambiguous, and the field after it.
type Pair<'a> = (FieldPiece<'a>, Option<FieldPiece<'a>>);

fn pair<'a>(shape: &KeyShape<'a>, doubt: &Ambiguity) -> Option<Pair<'a>> {
    let pieces = &shape.attributes[doubt.attribute].pieces;
    let first = pieces[doubt.piece].field?;
    Some((first, pieces[doubt.piece + 1..].iter().find_map(|piece| piece.field)))
}

fn finding(keyed: Keyed<'_>, shape: &KeyShape<'_>, doubt: &Ambiguity, (first, second): Pair<'_>) -> Diagnostic {
    let parts: Vec<_> = keyed.parts().collect();
    let text = show::template(keyed.entity, &parts[doubt.attribute].template);
    let between = shape.attributes[doubt.attribute].pieces.get(doubt.piece + 1).and_then(|piece| piece.text());
    let why = match between.as_deref().and_then(|text| text.chars().next()) {
        Some(delimiter) => format!("`{}` can contain the `{delimiter}` that ends it", first.name),
        None => format!("nothing marks the end of `{}`", first.name),
    };
    let message = format!("`{text}` is ambiguous: {why}");
    let finding = Diagnostic::warning(RULE.code, keyed.place_of(first.span), message);
    let finding = match &doubt.example {
        Some(example) => finding.note(shown(keyed, example)),
        None => finding,
    };
    let field = keyed.entity.field(first.id);
    let finding = finding.also(field.type_span, "any text");
    finding.help(repair(first.name, second.map(|field| field.name), between.is_some()))
}

fn shown(keyed: Keyed<'_>, example: &Example) -> String {
    let [first, second] = [&example.first, &example.second].map(|values| show::item(keyed.entity, values));
    format!("{first} and {second} both give {:?}", example.text)
}

fn repair(first: &str, second: Option<&str>, delimited: bool) -> String {
    let last = second.map_or(String::new(), |second| format!(", put `{{{first}}}` after `{{{second}}}`"));
    if delimited {
        format!("make `{first}` a `slug`, a choice or an id{last}, or write `{{{first}:hash}}`")
    } else {
        format!("put a delimiter after `{{{first}}}` that it cannot contain")
    }
}
