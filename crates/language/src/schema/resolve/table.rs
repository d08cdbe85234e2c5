//! Resolves tables and their indexes. Undeclared types of key attributes are inferred later from the templates that
//! fill them.

use crate::diagnostic::Diagnostic;
use crate::document::ast::{self, Billing, Encryption, KeyType, Projection, TableClass, TableEntry};
use crate::schema::key::{Index, KeyAttribute, Table};
use crate::span::{Span, Spanned};

use super::code;
use super::found::Found;
use super::names::{Declared, Names, twice};

pub(super) fn resolve(names: &Names<'_>, found: &mut Found) -> Vec<Table> {
    names.tables.iter().map(|table| one(*table, found)).collect()
}

/// Bounds of the length of a table name in the store.
const STORE_NAME_MIN: usize = 3;
const STORE_NAME_MAX: usize = 255;

fn one(declared: Declared<'_, ast::Table>, found: &mut Found) -> Table {
    let mut table = empty(declared);
    let mut seen = Seen::default();
    for line in &declared.value.body.lines {
        if !seen.repeated(line, found) {
            entry(&mut table, line, found);
        }
    }
    if table.partition.is_none() && !seen.0.iter().any(|(word, _)| *word == "key") {
        let message = format!("table `{}` has no `key` line", table.name);
        found.add(Diagnostic::error(code::KEY, table.name_span, message).help("write `key pk, sk`, or only `key pk`"));
    }
    store_name(declared.value, &table, found);
    local_partitions(&mut table);
    table
}

/// Reports a name that the store refuses, whatever values the variables in it have.
fn store_name(it: &ast::Table, table: &Table, found: &mut Found) {
    let literal: String =
        table.physical.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest)).collect();
    let is_whole = !table.physical.contains('{');
    let is_named = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let why = if let Some(letter) = literal.chars().find(|letter| !is_named(*letter)) {
        format!("contains `{letter}`")
    } else if is_whole && literal.len() < STORE_NAME_MIN {
        format!("has {} of at least {STORE_NAME_MIN} characters", literal.len())
    } else if literal.len() > STORE_NAME_MAX {
        format!("has {} of at most {STORE_NAME_MAX} characters", literal.len())
    } else {
        return;
    };
    let place = it.physical.as_ref().map_or(table.name_span, |text| text.span);
    let message = format!("the store refuses the table name `{}`: it {why}", table.physical);
    let help = "use 3 to 255 letters, digits, `_`, `-` and `.`: `table Shop \"shop-{stage}\"`";
    found.add(Diagnostic::warning(code::STORE_NAME, place, message).help(help));
}

fn empty(declared: Declared<'_, ast::Table>) -> Table {
    let it = declared.value;
    Table {
        name: it.name.text.clone(),
        name_span: it.name.span,
        span: declared.span,
        docs: declared.docs.to_vec(),
        physical: it.physical.as_ref().map_or_else(|| it.name.text.clone(), |text| text.text.clone()),
        partition: None,
        sort: None,
        indexes: Vec::new(),
        tag: None,
        ttl: None,
        stream: None,
        encryption: Encryption::Owned,
        billing: Billing::OnDemand,
        class: TableClass::Standard,
        recovery: false,
        protected: false,
    }
}

/// Entries seen so far, each with its first position.
#[derive(Default)]
struct Seen(Vec<(&'static str, Span)>);

impl Seen {
    fn second_ttl(&mut self) -> bool {
        let second = self.0.iter().any(|(word, _)| *word == "ttl");
        self.0.push(("ttl", Span::default()));
        second
    }

    /// Reports a repeated entry and returns true.
    fn repeated(&mut self, line: &ast::Line<TableEntry>, found: &mut Found) -> bool {
        let word = match &line.value {
            TableEntry::Key(_) => "key",
            TableEntry::Tag(_) => "tag",
            TableEntry::Stream(_) => "stream",
            TableEntry::Encryption(_) => "encryption",
            TableEntry::Billing(_) => "billing",
            TableEntry::Class(_) => "class",
            // Rule T02 reports a second one.
            TableEntry::Ttl(_) => return self.second_ttl(),
            TableEntry::Index(_) | TableEntry::Recovery | TableEntry::Protected | TableEntry::Allow(_) => return false,
        };
        if let Some((_, first)) = self.0.iter().find(|(other, _)| *other == word) {
            let finding = Diagnostic::error(code::REPEATED, line.span, format!("a table has one `{word}` line"));
            found.add(finding.label("the second").also(*first, "the first").help("remove one of them"));
            return true;
        }
        self.0.push((word, line.span));
        false
    }
}

fn entry(table: &mut Table, line: &ast::Line<TableEntry>, found: &mut Found) {
    match &line.value {
        TableEntry::Key(attributes) => key(table, attributes, line.span, found),
        TableEntry::Index(it) => index(table, it, line, found),
        TableEntry::Tag(name) => table.tag = Some(Spanned::new(name.text.clone(), name.span)),
        TableEntry::Ttl(name) => table.ttl = Some(Spanned::new(name.text.clone(), name.span)),
        TableEntry::Stream(view) => table.stream = Some(Spanned::new(*view, line.span)),
        TableEntry::Encryption(how) => table.encryption = how.clone(),
        TableEntry::Billing(how) => table.billing = how.clone(),
        TableEntry::Class(class) => table.class = *class,
        TableEntry::Recovery => table.recovery = true,
        TableEntry::Protected => table.protected = true,
        TableEntry::Allow(_) => {}
    }
}

fn key(table: &mut Table, attributes: &[ast::KeyAttribute], span: Span, found: &mut Found) {
    match attributes {
        [partition] => table.partition = Some(attribute(partition)),
        [partition, sort] if partition.name.text == sort.name.text => {
            let message = format!("`{}` cannot be the partition key and the sort key", sort.name.text);
            found.error(code::KEY, sort.name.span, message);
        }
        [partition, sort] => {
            table.partition = Some(attribute(partition));
            table.sort = Some(attribute(sort));
        }
        many => {
            let message = format!("a table's key has one or two attributes, not {}", many.len());
            found.error(code::KEY, span, message);
        }
    }
}

fn attribute(it: &ast::KeyAttribute) -> KeyAttribute {
    KeyAttribute {
        name: it.name.text.clone(),
        span: it.name.span,
        kind: it.kind.unwrap_or(KeyType::String),
        declared: it.kind.is_some(),
    }
}

fn index(table: &mut Table, it: &ast::Index, line: &ast::Line<TableEntry>, found: &mut Found) {
    if let Some(first) = table.indexes.iter().find(|index| index.name == it.name.text) {
        let first = ast::Name { text: first.name.clone(), span: first.name_span };
        let message = format!("table `{}` has two indexes named `{}`", table.name, it.name.text);
        found.add(twice(code::REPEATED, &it.name, &first, message));
        return;
    }
    table.indexes.push(Index {
        name: it.name.text.clone(),
        physical: it.physical.as_ref().map_or_else(|| it.name.text.clone(), |text| text.text.clone()),
        name_span: it.name.span,
        span: line.span,
        docs: line.notes.docs.clone(),
        local: it.local,
        partition: it.partition.iter().map(attribute).collect(),
        sort: it.sort.iter().map(attribute).collect(),
        projection: projection(it.projection.as_ref()),
        sparse: it.sparse,
    });
}

fn projection(it: Option<&Projection>) -> Option<Vec<Spanned<String>>> {
    match it {
        None | Some(Projection::All) => None,
        Some(Projection::Keys) => Some(Vec::new()),
        Some(Projection::Include(names)) => {
            Some(names.iter().map(|name| Spanned::new(name.text.clone(), name.span)).collect())
        }
    }
}

/// Copies the table's partition key to its local indexes. This runs last, because the `key` line may follow the
/// indexes.
fn local_partitions(table: &mut Table) {
    let partition: Vec<KeyAttribute> = table.partition.iter().cloned().collect();
    for index in table.indexes.iter_mut().filter(|index| index.local) {
        index.partition.clone_from(&partition);
    }
}
