//! An application over real HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use keyform::application::Application;
use keyform::flow::Host;
use keyform::serde_json::{Value, from_str};
use keyform::server::{Models, Running, ServerSettings};

/// An application served on its own port. Dropping it stops the server.
pub struct Site(Option<Running>);

/// Answer of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// JSON body; null without a body.
    pub body: Value,
}

impl Site {
    /// Serves an application with the token keys of its host.
    ///
    /// # Panics
    /// Panics if no port is free.
    #[must_use]
    pub fn start(application: &Application, host: &Host) -> Self {
        let models = Models::default();
        models.put(application.served());
        let token_keys = host.token_keys().clone();
        let settings = ServerSettings { port: 0, workers: 1, models, token_keys, ..ServerSettings::default() };
        Self(Some(keyform::serve_models(settings, host.store()).unwrap()))
    }

    /// Calls a read: `/v1/{model}/{read}?…`
    ///
    /// # Panics
    /// Panics if the server does not answer.
    pub fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send("GET", path, headers, "")
    }

    /// Calls a write or a flow: `/v1/{model}/{name}`
    ///
    /// # Panics
    /// Panics if the server does not answer.
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let json = [("content-type", "application/json")];
        self.send("POST", path, &[headers, &json].concat(), &body.to_string())
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let running = self.0.as_ref().unwrap();
        let mut stream = TcpStream::connect(running.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        parsed(&text)
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        if let Some(running) = self.0.take() {
            running.stop();
        }
    }
}

fn parsed(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let body = if body.is_empty() { Value::Null } else { from_str(body).unwrap() };
    Answer { status, body }
}
