//! Language-independent description of an HTTP client: its types, calls and documentation.
//! [`typescript`](super::typescript) and [`python`](super::python) generate code from it.
//!
//! 1. `kind` converts types of the model to those of a client.
//! 2. `object` describes everything that is a JSON object: entities, records, selections.
//! 3. `call` describes a pattern with its arguments, result and documentation.
//! 4. `names` builds valid and unique identifiers.

mod call;
mod kind;
pub(super) mod names;
mod object;

pub(super) use call::{Argument, Call, Live, Returns};
pub(super) use kind::Kind;
pub(super) use object::{Member, Object, ObjectId};

use keyform_check::Checked;
use keyform_check::surface::{CURSOR, Pattern};
use keyform_language::schema::{EntityId, Field};

use kind::Kinds;

/// Description of a client.
pub(super) struct Client<'a> {
    pub(super) model: &'a str,
    pub(super) docs: &'a [String],
    /// Entities whose ids have their own type, with the type's name.
    pub(super) ids: Vec<(EntityId, String)>,
    /// Entities, records and selections; [`ObjectId`] is the position.
    pub(super) objects: Vec<Object>,
    /// Claims of a caller's token; `None` if the model has no caller.
    pub(super) caller: Option<Vec<Member>>,
    /// Patterns that external callers can call.
    pub(super) calls: Vec<Call<'a>>,
}

impl<'a> Client<'a> {
    /// Describes the client of a model.
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

    /// Checks that no argument conflicts with those that clients add.
    ///
    /// # Errors
    /// Returns an error if a paged read has an argument named like the cursor.
    pub(super) fn check(&self) -> Result<(), String> {
        let is_mixed = |call: &&Call<'_>| {
            matches!(call.returns, Returns::Pages(_)) && call.arguments.iter().any(|argument| argument.name == CURSOR)
        };
        match self.calls.iter().find(is_mixed) {
            Some(call) => {
                Err(format!("`{}` has an argument `cursor`, a name that is reserved for pages: rename it", call.name))
            }
            None => Ok(()),
        }
    }

    /// Returns an object by its id.
    pub(super) fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.0]
    }

    /// Returns the positions of the objects that results consist of, in order.
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

    /// Returns whether any read can be followed live.
    pub(super) fn is_live(&self) -> bool {
        self.calls.iter().any(|call| call.live.is_some())
    }

    /// Iterates over the writes.
    pub(super) fn writes(&self) -> impl Iterator<Item = &Call<'a>> {
        self.calls.iter().filter(|call| call.is_write)
    }
}

/// Returns documentation lines without indentation and trailing empty lines.
pub(super) fn lines(docs: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = docs.iter().map(|line| line.trim().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}
