//! Finds the old items that become the requested new ones.
//!
//! The fields known from the new key determine which fields of the old item are known. If they form its whole key, one
//! GetItem finds it; if they form a partition of the table or of an index, a Query; otherwise only a Scan does. Every
//! result is converted and compared with the request, so an imprecise lookup costs more but is never wrong.

use keyform_core::error::{Detail, remote};
use keyform_core::expression::{Comparator, Condition, KeyCondition, KeyPredicate, KeyTest, Operand, Path};
use keyform_core::operation::{BatchGetItem, BatchGetRequest, GetItem, PageRequest, Query, Scan};
use keyform_core::{Attributes, Error, ErrorCode, Execute, ExecuteExt, Item};

use keyform_language::bind::evolve::key_attribute;
use keyform_language::schema::{EntityKey, KeyPart};

use super::form::{Class, Form, Side};

/// Maximum lag of an index: an older mark has reached it.
const LAG_MILLIS: i64 = 60_000;
/// Size of the first page when one item is wanted, and the factor by which pages grow.
const FIRST_PAGE_ITEMS: usize = 20;
const GROWTH: usize = 10;
/// Limit of BatchGetItem.
const BATCH_KEYS_MAX: usize = 100;
/// Consecutive rounds in which the store processes no key of a batch before giving up. Each round is a request, so
/// this takes seconds.
const IDLE_ROUNDS_MAX: u32 = 1000;

/// Request that finds old items.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Lookup {
    /// No old item converts to the requested ones.
    Nothing,
    /// By primary key.
    Get(Attributes),
    /// In a partition of the table, or of the named index.
    Query(Option<String>, Vec<KeyPredicate>),
    /// In the whole table.
    Scan,
}

impl Form {
    /// Returns how to find the old items that convert to items with these fields.
    #[must_use]
    pub(crate) fn lookup(&self, new: &Attributes) -> Lookup {
        let Some(known) = self.known_before(new) else { return Lookup::Nothing };
        let key = self.old.entity.key.as_ref();
        if let Some(attributes) = key.and_then(|key| whole(&self.old, key, &known)) {
            return Lookup::Get(attributes);
        }
        let of_indexes = self.old.entity.indexes.iter();
        for key in key.into_iter().chain(of_indexes) {
            if let Some(predicates) = partition(&self.old, key, &known) {
                let index = key.index.map(|index| self.old.table.index_at(index).physical.clone());
                return Lookup::Query(index, predicates);
            }
        }
        Lookup::Scan
    }

    /// Parses the attributes of a new key into fields.
    #[must_use]
    pub(crate) fn known_of_key(&self, key: &EntityKey, attributes: &Attributes) -> Option<Attributes> {
        self.new.read_key(key, attributes)
    }
}

fn whole(side: &Side, key: &EntityKey, known: &Attributes) -> Option<Attributes> {
    key.parts().map(|part| Some((part.attribute.clone(), value(side, key, part, known)?))).collect()
}

fn value(side: &Side, key: &EntityKey, part: &KeyPart, known: &Attributes) -> Option<keyform_core::AttributeValue> {
    key_attribute(&side.table, key.index, &side.entity, part, known).ok().flatten()
}

/// Returns predicates for the partition, and for the known part of the sort key.
fn partition(side: &Side, key: &EntityKey, known: &Attributes) -> Option<Vec<KeyPredicate>> {
    let mut predicates = Vec::new();
    for part in &key.partition {
        let test = KeyTest::Compare(Comparator::Equal, value(side, key, part, known)?.into());
        predicates.push(KeyPredicate { attribute: part.attribute.clone(), test });
    }
    if let [part] = key.sort.as_slice() {
        let prefix = part.template.prefix();
        let test = match value(side, key, part, known) {
            Some(value) => Some(KeyTest::Compare(Comparator::Equal, value.into())),
            None if prefix.is_empty() => None,
            None => Some(KeyTest::BeginsWith(keyform_core::AttributeValue::from(prefix).into())),
        };
        predicates.extend(test.map(|test| KeyPredicate { attribute: part.attribute.clone(), test }));
    }
    Some(predicates)
}

/// Match of a lookup: an old item and its new form, or the new item itself if it has just moved.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Item at its old key; `None` if it already moved.
    pub(crate) old: Option<Attributes>,
    /// Item in the new form.
    pub(crate) new: Attributes,
}

/// Runs a lookup and converts the items. Leaves out those that cannot be converted: they have no new key to ask for.
pub(crate) async fn candidates(
    store: &dyn Execute,
    form: &Form,
    lookup: &Lookup,
    now_millis: i64,
) -> Result<Vec<Candidate>, Error> {
    let mut found = Vec::new();
    let mut pages = Pages::of(form, lookup);
    while let Some(page) = pages.next(store, form).await? {
        found.extend(page);
    }
    of_page(store, form, lookup, found, now_millis).await
}

/// Runs a lookup until it finds the item that converts to the wanted one, and reads no further.
///
/// # Errors
///
/// Returns an error if the store fails.
pub(crate) async fn first(
    store: &dyn Execute,
    form: &Form,
    lookup: &Lookup,
    now_millis: i64,
    is_wanted: &(dyn Fn(&Attributes) -> bool + Sync),
) -> Result<Option<Attributes>, Error> {
    let mut pages = Pages::of(form, lookup).growing();
    let tells = form.key_follows_from_key();
    while let Some(mut page) = pages.next(store, form).await? {
        if tells {
            page.retain(|item| form.converted(item, now_millis).map_or(true, |new| is_wanted(&new)));
        }
        let found = of_page(store, form, lookup, page, now_millis).await?;
        if let Some(found) = found.into_iter().map(|found| found.new).find(|new| is_wanted(new)) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Converts the old items of a page.
async fn of_page(
    store: &dyn Execute,
    form: &Form,
    lookup: &Lookup,
    items: Vec<Attributes>,
    now_millis: i64,
) -> Result<Vec<Candidate>, Error> {
    let through_index = matches!(lookup, Lookup::Query(Some(_), _));
    let is_candidate = |item: &Attributes| match form.class(item) {
        Class::Old => true,
        // The new item may not be in its index yet.
        Class::Moved(mark) => through_index && now_millis - mark.at_millis < LAG_MILLIS,
        // Rewritten in place, a moment ago perhaps: it may not be in its index yet. A partial index does not show which
        // attributes an item lacks.
        Class::New => form.in_place,
        Class::Other => false,
    };
    let found: Vec<Attributes> = items.into_iter().filter(is_candidate).collect();
    if through_index {
        return verified(store, form, found, now_millis).await;
    }
    let (new, old): (Vec<_>, Vec<_>) = found.into_iter().partition(|item| form.class(item) == Class::New);
    let mut candidates = converted(form, old, now_millis);
    candidates.extend(new.into_iter().map(|new| Candidate { old: None, new }));
    Ok(candidates)
}

/// Pages of a lookup.
enum Pages {
    Done,
    Get(Attributes),
    Query(Box<Query>),
    Scan(Box<Scan>),
}

impl Pages {
    fn of(form: &Form, lookup: &Lookup) -> Self {
        match lookup {
            Lookup::Nothing => Self::Done,
            Lookup::Get(key) => Self::Get(key.clone()),
            Lookup::Query(index, predicates) => Self::Query(Box::new(query(form, index.clone(), predicates.clone()))),
            Lookup::Scan => Self::Scan(Box::new(scan(form))),
        }
    }

    /// Begins with a small page, because the wanted item may be on it; each page is larger than the one before.
    fn growing(mut self) -> Self {
        match &mut self {
            Self::Query(query) => query.limit = Some(FIRST_PAGE_ITEMS),
            Self::Scan(scan) => scan.limit = Some(FIRST_PAGE_ITEMS),
            Self::Done | Self::Get(_) => {}
        }
        self
    }

    /// Returns the next page; `None` after the last.
    async fn next(&mut self, store: &dyn Execute, form: &Form) -> Result<Option<Vec<Attributes>>, Error> {
        match std::mem::replace(self, Self::Done) {
            Self::Done => Ok(None),
            Self::Get(key) => Ok(Some(get(store, &form.old.name, key).await?.into_iter().collect())),
            Self::Query(query) => {
                let (items, mut next) = page(store, *query).await?;
                next.iter_mut().for_each(|next| next.limit = next.limit.map(|limit| limit * GROWTH));
                *self = next.map_or(Self::Done, |next| Self::Query(Box::new(next)));
                Ok(Some(items))
            }
            Self::Scan(scan) => {
                let (items, mut next) = page(store, *scan).await?;
                next.iter_mut().for_each(|next| next.limit = next.limit.map(|limit| limit * GROWTH));
                *self = next.map_or(Self::Done, |next| Self::Scan(Box::new(next)));
                Ok(Some(items))
            }
        }
    }
}

fn converted(form: &Form, items: Vec<Attributes>, now_millis: i64) -> Vec<Candidate> {
    let candidate = |old: Attributes| {
        let new = form.converted(&old, now_millis).ok()?;
        Some(Candidate { old: Some(old), new })
    };
    items.into_iter().filter_map(candidate).collect()
}

/// Reads the items again from the table, because an index may lag or hold only some attributes, and follows marks to
/// the new items.
async fn verified(
    store: &dyn Execute,
    form: &Form,
    items: Vec<Attributes>,
    now_millis: i64,
) -> Result<Vec<Candidate>, Error> {
    let keys = items.iter().map(|item| form.old.key_of(item)).collect();
    let (mut old, mut moved, mut current) = (Vec::new(), Vec::new(), Vec::new());
    for item in batch_get(store, &form.old.name, keys).await? {
        match form.class(&item) {
            Class::Old => old.push(item),
            Class::Moved(mark) => moved.push(mark.to),
            Class::New => current.push(item),
            Class::Other => {}
        }
    }
    let mut found = converted(form, old, now_millis);
    let news = batch_get(store, &form.new.name, moved).await?;
    found.extend(news.into_iter().chain(current).map(|new| Candidate { old: None, new }));
    Ok(found)
}

/// Reads items by their keys with consistent reads.
///
/// # Errors
///
/// Returns an error if the store fails, or processes no key over many rounds.
pub async fn batch_get(store: &dyn Execute, table: &str, mut keys: Vec<Attributes>) -> Result<Vec<Attributes>, Error> {
    let mut items = Vec::new();
    let mut seen: Vec<Attributes> = Vec::new();
    keys.retain(|key| {
        let is_new = !key.is_empty() && !seen.contains(key);
        if is_new {
            seen.push(key.clone());
        }
        is_new
    });
    let mut idle = 0;
    while !keys.is_empty() {
        let rest = keys.split_off(keys.len().min(BATCH_KEYS_MAX));
        let request = BatchGetRequest { keys: keys.clone(), projection: None, consistent: true };
        let batch = BatchGetItem { tables: vec![(table.to_owned(), request)], return_capacity: Default::default() };
        let mut output = store.call(batch).await?;
        items.extend(output.responses.remove(table).unwrap_or_default().iter().map(Item::to_attributes));
        let left = output.unprocessed.remove(table).unwrap_or_default();
        let undone: Vec<Attributes> = left.into_iter().filter_map(|number| keys.get(number).cloned()).collect();
        idle = if undone.len() < keys.len() { 0 } else { idle + 1 };
        if idle == IDLE_ROUNDS_MAX {
            let why = "the store processes none of the keys of a BatchGetItem: increase its capacity";
            return Err(remote::reported(ErrorCode::Throttling.name(), why, Detail::None));
        }
        keys = undone.into_iter().chain(rest).collect();
    }
    Ok(items)
}

/// Reads one item with a consistent read.
pub(crate) async fn get(store: &dyn Execute, table: &str, key: Attributes) -> Result<Option<Attributes>, Error> {
    let get = GetItem { table: table.to_owned(), key, consistent: true, ..GetItem::default() };
    let output = store.call(get).await?;
    Ok(output.item.map(|item| item.to_attributes()))
}

fn query(form: &Form, index: Option<String>, predicates: Vec<KeyPredicate>) -> Query {
    Query {
        table: form.old.name.clone(),
        consistent: index.is_none(),
        index,
        key: KeyCondition { predicates },
        filter: None,
        projection: None,
        select: None,
        limit: None,
        reverse: false,
        start: None,
        return_capacity: Default::default(),
    }
}

/// Scans the whole table, filtered by the literal prefixes of the old key.
fn scan(form: &Form) -> Scan {
    let key = form.old.entity.key.iter().flat_map(EntityKey::parts);
    let begins = key.filter(|part| !part.template.prefix().is_empty()).map(|part| {
        let prefix = keyform_core::AttributeValue::from(part.template.prefix());
        Condition::BeginsWith(Operand::Path(Path::attribute(part.attribute.clone())), Operand::Value(prefix.into()))
    });
    let begins: Vec<Condition> = begins.collect();
    Scan {
        table: form.old.name.clone(),
        index: None,
        filter: match begins.len() {
            0 => None,
            1 => begins.into_iter().next(),
            _ => Some(Condition::And(begins)),
        },
        projection: None,
        select: None,
        limit: None,
        consistent: true,
        segment: None,
        start: None,
        return_capacity: Default::default(),
    }
}

/// Reads one page of a Query or Scan; returns the request of the next, if there is one.
async fn page<R: PageRequest>(store: &dyn Execute, mut request: R) -> Result<(Vec<Attributes>, Option<R>), Error> {
    let page = store.call(request.clone()).await?;
    page.ensure_progress(request.start_mut().as_ref())?;
    let items = page.items.unwrap_or_default().iter().map(Item::to_attributes).collect();
    let next = page.last_key.map(|last| {
        *request.start_mut() = Some(last.to_attributes());
        request
    });
    Ok((items, next))
}
