//! The data of the five systems in the format of their documents: `check --samples` accepts it, and reads return it.
//!
//! Each system has a few items per entity in `documented/items.jsonl`, as other programs store them: ids only in keys,
//! NULL for absent, numbers and JSON as text, lists for sets, times of other precision. Entities that the documents do
//! not have, or whose secrets they store in clear, are missing there.

use std::sync::Arc;

use keyform::operation::PutItem;
use keyform::runtime::run::{Answer, Call, Found, RunSettings, Runner};
use keyform::{AttributeValue, Attributes, Database, Item, SystemWorld};
use keyform_check::Checked;
use keyform_language::schema::{Read, Result as ReadResult, Test};
use keyform_runtime::run::{SampleReport, Sampler};
use keyform_runtime::seal::{FieldKey, Keyring};

struct System {
    runner: Runner,
    items: Vec<(String, Attributes)>,
}

fn read(path: &str) -> String {
    let path = format!("{}/../../systems/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn report(name: &str) -> SampleReport {
    let checked = Checked::read(&read(&format!("{name}/{name}.kf")));
    let mut sampler = Sampler::new(&checked.model, Default::default());
    sampler.add_lines(&read(&format!("{name}/documented/items.jsonl")));
    sampler.finish()
}

impl System {
    async fn load(name: &str) -> Self {
        let checked = Arc::new(Checked::read(&read(&format!("{name}/{name}.kf"))));
        let ring = Keyring::of(FieldKey::new([7; 32]));
        let settings = RunSettings {
            variables: [("stage".to_owned(), "test".to_owned())].into(),
            field_keys: Some(Arc::new(ring)),
            ..RunSettings::default()
        };
        let database = Database::in_memory();
        let runner = Runner::new(checked, Arc::new(database.clone()), Arc::new(SystemWorld), settings).unwrap();
        runner.create_tables().await.unwrap();
        let mut items = Vec::new();
        for line in read(&format!("{name}/documented/items.jsonl")).lines() {
            let item = keyform_runtime::run::item_of_line(line).unwrap();
            let is_its = |table: &&keyform_language::schema::Table| {
                runner.entity_in(&table.physical, &Item::from(&item)).is_some()
            };
            let table = runner.checked().model.tables.iter().find(is_its).unwrap_or_else(|| panic!("{line}"));
            let put = PutItem { table: table.physical.clone(), item: item.clone(), ..PutItem::default() };
            database.call(put).await.unwrap();
            items.push((table.physical.clone(), item));
        }
        Self { runner, items }
    }

    /// Returns the arguments with which a read finds an item, if it takes nothing but its fields.
    fn arguments(read: &Read, found: &Found) -> Option<Attributes> {
        let mut arguments = Attributes::new();
        for parameter in &read.parameters {
            let value = found.fields.get(&parameter.field_name)?.clone();
            let value = match parameter.test {
                Test::Equal | Test::From | Test::Until | Test::Between | Test::Begins => value,
                Test::In => AttributeValue::L(vec![value]),
                Test::After | Test::Before => return None,
            };
            arguments.extend(parameter.arguments.iter().map(|name| (name.clone(), value.clone())));
        }
        Some(arguments)
    }

    async fn is_returned(&self, found: &Found) -> bool {
        for read in &self.runner.checked().model.reads {
            let is_whole = read.select.is_none() && read.result.entities().contains(&found.entity);
            if !is_whole || matches!(read.result, ReadResult::Count(..)) {
                continue;
            }
            let Some(arguments) = Self::arguments(read, found) else { continue };
            let call = Call { arguments, ..Call::default() };
            let items = match self.runner.read(&read.name, &call).await.unwrap() {
                Answer::One(item) => item.into_iter().collect(),
                Answer::Page { items, .. } => items,
                Answer::Collection { parts, .. } => parts.into_iter().flat_map(|(_, items)| items).collect(),
                Answer::Count(_) => Vec::new(),
            };
            if items.contains(found) {
                return true;
            }
        }
        false
    }
}

async fn check(name: &str, entities: &[&str]) {
    let report = report(name);
    assert_eq!(report.unfit, [], "{name}");
    assert_eq!(report.entities.keys().map(String::as_str).collect::<Vec<_>>(), entities, "{name}");
    let system = System::load(name).await;
    for (table, item) in &system.items {
        let found = system.runner.found_in(table, &Item::from(item)).unwrap().unwrap();
        assert!(system.is_returned(&found).await, "no read of {name} returns {item:?}");
    }
}

#[tokio::test]
async fn discord_reads_documented_items() {
    let entities = ["Channel", "Credentials", "Invite", "LastRead", "Membership", "Message", "Server", "User"];
    check("discord", &entities).await;
}

#[tokio::test]
async fn agencies_reads_documented_items() {
    check("agencies", &["Agency", "Member"]).await;
}

#[tokio::test]
async fn t3nets_reads_documented_items() {
    check("t3nets", &["ChannelMapping", "Tenant", "User"]).await;
}

#[tokio::test]
async fn workspaces_reads_documented_items() {
    check("workspaces", &["Invite", "Item", "Member", "Setting", "Workspace"]).await;
}

#[tokio::test]
async fn helpmaton_reads_documented_items() {
    let entities = [
        "Account",
        "Agent",
        "Conversation",
        "LlmRequestBucket",
        "Subscription",
        "SubscriptionPermission",
        "TrialCreditRequest",
        "User",
        "UserApiKey",
        "VerificationToken",
        "Workspace",
        "WorkspaceDocument",
        "WorkspacePermission",
    ];
    check("helpmaton", &entities).await;
}

#[test]
fn documented_items_that_do_not_fit_are_reported() {
    let checked = Checked::read(&read("discord/discord.kf"));
    let mut sampler = Sampler::new(&checked.model, Default::default());
    let broken = read("discord/documented/items.jsonl").replace("\"content\"", "\"text\"");
    sampler.add_lines(&broken);
    let report = sampler.finish();
    let fields: Vec<Option<&str>> = report.unfit.iter().map(|unfit| unfit.field.as_deref()).collect();
    assert_eq!((report.broken, fields), (2, vec![Some("content"), Some("content")]));
}

#[test]
fn an_attribute_that_contradicts_the_key_is_reported() {
    let text = "model m\ntable T { key pk }\nentity E in T {\n  key \"E#{id}\"\n  id: slug(1..9)\n  n: int(0..9) = 0\n}\nread e(id) -> E?\n";
    let checked = Checked::read(text);
    let mut sampler = Sampler::new(&checked.model, Default::default());
    sampler.add_lines("{\"pk\":\"E#a\",\"id\":\"b\"}\n{\"pk\":\"E#a\",\"id\":\"a\"}\n{\"pk\":\"E#a\",\"n\":null}\n");
    let report = sampler.finish();
    let reasons: Vec<&str> = report.unfit.iter().map(|unfit| unfit.reason.as_str()).collect();
    assert_eq!((report.broken, reasons), (1, vec!["`id` has another value than the key"]));
}
