//! Items of another scope over HTTP: a parameter that `allow` names is compared with every item, and an item that
//! differs is answered as an absent one.

use std::sync::Arc;

use keyform::flow::Tables;
use keyform::server::{Models, Running, Served, Server, ServerSettings};
use keyform::{AttributeValue, Attributes, Database, SystemWorld};
use keyform_check::Checked;
use keyform_runtime::run::{Call, RunSettings, Runner};
use serde_json::{Value, json};

use super::model_api::{Answer, send};

const MODEL: &str = r#"
model docs

caller userId: slug(1..40), tenant: string(1..40)

table Docs {
  key    pk, sk
  stream new_and_old
}

entity Org in Docs {
  key "ORG#{orgId}", "ORG"

  orgId: slug(1..40)
}

entity Member in Docs {
  key "ORG#{orgId}", "MEMBER#{userId}"

  orgId:  ref Org keep
  userId: slug(1..40)
}

entity Doc in Docs {
  key "DOC#{docId}", "DOC"

  docId: slug(1..40)
  orgId: ref Org keep
  title: string(1..100)
}

entity File in Docs {
  key "FOLDER#{folder}", "FILE#{tenant}#{fileId}"

  folder: slug(1..40)
  tenant: string(1..40)
  fileId: slug(1..40)
}

guard member(orgId) = exists Member(orgId, caller.userId)

read doc(orgId, docId) -> Doc?  allow member(orgId)

read docsById(orgId, docId in docIds) -> [Doc]  allow member(orgId)

read files(folder, tenant) -> [File] page 20  allow tenant = caller.tenant

read fileCount(folder, tenant) -> count File  allow tenant = caller.tenant

write edit(orgId, docId, title) -> Doc {
  allow member(orgId)
  update Doc(docId) { title = title } else UnknownDoc
}

write editOf(ofOrg: slug(1..40), docId, title) -> Doc {
  allow member(ofOrg)
  update Doc(docId, orgId: ofOrg) { title = title } else UnknownDoc
    if title != "final" else IsFinal
}

write drop(orgId, docId) -> Doc {
  allow member(orgId)
  delete Doc(docId)
}

write dropTwo(orgId, docId, second: slug(1..40)) {
  allow member(orgId)
  delete Doc(docId)
  delete Doc(second)
}

write look(orgId, docId) {
  allow member(orgId)
  check Doc(docId) exists else UnknownDoc
  check Org(orgId) exists else UnknownOrg
}

write save(orgId, docId, title) -> Doc {
  allow member(orgId)
  upsert Doc(docId) { orgId = orgId, title = title }
}

write replace(orgId, docId, title) -> Doc {
  allow member(orgId)
  put Doc {}
}

write seedOrg(orgId, userId) {
  allow system
  put Org {}
  put Member {}
}

write seedDoc(orgId, docId, title) -> Doc {
  allow system
  put Doc {}
}

write seedFile(folder, tenant, fileId) -> File {
  allow system
  put File {}
}
"#;

struct Site {
    running: Running,
    runner: Runner,
    runtime: tokio::runtime::Runtime,
}

impl Site {
    /// Serves two organisations: `acme` with `ada` and the document `a1`, `zeta` with `zoe` and the document `z1`.
    fn start() -> Self {
        let checked = Checked::read(MODEL);
        assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
        let database = Database::in_memory();
        let runner =
            Runner::new(Arc::new(checked), Arc::new(database.clone()), Arc::new(SystemWorld), RunSettings::default());
        let runner = runner.unwrap();
        let models = Models::default();
        models.put(Served::new(runner.clone(), Tables::Made));
        let settings = ServerSettings { port: 0, workers: 1, models, ..ServerSettings::default() };
        let running = keyform::serve(Server::bind(settings).unwrap(), &database).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let site = Self { running, runner, runtime };
        site.runtime.block_on(site.runner.create_tables()).unwrap();
        for (org, user, doc) in [("acme", "ada", "a1"), ("zeta", "zoe", "z1")] {
            site.seed("seedOrg", &[("orgId", org), ("userId", user)]);
            site.seed("seedDoc", &[("orgId", org), ("docId", doc), ("title", org)]);
        }
        site
    }

    fn call(pairs: &[(&str, &str)]) -> Call {
        let arguments = pairs.iter().map(|(name, value)| ((*name).to_owned(), AttributeValue::from(*value)));
        Call { arguments: arguments.collect::<Attributes>(), ..Call::default() }
    }

    fn seed(&self, write: &str, pairs: &[(&str, &str)]) {
        self.runtime.block_on(self.runner.write(write, &Self::call(pairs))).unwrap();
    }

    fn get(&self, user: &str, path: &str) -> Answer {
        send(&self.running, "GET", &format!("/v1/docs/{path}"), &[("x-keyform-caller", &Self::caller(user))], "")
    }

    fn post(&self, user: &str, pattern: &str, body: &Value) -> Answer {
        let caller = Self::caller(user);
        let headers = [("x-keyform-caller", caller.as_str()), ("content-type", "application/json")];
        send(&self.running, "POST", &format!("/v1/docs/{pattern}"), &headers, &body.to_string())
    }

    fn caller(user: &str) -> String {
        format!("userId={user}; tenant={}", if user == "ada" { "acme" } else { "acme#eu" })
    }

    /// Returns the title of a document, as its own organisation sees it.
    fn title(&self, org: &str, user: &str, doc: &str) -> Value {
        let answer = self.get(user, &format!("doc?orgId={org}&docId={doc}"));
        if answer.status == 200 && answer.text != "null" { answer.json()["title"].clone() } else { Value::Null }
    }
}

/// Checks that a call on the foreign document answers as the same call on a document that does not exist.
fn answers_alike(site: &Site, pattern: &str, foreign: &Value, absent: &Value) -> Answer {
    let (foreign, absent) = (site.post("ada", pattern, foreign), site.post("ada", pattern, absent));
    assert_eq!((foreign.status, &foreign.text), (absent.status, &absent.text), "{pattern}");
    assert!(!foreign.text.contains("zeta"), "{pattern}: {}", foreign.text);
    foreign
}

#[test]
fn a_read_finds_only_items_of_the_scope_it_is_called_with() {
    let site = Site::start();
    assert_eq!(site.title("acme", "ada", "a1"), "acme");
    let (foreign, absent) = (site.get("ada", "doc?orgId=acme&docId=z1"), site.get("ada", "doc?orgId=acme&docId=none"));
    assert_eq!((foreign.status, &foreign.text), (absent.status, &absent.text));
    let listed = site.get("ada", "docsById?orgId=acme&docIds=a1&docIds=z1").json();
    assert_eq!(listed["items"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(listed["items"][0]["docId"], "a1");
}

#[test]
fn a_change_of_a_foreign_item_is_answered_as_one_of_an_absent_item() {
    let site = Site::start();
    let of = |doc: &str| json!({ "orgId": "acme", "docId": doc, "title": "stolen" });
    let refused = answers_alike(&site, "edit", &of("z1"), &of("none"));
    assert_eq!(refused.json()["outcome"], "UnknownDoc");
    let of = |doc: &str| json!({ "ofOrg": "acme", "docId": doc, "title": "stolen" });
    assert_eq!(answers_alike(&site, "editOf", &of("z1"), &of("none")).json()["outcome"], "UnknownDoc");
    let of = |doc: &str| json!({ "orgId": "acme", "docId": doc });
    assert_eq!(answers_alike(&site, "look", &of("z1"), &of("none")).json()["outcome"], "UnknownDoc");
    assert_eq!(site.title("zeta", "zoe", "z1"), "zeta");
    let own = json!({ "orgId": "acme", "docId": "a1", "title": "edited" });
    assert_eq!(site.post("ada", "edit", &own).status, 200);
    assert_eq!(site.title("acme", "ada", "a1"), "edited");
}

#[test]
fn a_delete_of_a_foreign_item_succeeds_without_effect_as_one_of_an_absent_item() {
    let site = Site::start();
    let of = |doc: &str| json!({ "orgId": "acme", "docId": doc });
    answers_alike(&site, "drop", &of("z1"), &of("none"));
    let of = |second: &str| json!({ "orgId": "acme", "docId": "gone", "second": second });
    assert!(answers_alike(&site, "dropTwo", &of("z1"), &of("none")).status < 300);
    assert_eq!(site.title("zeta", "zoe", "z1"), "zeta");
    let both = json!({ "orgId": "acme", "docId": "z1", "second": "a1" });
    assert!(site.post("ada", "dropTwo", &both).status < 300);
    assert_eq!(site.title("acme", "ada", "a1"), Value::Null);
    assert_eq!(site.title("zeta", "zoe", "z1"), "zeta");
}

#[test]
fn a_put_or_upsert_does_not_take_over_a_foreign_item() {
    let site = Site::start();
    for pattern in ["save", "replace"] {
        let taken = site.post("ada", pattern, &json!({ "orgId": "acme", "docId": "z1", "title": "stolen" }));
        assert_eq!(taken.status, 409, "{pattern}: {}", taken.text);
        assert!(!taken.text.contains("zeta"), "{pattern}: {}", taken.text);
        assert_eq!(site.title("zeta", "zoe", "z1"), "zeta");
        let fresh =
            site.post("ada", pattern, &json!({ "orgId": "acme", "docId": format!("new-{pattern}"), "title": "t" }));
        assert_eq!(fresh.status, 200, "{pattern}: {}", fresh.text);
        let own = site.post("ada", pattern, &json!({ "orgId": "acme", "docId": "a1", "title": pattern }));
        assert_eq!(own.status, 200, "{pattern}: {}", own.text);
    }
}

#[test]
fn a_prefix_does_not_reach_a_tenant_whose_name_continues_it() {
    let site = Site::start();
    site.seed("seedFile", &[("folder", "f"), ("tenant", "acme"), ("fileId", "own")]);
    site.seed("seedFile", &[("folder", "f"), ("tenant", "acme#eu"), ("fileId", "other")]);
    let files = site.get("ada", "files?folder=f&tenant=acme").json();
    assert_eq!(files["items"].as_array().map(Vec::len), Some(1), "{files}");
    assert_eq!(files["items"][0]["fileId"], "own");
    let count = site.get("ada", "fileCount?folder=f&tenant=acme");
    assert!(count.text.contains('1') && !count.text.contains('2'), "{}", count.text);
}

#[test]
fn a_live_read_streams_only_items_of_its_scope() {
    let site = Site::start();
    let live = |org| site.runner.live_read("doc", &Site::call(&[("orgId", org), ("docId", "z1")])).unwrap();
    let item = Attributes::from_iter(
        [("pk", "DOC#z1"), ("sk", "DOC"), ("docId", "z1"), ("orgId", "zeta"), ("title", "zeta")]
            .map(|(name, value)| (name.to_owned(), AttributeValue::from(value))),
    );
    let item = keyform::Item::from(&item);
    let model = site.runner.shared_model();
    assert!(live("zeta").found(model, &item).unwrap().is_some());
    assert!(live("acme").found(model, &item).unwrap().is_none());
}

/// Returns the codes of the errors and warnings about permissions.
fn codes(patterns: &str) -> Vec<String> {
    let head = MODEL.split("guard member").next().unwrap();
    let checked = Checked::read(&format!("{head}\n{patterns}"));
    let mut codes: Vec<String> = checked.diagnostics.iter().map(|finding| finding.code.0.to_owned()).collect();
    codes.retain(|code| code.starts_with('P'));
    codes.dedup();
    codes
}

#[test]
fn nobody_joins_an_organisation_of_their_choice() {
    let join = "write join(orgId) -> Member {
  allow public
  check Org(orgId) exists else UnknownOrg
  create Member { userId = caller.userId } else AlreadyMember
}
guard member(orgId) = exists Member(orgId, caller.userId)
read org(orgId) -> Org? allow member(orgId)";
    assert!(codes(join).contains(&"P02".to_owned()), "{:?}", codes(join));
}

#[test]
fn a_guard_that_does_not_look_at_the_caller_protects_nothing() {
    let any = "guard any(orgId) = exists Org(orgId)\nread org(orgId) -> Org? allow any(orgId)";
    assert_eq!(codes(any), ["P03", "P01"]);
}

#[test]
fn a_document_without_the_scope_in_key_or_parameters_is_reported() {
    let member = "guard member(orgId) = exists Member(orgId, caller.userId)\n";
    let found = |pattern: &str| codes(&format!("{member}{pattern}"));
    assert_eq!(found("read doc(docId, org: slug(1..40)) -> Doc? allow member(org)"), ["P01"]);
    assert_eq!(found("read doc(orgId, docId) -> Doc? allow member(orgId)"), [""; 0]);
    let edit = |item: &str| {
        format!(
            "write edit(org: slug(1..40), docId, title) {{\n allow member(org)\n update {item} {{ title = title }} else Unknown\n}}"
        )
    };
    assert_eq!(found(&edit("Doc(docId)")), ["P01"]);
    assert_eq!(found(&edit("Doc(docId, orgId: org)")), [""; 0]);
}
