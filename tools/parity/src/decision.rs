//! The reviewed list of differences: for each, which side is right and which page of the documentation says so.
//!
//! `decisions.toml` is the list; [`table`] formats it for `docs/compatibility.md`.

use regex_lite::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::outcome::Outcome;

/// The list in the repository.
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
    #[serde(default)]
    differs_in: Vec<String>,
    #[serde(default)]
    same_text: bool,
    #[serde(default)]
    contained: Option<Side>,
    #[serde(default)]
    fewer: Option<Side>,
    text: String,
    source: String,
}

/// Side that a decision refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    Ours,
    Theirs,
}

fn anything() -> String {
    ".*".to_owned()
}

/// A reviewed difference.
#[derive(Debug)]
pub struct Decision {
    /// Unique name.
    pub id: String,
    /// Name of the peer, or `any`.
    pub peer: String,
    /// One sentence: what differs, and who is right.
    pub text: String,
    /// URL of the page that decides.
    pub source: String,
    operation: Regex,
    request: Regex,
    ours: Regex,
    theirs: Regex,
    others_agree: bool,
    same_text: bool,
    differs_in: Vec<String>,
    contained: Option<Side>,
    fewer: Option<Side>,
}

/// A difference between us and one peer, as decisions match it.
#[derive(Debug)]
pub struct Difference<'a> {
    /// Name of the peer.
    pub peer: &'a str,
    /// Name of the operation.
    pub operation: &'a str,
    /// Body of the request as text.
    pub request: &'a str,
    /// Our answer.
    pub ours: &'a Outcome,
    /// The peer's answer.
    pub theirs: &'a Outcome,
    /// True if there are other peers and all of them gave our answer.
    pub others_agree: bool,
}

impl Decision {
    /// Returns whether the decision explains this difference.
    #[must_use]
    pub fn covers(&self, difference: &Difference<'_>) -> bool {
        (self.peer == "any" || self.peer == difference.peer)
            && (difference.others_agree || !self.others_agree)
            && self.operation.is_match(difference.operation)
            && self.ours.is_match(&difference.ours.to_string())
            && self.theirs.is_match(&difference.theirs.to_string())
            && self.request.is_match(difference.request)
            && (!self.same_text || uncounted(difference.ours) == uncounted(difference.theirs))
            && self.shape_fits(difference.ours, difference.theirs)
    }

    /// Returns whether the answers are equal in everything that the decision does not exempt.
    fn shape_fits(&self, ours: &Outcome, theirs: &Outcome) -> bool {
        if self.differs_in.is_empty() && self.contained.is_none() && self.fewer.is_none() {
            return true;
        }
        let [ours_rest, theirs_rest] = [ours, theirs].map(|answer| without(&answer.body, &self.differs_in));
        let same_error = ours.status == theirs.status && ours.kind == theirs.kind;
        let (large, small) = match self.contained.or(self.fewer) {
            Some(Side::Ours) => (theirs_rest, ours_rest),
            Some(Side::Theirs) | None => (ours_rest, theirs_rest),
        };
        same_error
            && match (self.contained, self.fewer) {
                (None, None) => large == small,
                (Some(_), _) => contains(&large, &small),
                (None, Some(_)) => has_more(&large, &small),
            }
    }
}

/// Removes the leading number of errors from a message.
fn uncounted(answer: &Outcome) -> &str {
    answer.message.strip_prefix("1 validation error detected: ").unwrap_or(&answer.message)
}

/// Removes the members with these names, at any depth.
fn without(value: &Value, names: &[String]) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, _)| !names.contains(name));
            Value::Object(kept.map(|(name, inner)| (name.clone(), without(inner, names))).collect())
        }
        Value::Array(list) => list.iter().map(|inner| without(inner, names)).collect(),
        other => other.clone(),
    }
}

/// Returns whether the small value is contained in the large one: members may be missing; elements of lists may not,
/// but may have another order.
fn contains(large: &Value, small: &Value) -> bool {
    match (large, small) {
        (Value::Object(large), Value::Object(small)) => small.iter().all(|(name, inner)| {
            large.get(name).is_some_and(|outer| if name == "order" { outer == inner } else { contains(outer, inner) })
        }),
        (Value::Array(large), Value::Array(small)) => {
            large.len() == small.len()
                && (large.iter().zip(small).all(|(outer, inner)| contains(outer, inner)) || some_order(large, small))
        }
        (large, small) => large == small,
    }
}

/// Returns whether each small value matches a large one of its own. Values with the most members choose first.
fn some_order(large: &[Value], small: &[Value]) -> bool {
    let mut left: Vec<&Value> = large.iter().collect();
    let mut choosing: Vec<&Value> = small.iter().collect();
    choosing.sort_by_key(|value| std::cmp::Reverse(value.as_object().map_or(0, serde_json::Map::len)));
    choosing.into_iter().all(|inner| {
        let at = left.iter().position(|outer| contains(outer, inner));
        at.map(|at| left.swap_remove(at)).is_some()
    })
}

/// Returns whether the values have the same members; lists in the large one may have more elements.
fn has_more(large: &Value, small: &Value) -> bool {
    match (large, small) {
        (Value::Object(large), Value::Object(small)) => {
            large.len() == small.len()
                && small.iter().all(|(name, inner)| large.get(name).is_some_and(|outer| has_more(outer, inner)))
        }
        (Value::Array(large), Value::Array(small)) => small.iter().all(|inner| large.contains(inner)),
        (large, small) => large == small,
    }
}

/// Parses a list of decisions.
///
/// # Errors
/// Returns an error with the position if the text is not such a list.
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
        same_text: entry.same_text,
        differs_in: entry.differs_in,
        contained: entry.contained,
        fewer: entry.fewer,
        id: entry.id,
        peer: entry.peer,
        text: entry.text,
        source: entry.source,
    })
}

/// Formats the decisions as rows of a Markdown table.
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
    use serde_json::json;

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
    fn every_decision_says_what_both_sides_answer() {
        for decision in parse(LIST).expect("the list can be read") {
            let names_shape = decision.same_text || !decision.differs_in.is_empty();
            let relates = decision.contained.or(decision.fewer).is_some();
            let says_both = [&decision.ours, &decision.theirs].iter().all(|pattern| pattern.as_str() != anything());
            assert!(says_both || names_shape || relates, "{} is about any answers", decision.id);
        }
    }

    #[test]
    fn a_decision_covers_only_what_it_describes() {
        let text =
            "[[decision]]\nid='x'\npeer='p'\noperation='Put.*'\nours='^400'\nothers_agree=true\ntext=''\nsource=''";
        let decision = &parse(text).expect("a list")[0];
        let (refused, accepted) = (answer(400, json!({})), answer(200, json!({})));
        let covers = |operation, ours, others_agree| {
            decision.covers(&Difference { peer: "p", operation, request: "{}", ours, theirs: &accepted, others_agree })
        };
        assert!(covers("PutItem", &refused, true));
        assert!(!covers("GetItem", &refused, true));
        assert!(!covers("PutItem", &accepted, true));
        assert!(!covers("PutItem", &refused, false));
    }

    fn answer(status: u16, body: Value) -> Outcome {
        let kind = (status != 200).then(|| "Refused".to_owned());
        Outcome { status, kind, message: String::new(), body }
    }

    fn covers(shape: &str, ours: Value, theirs: Value) -> bool {
        let text = format!("[[decision]]\nid='x'\npeer='any'\n{shape}\ntext=''\nsource=''");
        let (ours, theirs) = (answer(200, ours), answer(200, theirs));
        parse(&text).expect("a list")[0].covers(&Difference {
            peer: "p",
            operation: "Query",
            request: "{}",
            ours: &ours,
            theirs: &theirs,
            others_agree: false,
        })
    }

    #[test]
    fn a_decision_about_members_covers_no_other_difference() {
        let shape = "differs_in=['Cost']";
        assert!(covers(shape, json!({"Items": [1], "Cost": 1}), json!({"Items": [1], "Cost": 2})));
        assert!(covers(shape, json!({"Items": [{"Cost": 1}]}), json!({"Items": [{}]})));
        assert!(!covers(shape, json!({"Items": [1], "Cost": 1}), json!({"Items": [2], "Cost": 2})));
    }

    #[test]
    fn a_contained_answer_lacks_members_and_no_elements() {
        let shape = "contained='theirs'";
        assert!(covers(shape, json!({"Items": [{"a": 1, "b": 2}, {"a": 3}]}), json!({"Items": [{"a": 3}, {"b": 2}]})));
        assert!(!covers(shape, json!({"Items": [{"a": 1}]}), json!({"Items": [{"a": 1, "b": 2}]})));
        assert!(!covers(shape, json!({"Items": [{"a": 1}, {}]}), json!({"Items": [{}]})));
        assert!(covers(shape, json!({"R": [{"I": 1}, {}, {"I": 2}]}), json!({"R": [{}, {}, {"I": 2}]})));
        assert!(!covers(shape, json!({"order": [1, 2]}), json!({"order": [2, 1]})));
    }

    #[test]
    fn an_answer_with_fewer_elements_has_no_others() {
        let shape = "fewer='ours'";
        assert!(covers(shape, json!({"Items": [{"a": 1}]}), json!({"Items": [{"a": 2}, {"a": 1}]})));
        assert!(!covers(shape, json!({"Items": [{"a": 1}]}), json!({"Items": [{"a": 1, "b": 2}, {"a": 2}]})));
        assert!(!covers(shape, json!({"Items": [{"a": 1}, {"a": 2}]}), json!({"Items": [{"a": 1}]})));
    }
}
