//! Generates the schema document of a model, which a team would otherwise write by hand.
//!
//! 1. `section` builds the parts of the document as [`block`]s, independent of the format.
//! 2. [`markdown`] and [`html`] format the blocks; the HTML page is self-contained.
//!
//! [`sample`] generates the sample items, [`drawing`] the diagram of the entities.

pub mod block;
pub mod drawing;
pub mod html;
pub mod markdown;
pub mod sample;
mod section;

use crate::Checked;
use crate::cost::{Prices, report};

use block::Page;

/// Generates the document of a model.
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
