//! Explains how each pattern runs: the plan in words, the exact request for sample arguments, and the AWS CLI command.
//!
//! 1. [`sample`](keyform_language::bind::sample) generates arguments, callers and items, deterministic for a given model.
//! 2. [`bind`] builds the request, as it does when the model runs.
//! 3. [`request`] formats it as DynamoDB JSON, [`command`] as an AWS CLI command, and [`words`] describes the plan.
//! 4. [`beside`] describes the additional requests: guards, items a write reads first, items it reads again to return
//!    them.
//! 5. [`dependents`] describes the requests of deletes for the items that refer to the deleted ones.
//! 6. [`text`] combines them.

pub mod beside;
pub mod command;
pub mod dependents;
mod held;
pub mod request;
pub mod text;
pub mod words;

use serde::Serialize;
use serde_json::Value;

use crate::Checked;
use keyform_language::bind;
use keyform_language::plan::{Plans, ReadOutcome};
use keyform_language::schema::{Model, Read, Write};

use keyform_language::bind::sample::Sample;

/// Explanation of a pattern.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Name of the pattern.
    pub pattern: String,
    /// `read` or `write`.
    pub kind: &'static str,
    /// Source text of the pattern up to its clauses or steps.
    pub signature: String,
    /// Plan, one sentence per line.
    pub plan: Vec<String>,
    /// Maximum number of requests per call, without further pages and retries. `None` if the pattern has no plan, or if
    /// the number depends on the length of a list, an evolution of an entity, or the dependents of a deleted item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<usize>,
    /// DynamoDB name of the request; `None` if the pattern has no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<&'static str>,
    /// Request with sample arguments, as DynamoDB JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The same request as an AWS CLI command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Explains every pattern whose name matches; `*` matches any characters.
///
/// ```
/// let checked = keyform_check::Checked::read(
///     "model shop\n\ntable Orders { key pk }\n\nentity Order in Orders {\n  key \"ORDER#{id}\"\n\n  id: ulid\n}\n\nread order(id) -> Order?\n",
/// );
/// let explained = keyform_check::explain::explain(&checked, "*");
/// assert_eq!(explained[0].operation, Some("GetItem"));
/// ```
#[must_use]
pub fn explain(checked: &Checked, pattern: &str) -> Vec<Explanation> {
    let Checked { model, plans, .. } = checked;
    let reads = model.reads.iter().zip(&plans.reads).filter(|(read, _)| matches(pattern, &read.name));
    let writes = model.writes.iter().enumerate().filter(|(_, write)| matches(pattern, &write.name));
    let mut explained: Vec<(usize, Explanation)> = Vec::new();
    explained.extend(reads.map(|(read, outcome)| (read.span.start, of_read(checked, read, outcome))));
    explained.extend(writes.map(|(number, write)| (write.span.start, of_write(model, plans, number, write, checked))));
    explained.sort_by_key(|(start, _)| *start);
    explained.into_iter().map(|(_, explanation)| explanation).collect()
}

/// Returns true if the name matches the pattern.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((start, rest)) => {
            let Some(tail) = name.strip_prefix(start) else { return false };
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| matches(rest, &tail[at..]))
        }
    }
}

fn of_read(checked: &Checked, read: &Read, outcome: &ReadOutcome) -> Explanation {
    let model = &checked.model;
    let mut explanation = empty("read", &read.name, signature(checked, read.span, &["via", "allow"]));
    let ReadOutcome::Planned(plan) = outcome else {
        explanation.plan.push("No plan: `keyform check` reports the reason.".to_owned());
        return explanation;
    };
    let asked = beside::permission(model, read.allow.as_ref(), None);
    let evolution = beside::evolution(model, &plan.matches);
    explanation.requests = evolution.is_none().then_some(1 + asked.len());
    explanation.plan = words::of_read(model, read, plan);
    explanation.plan.extend(asked.into_iter().chain(evolution));
    let sample = Sample::new(model);
    match bind::read(model, read, plan, &sample.of_read(read)) {
        Ok(bound) => show(&mut explanation, bound.request.as_ref().map(request::of_read)),
        Err(error) => explanation.plan.push(format!("Cannot show the request: {error}.")),
    }
    explanation
}

fn of_write(model: &Model, plans: &Plans, number: usize, write: &Write, checked: &Checked) -> Explanation {
    let mut explanation = empty("write", &write.name, signature(checked, write.span, &["{"]));
    let Some(Some(plan)) = plans.writes.get(number) else {
        explanation.plan.push("No plan: `keyform check` reports the reason.".to_owned());
        return explanation;
    };
    let asked = beside::permission(model, write.allow.as_ref(), Some((write, plan)));
    let (first, after) = (beside::first(model, write, plan), beside::after(model, write, plan));
    let evolution = beside::evolution(model, &plan.entities());
    let is_bounded = evolution.is_none() && !plan.actions.iter().any(|planned| planned.repeated);
    let dependents = dependents::sent(model, &plans.dependents, write, plan);
    let sum = 1 + asked.len() + plan.lets.len() + first.len() + usize::from(after.is_some());
    explanation.requests = dependents.requests.filter(|_| is_bounded).map(|more| sum + more);
    let lets = words::lets(model, write, plan);
    explanation.plan = [asked, first, lets, dependents.first, words::of_write(model, write, plan)].concat();
    explanation.plan.extend(dependents.after);
    explanation.plan.extend(after.into_iter().chain(evolution));
    let sample = Sample::new(model);
    let bound = sample.of_write(write).and_then(|inputs| {
        let mut bound = bind::write(model, write, plan, &inputs)?;
        if let Some(operation) = &mut bound.operation {
            held::hold(model, write, plan, &inputs, operation);
        }
        Ok(bound)
    });
    match bound {
        Ok(bound) => show(&mut explanation, bound.operation.as_ref().map(request::of_write)),
        Err(error) => explanation.plan.push(format!("Cannot show the request: {error}.")),
    }
    explanation
}

fn empty(kind: &'static str, name: &str, signature: String) -> Explanation {
    Explanation {
        pattern: name.to_owned(),
        kind,
        signature,
        plan: Vec::new(),
        requests: None,
        operation: None,
        request: None,
        command: None,
    }
}

fn show(explanation: &mut Explanation, request: Option<(&'static str, Value)>) {
    let Some((name, request)) = request else { return };
    explanation.command = Some(command::line(name, &request));
    explanation.operation = Some(name);
    explanation.request = Some(request);
}

/// Returns the source text up to the first of these words.
fn signature(checked: &Checked, span: keyform_language::Span, ends: &[&str]) -> String {
    let words = checked.words(span);
    let kept: Vec<&str> = words.split(' ').take_while(|word| !ends.contains(word)).collect();
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_characters() {
        assert!(matches("user*", "userById"));
        assert!(matches("*By*", "userById"));
        assert!(matches("*", ""));
        assert!(!matches("user", "userById"));
        assert!(!matches("*Email", "userById"));
    }
}
