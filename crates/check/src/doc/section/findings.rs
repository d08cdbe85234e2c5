//! Section with the findings of the checker and the suppressed warnings.

use crate::Checked;
use crate::doc::block::Page;

use super::code;

pub(crate) fn write(checked: &Checked, page: &mut Page) {
    page.heading(2, "Findings");
    if checked.diagnostics.is_empty() {
        page.paragraph("The checker reports no findings.");
    }
    let rows = checked.diagnostics.iter().map(|finding| {
        vec![
            finding.code.to_string(),
            finding.severity.to_string(),
            finding.message.clone(),
            finding.help.clone().unwrap_or_default(),
        ]
    });
    page.table(&["code", "", "finding", "remedy"], rows.collect());
    let accepted = checked.model.allows.iter().map(|allow| vec![code(&allow.code), allow.reason.clone()]);
    page.table(&["accepted", "reason"], accepted.collect());
}
