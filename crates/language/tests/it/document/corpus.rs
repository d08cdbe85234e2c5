//! Replays the saved inputs of the fuzz target.

#[test]
fn saved_models() {
    let directory = super::models::root().join("fuzz/corpus/model");
    let entries = std::fs::read_dir(directory).unwrap();
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(!files.is_empty(), "there are saved inputs");
    for file in files {
        super::checks::model(&std::fs::read(file).unwrap());
    }
}
