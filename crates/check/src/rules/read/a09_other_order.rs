//! A09: a read requests an order other than the sort key's.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::{Blocked, Obstacle};
use keyform_language::schema::Read;
use keyform_language::span::Span;

use super::{obstacles, words};

pub(super) static RULE: Rule = Rule {
    code: Code("A09"),
    severity: Severity::Error,
    title: "the sort key has another order",
    page: include_str!("../../../../../docs/rules/A09.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, blocked, obstacle) in obstacles(context) {
        match obstacle {
            Obstacle::WrongOrder { span, actual } => findings.push(order(context, read, blocked, *span, actual)),
            Obstacle::NotARange { parameter, why } => findings.push(range(read, *parameter, why)),
            _ => {}
        }
    }
}

fn order(context: &Context<'_>, read: &Read, blocked: &Blocked, span: Span, actual: &str) -> Diagnostic {
    let entity = read.result.entities().first().map(|&entity| context.model.entity(entity));
    let mut finding =
        Diagnostic::error(RULE.code, span, format!("`{}` asks for an order that its key does not provide", read.name))
            .label(format!("the items come ordered by {actual}").replace("ordered by no order", "in no order"));
    if let Some(part) = entity.and_then(|entity| entity.key_of(blocked.index)).and_then(|key| key.sort.first()) {
        finding = finding.also(part.template.span, "this is the order");
    }
    let table = entity.and_then(|entity| entity.table).map(|table| context.model.table(table));
    let help = match (blocked.served_by.first(), table) {
        (Some(Some(index)), Some(table)) => {
            format!("read it `via {}`, which has that order", table.index_at(*index).name)
        }
        (Some(None), _) => "remove `via`: the table's own key has that order".to_owned(),
        _ => "begin the sort key, of the table or of an index, with the field to order by".to_owned(),
    };
    finding.note("A Query returns items in the order of the sort key, ascending or descending.").help(help)
}

fn range(read: &Read, number: usize, why: &str) -> Diagnostic {
    let parameter = &read.parameters[number];
    Diagnostic::error(
        RULE.code,
        parameter.span,
        format!("`{}` is not a range of the sort key", words::parameter(parameter)),
    )
    .label(why)
    .help(format!("end the sort key with `{{{0}}}`, or write `{0}` with a fixed width", parameter.field_name))
}
