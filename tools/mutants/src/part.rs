//! Reduces a model to the patterns that a change of one declaration may affect.

use std::collections::BTreeSet;

use keyform_language::document::ast::{Declaration, DeclarationKind, Document, Entity, Permission, ReadResult, Step};

use crate::place::{called, name, permission};

/// Returns the names of the patterns that a change of a declaration may affect, with the reads that they call, and all
/// public reads, which tell the trial what is not confidential.
pub(crate) fn affected(document: &Document, number: usize) -> BTreeSet<String> {
    let changed = &document.declarations[number].value;
    let patterns =
        || document.declarations.iter().map(|declaration| &declaration.value).filter(|kind| is_pattern(kind));
    let mut names: BTreeSet<String> = match changed {
        DeclarationKind::Read(_) | DeclarationKind::Write(_) => BTreeSet::from([name(changed).to_owned()]),
        DeclarationKind::Guard(guard) => patterns()
            .filter(|kind| called(kind).contains(&guard.name.text))
            .map(|kind| name(kind).to_owned())
            .collect(),
        DeclarationKind::Entity(entity) => {
            patterns().filter(|kind| touches(kind, entity)).map(|kind| name(kind).to_owned()).collect()
        }
        _ => patterns().map(|kind| name(kind).to_owned()).collect(),
    };
    loop {
        let before = names.len();
        let used: Vec<String> = patterns().filter(|kind| names.contains(name(kind))).flat_map(called).collect();
        names.extend(patterns().map(|kind| name(kind).to_owned()).filter(|name| used.contains(name)));
        if names.len() == before {
            break;
        }
    }
    names.extend(patterns().filter(|kind| is_public_read(kind)).map(|kind| name(kind).to_owned()));
    names
}

/// Returns the document with these patterns only.
pub(crate) fn reduced(document: &Document, names: &BTreeSet<String>) -> Document {
    let is_kept = |declaration: &&Declaration| match &declaration.value {
        DeclarationKind::On(_) | DeclarationKind::Evolve(_) => false,
        kind => !is_pattern(kind) || names.contains(name(kind)),
    };
    Document { declarations: document.declarations.iter().filter(is_kept).cloned().collect(), tail: Vec::new() }
}

fn is_pattern(kind: &DeclarationKind) -> bool {
    matches!(kind, DeclarationKind::Read(_) | DeclarationKind::Write(_))
}

fn is_public_read(kind: &DeclarationKind) -> bool {
    let mut copy = kind.clone();
    matches!(kind, DeclarationKind::Read(_)) && matches!(permission(&mut copy), Some(Permission::Public))
}

/// Returns whether a pattern reads or writes items of an entity.
fn touches(kind: &DeclarationKind, entity: &Entity) -> bool {
    let is_it = |name: &str| name == entity.name.text;
    match kind {
        DeclarationKind::Read(read) => match &read.result {
            ReadResult::Parts(parts) => parts.iter().any(|part| is_it(&part.entity.text)),
            ReadResult::Count(name) => is_it(&name.text),
        },
        DeclarationKind::Write(write) => write.body.lines.iter().any(|line| acts_on(&line.value, &is_it)),
        _ => false,
    }
}

fn acts_on(step: &Step, is_it: &dyn Fn(&str) -> bool) -> bool {
    match step {
        Step::Action(action) => is_it(&action.item.entity.text),
        Step::For(each) => each.body.lines.iter().any(|line| acts_on(&line.value, is_it)),
        Step::Let(_) | Step::Permit(_) | Step::Unscoped(_) | Step::Allow(_) | Step::Require(_) => false,
    }
}
