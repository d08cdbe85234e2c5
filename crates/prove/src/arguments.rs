//! Arguments of the trial calls: the caller's own values, the other caller's, and combinations.

use keyform_core::{AttributeValue, Attributes};
use keyform_language::schema::{Parameter, Test};

use super::concepts::Concept;
use super::names;
use super::vocabulary::{Owner, Vocabulary, far};

/// Maximum number of parameters for trying all combinations. Beyond it: all own, all foreign, exactly one foreign, and
/// exactly one own.
const MIXED_MAX: usize = 4;

/// Returns the arguments of each call of a pattern.
pub(super) fn of(
    parameters: &[Parameter],
    concepts: &[Option<Concept>],
    vocabulary: &Vocabulary<'_>,
) -> Vec<Attributes> {
    let value = |number: usize, owner| given(&parameters[number], concepts[number], vocabulary, owner);
    let varied: Vec<usize> =
        (0..parameters.len()).filter(|&number| value(number, Owner::Caller) != value(number, Owner::Other)).collect();
    let call = |foreign: &[usize]| {
        let owner = |number| if foreign.contains(&number) { Owner::Other } else { Owner::Caller };
        let each = parameters.iter().enumerate();
        each.flat_map(|(number, parameter)| named(parameter, value(number, owner(number)))).collect()
    };
    mixtures(&varied).iter().map(|foreign| call(foreign)).collect()
}

/// Returns the parameters that are foreign, for each call.
fn mixtures(varied: &[usize]) -> Vec<Vec<usize>> {
    if varied.len() <= MIXED_MAX {
        let chosen = |mask: usize| varied.iter().enumerate().filter(move |(place, _)| mask >> place & 1 == 1);
        return (0..1 << varied.len()).map(|mask| chosen(mask).map(|(_, number)| *number).collect()).collect();
    }
    let one = varied.iter().map(|number| vec![*number]);
    let all_but = |left: &usize| varied.iter().copied().filter(|number| number != left).collect();
    [Vec::new(), varied.to_vec()].into_iter().chain(one).chain(varied.iter().map(all_but)).collect()
}

fn given(parameter: &Parameter, concept: Option<Concept>, vocabulary: &Vocabulary<'_>, owner: Owner) -> AttributeValue {
    let one = |owner| match concept {
        Some(concept) => vocabulary.value(concept, &parameter.kind, owner),
        None => vocabulary.content(&parameter.kind, &parameter.field_name),
    };
    match (parameter.test, owner) {
        (Test::In, Owner::Caller) => AttributeValue::L(vec![one(Owner::Caller)]),
        (Test::In, Owner::Other) => AttributeValue::L(vec![one(Owner::Caller), one(Owner::Other)]),
        _ => one(owner),
    }
}

/// Returns the arguments of a parameter by name.
fn named(parameter: &Parameter, value: AttributeValue) -> Vec<(String, AttributeValue)> {
    let each = names(parameter).iter().enumerate();
    each.map(|(number, name)| (name.clone(), limit(parameter, number, value.clone()))).collect()
}

/// Converts a value to a bound: ranges are wide open, and a prefix is the first letter.
fn limit(parameter: &Parameter, number: usize, value: AttributeValue) -> AttributeValue {
    let is_upper = number == 1 || matches!(parameter.test, Test::Before | Test::Until);
    match (parameter.test, value) {
        (Test::Equal | Test::In, value) => value,
        (Test::Begins, AttributeValue::S(text)) => AttributeValue::S(text.chars().take(1).collect()),
        (_, value) => far(&parameter.kind, is_upper).unwrap_or(value),
    }
}
