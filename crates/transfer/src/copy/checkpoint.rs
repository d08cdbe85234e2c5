//! Progress of a copy, stored in a file so that an interrupted copy can resume.
//!
//! The file is replaced atomically (write, sync, rename). It is written after the items it covers are in the target. A
//! kill between the two makes the copy write some items twice, which is harmless because the writes are idempotent.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use keyform_core::Attributes;
use keyform_core::table::TableDescription;
use keyform_engine::owner_only;
use serde_json::{Value, json};

use super::CopyError;

/// Progress of the tables of a copy.
#[derive(Debug, Default)]
pub struct Checkpoint {
    file: Option<PathBuf>,
    tables: Mutex<BTreeMap<String, State>>,
}

/// Progress of one table.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// Name of the target table.
    pub(crate) to: String,
    /// Identity of the source table, so that a recreated table with the same name is detected.
    pub(crate) source: String,
    /// Items may have been written to the target.
    pub(crate) begun: bool,
    pub(crate) segments: Vec<SegmentState>,
    /// Stream position to resume from.
    pub(crate) position: Option<String>,
    pub(crate) done: bool,
}

/// Progress of one scan segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct SegmentState {
    /// Key after which the scan resumes.
    pub(crate) start: Option<Attributes>,
    pub(crate) done: bool,
    pub(crate) items: u64,
    pub(crate) bytes: u64,
}

impl Checkpoint {
    /// Opens a checkpoint file, or starts a new one if it does not exist.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is not a checkpoint.
    pub fn open(file: impl Into<PathBuf>) -> Result<Self, CopyError> {
        let file = file.into();
        let tables = match fs::read_to_string(&file) {
            Ok(text) => parse(&text).ok_or_else(|| {
                CopyError::Checkpoint(format!(
                    "{} is not a checkpoint of a copy: remove it, or choose another file",
                    file.display()
                ))
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => return Err(CopyError::file("read", &file)(error)),
        };
        Ok(Self { file: Some(file), tables: Mutex::new(tables) })
    }

    /// Creates a checkpoint that lasts as long as the process.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::default()
    }

    /// Removes the file after a completed copy.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub fn remove(&self) -> Result<(), CopyError> {
        match &self.file {
            Some(file) if file.exists() => fs::remove_file(file).map_err(|error| unwritable(file, error)),
            _ => Ok(()),
        }
    }

    /// Starts a table, or resumes it if the checkpoint has it.
    pub(crate) fn begin(
        &self,
        from: &str,
        to: &str,
        source: &TableDescription,
        segments: u32,
    ) -> Result<(), CopyError> {
        let id = format!("{} {} {}", source.arn, source.id, source.created_ms);
        if let Some(state) = self.state(from) {
            if state.to != to || state.source != id {
                return Err(CopyError::Checkpoint(format!(
                    "the checkpoint belongs to another copy of {from}: remove it, or choose another file"
                )));
            }
            return Ok(());
        }
        let segments = vec![SegmentState::default(); segments.max(1) as usize];
        let state = State { to: to.to_owned(), source: id, segments, ..State::default() };
        self.change(|tables| {
            tables.insert(from.to_owned(), state);
        })
    }

    /// Returns whether a table is completely copied.
    #[must_use]
    pub fn is_done(&self, from: &str) -> bool {
        self.state(from).is_some_and(|state| state.done)
    }

    pub(crate) fn is_begun(&self, from: &str) -> bool {
        self.state(from).is_some_and(|state| state.begun)
    }

    pub(crate) fn segments(&self, from: &str) -> Vec<SegmentState> {
        self.state(from).map(|state| state.segments).unwrap_or_default()
    }

    pub(crate) fn position(&self, from: &str) -> Option<String> {
        self.state(from)?.position
    }

    /// Returns the number and the total size of the copied items.
    pub(crate) fn copied(&self, from: &str) -> (u64, u64) {
        let segments = self.segments(from);
        (segments.iter().map(|part| part.items).sum(), segments.iter().map(|part| part.bytes).sum())
    }

    fn state(&self, from: &str) -> Option<State> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner).get(from).cloned()
    }

    /// Changes the state of a table and saves it.
    pub(crate) fn update(&self, from: &str, change: impl FnOnce(&mut State)) -> Result<(), CopyError> {
        self.change(|tables| {
            if let Some(state) = tables.get_mut(from) {
                change(state);
            }
        })
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, State>)) -> Result<(), CopyError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut tables);
        match &self.file {
            Some(file) => save(file, &tables).map_err(|error| unwritable(file, error)),
            None => Ok(()),
        }
    }
}

fn unwritable(file: &Path, error: std::io::Error) -> CopyError {
    CopyError::file("write", file)(error)
}

fn save(file: &Path, tables: &BTreeMap<String, State>) -> std::io::Result<()> {
    let states: serde_json::Map<String, Value> =
        tables.iter().map(|(name, state)| (name.clone(), print(state))).collect();
    let beside = file.with_extension("new");
    let mut new = owner_only::create(&beside)?;
    new.write_all(json!({ "keyformCopy": 1, "tables": states }).to_string().as_bytes())?;
    new.sync_all()?;
    fs::rename(beside, file)
}

fn print(state: &State) -> Value {
    let segment = |part: &SegmentState| {
        let start = part.start.as_ref().map(|key| {
            let mut text = Vec::new();
            keyform_wire::write_attributes(key, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        json!({ "start": start, "done": part.done, "items": part.items, "bytes": part.bytes })
    };
    json!({
        "to": state.to,
        "source": state.source,
        "begun": state.begun,
        "segments": state.segments.iter().map(segment).collect::<Vec<_>>(),
        "position": state.position,
        "done": state.done,
    })
}

fn parse(text: &str) -> Option<BTreeMap<String, State>> {
    let value: Value = serde_json::from_str(text).ok()?;
    if value.get("keyformCopy")?.as_u64()? != 1 {
        return None;
    }
    value.get("tables")?.as_object()?.iter().map(|(name, state)| Some((name.clone(), read(state)?))).collect()
}

fn read(value: &Value) -> Option<State> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(State {
        to: text("to")?,
        source: text("source")?,
        begun: value.get("begun")?.as_bool()?,
        segments: value.get("segments")?.as_array()?.iter().map(read_segment).collect::<Option<_>>()?,
        position: text("position"),
        done: value.get("done")?.as_bool()?,
    })
}

fn read_segment(value: &Value) -> Option<SegmentState> {
    let start = match value.get("start")? {
        Value::String(text) => Some(keyform_wire::read_attributes(text.as_bytes()).ok()?),
        _ => None,
    };
    Some(SegmentState {
        start,
        done: value.get("done")?.as_bool()?,
        items: value.get("items")?.as_u64()?,
        bytes: value.get("bytes")?.as_u64()?,
    })
}
