//! Mutants of the steps of writes and of the clauses of reads.

use keyform_language::document::ast::{
    Action, Argument, Block, Change, DeclarationKind, EntityEntry, Expr, ExprKind, Line, Name, ReadClause, ReadResult,
    Step, TableEntry, Verb,
};

use crate::key;
use crate::operator::Scene;
use crate::permission::{operands, replaced};
use crate::place::{Place, arguments, each, named, vary};

/// Returns the write once for each list of steps that replaces one step.
fn steps(kind: &DeclarationKind, change: &dyn Fn(&Step) -> Vec<Option<Step>>) -> Vec<DeclarationKind> {
    let DeclarationKind::Write(write) = kind else { return Vec::new() };
    let bodies = blocks(&write.body, change).into_iter();
    bodies
        .map(|body| DeclarationKind::Write(keyform_language::document::ast::Write { body, ..write.clone() }))
        .collect()
}

fn blocks(body: &Block<Step>, change: &dyn Fn(&Step) -> Vec<Option<Step>>) -> Vec<Block<Step>> {
    let mut all = Vec::new();
    for (number, line) in body.lines.iter().enumerate() {
        let mut replacements = change(&line.value);
        if let Step::For(each) = &line.value {
            let inner = blocks(&each.body, change).into_iter();
            replacements.extend(inner.map(|body| {
                let mut each = each.clone();
                each.body = body;
                Some(Step::For(each))
            }));
        }
        for replacement in replacements {
            let mut body = body.clone();
            match replacement {
                Some(step) => body.lines[number].value = step,
                None => {
                    body.lines.remove(number);
                }
            }
            all.push(body);
        }
    }
    all
}

pub(crate) fn drop_condition(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let mut all = steps(kind, &|step| match step {
        Step::Require(_) => vec![None],
        Step::Action(action) => fewer_conditions(action).into_iter().map(|it| Some(Step::Action(it))).collect(),
        _ => Vec::new(),
    });
    if let DeclarationKind::Read(read) = kind {
        for (number, line) in read.clauses.iter().enumerate() {
            if matches!(line.value, ReadClause::Where(_)) {
                let mut read = read.clone();
                read.clauses.remove(number);
                all.push(DeclarationKind::Read(read));
            }
        }
    }
    all.extend(vary(kind, |at| at == Place::Condition, &operands));
    all
}

fn fewer_conditions(action: &Action) -> Vec<Action> {
    let mut all = Vec::new();
    for number in 0..action.conditions.len() {
        let mut action = action.clone();
        action.conditions.remove(number);
        all.push(action);
    }
    for number in (0..action.item.keys.len()).filter(|&number| action.item.keys[number].name.is_some()) {
        let mut action = action.clone();
        action.item.keys.remove(number);
        all.push(action);
    }
    all
}

pub(crate) fn drop_check(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    steps(kind, &|step| match step {
        Step::Action(action) if action.verb == Verb::Check => vec![None],
        _ => Vec::new(),
    })
}

pub(crate) fn create_to_put(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    steps(kind, &|step| match step {
        Step::Action(action) if action.verb == Verb::Create => {
            vec![Some(Step::Action(Action { verb: Verb::Put, outcome: None, ..action.clone() }))]
        }
        _ => Vec::new(),
    })
}

pub(crate) fn create_to_upsert(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let given = arguments(kind);
    steps(kind, &|step| match step {
        Step::Action(action) if action.verb == Verb::Create => {
            upsert(scene, action, &given).map(|action| Some(Step::Action(action))).into_iter().collect()
        }
        _ => Vec::new(),
    })
}

/// Returns the `upsert` of the same item: the key fields are key arguments instead of new values.
fn upsert(scene: &Scene<'_>, action: &Action, given: &[String]) -> Option<Action> {
    let entity = scene.entity(&action.item.entity.text)?;
    let fields = key::fields(entity);
    let is_set = |line: &Line<Change>, name: &str| matches!(&line.value, Change::Set(to, _) if is_name(to, name));
    let value = |name: &String| {
        let set = action.changes.iter().find(|line| is_set(line, name)).map(|line| match &line.value {
            Change::Set(_, value) => value.clone(),
            _ => named(name),
        });
        let parameter = || given.contains(name).then(|| named(name));
        set.or_else(parameter).or_else(|| default(entity, name))
    };
    let keys: Option<Vec<Argument>> =
        fields.iter().map(|name| Some(Argument { name: None, value: value(name)? })).collect();
    let mut action = Action { verb: Verb::Upsert, outcome: None, ..action.clone() };
    action.item.keys = keys?;
    action.changes.retain(|line| !fields.iter().any(|name| is_set(line, name)));
    Some(action)
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&*expr.kind, ExprKind::Name(of) if of.text == name)
}

fn default(entity: &keyform_language::document::ast::Entity, name: &str) -> Option<Expr> {
    entity.body.lines.iter().find_map(|line| match &line.value {
        EntityEntry::Field(field) if field.name.text == name => field.default.clone(),
        _ => None,
    })
}

pub(crate) fn swap_let_arguments(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let others = arguments(kind);
    let whole = |expr: &Expr| match &*expr.kind {
        ExprKind::Call(name, given) if !given.is_empty() => {
            let mut all = replaced(name, given, &others);
            for (one, other) in (0..given.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut given = given.clone();
                given.swap(one, other);
                all.push(ExprKind::Call(name.clone(), given).into());
            }
            all
        }
        _ => Vec::new(),
    };
    vary(kind, |at| at == Place::Let, &|expr| each(expr, &whole))
}

/// Returns the read through each other index of its table, and without an index.
pub(crate) fn other_index(scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let DeclarationKind::Read(read) = kind else { return Vec::new() };
    let Some(number) = read.clauses.iter().position(|line| matches!(line.value, ReadClause::Via(_))) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for index in indexes(scene, &read.result) {
        let mut read = read.clone();
        read.clauses[number].value = ReadClause::Via(index);
        all.push(DeclarationKind::Read(read));
    }
    let mut plain = read.clone();
    plain.clauses.remove(number);
    all.push(DeclarationKind::Read(plain));
    all
}

fn indexes(scene: &Scene<'_>, result: &ReadResult) -> Vec<Name> {
    let entity = match result {
        ReadResult::Parts(parts) => parts.first().map(|part| &part.entity),
        ReadResult::Count(entity) => Some(entity),
    };
    let table = entity.and_then(|entity| scene.entity(&entity.text)).map(|entity| &entity.table.text);
    let table = scene.tables.iter().find(|of| Some(&of.name.text) == table);
    let lines = table.iter().flat_map(|table| &table.body.lines);
    lines
        .filter_map(|line| match &line.value {
            TableEntry::Index(index) => Some(index.name.clone()),
            _ => None,
        })
        .collect()
}

pub(crate) fn drop_select(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    let DeclarationKind::Read(read) = kind else { return Vec::new() };
    let mut changed = read.clone();
    changed.clauses.retain(|line| !matches!(line.value, ReadClause::Select(_)));
    if changed.clauses.len() == read.clauses.len() { Vec::new() } else { vec![DeclarationKind::Read(changed)] }
}
