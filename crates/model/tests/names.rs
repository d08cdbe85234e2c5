//! Binding names: every model of the repository resolves, and the page of the N codes shows what does not.

use std::fs;
use std::path::{Path, PathBuf};

use keyform_model::diagnostic::render;
use keyform_model::document::parse;
use keyform_model::schema::resolve;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All `.kf` files below a folder.
fn models_below(folder: &Path) -> Vec<PathBuf> {
    let mut models = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("a file of the repository").path();
        if path.is_dir() {
            models.extend(models_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "kf") {
            models.push(path);
        }
    }
    models.sort();
    models
}

/// Whether a model is a document transcribed as it stands, mistakes included.
fn is_literal(path: &Path) -> bool {
    path.parent().is_some_and(|folder| folder.ends_with("literal"))
}

#[test]
fn every_name_in_the_models_of_the_repository_is_bound() {
    let mut report = String::new();
    for path in models_below(&root().join("systems")).iter().filter(|path| !is_literal(path)) {
        let text = fs::read_to_string(path).unwrap();
        let found = resolve(&parse(&text).0).1;
        report.push_str(&render::text(&text, &path.display().to_string(), &found, false));
    }
    assert!(report.is_empty(), "{report}");
}
