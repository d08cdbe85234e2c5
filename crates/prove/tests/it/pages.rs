//! The pages of the permission rules: a model that breaks a rule about access leaks, and the repaired one does not.

use std::fs;
use std::path::{Path, PathBuf};

use keyform_check::Checked;

use crate::{leaking, proof, transcripts};

/// Rules about access, each with the pattern of its page that leaks. The other rules are about types, cost, or values
/// that only code may set.
const LEAKING: [(&str, &str); 3] = [("P01", "doc"), ("P02", "join"), ("P10", "person")];

fn pages() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules");
    let files = fs::read_dir(folder).expect("the pages of the rules").map(|file| file.expect("a page").path());
    let code = |path: &PathBuf| path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
    let mut pages: Vec<_> = files.filter_map(|path| Some((code(&path)?, path))).collect();
    pages.retain(|(code, _)| code.starts_with('P'));
    pages.sort();
    pages
}

/// Returns the models of a page: the first breaks the rule, the last is repaired.
fn models(page: &str) -> Vec<&str> {
    page.split("```kf").skip(1).filter_map(|rest| rest.split_once('\n')?.1.split("```").next()).collect()
}

/// Returns whether a model runs if findings about permissions do not count.
fn is_runnable(text: &str) -> bool {
    let found = Checked::read(text).diagnostics;
    !found
        .iter()
        .any(|finding| finding.severity == keyform_language::Severity::Error && !finding.code.0.starts_with('P'))
}

#[test]
fn broken_models_of_the_pages_leak_and_repaired_ones_do_not() {
    for (code, path) in pages() {
        let page = fs::read_to_string(path).expect("a page can be read");
        let models = models(&page);
        let (broken, repaired) = (models[0], models[models.len() - 1]);
        let expected = LEAKING.iter().find(|(of, _)| *of == code).map(|(_, pattern)| (*pattern).to_owned());
        if is_runnable(broken) {
            let proof = proof(broken);
            let leaking: Vec<String> = leaking(&proof);
            assert_eq!(leaking, expected.into_iter().collect::<Vec<_>>(), "{code}: {}", transcripts(&proof));
        } else {
            assert_eq!(expected, None, "{code}: the broken model runs");
        }
        let proof = proof(repaired);
        assert!(proof.leaks.is_empty(), "{code}, repaired: {}", transcripts(&proof));
    }
}

#[test]
fn value_that_only_code_may_set_is_noted() {
    let (_, path) = pages().into_iter().find(|(code, _)| code == "P04").expect("the page of P04");
    let page = fs::read_to_string(path).expect("a page can be read");
    let notes: Vec<String> = proof(models(&page)[0]).notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["`upload` accepts a value of the other tenant for `Doc.s3Key`"]);
}
