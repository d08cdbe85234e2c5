//! Every model of the repository can be read.

use std::path::{Path, PathBuf};

use keyform_model::document::parse;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.kf` files below a folder.
fn models_below(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return models };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            models.extend(models_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "kf") {
            models.push(path);
        }
    }
    models.sort();
    models
}

#[test]
fn every_model_of_the_repository_is_read_without_mistakes() {
    let mut mistakes = Vec::new();
    for path in models_below(&root().join("systems")) {
        let text = std::fs::read_to_string(&path).unwrap();
        for mistake in parse(&text).1 {
            let line = text[..mistake.primary.span.start].matches('\n').count() + 1;
            mistakes.push(format!("{}:{line}: {} {}", path.display(), mistake.code, mistake.message));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}
