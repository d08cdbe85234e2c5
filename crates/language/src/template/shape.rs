//! The texts a key of an entity can have: for each attribute of the key its template, each piece of it a [`Language`].

use crate::schema::{Entity, EntityKey, Field, FieldId, Format, KeyPart, Parameter, Part, Template, Type};
use crate::span::Span;

use super::automaton::Automaton;
use super::class::Class;
use super::language::Language;
use super::render::{Values, written};

/// A template with the language of each of its pieces.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// The pieces.
    pub pieces: Vec<Piece<'a>>,
}

/// A piece of a shape.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// The field it writes; `None` for text.
    pub field: Option<FieldPiece<'a>>,
    /// The texts it can be.
    pub language: Language,
}

/// A field in a shape.
#[derive(Clone, Copy, Debug)]
pub struct FieldPiece<'a> {
    /// The field.
    pub id: FieldId,
    /// Its name.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a Type,
    /// How it is written.
    pub format: Format,
    /// From brace to brace.
    pub span: Span,
}

impl<'a> Shape<'a> {
    /// The shape of an entity's template; `None` if a part of it has been reported or cannot be part of a key.
    #[must_use]
    pub fn of(template: &Template, fields: &'a [Field]) -> Option<Self> {
        Self::build(template, |id, format| {
            let field = fields.get(id.0)?;
            Some((field.name.as_str(), &field.kind, Language::of_field(field, format)?))
        })
    }

    /// The shape of a template over the parameters of a read.
    #[must_use]
    pub fn of_parameters(template: &Template, parameters: &'a [Parameter]) -> Option<Self> {
        Self::build(template, |id, format| {
            let parameter = parameters.get(id.0)?;
            Some((parameter.field_name.as_str(), &parameter.kind, Language::of(&parameter.kind, format)?))
        })
    }

    fn build(
        template: &Template,
        find: impl Fn(FieldId, Format) -> Option<(&'a str, &'a Type, Language)>,
    ) -> Option<Self> {
        let piece = |part: &Part| match part {
            Part::Text(text) => Some(Piece { field: None, language: Language::text(text) }),
            Part::Field { field: id, format, span } => {
                let (name, kind, language) = find(*id, *format)?;
                let field = FieldPiece { id: *id, name, kind, format: *format, span: *span };
                Some(Piece { field: Some(field), language })
            }
            Part::Unknown { .. } => None,
        };
        Some(Self { pieces: template.parts.iter().map(piece).collect::<Option<_>>()? })
    }

    /// All texts that begin with one of these.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.pieces.push(Piece { field: None, language: Language::anything() });
        self
    }

    /// Only texts in which free text holds none of these characters.
    #[must_use]
    pub fn without(&self, delimiters: Class) -> Self {
        let mut shape = self.clone();
        for piece in shape.pieces.iter_mut().filter(|piece| piece.language.free) {
            piece.language = piece.language.clone().limited_to(Class::ANY.without(delimiters));
        }
        shape
    }

    /// With a text in place of each piece whose field has a value; `None` if a value cannot be written in its format.
    #[must_use]
    pub fn bound(&self, values: &Values) -> Option<Self> {
        let bind = |piece: &Piece<'a>| match piece.field {
            Some(field) if values.contains_key(&field.id) => {
                let text = written(field.kind, field.format, values.get(&field.id)?)?;
                Some(Piece { field: None, language: Language::text(&text) })
            }
            _ => Some(piece.clone()),
        };
        Some(Self { pieces: self.pieces.iter().map(bind).collect::<Option<_>>()? })
    }

    /// The text with these values; `None` if one is missing.
    #[must_use]
    pub fn render(&self, values: &Values) -> Option<String> {
        let piece = |piece: &Piece<'a>| match piece.field {
            Some(field) => written(field.kind, field.format, values.get(&field.id)?),
            None => piece.text(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Its fields, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldPiece<'a>> + '_ {
        self.pieces.iter().filter_map(|piece| piece.field)
    }

    /// The characters next to a field in its texts, letters and digits excepted: what keeps the fields apart.
    #[must_use]
    pub fn delimiters(&self) -> Class {
        let mut class = Class::NONE;
        for pair in self.pieces.windows(2) {
            let beside = match (pair[0].text(), pair[1].text()) {
                (Some(text), None) => text.chars().next_back(),
                (None, Some(text)) => text.chars().next(),
                _ => None,
            };
            if let Some(character) =
                beside.filter(|character| character.is_ascii() && !character.is_ascii_alphanumeric())
            {
                class = class.with(character);
            }
        }
        class
    }

    /// The text before its first field.
    #[must_use]
    pub fn prefix(&self) -> String {
        self.pieces.iter().map_while(Piece::text).collect()
    }

    /// Whether a text is one of its own.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        super::overlap::share(self, &Shape { pieces: vec![Piece { field: None, language: Language::text(text) }] })
    }

    /// Its automaton without counting.
    pub(super) fn rough(&self) -> Automaton {
        Automaton::rough(self.pieces.iter().map(|piece| &piece.language))
    }

    pub(super) fn automaton(&self) -> Automaton {
        Automaton::new(self.pieces.iter().map(|piece| &piece.language))
    }
}

impl Piece<'_> {
    /// Its text, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        if self.field.is_some() {
            return None;
        }
        let [words] = self.language.words.as_slice() else { return None };
        let single = words.iter().map(|run| match run.symbol {
            super::class::Symbol::Char(character) if run.max == Some(1) => Some(character),
            _ => None,
        });
        single.collect()
    }
}

/// The shapes of all attributes of a key.
#[derive(Clone, Debug)]
pub struct KeyShape<'a> {
    /// How many of the attributes are the partition key's.
    pub partition: usize,
    /// The partition key's shapes, then the sort key's.
    pub attributes: Vec<Shape<'a>>,
}

impl<'a> KeyShape<'a> {
    /// The shapes of an entity's key; `None` if a part of it has been reported or cannot be part of a key.
    #[must_use]
    pub fn of(entity: &'a Entity, key: &EntityKey) -> Option<Self> {
        let shape = |part: &KeyPart| Shape::of(&part.template, &entity.fields);
        let attributes = key.partition.iter().chain(&key.sort).map(shape).collect::<Option<_>>()?;
        Some(Self { partition: key.partition.len(), attributes })
    }

    /// The shapes of the partition key alone.
    #[must_use]
    pub fn partition_only(&self) -> Self {
        Self { partition: self.partition, attributes: self.attributes[..self.partition].to_vec() }
    }

    /// Only texts in which free text holds none of these characters.
    #[must_use]
    pub fn without(&self, delimiters: Class) -> Self {
        let attributes = self.attributes.iter().map(|shape| shape.without(delimiters)).collect();
        Self { partition: self.partition, attributes }
    }

    /// The delimiters of all its shapes.
    #[must_use]
    pub fn delimiters(&self) -> Class {
        self.attributes.iter().fold(Class::NONE, |class, shape| class.or(shape.delimiters()))
    }

    /// The texts of all attributes with these values.
    #[must_use]
    pub fn render(&self, values: &Values) -> Option<Vec<String>> {
        self.attributes.iter().map(|shape| shape.render(values)).collect()
    }

    /// Its fields, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldPiece<'a>> + '_ {
        self.attributes.iter().flat_map(Shape::fields)
    }
}
