//! Tests of the proof: the static verdict of `check` and the trial agree.

mod leaks;
mod pages;
mod systems;

use keyform_check::Checked;
use keyform_prove::{Proof, prove};

/// Tries a model. Findings about permissions do not count: the trial has to find leaks without the checker.
fn proof(text: &str) -> Proof {
    let checked = Checked::read(text);
    let others = checked.diagnostics.iter().filter(|finding| !finding.code.0.starts_with('P'));
    let proof = prove(&checked);
    proof.unwrap_or_else(|error| panic!("{error}: {:#?}", others.collect::<Vec<_>>()))
}

/// Returns the transcripts of a proof.
fn transcripts(proof: &Proof) -> String {
    proof.leaks.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

/// Returns the patterns that leak, each once, sorted.
fn leaking(proof: &Proof) -> Vec<String> {
    let mut names: Vec<String> = proof.leaks.iter().map(|leak| leak.pattern.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the patterns that the checker reports for reaching items or rights of others, each once, sorted.
fn reported(text: &str) -> Vec<String> {
    let checked = Checked::read(text);
    let of_access = ["P01", "P02", "P10"];
    let found = checked.diagnostics.iter().filter(|finding| of_access.contains(&finding.code.0));
    let mut names: Vec<String> =
        found.filter_map(|finding| finding.message.split('`').nth(1)).map(str::to_owned).collect();
    names.sort_unstable();
    names.dedup();
    names
}
