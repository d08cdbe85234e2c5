//! A client of the HTTP API, before any language: its types, calls and words. [`typescript`](super::typescript) and
//! [`python`](super::python) print it.
//!
//! 1. `kind` says what a type of the model is to a client, and which ids are told apart.
//! 2. `object` is whatever is an object on the wire: entities, records, selections.
//! 3. `call` is one pattern with its arguments, its answer and its words.
//! 4. `names` finds names that a language takes and nothing else has.

mod call;
mod kind;
pub(super) mod names;
mod object;

pub(super) use call::{Argument, Call, Live, Returns};
pub(super) use kind::Kind;
pub(super) use object::{Member, Object, ObjectId};

use keyform_language::Checked;
use keyform_language::schema::{EntityId, Field};
use keyform_language::surface::{CURSOR, Pattern};

use kind::Kinds;

/// Everything that a client has.
pub(super) struct Client<'a> {
    /// The model's name.
    pub(super) model: &'a str,
    /// The model's documentation.
    pub(super) docs: &'a [String],
    /// Entities whose ids are told from other texts, with a name for the type of the id.
    pub(super) ids: Vec<(EntityId, String)>,
    /// Entities, records and selections.
    pub(super) objects: Vec<Object>,
    /// What a caller's token proves; `None` if the model has no caller.
    pub(super) caller: Option<Vec<Member>>,
    /// The patterns that callers can reach.
    pub(super) calls: Vec<Call<'a>>,
}

impl<'a> Client<'a> {
    /// The client of a model.
    pub(super) fn of(checked: &'a Checked) -> Self {
        let model = &checked.model;
        let mut kinds = Kinds::new(model);
        let calls: Vec<Call<'a>> =
            Pattern::reachable(model).map(|pattern| Call::of(checked, pattern, &mut kinds)).collect();
        let caller =
            model.caller.as_ref().map(|caller| kinds.members(&caller.fields.iter().collect::<Vec<&Field>>(), "Caller"));
        let (ids, objects) = kinds.finish();
        Self { model: &model.name, docs: &model.docs, ids, objects, caller, calls }
    }

    /// Whether calls can be told from what clients add to them.
    ///
    /// # Errors
    /// A read that is answered in pages has an argument of the name that is the cursor's.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_mixed = |call: &&Call<'_>| {
            matches!(call.returns, Returns::Pages(_)) && call.arguments.iter().any(|argument| argument.name == CURSOR)
        };
        match self.calls.iter().find(is_mixed) {
            Some(call) => Err(format!(
                "`{}` has an argument `cursor`, which is the name of a page's end: call it otherwise",
                call.name
            )),
            None => Ok(()),
        }
    }

    /// An entity, record or selection.
    pub(super) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0]
    }

    /// The objects that answers are made of, in order.
    pub(super) fn returned(&self) -> Vec<usize> {
        let mut found = vec![false; self.objects.len()];
        for call in &self.calls {
            for object in call.returns.objects() {
                self.reach(object, &mut found);
            }
        }
        (0..found.len()).filter(|&number| found[number]).collect()
    }

    fn reach(&self, object: ObjectId, found: &mut [bool]) {
        if !std::mem::replace(&mut found[object.index()], true) {
            let inner = self.object(object).members.iter().filter_map(|member| member.kind.object());
            inner.for_each(|inner| self.reach(inner, found));
        }
    }

    /// Whether some read can be followed live.
    pub(super) fn is_live(&self) -> bool {
        self.calls.iter().any(|call| call.live.is_some())
    }

    /// The writes, with the names by which each can be refused.
    pub(super) fn writes(&self) -> impl Iterator<Item = &Call<'a>> {
        self.calls.iter().filter(|call| call.is_write)
    }
}

/// Documentation as lines without their margins.
pub(super) fn lines(docs: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = docs.iter().map(|line| line.trim().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
