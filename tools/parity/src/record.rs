//! Records differences, one per line, so that a changed list of decisions can be judged again without the servers.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::compare::compare;
use crate::decision::Decision;
use crate::outcome::Outcome;
use crate::report::{Finding, Report};
use crate::request::Request;

/// One request and the answers of all servers, ours first.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    operation: String,
    request: Value,
    answers: Vec<(String, Outcome)>,
}

/// File of recorded differences.
#[derive(Debug)]
pub struct Recorder(BufWriter<File>);

impl Recorder {
    /// Creates a new file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        File::create(path).map(|file| Self(BufWriter::new(file)))
    }

    /// Records a request and its answers.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&mut self, request: &Request, answers: Vec<(String, Outcome)>) -> io::Result<()> {
        let line = Line { operation: request.operation.clone(), request: request.body.clone(), answers };
        serde_json::to_writer(&mut self.0, &line)?;
        self.0.write_all(b"\n")?;
        self.0.flush()
    }
}

/// Judges a file of differences with a list of decisions. With the name of a decision, shows the differences that it
/// explains instead of the unexplained ones.
///
/// # Errors
/// Returns an error if the file cannot be read or parsed.
pub fn judge(path: &Path, decisions: &[Decision], explain: Option<&str>) -> io::Result<Report> {
    let mut report = Report::default();
    for line in BufReader::new(File::open(path)?).lines() {
        let line: Line = serde_json::from_str(&line?)?;
        judge_line(line, decisions, explain, &mut report);
    }
    Ok(report)
}

fn judge_line(line: Line, decisions: &[Decision], explain: Option<&str>, report: &mut Report) {
    let request = Request::new(&line.operation, line.request);
    let Some(((_, ours), peers)) = line.answers.split_first() else { return };
    let peers: Vec<(&str, &Outcome)> = peers.iter().map(|(name, outcome)| (name.as_str(), outcome)).collect();
    let verdict = compare(decisions, &request, ours, &peers);
    report.count(&request.operation, &verdict);
    let is_shown = match explain {
        Some(id) => verdict.explained.iter().any(|explained| explained == id),
        None => !verdict.unexplained.is_empty(),
    };
    if is_shown {
        report.unexplained(Finding {
            operation: request.operation,
            request: request.body,
            class: verdict.class,
            answers: line.answers.into_iter().collect(),
            table: None,
            item_before: None,
        });
    }
}
