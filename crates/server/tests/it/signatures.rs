//! Signatures over HTTP: with credentials configured, only requests signed by one of them are executed.

use std::sync::Arc;

use crate::support::{Answer, Client, settings, start};
use keyform_server::{Credentials, ServerSettings};
use keyform_world::testing::ManualWorld;

/// Signature that botocore computes for the request below.
const SIGNATURE: &str = "2c15ed7ee8360be5191c4f7fa4c3786076090b77a41d66fafd26efa4f0cd0e21";
/// 2015-08-30 12:36:00 UTC.
const SIGNED_AT_SECS: u64 = 1_440_938_160;

fn protected(now_secs: u64) -> ServerSettings {
    let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned();
    let credentials = Credentials::new([("AKIDEXAMPLE".to_owned(), secret)]);
    let world = Arc::new(ManualWorld::at_ms(now_secs * 1000));
    ServerSettings { credentials, world, ..settings() }
}

fn send(settings: ServerSettings, access_key: &str, signature: &str) -> Answer {
    let server = start(settings);
    let head = format!(
        "POST / HTTP/1.1\r\nhost: localhost:8000\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: DynamoDB_20120810.ListTables\r\nx-amz-date: 20150830T123600Z\r\ncontent-length: 2\r\nauthorization: AWS4-HMAC-SHA256 Credential={access_key}/20150830/us-east-1/dynamodb/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature={signature}\r\n\r\n"
    );
    Client::connect(&server).request(&head, b"{}")
}

#[test]
fn signed_request_is_executed() {
    assert_eq!(send(protected(SIGNED_AT_SECS), "AKIDEXAMPLE", SIGNATURE).status, 200);
}

#[test]
fn wrong_expired_and_unknown_signatures_are_refused() {
    for (now_secs, access_key, signature, expected) in [
        (SIGNED_AT_SECS, "AKIDEXAMPLE", "00", "InvalidSignatureException"),
        (SIGNED_AT_SECS + 301, "AKIDEXAMPLE", SIGNATURE, "Signature expired"),
        (SIGNED_AT_SECS, "AKIDOTHER", SIGNATURE, "UnrecognizedClientException"),
    ] {
        let answer = send(protected(now_secs), access_key, signature);
        assert_eq!(answer.status, 400);
        assert!(answer.text().contains(expected), "{}", answer.text());
    }
}

#[test]
fn unsigned_request_is_refused_only_when_credentials_are_configured() {
    let server = start(protected(SIGNED_AT_SECS));
    let answer = Client::connect(&server).list_tables("", 1);
    assert!(answer.text().contains("MissingAuthenticationTokenException"), "{}", answer.text());
    let open = start(settings());
    assert_eq!(Client::connect(&open).list_tables("", 1).status, 200);
    assert_eq!(send(settings(), "anybody", "00").status, 200);
}

#[test]
fn unsigned_large_body_is_refused_before_it_is_sent() {
    let server = start(protected(SIGNED_AT_SECS));
    let head = "POST / HTTP/1.1\r\nhost: localhost:8000\r\nx-amz-target: DynamoDB_20120810.PutItem\r\ncontent-length: 16000000\r\n\r\n";
    let answer = Client::connect(&server).request(head, b"");
    assert!(answer.text().contains("MissingAuthenticationTokenException"), "{}", answer.text());
}
