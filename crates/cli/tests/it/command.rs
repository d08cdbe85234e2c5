//! The real binary: ready line, errors, signals, keys and credentials.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// Temporary folder of a test, used as home and current directory of the command.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keyform"));
        command.args(arguments).env_clear().env("HOME", self.path()).current_dir(self.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that must fail, and returns its message.
    fn refusal(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(output.stdout.is_empty(), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    }

    /// Runs a command that must succeed, and returns its output.
    fn answer(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn serve(&self, arguments: &[&str]) -> Served {
        Served::start(self.command(&[&["serve", "--port", "0"], arguments].concat()))
    }
}

/// Running server.
struct Served {
    child: Child,
    out: BufReader<ChildStdout>,
    url: String,
    ready: [String; 2],
}

impl Served {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let ready = [0, 1].map(|_| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        });
        let url = ready[0].split(' ').find(|word| word.starts_with("http://"));
        let Some(url) = url.map(str::to_owned) else {
            let mut message = String::new();
            child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
            panic!("no ready line: {ready:?} {message}");
        };
        Self { child, out, url, ready }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends an operation; returns status and body.
    fn operation(&self, name: &str, body: &str) -> String {
        let mut stream = self.connect();
        let length = body.len();
        let request = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\nx-amz-target: DynamoDB_20120810.{name}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal; returns the exit code and the remaining output.
    fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let killed = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code(), rest)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A failing test must not leave a server running. Errors mean that it has already ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

const CREATE: &str = r#"{"TableName":"users","AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],"KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}"#;

#[test]
fn the_first_start_reports_where_the_master_key_is() {
    let home = Home::new();
    let log_of_a_start = || {
        let mut served = home.serve(&["--no-systems", "--data", "data"]);
        let mut log = served.child.stderr.take().unwrap();
        assert_eq!(served.end("-TERM").0, Some(0));
        let mut text = String::new();
        log.read_to_string(&mut text).unwrap();
        text
    };
    let first = log_of_a_start();
    let shown = home.answer(&["keys", "show", "--data", "data"]);
    let file = shown.lines().next().unwrap().strip_prefix("master key file  ").unwrap();
    let expected =
        format!("Created the master key file {file}. Back it up: without it, the data in data cannot be decrypted.\n");
    assert!(first.contains(&expected), "{first}");
    assert!(!log_of_a_start().contains("Created the master key file"), "only the start that creates it reports it");
}

#[test]
fn ready_line_has_the_url_and_a_line_to_paste() {
    let home = Home::new();
    let server = home.serve(&["--in-memory"]);
    let url = server.url.clone();
    assert_eq!(server.ready[0], format!("keyform is ready on {url} (in memory)"));
    let environment = format!(
        "AWS_ENDPOINT_URL_DYNAMODB={url} AWS_DEFAULT_REGION=us-east-1 AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local"
    );
    assert_eq!(server.ready[1], format!("{environment} aws dynamodb list-tables"));
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":[]}"#));
    let systems = format!("{url}/v1/{{agencies,discord,helpmaton,t3nets,workspaces}}\n");
    let (code, rest) = server.end("-TERM");
    assert_eq!(code, Some(0));
    assert!(rest.starts_with(&format!("{systems}Development mode: ")), "{rest}");
}

#[test]
fn both_signals_end_the_server_well_and_data_is_there_again() {
    let home = Home::new();
    let server = home.serve(&[]);
    assert!(server.operation("CreateTable", CREATE).starts_with("HTTP/1.1 200"));
    assert_eq!(server.end("-TERM").0, Some(0));
    let server = home.serve(&[]);
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":["users"]}"#));
    assert_eq!(server.end("-INT").0, Some(0));
    assert!(home.path().join("keyform-data").join("keyring").exists());
    assert!(home.path().join(".config/keyform/master.key").exists());
}

#[test]
fn serving_is_what_happens_without_a_command() {
    let home = Home::new();
    let server = Served::start(home.command(&["--port", "0", "--in-memory"]));
    assert_eq!(server.end("-TERM").0, Some(0));
}

#[test]
fn port_and_directory_in_use_are_refused() {
    let home = Home::new();
    let server = home.serve(&[]);
    let port = server.url.rsplit(':').next().unwrap().to_owned();
    let message = home.refusal(&["serve", "--port", &port, "--in-memory"]);
    assert!(message.starts_with(&format!("error: port {port} of 127.0.0.1 is in use")), "{message}");
    let message = home.refusal(&["serve", "--port", "0"]);
    assert!(message.contains("keyform-data is in use by process ") && message.contains("--data"), "{message}");
}

#[test]
fn directory_that_cannot_be_used_is_refused() {
    let home = Home::new();
    std::fs::write(home.path().join("file"), "x").unwrap();
    let message = home.refusal(&["serve", "--port", "0", "--data", "file"]);
    assert!(message.contains("file") && message.contains("--data"), "{message}");
    std::fs::create_dir(home.path().join("photos")).unwrap();
    std::fs::write(home.path().join("photos/holiday.jpg"), "x").unwrap();
    let message = home.refusal(&["serve", "--port", "0", "--data", "photos"]);
    assert!(message.contains("holiday.jpg") && message.contains("choose an empty directory"), "{message}");
}

#[test]
fn missing_and_wrong_master_keys_are_refused() {
    let home = Home::new();
    home.serve(&[]).end("-TERM");
    let key = home.path().join(".config/keyform/master.key");
    let kept = home.path().join("kept.key");
    std::fs::rename(&key, &kept).unwrap();
    let message = home.refusal(&["serve", "--port", "0"]);
    assert!(message.contains("was not found at") && message.contains("master.key"), "{message}");
    home.serve(&["--data", "other"]).end("-TERM");
    let message = home.refusal(&["serve", "--port", "0"]);
    assert!(message.contains("is encrypted with master key"), "{message}");
    let server = home.serve(&["--master-key-file", kept.to_str().unwrap()]);
    assert_eq!(server.end("-TERM").0, Some(0));
}

#[test]
fn keys_are_rotated_and_data_stays_readable() {
    let home = Home::new();
    let server = home.serve(&[]);
    server.operation("CreateTable", CREATE);
    server.end("-TERM");
    let before = home.answer(&["keys", "show"]);
    let rotated = home.answer(&["keys", "rotate"]);
    assert!(rotated.contains("data key 2"), "{rotated}");
    let after = home.answer(&["keys", "show"]);
    assert_ne!(before, after);
    assert!(after.contains("data key         2 (1 older)"), "{after}");
    let server = home.serve(&[]);
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":["users"]}"#));
    server.end("-TERM");
    let old = after.lines().find_map(|line| line.strip_prefix("older            ")).unwrap().to_owned();
    home.answer(&["keys", "forget", &old]);
    assert_eq!(home.serve(&[]).end("-TERM").0, Some(0));
}

/// The header of a table file contains the number of the data key that encrypts it.
fn data_keys_in_use(folder: &Path) -> Vec<u32> {
    let mut keys = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "table") {
            keys.push(u32::from_le_bytes(std::fs::read(path).unwrap()[16..20].try_into().unwrap()));
        }
    }
    keys
}

#[test]
fn rotation_writes_everything_anew_when_asked_to() {
    let home = Home::new();
    let server = home.serve(&[]);
    server.operation("CreateTable", CREATE);
    server.operation("PutItem", r#"{"TableName":"users","Item":{"pk":{"S":"ada"}}}"#);
    server.end("-TERM");
    for key in [2, 3] {
        let rotated = home.answer(&["keys", "rotate", "--rewrite"]);
        assert!(rotated.contains(&format!("is now encrypted with data key {key}.")), "{rotated}");
        let in_use = data_keys_in_use(&home.path().join("keyform-data"));
        assert!(!in_use.is_empty() && in_use.iter().all(|used| *used == key), "{in_use:?}");
    }
    let server = home.serve(&[]);
    assert!(server.operation("GetItem", r#"{"TableName":"users","Key":{"pk":{"S":"ada"}}}"#).contains("\"ada\""));
    server.end("-TERM");
}

#[test]
fn no_file_of_the_data_directory_shows_what_was_stored() {
    let home = Home::new();
    let marker = "PLAINTEXT-MARKER";
    let table = CREATE.replace("users", marker);
    let item =
        format!(r#"{{"TableName":"{marker}","Item":{{"pk":{{"S":"{marker}"}},"{marker}":{{"S":"{marker}"}}}}}}"#);
    let server = home.serve(&[]);
    assert!(server.operation("CreateTable", &table).starts_with("HTTP/1.1 200"));
    assert!(server.operation("PutItem", &item).starts_with("HTTP/1.1 200"));
    let folder = home.path().join("keyform-data");
    assert!(!shows(&folder, marker));
    server.end("-KILL");
    assert!(!shows(&folder, marker));
    home.answer(&["keys", "rotate", "--rewrite"]);
    assert!(!shows(&folder, marker));
    let plain = home.serve(&["--encryption", "off", "--data", "plain"]);
    plain.operation("CreateTable", &table);
    plain.end("-TERM");
    assert!(shows(&home.path().join("plain"), marker), "the search would find it");
}

fn shows(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let content = std::fs::read(entry.unwrap().path()).unwrap();
        content.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

#[test]
fn keys_are_not_rotated_when_the_data_cannot_be_rewritten() {
    let home = Home::new();
    let server = home.serve(&["--data", "data"]);
    let before = home.answer(&["keys", "show", "--data", "data"]);
    let message = home.refusal(&["keys", "rotate", "--rewrite", "--data", "data"]);
    assert!(message.contains("data directory data is in use by process "), "{message}");
    assert_eq!(home.answer(&["keys", "show", "--data", "data"]), before);
    assert_eq!(server.end("-TERM").0, Some(0));
    home.answer(&["keys", "rotate", "--rewrite", "--data", "data"]);
}

#[test]
fn credentials_file_that_was_named_must_be_there() {
    let home = Home::new();
    let message = home.refusal(&["serve", "--in-memory", "--port", "0", "--credentials-file", "nowhere"]);
    assert!(message.contains("no credentials file nowhere"), "{message}");
    home.answer(&["credentials", "add", "--credentials-file", "nowhere"]);
    home.serve(&["--in-memory", "--credentials-file", "nowhere"]);
}

#[test]
fn credentials_open_other_addresses_and_close_the_door_to_unsigned_requests() {
    let home = Home::new();
    let message = home.refusal(&["serve", "--port", "0", "--host", "0.0.0.0", "--in-memory"]);
    assert!(message.contains("keyform credentials add"), "{message}");
    assert!(home.answer(&["credentials", "list"]).starts_with("No credentials in"));
    let added = home.answer(&["credentials", "add"]);
    let id = added.lines().find_map(|line| line.strip_prefix("AWS_ACCESS_KEY_ID=")).unwrap();
    assert_eq!((id.len(), added.lines().count()), (20, 2));
    home.answer(&["credentials", "add", "own", "secret"]);
    assert_eq!(home.answer(&["credentials", "list"]), format!("{id}\nown\n"));
    let message = home.refusal(&["credentials", "add", "own", "other"]);
    assert!(message.contains("access key own already exists") && message.contains("--replace"), "{message}");
    home.answer(&["credentials", "add", "own", "other", "--replace"]);
    assert_eq!(home.answer(&["credentials", "list"]), format!("{id}\nown\n"));
    let server = home.serve(&["--host", "0.0.0.0", "--in-memory"]);
    assert!(server.operation("ListTables", "{}").contains("MissingAuthenticationTokenException"));
    assert_eq!(server.end("-TERM").0, Some(0));
    home.answer(&["credentials", "remove", "own"]);
    assert!(home.refusal(&["credentials", "remove", "own"]).contains("credentials list"));
}

#[test]
fn settings_are_refused_with_their_source() {
    let home = Home::new();
    let message = home.refusal(&["serve", "--port", "abc"]);
    assert_eq!(message, "error: --port abc is not a port: a number from 0 to 65535\n");
    std::fs::write(home.path().join("keyform.toml"), "prot = 1\n").unwrap();
    assert_eq!(home.refusal(&[]), "error: prot in keyform.toml is not a setting: did you mean port?\n");
}

#[test]
fn requests_are_logged_without_their_data() {
    let home = Home::new();
    let mut server = home.serve(&["--in-memory", "--log-format", "json"]);
    server.operation("CreateTable", CREATE);
    server.operation("PutItem", r#"{"TableName":"users","Item":{"pk":{"S":"top-secret"}}}"#);
    let mut log = server.child.stderr.take().unwrap();
    assert_eq!(server.end("-TERM").0, Some(0));
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    let line = text.lines().find(|line| line.contains("PutItem")).unwrap();
    assert!(line.contains(r#""table":"users""#) && line.contains(r#""status":200"#), "{line}");
    assert!(line.contains("request_id") && !text.contains("top-secret"), "{text}");
}

#[test]
fn what_a_killed_server_left_unfinished_is_told() {
    let home = Home::new();
    let server = home.serve(&[]);
    server.operation("CreateTable", CREATE);
    server.end("-KILL");
    let mut server = home.serve(&["--log-format", "json", "--log-level", "info"]);
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":["users"]}"#));
    let mut log = server.child.stderr.take().unwrap();
    assert_eq!(server.end("-TERM").0, Some(0));
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    let told: Vec<&str> = text.lines().filter(|line| line.contains(".journal")).collect();
    assert!(told.len() == 1 && told[0].contains("INFO") && told[0].contains("\"bytes\":"), "{text}");
}

#[test]
fn writes_into_a_directory_that_was_removed_are_refused() {
    let home = Home::new();
    let server = home.serve(&[]);
    assert!(server.operation("CreateTable", CREATE).starts_with("HTTP/1.1 200"));
    std::fs::remove_dir_all(home.path().join("keyform-data")).unwrap();
    let answer = server.operation("PutItem", r#"{"TableName":"users","Item":{"pk":{"S":"ada"}}}"#);
    assert!(answer.starts_with("HTTP/1.1 500"), "{answer}");
}

#[test]
fn help_and_version_are_printed() {
    let home = Home::new();
    let help = home.answer(&["--help"]);
    for word in ["schema document", "Model:", "Change:", "credentials", "keys", "KEYFORM_*", "keyform.toml"] {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
    assert!(!help.contains("--durability"), "the flags of `serve` are in its own help:\n{help}");
    let serve = home.answer(&["serve", "--help"]);
    for flag in ["--port", "--data", "--durability"] {
        assert!(serve.contains(flag), "{flag} is not in\n{serve}");
    }
    assert_eq!(home.answer(&["version"]), format!("keyform {}\n", env!("CARGO_PKG_VERSION")));
}

const NOTES: &str = "model notes\n\ncaller userId: slug(1..20)\n\ntable Notes { key pk }\n\nentity Note in Notes {\n  key \"NOTE#{noteId}\"\n  noteId: slug(1..20)\n}\n\nread note(noteId) -> Note?  allow public\n  unscoped Note \"notes are public\"\n";

fn get(server: &Served, path: &str) -> String {
    let mut stream = server.connect();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn models_are_served_on_the_same_port() {
    let home = Home::new();
    std::fs::write(home.path().join("notes.kf"), NOTES).unwrap();
    let server = home.serve(&["notes.kf", "--in-memory"]);
    let answer = get(&server, "/v1/notes/note?noteId=n1");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("null"), "{answer}");
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":["Notes","keyform-models"]}"#));
    let url = server.url.clone();
    let (code, rest) = server.end("-TERM");
    assert_eq!(code, Some(0));
    assert!(rest.starts_with(&format!("{url}/v1/notes\nDevelopment mode: ")), "{rest}");
}

#[test]
fn models_and_token_keys_that_cannot_be_used_are_refused() {
    let home = Home::new();
    let serve =
        |model: &str, more: &[&str]| home.refusal(&[&["serve", "--port", "0", "--in-memory", model], more].concat());
    std::fs::write(home.path().join("notes.kf"), NOTES).unwrap();
    std::fs::write(home.path().join("broken.kf"), NOTES.replace("-> Note?", "-> Nothing?")).unwrap();
    std::fs::write(home.path().join("staged.kf"), NOTES.replace("table Notes", "table Notes \"notes-{cell}\""))
        .unwrap();
    std::fs::write(home.path().join("short.key"), "short").unwrap();
    let message = serve("broken.kf", &[]);
    assert!(message.contains("broken.kf has errors") && message.contains("Nothing"), "{message}");
    assert!(serve("nothing.kf", &[]).contains("cannot read nothing.kf"));
    assert!(serve("staged.kf", &[]).contains("--set NAME=VALUE"));
    assert!(serve("notes.kf", &["--jwt-key", "short.key"]).contains("at least 32 bytes"));
    assert!(serve("notes.kf", &["--jwt-key-file", "nothing.key"]).contains("nothing.key"));
    let server = home.serve(&["staged.kf", "--set", "cell=dev", "--in-memory"]);
    assert!(get(&server, "/v1/notes/note?noteId=n1").starts_with("HTTP/1.1 200"));
    assert!(server.operation("ListTables", "{}").ends_with(r#"{"TableNames":["keyform-models","notes-dev"]}"#));
}

#[cfg(unix)]
#[test]
fn a_token_is_signed_with_the_servers_secret_and_has_the_tokens_names() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let model = NOTES.replace("slug(1..20)\n\ntable", "slug(1..20) from \"app.sub\", level: int?\n\ntable");
    let model = model.replace("allow public", "allow caller.userId = \"ada\"");
    std::fs::write(home.path().join("notes.kf"), model).unwrap();
    std::fs::write(home.path().join("token.key"), "0123456789abcdef0123456789abcdef").unwrap();
    std::fs::set_permissions(home.path().join("token.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let claims = ["token", "notes.kf", "--as", "userId=ada", "--as", "level=3"];
    let key = ["--jwt-key-file", "token.key"];
    assert!(home.refusal(&claims).contains("no secret to sign a token with: pass the server's secret"));
    assert!(home.refusal(&[&claims[..], &key, &["--expires", "soon"]].concat()).contains("is not a lifetime"));
    assert!(home.refusal(&[&["token", "notes.kf", "--as", "name=ada"], &key[..]].concat()).contains("unknown claim"));
    let token = home.answer(&[&claims[..], &key, &["--expires", "2h"]].concat());
    let server = home.serve(&["notes.kf", "--in-memory", "--jwt-key-file", "token.key"]);
    let path = format!("/v1/notes/note?noteId=n1 HTTP/1.1\r\nauthorization: Bearer {}\r\nx-rest:", token.trim_end());
    assert!(get(&server, &path).starts_with("HTTP/1.1 200"), "{}", get(&server, &path));
    assert!(get(&server, "/v1/notes/note?noteId=n1").starts_with("HTTP/1.1 401"));
}
