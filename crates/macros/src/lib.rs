//! The `model!` macro of the `keyform` crate, which re-exports it. Use it as `keyform::model!`.
//!
//! 1. `path` parses the macro's only argument and resolves the file.
//! 2. The model is checked; errors become a compile error with the same text as `keyform check`.
//! 3. `keyform_codegen` generates the code, identical to the output of `keyform generate rust` (ADR 0018), and the
//!    macro expands to it.

#![warn(unreachable_pub)]

mod path;

use std::fs;
use std::path::Path;

use keyform_check::Checked;
use keyform_codegen::CodegenSettings;
use keyform_language::Severity;
use keyform_language::diagnostic::render;
use proc_macro::TokenStream;

/// Generates typed code for a model: a handle with a method for each pattern, a struct for each entity, an id type for
/// each id, and an enum for each write's refusals.
///
/// The path is relative to the directory of the crate's `Cargo.toml`. The items are defined where the macro is called,
/// so put it into a module:
///
/// ```ignore
/// mod shop {
///     keyform::model!("shop.kf");
/// }
/// ```
///
/// An error in the model is a compile error that shows the finding. The crate is recompiled when the file changes.
#[proc_macro]
pub fn model(input: TokenStream) -> TokenStream {
    let text = expand(input).unwrap_or_else(|problem| format!("::core::compile_error!({problem:?});"));
    match text.parse() {
        Ok(tokens) => tokens,
        Err(error) => format!("::core::compile_error!({:?});", format!("the printed code cannot be read: {error}"))
            .parse()
            .unwrap_or_default(),
    }
}

fn expand(input: TokenStream) -> Result<String, String> {
    let written = path::argument(input)?;
    let file = path::resolve(&written)?;
    let source =
        fs::read_to_string(&file).map_err(|error| format!("cannot read the model {}: {error}", file.display()))?;
    let code = code(&source, &written)?;
    Ok(format!("{code}\n{}", dependence(&file)))
}

/// Includes the file, so that the compiler tracks it and recompiles when it changes.
fn dependence(file: &Path) -> String {
    format!("const _: &[u8] = ::core::include_bytes!({:?});", file.display().to_string())
}

fn code(source: &str, name: &str) -> Result<String, String> {
    let checked = Checked::read(source);
    if checked.has_errors() {
        let errors: Vec<_> =
            checked.diagnostics.iter().filter(|found| found.severity == Severity::Error).cloned().collect();
        let findings = render::text(source, name, &errors, false);
        return Err(format!("the model {name} has errors\n\n{}", findings.trim_end()));
    }
    let target = keyform_codegen::target("rust").ok_or("this build cannot print Rust")?;
    (target.print)(&checked, &CodegenSettings::default())
}

#[cfg(test)]
mod tests {
    use super::code;

    #[test]
    fn a_mistake_is_shown_as_check_shows_it() {
        let source =
            "model shop\n\ntable Orders { key pk }\n\nentity Order in Order {\n  key \"ORDER#{id}\"\n\n  id: ulid\n}\n";
        let problem = code(source, "shop.kf").expect_err("there is no such table");
        assert!(problem.starts_with("the model shop.kf has errors\n\nerror["), "{problem}");
        assert!(problem.contains("--> shop.kf:5:17"), "{problem}");
        assert!(problem.contains("did you mean `Orders`?"), "{problem}");
    }

    #[test]
    fn a_model_without_mistakes_is_code() {
        let printed = code("model shop\n\ntable Orders { key pk }\n", "shop.kf").expect("no mistakes");
        assert!(printed.contains("pub struct Shop"), "{printed}");
    }
}
