//! Encrypted fields: sealed in every store and readable only through the model; key rotation; secrecy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use keyform::SystemWorld;
use keyform::live::read::{Ended, Live, LiveError, LiveEvent};
use keyform::operation::{GetItem, PutItem};
use keyform::{AttributeValue, Attributes, Database, Execute, ExecuteExt, Item};
use keyform_check::Checked;
use keyform_runtime::run::{Answer, Call, Found, RunError, RunSettings, Runner};
use keyform_runtime::seal::{FieldKey, Keyring, SealError};
use keyform_scenario::{Store, stage};

const MODEL: &str = r#"
model vault

table Vault "vault-{stage}" {
  key    pk, sk
  index  byOwner (owner, accountId) project all
  tag    kind
  ttl    expires
  stream new_and_old
}

entity Account in Vault {
  key "ACCOUNT#{accountId}", "META"

  accountId: ulid = ulid()
  owner:     string(1..40)
  name:      string(1..40)
  version:   int version
  updatedAt: timestamp updated
  apiKey:    string(1..200) encrypted
  pin:       int? encrypted secret
  limits:    map<int>? encrypted
  tags:      set<string>? encrypted
  since:     timestamp = now() encrypted
  passwordHash: string(1..100)? secret
  expires:   epoch?

  volume 1K items, 600 bytes
  allow X12 "the index copies the password's hash for a test"
  allow V01 "no figures in a test"
}

read account(accountId) -> Account strong
read accountsOf(owner) -> [Account] via byOwner page 10
read keysOf(owner) -> [Account] via byOwner select (apiKey, accountId) page 10
read keyOf(accountId) -> Account? strong, select (apiKey)
read several(accountId in ids) -> [Account]

write open(owner, name, apiKey, pin, limits, tags, passwordHash) -> Account {
  create Account {} else Exists
}
write changeKey(accountId, apiKey) -> Account {
  update Account(accountId) { apiKey = apiKey }
}
write changePin(accountId, pin) -> Account {
  let account = account(accountId) else NoAccount
  update Account(accountId) { pin = pin } else NoAccount
}
write rename(accountId, name, version) -> Account {
  update Account(accountId) { name = name }
}
write forgetPin(accountId) -> Account {
  update Account(accountId) { remove pin }
}
write keep(accountId, owner, name, apiKey) -> Account {
  upsert Account(accountId) { owner = owner, name = name, apiKey = apiKey }
}
write copyKey(accountId, other: ulid) -> Account {
  let source = account(accountId) else NoAccount
  update Account(other) { apiKey = source.apiKey } else NoAccount
}
write replace(accountId, owner, name, apiKey) -> Account idempotent {
  put Account {}
}
"#;

/// Plaintexts that must never appear in a store.
const PLAIN: [&str; 4] = ["sk-plain-1", "sk-plain-2", "tag-plain", "limit-plain"];

fn attributes(pairs: &[(&str, AttributeValue)]) -> Attributes {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn call(pairs: &[(&str, AttributeValue)]) -> Call {
    Call { arguments: attributes(pairs), ..Call::default() }
}

/// Vault with its own tables.
struct Vault {
    store: Arc<dyn Execute>,
    runner: Runner,
    stage: String,
}

fn runner(store: &Arc<dyn Execute>, stage: &str, ring: Keyring) -> Result<Runner, RunError> {
    let settings = RunSettings {
        variables: [("stage".to_owned(), stage.to_owned())].into(),
        field_keys: Some(Arc::new(ring)),
        ..RunSettings::default()
    };
    let checked = Checked::read(MODEL);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    Runner::new(Arc::new(checked), Arc::clone(store), Arc::new(SystemWorld), settings)
}

fn key(byte: u8) -> FieldKey {
    FieldKey::new([byte; 32])
}

/// Runs a test on each store. Indexes are read after they have caught up.
async fn on_every_store(test: impl AsyncFn(Vault)) {
    for store in Store::all().await {
        test(Vault::open(store.caught_up()).await).await;
        store.stop();
    }
}

impl Vault {
    async fn open(store: Arc<dyn Execute>) -> Self {
        let stage = stage();
        let runner = runner(&store, &stage, Keyring::of(key(1))).unwrap();
        runner.create_tables().await.unwrap();
        Self { store, runner, stage }
    }

    /// Returns a runner on the same vault with other keys.
    fn with(&self, ring: Keyring) -> Runner {
        runner(&self.store, &self.stage, ring).unwrap()
    }

    fn table(&self) -> String {
        format!("vault-{}", self.stage)
    }

    async fn write(&self, name: &str, pairs: &[(&str, AttributeValue)]) -> Found {
        self.runner.write(name, &call(pairs)).await.unwrap().unwrap()
    }

    async fn open_account(&self) -> (String, Found) {
        let limits = AttributeValue::M(attributes(&[("limit-plain", 7.into())]));
        let made = self
            .write(
                "open",
                &[
                    ("owner", "ada".into()),
                    ("name", "first".into()),
                    ("apiKey", "sk-plain-1".into()),
                    ("pin", 1234.into()),
                    ("limits", limits),
                    ("tags", AttributeValue::Ss(["tag-plain".to_owned()].into())),
                    ("passwordHash", "argon2-hash".into()),
                ],
            )
            .await;
        (text(&made.fields["accountId"]), made)
    }

    /// Returns the item as stored.
    async fn raw(&self, id: &str) -> Item {
        let key = attributes(&[("pk", format!("ACCOUNT#{id}").into()), ("sk", "META".into())]);
        let get = GetItem { table: self.table(), key, consistent: true, ..GetItem::default() };
        let output = self.store.call(get).await.unwrap();
        output.item.unwrap()
    }

    /// Overwrites an attribute, bypassing the model.
    async fn tamper(&self, id: &str, name: &str, value: AttributeValue) {
        let mut item = self.raw(id).await.to_attributes();
        item.insert(name.to_owned(), value);
        let put = PutItem { table: self.table(), item, ..PutItem::default() };
        self.store.call(put).await.unwrap();
    }

    async fn read_one(&self, id: &str) -> Found {
        one(self.runner.read("account", &call(&[("accountId", id.into())])).await.unwrap())
    }
}

fn text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::S(text) => text.clone(),
        other => panic!("{other:?}"),
    }
}

fn one(answer: Answer) -> Found {
    match answer {
        Answer::One(Some(found)) => found,
        other => panic!("{other:?}"),
    }
}

fn items(answer: Answer) -> Vec<Found> {
    match answer {
        Answer::Page { items, .. } => items,
        other => panic!("{other:?}"),
    }
}

fn shows_nothing(item: &Item) {
    let text = String::from_utf8_lossy(item.as_bytes()).into_owned();
    for plain in PLAIN {
        assert!(!text.contains(plain), "{plain} is in {text}");
    }
    for field in ["apiKey", "pin", "limits", "tags", "since"] {
        if let Some(value) = item.get(field) {
            assert!(matches!(value.to_tree(), AttributeValue::B(_)), "{field} is bytes");
        }
    }
}

#[tokio::test]
async fn every_read_opens() {
    on_every_store(async |vault| {
        let (id, made) = vault.open_account().await;
        shows_nothing(&vault.raw(&id).await);
        assert_eq!(made.fields["apiKey"], "sk-plain-1".into());
        assert_eq!(made.fields["pin"], 1234.into());
        assert_eq!(made.fields["tags"], AttributeValue::Ss(["tag-plain".to_owned()].into()));
        assert!(matches!(made.fields["since"], AttributeValue::S(_)), "a default is sealed and opened");
        assert_eq!(vault.read_one(&id).await, made);

        let of_ada = call(&[("owner", "ada".into())]);
        assert_eq!(items(vault.runner.read("accountsOf", &of_ada).await.unwrap()), std::slice::from_ref(&made));
        let keys = items(vault.runner.read("keysOf", &of_ada).await.unwrap());
        assert_eq!(keys[0].fields, attributes(&[("accountId", id.as_str().into()), ("apiKey", "sk-plain-1".into())]));
        let key = one(vault.runner.read("keyOf", &call(&[("accountId", id.as_str().into())])).await.unwrap());
        assert_eq!(key.fields, attributes(&[("apiKey", "sk-plain-1".into())]));
        let ids = AttributeValue::L(vec![id.as_str().into()]);
        assert_eq!(items(vault.runner.read("several", &call(&[("ids", ids)])).await.unwrap()), [made]);
    })
    .await;
}

#[tokio::test]
async fn every_update_seals() {
    on_every_store(async |vault| {
        let (id, _) = vault.open_account().await;
        let id: AttributeValue = id.into();
        let changed = vault.write("changeKey", &[("accountId", id.clone()), ("apiKey", "sk-plain-2".into())]).await;
        assert_eq!(changed.fields["apiKey"], "sk-plain-2".into());
        let changed = vault.write("changePin", &[("accountId", id.clone()), ("pin", 99.into())]).await;
        assert_eq!(changed.fields["pin"], 99.into());
        shows_nothing(&vault.raw(&text(&id)).await);
        let changed = vault.write("forgetPin", &[("accountId", id.clone())]).await;
        assert!(!changed.fields.contains_key("pin"));
        let stale = call(&[("accountId", id), ("name", "x".into()), ("version", 1.into())]);
        match vault.runner.write("rename", &stale).await {
            Err(RunError::Conflict(Some(now))) => assert_eq!(now.fields["apiKey"], "sk-plain-2".into()),
            other => panic!("{other:?}"),
        }
    })
    .await;
}

#[tokio::test]
async fn every_upsert_put_and_copy_seals() {
    on_every_store(async |vault| {
        let (id, _) = vault.open_account().await;
        let other = "01KKP2T8SN0000000000000042";
        let pairs = |key: &str| {
            [
                ("accountId", AttributeValue::from(other)),
                ("owner", "bob".into()),
                ("name", "second".into()),
                ("apiKey", AttributeValue::from(key)),
            ]
        };
        assert_eq!(vault.write("keep", &pairs("sk-plain-1")).await.fields["apiKey"], "sk-plain-1".into());
        let kept = vault.write("keep", &pairs("sk-plain-2")).await;
        assert_eq!(kept.fields["apiKey"], "sk-plain-2".into());
        assert!(kept.fields.contains_key("since"), "an upsert's default is sealed, too");
        shows_nothing(&vault.raw(other).await);
        let copied = vault.write("copyKey", &[("accountId", other.into()), ("other", id.as_str().into())]).await;
        assert_eq!(copied.fields["apiKey"], "sk-plain-2".into(), "what was read is sealed for its new place");
        assert_eq!(vault.write("replace", &pairs("sk-plain-1")).await.fields["apiKey"], "sk-plain-1".into());
        shows_nothing(&vault.raw(other).await);
        shows_nothing(&vault.raw(&id).await);
    })
    .await;
}

#[tokio::test]
async fn the_directory_of_a_database_holds_nothing_readable() {
    let folder = tempfile::tempdir().unwrap();
    let options = keyform::Options { encryption: keyform::Encryption::Off, ..keyform::Options::default() };
    let database = Database::open_with(folder.path(), options).unwrap();
    let vault = Vault::open(Arc::new(database.clone())).await;
    let (id, _) = vault.open_account().await;
    vault.write("changeKey", &[("accountId", id.as_str().into()), ("apiKey", "sk-plain-2".into())]).await;
    database.close().unwrap();
    let mut seen = 0;
    for path in files(folder.path()) {
        let bytes = std::fs::read(&path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        seen += usize::from(holds(&id));
        assert!(PLAIN.iter().all(|plain| !holds(plain)), "{}", path.display());
    }
    assert!(seen > 0, "the item is somewhere, in journal, tables or streams");
}

/// Returns all files in a folder, recursively.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test]
async fn a_model_with_encrypted_fields_does_not_run_without_keys() {
    let store: Arc<dyn Execute> = Arc::new(Database::in_memory());
    let checked = Arc::new(Checked::read(MODEL));
    let refused = Runner::new(checked, store, Arc::new(SystemWorld), RunSettings::default()).map(|_| ());
    let Err(error) = refused else { panic!("it must be refused") };
    assert_eq!(error, RunError::Sealing(SealError::NoKeys { field: "Account.apiKey".to_owned() }));
    assert!(error.to_string().contains("keyform field-keys new"), "{error}");
}

#[tokio::test]
async fn a_ciphertext_that_was_moved_to_another_item_does_not_open() {
    on_every_store(async |vault| {
        let (one, _) = vault.open_account().await;
        let (other, _) = vault.open_account().await;
        let stolen = vault.raw(&one).await.get("apiKey").unwrap().to_tree();
        vault.tamper(&other, "apiKey", stolen).await;
        let read = vault.runner.read("account", &call(&[("accountId", other.as_str().into())])).await;
        assert_eq!(read, Err(RunError::Sealing(SealError::Damaged { field: "Account.apiKey".to_owned() })));
    })
    .await;
}

/// Reseals all pages; returns the number of changed items and of pages.
async fn reseal(runner: &Runner) -> (u64, u64) {
    let (mut next, mut changed, mut pages) = (None, 0, 0);
    loop {
        let page = runner.reseal(next.as_deref()).await.unwrap();
        (changed, pages, next) = (changed + page.changed, pages + 1, page.next);
        if next.is_none() {
            return (changed, pages);
        }
    }
}

#[tokio::test]
async fn keys_rotate_and_items_are_sealed_anew() {
    on_every_store(async |vault| {
        let mut ids = Vec::new();
        for _ in 0..450 {
            ids.push(vault.open_account().await.0);
        }
        let rotated = vault.with(Keyring::of(key(1)).rotated(key(2)));
        let only_new = vault.with(Keyring::of(key(2)));
        let ask = call(&[("accountId", ids[0].as_str().into())]);
        assert!(rotated.read("account", &ask).await.is_ok(), "older keys open");
        let unknown = only_new.read("account", &ask).await;
        assert!(matches!(&unknown, Err(RunError::Sealing(SealError::UnknownKey { .. }))), "{unknown:?}");

        // A write seals with the new key, and only the fields it writes.
        let change = call(&[("accountId", ids[1].as_str().into()), ("apiKey", "sk-plain-2".into())]);
        rotated.write("changeKey", &change).await.unwrap();

        let before = vault.read_one(&ids[0]).await;
        assert_eq!(reseal(&rotated).await, (450, 3));
        assert_eq!(one(only_new.read("account", &ask).await.unwrap()), before, "nothing but the seal has changed");
        let again = rotated.reseal(None).await.unwrap();
        assert_eq!((again.seen, again.changed), (200, 0));
        assert_eq!(rotated.reseal(Some("Elsewhere")).await, Err(RunError::Cursor));
    })
    .await;
}

#[tokio::test]
async fn a_field_that_becomes_encrypted_is_sealed_by_resealing() {
    on_every_store(async |vault| {
        let (id, _) = vault.open_account().await;
        vault.tamper(&id, "apiKey", "sk-plain-1".into()).await;
        let ask = call(&[("accountId", id.as_str().into())]);
        let refused = vault.runner.read("account", &ask).await;
        assert_eq!(refused, Err(RunError::Sealing(SealError::NotSealed { field: "Account.apiKey".to_owned() })));
        assert_eq!(vault.runner.reseal(None).await.unwrap().changed, 1);
        assert_eq!(vault.read_one(&id).await.fields["apiKey"], "sk-plain-1".into());
        shows_nothing(&vault.raw(&id).await);
    })
    .await;
}

#[tokio::test]
async fn secrets_are_neither_shown_nor_logged() {
    const SECRETS: &str = r#"
model secrets

table Secrets {
  key pk
}

entity Login in Secrets {
  key "LOGIN#{name}"

  name:  slug(1..20)
  hash:  string(1..40) secret
  extra: { hint: string(1..40) secret, colour: string(1..40) }
}

write add(name, hash, extra) -> Login {
  create Login {} else Taken
}
"#;
    let checked = Checked::read(SECRETS);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    let store = Arc::new(Database::in_memory());
    let runner = Runner::new(Arc::new(checked), store, Arc::new(SystemWorld), RunSettings::default()).unwrap();
    runner.create_tables().await.unwrap();
    let extra = attributes(&[("hint", "secret-hint".into()), ("colour", "blue".into())]);
    let add = call(&[("name", "ada".into()), ("hash", "secret-hash".into()), ("extra", AttributeValue::M(extra))]);
    let made = runner.write("add", &add).await.unwrap().unwrap();
    let taken = runner.write("add", &add).await.unwrap_err();
    let json = keyform_runtime::run::json::found(&runner.checked().model, &made).to_string();
    assert!(json.contains("blue"), "{json}");
    for text in [json, format!("{made:?}"), format!("{add:?}"), format!("{taken:?}"), taken.to_string()] {
        assert!(!text.contains("secret-"), "{text}");
    }
}

#[tokio::test]
async fn a_live_read_says_what_does_not_open_as_the_read_does() {
    on_every_store(async |vault| {
        let owner = call(&[("owner", "ada".into())]);
        let live = Live::default();
        let mut accounts = live.read(&vault.runner, "accountsOf", owner.clone(), None).await.unwrap();
        assert!(matches!(accounts.next().await, Some(LiveEvent::Page(_))));
        let stranger = vault.with(Keyring::of(key(2)));
        let arguments = [("owner", "ada".into()), ("name", "theirs".into()), ("apiKey", "sk-plain-1".into())];
        stranger.write("open", &call(&arguments)).await.unwrap();
        let said = vault.runner.read("accountsOf", &owner).await.unwrap_err();
        assert!(matches!(said, RunError::Sealing(_)), "{said:?}");
        let Some(LiveEvent::Ended(why)) = accounts.next().await else { panic!("the end") };
        assert_eq!(why, Ended::Run(said.clone()));
        let refused = live.read(&vault.runner, "accountsOf", owner, None).await;
        assert_eq!(refused.map(|_| ()).unwrap_err(), LiveError::Run(said));
    })
    .await;
}
