//! Requests that a proxy and a server could parse differently, endless heads, and pending connections at shutdown.

use std::io::Write as _;
use std::net::Shutdown;
use std::sync::Arc;

use crate::support::{Client, Stub, operation_head, settings, start};
use keyform_server::{Server, ServerSettings};

const GOOD: &str = "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Sends the bytes in pieces on one connection and returns the statuses of all answers.
fn statuses(bytes: &[u8], piece: usize) -> Vec<u16> {
    let server = start(settings());
    let mut client = Client::connect(&server);
    // The server may close the connection before it has read all bytes.
    let sent = bytes.chunks(piece).all(|piece| client.stream.get_mut().write_all(piece).is_ok());
    if sent {
        drop(client.stream.get_ref().shutdown(Shutdown::Write));
    }
    std::iter::from_fn(|| client.answer()).map(|answer| answer.status).collect()
}

#[test]
fn ambiguous_requests_are_refused_and_what_follows_is_not_seen() {
    let body = "content-length: 2\r\n\r\n{}";
    for bad in [
        "GET /healthz HTTP/1.1\nhost: localhost\n\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: localhost\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\n".to_owned(),
        format!("POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n{body}"),
        format!("POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n{body}"),
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
            .to_owned(),
        "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n".to_owned(),
        "POST / HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: identity\r\n\r\n".to_owned(),
        "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: +2\r\n\r\n{}".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost : localhost\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: a\r\n b\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: a\rb\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n".to_owned(),
    ] {
        for piece in [1, 7, 4096] {
            let bytes = [GOOD, bad.as_str(), GOOD].concat();
            assert_eq!(statuses(bytes.as_bytes(), piece), [200, 400], "{bad:?} in pieces of {piece}");
        }
    }
}

#[test]
fn requests_that_follow_each_other_are_told_apart() {
    let chunked =
        operation_head("ListTables", "transfer-encoding: chunked\r\n", 0).replace("content-length: 0\r\n", "");
    let bytes = [
        GOOD,
        "\r\n",
        &operation_head("ListTables", "", 4),
        "{\n\n}",
        &chunked,
        "2;name=value\r\n{\n\r\n1\r\n}\r\n0\r\ntrailer: x\r\n\r\n",
        GOOD,
    ]
    .concat();
    for piece in [1, 3, 4096] {
        assert_eq!(statuses(bytes.as_bytes(), piece), [200, 200, 200, 200]);
    }
}

#[test]
fn a_broken_chunk_is_a_broken_body() {
    let chunked =
        operation_head("ListTables", "transfer-encoding: chunked\r\n", 0).replace("content-length: 0\r\n", "");
    for body in ["zz\r\n", "2\n{}\r\n0\r\n\r\n", "2\r\n{}x\r\n0\r\n\r\n"] {
        assert_eq!(statuses(format!("{chunked}{body}{GOOD}").as_bytes(), 4096), [400], "{body:?}");
    }
}

#[test]
fn heads_are_bounded_and_the_refusal_arrives() {
    let server = start(settings());
    let line = format!("x: {}\r\n", "a".repeat(1000));
    for (head, expected) in [
        (format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{}\r\n", line.repeat(20)), 200),
        (format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{}\r\n", line.repeat(500)), 431),
        (format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "a: b\r\n".repeat(200)), 431),
        (format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "a".repeat(500_000)), 431),
    ] {
        assert_eq!(Client::connect(&server).request(&head, b"").status, expected);
    }
}

#[test]
fn connections_that_wait_are_served_when_the_server_stops() {
    let server = Server::bind(ServerSettings { workers: 2, ..settings() }).unwrap();
    let address = server.address();
    let mut clients: Vec<_> = (0..64).map(|_| Client::to(address)).collect();
    for client in &mut clients {
        client.send(operation_head("ListTables", "", 2).as_bytes());
        client.send(b"{}");
    }
    let running = server.start(Arc::new(Stub::default()), None).unwrap();
    assert_eq!(running.stop(), 0);
    for mut client in clients {
        assert_eq!(client.answer().map(|answer| answer.status), Some(200));
        assert!(client.is_closed());
    }
}
