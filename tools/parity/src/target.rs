//! One of the servers that are compared: an external one, known by its address, or one that was started here.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};

use keyform_driver::http::Connection;
use keyform_driver::server::{Launch, Server};
use serde_json::{Value, json};

use crate::outcome::{Outcome, sort};
use crate::request::{Reading, Request};
use crate::{names, written};

const PAGES_MAX: usize = 60;

/// A server under comparison.
#[derive(Debug)]
pub struct Target {
    /// Name in reports and decisions.
    pub name: String,
    /// Number of restarts.
    pub crashes: usize,
    connection: Connection,
    started: Option<(Launch, Server)>,
}

impl Target {
    /// Returns a running server.
    ///
    /// # Errors
    /// Returns an error if the URL has no address.
    pub fn at(name: &str, url: &str) -> io::Result<Self> {
        let address = address_of(url)?;
        Ok(Self { name: name.to_owned(), crashes: 0, connection: Connection::to(address), started: None })
    }

    /// Starts a server.
    ///
    /// # Errors
    /// Returns an error if it does not start.
    pub fn start(launch: Launch) -> io::Result<Self> {
        let server = launch.start()?;
        let connection = Connection::to(server.address());
        Ok(Self { name: launch.engine.to_string(), crashes: 0, connection, started: Some((launch, server)) })
    }

    /// Sends a request and, if its comparison requires it, follows all pages.
    pub fn ask(&mut self, request: &Request) -> Outcome {
        match &request.reading {
            Reading::Exact => {
                let body = names::resolved(self, &request.body);
                self.call(&request.target(), &request.operation, &body)
            }
            Reading::Written => written::ask(self, &request.body),
            Reading::AnyOrder => self.drain(request, None),
            Reading::OrderedBy(attribute) => self.drain(request, Some(attribute)),
        }
    }

    /// Sends a body to an operation once.
    pub fn call(&mut self, target: &str, operation: &str, body: &Value) -> Outcome {
        match self.connection.call(target, body.to_string().as_bytes()) {
            Ok(answer) => Outcome::of(operation, &answer),
            Err(error) => Outcome::unanswered(&error.to_string()),
        }
    }

    /// Returns the unchanged answer of an operation; null if it has no body.
    pub fn raw(&mut self, target: &str, body: &Value) -> Value {
        let answer = self.connection.call(target, body.to_string().as_bytes());
        answer.ok().and_then(|answer| serde_json::from_slice(&answer.body).ok()).unwrap_or_default()
    }

    /// Sends a body to an operation of the main service once.
    pub fn simple(&mut self, operation: &str, body: &Value) -> Outcome {
        self.call(&format!("DynamoDB_20120810.{operation}"), operation, body)
    }

    fn drain(&mut self, request: &Request, order: Option<&str>) -> Outcome {
        let mut body = request.body.clone();
        let mut whole = self.call(&request.target(), &request.operation, &body);
        let mut next = take_next(&mut whole.body);
        for _ in 0..PAGES_MAX {
            let Some((member, key)) = next.take() else { break };
            body[member] = key;
            let mut page = self.call(&request.target(), &request.operation, &body);
            if !page.is_success() {
                return page;
            }
            next = take_next(&mut page.body);
            append(&mut whole.body, page.body);
        }
        if request.body.get("Limit").is_some() {
            forget_capacity(&mut whole.body);
        }
        finish_drained(&mut whole, order);
        whole
    }

    /// Returns whether the server has died; restarts a server that was started here.
    ///
    /// # Errors
    /// Returns an error if it does not start again.
    pub fn revive(&mut self) -> io::Result<bool> {
        let Some((launch, server)) = &mut self.started else { return Ok(false) };
        if !server.has_ended() {
            return Ok(false);
        }
        self.crashes += 1;
        *server = launch.start()?;
        self.connection = Connection::to(server.address());
        Ok(true)
    }
}

/// Returns the member of the next request that continues a page, and its value.
fn take_next(body: &mut Value) -> Option<(&'static str, Value)> {
    let map = body.as_object_mut()?;
    if let Some(key) = map.remove("LastEvaluatedKey") {
        return Some(("ExclusiveStartKey", key));
    }
    map.remove("NextToken").map(|token| ("NextToken", token))
}

fn append(whole: &mut Value, page: Value) {
    for name in ["Count", "ScannedCount"] {
        if let (Some(one), Some(two)) = (whole[name].as_u64(), page[name].as_u64()) {
            whole[name] = json!(one + two);
        }
    }
    if let (Some(items), Some(more)) = (whole["Items"].as_array_mut(), page["Items"].as_array()) {
        items.extend(more.iter().cloned());
    }
    forget_capacity(whole);
}

/// The cost of several pages depends on where they end, which differs between servers.
fn forget_capacity(whole: &mut Value) {
    if let Some(map) = whole.as_object_mut() {
        map.remove("ConsumedCapacity");
    }
}

fn finish_drained(whole: &mut Outcome, order: Option<&str>) {
    if let Some(attribute) = order {
        let items = whole.body["Items"].as_array();
        let keys: Option<Vec<Value>> = items.map(|items| items.iter().map(|item| item[attribute].clone()).collect());
        if let Some(keys) = keys {
            whole.body["order"] = keys.into();
        }
    }
    if whole.is_success() {
        sort(&mut whole.body["Items"]);
        if whole.body["Items"].is_null() {
            whole.body.as_object_mut().map(|map| map.remove("Items"));
        }
    }
}

fn address_of(url: &str) -> io::Result<SocketAddr> {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    host.to_socket_addrs()?.next().ok_or_else(|| io::Error::other(format!("{url} names no address")))
}
