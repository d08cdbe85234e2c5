//! Runs the reads of the write's `let`s.

use keyform_core::{AttributeValue, Attributes};
use keyform_language::bind::{self, Inputs};
use keyform_language::document::ast::Number;
use keyform_language::schema::{LetSource, Read as ReadPattern, Result as ReadResult, Write};

use super::state::{Attempt, Read};
use super::step::{Hook, Step};
use crate::run::{Answer, Call, Found, RunError, Runner};

#[derive(Debug)]
pub(super) struct Lets;

impl Step for Lets {
    fn read<'r, 'a>(&self, attempt: &'r mut Attempt<'a, Read<'a>>) -> Hook<'r, Result<(), RunError>> {
        if attempt.of.write.lets.is_empty() {
            return Hook::pass();
        }
        Hook::wait(async move {
            let runner = attempt.recording_runner();
            runner.read_lets(attempt.of.write, attempt.of.call, &mut attempt.state.inputs).await
        })
    }
}

impl Runner {
    async fn read_lets(&self, write: &Write, call: &Call, inputs: &mut Inputs<'_>) -> Result<(), RunError> {
        let model = &self.checked.model;
        for binding in &write.lets {
            let LetSource::Read { read, arguments } = &binding.source else {
                inputs.lets.push(None);
                continue;
            };
            let values = bind::arguments(model, write, arguments, inputs)?;
            let read_pattern = model.read(*read);
            let names = read_pattern.parameters.iter().flat_map(|parameter| parameter.arguments.iter().cloned());
            let arguments: Attributes = names.zip(values).filter_map(|(name, value)| Some((name, value?))).collect();
            let inner = Call { arguments, caller: call.caller.clone(), cursor: None, token: None };
            let answer = match self.run_read(*read, read_pattern, &inner).await {
                Ok(answer) => let_value(answer)?,
                Err(RunError::NotFound(_)) => None,
                Err(error) => return Err(error),
            };
            if answer.is_none() && binding.outcome.is_none() && is_one(read_pattern) {
                return Err(RunError::NotFound(binding.name.clone()));
            }
            inputs.lets.push(answer);
        }
        Ok(())
    }
}

fn is_one(read: &ReadPattern) -> bool {
    matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::One, _)]))
}

/// Returns the value of a `let`: an item as a map, items as a list.
/// A list without its broken items is not what the write was written for, so they fail it.
pub(in crate::run) fn let_value(answer: Answer) -> Result<Option<AttributeValue>, RunError> {
    if let Answer::Page { broken, .. } | Answer::Collection { broken, .. } = &answer
        && let Some(broken) = broken.first()
    {
        return Err(RunError::Broken(Box::new(broken.clone())));
    }
    Ok(match answer {
        Answer::One(found) => found.map(as_map),
        Answer::Page { items, .. } => Some(AttributeValue::L(items.into_iter().map(as_map).collect())),
        Answer::Count(count) => Some(AttributeValue::N(i64::try_from(count).unwrap_or(i64::MAX).into())),
        Answer::Collection { parts, .. } => {
            let first = parts.into_iter().next().and_then(|(_, items)| items.into_iter().next());
            first.map(as_map)
        }
    })
}

fn as_map(found: Found) -> AttributeValue {
    AttributeValue::M(found.fields.into())
}

#[cfg(test)]
mod tests {
    use keyform_core::AttributeValue;

    use super::Lets;
    use crate::run::attempt::step::Step as _;
    use crate::run::attempt::testing::{Rig, account, got, now};

    #[test]
    fn a_let_holds_the_item_that_its_read_found() {
        let stored = account("a", "ada");
        for (answer, owner) in [(Some(&stored), Some("ada")), (None, None)] {
            let rig = Rig::new("copy", &[("name", "a".into()), ("to", "b".into())]).answers([got(answer)]);
            let fixed = rig.fixed();
            let mut attempt = rig.reading(&fixed);
            now(Lets.read(&mut attempt).result()).unwrap();
            let found = match attempt.state.inputs.lets.as_slice() {
                [Some(AttributeValue::M(fields))] => fields.get("owner").cloned(),
                [None] => None,
                lets => panic!("{lets:?}"),
            };
            assert_eq!(found, owner.map(AttributeValue::from));
        }
    }

    #[test]
    fn what_a_let_reads_for_an_external_caller_is_recorded() {
        let rig = Rig::new("copy", &[("name", "a".into()), ("to", "b".into())]).called_by("ada").answers([got(None)]);
        let fixed = rig.fixed();
        let mut attempt = rig.reading(&fixed);
        now(Lets.read(&mut attempt).result()).unwrap();
        assert!(attempt.known.is_some_and(|known| known.has_answers()));
    }
}
