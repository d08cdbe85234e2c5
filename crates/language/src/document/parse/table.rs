//! Parses tables and their indexes.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::document::ast::{
    Billing, Block, Encryption, Index, KeyAttribute, KeyType, Projection, StreamView, Table, TableClass, TableEntry,
};
use crate::document::token::Kind;
use crate::span::Span;

use super::report::UNEXPECTED;
use super::{Parsed, Parser};

/// Keywords that begin a line of a table.
pub const ENTRIES: [&str; 12] = [
    "key",
    "index",
    "local",
    "tag",
    "ttl",
    "stream",
    "encryption",
    "billing",
    "class",
    "recovery",
    "protected",
    "allow",
];

impl Parser<'_> {
    /// Parses the rest of a `table` declaration.
    pub(super) fn table(&mut self) -> Parsed<Table> {
        let name = self.name_here("the name of the table")?;
        let physical =
            if self.peek().kind == Kind::Text { Some(self.quoted("the table's name in the store")?) } else { None };
        let body = self.block(&format!("the table `{}`", name.text), Self::table_entry)?;
        self.check_table(&body);
        Ok(Table { name, physical, body })
    }

    fn table_entry(&mut self) -> Parsed<TableEntry> {
        let word = self.keyword("a line of a table", &ENTRIES)?;
        Ok(match word {
            "key" => TableEntry::Key(self.key_attributes()?),
            "index" => TableEntry::Index(self.index(false)?),
            "local" => {
                self.expect_word("index", "after `local`")?;
                TableEntry::Index(self.index(true)?)
            }
            "tag" => TableEntry::Tag(self.name_here("the attribute that names the entity of an item")?),
            "ttl" => TableEntry::Ttl(self.name_here("the attribute by which items expire")?),
            "stream" => TableEntry::Stream(self.stream()?),
            "encryption" => TableEntry::Encryption(self.encryption()?),
            "billing" => TableEntry::Billing(self.billing()?),
            "class" => TableEntry::Class(self.class()?),
            "recovery" => TableEntry::Recovery,
            "protected" => TableEntry::Protected,
            _ => TableEntry::Allow(self.allow()?),
        })
    }

    /// Parses one of these keywords. Reports a misspelt one and continues with the intended one.
    pub(super) fn keyword(&mut self, what: &str, words: &[&'static str]) -> Parsed<&'static str> {
        let token = self.peek();
        let known = words.iter().find(|word| token.is_word(word));
        let word = match known {
            Some(word) => word,
            None => self.unknown_word(what, words).ok_or(Self::reported())?,
        };
        self.bump();
        Ok(word)
    }

    fn key_attributes(&mut self) -> Parsed<Vec<KeyAttribute>> {
        let attributes = self.chain(Self::same_line_follows, Self::key_attribute)?;
        if let Some(third) = attributes.get(2) {
            let span = third.name.span;
            self.report(
                Diagnostic::error(UNEXPECTED, span, "a table's key has one or two attributes")
                    .help("keep the partition key and the sort key; put other keys into an `index`"),
            );
        }
        Ok(attributes)
    }

    fn key_attribute(&mut self) -> Parsed<KeyAttribute> {
        let name = self.name("the name of a key attribute")?;
        let kind = if self.eat_mark(":") { Some(self.key_type()?) } else { None };
        Ok(KeyAttribute { name, kind })
    }

    fn key_type(&mut self) -> Parsed<KeyType> {
        Ok(match self.keyword("`string`, `number` or `binary`", &["string", "number", "binary"])? {
            "string" => KeyType::String,
            "number" => KeyType::Number,
            _ => KeyType::Binary,
        })
    }

    fn index(&mut self, local: bool) -> Parsed<Index> {
        let name = self.name_here("the name of the index")?;
        let named = self.peek().kind == Kind::Text;
        let physical = if named { Some(self.quoted("the index's name in the store")?) } else { None };
        self.expect_mark("(", "and the key attributes of the index")?;
        let start = self.peek().span.start;
        let mut parts = self.list(")", "after a key attribute of the index", Self::joined_attributes)?;
        self.check_index_parts(local, parts.len(), self.since(start));
        let mut parts = parts.drain(..);
        let (partition, sort) = if local {
            (Vec::new(), parts.next_back().unwrap_or_default())
        } else {
            (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
        };
        let mut index = Index { name, physical, local, partition, sort, projection: None, sparse: false };
        self.index_clauses(&mut index)?;
        Ok(index)
    }

    /// Parses attributes joined by `+`.
    fn joined_attributes(&mut self) -> Parsed<Vec<KeyAttribute>> {
        let mut attributes = vec![self.key_attribute()?];
        while self.eat_mark("+") {
            attributes.push(self.key_attribute()?);
        }
        Ok(attributes)
    }

    fn check_index_parts(&mut self, local: bool, parts: usize, span: Span) {
        let (allowed, help) = if local {
            (1..=1, "a local index has the partition key of its table; name only its sort key: `(attribute)`")
        } else {
            (1..=2, "write `(partition)` or `(partition, sort)`; join the attributes of one key with `+`")
        };
        if !allowed.contains(&parts) {
            let what = if local { "a local index" } else { "an index" };
            self.report(
                Diagnostic::error(UNEXPECTED, span, format!("{what} cannot have {parts} key parts")).help(help),
            );
        }
    }

    fn index_clauses(&mut self, index: &mut Index) -> Parsed<()> {
        loop {
            let span = self.peek().span;
            if self.eat_word("project") {
                if index.projection.is_some() {
                    self.duplicate("`project`", span, span);
                }
                index.projection = Some(self.projection()?);
            } else if self.eat_word("sparse") {
                index.sparse = true;
            } else if self.peek().is_name() && !self.peek().first {
                self.unknown_word("`project` or `sparse`", &["project", "sparse"]);
                return Err(Self::reported());
            } else {
                return Ok(());
            }
        }
    }

    fn projection(&mut self) -> Parsed<Projection> {
        if self.eat_mark("(") {
            let attributes =
                self.list(")", "after a projected attribute", |parser| parser.name("a projected attribute"))?;
            return Ok(Projection::Include(attributes));
        }
        Ok(match self.keyword("`all`, `keys` or attributes in parentheses", &["all", "keys"])? {
            "all" => Projection::All,
            _ => Projection::Keys,
        })
    }

    fn stream(&mut self) -> Parsed<StreamView> {
        Ok(match self.keyword("`new_and_old`, `new`, `old` or `keys`", &["new_and_old", "new", "old", "keys"])? {
            "new_and_old" => StreamView::NewAndOld,
            "new" => StreamView::New,
            "old" => StreamView::Old,
            _ => StreamView::Keys,
        })
    }

    fn encryption(&mut self) -> Parsed<Encryption> {
        Ok(match self.keyword("`owned`, `managed` or `kms`", &["owned", "managed", "kms"])? {
            "owned" => Encryption::Owned,
            "managed" => Encryption::Managed,
            _ => Encryption::Kms(self.quoted("the key in quotes, as in `kms \"alias/orders\"`")?),
        })
    }

    fn billing(&mut self) -> Parsed<Billing> {
        if self.keyword("`on_demand` or `provisioned`", &["on_demand", "provisioned"])? == "on_demand" {
            return Ok(Billing::OnDemand);
        }
        let reads = self.count("the read units a second, as in `provisioned 10 reads, 5 writes`")?;
        self.expect_word("reads", "after the read units a second")?;
        self.expect_mark(",", "and the write units a second")?;
        let writes = self.count("the write units a second")?;
        self.expect_word("writes", "after the write units a second")?;
        Ok(Billing::Provisioned { reads, writes })
    }

    fn class(&mut self) -> Parsed<TableClass> {
        Ok(match self.keyword("`standard` or `infrequent`", &["standard", "infrequent"])? {
            "standard" => TableClass::Standard,
            _ => TableClass::Infrequent,
        })
    }

    /// Reports entries that a table may have only once.
    fn check_table(&mut self, body: &Block<TableEntry>) {
        let named = body.lines.iter().filter_map(|line| Some((entry_word(&line.value)?, line.span)));
        self.check_twice(named.collect());
    }

    /// Reports each repeated word of the list.
    pub(super) fn check_twice(&mut self, said: Vec<(String, Span)>) {
        let mut firsts: BTreeMap<String, Span> = BTreeMap::new();
        for (word, span) in said {
            match firsts.get(&word) {
                Some(first) => self.duplicate(&word, *first, span),
                None => {
                    firsts.insert(word, span);
                }
            }
        }
    }
}

/// Returns the keyword of an entry that may occur only once.
fn entry_word(entry: &TableEntry) -> Option<String> {
    let word = match entry {
        TableEntry::Key(_) => "key",
        TableEntry::Tag(_) => "tag",
        TableEntry::Ttl(_) => "ttl",
        TableEntry::Stream(_) => "stream",
        TableEntry::Encryption(_) => "encryption",
        TableEntry::Billing(_) => "billing",
        TableEntry::Class(_) => "class",
        TableEntry::Recovery => "recovery",
        TableEntry::Protected => "protected",
        TableEntry::Index(_) | TableEntry::Allow(_) => return None,
    };
    Some(format!("`{word}`"))
}
