//! Lines of DynamoDB JSON, plain or gzipped.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use keyform_core::operation::WriteRequest;
use keyform_core::{Attributes, Item};
use keyform_engine::owner_only;

use crate::copy::CopyError;

/// Writes an item as a line of an export: `{"Item":{…}}`.
pub(super) fn write(out: &mut dyn Write, item: &Item) -> std::io::Result<()> {
    let mut line = Vec::with_capacity(item.as_bytes().len() * 2);
    line.extend_from_slice(b"{\"Item\":");
    keyform_wire::write_item(item, &mut line);
    line.extend_from_slice(b"}\n");
    out.write_all(&line)
}

/// Parses a line: a bare item, an item of an export, or a change of an incremental export.
pub(super) fn parse(line: &[u8]) -> Result<WriteRequest, String> {
    // A bare item may have attributes with these names. They are not objects of attributes then, and nothing is found.
    let found = keyform_wire::read_members(line, &["Item", "Keys", "NewImage"]).unwrap_or_default();
    let take = |name: &str| found.iter().find(|(member, _)| member == name).map(|(_, item)| item.clone());
    match (take("Item"), take("NewImage"), take("Keys")) {
        (Some(item), _, _) | (None, Some(item), Some(_)) => Ok(WriteRequest::Put(item)),
        (None, None, Some(keys)) => Ok(WriteRequest::Delete(keys)),
        _ => keyform_wire::read_attributes(line).map(WriteRequest::Put).map_err(|error| told(&error)),
    }
}

fn told(error: &keyform_core::Error) -> String {
    match error.message() {
        "" => "not an item in DynamoDB JSON".to_owned(),
        message => message.to_owned(),
    }
}

/// Iterator over the writes of a file's lines. Skips empty lines.
pub(super) struct Lines {
    lines: std::iter::Enumerate<std::io::Split<Box<dyn BufRead + Send>>>,
    file: PathBuf,
}

impl Lines {
    pub(super) fn open(file: &Path) -> Result<Self, CopyError> {
        Ok(Self { lines: open(file)?.split(b'\n').enumerate(), file: file.to_owned() })
    }
}

impl Iterator for Lines {
    type Item = Result<WriteRequest, CopyError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (number, line) = self.lines.find(|(_, line)| match line {
            Ok(line) => !line.iter().all(u8::is_ascii_whitespace),
            Err(_) => true,
        })?;
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(CopyError::file("read", &self.file)(error))),
        };
        Some(
            parse(&line).map_err(|why| CopyError::Data(format!("{}, line {}: {why}", self.file.display(), number + 1))),
        )
    }
}

/// Opens a file for reading; decompresses it if it starts with the gzip signature.
pub(super) fn open(file: &Path) -> Result<Box<dyn BufRead + Send>, CopyError> {
    let failed = |error: std::io::Error| CopyError::file("read", file)(error);
    let mut start = [0; 2];
    let length = File::open(file).and_then(|mut opened| opened.read(&mut start)).map_err(failed)?;
    let opened = BufReader::new(File::open(file).map_err(failed)?);
    Ok(if length == 2 && start == [0x1f, 0x8b] {
        Box::new(BufReader::new(MultiGzDecoder::new(opened)))
    } else {
        Box::new(opened)
    })
}

/// Output file, plain or gzipped, that must be finished.
pub(super) enum Out {
    Plain(Box<dyn Write + Send>),
    Gzip(Box<GzEncoder<Box<dyn Write + Send>>>),
}

impl Out {
    /// Creates a file, gzipped if its name ends in `.gz`; `-` is standard output.
    pub(super) fn create(file: &Path) -> std::io::Result<Self> {
        let out: Box<dyn Write + Send> = match file.to_str() {
            Some("-") => Box::new(std::io::stdout()),
            _ => Box::new(owner_only::create(file)?),
        };
        let out: Box<dyn Write + Send> = Box::new(BufWriter::new(out));
        Ok(match file.extension().is_some_and(|ending| ending == "gz") {
            true => Self::Gzip(Box::new(GzEncoder::new(out, Compression::default()))),
            false => Self::Plain(out),
        })
    }

    pub(super) fn finish(self) -> std::io::Result<()> {
        match self {
            Self::Plain(mut out) => out.flush(),
            Self::Gzip(out) => out.finish()?.flush(),
        }
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
        }
    }
}

/// Returns the DynamoDB JSON of a value without its type wrapper `{"TYPE":…}`.
pub(super) fn value_text(value: &keyform_core::AttributeValue) -> String {
    let alone: Attributes = [("x".to_owned(), value.clone())].into();
    let mut text = Vec::new();
    keyform_wire::write_attributes(&alone, &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let prefix = format!("{{\"x\":{{\"{}\":", value.kind().name());
    text.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix("}}")).unwrap_or(&text).to_owned()
}

/// Parses such a text as a value of the type.
pub(super) fn value_of(kind: &str, text: &str) -> Result<keyform_core::AttributeValue, String> {
    let line = format!("{{\"x\":{{\"{kind}\":{text}}}}}");
    let mut read = keyform_wire::read_attributes(line.as_bytes()).map_err(|error| told(&error))?;
    read.remove("x").ok_or_else(|| "not a value".to_owned())
}
