//! K18: two entities of a table have the same tag.

use std::collections::BTreeMap;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, TableId};

pub(super) static RULE: Rule = Rule {
    code: Code("K18"),
    severity: Severity::Error,
    title: "two entities have the same tag",
    page: include_str!("../../../../../docs/rules/K18.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<(TableId, &str), &Entity> = BTreeMap::new();
    for entity in &context.model.entities {
        let Some(table) = entity.table.filter(|table| context.model.table(*table).tag.is_some()) else { continue };
        match seen.get(&(table, entity.tag.as_str())) {
            Some(first) => findings.push(finding(first, entity)),
            None => {
                seen.insert((table, &entity.tag), entity);
            }
        }
    }
}

fn finding(first: &Entity, second: &Entity) -> Diagnostic {
    let message = format!("{} and {} have the same tag, \"{}\"", first.name, second.name, second.tag);
    Diagnostic::error(RULE.code, second.name_span, message)
        .label(format!("its items are taken for items of {}", first.name))
        .also(first.name_span, "has the tag too")
        .help(format!("remove the `tag` line: without it the tag is the entity's name, \"{}\"", second.name))
}
