//! K11: items of two entities of a table can have the same key.

use crate::check::{Context, Rule};
use keyform_language::diagnostic::{Code, Diagnostic, Severity};
use keyform_language::schema::{Entity, KeyPart, Model, TableId};
use keyform_language::template::{Class, KeyShape, Overlap, Prefixes, overlap};

use crate::rules::show;

pub(super) static RULE: Rule = Rule {
    code: Code("K11"),
    severity: Severity::Error,
    title: "two entities can have the same key",
    page: include_str!("../../../../../docs/rules/K11.md"),
    find,
};

fn find(context: &Context<'_>, findings: &mut Vec<Diagnostic>) {
    let model = context.model;
    for table in (0..model.tables.len()).map(TableId) {
        let keyed = keyed(model, table);
        let shapes: Vec<&KeyShape<'_>> = keyed.iter().map(|(_, shape)| shape).collect();
        for (number, earlier) in candidates(&shapes).into_iter().enumerate() {
            let later = &keyed[number];
            findings.extend(earlier.into_iter().find_map(|earlier| collision(&keyed[earlier], later)));
        }
    }
}

/// Returns for each key the earlier keys that are worth a comparison: in the attribute where the fewest are left, one
/// literal beginning begins with the other. The keys of most entities have a prefix of their own, so this list is short.
fn candidates(shapes: &[&KeyShape<'_>]) -> Vec<Vec<usize>> {
    let attributes = shapes.first().map_or(0, |shape| shape.attributes.len());
    let texts: Vec<Vec<String>> = (0..attributes)
        .map(|attribute| shapes.iter().map(|shape| shape.attributes[attribute].prefix()).collect())
        .collect();
    let indexes: Vec<Prefixes> = texts.iter().map(|texts| Prefixes::new(texts.iter().cloned())).collect();
    let of = |number: usize| {
        let fewest = (0..attributes).min_by_key(|attribute| indexes[*attribute].count(&texts[*attribute][number]));
        let Some(attribute) = fewest else { return Vec::new() };
        let mut earlier = indexes[attribute].compatible(&texts[attribute][number]);
        earlier.retain(|other| *other < number);
        earlier
    };
    (0..shapes.len()).map(of).collect()
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

fn place(entity: &Entity) -> keyform_language::span::Span {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checked;

    /// Counts comparisons instead of measuring time: they would be quadratic if every pair were compared.
    #[test]
    fn a_thousand_entities_of_one_table_need_few_comparisons() {
        for key in ["\"E{n}#{id}\", \"META\"", "\"USER#{id}\", \"E{n}#\""] {
            let entity = |n: usize| {
                let key = key.replace("{n}", &n.to_string());
                format!("entity E{n} in T {{\n  key {key}\n  id: ulid\n}}\n")
            };
            let text = format!("model m\ntable T {{ key pk, sk }}\n{}", (0..1000).map(entity).collect::<String>());
            let (document, _) = keyform_language::document::parse(&text);
            let (model, _) = keyform_language::schema::resolve(&document);
            let keyed = keyed(&model, TableId(0));
            let shapes: Vec<&KeyShape<'_>> = keyed.iter().map(|(_, shape)| shape).collect();
            let compared: usize = candidates(&shapes).iter().map(Vec::len).sum();
            assert_eq!(shapes.len(), 1000);
            assert!(compared < 2000, "{compared} comparisons for {key}");
        }
    }

    #[test]
    fn entities_without_a_prefix_are_still_compared() {
        let checked = Checked::read(
            "model m\ntable T { key pk }\nentity A in T {\n  key \"{id}\"\n  id: string(1..9)\n}\nentity B in T {\n  \
            key \"B#{id}\"\n  id: ulid\n}\nentity C in T {\n  key \"{id}\"\n  id: string(1..50)\n}\n",
        );
        let found = checked.diagnostics.iter().filter(|found| found.code == RULE.code).count();
        assert_eq!(found, 1, "C collides with A and with B, and is reported once: {:?}", checked.diagnostics);
    }
}
