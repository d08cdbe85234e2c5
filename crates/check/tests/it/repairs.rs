//! Repairs are applicable: the edits of a finding remove it and raise no other finding.
//!
//! The models are those of the rule pages that break their rule, and all variants of the planted models.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use keyform_check::Checked;
use keyform_language::diagnostic::{Diagnostic, Edit, Severity};

use crate::planted;

/// Returns the models that the pages of `docs/rules` show, each with the name of its page.
fn models_of_pages() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    let entries = fs::read_dir(folder).expect("the folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.iter().flat_map(|path| models_of_page(path)).collect()
}

fn models_of_page(path: &Path) -> Vec<(String, String)> {
    let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
    let page = fs::read_to_string(path).expect("the page can be read");
    let blocks = page.split("```kf\n").skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(|block| (name.clone(), block.to_owned())).collect()
}

fn serious(text: &str) -> Vec<Diagnostic> {
    let mut found = Checked::read(text).diagnostics;
    found.retain(|finding| finding.severity != Severity::Note);
    found
}

/// Applies edits from the last to the first, so that earlier spans stay valid.
fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = text.to_owned();
    for edit in edits.into_iter().rev() {
        text.replace_range(edit.span.start..edit.span.end, &edit.text);
    }
    text
}

fn named(finding: &Diagnostic) -> (&'static str, &str) {
    (finding.code.0, &finding.message)
}

/// Returns the number of findings with edits, and appends a line for each whose edits do not repair.
fn judge(name: &str, text: &str, wrong: &mut Vec<String>) -> usize {
    let found = serious(text);
    let known: BTreeSet<(&str, &str)> = found.iter().map(named).collect();
    let mut count = 0;
    for finding in found.iter().filter(|finding| !finding.edits.is_empty()) {
        count += 1;
        let left = serious(&applied(text, &finding.edits));
        let times = |of: &[Diagnostic]| of.iter().filter(|other| named(other) == named(finding)).count();
        let others: BTreeSet<&str> =
            left.iter().filter(|other| !known.contains(&named(other))).map(|other| other.code.0).collect();
        let stays = times(&left) >= times(&found);
        // A syntax error or an unknown name hides the findings behind it.
        let hides = finding.code.0.starts_with(['S', 'N']);
        if stays || (!hides && !others.is_empty()) {
            let why = if stays { "stays".to_owned() } else { format!("raises {others:?}") };
            wrong.push(format!("{name}: {}: \"{}\" {why}", finding.code, finding.message));
        }
    }
    count
}

#[test]
fn the_edits_of_every_finding_repair_it() {
    let mut wrong = Vec::new();
    let models = models_of_pages().into_iter().chain(planted::texts());
    let count: usize = models.map(|(name, text)| judge(&name, &text, &mut wrong)).sum();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 20, "{count} findings have edits");
}

/// Returns the help of the only finding with a code.
fn help(text: &str, code: &str) -> String {
    let found = serious(text);
    let mut with_code = found.into_iter().filter(|finding| finding.code.0 == code);
    with_code.next().and_then(|finding| finding.help).unwrap_or_else(|| panic!("{code} is not found"))
}

fn codes(text: &str) -> Vec<&'static str> {
    serious(text).iter().map(|finding| finding.code.0).collect()
}

const BOARD: &str = "model team

table Team {
  key   pk, sk
  index gsi1 (gsi1pk, gsi1sk)
}

entity Task in Team {
  key  \"BOARD#{boardId}\", \"TASK#{taskId}\"

  boardId: ulid
  taskId:  ulid = ulid()
  title:   string(1..200)
  urgency: int(0..500)
}

read task(boardId, taskId) -> Task?
";

#[test]
fn a_moved_item_as_the_help_says_raises_nothing() {
    let write = "\nwrite moveTask(boardId, taskId, target: ulid) -> Task {\n  update Task(boardId, taskId) { boardId = target }\n}\n";
    let help = help(&format!("{BOARD}{write}"), "K06");
    let steps: Vec<&str> =
        help.split('`').filter(|part| part.starts_with("delete ") || part.starts_with("create ")).collect();
    let [delete, create] = steps.as_slice() else { panic!("{help}") };
    let create = create.replace('…', "target");
    let repaired = format!(
        "{BOARD}\nwrite moveTask(boardId, taskId, target: ulid) -> Task {{\n  let old = task(boardId, taskId) else UnknownTask\n  \
         {delete}\n  {create} else Exists\n}}\n"
    );
    assert_eq!(codes(&repaired), [""; 0], "{repaired}");
}

#[test]
fn a_number_in_a_suggested_index_line_is_padded() {
    let read = "\nread urgent(title, urgency >= least) -> [Task] page 20\n";
    let help = help(&format!("{BOARD}{read}"), "A01");
    let line = help.split('`').find(|part| part.starts_with("gsi1 ")).unwrap_or_else(|| panic!("{help}"));
    assert_eq!(line, "gsi1 \"TITLE#{title}\", \"TASK#{urgency:pad(3)}#{taskId}\"");
    let board = BOARD.replace("\n\n  boardId: ulid", &format!("\n  {line}\n\n  boardId: ulid"));
    let found = codes(&format!("{board}{}", read.replace("[Task]", "[Task] via gsi1,")));
    assert_eq!(found, [""; 0]);
}

#[test]
fn no_index_is_suggested_for_a_read_of_several_entities() {
    let text = format!(
        "{BOARD}\nentity Note in Team {{\n  key \"BOARD#{{boardId}}\", \"NOTE#{{noteId}}\"\n\n  boardId: ulid\n  noteId: ulid = \
         ulid()\n  title: string(1..200)\n}}\n\nread titled(title) -> [Task] + [Note] page 20\n"
    );
    let help = help(&text, "A01");
    assert!(!help.contains("via"), "{help}");
}
