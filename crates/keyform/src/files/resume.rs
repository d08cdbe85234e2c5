//! How far an import is, kept in a file so that it can go on after it was stopped.
//!
//! Items are written in the order of the file, so how many were written says it all. It is noted after they are in the table: what a kill
//! loses is written twice, which changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use keyform_core::table::TableDescription;
use keyform_engine::owner_only;
use serde_json::{Value, json};

use crate::copy::CopyError;

use super::manifest::unreadable;

/// So often it is noted how far it is, in milliseconds.
const NOTE_MILLIS: i64 = 1000;

/// The file that says how far an import is.
pub(super) struct Resume {
    file: PathBuf,
    /// What is imported, and where to: of another the file says nothing.
    id: String,
    noted_millis: i64,
}

impl Resume {
    /// Opens the file, or makes it; tells how many items were written if it was there.
    pub(super) fn open(file: &Path, from: &Path, table: &TableDescription) -> Result<(Self, Option<u64>), CopyError> {
        let id = format!("{} {} {} {}", identity(from)?, table.arn, table.id, table.created_ms);
        let resume = Self { file: file.to_owned(), id, noted_millis: 0 };
        let written = match fs::read_to_string(file) {
            Ok(text) => Some(resume.read(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(file, &error)),
        };
        if written.is_none() {
            resume.note(0)?;
        }
        Ok((resume, written))
    }

    fn read(&self, text: &str) -> Result<u64, CopyError> {
        let value: Value = serde_json::from_str(text).unwrap_or_default();
        let written = value["written"].as_u64().filter(|_| value["keyformImport"] == 1);
        let written = written.filter(|_| value["of"] == self.id.as_str());
        written.ok_or_else(|| {
            CopyError::Checkpoint(format!(
                "{} is of another import, or its file or table has changed since: remove it, or name another with --checkpoint",
                self.file.display()
            ))
        })
    }

    /// Notes how many items are written, if it is time to.
    pub(super) fn written(&mut self, items: u64, now_millis: i64) -> Result<(), CopyError> {
        if now_millis - self.noted_millis < NOTE_MILLIS {
            return Ok(());
        }
        self.noted_millis = now_millis;
        self.note(items)
    }

    /// Notes how many items are written. The file is written anew beside itself, so it is always whole.
    pub(super) fn note(&self, items: u64) -> Result<(), CopyError> {
        let beside = self.file.with_extension("new");
        let text = json!({ "keyformImport": 1, "of": self.id, "written": items }).to_string();
        let saved = owner_only::write(&beside, text.as_bytes()).and_then(|()| fs::rename(&beside, &self.file));
        saved.map_err(|error| CopyError::File(format!("cannot write {}: {error}", self.file.display())))
    }

    /// Removes the file: there is nothing to go on with.
    pub(super) fn remove(&self) -> Result<(), CopyError> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(CopyError::File(format!("cannot remove {}: {error}", self.file.display())))
            }
            _ => Ok(()),
        }
    }
}

/// What tells a file from another one, and from itself after a change.
fn identity(from: &Path) -> Result<String, CopyError> {
    let path = from.canonicalize().map_err(|error| unreadable(from, &error))?;
    let metadata = path.metadata().map_err(|error| unreadable(from, &error))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{} {} {:?}", path.display(), metadata.len(), changed.map(|time| time.as_millis())))
}
