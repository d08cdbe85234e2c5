//! Runs a write: the ordered list of its steps, and the attempt that passes through them (ADR 0031).
//!
//! [`STEPS`] is the list. Each step is one feature in a file of its own and has up to five hooks:
//!
//! ```text
//! admit ─▶ Read ──read, bind──▶ Bound ──before, send──▶ Sent ──decide──▶ Decided ──after──▶ answer, or Read again
//!           └─────── an error or refusal of any hook before the send ───────▲
//! ```
//!
//! 1. `admit` refuses a call that no attempt can serve. Nothing has been sent yet.
//! 2. `read` collects the inputs of the request ([`state::Read`]). Then `bind` computes the request.
//! 3. `before` completes or refuses the request ([`state::Bound`]). Then the request is sent.
//! 4. `decide` turns the store's response ([`state::Sent`]) into a result. The first step that answers decides.
//! 5. `after` ([`state::Decided`]) cleans up, asks for one more attempt, or replaces the result. It also runs for an
//!    attempt that failed before it sent anything.
//!
//! The hooks run in the order of the list, `after` in reverse: a step that comes first encloses those that follow. A
//! step that does not concern a write returns at once, and the others wait in boxed futures, which keeps the future of
//! a simple call small.

mod batch;
mod cascade;
mod current_items;
mod exact;
mod expired;
mod fixed;
mod held;
mod idempotency;
mod lets;
mod permission;
mod refusal;
mod restrict;
mod retry;
mod returned_item;
mod run;
mod sealing;
mod state;
mod step;
#[cfg(test)]
mod testing;
mod two_forms;
mod unknown_outcome;
mod without_transactions;

pub(crate) use idempotency::{EXPIRES as ANSWERS_EXPIRE, answer_table};
pub(in crate::run) use lets::let_value;
pub(in crate::run) use without_transactions::obstacle;

use step::Step;

/// Steps of every write, in order.
static STEPS: [&dyn Step; 17] = [
    // Supplies the cipher and the salt of the call. First, because a later step binds a preview of the request.
    &sealing::Sealing,
    // Reads the items of the `let`s. Before the permission, which may depend on them.
    &lets::Lets,
    // Evaluates `allow` and its guards. Before any step that changes the store or reveals what it holds.
    &permission::Permission,
    // Migrates the old items that the write touches. After the permission, because it writes; before `current_items`,
    // which then only meets the new form.
    &two_forms::TwoForms,
    // Reads the items whose unique values or references the request depends on. Last of the reads, so that little
    // time passes before the request, whose conditions fail if the items have changed.
    &current_items::CurrentItems,
    // Refuses the delete of an item that others refer to with `restrict`. First after binding: a refused write must
    // leave no intent and no record behind.
    &restrict::Restrict,
    // Adds the guards that must hold in the request. Before `idempotency` and `returned_item`, because it may turn the
    // request into a transaction.
    &held::Held,
    // Applies the write once per idempotency key: puts a record with the request, and answers a repeated call from
    // it. Encloses `retry`, so only the result of the last attempt is compared with the record.
    &idempotency::Idempotency,
    // Reports a write that may have been applied as `Unknown`. Before `retry`, which would apply it twice.
    &unknown_outcome::UnknownOutcome,
    // Deletes an expired item that made an upsert fail. Before `refusal`, for which the condition simply failed.
    &expired::Expired,
    // Repeats a write whose condition was stricter than the model. Before `refusal`, for which the condition simply failed.
    &exact::Exact,
    // Repeats an attempt that lost against concurrent writers. Encloses `cascade`, so the intents of a lost attempt
    // are withdrawn before the pause.
    &retry::Retry,
    // Refuses writes that need a transaction on a store without them, and sends the only action of a delete as a
    // plain request. Before `cascade`, to which it hands the intents.
    &without_transactions::WithoutTransactions,
    // Puts the intents that cannot be part of the request, and deletes dependents once the parent is deleted. After
    // `restrict`, because an intent promises that its parent will be deleted.
    &cascade::Cascade,
    // Determines the item that the write returns. After `idempotency`, which turns the request into a transaction: the
    // response of a transaction has no item.
    &returned_item::ReturnedItem,
    // Reports the result of a batch, which is several requests and has no conditions to decide by.
    &batch::Batch,
    // Names the condition that failed, and shows the item to callers who may read it. Last: it takes every error that
    // no other step recognised.
    &refusal::Refusal,
];

#[cfg(test)]
mod tests {
    use super::STEPS;

    fn place(name: &str) -> usize {
        STEPS.iter().position(|step| format!("{step:?}") == name).unwrap()
    }

    /// The reasons in the list, as far as an order can be wrong without a test of one step noticing.
    #[test]
    fn the_order_keeps_what_the_list_promises() {
        let orders = [
            ("Sealing", "TwoForms"),
            ("Lets", "Permission"),
            ("Permission", "TwoForms"),
            ("TwoForms", "CurrentItems"),
            ("Permission", "Held"),
            ("Restrict", "Held"),
            ("Held", "Idempotency"),
            ("Held", "ReturnedItem"),
            ("Restrict", "Idempotency"),
            ("Restrict", "Cascade"),
            ("Idempotency", "Retry"),
            ("Idempotency", "ReturnedItem"),
            ("UnknownOutcome", "Retry"),
            ("Expired", "Refusal"),
            ("Exact", "Refusal"),
            ("Retry", "Cascade"),
            ("WithoutTransactions", "Cascade"),
        ];
        for (first, second) in orders {
            assert!(place(first) < place(second), "{first} must come before {second}");
        }
        assert_eq!(place("Refusal"), STEPS.len() - 1);
    }
}
