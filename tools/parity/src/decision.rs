//! The reviewed list of differences: for each, which side is right and which page of the documentation says so.
//!
//! `decisions.toml` is the list; [`table`] is how `docs/compatibility.md` shows it.

use regex_lite::Regex;
use serde::Deserialize;

/// The list as it stands in the repository.
pub const LIST: &str = include_str!("../decisions.toml");

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    decision: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    peer: String,
    #[serde(default = "anything")]
    operation: String,
    #[serde(default = "anything")]
    request: String,
    #[serde(default = "anything")]
    ours: String,
    #[serde(default = "anything")]
    theirs: String,
    #[serde(default)]
    others_agree: bool,
    text: String,
    source: String,
}

fn anything() -> String {
    ".*".to_owned()
}

/// One decision.
#[derive(Debug)]
pub struct Decision {
    /// Its name.
    pub id: String,
    /// The peer that it is about, or `any`.
    pub peer: String,
    /// What differs and who is right, in a sentence.
    pub text: String,
    /// The page that decides.
    pub source: String,
    operation: Regex,
    request: Regex,
    ours: Regex,
    theirs: Regex,
    others_agree: bool,
}

/// A difference between us and one peer, in the form that decisions are matched with.
#[derive(Debug)]
pub struct Difference<'a> {
    /// The peer's name.
    pub peer: &'a str,
    /// The operation.
    pub operation: &'a str,
    /// The request's body as text.
    pub request: &'a str,
    /// Our answer as text.
    pub ours: &'a str,
    /// The peer's answer as text.
    pub theirs: &'a str,
    /// Whether every other peer gave our answer, and there is another.
    pub others_agree: bool,
}

impl Decision {
    /// Whether the decision is about this difference.
    #[must_use]
    pub fn covers(&self, difference: &Difference<'_>) -> bool {
        (self.peer == "any" || self.peer == difference.peer)
            && (difference.others_agree || !self.others_agree)
            && self.operation.is_match(difference.operation)
            && self.ours.is_match(difference.ours)
            && self.theirs.is_match(difference.theirs)
            && self.request.is_match(difference.request)
    }
}

/// Reads a list of decisions.
///
/// # Errors
/// When the text is not such a list; the error says where.
pub fn parse(text: &str) -> Result<Vec<Decision>, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    file.decision.into_iter().map(compile).collect()
}

fn compile(entry: Entry) -> Result<Decision, String> {
    let regex = |pattern: &str| Regex::new(pattern).map_err(|error| format!("{}: {error}", entry.id));
    Ok(Decision {
        operation: regex(&format!("^(?:{})$", entry.operation))?,
        request: regex(&entry.request)?,
        ours: regex(&entry.ours)?,
        theirs: regex(&entry.theirs)?,
        others_agree: entry.others_agree,
        id: entry.id,
        peer: entry.peer,
        text: entry.text,
        source: entry.source,
    })
}

/// The decisions as the rows of a Markdown table.
#[must_use]
pub fn table(decisions: &[Decision]) -> String {
    let rows = decisions.iter().map(|decision| {
        format!("| `{}` | {} | {} | [page]({}) |\n", decision.id, decision.peer, decision.text, decision.source)
    });
    std::iter::once("| Decision | Peer | What differs, and who is right | Source |\n|---|---|---|---|\n".to_owned())
        .chain(rows)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_well_formed_and_its_names_differ() {
        let decisions = parse(LIST).expect("the list can be read");
        let mut names: Vec<&str> = decisions.iter().map(|decision| decision.id.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), decisions.len());
        for decision in &decisions {
            assert!(decision.source.starts_with("https://"), "{} names no page", decision.id);
        }
    }

    #[test]
    fn a_decision_covers_only_what_it_describes() {
        let text =
            "[[decision]]\nid='x'\npeer='p'\noperation='Put.*'\nours='^400'\nothers_agree=true\ntext=''\nsource=''";
        let decision = &parse(text).expect("a list")[0];
        let difference = |operation, ours, others_agree| Difference {
            peer: "p",
            operation,
            request: "{}",
            ours,
            theirs: "200 {}",
            others_agree,
        };
        assert!(decision.covers(&difference("PutItem", "400 X: y", true)));
        assert!(!decision.covers(&difference("GetItem", "400 X: y", true)));
        assert!(!decision.covers(&difference("PutItem", "200 {}", true)));
        assert!(!decision.covers(&difference("PutItem", "400 X: y", false)));
    }
}
