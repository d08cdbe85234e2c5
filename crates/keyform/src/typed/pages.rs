//! Paged reads.

use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use futures_core::Stream;
use keyform_core::Attributes;
use keyform_core::execute::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{CallError, Calls, FromAttributes};

/// Page of a read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// Items of this page, in the order of the read.
    pub items: Vec<T>,
    /// Cursor of the next page, for [`Pages::after`]; `None` on the last page.
    pub cursor: Option<String>,
    /// Number of items that were left out because they do not fit the model: see [`BrokenItem`](crate::BrokenItem).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub broken: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl<T> IntoIterator for Page<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Page<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

/// Paged read. Awaiting it returns one page: the first, or the one [`after`](Self::after) a cursor.
/// [`items`](Self::items) and [`pages`](Self::pages) follow cursors to the end.
#[must_use = "a read does nothing until it is awaited"]
pub struct Pages<T> {
    calls: Calls,
    pattern: &'static str,
    arguments: Attributes,
    cursor: Option<String>,
    of: PhantomData<fn() -> T>,
}

impl<T> std::fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").field("read", &self.pattern).finish_non_exhaustive()
    }
}

impl<T> Pages<T> {
    pub(super) fn new(calls: Calls, pattern: &'static str, arguments: Attributes) -> Self {
        Self { calls, pattern, arguments, cursor: None, of: PhantomData }
    }

    /// Continues after a page's cursor. A cursor is valid only for its read and its arguments.
    pub fn after(mut self, cursor: impl Into<String>) -> Self {
        self.cursor = Some(cursor.into());
        self
    }

    /// Continues after an optional cursor, as programs receive it from their own callers; `None` starts at the first
    /// page.
    pub fn after_any(mut self, cursor: Option<String>) -> Self {
        self.cursor = cursor;
        self
    }
}

impl<T: FromAttributes + Send + 'static> Pages<T> {
    /// Returns all pages as a stream.
    pub fn pages(self) -> PagesStream<T> {
        PagesStream { rest: Some(self), coming: None }
    }

    /// Returns all items as a stream.
    pub fn items(self) -> Items<T> {
        Items { pages: self.pages(), page: Vec::new().into_iter() }
    }

    /// Reads all pages and returns their items.
    ///
    /// # Errors
    /// The first error of a page.
    pub async fn all(self) -> Result<Vec<T>, CallError> {
        let mut pages = self.pages();
        let mut items = Vec::new();
        while let Some(page) = pages.next().await {
            items.extend(page?);
        }
        Ok(items)
    }
}

impl<T: FromAttributes + Send + 'static> IntoFuture for Pages<T> {
    type Output = Result<Page<T>, CallError>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.calls.page(self.pattern, self.arguments, self.cursor).await })
    }
}

/// Future of a page.
type Coming<T> = BoxFuture<'static, Result<Page<T>, CallError>>;

/// Stream of pages. Ends after the last page or after an error.
#[must_use = "a stream does nothing until it is polled"]
pub struct PagesStream<T> {
    /// Next read, if there are more pages.
    rest: Option<Pages<T>>,
    coming: Option<(Coming<T>, Pages<T>)>,
}

impl<T> std::fmt::Debug for PagesStream<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PagesStream").field("rest", &self.rest).finish_non_exhaustive()
    }
}

impl<T: FromAttributes + Send + 'static> PagesStream<T> {
    /// Returns the next page, or `None` at the end.
    pub async fn next(&mut self) -> Option<Result<Page<T>, CallError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: FromAttributes + Send + 'static> Stream for PagesStream<T> {
    type Item = Result<Page<T>, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(read) = self.rest.take() {
            let again = Pages { calls: read.calls.clone(), arguments: read.arguments.clone(), cursor: None, ..read };
            self.coming = Some((read_now(read.calls, read.pattern, read.arguments, read.cursor), again));
        }
        let Some((coming, _)) = &mut self.coming else { return Poll::Ready(None) };
        let Poll::Ready(page) = coming.as_mut().poll(context) else { return Poll::Pending };
        let again = self.coming.take().map(|(_, again)| again);
        if let (Ok(Page { cursor: Some(cursor), .. }), Some(again)) = (&page, again) {
            self.rest = Some(again.after(cursor.clone()));
        }
        Poll::Ready(Some(page))
    }
}

fn read_now<T: FromAttributes + Send + 'static>(
    calls: Calls,
    pattern: &'static str,
    arguments: Attributes,
    cursor: Option<String>,
) -> Coming<T> {
    Box::pin(async move { calls.page(pattern, arguments, cursor).await })
}

/// Stream of items across pages. Ends after the last item or after an error.
#[must_use = "a stream does nothing until it is polled"]
pub struct Items<T> {
    pages: PagesStream<T>,
    page: vec::IntoIter<T>,
}

impl<T> std::fmt::Debug for Items<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Items").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl<T> Unpin for Items<T> {}

impl<T: FromAttributes + Send + 'static> Items<T> {
    /// Returns the next item, or `None` at the end.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl<T: FromAttributes + Send + 'static> Stream for Items<T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.page.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match Pin::new(&mut self.pages).poll_next(context) {
                Poll::Ready(Some(Ok(page))) => self.page = page.into_iter(),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
