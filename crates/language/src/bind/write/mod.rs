//! Binds the arguments of a write to one item request, one transaction or one batch.
//!
//! Two passes visit the actions of a write, in the same walk ([`walk`]): `look` collects the items that must be read
//! first, `actions` computes the request. `demand` collects the conditions of an action, `unique` moves the sentinels
//! of unique values.

mod actions;
mod demand;
mod look;
mod unique;
mod walk;

use keyform_core::expression::Condition;
use keyform_core::operation::{DeleteItem, GetItem};

use crate::document::ast::Verb;
use crate::plan::WritePlan;
use crate::schema::{Action, Model, Outcome, Write, limit};

use super::evaluate::Scope;
use super::intent::Parent;
use super::{BindError, CurrentItem, Inputs, WriteOperation, request};

pub(super) use unique::{unchanged, values_before};
pub(super) use walk::key_of;

/// A write that is ready to run.
#[derive(Clone, Debug, Default)]
pub struct BoundWrite {
    /// Request; `None` if the write is already refused or has nothing to do.
    pub operation: Option<WriteOperation>,
    /// Possible refusals of each action of the request, in the same order.
    pub actions: Vec<BoundAction>,
    /// Refusal decided before anything is sent.
    pub refused: Option<Refusal>,
    /// Deleted items that other items refer to.
    pub parents: Vec<Parent>,
}

/// An action of a write's request.
#[derive(Clone, Debug, Default)]
pub struct BoundAction {
    /// Step of the write it comes from, as a path of indexes through `for`s. Empty for an intent, which has no step.
    pub step: Vec<usize>,
    /// Conditions in evaluation order. The first that the stored item fails names the refusal (ADR 0010).
    pub demands: Vec<Demand>,
    /// True if the item must not exist yet.
    pub is_new: bool,
    /// Set for an upsert that may meet an expired item.
    pub clearing: Option<Clearing>,
    /// Address of the item, without the item, if one of the demands is strict.
    pub strict: Option<CurrentItem>,
}

/// A condition of an action, with the outcome if it does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Condition on the stored item.
    pub condition: Condition,
    /// Outcome if the item fails the condition.
    pub refusal: Refusal,
    /// True for a field that the item must have besides its key. An item that differs is treated as absent: the refusal
    /// is that of an absent item, and never shows the item.
    pub is_equality: bool,
    /// True if the condition is stricter than the model requires, and exact once the item is known: the write is bound
    /// again with the item that the store returned.
    pub is_strict: bool,
}

/// Removal of an expired item that would make an upsert fail (ADR 0017).
#[derive(Clone, Debug)]
pub struct Clearing {
    /// Holds if the item has not expired.
    pub lives: Condition,
    /// Deletes the item if it has expired.
    pub delete: DeleteItem,
}

/// Outcome of a refused write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// Name in the model; `keep` is a silent success, empty if the model names none.
    pub outcome: String,
    /// True if a guard of `allow` failed: the caller is not permitted.
    pub is_permission: bool,
}

impl Refusal {
    fn of(outcome: Option<&Outcome>) -> Self {
        Self { outcome: outcome.map(|outcome| outcome.name.clone()).unwrap_or_default(), is_permission: false }
    }
}

/// Binds the arguments of a write.
///
/// # Errors
///
/// Returns an error if an argument or an item that should have been read is missing, or a value has the wrong type.
pub fn write<'a>(
    model: &'a Model,
    write: &'a Write,
    plan: &'a WritePlan,
    inputs: &'a Inputs<'a>,
) -> Result<BoundWrite, BindError> {
    let scope = Scope::new(model, inputs, &write.parameters, &write.lets)?;
    if let Some(refused) = walk::refused_by_reads(write, &scope)? {
        return Ok(BoundWrite { refused: Some(refused), ..BoundWrite::default() });
    }
    let mut actions = actions::Actions::new(plan, scope);
    walk::actions(write, &mut actions)?;
    let actions::Done { refused, requested, actions, parents } = actions.done()?;
    let operation = match refused {
        Some(_) => None,
        None => request::of(write, plan, inputs.token.as_ref(), requested)?,
    };
    Ok(BoundWrite { operation, actions, refused, parents })
}

/// Returns the consistent reads that must precede binding: items whose unique values the write changes or removes,
/// items that a `put` replaces and whose time of creation or version it continues, deleted items whose dependents refer
/// to a field outside the key, and deleted items that must have further fields, so that the other steps apply without
/// them if they differ.
///
/// # Errors
///
/// Same as [`write()`].
pub fn read_first(model: &Model, write: &Write, inputs: &Inputs<'_>) -> Result<Vec<GetItem>, BindError> {
    let may_depend = |action: &Action| {
        action.entity.is_some_and(|entity| {
            crate::plan::guarded_fields(model.entity(entity)).next().is_some()
                || action.verb == Verb::Delete && !crate::plan::referred_fields(model, entity).is_empty()
                || look::may_be_foreign(model, write, action)
                || action.verb == Verb::Put && !limit::continued(model.entity(entity), action).is_empty()
        })
    };
    if !write.any_action(&mut |action| may_depend(action)) {
        return Ok(Vec::new());
    }
    let scope = Scope::new(model, inputs, &write.parameters, &write.lets)?;
    // A write that is already refused may lack the values its steps use.
    if walk::refused_by_reads(write, &scope)?.is_some() {
        return Ok(Vec::new());
    }
    let mut look = look::Look::new(write, scope);
    walk::actions(write, &mut look)?;
    Ok(look.reads)
}

/// Returns the outcome name of a taken unique field: `EmailTaken` for `email`.
pub fn taken_name(field: &str) -> String {
    let mut letters = field.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}Taken", letters.as_str())
}

#[cfg(test)]
mod tests {
    use keyform_core::AttributeValue;
    use keyform_core::operation::{BatchWriteItem, WriteRequest};

    use super::*;
    use crate::Compiled;
    use crate::bind::sample::Sample;

    const MODEL: &str = r#"
        model people
        table People { key pk, sk }
        entity Person in People {
          key "PERSON#{name}", "META"
          name:  slug(1..20)
          nick:  slug(1..20) unique
          title: string(1..20)?
        }
        entity Badge in People {
          key "NICK#{nick}", "BADGE#{badge}"
          nick:  ref Person.nick cascade
          badge: slug(1..20)
        }
        entity Tag in People {
          key "TAG#{tag}", "META"
          tag: slug(1..20)
        }
        write make(name, nick) { create Person {} else Taken }
        write entitle(name, title) { update Person(name) { title = title } else Unknown }
        write renick(name, nick) { update Person(name) { nick = nick } else Unknown }
        write leave(name) { delete Person(name) }
        write untag(tag) { delete Tag(tag) }
        write look(name, tag) { check Person(name) exists else Unknown  put Tag {} }
        write tagAll(tags: list<slug(1..20)>) batch { for tag in tags max 3 { put Tag { tag = tag } } }
    "#;

    fn compiled() -> Compiled {
        let compiled = Compiled::read(MODEL);
        assert!(!compiled.has_errors(), "{:?}", compiled.unresolved);
        compiled
    }

    fn named<'a>(compiled: &'a Compiled, name: &str) -> (&'a Write, &'a WritePlan) {
        let mut all = compiled.model.writes.iter().zip(&compiled.plans.writes);
        let (write, plan) = all.find(|(write, _)| write.name == name).unwrap();
        (write, plan.as_ref().unwrap())
    }

    #[test]
    fn only_items_that_the_request_depends_on_are_read_first() {
        let compiled = compiled();
        let sample = Sample::new(&compiled.model);
        let check = |name: &str, expected: &[&str]| {
            let (write, _) = named(&compiled, name);
            let inputs = sample.of_write(write).unwrap();
            let reads = read_first(&compiled.model, write, &inputs).unwrap();
            let keys: Vec<&AttributeValue> = reads.iter().map(|get| &get.key["pk"]).collect();
            let begins = |(key, expected): (&&AttributeValue, &&str)| matches!(key, AttributeValue::S(key) if key.starts_with(expected));
            assert_eq!(keys.len(), expected.len(), "{name}: {keys:?}");
            assert!(keys.iter().zip(expected).all(begins), "{name}: {keys:?}");
            assert!(reads.iter().all(|get| get.consistent), "{name}");
        };
        check("make", &[]);
        check("entitle", &[]);
        check("renick", &["PERSON#"]);
        check("leave", &["PERSON#"]);
        check("untag", &[]);
        check("look", &[]);
        check("tagAll", &[]);
    }

    #[test]
    fn a_for_is_bound_once_per_element_up_to_its_limit() {
        let compiled = compiled();
        let sample = Sample::new(&compiled.model);
        let (write, plan) = named(&compiled, "tagAll");
        let bound = |count: usize| {
            let mut inputs = sample.of_write(write).unwrap();
            let tags = (0..count).map(|number| format!("tag{number}").into()).collect();
            inputs.arguments.to_mut().insert("tags".to_owned(), AttributeValue::L(tags));
            super::write(&compiled.model, write, plan, &inputs)
        };
        let Some(WriteOperation::Batch(BatchWriteItem { tables, .. })) = bound(3).unwrap().operation else {
            panic!("no batch")
        };
        assert!(matches!(tables.as_slice(), [(_, puts)] if puts.len() == 3 && matches!(puts[0], WriteRequest::Put(_))));
        assert_eq!(bound(4).unwrap_err(), BindError::TooMany { list: "`tags`".to_owned(), most: 3 });
    }

    #[test]
    fn a_batch_refuses_what_it_cannot_send() {
        const UNCHECKED: &str = r#"
            model tags
            table Tags { key tag }
            entity Tag in Tags { tag: slug(1..20)  owner: slug(1..20) }
            write make(tag, owner) batch { create Tag {} else Exists }
            write drop(tag, by: slug(1..20)) batch { delete Tag(tag) if owner = by else NotYours }
            write give(tag, owner) batch { update Tag(tag) { owner = owner } }
            write look(tag, by: slug(1..20)) batch { check Tag(tag) exists else Unknown  put Tag { tag = by, owner = by } }
            write fine(tag) batch { delete Tag(tag) }
        "#;
        let compiled = Compiled::read(UNCHECKED);
        let sample = Sample::new(&compiled.model);
        for (write, plan) in compiled.model.writes.iter().zip(&compiled.plans.writes) {
            let inputs = sample.of_write(write).unwrap();
            let bound = super::write(&compiled.model, write, plan.as_ref().unwrap(), &inputs);
            assert_eq!(bound.is_ok(), write.name == "fine", "{}: {bound:?}", write.name);
        }
    }

    #[test]
    fn a_refusal_for_a_taken_value_is_named_after_its_field() {
        assert_eq!(taken_name("email"), "EmailTaken");
    }
}
