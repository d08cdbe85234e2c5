//! Replays the saved inputs of the fuzz targets.

#[path = "../../../../fuzz/checks/engine.rs"]
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
fn saved_item_records() {
    replay("item_record", checks::item_record);
}

#[test]
fn saved_journals() {
    replay("journal_frame", checks::journal_frame);
}

#[test]
fn saved_pieces_of_the_store() {
    replay("store_piece", checks::store_piece);
}
