//! Signatures from AWS's published examples and from botocore are accepted; all others are rejected with the service's
//! messages.

use std::sync::Arc;

use hyper::Request;
use hyper::http::request::Parts;
use keyform_world::testing::ManualWorld;

use super::*;

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
/// 2015-08-30 12:36:00 UTC, when the examples were signed.
const SIGNED_AT_SECS: u64 = 1_440_938_160;

fn verifier(age_secs: i64) -> Verifier {
    let credentials = Credentials::new([("AKIDEXAMPLE".to_owned(), SECRET.to_owned())]);
    let world = ManualWorld::at_ms(SIGNED_AT_SECS.checked_add_signed(age_secs).unwrap() * 1000);
    Verifier::new(credentials, "us-east-1".to_owned(), Arc::new(world))
}

fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
    let mut request = Request::post(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).unwrap().into_parts().0
}

const SCOPE: &str = "AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request";
const SIGNED: &str = "content-type;host;x-amz-date;x-amz-target";
const SIGNATURE: &str = "2c15ed7ee8360be5191c4f7fa4c3786076090b77a41d66fafd26efa4f0cd0e21";

fn signed_by_botocore(authorization: &str) -> Parts {
    head(
        "/",
        &[
            ("host", "localhost:8000"),
            ("content-type", "application/x-amz-json-1.0"),
            ("x-amz-target", "DynamoDB_20120810.ListTables"),
            ("x-amz-date", "20150830T123600Z"),
            ("authorization", authorization),
        ],
    )
}

fn authorization(scope: &str, signed: &str, signature: &str) -> String {
    format!("AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={signed}, Signature={signature}")
}

fn refusal(head: &Parts, body: &[u8], age_secs: i64) -> String {
    verifier(age_secs).verify(head, body).unwrap_err().to_string()
}

#[test]
fn published_example_gives_the_published_signature() {
    let request = Request::get("/?Action=ListUsers&Version=2010-05-08")
        .header("content-type", "application/x-www-form-urlencoded; charset=utf-8")
        .header("host", "iam.amazonaws.com")
        .header("x-amz-date", "20150830T123600Z")
        .header(
            "authorization",
            authorization("AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request", "content-type;host;x-amz-date", "0"),
        );
    let head = request.body(()).unwrap().into_parts().0;
    let text = canonical::string_to_sign(&Authorization::read(&head).unwrap(), &head, b"");
    assert!(text.ends_with("f536975d06c0309214f805bb90ccff089219ecd68b2577efef23edd43b7e1a59"));
    let key = signing_key::derive(SECRET, "20150830", "us-east-1", "iam");
    let signature = signing_key::hex(signing_key::sign(&key, text.as_bytes()).as_ref());
    assert_eq!(signature, "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7");
}

#[test]
fn botocore_signature_in_a_header_is_accepted() {
    let head = signed_by_botocore(&authorization(SCOPE, SIGNED, SIGNATURE));
    for age_secs in [-300, 0, 299, 300] {
        verifier(age_secs).verify(&head, b"{}").unwrap();
    }
}

#[test]
fn botocore_signature_over_query_and_spaces_is_accepted() {
    let signed = "host;x-amz-date;x-amz-meta;x-amz-target";
    let signature = "49035ea1683a46784cea470b12f1722cfc1283723a4dc53cb6c5f8fa1b90f3c1";
    let head = head(
        "/?b=2&a=x%20y%2Fz&c=",
        &[
            ("host", "localhost:8000"),
            ("x-amz-target", "DynamoDB_20120810.ListTables"),
            ("x-amz-meta", "a   b  c"),
            ("x-amz-date", "20150830T123600Z"),
            ("authorization", &authorization(SCOPE, signed, signature)),
        ],
    );
    verifier(0).verify(&head, br#"{"Limit":1}"#).unwrap();
}

fn presigned(signature: &str) -> Parts {
    let uri = format!(
        "/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIDEXAMPLE%2F20150830%2Fus-east-1%2Fdynamodb%2Faws4_request&X-Amz-Date=20150830T123600Z&X-Amz-Expires=600&X-Amz-SignedHeaders=content-type%3Bhost%3Bx-amz-target&X-Amz-Signature={signature}"
    );
    head(
        &uri,
        &[
            ("host", "localhost:8000"),
            ("content-type", "application/x-amz-json-1.0"),
            ("x-amz-target", "DynamoDB_20120810.ListTables"),
        ],
    )
}

/// botocore moves the body into the query before signing, so the body is empty.
#[test]
fn botocore_signature_in_the_query_is_accepted_until_it_expires() {
    let head = presigned("55121c9f4fdfaeae7ee1efc36353abb83c80988d9ea75fe737473b30930a5f97");
    verifier(0).verify(&head, b"").unwrap();
    verifier(600).verify(&head, b"").unwrap();
    assert!(refusal(&head, b"", 601).contains("Signature expired: 20150830T123600Z"));
    let changed = presigned("55121c9f4fdfaeae7ee1efc36353abb83c80988d9ea75fe737473b30930a5f98");
    assert!(refusal(&changed, b"", 0).contains("does not match"));
}

#[test]
fn lifetime_of_a_presigned_request_is_a_number_of_seconds_up_to_a_week() {
    let verify = |expires: &str| {
        let mut head = presigned("55121c9f4fdfaeae7ee1efc36353abb83c80988d9ea75fe737473b30930a5f97");
        let uri = head.uri.to_string().replace("X-Amz-Expires=600", &format!("X-Amz-Expires={expires}"));
        head.uri = uri.parse().unwrap();
        refusal(&head, b"", 0)
    };
    for expires in ["", "0", "604801", "99999999999999999999", "-1", "+600", "6e2", "600.0", "%20600", "0x10", "ten"] {
        assert!(verify(expires).contains("X-Amz-Expires must be a number of seconds from 1 to 604800"), "{expires}");
    }
    // These are signed with another value, so they pass the check and do not match.
    for expires in ["1", "604800", "0600"] {
        assert!(verify(expires).contains("does not match"), "{expires}");
    }
}

#[test]
fn changed_body_header_or_signature_does_not_match() {
    let head = signed_by_botocore(&authorization(SCOPE, SIGNED, SIGNATURE));
    assert!(refusal(&head, b"{ }", 0).starts_with("InvalidSignatureException: The request signature we calculated"));
    let mut other = head.clone();
    other.headers.insert("x-amz-target", "DynamoDB_20120810.DeleteTable".parse().unwrap());
    assert!(refusal(&other, b"{}", 0).contains("does not match"));
    let short = signed_by_botocore(&authorization(SCOPE, SIGNED, &SIGNATURE[..63]));
    assert!(refusal(&short, b"{}", 0).contains("does not match"));
}

#[test]
fn age_is_reported_with_the_limits() {
    let head = signed_by_botocore(&authorization(SCOPE, SIGNED, SIGNATURE));
    assert_eq!(
        refusal(&head, b"{}", 900),
        "InvalidSignatureException: Signature expired: 20150830T123600Z is now earlier than 20150830T124600Z (20150830T125100Z - 5 min.)"
    );
    assert_eq!(
        refusal(&head, b"{}", -360),
        "InvalidSignatureException: Signature not yet current: 20150830T123600Z is still later than 20150830T123500Z (20150830T123000Z + 5 min.)"
    );
}

#[test]
fn what_is_missing_is_named() {
    let nothing = head("/", &[("host", "localhost")]);
    assert_eq!(
        refusal(&nothing, b"", 0),
        "MissingAuthenticationTokenException: Request is missing Authentication Token"
    );
    let bare = head("/", &[("host", "localhost"), ("authorization", "AWS4-HMAC-SHA256 Credential=a")]);
    assert_eq!(
        refusal(&bare, b"", 0),
        "IncompleteSignatureException: Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. Authorization=AWS4-HMAC-SHA256 Credential=a"
    );
    let query = head("/?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Date=20150830T123600Z", &[("host", "localhost")]);
    assert_eq!(
        refusal(&query, b"", 0),
        "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string parameters must include 'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. Re-examine the query-string parameters."
    );
}

#[test]
fn foreign_scope_and_unknown_key_are_refused() {
    for (scope, expected) in [
        ("AKIDOTHER/20150830/us-east-1/dynamodb/aws4_request", "UnrecognizedClientException: The security token"),
        ("AKIDEXAMPLE/20150830/eu-west-1/dynamodb/aws4_request", "scoped to a valid region, not 'eu-west-1'"),
        ("AKIDEXAMPLE/20150830/us-east-1/s3/aws4_request", "scoped to correct service: 'dynamodb'"),
        ("AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws5", "valid terminator: 'aws4_request', not 'aws5'"),
        ("AKIDEXAMPLE/20150831/us-east-1/dynamodb/aws4_request", "'20150831' != '20150830', from '20150830T123600Z'"),
        ("AKIDEXAMPLE/20150830/us-east-1", "exactly 5 slash-delimited elements"),
    ] {
        let head = signed_by_botocore(&authorization(scope, SIGNED, SIGNATURE));
        assert!(refusal(&head, b"{}", 0).contains(expected), "{}", refusal(&head, b"{}", 0));
    }
}

#[test]
fn host_and_target_must_be_signed() {
    let head = signed_by_botocore(&authorization(SCOPE, "content-type;host;x-amz-date", SIGNATURE));
    assert!(refusal(&head, b"{}", 0).contains("'x-amz-target' must be a 'SignedHeader'"));
    let head = signed_by_botocore(&authorization(SCOPE, "x-amz-date;x-amz-target", SIGNATURE));
    assert!(refusal(&head, b"{}", 0).contains("'Host' must be a 'SignedHeader'"));
}
