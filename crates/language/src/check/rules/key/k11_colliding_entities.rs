//! K11: items of two entities of a table can have the same key.

use crate::check::{Context, Rule};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::schema::{Entity, KeyPart, Model, TableId};
use crate::template::{Class, KeyShape, Overlap, overlap};

use crate::check::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K11"),
    severity: Severity::Error,
    title: "two entities can have the same key",
    page: include_str!("../../../../../../docs/rules/K11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for table in (0..model.tables.len()).map(TableId) {
        let keyed = keyed(model, table);
        for (number, later) in keyed.iter().enumerate() {
            findings.extend(keyed[..number].iter().find_map(|earlier| collision(earlier, later)));
        }
    }
}

/// Returns the entities of a table whose full key is known, with the shapes of their keys.
fn keyed(model: &Model, table: TableId) -> Vec<(&Entity, KeyShape<'_>)> {
    let attributes = model.table(table).key_names().count();
    let shape = |entity| KeyShape::of(entity, entity.key.as_ref()?).map(|shape| (entity, shape));
    let shapes = model.entities_of(table).filter_map(|(_, entity)| shape(entity));
    shapes.filter(|(_, shape)| shape.attributes.len() == attributes).collect()
}

fn collision(earlier: &(&Entity, KeyShape<'_>), later: &(&Entity, KeyShape<'_>)) -> Option<Diagnostic> {
    let ((one, one_shape), (two, two_shape)) = (earlier, later);
    let whole = overlap(one_shape, two_shape);
    if whole == Overlap::Disjoint {
        return None;
    }
    let delimiters = one_shape.delimiters().or(two_shape.delimiters());
    let tidy = overlap(&one_shape.without(delimiters), &two_shape.without(delimiters));
    let finding = match tidy {
        Overlap::Disjoint => only_by_delimiter(one, two, &whole, delimiters),
        Overlap::Collision(_) => at(Severity::Error, one, two).note(example(one, two, &tidy)),
        Overlap::Undecided => at(Severity::Warning, one, two),
    };
    let word = two.name.to_uppercase();
    let own_text = format!("begin one of its templates with a prefix of its own, such as `{word}#`");
    Some(finding.help(if tidy == Overlap::Disjoint {
        format!("make the field a `slug`, which cannot contain a delimiter, or {own_text}")
    } else {
        own_text
    }))
}

/// Builds a finding at the last template of the later entity, which a prefix would make distinct.
fn at(severity: Severity, one: &Entity, two: &Entity) -> Diagnostic {
    let message = format!("{} and {} can have the same key: one overwrites the other", one.name, two.name);
    let finding = Diagnostic::new(RULE.code, severity, place(two), message);
    finding.also(place(one), format!("the key of {}", one.name))
}

fn place(entity: &Entity) -> crate::span::Span {
    let key = entity.key.as_ref();
    let last = key.and_then(|key| key.sort.last().or(key.partition.last()));
    let written = key.is_some_and(|key| key.written);
    last.filter(|_| written).map_or(entity.name_span, |part: &KeyPart| part.template.span)
}

fn only_by_delimiter(one: &Entity, two: &Entity, whole: &Overlap, delimiters: Class) -> Diagnostic {
    let shown: String = "#/:|~-_.+@$%&*=,;! ".chars().filter(|&character| delimiters.has(character)).take(1).collect();
    let finding = at(Severity::Warning, one, two).label(format!("only if a field contains `{shown}`"));
    match whole {
        Overlap::Collision(_) => finding.note(example(one, two, whole)),
        Overlap::Disjoint | Overlap::Undecided => finding,
    }
}

fn example(one: &Entity, two: &Entity, overlap: &Overlap) -> String {
    let Overlap::Collision(found) = overlap else { return String::new() };
    let (first, second) = (show::item(one, &found.left), show::item(two, &found.right));
    format!("{first} and {second} both have the key {}", show::key(&found.key))
}
