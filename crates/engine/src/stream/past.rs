//! Streams that are not the newest of an existing table. They stay readable for a day, but only in the store, so that
//! creating and deleting many tables does not fill the memory (ADR 0028).

use std::sync::Arc;

use keyform_core::Error;

use crate::catalog::{Catalog, Stream, load};
use crate::engine::Engine;
use crate::key_space::TableId;

impl Engine {
    /// Returns the stream with that number, from the catalog or the store.
    pub(super) fn find_stream(
        &self,
        catalog: &Catalog,
        table: TableId,
        number: u32,
    ) -> Result<Option<Arc<Stream>>, Error> {
        match catalog.stream(table, number) {
            Some(stream) => Ok(Some(Arc::clone(stream))),
            None => Ok(load::stream(&self.store.latest(), table, number)?.map(Arc::new)),
        }
    }

    /// Returns the past streams that match, ordered by table number, with empty meters. Takes the catalog's lock only
    /// after reading the records, so that writers do not wait for it.
    pub(super) fn past_streams(&self, matches: impl Fn(&Stream) -> bool) -> Result<Vec<Stream>, Error> {
        let streams = load::streams(&self.store.latest());
        let matching = streams.filter(|stream| stream.as_ref().map_or(true, &matches));
        let mut matching = matching.collect::<Result<Vec<Stream>, Error>>()?;
        let catalog = self.catalog.read();
        matching.retain(|stream| catalog.stream(stream.table_id, stream.number).is_none());
        Ok(matching)
    }
}

#[cfg(test)]
mod tests {
    use keyform_core::operation::{CreateTable, DeleteTable, ListStreams, PutItem, Request};
    use keyform_core::table::{KeySchema, ScalarType, StreamView};

    use super::*;
    use crate::engine::{EngineSettings, Started};
    use crate::store::Store;
    use keyform_world::testing::ManualWorld;

    const ROUNDS: usize = 300;

    fn run<R: Request>(engine: &Engine, request: R) -> R::Output {
        let output = match engine.begin(request.into()).expect("the operation is right") {
            Started::Done(output) => output,
            Started::Waiting(waiting) => {
                waiting.commit.wait().expect("the store is in memory");
                waiting.answer.expect("the operation is right")
            }
        };
        R::from_output(output).expect("the engine answers what was asked")
    }

    fn come_and_go(engine: &Engine, table: &str) {
        run(
            engine,
            CreateTable {
                attributes: [("pk".to_owned(), ScalarType::S)].into(),
                key: KeySchema { partition: vec!["pk".to_owned()], sort: Vec::new() },
                stream: Some(StreamView::NewImage),
                ..CreateTable::named(table)
            },
        );
        let item = [("pk".to_owned(), "a".into())].into_iter().collect();
        run(engine, PutItem { table: table.to_owned(), item, ..PutItem::default() });
        run(engine, DeleteTable { table: table.to_owned() });
    }

    fn listed(engine: &Engine) -> usize {
        run(engine, ListStreams { limit: Some(10_000), ..ListStreams::default() }).streams.len()
    }

    fn keys(engine: &Engine) -> usize {
        load::prefixed(&engine.store.snapshot(), &[]).count()
    }

    #[test]
    fn tables_that_come_and_go_leave_nothing_in_memory_and_nothing_after_a_day() {
        let env = ManualWorld::at_ms(1_794_700_000_000);
        let engine =
            Engine::open(Store::in_memory(), Arc::new(env.clone()), EngineSettings::default()).expect("it is empty");
        come_and_go(&engine, "first");
        engine.work_once(true).expect("the store is in memory");
        env.advance_ms(86_400_001);
        engine.work_once(true).expect("the store is in memory");
        let before = keys(&engine);
        for round in 0..ROUNDS {
            come_and_go(&engine, if round % 2 == 0 { "one" } else { ["a", "b", "c"][round % 3] });
        }
        assert_eq!(engine.catalog.read().streams().count(), 0);
        assert_eq!(engine.catalog.read().iter().count(), 0);
        assert!(engine.work.uncounted().is_empty());
        assert_eq!(listed(&engine), ROUNDS, "every stream has a name of its own and stays readable");
        env.advance_ms(86_400_000 + 2 * ROUNDS as u64);
        engine.work_once(true).expect("the store is in memory");
        assert_eq!(listed(&engine), 0);
        assert_eq!(keys(&engine), before);
    }
}
