//! Draws the entities and their references: Mermaid for Markdown, SVG for the self-contained HTML page.
//!
//! The SVG is laid out in columns. An entity is drawn to the right of the entities it refers to, so that edges run from
//! right to left.

use keyform_language::schema::{Entity, EntityId, Model, Type};

use super::html::escape;

const BOX_WIDTH: usize = 210;
const COLUMN_WIDTH: usize = 290;
const LINE_HEIGHT: usize = 17;
const HEAD_HEIGHT: usize = 28;
const GAP: usize = 26;

/// A reference from one entity to another.
struct Edge<'a> {
    from: EntityId,
    field: &'a str,
    to: EntityId,
    optional: bool,
}

fn edges(model: &Model) -> Vec<Edge<'_>> {
    let mut edges = Vec::new();
    for from in model.entity_ids() {
        for field in &model.entity(from).fields {
            if let Type::Ref { entity: Some(to), .. } = field.kind {
                edges.push(Edge { from, field: &field.name, to, optional: field.optional });
            }
        }
    }
    edges
}

/// Returns the diagram in Mermaid syntax.
#[must_use]
pub fn mermaid(model: &Model) -> String {
    let mut lines = vec!["erDiagram".to_owned()];
    for edge in edges(model) {
        let one = if edge.optional { "|o" } else { "||" };
        lines.push(format!(
            "  {} {one}--o{{ {} : {}",
            model.entity(edge.to).name,
            model.entity(edge.from).name,
            edge.field
        ));
    }
    for entity in &model.entities {
        lines.push(format!("  {} {{", entity.name));
        lines
            .extend(rows(entity).map(|(name, kind, key)| format!("    {kind} {name}{}", if key { " PK" } else { "" })));
        lines.push("  }".to_owned());
    }
    lines.join("\n") + "\n"
}

/// Returns the name of each field, its type in one word, and true if it is part of the key.
fn rows(entity: &Entity) -> impl Iterator<Item = (&str, &'static str, bool)> {
    let keys = entity.key_fields();
    entity.fields.iter().enumerate().map(move |(number, field)| {
        let key = keys.iter().any(|key| key.0 == number);
        (field.name.as_str(), word(&field.kind), key)
    })
}

fn word(kind: &Type) -> &'static str {
    match kind.resolved() {
        Type::Scalar(scalar, _) => scalar.keyword(),
        Type::OneOf(_) => "enum",
        Type::List(..) => "list",
        Type::Map(..) => "map",
        Type::Set(..) => "set",
        Type::Json | Type::Unknown | Type::Ref { .. } | Type::Copy { .. } => "json",
        Type::Record(_) => "record",
    }
}

/// Position of an entity in the drawing.
#[derive(Clone, Copy)]
struct EntityBox {
    x: usize,
    y: usize,
    height: usize,
}

/// Returns the diagram as SVG.
#[must_use]
pub fn svg(model: &Model) -> String {
    let edges = edges(model);
    let places = places(model, &edges);
    let width = places.iter().map(|place| place.x + BOX_WIDTH).max().unwrap_or(0) + 1;
    let height = places.iter().map(|place| place.y + place.height).max().unwrap_or(0) + 1;
    let lines: String = edges.iter().filter(|edge| edge.from != edge.to).map(|edge| line(&places, edge)).collect();
    let boxes: String = model.entities.iter().zip(&places).map(|(entity, place)| drawn(entity, *place)).collect();
    format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"Entities and their references\">\n{lines}{boxes}</svg>\n"
    )
}

/// Returns the column of each entity: its distance from the entities without references, at most 4.
fn columns(model: &Model, edges: &[Edge<'_>]) -> Vec<usize> {
    let mut columns = vec![0; model.entities.len()];
    for _ in 0..4 {
        for edge in edges.iter().filter(|edge| edge.from != edge.to) {
            let wanted = (columns[edge.to.0] + 1).min(4);
            columns[edge.from.0] = columns[edge.from.0].max(wanted);
        }
    }
    columns
}

fn places(model: &Model, edges: &[Edge<'_>]) -> Vec<EntityBox> {
    let mut bottoms = [0; 5];
    let place = |(entity, column): (&Entity, usize)| {
        let height = HEAD_HEIGHT + LINE_HEIGHT * shown(entity).len() + 8;
        let place = EntityBox { x: column * COLUMN_WIDTH, y: bottoms[column], height };
        bottoms[column] += height + GAP;
        place
    };
    model.entities.iter().zip(columns(model, edges)).map(place).collect()
}

/// Returns the fields to draw: key fields and references.
fn shown(entity: &Entity) -> Vec<String> {
    let keys = entity.key_fields();
    let keyed =
        entity.fields.iter().enumerate().filter(|(number, field)| {
            keys.iter().any(|key| key.0 == *number) || matches!(field.kind, Type::Ref { .. })
        });
    keyed.map(|(_, field)| format!("{}: {}", field.name, word(&field.kind))).collect()
}

fn drawn(entity: &Entity, place: EntityBox) -> String {
    let EntityBox { x, y, height } = place;
    let mut out = format!(
        "<rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{height}\" rx=\"6\"/>\n\
         <text class=\"name\" x=\"{}\" y=\"{}\">{}</text>\n",
        x + 12,
        y + 20,
        escape(&entity.name)
    );
    for (number, text) in shown(entity).iter().enumerate() {
        let baseline = y + HEAD_HEIGHT + 14 + number * LINE_HEIGHT;
        out.push_str(&format!("<text class=\"field\" x=\"{}\" y=\"{baseline}\">{}</text>\n", x + 12, escape(text)));
    }
    out
}

/// Draws an edge from the left side of the referring entity to the right side of the target.
fn line(places: &[EntityBox], edge: &Edge<'_>) -> String {
    let (from, to) = (places[edge.from.0], places[edge.to.0]);
    let (x1, y1) = (from.x, from.y + HEAD_HEIGHT / 2);
    let (x2, y2) = (to.x + BOX_WIDTH, to.y + HEAD_HEIGHT / 2);
    let bend = 40;
    format!(
        "<path class=\"edge\" d=\"M {x1} {y1} C {} {y1}, {} {y2}, {x2} {y2}\"><title>{}</title></path>\n<circle class=\"tip\" cx=\"{x2}\" cy=\"{y2}\" r=\"3\"/>\n",
        x1 as i64 - bend,
        x2 as i64 + bend,
        escape(edge.field)
    )
}
