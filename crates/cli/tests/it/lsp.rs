//! The language server as an editor uses it: the real command and protocol over standard input and output.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const URI: &str = "file:///chat.kf";
const MODEL: &str = "model chat\n\ntable Chat {\n  key pk\n}\n\nentity User in Chat {\n  key \"USER#{userId}\"\n\n  userId: ulid = ulid()\n}\n\nread user(userId) -> User?\n";

struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_keyform"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut editor = Self { child, input, output };
        let capabilities = editor.request("initialize", &json!({ "capabilities": {} }));
        assert_eq!(capabilities["capabilities"]["hoverProvider"], true);
        editor.notify("initialized", &json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        self.input.flush().expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("the server writes");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(count) => length = count.parse().expect("a number"),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("the whole message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        self.receive()["result"].take()
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Opens or changes the document; returns the codes of the published diagnostics.
    fn codes(&mut self, method: &str, params: &Value) -> Vec<String> {
        self.notify(method, params);
        let told = self.receive();
        assert_eq!(told["method"], "textDocument/publishDiagnostics");
        let findings = told["params"]["diagnostics"].as_array().expect("a list");
        findings.iter().map(|finding| finding["code"].as_str().expect("a code").to_owned()).collect()
    }

    fn at(line: u32, character: u32) -> Value {
        json!({ "textDocument": { "uri": URI }, "position": { "line": line, "character": character } })
    }

    fn end(mut self) {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        assert!(self.child.wait().expect("it ends").success());
    }
}

#[test]
fn an_editor_gets_findings_completions_hovers_definitions_and_formatting() {
    let mut editor = Editor::start();
    let opened = json!({ "textDocument": { "uri": URI, "languageId": "keyform", "version": 1, "text": MODEL } });
    let before = editor.codes("textDocument/didOpen", &opened);
    assert!(!before.contains(&"K01".to_owned()), "{before:?}");

    let broken = MODEL.replace("{userId}", "{userIdd}");
    let changed = json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": broken }] });
    assert!(editor.codes("textDocument/didChange", &changed).contains(&"K01".to_owned()));

    let half = MODEL.replace("{userId}", "{}");
    let changed = json!({ "textDocument": { "uri": URI, "version": 3 }, "contentChanges": [{ "text": half }] });
    editor.codes("textDocument/didChange", &changed);
    let items = editor.request("textDocument/completion", &Editor::at(7, 13));
    assert_eq!(items[0]["label"], "userId");

    let untidy = MODEL.replace("  key pk", "      key    pk");
    let changed = json!({ "textDocument": { "uri": URI, "version": 4 }, "contentChanges": [{ "text": untidy }] });
    editor.codes("textDocument/didChange", &changed);
    let hover = editor.request("textDocument/hover", &Editor::at(12, 6));
    assert!(hover["contents"]["value"].as_str().expect("text").starts_with("**GetItem** on `Chat`"), "{hover}");
    let definition = editor.request("textDocument/definition", &Editor::at(12, 23));
    assert_eq!(definition["range"]["start"], json!({ "line": 6, "character": 7 }));
    let options = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.request("textDocument/formatting", &options);
    assert!(edits[0]["newText"].as_str().expect("text").contains("\n  key pk\n"), "{edits}");
    editor.end();
}

#[test]
fn an_editor_applies_fixes_finds_references_and_renames() {
    let mut editor = Editor::start();
    let text = MODEL.replace("in Chat", "in Chatt");
    let opened = json!({ "textDocument": { "uri": URI, "languageId": "keyform", "version": 1, "text": text } });
    editor.codes("textDocument/didOpen", &opened);
    let everywhere = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": URI }, "range": everywhere, "context": { "diagnostics": [] } });
    let actions = editor.request("textDocument/codeAction", &asked);
    let edit = &actions[0]["edit"]["changes"][URI][0];
    assert_eq!((&edit["newText"], &edit["range"]["start"]["line"]), (&json!("Chat"), &json!(6)), "{actions}");
    assert_eq!(actions[0]["diagnostics"][0]["code"], "N04");

    let changed = json!({ "textDocument": { "uri": URI, "version": 2 }, "contentChanges": [{ "text": MODEL }] });
    editor.codes("textDocument/didChange", &changed);
    let asked = editor.request("textDocument/codeAction", &asked);
    assert_eq!(asked, json!([]), "nothing is left to fix");
    let mut at = Editor::at(9, 3);
    at["context"] = json!({ "includeDeclaration": true });
    let lines = |found: &Value| -> Vec<u64> {
        let all = found.as_array().expect("a list").iter();
        all.map(|place| place["range"]["start"]["line"].as_u64().expect("a line")).collect()
    };
    let found = editor.request("textDocument/references", &at);
    assert_eq!(lines(&found), [7, 9, 12], "{found}");
    at["context"] = json!({ "includeDeclaration": false });
    assert_eq!(lines(&editor.request("textDocument/references", &at)), [7, 12]);

    let mut at = Editor::at(12, 11);
    at["newName"] = json!("id");
    let renamed = editor.request("textDocument/rename", &at);
    assert_eq!(lines(&renamed["changes"][URI]), [7, 9, 12], "{renamed}");
    at["newName"] = json!("not a name");
    assert_eq!(editor.request("textDocument/rename", &at), Value::Null, "refused");
    editor.end();
}
