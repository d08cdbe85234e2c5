//! Parses `on` and `evolve` declarations.

use crate::document::ast::{Event, Evolve, EvolveEntry, Image, Name, On, Target};

use super::{Parsed, Parser};

impl Parser<'_> {
    /// Parses the rest of an `on` declaration.
    pub(super) fn on(&mut self) -> Parsed<On> {
        let entity = self.name_here("the entity whose changes are consumed")?;
        let events = self.chain(|_| true, Self::event)?;
        self.expect_mark("->", "and the consumer, as in `-> live messages(channelId)` or `-> handler name`")?;
        let target = self.target()?;
        let needs = if self.eat_word("needs") { self.chain(|_| true, Self::image)? } else { Vec::new() };
        Ok(On { entity, events, target, needs })
    }

    fn event(&mut self) -> Parsed<Event> {
        Ok(match self.keyword("a kind of change", &["insert", "modify", "remove", "expire"])? {
            "insert" => Event::Insert,
            "modify" => Event::Modify,
            "remove" => Event::Remove,
            _ => Event::Expire,
        })
    }

    fn target(&mut self) -> Parsed<Target> {
        if self.keyword("`live` or `handler`", &["live", "handler"])? == "handler" {
            return Ok(Target::Handler(self.name("the name of the handler")?));
        }
        let read = self.name("the read that is live")?;
        self.expect_mark("(", "and the fields it is called with, as in `live messages(channelId)`")?;
        let fields: Vec<Name> = self.list(")", "after a field", |parser| parser.name("a field of the entity"))?;
        Ok(Target::Live(read, fields))
    }

    fn image(&mut self) -> Parsed<Image> {
        Ok(match self.keyword("`old` or `new`", &["old", "new"])? {
            "old" => Image::Old,
            _ => Image::New,
        })
    }

    /// Parses the rest of an `evolve` declaration.
    pub(super) fn evolve(&mut self) -> Parsed<Evolve> {
        let entity = self.name_here("the entity that evolves")?;
        let body = self.block(&format!("the evolution of `{}`", entity.text), Self::evolve_entry)?;
        Ok(Evolve { entity, body })
    }

    fn evolve_entry(&mut self) -> Parsed<EvolveEntry> {
        match self.keyword("a line of an evolution", &["from", "rename", "set", "allow"])? {
            "from" => self.evolve_from(),
            "rename" => {
                let old = self.name_here("the old attribute, as in `rename title -> name`")?;
                self.expect_mark("->", "and the new field")?;
                Ok(EvolveEntry::Rename(old, self.name("the new field")?))
            }
            "set" => {
                let field = self.name("the field, as in `set status = \"open\"`")?;
                self.expect_mark("=", "and the value for items that lack it")?;
                Ok(EvolveEntry::Set(field, self.expression()?))
            }
            _ => self.allow().map(EvolveEntry::Allow),
        }
    }

    fn evolve_from(&mut self) -> Parsed<EvolveEntry> {
        if self.at_word("table") && self.peek_at(1).is_name() {
            self.bump();
            return self.name("the table of the old items").map(EvolveEntry::Table);
        }
        if self.eat_word("key") {
            return self.key_sources(None).map(EvolveEntry::Key);
        }
        let index = self.name("`table`, `key` or an index")?;
        self.key_sources(Some(index)).map(EvolveEntry::Key)
    }
}
