//! Open evolutions: finds the entities with two forms, and reads single items in either form.

use std::sync::{Mutex, PoisonError};

use keyform_core::operation::GetItem;
use keyform_core::{Attributes, Item};

use crate::evolve::find::{self, Lookup, candidates};
use crate::evolve::state::{self, Phase, REFRESH_MILLIS};
use crate::evolve::{Class, Form};
use keyform_check::Checked;
use keyform_language::schema::EntityId;

use super::{RunError, RunSettings, Runner};

/// Evolutions of a model, and the last known phase of their migration.
pub(super) struct Evolving {
    forms: Vec<Form>,
    id: String,
    known: Mutex<Option<(Phase, i64)>>,
}

impl Evolving {
    /// Returns the evolutions of a model; `None` if it has none.
    pub(super) fn of(checked: &Checked, settings: &RunSettings) -> Option<Self> {
        let forms = Form::all(&checked.model, &settings.variables);
        let id = state::id(&checked.model.name, &forms)?;
        let forms = forms.into_iter().map(|form| form.with_keys(settings.field_keys.clone())).collect();
        Some(Self { forms, id, known: Mutex::default() })
    }
}

impl Runner {
    /// Returns the phase of the model's migration; reads it again when the cached one is too old.
    async fn phase(&self, evolving: &Evolving) -> Result<Phase, RunError> {
        let now = self.world.now_millis();
        let known = *evolving.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((phase, at)) = known
            && (at..at + REFRESH_MILLIS).contains(&now)
        {
            return Ok(phase);
        }
        let phase = state::load(&*self.store, &evolving.id).await?.map(|state| state.phase).unwrap_or_default();
        *evolving.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((phase, now));
        Ok(phase)
    }

    /// Returns the open evolutions of these entities.
    pub(super) async fn open_forms(&self, of: &[EntityId]) -> Result<Vec<&Form>, RunError> {
        let Some(evolving) = &self.evolving else { return Ok(Vec::new()) };
        let forms: Vec<&Form> = evolving.forms.iter().filter(|form| of.contains(&form.entity)).collect();
        if forms.is_empty() || !self.phase(evolving).await?.reads_both() {
            return Ok(Vec::new());
        }
        Ok(forms)
    }

    /// Returns the open evolutions of these entities, for a write.
    ///
    /// During a rollback writes are refused. The rollback waits until every instance has noticed it.
    pub(super) async fn open_forms_for_write(&self, of: &[EntityId]) -> Result<Vec<&Form>, RunError> {
        let forms = self.open_forms(of).await?;
        if let (Some(evolving), false) = (&self.evolving, forms.is_empty())
            && self.phase(evolving).await? == Phase::RollingBack
        {
            let name = &forms[0].new.entity.name;
            return Err(RunError::NotRunnable(format!(
                "{name} is being rolled back: retry when the rollback is \
                complete"
            )));
        }
        Ok(forms)
    }

    /// Reads one item in either form: at the new key, then at the old one, then at the new one again, because the item
    /// may have moved in between (ADR 0015).
    pub(super) async fn get_both(&self, forms: &[&Form], get: GetItem) -> Result<Option<Item>, RunError> {
        let forms: Vec<&Form> = forms.iter().copied().filter(|form| form.new.name == get.table).collect();
        if let Some(item) = self.get_new(&forms, get.clone()).await? {
            return Ok(Some(item));
        }
        let mut looked = false;
        for form in forms.iter().filter(|form| !form.in_place) {
            let lookup = lookup(form, &get.key);
            looked |= lookup != Lookup::Nothing;
            if let Some(new) = self.old_becoming(form, &lookup, &get.key).await? {
                return Ok(Some(Item::from(&new)));
            }
        }
        match looked {
            true => self.get_new(&forms, GetItem { consistent: true, ..get }).await,
            false => Ok(None),
        }
    }

    async fn get_new(&self, forms: &[&Form], get: GetItem) -> Result<Option<Item>, RunError> {
        let Some(item) = self.call(get).await?.item else { return Ok(None) };
        let attributes = item.to_attributes();
        for form in forms {
            match form.class(&attributes) {
                Class::Old if form.in_place => return Ok(Some(Item::from(&self.converted(form, &attributes)?))),
                Class::Moved(_) | Class::Old if form.old.name == form.new.name => return Ok(None),
                _ => {}
            }
        }
        Ok(Some(item))
    }

    pub(super) fn converted(&self, form: &Form, old: &Attributes) -> Result<Attributes, RunError> {
        Ok(form.converted(old, self.world.now_millis())?)
    }

    /// Returns the old item that becomes the one with this key, converted.
    async fn old_becoming(
        &self,
        form: &Form,
        lookup: &Lookup,
        key: &Attributes,
    ) -> Result<Option<Attributes>, RunError> {
        let is_meant = |new: &Attributes| form.new.key_of(new) == *key;
        Ok(find::first(&*self.store, form, lookup, self.world.now_millis(), &is_meant).await?)
    }

    /// Reads items by their keys, each in either form.
    pub(super) async fn batch_both(
        &self,
        forms: &[&Form],
        table: &str,
        keys: &[Attributes],
    ) -> Result<Vec<Item>, RunError> {
        let forms: Vec<&Form> = forms.iter().copied().filter(|form| form.new.name == table).collect();
        let mut found = self.batch_new(&forms, table, keys.to_vec()).await?;
        let mut looked = false;
        let mut searched: Vec<Lookup> = Vec::new();
        for form in forms.iter().filter(|form| !form.in_place) {
            let missing: Vec<Attributes> = missing(form, keys, &found);
            for key in &missing {
                let lookup = lookup(form, key);
                if lookup == Lookup::Nothing || searched.contains(&lookup) {
                    continue;
                }
                looked = true;
                let old = candidates(&*self.store, form, &lookup, self.world.now_millis()).await?;
                searched.push(lookup);
                found.extend(old.into_iter().map(|old| old.new).filter(|new| missing.contains(&form.new.key_of(new))));
            }
        }
        if looked && let Some(form) = forms.first() {
            let again = self.batch_new(&forms, table, missing(form, keys, &found)).await?;
            found.extend(again);
        }
        Ok(found.iter().map(Item::from).collect())
    }

    async fn batch_new(
        &self,
        forms: &[&Form],
        table: &str,
        keys: Vec<Attributes>,
    ) -> Result<Vec<Attributes>, RunError> {
        let mut items = Vec::new();
        for item in find::batch_get(&*self.store, table, keys).await? {
            let form = forms.iter().find(|form| form.class(&item) != Class::Other);
            match form.map(|form| (form, form.class(&item))) {
                Some((form, Class::Old)) if form.in_place => items.push(self.converted(form, &item)?),
                Some((_, Class::Old | Class::Moved(_))) => {}
                _ => items.push(item),
            }
        }
        Ok(items)
    }
}

/// Returns how to find the old item that becomes the one with this key.
pub(super) fn lookup(form: &Form, key: &Attributes) -> Lookup {
    let known = form.new.entity.key.as_ref().and_then(|templates| form.known_of_key(templates, key));
    known.map_or(Lookup::Nothing, |known| form.lookup(&known))
}

fn missing(form: &Form, keys: &[Attributes], found: &[Attributes]) -> Vec<Attributes> {
    let have: Vec<Attributes> = found.iter().map(|item| form.new.key_of(item)).collect();
    keys.iter().filter(|key| !have.contains(key)).cloned().collect()
}
