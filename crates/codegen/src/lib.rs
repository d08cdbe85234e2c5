//! What others run, printed from a model: typed code, clients, templates of infrastructure.
//!
//! Each target is one line of [`TARGETS`], and one module that prints it. The commands, the macro and the tests go through this list.

mod client;
mod cloudformation;
mod iam;
mod python;
mod rust;
mod terraform;
mod typescript;
mod variable;

use std::collections::BTreeMap;

use keyform_language::Checked;

/// Something that can be made of a model.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Prints it; a refusal says what stands in the way.
    pub print: fn(&Checked, &Settings) -> Result<String, String>,
}

/// What a target may want to know besides the model.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// What the variables in the names of tables stand for.
    pub variables: BTreeMap<String, String>,
}

/// All targets, in the order in which help names them.
pub static TARGETS: &[Target] = &[
    Target { name: "rust", about: "typed Rust, as `keyform::model!` makes it", print: rust::print },
    Target { name: "cloudformation", about: "a CloudFormation template of the tables", print: cloudformation::print },
    Target { name: "terraform", about: "the tables as Terraform resources", print: terraform::print },
    Target { name: "iam", about: "a least-privilege IAM policy for each pattern", print: iam::print },
    Target { name: "typescript", about: "a client of the HTTP API, in TypeScript", print: typescript::print },
    Target { name: "python", about: "a client of the HTTP API, in Python", print: python::print },
];

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
