//! The entities and their references, drawn.

use crate::doc::block::{Block, Page};
use crate::doc::drawing;
use crate::schema::Model;

/// Writes the picture.
pub(crate) fn write(model: &Model, page: &mut Page) {
    if model.entities.is_empty() {
        return;
    }
    page.heading(2, "Diagram");
    page.blocks.push(Block::Picture { mermaid: drawing::mermaid(model), svg: drawing::svg(model) });
}
