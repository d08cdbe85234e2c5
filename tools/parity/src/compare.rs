//! Compares the outcomes of one request and explains the differences.

use crate::decision::{Decision, Difference};
use crate::outcome::Outcome;
use crate::request::Request;

/// Relation between the outcomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// All servers answer the same.
    Equal,
    /// The peers agree with each other, and we differ.
    WeDiffer,
    /// The peers do not agree.
    PeersDiffer,
}

/// Result of one request.
#[derive(Debug)]
pub struct Verdict {
    /// Relation between the outcomes.
    pub class: Class,
    /// The decisions that explain the differences, one for each peer that differs from us.
    pub explained: Vec<String>,
    /// Peers whose difference no decision explains.
    pub unexplained: Vec<usize>,
}

/// Compares our outcome with those of the named peers.
#[must_use]
pub fn compare(decisions: &[Decision], request: &Request, ours: &Outcome, peers: &[(&str, &Outcome)]) -> Verdict {
    let mut verdict = Verdict { class: classify(ours, peers), explained: Vec::new(), unexplained: Vec::new() };
    if verdict.class == Class::Equal {
        return verdict;
    }
    let request_text = request.body.to_string();
    for (index, (name, theirs)) in peers.iter().enumerate().filter(|(_, (_, theirs))| *theirs != ours) {
        let others_agree = peers.len() > 1 && peers.iter().all(|(peer, outcome)| peer == name || *outcome == ours);
        let difference = Difference {
            peer: name,
            operation: &request.operation,
            request: &request_text,
            ours,
            theirs,
            others_agree,
        };
        match decisions.iter().find(|decision| decision.covers(&difference)) {
            Some(decision) => verdict.explained.push(decision.id.clone()),
            None => verdict.unexplained.push(index),
        }
    }
    verdict
}

fn classify(ours: &Outcome, peers: &[(&str, &Outcome)]) -> Class {
    let agree = peers.windows(2).all(|pair| pair[0].1 == pair[1].1);
    match peers.first() {
        Some((_, first)) if agree && *first != ours => Class::WeDiffer,
        _ if !agree => Class::PeersDiffer,
        _ => Class::Equal,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(text: &str) -> Outcome {
        Outcome { status: 200, kind: None, message: String::new(), body: json!({ "says": text }) }
    }

    #[test]
    fn outcomes_are_classified_by_who_agrees() {
        let (a, b, c) = (says("a"), says("b"), says("c"));
        let class = |ours: &Outcome, one: &Outcome, two: &Outcome| classify(ours, &[("one", one), ("two", two)]);
        assert_eq!(class(&a, &a, &a), Class::Equal);
        assert_eq!(class(&a, &b, &b), Class::WeDiffer);
        assert_eq!(class(&a, &a, &b), Class::PeersDiffer);
        assert_eq!(class(&a, &b, &c), Class::PeersDiffer);
    }
}
