//! `select` returns the selected fields only, also where a request must read others to compare them.

use std::sync::Arc;

use keyform::{AttributeValue, Database, SystemWorld};
use keyform_check::Checked;
use keyform_runtime::run::{Answer, Call, RunSettings, Runner};

const MODEL: &str = r#"
model people

table People {
  key pk, sk
  stream new_and_old
}

entity User in People {
  key "U#{userId}", "U"

  userId: slug(1..9)
  phone:  string(1..20) personal
  org:    slug(1..9)
  name:   string(1..20)
}

read find(userId, prefix: string) -> User? where phone begins prefix select (userId)
read ofOrg(userId, org) -> User? select (userId, name)
read several(userId in userIds, org) -> [User] where phone is some select (name)

write join(userId, phone, org, name) -> User { create User {} else Taken }
"#;

fn arguments(values: &[(&str, AttributeValue)]) -> Call {
    let arguments = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Call { arguments, ..Call::default() }
}

async fn runner() -> Runner {
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let database = Arc::new(Database::in_memory());
    let runner = Runner::new(Arc::new(checked), database, Arc::new(SystemWorld), RunSettings::default()).unwrap();
    runner.create_tables().await.unwrap();
    let user = [("userId", "ada"), ("phone", "555-1234"), ("org", "acme"), ("name", "Ada")];
    runner.write("join", &arguments(&user.map(|(name, value)| (name, value.into())))).await.unwrap();
    runner
}

fn names(answer: Answer) -> Vec<Vec<String>> {
    let found = match answer {
        Answer::One(found) => found.into_iter().collect(),
        Answer::Page { items, .. } => items,
        other => panic!("{other:?}"),
    };
    found.iter().map(|found| found.fields.keys().cloned().collect()).collect()
}

#[tokio::test]
async fn fields_that_are_only_compared_are_not_returned() {
    let runner = runner().await;
    let read = |pattern: &'static str, values: Vec<(&'static str, AttributeValue)>| {
        let runner = runner.clone();
        async move { names(runner.read(pattern, &arguments(&values)).await.unwrap()) }
    };
    assert_eq!(read("find", vec![("userId", "ada".into()), ("prefix", "5".into())]).await, [["userId"]]);
    assert_eq!(read("ofOrg", vec![("userId", "ada".into()), ("org", "acme".into())]).await, [["name", "userId"]]);
    assert!(read("ofOrg", vec![("userId", "ada".into()), ("org", "other".into())]).await.is_empty());
    let list = AttributeValue::L(vec!["ada".into()]);
    assert_eq!(read("several", vec![("userIds", list), ("org", "acme".into())]).await, [["name"]]);
}
