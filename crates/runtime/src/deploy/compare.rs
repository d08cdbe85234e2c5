//! Compares an existing or missing table with the declared one.
//!
//! The steps are in an order that the service accepts: capacity of the table before indexes that need it, removed
//! indexes before new ones, and TTL last, because the service may require a wait.

use keyform_core::operation::CreateTable;
use keyform_core::table::{BillingMode, Status, TableDescription, Throughput};

use super::change::{Change, key_words};
use super::desired::Desired;
use super::destroy::Destroy;
use super::live::Live;
use super::plan::{TablePlan, remove_table};
use super::{encryption, index};

const MOVE: &str = "give the table another name in the model and move the items with `keyform copy`, or with `evolve` \
    and `keyform migrate`";

pub(super) fn compare(wanted: &Desired, live: Option<&Live>, destroy: &mut Destroy<'_>) -> TablePlan {
    let table = wanted.create.table.clone();
    let declared = Some(wanted.name.clone());
    let mut plan = TablePlan { table, declared, own: wanted.own, exists: live.is_some(), ..TablePlan::default() };
    match live.filter(|live| live.description.status != Status::Deleting) {
        None => make(&mut plan, wanted),
        Some(_) if wanted.own => {}
        Some(live) => change(&mut plan, wanted, live, destroy),
    }
    plan
}

fn make(plan: &mut TablePlan, wanted: &Desired) {
    plan.step(Change::CreateTable(Box::new(wanted.create.clone())));
    if let Some(attribute) = &wanted.ttl {
        plan.step(Change::ExpiryOn(attribute.clone()));
    }
    if wanted.recovery {
        plan.step(Change::Recovery(true));
    }
}

fn change(plan: &mut TablePlan, wanted: &Desired, live: &Live, destroy: &mut Destroy<'_>) {
    let differences = fixed_differences(&wanted.create, &live.description);
    if !differences.is_empty() {
        return anew(plan, wanted, live, destroy, differences);
    }
    protection(plan, &wanted.create, &live.description);
    billing(plan, &wanted.create, &live.description);
    class(plan, &wanted.create, &live.description);
    encryption::compare(plan, &wanted.create, &live.description);
    stream(plan, &wanted.create, &live.description, destroy);
    index::compare(plan, &wanted.create, &live.description, destroy);
    index::note_local_strangers(plan, &wanted.create, &live.description);
    recovery(plan, wanted, live, destroy);
    expiry(plan, wanted, live);
}

/// Returns the differences in what cannot change during a table's lifetime: its key and its local indexes.
fn fixed_differences(wanted: &CreateTable, live: &TableDescription) -> Vec<String> {
    let mut found = Vec::new();
    if wanted.key != live.key {
        let (is, shall) = (key_words(&live.key), key_words(&wanted.key));
        found.push(format!(
            "the key of the table is {is}, in the model it is {shall}: the key of a table cannot \
            change"
        ));
    } else if let Some((name, is, shall)) = index::other_type(&wanted.key, &wanted.attributes, &live.attributes) {
        found.push(format!("{name} has the type {is}, in the model {shall}: the key of a table cannot change"));
    }
    found.extend(index::local_differences(wanted, live));
    found
}

/// Handles a table that must be created again: plans it if `destroy` names the table, otherwise refuses.
fn anew(plan: &mut TablePlan, wanted: &Desired, live: &Live, destroy: &mut Destroy<'_>, differences: Vec<String>) {
    if destroy.table(&wanted.create.table) {
        if remove_table(plan, live) {
            make(plan, wanted);
        }
        return;
    }
    let table = &wanted.create.table;
    let remedy = format!("{MOVE}; destroying `{table}` deletes it with its items and creates it again");
    plan.destroyable(table);
    differences.into_iter().for_each(|what| plan.refuse(what, remedy.clone()));
}

fn protection(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription) {
    if wanted.deletion_protected != live.deletion_protected {
        plan.step(Change::Protection(wanted.deletion_protected));
    }
}

fn billing(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription) {
    match (wanted.billing, live.billing, wanted.throughput) {
        (BillingMode::PayPerRequest, BillingMode::Provisioned, _) => {
            plan.step(Change::Billing { mode: Some(BillingMode::PayPerRequest), table: None, indexes: Vec::new() });
        }
        (BillingMode::Provisioned, BillingMode::PayPerRequest, Some(units)) => {
            let indexes = live.global_indexes.iter().map(|index| (index.index.name.clone(), units)).collect();
            plan.step(Change::Billing { mode: Some(BillingMode::Provisioned), table: Some(units), indexes });
        }
        (BillingMode::Provisioned, BillingMode::Provisioned, Some(units)) => capacity(plan, units, live),
        _ => {}
    }
}

fn capacity(plan: &mut TablePlan, units: Throughput, live: &TableDescription) {
    let table = (live.throughput.units != units).then_some(units);
    let others = live.global_indexes.iter().filter(|index| index.throughput.units != units);
    let indexes: Vec<_> = others.map(|index| (index.index.name.clone(), units)).collect();
    if table.is_some() || !indexes.is_empty() {
        plan.step(Change::Billing { mode: None, table, indexes });
    }
}

fn class(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription) {
    let wanted = wanted.class.unwrap_or_default();
    if wanted != live.class.unwrap_or_default() {
        plan.warned(Change::Class(wanted), "the service allows two such changes in 30 days");
    }
}

fn stream(plan: &mut TablePlan, wanted: &CreateTable, live: &TableDescription, destroy: &mut Destroy<'_>) {
    const NEW_ARN: &str = "the new stream has another ARN: point consumers of the old stream to it";
    let is = live.stream.as_ref().filter(|stream| stream.enabled).map(|stream| stream.view);
    match (wanted.stream, is) {
        (Some(shall), None) => plan.step(Change::StreamOn(shall)),
        (Some(shall), Some(is)) if shall != is => {
            plan.warned(
                Change::StreamOff,
                "changes between the end of the old stream and the start of the new one \
                are in neither",
            );
            plan.warned(Change::StreamOn(shall), NEW_ARN);
        }
        (None, Some(_)) if destroy.part(&live.name, "stream") => plan.step(Change::StreamOff),
        (None, Some(view)) => {
            let (view, name) = (view.name(), Destroy::name(&live.name, "stream"));
            plan.note(format!("its stream of {view} is not in the model and stays: destroying `{name}` disables it"));
            plan.destroyable(name);
        }
        _ => {}
    }
}

fn recovery(plan: &mut TablePlan, wanted: &Desired, live: &Live, destroy: &mut Destroy<'_>) {
    let table = &wanted.create.table;
    match (wanted.recovery, live.recovery) {
        (true, Some(false)) => plan.step(Change::Recovery(true)),
        (true, None) => plan.note("this store does not support point-in-time recovery: skipped"),
        (false, Some(true)) if destroy.part(table, "recovery") => {
            plan.warned(Change::Recovery(false), "the recovery history is lost");
        }
        (false, Some(true)) => {
            let name = Destroy::name(table, "recovery");
            plan.note(format!(
                "its point-in-time recovery is not in the model and stays: destroying `{name}` disables it"
            ));
            plan.destroyable(name);
        }
        _ => {}
    }
}

fn expiry(plan: &mut TablePlan, wanted: &Desired, live: &Live) {
    const AN_HOUR: &str = "the service accepts the next change of expiry up to an hour after the last: if it is \
        rejected, apply again later";
    match (&wanted.ttl, &live.ttl) {
        (Some(shall), None) => plan.step(Change::ExpiryOn(shall.clone())),
        (None, Some(is)) => plan.step(Change::ExpiryOff(is.clone())),
        (Some(shall), Some(is)) if shall != is => {
            plan.warned(Change::ExpiryOff(is.clone()), "nothing expires until the new attribute is enabled");
            plan.warned(Change::ExpiryOn(shall.clone()), AN_HOUR);
        }
        _ => {}
    }
}
