//! A10: a range of a `key` clause extends past the intended keys.

use keyform_core::expression::Comparator;

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::plan::ReadPlan;
use keyform_language::scalar::{Bounds, Scalar, Stored};
use keyform_language::schema::{Entity, FieldId, Format, KeyTest, Part, Read, Template, Test, Type};

use super::words;

pub(super) static RULE: Rule = Rule {
    code: Code("A10"),
    severity: Severity::Warning,
    title: "a range has no end",
    page: include_str!("../../../../../docs/rules/A10.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    for (read, plan) in context.plans.planned(context.model) {
        let Some(test) = read.key.as_ref().and_then(|clause| clause.sort.as_ref()) else { continue };
        let entity = context.model.entity(plan.returns[0]);
        match test.test {
            Test::After | Test::From | Test::Before | Test::Until if !test.template.prefix().is_empty() => {
                findings.push(open_end(read, plan, entity, test));
            }
            Test::Begins => findings.extend(cut_value(read, plan, entity, test)),
            _ => {}
        }
    }
}

/// Reports a range such as `> "MSG#{after}#"`, which extends beyond the last key with the prefix `MSG#`.
fn open_end(read: &Read, plan: &ReadPlan, entity: &Entity, test: &KeyTest) -> Diagnostic {
    let upwards = matches!(test.test, Test::After | Test::From);
    let prefix = test.template.prefix();
    let (side, way) = if upwards { ("after", "end") } else { ("before", "beginning") };
    let mut finding = Diagnostic::warning(
        RULE.code,
        test.template.span,
        format!("the range of `{}` has no {way}: it includes all keys {side} \"{prefix}\"", read.name),
    )
    .label(format!("open at its {way}"));
    if test.test == Test::After && matches!(test.template.parts.last(), Some(Part::Text(_))) {
        finding = finding.note(format!(
            "Keys that continue after \"{}\" are greater than it, so items with the same value are returned again.",
            words::clause_template(read, &test.template)
        ));
    }
    finding.help(match ranged_field(plan, entity, &test.template) {
        Some(field) => {
            let name = &entity.field(field).name;
            let sign = test.test.comparator().map_or("", Comparator::symbol);
            format!("write it as a parameter, `{name} {sign} …`, without `key`: that range is closed and exact")
        }
        None => format!("use `between` with two keys that both begin with \"{prefix}\""),
    })
}

/// Returns the first field of the entity's sort key if the clause has the same prefix.
fn ranged_field(plan: &ReadPlan, entity: &Entity, test: &Template) -> Option<FieldId> {
    let template = &entity.key_of(plan.index)?.sort.first()?.template;
    let same_prefix = template.prefix() == test.prefix();
    template.fields().next().filter(|_| same_prefix)
}

/// Reports `begins "MEMORY#{user}"`, which matches the user `u10` for the argument `u1`.
fn cut_value(read: &Read, plan: &ReadPlan, entity: &Entity, test: &KeyTest) -> Option<Diagnostic> {
    let template = &entity.key_of(plan.index)?.sort.first()?.template;
    let last = test.template.parts.len().checked_sub(1)?;
    let Part::Field { field: parameter, .. } = &test.template.parts[last] else { return None };
    let Part::Field { field, format, .. } = template.parts.get(last)? else { return None };
    let Some(Part::Text(next)) = template.parts.get(last + 1) else { return None };
    if has_fixed_width(&entity.field(*field).kind, *format) {
        return None;
    }
    let name = &read.parameters.get(parameter.0)?.field_name;
    let written = words::clause_template(read, &test.template);
    Some(
        Diagnostic::warning(
            RULE.code,
            test.template.span,
            format!("`{}` finds every `{name}` that begins with the argument", read.name),
        )
        .label("ends inside a value")
        .also(template.span, "continues here")
        .note(format!("With `{name}` \"u1\" it also finds the items of \"u10\"."))
        .help(format!("include the delimiter: `begins \"{written}{}\"`", next.chars().next().unwrap_or('#'))),
    )
}

fn has_fixed_width(kind: &Type, format: Format) -> bool {
    let formatted = !matches!(format, Format::Plain | Format::Upper | Format::Lower);
    let is_fixed = |(scalar, bounds): (Scalar, Bounds)| {
        scalar.stored() == Stored::Text && scalar.counted().is_none() && scalar.language(bounds).width().is_some()
    };
    formatted || kind.scalar().is_some_and(is_fixed)
}
