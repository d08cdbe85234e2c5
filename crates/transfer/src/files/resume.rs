//! Progress of an import, stored in a file so that an interrupted import can resume.
//!
//! Items are written in file order, so their number is sufficient. It is recorded after the items are in the table. A
//! kill between the two makes the import write some items twice, which is harmless.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use keyform_core::table::TableDescription;
use keyform_engine::owner_only;
use serde_json::{Value, json};

use crate::copy::CopyError;

use super::manifest::unreadable;

/// Interval between two updates of the file, in milliseconds.
const NOTE_MILLIS: i64 = 1000;

/// Progress file of an import.
pub(super) struct Resume {
    file: PathBuf,
    /// Identity of the source file and the target table; a progress file of another import is rejected.
    id: String,
    noted_millis: i64,
}

impl Resume {
    /// Opens or creates the file; returns the number of items that an earlier run wrote.
    pub(super) fn open(file: &Path, from: &Path, table: &TableDescription) -> Result<(Self, Option<u64>), CopyError> {
        let id = format!("{} {} {} {}", identity(from)?, table.arn, table.id, table.created_ms);
        let resume = Self { file: file.to_owned(), id, noted_millis: 0 };
        let written = match fs::read_to_string(file) {
            Ok(text) => Some(resume.read(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(file, error)),
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
                "{} belongs to another import, or its file or table has changed: remove it, or choose another file",
                self.file.display()
            ))
        })
    }

    /// Records the number of written items, at most once per interval.
    pub(super) fn written(&mut self, items: u64, now_millis: i64) -> Result<(), CopyError> {
        if now_millis - self.noted_millis < NOTE_MILLIS {
            return Ok(());
        }
        self.noted_millis = now_millis;
        self.note(items)
    }

    /// Records the number of written items. The file is synced and then replaced by a rename, so neither a kill nor a
    /// power failure leaves a partial file. The rename itself is not synced: an older number only repeats some writes.
    pub(super) fn note(&self, items: u64) -> Result<(), CopyError> {
        let beside = self.file.with_extension("new");
        let text = json!({ "keyformImport": 1, "of": self.id, "written": items }).to_string();
        let saved = write_synced(&beside, &text).and_then(|()| fs::rename(&beside, &self.file));
        saved.map_err(CopyError::file("write", &self.file))
    }

    pub(super) fn remove(&self) -> Result<(), CopyError> {
        match fs::remove_file(&self.file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(CopyError::file("remove", &self.file)(error))
            }
            _ => Ok(()),
        }
    }
}

fn write_synced(file: &Path, text: &str) -> io::Result<()> {
    let mut file = owner_only::options().write(true).create(true).truncate(true).open(file)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Returns the path, size and modification time, which identify a version of a file.
fn identity(from: &Path) -> Result<String, CopyError> {
    let path = from.canonicalize().map_err(|error| unreadable(from, error))?;
    let metadata = path.metadata().map_err(|error| unreadable(from, error))?;
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(format!("{} {} {:?}", path.display(), metadata.len(), changed.map(|time| time.as_millis())))
}
