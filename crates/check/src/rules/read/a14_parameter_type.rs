//! A14: the type of a parameter differs from the type of the key field.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::Obstacle;

use super::{obstacles, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A14"),
    severity: Severity::Error,
    title: "a parameter does not have the type of the key",
    page: include_str!("../../../../../docs/rules/A14.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, _, obstacle) in obstacles(context) {
        let Obstacle::WrongType { parameter, wanted } = obstacle else { continue };
        let parameter = &read.parameters[*parameter];
        let name = &parameter.field_name;
        let field = read.result.entities().into_iter().find_map(|id| {
            let entity = context.model.entity(id);
            entity.field_named(name).map(|field| entity.field(field))
        });
        let mut finding = Diagnostic::error(
            RULE.code,
            parameter.span,
            format!("`{}` does not have the type of the key of `{}`", words::parameter(parameter), read.name),
        )
        .label(format!("the key holds {wanted}"));
        if let Some(field) = field {
            finding = finding.also(field.type_span, "as the field declares");
        }
        findings.push(finding.help(if parameter.declared {
            format!("omit the type: `{name}` then has the type of the field")
        } else {
            format!("test `{name}` by equality or by a range")
        }));
    }
}
