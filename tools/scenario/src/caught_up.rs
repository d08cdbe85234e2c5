//! A store whose indexes are read when they have caught up.
//!
//! A global index may lag behind its table: what is found in it depends on when it is asked. Where that is not what a test is about, each
//! Query and Scan of an index waits until it has what the table has of what is asked for. Both are scanned, so tables should be small.
//!
//! Others may write meanwhile. What the index lacks is late only if the table had it before and has it still, and what the index has too much
//! is late only if the table had it neither before nor after:
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
use keyform::operation::Scan;
use keyform::table::{GlobalIndex, KeySchema, Projection};
use keyform::{Attributes, Error, Execute, Operation, Output};

use crate::contents::scanned;
use crate::eventually::LAG_MAX;

/// A store whose global indexes are asked when they have everything that their table has.
pub struct CaughtUp(Arc<dyn Execute>);

impl CaughtUp {
    /// The same store, with patience.
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

    /// What is asked for, if that is in a global index.
    async fn part<'a>(&self, table: &'a str, index: &str, asked: Option<&'a KeyCondition>) -> Option<Part<'a>> {
        let describe = Operation::DescribeTable { table: table.to_owned() };
        let Ok(Output::Table(described)) = self.0.execute(describe).await else { return None };
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

    /// The entries of the part, each as text: in the index, or as the table says they should be.
    async fn entries(&self, part: &Part<'_>, index: Option<String>) -> BTreeSet<String> {
        let scan = Scan { consistent: index.is_none(), index, filter: part.filter(), ..Scan::of(part.table) };
        let items = scanned(&*self.0, scan).await.into_iter();
        items.filter_map(|item| part.entry(item)).map(|entry| format!("{entry:?}")).collect()
    }
}

/// The part of an index that is asked for.
struct Part<'a> {
    table: &'a str,
    /// The table's key.
    key: KeySchema,
    index: GlobalIndex,
    /// Nothing is everything.
    asked: Option<&'a KeyCondition>,
}

impl Part<'_> {
    /// The partition that is asked for, as a filter.
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

    /// What the index has of an item, if it has it.
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
            match &operation {
                Operation::Query(query) => {
                    if let Some(index) = &query.index {
                        self.wait(&query.table, index, Some(&query.key)).await;
                    }
                }
                Operation::Scan(scan) => {
                    if let Some(index) = &scan.index {
                        self.wait(&scan.table, index, None).await;
                    }
                }
                _ => {}
            }
            self.0.execute(operation).await
        })
    }
}
