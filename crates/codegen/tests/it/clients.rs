//! Golden tests of the generated clients for a small model, without the runtime that all clients share.
//!
//! `KEYFORM_BLESS=1` rewrites the golden files.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::PathBuf;

use keyform_check::Checked;
use keyform_codegen::{self as generate, CodegenSettings};

const MODEL: &str = include_str!("../clients/notes.kf");

fn printed(target: &str, model: &str) -> Result<String, String> {
    let checked = Checked::read(model);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    (generate::target(target).unwrap().print)(&checked, &CodegenSettings::default())
}

/// Removes the text between two lines.
fn without(text: &str, from: &str, to: &str) -> String {
    let (before, rest) = text.split_once(from).unwrap();
    let after = rest.find(to).map_or("", |at| &rest[at..]);
    format!("{before}…\n\n{after}")
}

fn check(name: &str, found: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(name);
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        std::fs::write(&path, found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{name} differs; KEYFORM_BLESS=1 writes it again");
}

#[test]
fn a_small_model_in_typescript() {
    let text = printed("typescript", MODEL).unwrap();
    check("notes.ts", &without(&text, "/** Options of a client. */", "const decodeNote"));
}

#[test]
fn a_small_model_in_python() {
    let text = printed("python", MODEL).unwrap();
    check("notes.py", &without(&text, "class CallError(Exception):", "def _decode_note("));
}

#[test]
fn only_reads_of_a_stream_with_both_images_are_followed() {
    for target in ["typescript", "python"] {
        assert!(printed(target, MODEL).unwrap().contains("NotesLive"), "{target}");
        for stream in ["", "stream new", "stream keys"] {
            let text = printed(target, &MODEL.replace("stream new_and_old", stream)).unwrap();
            for word in ["NotesLive", "LiveItems", "WebSocket", "import socket"] {
                assert!(!text.contains(word), "{target} {stream}: {word}");
            }
        }
    }
}

/// Changes do not reveal which of several items a read returns.
#[test]
fn the_newest_of_many_tells_events() {
    let newest =
        "\n/// The newest note.\nread newest(userId) -> Note? newest first, page 1  allow userId = caller.userId\n";
    let model = format!("{MODEL}{newest}");
    assert!(
        printed("typescript", &model).unwrap().contains("  newest(args: NewestArguments, options: LiveItemsOptions")
    );
    assert!(printed("python", &model).unwrap().contains("tries_max: int | None = None) -> LiveItems[Note]:"));
}

#[test]
fn a_pattern_and_a_type_called_live_keep_their_names() {
    let model = MODEL.replace("read notes(", "read live(").replace("Note", "Live");
    let typescript = printed("typescript", &model).unwrap();
    assert!(
        typescript.contains("  live(args: LiveArguments, options: CallOptions = {}): Pages<Live> {"),
        "{typescript}"
    );
    assert!(typescript.contains("  readonly live_: NotesLive\n"), "{typescript}");
    assert!(typescript.contains("LiveItemsOptions = {}): LiveItems<{ Live: Live }> {"), "{typescript}");
    assert!(typescript.contains("): KeyformLive<Live | null> {"), "{typescript}");
    let python = printed("python", &model).unwrap();
    assert!(python.contains("    def live(self, *, user_id: str) -> Pages[Live]:"), "{python}");
    assert!(python.contains("        self.live_ = NotesLive(self._connection)"), "{python}");
    assert!(python.contains(") -> KeyformLive[Live | None]:"), "{python}");
}

#[test]
fn a_cursor_of_the_author_is_refused() {
    let model = MODEL
        .replace("read notes(userId)", "read notes(userId, cursor: string)")
        .replace("page 20 ", "where text = cursor, page 20 ");
    for target in ["typescript", "python"] {
        let refusal = printed(target, &model).unwrap_err();
        assert!(refusal.contains("`notes` has an argument `cursor`"), "{refusal}");
    }
}
