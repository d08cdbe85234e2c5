//! A write that deletes an item returns it, whatever request it uses and however often it is sent.

use std::sync::Arc;

use keyform::SystemWorld;
use keyform::runtime::run::{Answer, Call, Caller, RunSettings, Runner};
use keyform::{AttributeValue, Database};
use keyform_check::{Checked, explain};

const MODEL: &str = include_str!("naive/guests.kf");

async fn runner() -> Runner {
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let settings =
        RunSettings { variables: [("stage".to_owned(), "test".to_owned())].into(), ..RunSettings::default() };
    let runner =
        Runner::new(Arc::new(checked), Arc::new(Database::in_memory()), Arc::new(SystemWorld), settings).unwrap();
    runner.create_tables().await.unwrap();
    runner.create_answer_table().await.unwrap();
    runner
}

fn call(pairs: &[(&str, &str)]) -> Call {
    let arguments = pairs.iter().map(|(name, value)| ((*name).to_owned(), AttributeValue::from(*value))).collect();
    Call { arguments, ..Call::default() }
}

fn guest<'a>(id: &'a str, badge: &'a str) -> [(&'a str, &'a str); 3] {
    [("guestId", id), ("badge", badge), ("city", "here")]
}

#[tokio::test]
async fn a_transaction_returns_what_it_deletes() {
    let runner = runner().await;
    runner.write("enter", &call(&guest("ada", "b1"))).await.unwrap();
    let note = [("guestId", "ada"), ("noteId", "n1"), ("text", "hello")];
    for write in ["drop", "dropFor"] {
        runner.write("note", &call(&note)).await.unwrap();
        let dropped = runner.write(write, &call(&note[..2])).await.unwrap().unwrap();
        assert_eq!(dropped.fields["text"], "hello".into(), "{write}");
        assert_eq!(runner.write(write, &call(&note[..2])).await, Ok(None), "{write}");
    }
    let left = runner.write("leave", &call(&[("guestId", "ada")])).await.unwrap().unwrap();
    assert_eq!(left.fields["badge"], "b1".into());
}

#[tokio::test]
async fn a_repeated_call_returns_what_the_first_did() {
    let runner = runner().await;
    runner.write("enter", &call(&guest("ada", "b1"))).await.unwrap();
    runner.write("note", &call(&[("guestId", "ada"), ("noteId", "n1"), ("text", "old")])).await.unwrap();
    let rename = call(&[("guestId", "ada"), ("noteId", "n1"), ("other", "n2"), ("text", "new")]);
    for _ in 0..2 {
        let renamed = runner.write_once("rename", &rename, "key").await.unwrap().unwrap();
        assert_eq!(renamed.fields["noteId"], "n2".into());
    }
}

#[test]
fn what_is_read_first_is_said() {
    let checked = Checked::read(MODEL);
    let said = |pattern: &str| explain::explain(&checked, pattern).remove(0).plan.join("\n");
    assert!(said("leave").contains("first reads the Guest for its unique values"), "{}", said("leave"));
    assert!(!said("leave").contains("to return it"), "it is read once: {}", said("leave"));
    assert!(said("dropFor").contains("first reads the Note, to return it"), "{}", said("dropFor"));
    assert!(!said("drop").contains("first reads"), "{}", said("drop"));
}

const CLINIC: &str = r#"
model clinic

caller userId: slug(1..9)

table Clinic { key pk, sk }

entity Org in Clinic {
  key "ORG#{orgId}", "ORG"
  orgId: slug(1..9)
}

entity Member in Clinic {
  key "ORG#{orgId}", "MEMBER#{userId}"
  orgId:  ref Org cascade
  userId: slug(1..9)
}

entity Chart in Clinic {
  key "CHART#{chartId}", "CHART"
  chartId: slug(1..9)
  orgId:   ref Org keep
}

guard member(orgId) = exists Member(orgId, caller.userId)

read members(orgId) -> [Member] page 9  allow member(orgId)
read chart(chartId, orgId) -> Chart? strong  allow member(orgId)

write found(orgId, userId) { allow system  create Org {} else Taken  create Member {} else Taken }
write addChart(orgId, chartId) { allow system  check Org(orgId) exists else Unknown  create Chart {} else Taken }
write drop(orgId, chartId) { allow held member(orgId)  delete Chart(chartId) }
"#;

#[tokio::test]
async fn a_delete_answers_alike_for_foreign_and_missing_items_also_with_a_held_guard() {
    let checked = Checked::read(CLINIC);
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    let store = Arc::new(Database::in_memory());
    let runner = Runner::new(Arc::new(checked), store, Arc::new(SystemWorld), RunSettings::default()).unwrap();
    runner.create_tables().await.unwrap();
    for (org, user) in [("a", "ada"), ("e", "eve")] {
        runner.write("found", &call(&[("orgId", org), ("userId", user)])).await.unwrap();
    }
    runner.write("addChart", &call(&[("orgId", "a"), ("chartId", "c1")])).await.unwrap();
    let by = |user: &str, pairs: &[(&str, &str)]| {
        let claims = [("userId".to_owned(), AttributeValue::from(user))].into();
        Call { caller: Caller::Claims(claims), ..call(pairs) }
    };
    for chart in ["c1", "missing"] {
        let dropped = runner.write("drop", &by("eve", &[("orgId", "e"), ("chartId", chart)])).await;
        assert_eq!(dropped, Ok(None), "{chart}");
    }
    let of_ada = by("ada", &[("orgId", "a"), ("chartId", "c1")]);
    assert!(matches!(runner.read("chart", &of_ada).await, Ok(Answer::One(Some(_)))));
    runner.write("drop", &of_ada).await.unwrap();
    assert!(matches!(runner.read("chart", &of_ada).await, Ok(Answer::One(None))));
}
