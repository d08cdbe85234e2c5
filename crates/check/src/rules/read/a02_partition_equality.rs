//! A02: a read applies a range, a prefix or a list to the partition key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Limit, Obstacle};
use keyform_language::schema::{FieldId, Read};

use super::{obstacles, remedy, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A02"),
    severity: Severity::Error,
    title: "the partition key accepts equality only",
    page: include_str!("../../../../../docs/rules/A02.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        match obstacle {
            Obstacle::PartitionRange { at: Limit::Parameter(number) } => {
                findings.push(parameter(context, read, blocked, *number));
            }
            Obstacle::PartitionRange { at: Limit::Clause(span) } => findings.push(
                Diagnostic::error(
                    RULE.code,
                    *span,
                    format!("`{}` asks for more than one partition; a Query reads one", read.name),
                )
                .label("a partition key accepts equality only")
                .help(all_of_them(context, read)),
            ),
            Obstacle::ListIncomplete { parameter, missing } => {
                findings.push(list(context, read, blocked, *parameter, missing));
            }
            _ => {}
        }
    }
}

fn parameter(context: &Context<'_>, read: &Read, blocked: &Blocked, number: usize) -> Diagnostic {
    let parameter = &read.parameters[number];
    let help = remedy::with_its_parameters(context, read, blocked).unwrap_or_else(|| all_of_them(context, read));
    Diagnostic::error(
        RULE.code,
        parameter.span,
        format!("`{}` asks for more than one partition; a Query reads one", words::parameter(parameter)),
    )
    .label(format!("`{}` is part of the partition key, which accepts equality only", parameter.field_name))
    .help(help)
}

fn list(context: &Context<'_>, read: &Read, blocked: &Blocked, number: usize, missing: &[FieldId]) -> Diagnostic {
    let parameter = &read.parameters[number];
    let why = match read.result.entities().first() {
        Some(&entity) if !missing.is_empty() && blocked.index.is_none() => {
            let names = words::fields(context.model.entity(entity), missing);
            format!("a BatchGetItem needs complete keys, and nothing determines {names}")
        }
        _ => "a BatchGetItem reads the table, not an index".to_owned(),
    };
    let help = remedy::with_its_parameters(context, read, blocked)
        .unwrap_or_else(|| "test every other field of the table's key by equality".to_owned());
    Diagnostic::error(
        RULE.code,
        parameter.span,
        format!("`{}` is a list of keys, but the keys are incomplete", words::parameter(parameter)),
    )
    .label(why)
    .help(help)
}

/// Suggests ways to list all items of an entity.
fn all_of_them(context: &Context<'_>, read: &Read) -> String {
    let name = read.result.entities().first().map_or("ITEM", |&entity| &context.model.entity(entity).name);
    format!(
        "test the partition key by equality; to list every {name}, give all of them one index key such as \"{}S\", or \
        write `scan`",
        name.to_uppercase()
    )
}
