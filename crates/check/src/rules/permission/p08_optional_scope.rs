//! P08: a parameter that `allow` names is optional.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Parameter, Permission};

pub(super) static RULE: Rule = Rule {
    code: Code("P08"),
    severity: Severity::Error,
    title: "a parameter that `allow` names is optional",
    page: include_str!("../../../../../docs/rules/P08.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let reads = context.model.reads.iter().map(|read| (&read.name, read.allow.as_ref(), &read.parameters));
    let writes = context.model.writes.iter().map(|write| (&write.name, write.allow.as_ref(), &write.parameters));
    for (name, allow, parameters) in reads.chain(writes) {
        let named = allow.map(Permission::parameters).unwrap_or_default();
        let optional = named.iter().filter_map(|&number| parameters.get(number)).filter(|parameter| parameter.optional);
        findings.extend(optional.map(|parameter| finding(name, parameter)));
    }
}

fn finding(name: &str, parameter: &Parameter) -> Diagnostic {
    let message = format!("`allow` of `{name}` names `{}`, which callers may leave out", parameter.field_name);
    let finding = Diagnostic::error(RULE.code, parameter.span, message)
        .label("without it, no item has the value that `allow` authorises");
    finding.help("make it required: remove the `?`")
}
