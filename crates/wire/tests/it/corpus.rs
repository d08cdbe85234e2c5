//! Replays the saved inputs of the fuzz targets.

#[path = "../../../../fuzz/checks/wire.rs"]
mod checks;

fn replay(target: &str, check: fn(&[u8])) {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(directory).expect("the corpus is part of the repository");
    let files: Vec<_> = entries.map(|entry| entry.expect("the directory can be read").path()).collect();
    assert!(!files.is_empty(), "{target} has no saved inputs");
    for file in files {
        check(&std::fs::read(file).expect("the file can be read"));
    }
}

#[test]
fn saved_json_bodies() {
    replay("json_body", checks::json_body);
}

#[test]
fn saved_conditions() {
    replay("condition", checks::condition);
}

#[test]
fn saved_key_conditions() {
    replay("key_condition", checks::key_condition);
}

#[test]
fn saved_updates() {
    replay("update", checks::update);
}

#[test]
fn saved_projections() {
    replay("projection", checks::projection);
}

#[test]
fn saved_statements() {
    replay("partiql", checks::partiql);
}
