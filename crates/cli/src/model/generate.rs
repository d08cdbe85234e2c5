//! `keyform generate`: generates typed code, clients and infrastructure templates from a model.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use keyform_check::Checked;
use keyform_codegen::{CodegenSettings, TARGETS, target};

use crate::failure::Failure;
use crate::{open_store, output};

use super::{file, source};

pub(super) fn command() -> Command {
    let targets: Vec<String> = TARGETS.iter().map(|target| format!("{:16} {}", target.name, target.about)).collect();
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    Command::new("generate")
        .about("Generate Rust, TypeScript, Python, CloudFormation, Terraform or IAM")
        .arg(Arg::new("target").value_name("TARGET").required(true).value_parser(names).help("Kind of output"))
        .arg(file())
        .arg(open_store::variable())
        .arg(
            Arg::new("output")
                .short('o')
                .long("output")
                .value_name("FILE")
                .help("Output file [default: standard output]"),
        )
        .after_help(format!("Targets:\n  {}", targets.join("\n  ")))
}

pub(super) fn run(arguments: &ArgMatches) -> Result<ExitCode, Failure> {
    let text = |name: &str| arguments.get_one::<String>(name).map_or("", String::as_str);
    let path = text("file");
    let checked = Checked::read(&source::read(path)?);
    if checked.has_errors() {
        source::show(&checked.source, path, &checked.diagnostics);
        return Ok(ExitCode::from(1));
    }
    let target = target(text("target")).ok_or_else(|| Failure::new("unknown target"))?;
    let settings = CodegenSettings { variables: open_store::variables(arguments)? };
    let printed = (target.print)(&checked, &settings).map_err(Failure::new)?;
    match arguments.get_one::<String>("output") {
        Some(file) => {
            std::fs::write(file, printed).map_err(|error| Failure::new(format!("cannot write {file}: {error}")))?
        }
        None => output::line(printed.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}
