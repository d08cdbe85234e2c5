//! Mutants of key templates.

use keyform_language::document::ast::{DeclarationKind, Entity, EntityEntry, EntityKey, KeySource, Text};
use keyform_language::document::template::{TemplatePiece, parse_template};

/// Pieces of a key: those of the partition key, then those of the sort key, with the number of the source.
type Pieces = Vec<(usize, Piece)>;

#[derive(Clone, Debug)]
enum Piece {
    /// Text as written, escapes included.
    Text(String),
    /// Field as written, braces included.
    Field(String, String),
}

pub(crate) fn drop_part(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    each(kind, &|pieces| {
        let fields = fields_of(pieces);
        fields
            .into_iter()
            .map(|place| {
                let mut pieces = pieces.clone();
                pieces.remove(place);
                pieces
            })
            .collect()
    })
}

pub(crate) fn swap_parts(kind: &DeclarationKind) -> Vec<DeclarationKind> {
    each(kind, &|pieces| {
        let fields = fields_of(pieces);
        let pairs = fields.iter().flat_map(|one| fields.iter().map(move |other| (*one, *other)));
        pairs
            .filter(|(one, other)| one < other)
            .map(|(one, other)| {
                let mut pieces = pieces.clone();
                let (first, second) = (pieces[one].1.clone(), pieces[other].1.clone());
                pieces[one].1 = second;
                pieces[other].1 = first;
                pieces
            })
            .collect()
    })
}

fn fields_of(pieces: &Pieces) -> Vec<usize> {
    let fields = pieces.iter().enumerate().filter(|(_, (_, piece))| matches!(piece, Piece::Field(..)));
    fields.map(|(place, _)| place).collect()
}

/// Returns the entity once for each changed key.
fn each(kind: &DeclarationKind, change: &dyn Fn(&Pieces) -> Vec<Pieces>) -> Vec<DeclarationKind> {
    let DeclarationKind::Entity(entity) = kind else { return Vec::new() };
    let mut all = Vec::new();
    for (number, line) in entity.body.lines.iter().enumerate() {
        let EntityEntry::Key(key) = &line.value else { continue };
        for pieces in change(&pieces(key)) {
            let mut entity = entity.clone();
            entity.body.lines[number].value = EntityEntry::Key(with(key, &pieces));
            all.push(DeclarationKind::Entity(entity));
        }
    }
    all
}

fn pieces(key: &EntityKey) -> Pieces {
    let sources = std::iter::once(&key.partition).chain(&key.sort).enumerate();
    sources.flat_map(|(number, source)| of_source(source).into_iter().map(move |piece| (number, piece))).collect()
}

fn of_source(source: &KeySource) -> Vec<Piece> {
    let KeySource::Template(text) = source else { return Vec::new() };
    let (pieces, _) = parse_template(text);
    let piece = |piece: TemplatePiece| match piece {
        TemplatePiece::Text { text, .. } => Piece::Text(text.replace('{', "{{").replace('}', "}}")),
        TemplatePiece::Field(field) => {
            let format = field.format.map(|format| match format.argument {
                Some(argument) => format!(":{}({argument})", format.name.text),
                None => format!(":{}", format.name.text),
            });
            let written = format!("{{{}{}}}", field.field.text, format.unwrap_or_default());
            Piece::Field(field.field.text, written)
        }
    };
    pieces.into_iter().map(piece).collect()
}

fn with(key: &EntityKey, pieces: &Pieces) -> EntityKey {
    let source = |number: usize, before: &KeySource| match before {
        KeySource::Template(_) => {
            let own = pieces.iter().filter(|(of, _)| *of == number);
            let text: String = own.map(|(_, Piece::Text(text) | Piece::Field(_, text))| text.as_str()).collect();
            KeySource::Template(Text::from(text))
        }
        KeySource::Fields(names) => KeySource::Fields(names.clone()),
    };
    EntityKey {
        index: key.index.clone(),
        partition: source(0, &key.partition),
        sort: key.sort.as_ref().map(|sort| source(1, sort)),
    }
}

/// Returns the fields of an entity's own key, in order, each once.
pub(crate) fn fields(entity: &Entity) -> Vec<String> {
    let key = entity.body.lines.iter().find_map(|line| match &line.value {
        EntityEntry::Key(key) if key.index.is_none() => Some(key),
        _ => None,
    });
    let mut names = Vec::new();
    for (_, piece) in key.map(pieces).unwrap_or_default() {
        if let Piece::Field(name, _) = piece
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    names
}
