//! Exports a table's items to files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use keyform_core::table::TableDescription;
use keyform_core::{Execute, Item, World};
use keyform_language::scalar::Scalar;
use keyform_language::template::render;
use tokio::task::JoinSet;

use crate::copy::CopyError;
use crate::copy::segment::{page, segment};
use crate::copy::target::describe;

use super::columns::Columns;
use super::lines::Out;
use super::manifest::{self, DataFile, Summary, unreadable, unwritable};
use super::{Format, csv, lines};

/// Parameters of an export.
pub struct Export<'a> {
    /// Store of the table.
    pub store: Arc<dyn Execute>,
    /// Name of the table to export.
    pub table: &'a str,
    /// Target file, or folder for [`Format::S3`]; `-` is standard output.
    pub to: &'a Path,
    /// File format.
    pub format: Format,
    /// Number of parallel segments, and of files, for [`Format::S3`].
    pub segments: u32,
    /// Clock and id generator.
    pub world: Arc<dyn World>,
    /// Progress callback; receives the number of items written so far.
    pub progress: Arc<dyn Fn(u64) + Send + Sync>,
}

/// Exports a table; returns the number of items and the path of the export.
///
/// # Errors
///
/// The table does not exist, the store fails, or a file cannot be written.
pub async fn export(export: &Export<'_>) -> Result<(u64, PathBuf), CopyError> {
    let table = describe(&*export.store, export.table).await?;
    let table = table.ok_or_else(|| CopyError::NoTable(export.table.to_owned()))?;
    match export.format {
        Format::S3 => to_folder(export, &table).await,
        Format::Lines => to_lines(export).await,
        Format::Csv => to_csv(export, &table).await,
    }
}

/// Calls `each` for every item of a segment.
async fn walk(
    store: &dyn Execute,
    table: &str,
    (number, total): (usize, usize),
    mut each: impl FnMut(&Item) -> Result<(), CopyError>,
) -> Result<(), CopyError> {
    let mut start = None;
    loop {
        let page = page(store, table, segment(number, total), None, start).await?;
        for item in page.items.iter().flatten() {
            each(item)?;
        }
        start = page.last_key.map(|key| key.to_attributes());
        if start.is_none() {
            return Ok(());
        }
    }
}

async fn to_lines(export: &Export<'_>) -> Result<(u64, PathBuf), CopyError> {
    let failed = |error: std::io::Error| unwritable(export.to, error);
    let mut out = Out::create(export.to).map_err(failed)?;
    let mut items = 0;
    walk(&*export.store, export.table, (0, 1), |item| {
        lines::write(&mut out, item).map_err(failed)?;
        items += 1;
        (export.progress)(items);
        Ok(())
    })
    .await?;
    out.finish().map_err(failed)?;
    Ok((items, export.to.to_owned()))
}

/// Scans twice: the first scan collects the columns, the second writes the rows.
async fn to_csv(export: &Export<'_>, table: &TableDescription) -> Result<(u64, PathBuf), CopyError> {
    let failed = |error: std::io::Error| unwritable(export.to, error);
    let mut columns = Columns::of_keys(table);
    let keys = columns.0.len();
    walk(&*export.store, export.table, (0, 1), |item| {
        columns.add(item);
        Ok(())
    })
    .await?;
    columns.sort_after(keys);
    let mut out = Out::create(export.to).map_err(failed)?;
    csv::write(&mut out, &columns.header(table)).map_err(failed)?;
    let mut items = 0;
    walk(&*export.store, export.table, (0, 1), |item| {
        let cells = columns.cells(item).ok_or_else(|| {
            CopyError::Data(format!("a new attribute appeared in {} during the export: export it again", export.table))
        })?;
        csv::write(&mut out, &cells).map_err(failed)?;
        items += 1;
        (export.progress)(items);
        Ok(())
    })
    .await?;
    out.finish().map_err(failed)?;
    Ok((items, export.to.to_owned()))
}

async fn to_folder(export: &Export<'_>, table: &TableDescription) -> Result<(u64, PathBuf), CopyError> {
    let time = || {
        let now = export.world.now_millis();
        render::stored(&Scalar::Timestamp.into(), now).unwrap_or_default()
    };
    let (started, fresh) = (time(), &export.world);
    let id = format!("{:014}-{}", export.world.now_millis(), &fresh.token(4));
    let folder = manifest::begin(export.to, &id)?;
    let total = export.segments.max(1) as usize;
    let count = Arc::new(AtomicU64::new(0));
    let mut parts = JoinSet::new();
    for number in 0..total {
        let path = folder.join("data").join(format!("{}.json.gz", fresh.ulid().to_lowercase()));
        let (store, name) = (export.store.clone(), export.table.to_owned());
        let (count, told) = (count.clone(), export.progress.clone());
        parts.spawn(async move { part(&*store, &name, (number, total), path, &count, &*told).await });
    }
    let (mut files, mut bytes) = (Vec::new(), 0);
    while let Some(done) = parts.join_next().await {
        let (file, size) = done??;
        files.push(file);
        bytes += size;
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    let items = files.iter().map(|file| file.items).sum();
    let (table_arn, table_id) = (table.arn.clone(), table.id.clone());
    manifest::finish(&folder, &Summary { table_arn, table_id, started, ended: time(), bytes, items }, &files)?;
    Ok((items, folder))
}

/// Writes one data file; returns its manifest entry and the total size of its items.
async fn part(
    store: &dyn Execute,
    table: &str,
    number: (usize, usize),
    path: PathBuf,
    count: &AtomicU64,
    told: &(dyn Fn(u64) + Send + Sync),
) -> Result<(DataFile, u64), CopyError> {
    let mut out = Out::create(&path).map_err(|error| unwritable(&path, error))?;
    let (mut items, mut bytes) = (0, 0);
    walk(store, table, number, |item| {
        lines::write(&mut out, item).map_err(|error| unwritable(&path, error))?;
        items += 1;
        bytes += item.size() as u64;
        told(count.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(())
    })
    .await?;
    out.finish().map_err(|error| unwritable(&path, error))?;
    let written = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
    Ok((DataFile { md5: manifest::md5(&written), items, path }, bytes))
}
