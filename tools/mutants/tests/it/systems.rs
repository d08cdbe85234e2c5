//! Mutants of the five systems. `tests/score` has, for each system, a table by operator:
//!
//! - reported: mutants with a new error or warning of `check`, whatever their effect
//! - widening: mutants that give a caller more, in the calls of the trial, than the original
//! - check, proof: widening mutants that `check` reports, and those in which the trial finds a leak
//! - missed: widening mutants that neither reports. They stay within the scope of the caller: a condition about a role
//!   or a state is gone, and nothing else in the model says that it was intended. Such a model is as sound as the
//!   original, so no tool can tell them apart.
//!
//! The trial alone reports a write that finds its item by a `bearer` value, such as the code of an invite: by the word of
//! the model its holder is authorised, so the checker does not report it.
//!
//! A run judges a sample of the mutants. `KEYFORM_MUTANTS=all` judges all and compares the tables; with
//! `KEYFORM_BLESS=1` it rewrites them. Review the difference like code.

use std::fs;
use std::path::{Path, PathBuf};

use keyform_mutants::score::{self, Score};
use keyform_mutants::verdict::Original;
use keyform_mutants::{Mutant, mutants};

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// Compares the score of a system with the recorded one. The sample takes every `one_in`-th mutant.
fn compare(name: &str, one_in: usize) {
    let text = fs::read_to_string(path(&format!("../../systems/{name}/{name}.kf"))).expect("the model can be read");
    let golden = path(&format!("tests/score/{name}.txt"));
    let mut original = Original::new(&text);
    assert_eq!(original.findings(), Vec::<String>::new(), "the original has no findings");
    let mutants = mutants(original.document());
    if is_set("KEYFORM_MUTANTS") || is_set("KEYFORM_BLESS") {
        let table = Score::of(&mut original, &mutants).table();
        if is_set("KEYFORM_BLESS") {
            fs::write(&golden, &table).expect("the score can be written");
        }
        assert_eq!(table, fs::read_to_string(&golden).unwrap_or_default(), "{}", golden.display());
        return;
    }
    let recorded = fs::read_to_string(&golden).unwrap_or_default();
    let recorded: Vec<&str> = recorded.lines().collect();
    for mutant in mutants.iter().step_by(one_in) {
        check(&mut original, mutant, &recorded);
    }
}

fn check(original: &mut Original, mutant: &Mutant, recorded: &[&str]) {
    let verdict = original.judge(mutant);
    let line = score::line(mutant);
    let is_recorded = recorded.contains(&line.as_str());
    assert_eq!(score::is_silent(&verdict), is_recorded, "{line}: {verdict:?}");
}

#[test]
fn mutants_of_agencies_are_reported() {
    compare("agencies", 1);
}

#[test]
fn mutants_of_discord_are_reported() {
    compare("discord", 8);
}

#[test]
fn mutants_of_helpmaton_are_reported() {
    compare("helpmaton", 40);
}

#[test]
fn mutants_of_t3nets_are_reported() {
    compare("t3nets", 8);
}

#[test]
fn mutants_of_workspaces_are_reported() {
    compare("workspaces", 4);
}
