//! Server with a stub store, and a raw HTTP client with a deadline on every read.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use keyform_core::execute::BoxFuture;
use keyform_core::operation::{ListTables, ListTablesOutput};
use keyform_core::{Error, Execute, Operation, Output};
use keyform_server::{Running, Server, ServerSettings};
use tokio::sync::Notify;

/// Answers ListTables with table names; the `Limit` argument selects the behaviour.
#[derive(Default)]
pub struct Stub {
    /// Notified when a waiting request has started.
    pub begun: Notify,
    /// Resumes the waiting request.
    pub go_on: Notify,
}

/// Limit that makes the stub panic.
pub const PANIC: usize = 13;
/// Limit that makes the stub wait for [`Stub::go_on`].
pub const WAIT: usize = 14;
/// Limit that makes the stub return a long answer.
pub const LONG: usize = 50;
/// Limit that makes the stub return half a megabyte.
pub const HUGE: usize = 51;

impl Execute for Stub {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let limit = match operation {
                Operation::ListTables(ListTables { limit, .. }) => limit,
                Operation::Scan(scan) if scan.table == "panic" => panic!("requested by the test"),
                _ => return Err(keyform_core::error::table::resource_not_found()),
            };
            match limit {
                Some(PANIC) => panic!("requested by the test"),
                Some(WAIT) => {
                    self.begun.notify_one();
                    self.go_on.notified().await;
                }
                _ => {}
            }
            let count = match limit {
                Some(LONG) => 500,
                Some(HUGE) => 50_000,
                _ => 1,
            };
            let tables = (0..count).map(|number| format!("table-{number}")).collect();
            Ok(Output::ListTables(ListTablesOutput { tables, ..ListTablesOutput::default() }))
        })
    }
}

/// Default settings on a free port with one worker.
pub fn settings() -> ServerSettings {
    ServerSettings { port: 0, workers: 1, ..ServerSettings::default() }
}

/// Starts a server with the stub store.
pub fn start(settings: ServerSettings) -> Running {
    Server::bind(settings).unwrap().start(Arc::new(Stub::default()), None).unwrap()
}

/// Parsed HTTP response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

/// Client connection.
pub struct Client {
    pub stream: BufReader<TcpStream>,
}

impl Client {
    pub fn connect(running: &Running) -> Self {
        Self::to(running.address())
    }

    pub fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { stream: BufReader::new(stream) }
    }

    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    pub fn request(&mut self, head: &str, body: &[u8]) -> Answer {
        self.send(head.as_bytes());
        self.send(body);
        self.answer().unwrap()
    }

    /// Sends an operation with additional header lines.
    pub fn operation(&mut self, target: &str, headers: &str, body: &[u8]) -> Answer {
        self.request(&operation_head(target, headers, body.len()), body)
    }

    pub fn list_tables(&mut self, headers: &str, limit: usize) -> Answer {
        self.operation("ListTables", headers, format!("{{\"Limit\":{limit}}}").as_bytes())
    }

    pub fn get(&mut self, path: &str) -> Answer {
        self.request(&format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n"), b"")
    }

    /// Returns the next response, or `None` when the connection is closed.
    pub fn answer(&mut self) -> Option<Answer> {
        let status_line = self.line()?;
        let status = status_line.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(':').unwrap();
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        answer.body.resize(length, 0);
        self.stream.read_exact(&mut answer.body).unwrap();
        Some(answer)
    }

    /// Waits for the server to close the connection; returns false if it sends more.
    pub fn is_closed(&mut self) -> bool {
        self.line().is_none()
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.stream.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end().to_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            Err(error) => panic!("the server neither answered nor closed: {error}"),
        }
    }
}

/// Returns the head of an operation.
pub fn operation_head(target: &str, headers: &str, length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.{target}\r\ncontent-length: {length}\r\n{headers}\r\n"
    )
}
