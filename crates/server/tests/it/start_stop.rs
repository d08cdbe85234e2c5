//! Startup, rejected configurations, and shutdown without losing a request.

use std::sync::Arc;
use std::time::Duration;

use crate::support::{self, Client, Stub, WAIT, settings, start};
use keyform_server::{Credentials, Server, ServerSettings, StartError, Timeouts};

fn refusal(settings: ServerSettings) -> StartError {
    Server::bind(settings).unwrap_err()
}

#[test]
fn free_port_is_taken_and_told() {
    let server = start(settings());
    assert_ne!(server.address().port(), 0);
    assert_eq!(server.url(), format!("http://127.0.0.1:{}", server.address().port()));
}

#[test]
fn port_in_use_is_refused_with_advice() {
    let server = start(settings());
    let refused = refusal(ServerSettings { port: server.address().port(), ..settings() });
    assert!(matches!(refused, StartError::PortInUse { .. }));
    assert!(refused.to_string().contains("another port"), "{refused}");
}

#[test]
fn address_for_others_is_refused_without_credentials() {
    for host in ["0.0.0.0", "::", "[::]"] {
        let refused = refusal(ServerSettings { host: host.to_owned(), ..settings() });
        assert!(matches!(refused, StartError::Unprotected { .. }), "{refused}");
        assert!(refused.to_string().contains("keyform credentials add"), "{refused}");
    }
    let credentials = Credentials::new([("id".to_owned(), "secret".to_owned())]);
    let server = start(ServerSettings { host: "0.0.0.0".to_owned(), credentials, ..settings() });
    assert!(server.url().starts_with("http://127.0.0.1:"));
}

#[test]
fn unknown_host_is_refused() {
    let refused = refusal(ServerSettings { host: "no such host".to_owned(), ..settings() });
    assert!(matches!(refused, StartError::UnknownHost { .. }), "{refused}");
}

#[test]
fn running_request_is_answered_before_the_server_stops() {
    let stub = Arc::new(Stub::default());
    let server = Server::bind(settings()).unwrap().start(stub.clone(), None).unwrap();
    let address = server.address();
    let mut client = Client::connect(&server);
    let mut idle = Client::connect(&server);
    assert_eq!(idle.list_tables("", 1).status, 200);
    client.send(support::operation_head("ListTables", "", 12).as_bytes());
    client.send(format!("{{\"Limit\":{WAIT}}}").as_bytes());
    wait_for(stub.begun.notified());
    let stopping = std::thread::spawn(move || server.stop());
    assert!(idle.is_closed());
    stub.go_on.notify_one();
    assert_eq!(client.answer().unwrap().status, 200);
    assert!(client.is_closed());
    assert_eq!(stopping.join().unwrap(), 0);
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn request_on_its_way_is_answered_while_the_server_stops() {
    let timeouts = Timeouts { linger: Duration::from_secs(10), ..Timeouts::default() };
    let server = start(ServerSettings { timeouts, ..settings() });
    let address = server.address();
    let mut client = Client::connect(&server);
    assert_eq!(client.list_tables("", 1).status, 200);
    let stopping = std::thread::spawn(move || server.stop());
    while std::net::TcpStream::connect(address).is_ok() {
        std::thread::yield_now();
    }
    let answer = client.list_tables("", 1);
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert!(client.is_closed());
    assert_eq!(stopping.join().unwrap(), 0);
}

#[test]
fn request_that_does_not_end_is_cut_off() {
    let stub = Arc::new(Stub::default());
    let timeouts = Timeouts { drain: Duration::from_millis(20), ..Timeouts::default() };
    let server = Server::bind(ServerSettings { timeouts, ..settings() }).unwrap().start(stub.clone(), None).unwrap();
    let mut client = Client::connect(&server);
    client.send(support::operation_head("ListTables", "", 12).as_bytes());
    client.send(format!("{{\"Limit\":{WAIT}}}").as_bytes());
    wait_for(stub.begun.notified());
    assert_eq!(server.stop(), 1);
    assert!(client.is_closed());
}

fn wait_for(event: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(event);
}
