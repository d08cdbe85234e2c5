//! A store that waits for its indexes before it reads them.
//!
//! A global index may lag behind its table, so a read of it depends on the time. For tests that are not about this,
//! each Query and Scan of an index waits until the index has caught up with the table for the requested items. Both are
//! scanned, so tables should be small.
//!
//! Other tasks may write meanwhile. An entry that the index lacks is late only if the table had it before and still has
//! it; an additional entry is late only if the table had it neither before nor after:
//!
//! ```text
//! table   a b c          a   c d
//! index         a b c' d            c' is late, b and d are not
//! ```

#![expect(clippy::disallowed_methods, reason = "other stores catch up in real time")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use keyform::execute::BoxFuture;
use keyform::expression::{Comparator, Condition, KeyCondition, KeyTest, Operand, Path};
use keyform::operation::{DescribeTable, Scan};
use keyform::table::{GlobalIndex, KeySchema, Projection};
use keyform::{Attributes, Error, Execute, ExecuteExt, Operation, Output};

use crate::contents::scanned;
use crate::eventually::LAG_MAX;

/// A store whose global indexes are read only when they have caught up with their table.
pub struct CaughtUp(Arc<dyn Execute>);

impl CaughtUp {
    /// Wraps a store.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>) -> Self {
        Self(store)
    }

    async fn wait(&self, table: &str, index: &str, asked: Option<&KeyCondition>) {
        let Some(part) = self.part(table, index, asked).await else { return };
        let start = Instant::now();
        while self.is_late(&part).await {
            assert!(start.elapsed() < LAG_MAX, "the index {index} of {table} does not catch up");
            tokio::task::yield_now().await;
        }
    }

    /// Returns the requested part if it is in a global index.
    async fn part<'a>(&self, table: &'a str, index: &str, asked: Option<&'a KeyCondition>) -> Option<Part<'a>> {
        let described = self.0.call(DescribeTable { table: table.to_owned() }).await.ok()?;
        let found = described.global_indexes.into_iter().find(|found| found.index.name == index)?;
        Some(Part { table, key: described.key, index: found.index, asked })
    }

    async fn is_late(&self, part: &Part<'_>) -> bool {
        let before = self.entries(part, None).await;
        let entries = self.entries(part, Some(part.index.name.clone())).await;
        if entries == before {
            return false;
        }
        let after = self.entries(part, None).await;
        before.difference(&entries).any(|lacking| after.contains(lacking))
            || entries.difference(&before).any(|entry| !after.contains(entry))
    }

    /// Returns the entries of the part as text: from the index, or as they should be according to the table.
    async fn entries(&self, part: &Part<'_>, index: Option<String>) -> BTreeSet<String> {
        let scan = Scan { consistent: index.is_none(), index, filter: part.filter(), ..Scan::of(part.table) };
        let items = scanned(&*self.0, scan).await.into_iter();
        items.filter_map(|item| part.entry(item)).map(|entry| format!("{entry:?}")).collect()
    }
}

/// The requested part of an index.
struct Part<'a> {
    table: &'a str,
    /// Key of the table.
    key: KeySchema,
    index: GlobalIndex,
    /// `None` for the whole index.
    asked: Option<&'a KeyCondition>,
}

impl Part<'_> {
    /// Returns the requested partition as a filter.
    fn filter(&self) -> Option<Condition> {
        let predicates = self.asked.iter().flat_map(|asked| &asked.predicates);
        let equal = predicates.filter_map(|predicate| match &predicate.test {
            KeyTest::Compare(Comparator::Equal, value) => Some(Condition::Compare {
                left: Operand::Path(Path::attribute(&predicate.attribute)),
                comparator: Comparator::Equal,
                right: Operand::Value(value.clone()),
            }),
            _ => None,
        });
        equal.reduce(|one, other| Condition::And(vec![one, other]))
    }

    /// Returns the projection of an item in the index, if the index contains it.
    fn entry(&self, mut item: Attributes) -> Option<Attributes> {
        let Self { key, index, .. } = self;
        if !index.key.attributes().all(|name| item.contains_key(name)) {
            return None;
        }
        let is_key = |name: &str| key.contains(name) || index.key.contains(name);
        match &index.projection {
            Projection::All => {}
            Projection::KeysOnly => item.retain(|name, _| is_key(name)),
            Projection::Include(names) => item.retain(|name, _| is_key(name) || names.contains(name)),
        }
        Some(item)
    }
}

impl Execute for CaughtUp {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            if let Operation::Query(query) = &operation
                && let Some(index) = &query.index
            {
                self.wait(&query.table, index, Some(&query.key)).await;
            }
            if let Operation::Scan(scan) = &operation
                && let Some(index) = &scan.index
            {
                self.wait(&scan.table, index, None).await;
            }
            self.0.execute(operation).await
        })
    }
}
