//! Reuse of what an earlier call returned: cursors and idempotency keys, of the other tenant or after a caller lost its
//! rights.

use keyform_check::Checked;
use keyform_check::surface::Pattern;
use keyform_core::{Attributes, Item};
use keyform_language::schema::{Read, ReadId, Write};
use keyform_runtime::run::cursor::{self, Binding};
use keyform_runtime::run::{Answer, Call, Caller, RunError, RunSettings};

use super::arguments::{Callable, Class as Given};
use super::caller::{Owner, Persona};
use super::report::{Kind, Promise};
use super::seed::{Seeded, authorities, key};
use super::show;
use super::trial::{Session, Violation, Worlds, promise};

/// Tries cursors and idempotency keys of all patterns.
pub(super) fn all(session: &mut Session, worlds: &mut Worlds<'_>, checked: &Checked) {
    for (number, read) in checked.model.reads.iter().enumerate() {
        let is_paged = read.page.is_some() && checked.plans.read(ReadId(number)).is_some();
        if is_paged && promise(read.allow.as_ref()) == Promise::Isolated {
            read_again(session, worlds, read);
        }
    }
    for write in checked.model.writes.iter().filter(|write| write.idempotent.is_some()) {
        if promise(write.allow.as_ref()) == Promise::Isolated {
            write_again(session, worlds, write);
        }
    }
}

/// Calls a read with a cursor: one of the other tenant, and an own one after the caller lost its rights.
fn read_again(session: &mut Session, worlds: &Worlds<'_>, read: &Read) {
    let callable = Callable { pattern: Pattern::Read(read), concepts: worlds.vocabulary.concepts.of_read(read) };
    for class in [Given::Own, Given::Foreign] {
        let trial = callable.trial(&worlds.vocabulary, Persona::Owner, vec![class; callable.concepts.len()]);
        let Ok(arguments) = &trial.arguments else { continue };
        let Some(cursor) = foreign_cursor(worlds, read, arguments) else { continue };
        let call =
            Call { arguments: arguments.clone(), cursor: Some(cursor), ..session.fresh_call(worlds, Persona::Owner) };
        let got = worlds.both.read(&read.name, &call);
        let found = got.is_ok().then(|| Violation::new(Kind::Read, "accepts a cursor of the other tenant's owner"));
        session.replayed(worlds, &callable, &trial, found, show::read(worlds.both.model(), &got));
    }
    let trial = callable.trial(&worlds.vocabulary, Persona::Owner, vec![Given::Own; callable.concepts.len()]);
    let Ok(arguments) = &trial.arguments else { return };
    let call = Call { arguments: arguments.clone(), ..session.fresh_call(worlds, Persona::Owner) };
    let cursor = match worlds.both.read(&read.name, &call) {
        Ok(Answer::Page { cursor, items, .. }) if !items.is_empty() => {
            cursor.or_else(|| own_cursor(worlds, read, arguments))
        }
        _ => return,
    };
    revoke(worlds);
    let is_forbidden = worlds.both.read(&read.name, &call) == Err(RunError::Forbidden);
    let got = worlds.both.read(&read.name, &Call { cursor, ..call });
    let what = "shows items to a removed member who has a cursor";
    let found = (is_forbidden && got.is_ok()).then(|| Violation::new(Kind::Revocation, what));
    session.replayed(worlds, &callable, &trial, found, show::read(worlds.both.model(), &got));
    worlds.both.restore();
}

/// Repeats a write under the key of the other tenant's owner, and under the caller's own key after it lost its rights.
fn write_again(session: &mut Session, worlds: &Worlds<'_>, write: &Write) {
    let callable = Callable { pattern: Pattern::Write(write), concepts: worlds.vocabulary.concepts.of_write(write) };
    let own = vec![Given::Own; callable.concepts.len()];
    let trial = callable.trial(&worlds.vocabulary, Persona::Owner, own.clone());
    let foreign = callable.trial(&worlds.vocabulary, Persona::Other, own);
    if let (Ok(arguments), Ok(others)) = (&trial.arguments, &foreign.arguments) {
        let call = Call { arguments: arguments.clone(), ..session.fresh_call(worlds, Persona::Owner) };
        let caller = Caller::Claims(worlds.vocabulary.claims(Persona::Other));
        let used = worlds.both.write(
            &write.name,
            &Call { arguments: others.clone(), caller, token: call.token.clone(), ..Call::default() },
        );
        let got = worlds.both.write(&write.name, &call);
        let is_same = used.is_ok() && got.as_ref().is_ok_and(|got| got.is_some() && used.as_ref().ok() == Some(got));
        let what = "answers with the item of the other tenant's owner, who used the same idempotency key";
        let found = (is_same && arguments != others).then(|| Violation::new(Kind::Read, what));
        session.replayed(worlds, &callable, &trial, found, show::write(worlds.both.model(), &got));
        worlds.both.restore();
    }
    let Ok(arguments) = &trial.arguments else { return };
    let call = Call { arguments: arguments.clone(), ..session.fresh_call(worlds, Persona::Owner) };
    if worlds.both.write(&write.name, &call).is_ok() {
        revoke(worlds);
        let fresh = Call { token: session.fresh_call(worlds, Persona::Owner).token, ..call.clone() };
        let is_forbidden = worlds.both.write(&write.name, &fresh) == Err(RunError::Forbidden);
        let got = worlds.both.write(&write.name, &call);
        let what = "shows an item to a removed member who repeats the idempotency key";
        let has_item = matches!(&got, Ok(Some(_)) | Err(RunError::Refused { item: Some(_), .. }));
        let found = (is_forbidden && has_item).then(|| Violation::new(Kind::Revocation, what));
        session.replayed(worlds, &callable, &trial, found, show::write(worlds.both.model(), &got));
    }
    worlds.both.restore();
}

/// Removes what gives the owner rights.
fn revoke(worlds: &Worlds<'_>) {
    let of: Vec<_> = authorities(worlds.both.model()).collect();
    let is_right = |own: &&Seeded| own.person == Owner::Caller && of.contains(&own.entity);
    worlds.both.remove(&worlds.both.own().iter().filter(is_right).collect::<Vec<_>>());
}

/// Returns a cursor that the other tenant's owner would have got for the arguments.
fn foreign_cursor(worlds: &Worlds<'_>, read: &Read, arguments: &Attributes) -> Option<String> {
    let entity = *read.result.entities().first()?;
    let last = worlds.both.others().iter().find(|other| other.entity == entity)?;
    let claims = claims(worlds, read, Persona::Other);
    // A read that does not depend on the caller has the same cursor for everyone.
    (claims != self::claims(worlds, read, Persona::Owner)).then(|| sealed(worlds, read, arguments, claims, last))
}

fn own_cursor(worlds: &Worlds<'_>, read: &Read, arguments: &Attributes) -> Option<String> {
    let entity = *read.result.entities().first()?;
    let last = worlds.both.own().iter().find(|own| own.entity == entity)?;
    Some(sealed(worlds, read, arguments, claims(worlds, read, Persona::Owner), last))
}

/// Returns the claims that a cursor of the read is bound to.
fn claims(worlds: &Worlds<'_>, read: &Read, persona: Persona) -> Attributes {
    let names = read.claims(worlds.both.model());
    worlds.vocabulary.claims(persona).into_iter().filter(|(name, _)| names.contains(name.as_str())).collect()
}

fn sealed(worlds: &Worlds<'_>, read: &Read, arguments: &Attributes, claims: Attributes, last: &Seeded) -> String {
    let model = worlds.both.model();
    let binding = Binding { model: &model.name, pattern: &read.name, arguments, claims };
    let last = key(model, &last.place.0, &last.item);
    cursor::seal(&RunSettings::default().cursor_key, &binding, &Item::from(&last))
}
