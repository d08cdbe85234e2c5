//! Layout of DynamoDB's export to S3, in a folder:
//!
//! ```text
//! AWSDynamoDB/01693685827463-2d8752fd/_started
//! AWSDynamoDB/01693685827463-2d8752fd/manifest-summary.json      what was exported, and when
//! AWSDynamoDB/01693685827463-2d8752fd/manifest-summary.checksum  its MD5
//! AWSDynamoDB/01693685827463-2d8752fd/manifest-files.json        a line for each file: items, MD5, name
//! AWSDynamoDB/01693685827463-2d8752fd/manifest-files.checksum    its MD5
//! AWSDynamoDB/01693685827463-2d8752fd/data/asdl123dasas.json.gz  items
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use keyform_engine::owner_only;
use md5::{Digest as _, Md5};
use serde_json::{Value, json};

use crate::copy::CopyError;

const VERSION: &str = "2020-06-30";

/// Entry of a data file.
#[derive(Clone, Debug)]
pub(super) struct DataFile {
    pub(super) path: PathBuf,
    pub(super) items: u64,
    pub(super) md5: String,
}

/// Contents of `manifest-summary.json`.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    pub(super) table_arn: String,
    pub(super) table_id: String,
    pub(super) started: String,
    pub(super) ended: String,
    pub(super) bytes: u64,
    pub(super) items: u64,
}

/// Returns the base64 MD5 of bytes, as the service writes it.
pub(super) fn md5(bytes: &[u8]) -> String {
    STANDARD.encode(Md5::digest(bytes))
}

pub(super) fn unreadable(file: &Path, error: std::io::Error) -> CopyError {
    CopyError::file("read", file)(error)
}

pub(super) fn unwritable(file: &Path, error: std::io::Error) -> CopyError {
    CopyError::file("write", file)(error)
}

/// Creates the folder of a new export with its `_started` file.
pub(super) fn begin(folder: &Path, id: &str) -> Result<PathBuf, CopyError> {
    let export = folder.join("AWSDynamoDB").join(id);
    let data = export.join("data");
    owner_only::create_dir_all(&data).map_err(|error| unwritable(&data, error))?;
    let started = export.join("_started");
    owner_only::write(&started, b"").map_err(|error| unwritable(&started, error))?;
    Ok(export)
}

/// Writes the manifests. They come last, so that an export with a summary is complete.
pub(super) fn finish(export: &Path, summary: &Summary, files: &[DataFile]) -> Result<(), CopyError> {
    let id = export.file_name().unwrap_or_default().to_string_lossy();
    let lines: String = files
        .iter()
        .map(|file| {
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let key = format!("AWSDynamoDB/{id}/data/{name}");
            let line = json!({
                "itemCount": file.items,
                "md5Checksum": file.md5,
                "etag": etag(&file.md5),
                "dataFileS3Key": key,
            });
            format!("{line}\n")
        })
        .collect();
    checked(export, "manifest-files", &lines)?;
    let summary = json!({
        "version": VERSION,
        "exportArn": format!("{}/export/{id}", summary.table_arn),
        "startTime": summary.started,
        "endTime": summary.ended,
        "tableArn": summary.table_arn,
        "tableId": summary.table_id,
        "exportTime": summary.started,
        "s3Bucket": Value::Null,
        "s3Prefix": Value::Null,
        "s3SseAlgorithm": Value::Null,
        "s3SseKmsKeyId": Value::Null,
        "manifestFilesS3Key": format!("AWSDynamoDB/{id}/manifest-files.json"),
        "billedSizeBytes": summary.bytes,
        "itemCount": summary.items,
        "outputFormat": "DYNAMODB_JSON",
        "exportType": "FULL_EXPORT",
    });
    checked(export, "manifest-summary", &summary.to_string())
}

/// Returns the same hash in hexadecimal, as in the S3 ETag of a single-part object.
fn etag(md5: &str) -> String {
    hex::encode(STANDARD.decode(md5).unwrap_or_default())
}

fn checked(export: &Path, name: &str, text: &str) -> Result<(), CopyError> {
    for (ending, text) in [("json", text.to_owned()), ("checksum", md5(text.as_bytes()))] {
        let file = export.join(format!("{name}.{ending}"));
        owner_only::write(&file, text.as_bytes()).map_err(|error| unwritable(&file, error))?;
    }
    Ok(())
}

/// Finds the only export in a folder: the folder itself, or one below it.
pub(super) fn find(folder: &Path) -> Result<Option<PathBuf>, CopyError> {
    if folder.join("manifest-summary.json").is_file() {
        return Ok(Some(folder.to_owned()));
    }
    let below = [folder.join("AWSDynamoDB"), folder.to_owned()].into_iter().find(|folder| folder.is_dir());
    let Some(below) = below else { return Ok(None) };
    let mut found = Vec::new();
    for entry in fs::read_dir(&below).map_err(|error| unreadable(&below, error))? {
        let path = entry.map_err(|error| unreadable(&below, error))?.path();
        if path.join("manifest-summary.json").is_file() {
            found.push(path);
        }
    }
    match found.len() {
        0 | 1 => Ok(found.pop()),
        _ => Err(CopyError::Data(format!("{} contains several exports: choose one of them", below.display()))),
    }
}

/// Returns the data files of an export, after verifying the checksums of its manifests.
pub(super) fn files(export: &Path) -> Result<Vec<DataFile>, CopyError> {
    let summary: Value = parse(&checked_text(export, "manifest-summary")?, "manifest-summary.json")?;
    match summary.get("outputFormat").and_then(Value::as_str) {
        Some("DYNAMODB_JSON") | None => {}
        Some(other) => {
            return Err(CopyError::Data(format!("the export has the format {other}: only DYNAMODB_JSON is supported")));
        }
    }
    let lines = checked_text(export, "manifest-files")?;
    let files: Vec<DataFile> = lines
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| file(export, line))
        .collect::<Result<_, _>>()?;
    let counted: u64 = files.iter().map(|file| file.items).sum();
    match summary.get("itemCount").and_then(Value::as_u64) {
        Some(items) if items != counted => Err(CopyError::Data(format!(
            "the manifests disagree: {items} items in the summary, {counted} in the files"
        ))),
        _ => Ok(files),
    }
}

fn parse(text: &str, name: &str) -> Result<Value, CopyError> {
    serde_json::from_str(text).map_err(|error| CopyError::Data(format!("{name} is not JSON: {error}")))
}

fn file(export: &Path, line: &str) -> Result<DataFile, CopyError> {
    let line = parse(line, "manifest-files.json")?;
    let text = |name: &str| line.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let key = text("dataFileS3Key");
    let name = key.rsplit('/').next().unwrap_or_default();
    Ok(DataFile {
        path: export.join("data").join(name),
        items: line.get("itemCount").and_then(Value::as_u64).unwrap_or_default(),
        md5: text("md5Checksum"),
    })
}

/// Reads a manifest. Its checksum may be missing but must not be wrong.
fn checked_text(export: &Path, name: &str) -> Result<String, CopyError> {
    let file = export.join(format!("{name}.json"));
    let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, error))?;
    let stated = ["checksum", "md5"].map(|ending| export.join(format!("{name}.{ending}")));
    for stated in stated.iter().filter(|stated| stated.is_file()) {
        let stated = fs::read_to_string(stated).map_err(|error| unreadable(stated, error))?;
        is_right(&file, &stated, &md5(text.as_bytes()))?;
    }
    Ok(text)
}

/// Verifies the checksum of a file.
pub(super) fn is_right(file: &Path, stated: &str, actual: &str) -> Result<(), CopyError> {
    if stated.trim().is_empty() || stated.trim() == actual || stated.trim() == etag(actual) {
        return Ok(());
    }
    Err(CopyError::Data(format!("{} is damaged: its MD5 is {actual}, not {}", file.display(), stated.trim())))
}
