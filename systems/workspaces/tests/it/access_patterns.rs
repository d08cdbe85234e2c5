//! Access patterns of the decision record, with the record's names.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::support::{Home, text};
use keyform::operation::GetItem;
use keyform::{CallError, ExecuteExt, Uuid};
use keyform_scenario::{eventually, on_every_store};
use keyform_workspaces::legacy;
use keyform_workspaces::legacy::data::{self, Amount};
use keyform_workspaces::legacy::fill::{Filled, fill};
use keyform_workspaces::legacy::model::{ItemHash, ItemStatus as OldStatus, SettingName, WorkspacesV1};
use keyform_workspaces::model::{ItemStatus, MemberRole};
use keyform_workspaces::{mine, old_link};
use serde_json::json;

/// Rows of the document table on the system's page, and their tests.
const SHOWN: [(&str, &str); 16] = [
    ("Context, `ITEM#<hash>`/`ITEM`", "legacy_item_by_hash"),
    ("Context, `SETTINGS`/`SET#<name>`", "legacy_setting_by_name"),
    ("Context, GSI1 (all items), GSI2 (by status)", "legacy_all_items_and_items_by_status"),
    ("Key design, Workspace", "key_design"),
    ("Key design, Member", "key_design"),
    ("Key design, Invite code", "key_design"),
    ("Key design, Item (v2)", "key_design"),
    ("Key design, Setting (v2)", "key_design"),
    ("Load full workspace", "load_full_workspace"),
    ("List user's workspaces", "list_users_workspaces"),
    ("Check membership", "check_membership"),
    ("List items in workspace", "list_items_in_workspace"),
    ("Resolve invite code", "resolve_invite_code"),
    ("Consequences, new items use the workspace's prefix", "new_items_use_the_workspaces_prefix"),
    ("Consequences, ids are no longer content hashes", "ids_are_no_longer_content_hashes"),
    ("Consequences, dual read during the migration", "dual_read_during_the_migration"),
];

#[test]
fn every_pattern_of_the_document_has_its_test() {
    let page = include_str!("../../../../docs/systems/workspaces.md");
    let table = page.split("| document | model |").nth(1).unwrap().split("\n\n").next().unwrap();
    let rows = table.lines().skip(2).filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let rows: BTreeSet<&str> = rows.filter(|row| !row.starts_with("(implied)")).collect();
    assert_eq!(rows, SHOWN.iter().map(|(row, _)| *row).collect::<BTreeSet<&str>>());
    let this = include_str!("access_patterns.rs");
    for (row, test) in SHOWN {
        assert!(this.contains(&format!("fn {test}()")), "{row}: there is no test {test}");
    }
}

#[test]
fn load_full_workspace() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        let other = home.founded("Garden").await;
        home.saved(&other.0, &other.1, "not here").await;
        home.of(&owner).set_setting(&id, "theme", &json!("dark")).await.unwrap();
        // More than the megabyte that one page holds.
        let long = "x".repeat(19_000);
        for number in 0..60 {
            home.of(&guest).create_item(&id, &format!("item {number}"), &long).await.unwrap();
        }
        let whole = home.of(&guest).workspace(&id).await.unwrap();
        assert_eq!(whole.workspace.name, "Kitchen");
        assert_eq!(
            whole.members.iter().map(|it| it.user_id.clone()).collect::<BTreeSet<Uuid>>(),
            [owner, guest].into()
        );
        let titles: BTreeSet<String> = whole.items.iter().map(|item| item.title.clone()).collect();
        assert_eq!((whole.items.len(), titles.len()), (60, 60));
        assert_eq!(
            whole.settings.iter().map(|it| (it.name.as_str(), &it.value)).collect::<Vec<_>>(),
            [("theme", &json!("dark"))]
        );
        assert_eq!(home.of(&other.1).workspace(&id).await.unwrap_err(), CallError::Forbidden);
        let nowhere = Uuid::fresh().into();
        assert_eq!(home.workspaces.workspace(&nowhere).await.unwrap_err(), CallError::NotFound("Workspace".to_owned()));
    });
}

#[test]
fn list_users_workspaces() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let person = Uuid::fresh();
        assert_eq!(mine::my_workspaces(&home.of(&person), &person, None).await.unwrap().workspaces, []);
        let mut expected = BTreeSet::new();
        // Own and joined workspaces, more than a page of 50.
        for number in 0..53 {
            let name = format!("workspace {number}");
            if number % 2 == 0 {
                home.of(&person).create_workspace(&name).await.unwrap();
            } else {
                let (id, owner) = home.founded(&name).await;
                let invite = home.invited(&id, &owner, None).await;
                home.of(&person).join_by_invite(&invite.code).await.unwrap();
            }
            expected.insert((name, number % 2 == 0));
        }
        eventually(53, async || home.of(&person).workspaces_of_user(&person).all().await.unwrap().len()).await;
        let first = mine::my_workspaces(&home.of(&person), &person, None).await.unwrap();
        assert_eq!(first.workspaces.len(), 50);
        let second = mine::my_workspaces(&home.of(&person), &person, first.cursor.clone()).await.unwrap();
        assert_eq!((second.workspaces.len(), &second.cursor), (3, &None));
        let all: Vec<_> = first.workspaces.iter().chain(&second.workspaces).collect();
        let ids: BTreeSet<_> = all.iter().map(|it| it.workspace_id.clone()).collect();
        assert_eq!(ids.len(), 53, "each once");
        let named: BTreeSet<_> = all.iter().map(|it| (it.name.clone(), it.role == MemberRole::Owner)).collect();
        assert_eq!(named, expected);
        // A workspace that was left disappears, a new name appears immediately, and other users' lists are not visible.
        let left = second.workspaces.iter().find(|it| it.role == MemberRole::Member);
        let left = left.or_else(|| first.workspaces.iter().find(|it| it.role == MemberRole::Member)).unwrap();
        home.of(&person).leave_workspace(&left.workspace_id).await.unwrap();
        let owned = all.iter().find(|it| it.role == MemberRole::Owner).unwrap();
        home.of(&person).rename_workspace(&owned.workspace_id, "another name").await.unwrap();
        let seen = async || {
            let all = home.of(&person).workspaces_of_user(&person).all().await.unwrap();
            (all.len(), all.iter().any(|it| it.workspace_id == left.workspace_id))
        };
        eventually((52, false), seen).await;
        let now = mine::my_workspaces(&home.of(&person), &person, None).await.unwrap();
        let names = now.workspaces.iter().filter(|it| it.workspace_id == owned.workspace_id).map(|it| it.name.as_str());
        assert!(names.into_iter().all(|name| name == "another name"));
        let eve = Uuid::fresh();
        let refused = mine::my_workspaces(&home.of(&eve), &person, None).await;
        assert_eq!(refused, Err(CallError::Forbidden));
    });
}

#[test]
fn check_membership() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let guest = home.joined(&id, &owner).await;
        let eve = Uuid::fresh();
        let role = async |person: &Uuid| home.workspaces.membership(&id, person).await.unwrap().map(|it| it.role);
        assert_eq!(role(&owner).await, Some(MemberRole::Owner));
        assert_eq!(role(&guest).await, Some(MemberRole::Member));
        assert_eq!(role(&eve).await, None);
        assert_eq!(home.of(&eve).membership(&id, &owner).await, Err(CallError::Forbidden));
        // Takes effect immediately.
        home.saved(&id, &guest, "by a member").await;
        home.of(&owner).remove_member(&id, &guest).await.unwrap();
        assert_eq!(role(&guest).await, None);
        assert_eq!(home.of(&guest).items_of_workspace(&id).await, Err(CallError::Forbidden));
    });
}

#[test]
fn list_items_in_workspace() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        assert_eq!(home.of(&owner).items_of_workspace(&id).await.unwrap().items, []);
        for number in 0..105 {
            scene.clock.advance(Duration::from_secs(60));
            home.saved(&id, &owner, &format!("item {number:03}")).await;
        }
        let first = home.of(&owner).items_of_workspace(&id).await.unwrap();
        let second = home.of(&owner).items_of_workspace(&id).after_any(first.cursor.clone()).await.unwrap();
        assert_eq!((first.items.len(), second.items.len(), second.cursor), (100, 5, None));
        let titles: BTreeSet<_> = first.items.iter().chain(&second.items).map(|item| item.title.clone()).collect();
        assert_eq!(titles.len(), 105);
        // Ordered by time, latest first.
        let expected: Vec<_> = (55..105).rev().map(|number| format!("item {number:03}")).collect();
        let titles = async || -> Vec<String> {
            home.of(&owner).latest_items(&id).await.unwrap().items.into_iter().map(|item| item.title).collect()
        };
        eventually(expected, titles).await;
        let latest = home.of(&owner).latest_items(&id).await.unwrap();
        // And by status, which also moves the item in the index.
        let moved = &latest.items[3];
        home.of(&owner).set_item_status(&id, &moved.item_id, ItemStatus::Done).await.unwrap();
        let in_state = async || {
            let done = home.of(&owner).items_by_status(&id, ItemStatus::Done).await.unwrap().items;
            let open = home.of(&owner).items_by_status(&id, ItemStatus::Open).all().await.unwrap();
            (done.into_iter().map(|item| item.item_id).collect::<Vec<_>>(), open.len())
        };
        eventually((vec![moved.item_id.clone()], 104), in_state).await;
        let eve = Uuid::fresh();
        assert_eq!(home.of(&eve).items_of_workspace(&id).await, Err(CallError::Forbidden));
        assert_eq!(home.of(&eve).latest_items(&id).await, Err(CallError::Forbidden));
    });
}

#[test]
fn resolve_invite_code() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let invite = home.invited(&id, &owner, None).await;
        let eve = Uuid::fresh();
        let found = home.of(&eve).invite_by_code(&invite.code).await.unwrap().unwrap();
        assert_eq!((&found.workspace_id, &found.created_by), (&id, &owner));
        let made_up = "AAAAAAAAAAAAAAAA".parse().unwrap();
        assert_eq!(home.of(&eve).invite_by_code(&made_up).await.unwrap(), None);
        // Expires to the second, whether or not the store has removed the item.
        scene.clock.advance(Duration::from_secs(7 * 24 * 3600 - 1));
        assert!(home.of(&eve).invite_by_code(&invite.code).await.unwrap().is_some());
        scene.clock.advance(Duration::from_secs(2));
        assert_eq!(home.of(&eve).invite_by_code(&invite.code).await.unwrap(), None);
    });
}

#[test]
fn key_design() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let invite = home.invited(&id, &owner, None).await;
        let item = home.saved(&id, &owner, "an item").await;
        home.of(&owner).set_setting(&id, "theme", &json!("dark")).await.unwrap();
        let dump = home.dump().await;
        let partition = format!("WORKSPACE#{id}");
        let (member, item_key) = (format!("MEMBER#{owner}"), format!("ITEM#{}", item.item_id));
        let keys: Vec<(&str, &str)> = dump.keys().map(|(pk, sk)| (pk.as_str(), sk.as_str())).collect();
        let invite_key = format!("INVITE#{}", invite.code);
        let expected = [
            (invite_key.as_str(), "INVITE"),
            (&partition, &item_key),
            (&partition, &member),
            (&partition, "SET#theme"),
            (&partition, "WORKSPACE"),
        ];
        assert_eq!(keys, expected);
        let index = |pk: &str, sk: &str| {
            let stored = &dump[&(pk.to_owned(), sk.to_owned())];
            stored.contains_key("GSI1PK").then(|| (text(stored, "GSI1PK"), text(stored, "GSI1SK")))
        };
        assert_eq!(index(&partition, &member), Some((format!("USER#{owner}"), partition.clone())));
        assert_eq!(index(&partition, &item_key), Some((format!("WSITEMS#{id}"), item.created_at.to_string())));
        assert_eq!(index(&partition, "WORKSPACE"), None, "the creator is a member: one entry is enough");
        assert_eq!(index(&partition, "SET#theme"), None);
    });
}

#[test]
fn new_items_use_the_workspaces_prefix() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        home.saved(&id, &owner, "an item").await;
        home.joined(&id, &owner).await;
        home.of(&owner).set_setting(&id, "theme", &json!(1)).await.unwrap();
        let prefix = format!("WORKSPACE#{id}");
        let dump = home.dump().await;
        assert!(dump.keys().all(|(pk, _)| *pk == prefix || pk.starts_with("INVITE#")), "{:?}", dump.keys());
        assert_eq!(dump.len(), 6);
    });
}

#[test]
fn ids_are_no_longer_content_hashes() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let (id, owner) = home.founded("Kitchen").await;
        let (one, other) = (home.saved(&id, &owner, "same").await, home.saved(&id, &owner, "same").await);
        assert_ne!(one.item_id, other.item_id, "the same content twice is two items");
        let found = home.of(&owner).item_by_id(&id, &one.item_id).await.unwrap().unwrap();
        assert_eq!(found, one);
        assert_eq!(home.of(&owner).item_by_id(&id, &Uuid::fresh().into()).await.unwrap(), None);
    });
}

const LITTLE: Amount = Amount { items: 12, settings: 3, members: 2, seed: 7 };

/// Creates a table with data of the old form, and returns the old application.
async fn old(home: &Home) -> WorkspacesV1 {
    let written = fill(&home.host.store(), &home.host.options(), LITTLE).await.unwrap();
    assert_eq!(written, Filled { items: 12, settings: 3, members: 2 });
    let again = fill(&home.host.store(), &home.host.options(), LITTLE).await.unwrap();
    assert_eq!(again, Filled { items: 0, settings: 3, members: 0 }, "a second run finds them there");
    WorkspacesV1::on(home.host.store(), home.host.options()).unwrap()
}

fn hash(number: usize) -> ItemHash {
    data::item(LITTLE.seed, number, LITTLE.items).hash.parse().unwrap()
}

#[test]
fn legacy_item_by_hash() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let v1 = old(&home).await;
        let made = data::item(LITTLE.seed, 4, LITTLE.items);
        let item = v1.item_by_hash(&hash(4)).await.unwrap().unwrap();
        assert_eq!((item.title, item.content, item.created_at.millis()), (made.title, made.content, made.saved_millis));
        let key = [("PK".to_owned(), format!("ITEM#{}", hash(4)).into()), ("SK".to_owned(), "ITEM".into())].into();
        let get = GetItem { table: home.table(), key, ..Default::default() };
        let got = home.host.store().call(get).await.unwrap();
        assert!(got.item.is_some());
        assert_eq!(v1.item_by_hash(&"0".repeat(64).parse().unwrap()).await.unwrap(), None);
    });
}

#[test]
fn legacy_setting_by_name() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let v1 = old(&home).await;
        let made = data::setting(LITTLE.seed, 1);
        let setting = v1.setting_by_name(&SettingName::new(made.name.clone()).unwrap()).await.unwrap().unwrap();
        assert_eq!(setting.value, made.value);
        assert_eq!(v1.settings().await.unwrap().items.len(), 3);
        assert!(home.dump().await.contains_key(&("SETTINGS".to_owned(), format!("SET#{}", made.name))));
    });
}

#[test]
fn legacy_all_items_and_items_by_status() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        let v1 = old(&home).await;
        let all = v1.items().all().await.unwrap();
        assert_eq!(all.len(), 12);
        assert!(all.is_sorted_by(|one, other| one.created_at >= other.created_at), "newest first");
        let done = v1.items_by_status(OldStatus::Done).all().await.unwrap();
        let open = v1.items_by_status(OldStatus::Open).all().await.unwrap();
        let finished = (0..12).filter(|number| data::item(LITTLE.seed, *number, 12).done_millis.is_some()).count();
        assert_eq!((done.len(), open.len()), (finished, 12 - finished));
        assert!(finished > 0 && finished < 12);
    });
}

#[test]
fn dual_read_during_the_migration() {
    on_every_store(async |scene| {
        let home = Home::open(&scene).await;
        old(&home).await;
        let ada = data::member(LITTLE.seed, 0).user_id;
        let bob = data::member(LITTLE.seed, 1).user_id;
        let before = home.of(&bob).workspace(&legacy::home()).await;
        assert_eq!(before.unwrap_err(), CallError::NotFound("Workspace".to_owned()), "not created yet");
        home.workspaces.adopt_legacy("Home", &ada).await.unwrap();
        let whole = home.of(&bob).workspace(&legacy::home()).await.unwrap();
        assert_eq!((whole.members.len(), whole.items.len(), whole.settings.len()), (2, 12, 3));
        assert!(whole.items.iter().all(|item| item.version == 1));
        let listed = mine::my_workspaces(&home.of(&bob), &bob, None).await.unwrap().workspaces;
        assert_eq!(listed.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["Home"]);
        // Old links lead to items in the workspace that received them.
        let found = old_link::item(&home.of(&bob), hash(3).as_str()).await.unwrap().unwrap();
        assert_eq!(found.legacy_hash.as_deref(), Some(hash(3).as_str()));
        assert_eq!(old_link::item(&home.of(&Uuid::fresh()), hash(3).as_str()).await, Err(CallError::Forbidden));
        assert_eq!(old_link::item(&home.of(&bob), &"0".repeat(64)).await.unwrap(), None);
        // A deleted item does not reappear from its old location, and no other workspace contains it.
        home.of(&bob).delete_item(&legacy::home(), &found.item_id).await.unwrap();
        assert_eq!(home.of(&bob).item_by_id(&legacy::home(), &found.item_id).await.unwrap(), None);
        assert_eq!(home.of(&bob).items_of_workspace(&legacy::home()).await.unwrap().items.len(), 11);
        let (other, owner) = home.founded("Kitchen").await;
        assert_eq!(home.of(&owner).items_of_workspace(&other).await.unwrap().items, []);
        assert_eq!(home.of(&owner).settings_of_workspace(&other).await.unwrap().items, []);
    });
}
