//! A store whose indexes are read when they have caught up.
//!
//! A global index may lag behind its table: what is found in it depends on when it is asked. Where that is not what a test is about, each
//! Query and Scan of an index waits until it has what the table has. Both are read as a whole, so tables should be small.

use std::sync::Arc;
use std::time::Instant;

use keyform::execute::BoxFuture;
use keyform::operation::{Query, Scan};
use keyform::table::{GlobalIndex, KeySchema, Projection, TableDescription};
use keyform::{Attributes, Error, Execute, Operation, Output};

use crate::contents::{contents, scanned};
use crate::eventually::LAG_MAX;

/// A store whose global indexes are asked when they have everything that their table has.
pub struct CaughtUp(Arc<dyn Execute>);

impl CaughtUp {
    /// The same store, with patience.
    #[must_use]
    pub fn new(store: Arc<dyn Execute>) -> Self {
        Self(store)
    }

    async fn wait(&self, table: &str, index: &str) {
        let Some(described) = self.described(table).await else { return };
        let Some(found) = described.global_indexes.iter().find(|found| found.index.name == index) else { return };
        let start = Instant::now();
        loop {
            let items = contents(&*self.0, table).await.into_iter();
            let expected: Vec<Attributes> =
                items.filter_map(|item| entry(&described.key, &found.index, item)).collect();
            let scan = Scan { index: Some(index.to_owned()), ..Scan::of(table) };
            let entries = scanned(&*self.0, scan).await;
            if entries.len() == expected.len() && expected.iter().all(|entry| entries.contains(entry)) {
                return;
            }
            assert!(start.elapsed() < LAG_MAX, "the index {index} of {table} does not catch up");
            tokio::task::yield_now().await;
        }
    }

    async fn described(&self, table: &str) -> Option<TableDescription> {
        match self.0.execute(Operation::DescribeTable { table: table.to_owned() }).await {
            Ok(Output::Table(table)) => Some(*table),
            _ => None,
        }
    }
}

/// What an index has of an item, if it has it.
fn entry(key: &KeySchema, index: &GlobalIndex, mut item: Attributes) -> Option<Attributes> {
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

impl Execute for CaughtUp {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            if let Operation::Query(Query { table, index: Some(index), .. })
            | Operation::Scan(Scan { table, index: Some(index), .. }) = &operation
            {
                self.wait(table, index).await;
            }
            self.0.execute(operation).await
        })
    }
}
