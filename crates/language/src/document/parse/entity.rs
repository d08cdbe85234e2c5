//! Parses shapes and entities: keys, fields, volumes.

use crate::document::ast::{Block, Entity, EntityEntry, EntityKey, Field, KeySource, Shape, Type, TypeRef, Volume};
use crate::document::token::Kind;
use crate::span::Span;

use super::declaration::missing_name;
use super::field::TYPES;
use super::number::Figure;
use super::{Parsed, Parser};

/// Keywords that begin a line of an entity, besides the names of fields and indexes.
pub const ENTRIES: [&str; 4] = ["tag", "key", "volume", "allow"];

impl Parser<'_> {
    /// Parses the rest of a `shape` declaration.
    pub(super) fn shape(&mut self) -> Parsed<Shape> {
        let name = self.name_here("the name of the shape")?;
        let body = self.block(&format!("the shape `{}`", name.text), Self::shape_field)?;
        Ok(Shape { name, body })
    }

    fn shape_field(&mut self) -> Parsed<Field> {
        self.field("a field, as in `name: string`")
    }

    /// Parses the rest of an `entity` declaration.
    pub(super) fn entity(&mut self) -> Parsed<Entity> {
        let name = self.name_here("the name of the entity")?;
        let table = if self.eat_word("in") {
            self.name_here("the table the entity is in").unwrap_or_else(|_| missing_name(self.end()))
        } else {
            self.expected_with("`in` and the table", &format!("write `entity {} in TABLE {{ … }}`", name.text));
            missing_name(self.end())
        };
        let shapes = if self.eat_word("with") {
            self.chain(Self::same_line_follows, |parser| parser.name("the name of a shape")).unwrap_or_default()
        } else {
            Vec::new()
        };
        let body = self.block(&format!("the entity `{}`", name.text), Self::entity_entry)?;
        self.check_entity(&body);
        Ok(Entity { name, table, shapes, body })
    }

    fn entity_entry(&mut self) -> Parsed<EntityEntry> {
        let next = self.peek_at(1);
        if !self.peek().is_name() || next.is_mark(":") {
            return self.field("a field, a key or `volume`").map(EntityEntry::Field);
        }
        let special = self.peek().kind == Kind::Word && ENTRIES.contains(&self.peek().text.as_str());
        match (special, next.kind) {
            (true, _) if !self.lacks_colon() => self.entity_keyword(),
            (_, Kind::Text | Kind::Mark("(")) => self.index_key().map(EntityEntry::Key),
            (_, Kind::Number) => {
                self.keyword("`volume`, a field or a key", &["volume"])?;
                self.volume().map(EntityEntry::Volume)
            }
            _ => self.field("a field, a key or `volume`").map(EntityEntry::Field),
        }
    }

    /// Returns true if a name and a type come next without a colon between them.
    pub(super) fn lacks_colon(&self) -> bool {
        let next = self.peek_at(1);
        next.kind == Kind::Word && !next.first && TYPES.contains(&next.text.as_str())
    }

    fn entity_keyword(&mut self) -> Parsed<EntityEntry> {
        Ok(match self.keyword("a line of an entity", &ENTRIES)? {
            "tag" => EntityEntry::Tag(self.quoted("the tag's value in quotes")?),
            "key" => EntityEntry::Key(self.key_sources(None)?),
            "volume" => EntityEntry::Volume(self.volume()?),
            _ => EntityEntry::Allow(self.allow()?),
        })
    }

    fn index_key(&mut self) -> Parsed<EntityKey> {
        let index = self.take_name();
        self.key_sources(Some(index))
    }

    /// Parses `"partition", "sort"` or `(a, b), (c)`.
    pub(super) fn key_sources(&mut self, index: Option<crate::document::ast::Name>) -> Parsed<EntityKey> {
        let partition = self.key_source()?;
        let sort = if self.at_mark(",") && self.key_source_follows() {
            self.bump();
            Some(self.key_source()?)
        } else {
            None
        };
        Ok(EntityKey { index, partition, sort })
    }

    fn key_source_follows(&self) -> bool {
        let next = self.peek_at(1);
        next.kind == Kind::Text || next.is_mark("(") || !next.first
    }

    fn key_source(&mut self) -> Parsed<KeySource> {
        if self.eat_mark("(") {
            let fields = self.list(")", "after a field of the key", |parser| parser.name("a field of the key"))?;
            return Ok(KeySource::Fields(fields));
        }
        self.quoted("a key template in quotes, as in `\"USER#{userId}\"`").map(KeySource::Template)
    }

    /// Parses the values after `volume`.
    fn volume(&mut self) -> Parsed<Volume> {
        let mut volume = Volume::default();
        let mut said: Vec<(String, Span)> = Vec::new();
        loop {
            let start = self.peek().span.start;
            let what = self.figure(&mut volume)?;
            said.push((what.to_owned(), self.since(start)));
            if !(self.at_mark(",") && self.same_line_or_figure()) {
                break;
            }
            self.bump();
        }
        self.check_twice(said);
        Ok(volume)
    }

    /// Returns true if another volume value follows the comma.
    fn same_line_or_figure(&self) -> bool {
        let next = self.peek_at(1);
        !next.first
            || next.kind == Kind::Number
            || (["max", "top", "lives"].iter().any(|word| next.is_word(word)) && !self.peek_at(2).is_mark(":"))
    }

    /// Parses one volume value and returns its description, by which duplicates are found.
    fn figure(&mut self, volume: &mut Volume) -> Parsed<&'static str> {
        if self.eat_word("top") {
            volume.top_percent = Some(self.percent()?);
            return Ok("the share of the busiest partition");
        }
        if self.eat_word("lives") {
            volume.lives_secs = Some(self.duration("how long an item lives, as in `lives 30d`")?);
            return Ok("how long an item lives");
        }
        let max = self.eat_word("max");
        Ok(match (self.volume_figure(max)?, max) {
            (Figure::Items(count), _) => {
                volume.items = Some(count);
                "the number of items"
            }
            (Figure::Bytes(bytes), false) => {
                volume.bytes = Some(bytes);
                "the size of an item"
            }
            (Figure::Bytes(bytes), true) => {
                volume.bytes_max = Some(bytes);
                "the maximal size of an item"
            }
            (Figure::PerPartition(count), false) => {
                volume.per_partition = Some(count);
                "the number of items in a partition"
            }
            (Figure::PerPartition(count), true) => {
                volume.per_partition_max = Some(count);
                "the maximal number of items in a partition"
            }
        })
    }

    /// Reports entries that an entity may have only once.
    fn check_entity(&mut self, body: &Block<EntityEntry>) {
        let named = body.lines.iter().filter_map(|line| Some((entry_word(&line.value)?, line.span)));
        self.check_twice(named.collect());
    }
}

/// Returns the keyword of an entry that may occur only once.
fn entry_word(entry: &EntityEntry) -> Option<String> {
    match entry {
        EntityEntry::Tag(_) => Some("`tag`".to_owned()),
        EntityEntry::Key(key) => {
            Some(key.index.as_ref().map_or("`key`".to_owned(), |index| format!("the key of `{}`", index.text)))
        }
        EntityEntry::Volume(_) => Some("`volume`".to_owned()),
        EntityEntry::Field(_) | EntityEntry::Allow(_) => None,
    }
}

/// Returns an unknown type as placeholder for a missing one, which was already reported.
pub(super) fn missing_type(at: usize) -> TypeRef {
    TypeRef { kind: Type::Unknown.into(), optional: false, null: false, span: Span::new(at, at) }
}
