//! Import: each example yields the model beside it, which checks without an error.
//!
//! `KEYFORM_BLESS=1` regenerates the models.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::PathBuf;

use keyform_check::Checked;
use keyform_check::import::{ImportError, import};
use keyform_language::diagnostic::{Severity, render};

fn check(source: &str, name: &str) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/import");
    let text = fs::read_to_string(folder.join(source)).unwrap();
    let made = import(&text, name).unwrap();
    let expected = folder.join(format!("{name}.kf"));
    if std::env::var_os("KEYFORM_BLESS").is_some() {
        fs::write(&expected, &made).unwrap();
    }
    assert_eq!(made, fs::read_to_string(expected).unwrap());
    let mut errors = Checked::read(&made).diagnostics;
    errors.retain(|finding| finding.severity == Severity::Error);
    assert!(errors.is_empty(), "{}", render::text(&made, name, &errors, false));
}

#[test]
fn a_template_gives_tables_indexes_and_settings() {
    check("orders.yaml", "orders");
}

#[test]
fn a_description_gives_its_table() {
    check("described.json", "music");
}

#[test]
fn facets_give_entities() {
    check("workbench.json", "forum");
}

#[test]
fn what_is_not_known_is_refused() {
    assert_eq!(import("{\"a\": 1}", "x").unwrap_err(), ImportError::Unknown);
    assert_eq!(import("Resources: {}", "x").unwrap_err(), ImportError::NoTable);
    assert!(matches!(import("{\"a\": ", "x").unwrap_err(), ImportError::Unreadable(_)));
    assert!(import("just words", "x").is_err());
}
