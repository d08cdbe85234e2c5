//! `keyform prove`: tries every pattern of a model as two tenants, and reports what one sees or changes of the other.

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use keyform_check::Checked;
use keyform_language::{Diagnostic, Severity};
use keyform_prove::{Leak, Options, Proof, SEEDS, prove_with};
use serde_json::json;

use crate::failure::Failure;
use crate::output;

use super::source;

const MORE: &str = "\
Builds two tenants from the model alone, in memory, and calls every pattern as everyone: owners, members, removed \
members, members of both tenants, strangers, and tokens without optional claims. Arguments are own, foreign, absent, \
unknown or of another meaning. No answer may show the other tenant's data or depend on it, no write may change it, \
place an item there, or give a right that its caller does not have. What the model declares with `unscoped`, `bearer`, \
`grants` or `global` is respected.

A leak is printed as a transcript: the tenants, the items, the call and the answer. Notes are no leaks: values of the \
other tenant that a write accepts, and refusals that tell whether an item exists. Findings of `keyform check` about \
permissions do not stop the proof.

Exit codes: 0 if there is no leak, 1 if there is one or the model has errors, 2 if a file cannot be read.";

pub(super) fn command() -> Command {
    let seeds = Arg::new("seeds").long("seeds").value_name("N").value_parser(value_parser!(u64).range(1..));
    let format = Arg::new("format").long("format").value_name("FORMAT").value_parser(["text", "json"]);
    Command::new("prove")
        .about("Prove that no tenant reaches the data of another: call every pattern as everyone")
        .arg(super::file())
        .arg(seeds.help(format!("Number of seeds, each with other worlds and calls [default: {SEEDS}]")))
        .arg(format.default_value("text").help("Output format of the proof"))
        .after_help(MORE)
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let path = arguments.get_one::<String>("file").map(String::as_str).unwrap_or_default();
    let checked = Checked::read(&source::read(path)?);
    let name = if path == "-" { "standard input" } else { path };
    let errors: Vec<Diagnostic> = checked.diagnostics.iter().filter(|found| stops(found)).cloned().collect();
    if !errors.is_empty() {
        source::show(&checked.source, name, &errors);
        output::note(&format!("{name} has errors, so it cannot run; repair them first"));
        return Ok(ExitCode::FAILURE);
    }
    let proof = tried(&checked, arguments.get_one::<u64>("seeds").copied().unwrap_or(SEEDS))?;
    match arguments.get_one::<String>("format").map(String::as_str) {
        Some("json") => output::line(&serde_json::to_string_pretty(&document(name, &proof)?)?)?,
        _ => output::line(&text(name, &checked, &proof))?,
    }
    Ok(if proof.leaks.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns whether the model cannot run because of a finding. The proof shows itself what permissions let through.
fn stops(finding: &Diagnostic) -> bool {
    finding.severity == Severity::Error && !finding.code.0.starts_with('P')
}

/// Runs the proof, with a progress bar on a terminal.
fn tried(checked: &Checked, seeds: u64) -> Result<Proof, Failure> {
    let style = ProgressStyle::with_template("proving [{bar:24}] {percent:>3} %").expect("the template is valid");
    // Hidden if standard error is not a terminal.
    let bar = ProgressBar::new(1).with_style(style.progress_chars("# "));
    let progress = |done: u64, total: u64| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let proof = prove_with(checked, &Options { seeds, progress: Some(&progress) });
    bar.finish_and_clear();
    proof.map_err(|error| Failure::new(error.to_string()))
}

fn document(name: &str, proof: &Proof) -> Result<serde_json::Value, Failure> {
    let mut document = json!({ "version": 1, "model": name, "calls": proof.calls() });
    if let (Some(members), serde_json::Value::Object(proof)) = (document.as_object_mut(), serde_json::to_value(proof)?)
    {
        members.extend(proof);
    }
    Ok(document)
}

fn text(name: &str, checked: &Checked, proof: &Proof) -> String {
    if checked.model.caller.is_none() {
        return format!("{name}: nothing to prove; the model declares no `caller`, so it has no tenants");
    }
    let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut parts: Vec<String> = proof.leaks.iter().map(|leak| transcript(leak, colour) + "\n").collect();
    parts.extend(proof.notes.iter().map(|note| format!("{}: {note}", painted("note", "1;32", colour))));
    let closed: Vec<&str> = proof.closed().map(|tried| tried.name.as_str()).collect();
    if !closed.is_empty() {
        let closed = closed.join(", ");
        parts.push(format!("{}: no caller of the proof may call {closed}", painted("note", "1;32", colour)));
    }
    parts.push(summary(name, proof));
    parts.join("\n")
}

/// Formats a leak: its title, and a line for each part of the world and the call.
fn transcript(leak: &Leak, colour: bool) -> String {
    let title = painted(&format!("`{}` {}", leak.pattern, leak.what), "1", colour);
    let mut text = format!("{}: {title}", painted("leak", "1;31", colour));
    for (label, line) in leak.lines() {
        text.push_str(&format!("\n  {} {line}", painted(&format!("{label:<8}"), "1;34", colour)));
    }
    if leak.calls > 1 {
        text.push_str(&format!("\n  and {} more calls of this kind", leak.calls - 1));
    }
    text
}

fn painted(text: &str, code: &str, colour: bool) -> String {
    if colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Formats the counts: calls by answer, and the seeds that repeat them.
fn summary(name: &str, proof: &Proof) -> String {
    let counted = |number: usize, what: &str| match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        many => format!("{many} {what}s"),
    };
    let answers: Vec<String> = proof.answers.iter().map(|(class, number)| format!("{number} {class}")).collect();
    let seeds = match proof.seeds {
        1 => "seed 0".to_owned(),
        seeds => format!("seeds 0 to {}", seeds.saturating_sub(1)),
    };
    let leaks = counted(proof.leaks.len(), "leak");
    let patterns = counted(proof.patterns.len(), "pattern");
    format!("{name}: {leaks} in {} calls of {patterns} ({}; {seeds})", proof.calls(), answers.join(", "))
}
