//! Checks that every request member in DynamoDB's model is read or rejected, never ignored.
//!
//! `clients/python/test_members.py` generates `members.txt` from the SDK's model. A member is read if it rejects a
//! value of the wrong type; it is unsupported if the error message names it.

use std::collections::BTreeSet;

use keyform_core::error::{ErrorCode, request};
use keyform_core::operation::OperationKind;
use keyform_wire::{decode, target};

/// One line of the list: a member of an operation's request, at any depth.
struct Member<'a> {
    target: &'a str,
    path: &'a str,
    kind: &'a str,
}

fn members() -> impl Iterator<Item = Member<'static>> {
    include_str!("../members.txt").lines().map(|line| {
        let mut parts = line.split(' ');
        let mut next = || parts.next().expect("a line has a target, a path and a type");
        Member { target: next(), path: next(), kind: next() }
    })
}

impl Member<'_> {
    /// Returns a body that contains only this member, with `value`.
    fn body(&self, value: &str) -> String {
        self.path.split('.').rev().fold(value.to_owned(), |value, part| {
            let name = part.trim_end_matches(['[', ']', '{', '}']);
            let wrapped = part.as_bytes()[name.len()..].chunks(2).rev().fold(value, |value, wrap| match wrap {
                b"[]" => format!("[{value}]"),
                _ => format!(r#"{{"abc":{value}}}"#),
            });
            format!(r#"{{"{name}":{wrapped}}}"#)
        })
    }

    /// Returns a value that is invalid for the member's type.
    fn wrong_value(&self) -> &'static str {
        match self.kind {
            "string" | "blob" | "boolean" => "1",
            "timestamp" => "[]",
            _ => r#""x""#,
        }
    }

    fn is_refused_by_name(&self, error: &keyform_core::Error) -> bool {
        let names = self.path.split('.').map(|part| part.trim_end_matches(['[', ']', '{', '}']));
        names.into_iter().any(|name| *error == request::member_not_supported(name))
    }
}

/// Operations of the list without a line: one without members, and one that the endpoint does not serve.
const WITHOUT_LINES: [OperationKind; 2] = [OperationKind::DescribeLimits, OperationKind::UpdateContinuousBackups];

#[test]
fn operations_have_the_names_and_endpoints_of_the_service() {
    let ours: BTreeSet<String> =
        OperationKind::ALL.iter().filter(|kind| !WITHOUT_LINES.contains(kind)).map(|kind| target(*kind)).collect();
    let theirs: BTreeSet<String> = members().map(|member| member.target.to_owned()).collect();
    assert_eq!(ours, theirs);
}

#[test]
fn every_member_is_read_or_refused() {
    let mut refused = Vec::new();
    for member in members() {
        let body = member.body(member.wrong_value());
        let error = decode(member.target, body.as_bytes()).expect_err(&body);
        if member.is_refused_by_name(&error) {
            refused.push(member.path);
        } else {
            assert_eq!(error.code(), ErrorCode::Serialization, "{} ignores {body}: {error}", member.target);
        }
    }
    refused.retain(|path| !path.contains(['.', '[']));
    let expected = [
        "GlobalTableSettingsReplicationMode",
        "GlobalTableSourceArn",
        "ResourcePolicy",
        "VectorIndexes",
        "DisassociationProtectionEnabled",
        "GlobalTableSettingsReplicationMode",
        "GlobalTableWitnessUpdates",
        "MultiRegionConsistency",
        "ReplicaUpdates",
        "VectorIndexUpdates",
        "Timestamp",
    ];
    assert_eq!(refused, expected);
}

#[test]
fn null_is_as_good_as_absent_for_every_member() {
    for member in members() {
        let body = member.body("null");
        if let Err(error) = decode(member.target, body.as_bytes()) {
            let inside_refused = member.path.contains('.') && member.is_refused_by_name(&error);
            assert!(error.code() == ErrorCode::Validation || inside_refused, "{} {body}: {error}", member.target);
            assert!(inside_refused || !member.is_refused_by_name(&error), "{} {body}: {error}", member.target);
        }
    }
}

#[test]
fn every_served_operation_with_members_is_listed() {
    let listed: std::collections::BTreeSet<&str> = members().map(|member| member.target).collect();
    assert!(listed.contains("DynamoDB_20120810.CreateTable"));
    assert!(listed.contains("DynamoDBStreams_20120810.GetRecords"));
    for target in listed {
        let error = decode(target, b"{").expect_err("half an object");
        assert_eq!(error.code(), ErrorCode::Serialization, "{target} is served");
    }
}

#[test]
fn what_the_model_does_not_have_is_skipped() {
    let body = br#"{"NoSuchMember":{"x":[1,"y",null]},"VectorIndexes":[]}"#;
    assert!(decode("DynamoDB_20120810.ListTables", body).is_ok());
}
