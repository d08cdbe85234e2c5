//! Imports items from files into a table.

use std::path::Path;
use std::sync::Arc;

use keyform_core::operation::WriteRequest;
use keyform_core::table::TableDescription;
use keyform_core::{Execute, World};

use crate::copy::CopyError;
use crate::copy::budget::Budget;
use crate::copy::target::{describe, is_empty};
use crate::copy::write::Writer;

use super::columns::Columns;
use super::load::Load;
use super::manifest::{self, unreadable};
use super::resume::Resume;
use super::{Format, csv, lines};

/// Parameters of an import.
pub struct Import<'a> {
    /// Store of the table.
    pub store: Arc<dyn Execute>,
    /// Existing table to import into.
    pub table: &'a str,
    /// Source file, or the folder of an export.
    pub from: &'a Path,
    /// File format; detected from the name and contents by default.
    pub format: Option<Format>,
    /// Allows importing into a table that is not empty.
    pub overwrite: bool,
    /// Maximum write units per second.
    pub write_units: Option<u64>,
    /// Checkpoint file, from which the same import resumes after an interruption.
    pub checkpoint: Option<&'a Path>,
    /// Clock and timer.
    pub world: Arc<dyn World>,
    /// Progress callback; receives the number of items written so far.
    pub progress: Arc<dyn Fn(u64) + Send + Sync>,
}

/// Lines read at a time, so that a large file need not fit into memory.
const CHUNK: usize = 1000;

/// Imports files into a table; returns the number of writes.
///
/// # Errors
///
/// The table does not exist or is not empty, the store fails, or a file is damaged or invalid. With a checkpoint, the
/// same import resumes where it stopped; a corrected file must be imported with `overwrite`.
pub async fn import(import: &Import<'_>) -> Result<u64, CopyError> {
    let table = describe(&*import.store, import.table).await?;
    let table = table.ok_or_else(|| {
        CopyError::Data(format!("there is no table {} to import into: create it first, or pass its key", import.table))
    })?;
    let resume = import.checkpoint.map(|file| Resume::open(file, import.from, &table)).transpose()?;
    let (resume, written) = resume.map_or((None, None), |(resume, written)| (Some(resume), written));
    if !import.overwrite && written.is_none() && !is_empty(&*import.store, import.table).await? {
        if let Some(resume) = &resume {
            resume.remove()?;
        }
        return Err(CopyError::NotEmpty(import.table.to_owned()));
    }
    let writer = Writer {
        store: import.store.clone(),
        table: import.table.to_owned(),
        world: import.world.clone(),
        budget: Arc::new(Budget::new(import.write_units, import.world.clone())),
    };
    let load = Load::new(&writer, &table, &*import.progress);
    let mut load = load.resuming(resume, written.unwrap_or(0));
    let outcome = all(import, &table, &mut load).await;
    load.end(&outcome)?;
    outcome.map(|()| load.items)
}

async fn all(import: &Import<'_>, table: &TableDescription, load: &mut Load<'_>) -> Result<(), CopyError> {
    match import.format.map_or_else(|| detect(import.from), Ok)? {
        Format::S3 => from_folder(import.from, load).await?,
        Format::Lines => drop(from_lines(import.from, load).await?),
        Format::Csv => from_csv(import.from, table, load).await?,
    }
    load.flush().await
}

/// Detects the format: a folder is an export, a file is identified by its name.
fn detect(from: &Path) -> Result<Format, CopyError> {
    if from.is_dir() {
        return Ok(Format::S3);
    }
    let name = from.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    match name {
        "manifest-summary.json" => Ok(Format::S3),
        name if name.ends_with(".csv") => Ok(Format::Csv),
        name if name.ends_with(".json") || name.ends_with(".jsonl") || name.ends_with(".ndjson") => Ok(Format::Lines),
        _ => Err(CopyError::Format(from.to_owned())),
    }
}

async fn from_folder(from: &Path, load: &mut Load<'_>) -> Result<(), CopyError> {
    let folder = if from.is_dir() { from } else { from.parent().unwrap_or(from) };
    let export = manifest::find(folder)?.ok_or_else(|| {
        CopyError::Data(format!("{} contains no export: manifest-summary.json is missing", folder.display()))
    })?;
    let files = manifest::files(&export)?;
    // Verify all checksums before the first write.
    for file in &files {
        let bytes = std::fs::read(&file.path).map_err(|error| unreadable(&file.path, error))?;
        manifest::is_right(&file.path, &file.md5, &manifest::md5(&bytes))?;
    }
    for file in &files {
        let read = from_lines(&file.path, load).await?;
        if read != file.items {
            let name = file.path.display();
            return Err(CopyError::Data(format!("{name} has {read} items, but its manifest says {}", file.items)));
        }
    }
    Ok(())
}

async fn from_lines(from: &Path, load: &mut Load<'_>) -> Result<u64, CopyError> {
    let mut lines = lines::Lines::open(from)?;
    let mut items = 0;
    loop {
        let chunk: Vec<WriteRequest> = lines.by_ref().take(CHUNK).collect::<Result<_, _>>()?;
        if chunk.is_empty() {
            return Ok(items);
        }
        items += chunk.len() as u64;
        for write in chunk {
            load.add(write).await?;
        }
    }
}

async fn from_csv(from: &Path, table: &TableDescription, load: &mut Load<'_>) -> Result<(), CopyError> {
    let mut rows = csv::Rows::new(lines::open(from)?);
    let header = rows.next().map_err(|error| unreadable(from, error))?;
    let header = header.ok_or_else(|| CopyError::Data(format!("{} is empty", from.display())))?;
    let columns = Columns::read(&header, table);
    while let Some(cells) = rows.next().map_err(|error| unreadable(from, error))? {
        let item = columns
            .item(&cells)
            .map_err(|why| CopyError::Data(format!("{}, line {}: {why}", from.display(), rows.line)))?;
        load.add(WriteRequest::Put(item)).await?;
    }
    Ok(())
}
