//! Models of the repository.

use std::path::{Path, PathBuf};

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns each model with its path.
pub fn all() -> Vec<(String, String)> {
    let mut paths = below(&root().join("systems"));
    paths.sort();
    assert!(!paths.is_empty(), "there are models in systems/");
    let read = |path: &PathBuf| std::fs::read_to_string(path).expect("a model is text");
    paths.iter().map(|path| (path.display().to_string(), read(path))).collect()
}

/// Returns all `.kf` files below a directory.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            models.extend(below(&path));
        } else if path.extension().is_some_and(|extension| extension == "kf") {
            models.push(path);
        }
    }
    models
}
