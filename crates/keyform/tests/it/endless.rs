//! Stores that return the same position for every page, or process no key of a batch: reads end with an error instead
//! of looping.

use std::sync::Arc;

use keyform::SystemWorld;
use keyform::execute::BoxFuture;
use keyform::{Attributes, Database, Error, ErrorCode, Execute, Item, Operation, Output};
use keyform_check::Checked;
use keyform_runtime::evolve::batch_get;
use keyform_runtime::run::{Call, RunError, RunSettings, Runner};
use keyform_transfer::{Export, Format};

const MODEL: &str = r#"
model shelf

table Shelf { key pk, sk }

entity Box in Shelf {
  key "SHELF#{shelf}", "BOX#{box}"

  shelf: slug(1..40)
  box:   slug(1..40)
}

read boxes(shelf) -> [Box] all
read howMany(shelf) -> count Box
"#;

/// Store that makes no progress.
struct Stuck(Database);

impl Execute for Stuck {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        Box::pin(async move {
            let keys = match &operation {
                Operation::BatchGetItem(batch) => {
                    batch.tables.first().map(|(table, of)| (table.clone(), of.keys.len()))
                }
                _ => None,
            };
            let mut output = Execute::execute(&self.0, operation).await?;
            match &mut output {
                Output::Query(page) | Output::Scan(page) => page.last_key = Some(Item::from(&key("one"))),
                Output::BatchGetItem(answer) => {
                    answer.responses.clear();
                    answer.unprocessed = keys.into_iter().map(|(table, count)| (table, (0..count).collect())).collect();
                }
                _ => {}
            }
            Ok(output)
        })
    }
}

fn key(of: &str) -> Attributes {
    [("pk".to_owned(), format!("SHELF#{of}").into()), ("sk".to_owned(), "BOX#here".into())].into()
}

async fn stuck() -> (Arc<dyn Execute>, Runner) {
    let store: Arc<dyn Execute> = Arc::new(Stuck(Database::in_memory()));
    let checked = Arc::new(Checked::read(MODEL));
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let runner = Runner::new(checked, store.clone(), Arc::new(SystemWorld), RunSettings::default()).unwrap();
    runner.create_tables().await.unwrap();
    (store, runner)
}

#[tokio::test]
async fn reads_of_all_pages_end() {
    let (_, runner) = stuck().await;
    for read in ["boxes", "howMany"] {
        let call = Call { arguments: [("shelf".to_owned(), "one".into())].into(), ..Call::default() };
        let error = runner.read(read, &call).await.unwrap_err();
        assert!(matches!(&error, RunError::Store(error) if error.code() == ErrorCode::InternalServer), "{error}");
        assert!(error.to_string().contains("LastEvaluatedKey"), "{error}");
    }
}

#[tokio::test]
async fn an_export_ends() {
    let (store, _) = stuck().await;
    let folder = tempfile::tempdir().unwrap();
    let (to, world) = (folder.path().join("shelf.jsonl"), Arc::new(SystemWorld));
    let progress = Arc::new(|_| {});
    let export = Export { store, table: "Shelf", to: &to, format: Format::Lines, segments: 1, world, progress };
    let error = keyform_transfer::export(&export).await.unwrap_err();
    assert!(error.to_string().contains("LastEvaluatedKey"), "{error}");
}

#[tokio::test]
async fn a_batch_of_reads_ends() {
    let (store, _) = stuck().await;
    let error = batch_get(&*store, "Shelf", vec![key("one"), key("two")]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Throttling, "{error}");
}
