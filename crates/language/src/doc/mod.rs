//! The schema document a team would otherwise write by hand, made of the model.
//!
//! 1. `section` writes the parts of the document as [`block`]s, once.
//! 2. [`markdown`] and [`html`] print the blocks; the page in HTML needs nothing beside itself.
//!
//! [`sample`] makes the items that stand in it, [`drawing`] the picture of the entities.

pub mod block;
pub mod drawing;
pub mod html;
pub mod markdown;
pub mod sample;
mod section;

use crate::Checked;
use crate::cost::{Prices, report};

use block::Page;

/// Writes the document of a model.
#[must_use]
pub fn document(checked: &Checked, prices: &Prices) -> Page {
    let model = &checked.model;
    let report = report(model, &checked.plans, prices);
    let mut page = Page::new(&model.name);
    section::overview::write(model, &mut page);
    section::tables::write(model, &mut page);
    section::entities::write(checked, &mut page);
    section::patterns::write(checked, &mut page);
    section::diagram::write(model, &mut page);
    section::cost::write(&report, &mut page);
    section::findings::write(checked, &mut page);
    page
}
