//! HTTP behaviour that SDKs and probes rely on: answers, headers, compression, limits and errors.

use std::io::{Read, Write};
use std::time::Duration;

use crate::support::{Client, HUGE, LONG, PANIC, operation_head, settings, start};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use keyform_server::{Limits, Timeouts};

const ONE_TABLE: &str = r#"{"TableNames":["table-0"]}"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    gzip_with(bytes, Compression::fast())
}

fn gzip_with(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    plain
}

#[test]
fn operation_is_answered_with_the_headers_of_the_service() {
    let server = start(settings());
    let answer = Client::connect(&server).list_tables("", 1);
    assert_eq!((answer.status, answer.text().as_str()), (200, ONE_TABLE));
    assert_eq!(answer.header("content-type"), Some("application/x-amz-json-1.0"));
    assert_eq!(answer.header("x-amz-crc32"), Some(crc32fast::hash(&answer.body).to_string().as_str()));
    assert_eq!(answer.header("x-amzn-requestid").map(str::len), Some(52));
    assert_eq!(answer.header("server"), Some("keyform"));
    assert!(answer.header("date").is_some());
}

#[test]
fn content_type_is_not_looked_at() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    for content_type in ["", "content-type: text/plain\r\n"] {
        let head = format!(
            "POST / HTTP/1.1\r\nhost: localhost\r\nx-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 11\r\n{content_type}\r\n"
        );
        let answer = client.request(&head, b"{\"Limit\":1}");
        assert_eq!((answer.status, answer.text().as_str()), (200, ONE_TABLE));
    }
}

#[test]
fn connection_serves_many_requests() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let mut ids = Vec::new();
    for _ in 0..5 {
        let answer = client.list_tables("", 1);
        assert_eq!(answer.status, 200);
        ids.push(answer.header("x-amzn-requestid").unwrap().to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[test]
fn old_http_is_answered_and_closed() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let head = operation_head("ListTables", "", 2).replace("HTTP/1.1", "HTTP/1.0");
    assert_eq!(client.request(&head, b"{}").status, 200);
    assert!(client.is_closed());
}

#[test]
fn chunked_body_is_put_together() {
    let server = start(settings());
    let head = operation_head("ListTables", "transfer-encoding: chunked\r\n", 0).replace("content-length: 0\r\n", "");
    let answer = Client::connect(&server).request(&head, b"3\r\n{\"L\r\n8\r\nimit\":1}\r\n0\r\n\r\n");
    assert_eq!((answer.status, answer.text().as_str()), (200, ONE_TABLE));
}

#[test]
fn packed_body_is_unpacked() {
    let server = start(settings());
    let answer =
        Client::connect(&server).operation("ListTables", "content-encoding: gzip\r\n", &gzip(br#"{"Limit":1}"#));
    assert_eq!((answer.status, answer.text().as_str()), (200, ONE_TABLE));
}

#[test]
fn body_that_is_not_packed_as_said_is_refused() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    for encoding in ["gzip", "br"] {
        let answer = client.operation("ListTables", &format!("content-encoding: {encoding}\r\n"), b"{}");
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains("com.amazon.coral.service#SerializationException"), "{}", answer.text());
    }
}

#[test]
fn long_answer_is_packed_when_asked_for() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let plain = client.list_tables("accept-encoding: identity\r\n", LONG);
    assert_eq!(plain.header("content-encoding"), None);
    let packed = client.list_tables("accept-encoding: gzip, deflate\r\n", LONG);
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    assert_eq!(packed.header("x-amz-crc32"), Some(crc32fast::hash(&packed.body).to_string().as_str()));
    assert!(packed.body.len() < plain.body.len() / 2);
    assert_eq!(gunzip(&packed.body), plain.body);
    let short = client.list_tables("accept-encoding: gzip\r\n", 1);
    assert_eq!(short.header("content-encoding"), None);
}

#[test]
fn too_large_body_is_refused_before_it_is_read() {
    let limits = Limits { body_bytes_max: 1000, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, ..settings() });
    let mut client = Client::connect(&server);
    client.send(operation_head("ListTables", "", 1001).as_bytes());
    let answer = client.answer().unwrap();
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("1000 bytes"), "{}", answer.text());
    assert!(client.is_closed());
}

#[test]
fn too_large_chunked_body_is_refused_when_it_passes_the_limit() {
    let limits = Limits { body_bytes_max: 1000, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, ..settings() });
    let mut client = Client::connect(&server);
    let head = operation_head("ListTables", "transfer-encoding: chunked\r\n", 0).replace("content-length: 0\r\n", "");
    client.send(head.as_bytes());
    client.send(format!("3e9\r\n{}\r\n", "x".repeat(1001)).as_bytes());
    assert_eq!(client.answer().unwrap().status, 413);
}

#[test]
fn small_body_that_unpacks_to_a_large_one_is_refused() {
    let limits = Limits { body_bytes_max: 100_000, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, ..settings() });
    let bomb = gzip(&vec![b' '; 10_000_000]);
    assert!(bomb.len() < 100_000);
    let answer = Client::connect(&server).operation("ListTables", "content-encoding: gzip\r\n", &bomb);
    assert_eq!(answer.status, 413);
}

#[test]
fn bombs_are_refused_without_taking_the_memory_of_other_bodies() {
    // No room for even one large body: a bomb that acquired a share would wait for itself.
    let limits = Limits { body_bytes_max: 1_000_000, large_bodies_bytes_max: 1, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, workers: 1, ..settings() });
    let one_member = gzip(&vec![b' '; 50_000_000]);
    let many_members: Vec<u8> = gzip(&vec![b' '; 200_000]).repeat(40);
    let empty_members: Vec<u8> = gzip(b"").repeat(2000).into_iter().chain(gzip(&vec![b' '; 2_000_000])).collect();
    let nested = gzip(&gzip(&vec![b' '; 50_000_000]));
    std::thread::scope(|scope| {
        for (bomb, status) in [(&one_member, 413), (&many_members, 413), (&empty_members, 413), (&nested, 400)] {
            for _ in 0..4 {
                let server = &server;
                scope.spawn(move || {
                    let answer = Client::connect(server).operation("ListTables", "content-encoding: gzip\r\n", bomb);
                    assert_eq!(answer.status, status, "{}", answer.text());
                });
            }
        }
    });
    assert_eq!(Client::connect(&server).list_tables("", 1).text(), ONE_TABLE);
}

#[test]
fn large_packed_body_is_unpacked_within_the_budget() {
    let limits = Limits { large_bodies_bytes_max: 1, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, ..settings() });
    let body = format!("{{\"Limit\":1{}}}", " ".repeat(3_000_000));
    let packed: Vec<u8> = gzip(body.as_bytes());
    let stored = gzip_with(body.as_bytes(), Compression::none());
    assert!(stored.len() > 3_000_000);
    for packed in [packed, stored] {
        let answer = Client::connect(&server).operation("ListTables", "content-encoding: gzip\r\n", &packed);
        assert_eq!((answer.status, answer.text().as_str()), (200, ONE_TABLE));
    }
}

#[test]
fn slow_body_is_given_up() {
    let timeouts = Timeouts { body: Duration::from_millis(50), ..Timeouts::default() };
    let server = start(keyform_server::ServerSettings { timeouts, ..settings() });
    let mut client = Client::connect(&server);
    client.send(operation_head("ListTables", "", 10).as_bytes());
    client.send(b"{");
    assert_eq!(client.answer().unwrap().status, 408);
    assert!(client.is_closed());
}

#[test]
fn slow_head_and_idle_connection_are_closed() {
    let timeouts = Timeouts { idle: Duration::from_millis(50), ..Timeouts::default() };
    let server = start(keyform_server::ServerSettings { timeouts, ..settings() });
    let mut slow = Client::connect(&server);
    slow.send(b"POST / HTTP/1.1\r\nhost: loc");
    assert!(slow.is_closed());
    // On a busy machine this client may be too slow with its request: then try another connection.
    let request = [operation_head("ListTables", "", 2).as_bytes(), b"{}"].concat();
    let answered = std::iter::repeat_with(|| Client::connect(&server)).find_map(|mut idle| {
        let sent = idle.stream.get_mut().write_all(&request).is_ok();
        let answer = if sent { idle.answer() } else { None };
        answer.map(|answer| (idle, answer.status))
    });
    let (mut idle, status) = answered.unwrap();
    assert_eq!(status, 200);
    assert!(idle.is_closed());
}

#[test]
fn client_that_closes_its_side_is_still_answered() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    client.send(operation_head("ListTables", "", 2).as_bytes());
    client.send(b"{}");
    client.stream.get_ref().shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.answer().unwrap().status, 200);
    assert!(client.is_closed());
}

#[test]
fn client_that_does_not_take_its_answers_is_cut_off() {
    let timeouts = Timeouts { write: Duration::from_millis(50), ..Timeouts::default() };
    let server = start(keyform_server::ServerSettings { timeouts, ..settings() });
    let mut client = Client::connect(&server);
    let body = format!("{{\"Limit\":{LONG}}}");
    let request = [operation_head("ListTables", "", body.len()).as_bytes(), body.as_bytes()].concat();
    // The answers fill the buffers of both ends; then the server stops reading requests, and finally closes the
    // connection.
    let refused = (0..1_000_000).find_map(|_| client.stream.get_mut().write_all(&request).err());
    assert!(refused.is_some_and(|error| error.kind() != std::io::ErrorKind::WouldBlock));
}

#[test]
fn unknown_operation_is_refused() {
    let server = start(settings());
    let answer = Client::connect(&server).operation("MakeCoffee", "", b"{}");
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("com.amazon.coral.service#UnknownOperationException"), "{}", answer.text());
}

#[test]
fn error_of_the_store_becomes_its_status_and_type() {
    let server = start(settings());
    let answer = Client::connect(&server).operation("DescribeTable", "", br#"{"TableName":"absent"}"#);
    assert_eq!(answer.status, 400);
    assert!(answer.text().contains("com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"), "{}", answer.text());
    assert_eq!(answer.header("x-amz-crc32"), Some(crc32fast::hash(&answer.body).to_string().as_str()));
}

#[test]
fn panic_becomes_an_error_and_the_connection_lives_on() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let answer = client.list_tables("", PANIC);
    assert_eq!(answer.status, 500);
    assert!(answer.text().contains("InternalServerError"));
    assert_eq!(client.list_tables("", 1).status, 200);
}

#[test]
fn panic_beside_the_workers_becomes_an_error_too() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let answer = client.operation("Scan", "", br#"{"TableName":"panic"}"#);
    assert_eq!(answer.status, 500);
    assert_eq!(client.operation("Scan", "", br#"{"TableName":"absent"}"#).status, 400);
    assert_eq!(client.list_tables("", 1).status, 200);
}

#[test]
fn large_body_and_large_answer_are_served_beside_the_workers() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let body = format!("{{\"Limit\":{HUGE}{}}}", " ".repeat(1024 * 1024));
    let plain = client.operation("ListTables", "", body.as_bytes());
    assert_eq!(plain.status, 200);
    assert!(plain.body.len() > 512 * 1024);
    let packed = client.operation("ListTables", "accept-encoding: gzip\r\n", body.as_bytes());
    assert_eq!(gunzip(&packed.body), plain.body);
}

#[test]
fn large_bodies_take_turns() {
    let limits = Limits { large_bodies_bytes_max: 1, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, workers: 2, ..settings() });
    let body = format!("{{\"Limit\":1{}}}", " ".repeat(1024 * 1024));
    let packed = gzip(body.as_bytes());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = Client::connect(&server);
                assert_eq!(client.operation("ListTables", "", body.as_bytes()).text(), ONE_TABLE);
                assert_eq!(client.operation("ListTables", "content-encoding: gzip\r\n", &packed).text(), ONE_TABLE);
            });
        }
    });
}

#[test]
fn endpoints_point_back_to_the_server() {
    let server = start(settings());
    let answer = Client::connect(&server).operation("DescribeEndpoints", "", b"{}");
    assert_eq!(answer.text(), r#"{"Endpoints":[{"Address":"localhost","CachePeriodInMinutes":1440}]}"#);
}

#[test]
fn probes_are_answered() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let health = client.get("/");
    assert_eq!((health.status, health.text().trim_end()), (200, "healthy: dynamodb.us-east-1.amazonaws.com"));
    assert_eq!(client.get("/healthz").text(), "ok\n");
    assert_eq!(client.get("/readyz").text(), "ready\n");
}

#[test]
fn other_paths_and_methods_are_refused_with_advice() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    let absent = client.get("/absent");
    assert_eq!(absent.status, 404);
    assert!(absent.text().starts_with("{\"message\":\"Unknown path"));
    let put = client.request("PUT / HTTP/1.1\r\nhost: localhost\r\n\r\n", b"");
    assert_eq!((put.status, put.header("allow")), (405, Some("GET, HEAD, POST")));
    let post = client.request("POST /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n", b"");
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn figures_count_operations_and_errors() {
    let server = start(settings());
    let mut client = Client::connect(&server);
    client.list_tables("", 1);
    client.list_tables("", 1);
    client.operation("DescribeTable", "", br#"{"TableName":"absent"}"#);
    let page = client.get("/metrics").text();
    for line in [
        "keyform_request_seconds_count{operation=\"ListTables\"} 2",
        "keyform_request_seconds_bucket{operation=\"ListTables\",le=\"+Inf\"} 2",
        "keyform_errors_total{operation=\"DescribeTable\",code=\"ResourceNotFoundException\"} 1",
        "keyform_connections 1",
        "keyform_connections_total 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{line} is not in\n{page}");
    }
    assert!(page.contains("process_resident_memory_bytes "));
}

#[test]
fn connections_beyond_the_limit_are_turned_away() {
    let limits = Limits { connections_max: 1, ..Limits::default() };
    let server = start(keyform_server::ServerSettings { limits, ..settings() });
    let mut first = Client::connect(&server);
    assert_eq!(first.list_tables("", 1).status, 200);
    let mut second = Client::connect(&server);
    assert_eq!(second.answer().unwrap().status, 503);
}
