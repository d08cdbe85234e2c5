//! Code generators: typed code, API clients and infrastructure templates from a model.
//!
//! Each target is one entry of [`TARGETS`] and one module. The command line, the macro and the tests use this list.

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

/// Code generator.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// Description for the help text, one line.
    pub about: &'static str,
    /// Generates the output; the error is a message for the user.
    pub print: fn(&Checked, &Settings) -> Result<String, String>,
}

/// Inputs of a target besides the model.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Values of the variables in table names.
    pub variables: BTreeMap<String, String>,
}

/// All targets, in the order of the help text.
pub static TARGETS: &[Target] = &[
    Target { name: "rust", about: "typed Rust, as `keyform::model!` makes it", print: rust::print },
    Target { name: "cloudformation", about: "a CloudFormation template of the tables", print: cloudformation::print },
    Target { name: "terraform", about: "the tables as Terraform resources", print: terraform::print },
    Target { name: "iam", about: "a least-privilege IAM policy for each pattern", print: iam::print },
    Target { name: "typescript", about: "a client of the HTTP API, in TypeScript", print: typescript::print },
    Target { name: "python", about: "a client of the HTTP API, in Python", print: python::print },
];

/// Returns the target of that name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
