//! Section with the diagram of the entities and their references.

use crate::doc::block::{Block, Page};
use crate::doc::drawing;
use keyform_language::schema::Model;

pub(crate) fn write(model: &Model, page: &mut Page) {
    if model.entities.is_empty() {
        return;
    }
    page.heading(2, "Diagram");
    page.blocks.push(Block::Picture { mermaid: drawing::mermaid(model), svg: drawing::svg(model) });
}
