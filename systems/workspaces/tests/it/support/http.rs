//! Served system, and a minimal HTTP client.

use std::sync::Arc;

use keyform::execute::BoxFuture;
use keyform::flow::{Host, TokenKeys};
use keyform::server::{Models, Running, ServerSettings};
use keyform::{Error, Execute, Operation, Output, Uuid};
use keyform_workspaces::application;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;

/// Store whose requests run on the test's runtime, whichever thread sends them, so that its connections outlive the
/// server's threads.
struct Here(Arc<dyn Execute>, Handle);

impl Execute for Here {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        let store = self.0.clone();
        let work = self.1.spawn(async move { store.execute(operation).await });
        Box::pin(async { work.await.unwrap() })
    }
}

/// Running system. Dropping it stops the server.
pub struct Served {
    running: Option<Running>,
    pub address: std::net::SocketAddr,
}

impl Served {
    /// Starts the server; without configured keys, callers name themselves in a header.
    pub fn start(host: &Host, token_keys: TokenKeys) -> Self {
        let store: Arc<dyn Execute> = Arc::new(Here(host.store(), Handle::current()));
        let host = Host::shared(store.clone()).with_options(host.options()).with_token_keys(host.token_keys().clone());
        let models = Models::default();
        models.put(application(&host).unwrap().served());
        let settings = ServerSettings { port: 0, workers: 2, models, token_keys, ..ServerSettings::default() };
        let running = keyform::serve_models(settings, store).unwrap();
        Self { address: running.address(), running: Some(running) }
    }

    /// Returns a client that uses the development header.
    pub fn client(&self, person: &Uuid) -> Client {
        Client { address: self.address, header: format!("x-keyform-caller: userId={person}") }
    }

    pub fn client_with_token(&self, token: &str) -> Client {
        Client { address: self.address, header: format!("authorization: Bearer {token}") }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop();
        }
    }
}

#[derive(Clone)]
pub struct Client {
    address: std::net::SocketAddr,
    header: String,
}

impl Client {
    /// Calls a read; returns status and answer.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, &[], "").await
    }

    /// Calls a write or a flow.
    pub async fn post(&self, name: &str, body: &Value) -> (u16, Value) {
        self.send("POST", name, &["content-type: application/json"], &body.to_string()).await
    }

    /// Calls a write or a flow with an idempotency key.
    pub async fn post_once(&self, name: &str, body: &Value, key: &str) -> (u16, Value) {
        let key = format!("idempotency-key: {key}");
        self.send("POST", name, &["content-type: application/json", &key], &body.to_string()).await
    }

    async fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let head = format!(
            "{method} /v1/workspaces/{path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{}\r\n{more}content-length: {}\r\n\r\n{body}",
            self.header,
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert!(!head.to_lowercase().contains("transfer-encoding"), "{head}");
        (status, serde_json::from_str(body).unwrap_or(Value::Null))
    }
}
