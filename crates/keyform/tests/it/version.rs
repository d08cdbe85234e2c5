//! Optimistic locking of a model on the embedded engine: every write increments the version, and a write that expects
//! another version is refused with the current item.

use std::sync::Arc;

use keyform::SystemWorld;
use keyform::runtime::run::{Call, Found, RunError, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database};
use keyform_check::Checked;

const MODEL: &str = r#"model documents

table Documents {
  key pk
}

entity Document in Documents {
  key "DOC#{documentId}"

  documentId: slug(1..20)
  text:       string(..1000)
  views:      int = 0
  version:    int version
}

read document(documentId) -> Document? strong

write create(documentId, text) -> Document {
  create Document {} else Exists
}

write edit(documentId, text, version) -> Document {
  update Document(documentId) { text = text } else Unknown
}

write double(documentId) -> Document {
  let document = document(documentId) else Unknown
  update Document(documentId) { text = document.text + document.text }
}

write view(documentId) -> Document idempotent {
  update Document(documentId) { views += 1 } else Unknown
}

write remove(documentId, version) {
  delete Document(documentId)
}
"#;

async fn runner() -> Runner {
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let runner =
        Runner::new(Arc::new(checked), Arc::new(Database::in_memory()), Arc::new(SystemWorld), RunSettings::default())
            .unwrap();
    runner.create_tables().await.unwrap();
    runner
}

fn call(pairs: &[(&str, AttributeValue)]) -> Call {
    let arguments: Attributes = pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Call { arguments, ..Call::default() }
}

fn version(found: &Found) -> i64 {
    match found.fields.get("version") {
        Some(AttributeValue::N(number)) => number.to_i64().unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn versions_rise_and_are_checked_where_one_is_expected() {
    let runner = runner().await;
    let id = ("documentId", AttributeValue::from("1"));
    let text = |text: &str| ("text", AttributeValue::from(text));
    let expected = |version: i64| ("version", AttributeValue::N(version.into()));
    let made = runner.write("create", &call(&[id.clone(), text("a")])).await.unwrap().unwrap();
    assert_eq!(version(&made), 1);
    let edited = runner.write("edit", &call(&[id.clone(), text("b"), expected(1)])).await.unwrap().unwrap();
    assert_eq!(version(&edited), 2);
    let late = runner.write("edit", &call(&[id.clone(), text("c"), expected(1)])).await.unwrap_err();
    let RunError::Conflict(Some(now)) = late else { panic!("{late}") };
    assert_eq!((version(&now), now.fields.get("text").cloned()), (2, Some("b".into())));
    let viewed = runner.write("view", &call(std::slice::from_ref(&id))).await.unwrap().unwrap();
    assert_eq!(version(&viewed), 3, "a count raises it and expects nothing");
    let doubled = runner.write("double", &call(std::slice::from_ref(&id))).await.unwrap().unwrap();
    assert_eq!((version(&doubled), doubled.fields.get("text").cloned()), (4, Some("bb".into())));
    assert!(matches!(runner.write("remove", &call(&[id.clone(), expected(3)])).await, Err(RunError::Conflict(_))));
    runner.write("remove", &call(&[id, expected(4)])).await.unwrap();
}
