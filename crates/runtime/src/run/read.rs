//! Executes a read: one request, or as many pages as the answer needs.

use keyform_core::operation::{BatchGetItem, BatchGetRequest, PageOutput};
use keyform_core::{Attributes, Item};

use keyform_language::bind::{self, BoundRead, PageRead, ReadRequest};
use keyform_language::document::ast::Number;
use keyform_language::plan::{ReadOutcome, ReadPlan, RequestKind};
use keyform_language::schema::{EntityId, Read, ReadId, Result as ReadResult};

use super::cursor::{self, Binding};
use super::found::{self, Answer, Extent, Found, FoundItems};
use super::{Call, Caller, RunError, Runner, merged};

/// Limit of BatchGetItem.
const BATCH_KEYS_MAX: usize = 100;

impl Runner {
    pub(super) async fn run_read(&self, id: ReadId, read: &Read, call: &Call) -> Result<Answer, RunError> {
        let ReadOutcome::Planned(plan) = &self.checked.plans.reads[id.0] else {
            return Err(RunError::NotRunnable(format!("`{}` has no plan: run `keyform check`", read.name)));
        };
        let start = self.start(read, call)?;
        let forms = if self.evolving.is_some() { self.open_forms(&plan.returns).await? } else { Vec::new() };
        if !forms.is_empty() || merged::is_merged(start.as_ref()) {
            return Box::pin(self.read_both(read, plan, call, forms, start)).await;
        }
        let mut inputs = self.inputs(call);
        inputs.start = start;
        let bound = bind::read(&self.checked.model, read, plan, &inputs)?;
        match (&read.result, plan.request) {
            (ReadResult::Count(..), _) => self.count(plan, bound).await,
            (_, RequestKind::Get) => self.get(read, plan, bound).await,
            (_, RequestKind::BatchGet) => self.batch(read, plan, bound).await,
            (ReadResult::Parts(parts), _) => match parts.as_slice() {
                [(_, Number::Many, _)] => self.page(read, plan, bound, call).await,
                [_] => self.first(read, plan, bound).await,
                _ => self.collection(read, plan, bound).await,
            },
        }
    }

    pub(super) fn binding<'a>(&'a self, read: &'a Read, call: &'a Call) -> Binding<'a> {
        let model = &self.checked.model;
        let claims = match &call.caller {
            Caller::System => Attributes::new(),
            Caller::Claims(claims) => {
                let used = read.claims(model).into_iter();
                used.filter_map(|name| Some((name.to_owned(), claims.get(name)?.clone()))).collect()
            }
        };
        Binding { model: &model.name, pattern: &read.name, arguments: &call.arguments, claims }
    }

    pub(super) fn start(&self, read: &Read, call: &Call) -> Result<Option<Attributes>, RunError> {
        let Some(cursor) = &call.cursor else { return Ok(None) };
        cursor::open(&self.settings.cursor_key, &self.binding(read, call), cursor).map(Some).ok_or(RunError::Cursor)
    }

    async fn get(&self, read: &Read, plan: &ReadPlan, mut bound: BoundRead) -> Result<Answer, RunError> {
        let item = match bound.request.take() {
            Some(ReadRequest::Get(get)) => self.call(get).await?.item,
            Some(ReadRequest::BatchGet(_) | ReadRequest::Page(_)) | None => None,
        };
        self.one(read, plan, item.filter(|item| bound.keeps(item)))
    }

    pub(super) fn one(&self, read: &Read, plan: &ReadPlan, item: Option<Item>) -> Result<Answer, RunError> {
        let extent = Extent::Of(read);
        let found = item.map(|item| self.found(&plan.returns, &item, extent)).transpose()?.flatten();
        let must =
            matches!(&read.result, ReadResult::Parts(parts) if matches!(parts.as_slice(), [(_, Number::One, _)]));
        match found {
            None if must => Err(RunError::NotFound(self.entity_name(plan))),
            found => Ok(Answer::One(found)),
        }
    }

    fn entity_name(&self, plan: &ReadPlan) -> String {
        plan.returns.first().map(|&id| self.checked.model.entity(id).name.clone()).unwrap_or_default()
    }

    /// Returns the first matching item of a Query.
    async fn first(&self, read: &Read, plan: &ReadPlan, bound: BoundRead) -> Result<Answer, RunError> {
        let mut pages = Pages::new(&bound);
        while let Some(page) = pages.next(self).await? {
            let mut kept = page.into_iter().filter(|item| bound.keeps(item));
            if let Some(item) = kept.find(|item| found::entity_of(&self.checked.model, &plan.returns, item).is_some()) {
                return self.one(read, plan, Some(item));
            }
        }
        self.one(read, plan, None)
    }

    /// Fills a page although filters drop items. Each request asks for exactly the number still missing, so the last
    /// key is always that of the last returned item (ADR 0010).
    async fn page(&self, read: &Read, plan: &ReadPlan, bound: BoundRead, call: &Call) -> Result<Answer, RunError> {
        let whole = read.all.is_some();
        let wanted = plan.page.filter(|_| !whole).and_then(|page| usize::try_from(page).ok());
        let FoundItems { mut items, mut broken } = FoundItems::default();
        let mut pages = Pages::new(&bound);
        loop {
            pages.limit(wanted.map(|wanted| wanted - items.len()));
            let Some(page) = pages.next(self).await? else { break };
            let kept = page.iter().filter(|item| bound.keeps(item));
            let found = self.found_all(&plan.returns, kept, Extent::Of(read))?;
            items.extend(found.items);
            broken.extend(found.broken);
            let full = match wanted {
                Some(wanted) => items.len() >= wanted,
                None => !whole,
            };
            if full {
                break;
            }
        }
        let cursor = pages.last().map(|last| cursor::seal(&self.settings.cursor_key, &self.binding(read, call), last));
        Ok(Answer::Page { items, cursor, broken })
    }

    async fn count(&self, plan: &ReadPlan, bound: BoundRead) -> Result<Answer, RunError> {
        let mut count = 0;
        let mut pages = Pages::new(&bound);
        while let Some(page) = pages.next_output(self).await? {
            count += match &page.items {
                Some(items) => {
                    let wanted = |item: &&Item| {
                        bound.keeps(item) && found::entity_of(&self.checked.model, &plan.returns, item).is_some()
                    };
                    items.iter().filter(wanted).count()
                }
                None => page.count,
            };
        }
        Ok(Answer::Count(count as u64))
    }

    async fn collection(&self, read: &Read, plan: &ReadPlan, bound: BoundRead) -> Result<Answer, RunError> {
        let mut all = FoundItems::default();
        let mut pages = Pages::new(&bound);
        while let Some(page) = pages.next(self).await? {
            self.add_parts(read, plan, page.iter().filter(|item| bound.keeps(item)), &mut all)?;
        }
        self.whole_collection(read, plan, all)
    }

    /// Adds items of a collection. A broken one fails the read if the collection has only one of its entity.
    pub(super) fn add_parts<'a>(
        &self,
        read: &Read,
        plan: &ReadPlan,
        items: impl Iterator<Item = &'a Item>,
        all: &mut FoundItems,
    ) -> Result<(), RunError> {
        let ReadResult::Parts(parts) = &read.result else { return Ok(()) };
        let is_single = |name: &str| {
            let of = |id: EntityId| self.checked.model.entity(id).name == name;
            parts.iter().any(|(entity, number, _)| *number != Number::Many && entity.is_some_and(of))
        };
        for item in items {
            match self.found(&plan.returns, item, Extent::Of(read)) {
                Err(RunError::Broken(broken)) if is_single(&broken.entity) => return Err(RunError::Broken(broken)),
                found => all.add(found)?,
            }
        }
        Ok(())
    }

    /// Groups the items of a collection; returns `NotFound` if a required part is missing.
    pub(super) fn whole_collection(&self, read: &Read, plan: &ReadPlan, found: FoundItems) -> Result<Answer, RunError> {
        let FoundItems { items, broken } = found;
        let mut parts: Vec<(EntityId, Vec<Found>)> = plan.returns.iter().map(|&entity| (entity, Vec::new())).collect();
        for item in items {
            if let Some((_, items)) = parts.iter_mut().find(|(entity, _)| *entity == item.entity) {
                items.push(item);
            }
        }
        let ReadResult::Parts(wanted) = &read.result else { return Ok(Answer::Collection { parts, broken }) };
        let lacks = |entity| parts.iter().all(|(id, items)| Some(*id) != entity || items.is_empty());
        match wanted.iter().find(|(entity, number, _)| *number == Number::One && lacks(*entity)) {
            Some((entity, _, _)) => {
                Err(RunError::NotFound(entity.map(|id| self.checked.model.entity(id).name.clone()).unwrap_or_default()))
            }
            None => Ok(Answer::Collection { parts, broken }),
        }
    }

    /// Reads items by their keys, in chunks that the service accepts, and retries unprocessed keys.
    async fn batch(&self, read: &Read, plan: &ReadPlan, mut bound: BoundRead) -> Result<Answer, RunError> {
        let Some(ReadRequest::BatchGet(batch)) = bound.request.take() else {
            return Ok(Answer::Page { items: Vec::new(), cursor: None, broken: Vec::new() });
        };
        let mut items = Vec::new();
        for (table, request) in batch.tables {
            self.batch_all(&table, &request, &mut items).await?;
        }
        let kept = items.iter().filter(|item| bound.keeps(item));
        let found = self.found_all(&plan.returns, kept, Extent::Of(read))?;
        Ok(Answer::Page { items: found.items, cursor: None, broken: found.broken })
    }

    /// Reads one page, and checks that it ends after its start.
    pub(super) async fn page_of(&self, read: &PageRead) -> Result<PageOutput, RunError> {
        let page = match read {
            PageRead::Query(query) => self.call(query.clone()).await?,
            PageRead::Scan(scan) => self.call(scan.clone()).await?,
        };
        page.ensure_progress(read.start())?;
        Ok(page)
    }

    pub(super) async fn batch_all(
        &self,
        table: &str,
        request: &BatchGetRequest,
        items: &mut Vec<Item>,
    ) -> Result<(), RunError> {
        for keys in request.keys.chunks(BATCH_KEYS_MAX) {
            self.batch_piece(table, request, keys.to_vec(), items).await?;
        }
        Ok(())
    }

    async fn batch_piece(
        &self,
        table: &str,
        request: &BatchGetRequest,
        mut keys: Vec<Attributes>,
        items: &mut Vec<Item>,
    ) -> Result<(), RunError> {
        let mut tries = 0;
        while !keys.is_empty() {
            let piece = BatchGetRequest { keys: keys.clone(), ..request.clone() };
            let operation =
                BatchGetItem { tables: vec![(table.to_owned(), piece)], return_capacity: Default::default() };
            let mut output = self.call(operation).await?;
            items.extend(output.responses.remove(table).unwrap_or_default());
            let left = output.unprocessed.remove(table).unwrap_or_default();
            let rest: Vec<Attributes> = left.into_iter().filter_map(|number| keys.get(number).cloned()).collect();
            if !rest.is_empty() {
                tries += 1;
                self.pause(tries).await?;
            }
            keys = rest;
        }
        Ok(())
    }
}

/// Pages of a Query or Scan.
pub(super) struct Pages {
    next: Option<PageRead>,
    last: Option<Item>,
}

impl Pages {
    pub(super) fn new(bound: &BoundRead) -> Self {
        let next = match &bound.request {
            Some(ReadRequest::Page(page)) => Some(page.clone()),
            Some(ReadRequest::Get(_) | ReadRequest::BatchGet(_)) | None => None,
        };
        Self { next, last: None }
    }

    /// Returns the last key of the previous page, if more may follow.
    pub(super) fn last(&self) -> Option<&Item> {
        self.last.as_ref()
    }

    pub(super) fn limit(&mut self, limit: Option<usize>) {
        if let Some(next) = &mut self.next {
            next.set_limit(limit);
        }
    }

    pub(super) async fn next(&mut self, runner: &Runner) -> Result<Option<Vec<Item>>, RunError> {
        Ok(self.next_output(runner).await?.map(|output| output.items.unwrap_or_default()))
    }

    async fn next_output(&mut self, runner: &Runner) -> Result<Option<PageOutput>, RunError> {
        let Some(mut read) = self.next.take() else { return Ok(None) };
        let output = runner.page_of(&read).await?;
        self.last.clone_from(&output.last_key);
        self.next = output.last_key.as_ref().map(|last| {
            read.set_start(Some(last.to_attributes()));
            read
        });
        Ok(Some(output))
    }
}
