//! Shapes: the templates of a key with a [`Language`] for each piece.

use crate::schema::{Entity, EntityKey, Field, FieldId, Format, KeyPart, Parameter, Part, Template, Type};
use crate::span::Span;

use super::automaton::Automaton;
use super::class::Class;
use super::language::Language;
use super::render::{Values, written};

/// A template with the language of each piece.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// Pieces in template order.
    pub pieces: Vec<Piece<'a>>,
}

/// A piece of a shape.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// Field it renders; `None` for literal text.
    pub field: Option<FieldPiece<'a>>,
    /// Strings it can have.
    pub language: Language,
}

/// A field in a shape.
#[derive(Clone, Copy, Debug)]
pub struct FieldPiece<'a> {
    /// Field of the entity, or parameter of the read.
    pub id: FieldId,
    /// Name of the field or parameter.
    pub name: &'a str,
    /// Type of the value.
    pub kind: &'a Type,
    /// Format of the value.
    pub format: Format,
    /// Source range, braces included.
    pub span: Span,
}

impl<'a> Shape<'a> {
    /// Builds the shape of an entity's template; `None` if a part did not resolve or cannot be part of a key.
    #[must_use]
    pub fn of(template: &Template, fields: &'a [Field]) -> Option<Self> {
        Self::build(template, |id, format| {
            let field = fields.get(id.0)?;
            Some((field.name.as_str(), &field.kind, Language::of_field(field, format)?))
        })
    }

    /// Builds the shape of a literal text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { pieces: vec![Piece { field: None, language: Language::text(text) }] }
    }

    /// Builds the shape of a template over the parameters of a read.
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

    /// Extends the shape to all strings that begin with one of its strings.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.pieces.push(Piece { field: None, language: Language::anything() });
        self
    }

    /// Restricts free text to strings without these characters.
    #[must_use]
    pub fn without(&self, delimiters: Class) -> Self {
        let mut shape = self.clone();
        for piece in shape.pieces.iter_mut().filter(|piece| piece.language.free) {
            piece.language = piece.language.clone().limited_to(Class::ANY.without(delimiters));
        }
        shape
    }

    /// Replaces each field that has a value by its text; `None` if a value cannot be written in its format.
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

    /// Renders the shape with these values; `None` if one is missing.
    #[must_use]
    pub fn render(&self, values: &Values) -> Option<String> {
        let piece = |piece: &Piece<'a>| match piece.field {
            Some(field) => written(field.kind, field.format, values.get(&field.id)?),
            None => piece.text(),
        };
        self.pieces.iter().map(piece).collect()
    }

    /// Iterates over the fields, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldPiece<'a>> + '_ {
        self.pieces.iter().filter_map(|piece| piece.field)
    }

    /// Returns the delimiters: ASCII characters next to a field, except letters and digits.
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

    /// Returns the literal text before the first field.
    #[must_use]
    pub fn prefix(&self) -> String {
        self.pieces.iter().map_while(Piece::text).collect()
    }

    /// Returns true if the shape contains the string.
    #[must_use]
    pub fn holds(&self, text: &str) -> bool {
        super::overlap::share(self, &Shape { pieces: vec![Piece { field: None, language: Language::text(text) }] })
    }

    /// Builds its automaton without counting.
    pub(super) fn rough(&self) -> Automaton {
        Automaton::rough(self.pieces.iter().map(|piece| &piece.language))
    }

    pub(super) fn automaton(&self) -> Automaton {
        Automaton::new(self.pieces.iter().map(|piece| &piece.language))
    }
}

impl Piece<'_> {
    /// Returns its text, if it is a literal.
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

/// Shapes of all attributes of a key.
#[derive(Clone, Debug)]
pub struct KeyShape<'a> {
    /// Number of attributes that belong to the partition key.
    pub partition: usize,
    /// Shapes of the partition key, then of the sort key.
    pub attributes: Vec<Shape<'a>>,
}

impl<'a> KeyShape<'a> {
    /// Builds the shapes of an entity's key; `None` if a part did not resolve or cannot be part of a key.
    #[must_use]
    pub fn of(entity: &'a Entity, key: &EntityKey) -> Option<Self> {
        let shape = |part: &KeyPart| Shape::of(&part.template, &entity.fields);
        let attributes = key.partition.iter().chain(&key.sort).map(shape).collect::<Option<_>>()?;
        Some(Self { partition: key.partition.len(), attributes })
    }

    /// Returns the shapes of the partition key alone.
    #[must_use]
    pub fn partition_only(&self) -> Self {
        Self { partition: self.partition, attributes: self.attributes[..self.partition].to_vec() }
    }

    /// Restricts free text to strings without these characters.
    #[must_use]
    pub fn without(&self, delimiters: Class) -> Self {
        let attributes = self.attributes.iter().map(|shape| shape.without(delimiters)).collect();
        Self { partition: self.partition, attributes }
    }

    /// Returns the delimiters of all its shapes.
    #[must_use]
    pub fn delimiters(&self) -> Class {
        self.attributes.iter().fold(Class::NONE, |class, shape| class.or(shape.delimiters()))
    }

    /// Renders all attributes with these values.
    #[must_use]
    pub fn render(&self, values: &Values) -> Option<Vec<String>> {
        self.attributes.iter().map(|shape| shape.render(values)).collect()
    }

    /// Iterates over the fields, repeated where they repeat.
    pub fn fields(&self) -> impl Iterator<Item = FieldPiece<'a>> + '_ {
        self.attributes.iter().flat_map(Shape::fields)
    }
}
