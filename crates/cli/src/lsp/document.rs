//! Documents that the editor has open.

use std::collections::BTreeMap;

use keyform_check::Checked;
use lsp_types::Uri;

/// Open documents by URI, checked.
#[derive(Default)]
pub(super) struct Documents {
    open: BTreeMap<String, Checked>,
}

impl Documents {
    /// Stores and checks a new or changed document.
    pub(super) fn open(&mut self, uri: &Uri, text: String) -> &Checked {
        let entry = self.open.entry(uri.as_str().to_owned());
        &*entry.insert_entry(Checked::read(&text)).into_mut()
    }

    pub(super) fn close(&mut self, uri: &Uri) {
        self.open.remove(uri.as_str());
    }

    pub(super) fn get(&self, uri: &Uri) -> Option<&Checked> {
        self.open.get(uri.as_str())
    }
}
