//! One behaviour suite for every store. The same calls give the same answers on the embedded engine, on our own server
//! through the AWS SDK, and on ExtendDB through the AWS SDK if `KEYFORM_EXTENDDB` names its binary (`tools/behaviours.sh`
//! sets it).
//!
//! `tests/behaviours/library.script` runs from top to bottom. `@ada` sets the caller for the following lines, `@system`
//! calls as code. A line with a pattern and its arguments is a call, and the lines after it are its answer: `=> …` and,
//! if there was more than one, the number of requests. `next` requests the page after the last one, `forged` uses an
//! invented cursor, `foreign` uses the last cursor in another call; `count=60` stands for 60 ids.
//!
//! Differences between stores are handled here. ExtendDB updates indexes a moment after the table (as the service may),
//! so reads through them are retried. ExtendDB also knows when nothing follows a full page, where the service and our
//! engine return a cursor to an empty page, so no full page of the script is the last one.
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform --test it behaviours` regenerates the answers; review the diff like code.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keyform::{AttributeValue, Attributes};
use keyform_check::Checked;
use keyform_language::schema::{Parameter, Test, Type};
use keyform_runtime::run::{Answer, Call, Caller, RunError, RunSettings, Runner, json};
use keyform_scenario::{Counted, Counting, Store, stage};

/// 2036-03-01, so that no store's own clock expires an item before the model's clock does.
const NOW_MILLIS: i64 = 2_087_942_400_000;

/// Script execution on a store.
struct Play {
    runner: Runner,
    store: Arc<Counting>,
    caller: Caller,
    /// Last call of a read, and the cursor after its page.
    last: Option<(String, Call)>,
    cursor: Option<String>,
}

impl Play {
    async fn new(store: &Store, model: &str) -> Self {
        let stage = stage();
        let checked = Checked::read(model);
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        let counting = Arc::new(Counting::new(store.execute.clone()));
        let settings =
            RunSettings { variables: [("stage".to_owned(), stage.clone())].into(), ..RunSettings::default() };
        let world = Arc::new(Counted::standing(NOW_MILLIS, stage));
        let runner = Runner::new(Arc::new(checked), counting.clone(), world, settings).unwrap();
        runner.create_tables().await.unwrap();
        Self { runner, store: counting, caller: Caller::System, last: None, cursor: None }
    }

    /// Returns the script with the answers of this store.
    async fn transcript(&mut self, script: &str) -> String {
        let mut transcript = String::new();
        let mut lines = script.lines().peekable();
        while let Some(line) = lines.next() {
            let expected = lines.next_if(|next| next.starts_with("=>"));
            transcript.push_str(line);
            transcript.push('\n');
            if let Some(answer) = self.settled(line, expected).await {
                transcript.push_str(&format!("{answer}\n"));
            }
        }
        transcript
    }

    /// Returns the answer to a line. Some stores update indexes with a delay, so a read through an index is retried for
    /// a while until it returns the expected answer.
    async fn settled(&mut self, line: &str, expected: Option<&str>) -> Option<String> {
        for _ in 0..if self.is_through_index(line) { 200 } else { 0 } {
            let answer = self.line(line).await.map(|answer| format!("=> {answer}"));
            if expected.is_none() || answer.as_deref() == expected {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.line(line).await.map(|answer| format!("=> {answer}"))
    }

    fn is_through_index(&self, line: &str) -> bool {
        let name = line.split(' ').next();
        let checked = self.runner.checked();
        checked
            .plans
            .planned(&checked.model)
            .any(|(read, plan)| Some(read.name.as_str()) == name && plan.index.is_some())
    }

    async fn line(&mut self, line: &str) -> Option<String> {
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        if let Some(name) = line.strip_prefix('@') {
            let claims = [("readerId".to_owned(), AttributeValue::from(name))].into();
            self.caller = if name == "system" { Caller::System } else { Caller::Claims(claims) };
            return None;
        }
        self.store.take();
        let answer = self.called(line).await;
        let requests = self.store.take();
        Some(if requests == 1 { answer } else { format!("{answer}  [{requests} requests]") })
    }

    async fn called(&mut self, line: &str) -> String {
        let (name, mut call) = match line.split_once(' ').unwrap_or((line, "")) {
            ("next" | "forged", _) => self.last.clone().unwrap(),
            ("foreign" | "many", rest) => self.call(rest),
            _ => self.call(line),
        };
        call.cursor = match line.split(' ').next() {
            Some("next" | "foreign") if self.cursor.is_none() => return "no page follows".to_owned(),
            Some("next" | "foreign") => self.cursor.clone(),
            Some("forged") => Some("AAAAAAAAAAAAAAAAAAAAAAAA".to_owned()),
            _ => None,
        };
        if self.runner.checked().model.writes.iter().any(|write| write.name == name) {
            return match self.runner.write(&name, &call).await {
                Ok(None) => "done".to_owned(),
                Ok(Some(found)) => json::found(&self.runner.checked().model, &found).to_string(),
                Err(error) => self.error(&error),
            };
        }
        self.last = Some((name.clone(), call.clone()));
        match self.runner.read(&name, &call).await {
            Ok(answer) => self.answer(&answer),
            Err(error) => self.error(&error),
        }
    }

    /// Formats an answer: items in the order of the store if the read has one, and whether another page follows.
    fn answer(&mut self, answer: &Answer) -> String {
        let model = &self.runner.checked().model;
        let Answer::Page { items, cursor, .. } = answer else { return json::answer(model, answer).to_string() };
        self.cursor.clone_from(cursor);
        let mut lines: Vec<String> = items.iter().map(|item| json::found(model, item).to_string()).collect();
        let is_ordered =
            self.last.as_ref().is_some_and(|(name, _)| !["someBooks", "everyone"].contains(&name.as_str()));
        if !is_ordered {
            lines.sort();
        }
        let more = if cursor.is_some() { " and more" } else { "" };
        let shown = if lines.len() > 12 { format!("{} …", lines[0]) } else { lines.join(" ") };
        format!("{}: {shown}{more}", lines.len())
    }

    fn error(&self, error: &RunError) -> String {
        let item = match error {
            RunError::Refused { item, .. } | RunError::Conflict(item) => item.as_ref(),
            _ => None,
        };
        let model = &self.runner.checked().model;
        let item = item.map(|item| format!(" {}", json::found(model, item))).unwrap_or_default();
        format!("error: {error}{item}")
    }

    fn call(&self, line: &str) -> (String, Call) {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let model = &self.runner.checked().model;
        let read = model.reads.iter().find(|read| read.name == name).map(|read| &read.parameters);
        let write = model.writes.iter().find(|write| write.name == name).map(|write| &write.parameters);
        let parameters = read.or(write).map_or(&[][..], Vec::as_slice);
        let mut arguments = Attributes::new();
        for (name, text) in pairs(rest) {
            let (name, value) = argument(parameters, &name, &text);
            arguments.insert(name, value);
        }
        (name.to_owned(), Call { arguments, caller: self.caller.clone(), cursor: None, token: None })
    }
}

/// Parses `a=b c="d e"`.
fn pairs(line: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = line;
    while let Some((name, after)) = rest.split_once('=') {
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => after.split_once(' ').map_or((after, ""), |(value, _)| (value, &after[value.len()..])),
        };
        pairs.push((name.trim().to_owned(), value.to_owned()));
        rest = left;
    }
    pairs
}

/// Parses an argument as its type. `count=60` is that many ids; values that do not fit the type are passed as strings.
fn argument(parameters: &[Parameter], name: &str, text: &str) -> (String, AttributeValue) {
    if name == "count" {
        let ids = (0..text.parse::<usize>().unwrap()).map(|number| format!("n{number:03}").into());
        return ("bookIds".to_owned(), AttributeValue::L(ids.collect()));
    }
    let parameter = parameters.iter().find(|parameter| parameter.arguments.iter().any(|argument| argument == name));
    let kind = match parameter {
        Some(parameter) if parameter.test == Test::In => {
            Type::List(Box::new(parameter.kind.clone()), Default::default())
        }
        Some(parameter) => parameter.kind.clone(),
        None => Type::Unknown,
    };
    let value = json::from_text(text, &kind).unwrap_or_else(|| text.into());
    (name.to_owned(), value)
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/behaviours").join(name)
}

async fn check(store: &Store) {
    let script = std::fs::read_to_string(path("library.script")).unwrap();
    let model = std::fs::read_to_string(path("library.kf")).unwrap();
    let transcript = Play::new(store, &model).await.transcript(&script).await;
    if store.name == "embedded" && std::env::var_os("KEYFORM_BLESS").is_some() {
        std::fs::write(path("library.script"), &transcript).unwrap();
        return;
    }
    let differences: Vec<String> = script
        .lines()
        .zip(transcript.lines())
        .filter(|(expected, got)| expected != got)
        .map(|(expected, got)| format!("expected {expected}\ngot      {got}"))
        .collect();
    assert!(differences.is_empty(), "{}:\n{}", store.name, differences.join("\n"));
    assert_eq!(script.lines().count(), transcript.lines().count());
}

#[tokio::test]
async fn the_embedded_engine_behaves() {
    check(&Store::embedded()).await;
}

#[tokio::test]
async fn our_server_behaves_the_same() {
    let store = Store::served().await;
    check(&store).await;
    store.stop();
}

#[tokio::test]
async fn extenddb_behaves_the_same() {
    match Store::extenddb().await {
        Some(store) => check(&store).await,
        None => {
            eprintln!("ExtendDB: not run, because KEYFORM_EXTENDDB does not name its binary; see tools/behaviours.sh")
        }
    }
}
