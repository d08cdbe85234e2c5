//! Deploys. Each page of `tests/deploy` has a model before, a model after, and the plan between them. The plan must
//! match the page; after applying it nothing is left to do; interrupted after any request and applied again, it reaches
//! the same state.
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform --test it deploy` regenerates the plans; review the diff like code.

use std::fs;
use std::path::{Path, PathBuf};

use keyform::SystemWorld;
use keyform::operation::DeleteTable;
use keyform::table::StreamView;
use keyform::{Execute, ExecuteExt};
use keyform_check::Checked;
use keyform_runtime::deploy::{self, DeployError, Live, Patience, Plan, Request};
use keyform_scenario::fault::Mortal;
use keyform_scenario::{Store, stage};

struct Page {
    file: PathBuf,
    text: String,
    before: Option<String>,
    after: String,
    destroy: Vec<String>,
    plan: String,
}

impl Page {
    fn read(file: PathBuf) -> Self {
        let text = fs::read_to_string(&file).unwrap();
        let mut models = blocks(&text, "kf");
        let after = models.pop().unwrap();
        let destroy = text.lines().filter_map(|line| line.strip_prefix("`--destroy ")?.strip_suffix('`'));
        Self {
            before: models.pop(),
            after,
            destroy: destroy.map(str::to_owned).collect(),
            plan: blocks(&text, "text").pop().unwrap_or_default(),
            file,
            text,
        }
    }

    /// Returns the page with another plan.
    fn with(&self, plan: &str) -> String {
        let kept = self.text.split("```text\n").next().unwrap_or_default();
        format!("{kept}```text\n{plan}```\n")
    }
}

fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split_once("```")).map(|(block, _)| block.to_owned()).collect()
}

fn pages() -> Vec<Page> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/deploy");
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(Page::read).collect()
}

fn request(stage: &str, destroy: &[String]) -> Request {
    let destroy = destroy.iter().map(|name| name.replace("{stage}", stage)).collect();
    Request { variables: [("stage".to_owned(), stage.to_owned())].into(), destroy }
}

async fn plan(store: &dyn Execute, model: &str, request: &Request) -> Result<Plan, DeployError> {
    let checked = Checked::read(model);
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    deploy::prepare(store, &checked.model, request).await
}

async fn apply(store: &dyn Execute, model: &str, request: &Request) -> Result<Plan, DeployError> {
    let plan = plan(store, model, request).await?;
    deploy::apply(store, &SystemWorld, &plan, Patience::default(), &|_| {}).await?;
    Ok(plan)
}

/// Returns the state of the tables without the properties that differ between stores.
async fn state(store: &dyn Execute, model: &str, request: &Request) -> Vec<Live> {
    let desired = deploy::desired(&Checked::read(model).model, &request.variables).unwrap();
    let names: Vec<String> = desired.into_iter().map(|wanted| wanted.create.table).collect();
    let mut live = deploy::observe(store, &names).await.unwrap();
    for table in live.iter_mut().map(|live| &mut live.description) {
        table.id.clear();
        table.created_ms = 0;
        table.on_demand_since_ms = None;
        table.class_since_ms = None;
        table.throughput.last_increase_ms = None;
        table.throughput.last_decrease_ms = None;
        table.global_indexes.sort_by(|one, other| one.index.name.cmp(&other.index.name));
        for index in &mut table.global_indexes {
            index.throughput.last_increase_ms = None;
            index.throughput.last_decrease_ms = None;
        }
        if let Some(stream) = &mut table.stream {
            (stream.label, stream.arn) = (String::new(), String::new());
            stream.view = if stream.enabled { stream.view } else { StreamView::KeysOnly };
        }
    }
    live
}

async fn remove(store: &dyn Execute, models: &[&str], request: &Request) {
    for model in models {
        for live in state(store, model, request).await {
            let table = live.description.name;
            let change = keyform::operation::UpdateTable {
                table: table.clone(),
                deletion_protected: Some(false),
                ..Default::default()
            };
            // Stores without deletion protection reject this; ignore it.
            drop(store.call(change).await);
            drop(store.call(DeleteTable { table }).await);
        }
    }
}

/// Returns whether a peer lacks a feature: this one changes neither the throughput of an index nor encryption alone.
fn is_lacking(error: &DeployError) -> bool {
    let text = error.to_string();
    ["not yet supported", "At least one of BillingMode"].iter().any(|told| text.contains(told))
}

#[tokio::test]
async fn plans_are_as_the_pages_say_and_leave_nothing_to_do() {
    let bless = std::env::var_os("KEYFORM_BLESS").is_some();
    for page in pages() {
        let stage = stage();
        let request = request(&stage, &page.destroy);
        for store in Store::all().await {
            let execute = &*store.execute;
            if let Some(before) = &page.before {
                apply(execute, before, &request).await.unwrap();
            }
            let found = plan(execute, &page.after, &request).await.unwrap();
            let text = deploy::text::text(&found).replace(&stage, "{stage}");
            let place = format!("{} on {}", page.file.display(), store.name);
            if bless && store.name == "embedded" {
                fs::write(&page.file, page.with(&text)).unwrap();
            } else if !bless {
                assert_eq!(text, page.plan, "{place}");
            }
            match apply(execute, &page.after, &request).await {
                Err(DeployError::Refused) => assert!(found.is_refused()),
                Err(error) if store.name == "extenddb" && is_lacking(&error) => {}
                applied => {
                    applied.unwrap_or_else(|error| panic!("{place}: {error}"));
                    let rest = plan(execute, &page.after, &request).await.unwrap();
                    assert!(!rest.has_changes(), "{place}: {}", deploy::text::text(&rest));
                }
            }
            remove(execute, &[page.before.as_deref().unwrap_or(&page.after), &page.after], &request).await;
            store.stop();
        }
    }
}

#[tokio::test]
async fn an_apply_that_is_killed_after_any_request_is_applied_again_to_the_same_end() {
    for page in pages() {
        let request = request("dev", &page.destroy);
        let mut whole = None;
        for requests in 0.. {
            let store = Store::embedded().execute;
            if let Some(before) = &page.before {
                apply(&*store, before, &request).await.unwrap();
            }
            let mortal = Mortal::new(store.clone(), requests);
            drop(apply(&mortal, &page.after, &request).await);
            match apply(&*store, &page.after, &request).await {
                Err(DeployError::Refused) => break,
                applied => drop(applied.unwrap()),
            }
            let state = state(&*store, &page.after, &request).await;
            assert_eq!(*whole.get_or_insert_with(|| state.clone()), state, "{} after {requests}", page.file.display());
            if !mortal.is_dead() {
                break;
            }
        }
    }
}

#[tokio::test]
async fn the_five_systems_are_deployed() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    for name in ["agencies", "discord", "helpmaton", "t3nets", "workspaces"] {
        let model = fs::read_to_string(systems.join(name).join(format!("{name}.kf"))).unwrap();
        let request = request(&stage(), &[]);
        for store in Store::all().await {
            apply(&*store.execute, &model, &request).await.unwrap();
            let rest = plan(&*store.execute, &model, &request).await.unwrap();
            assert!(!rest.has_changes(), "{name} on {}: {}", store.name, deploy::text::text(&rest));
            remove(&*store.execute, &[&model], &request).await;
            store.stop();
        }
    }
}

#[tokio::test]
async fn a_variable_without_a_value_is_named() {
    let store = Store::embedded();
    let missing = plan(&*store.execute, "model m\ntable T \"t-{stage}\" { key pk }\n", &Request::default()).await;
    let told = missing.unwrap_err().to_string();
    assert_eq!(told, "the table `t-{stage}` has a variable without a value: stage");
}

#[tokio::test]
async fn a_plan_is_data_too() {
    let store = Store::embedded();
    let found = plan(&*store.execute, "model m\ntable T \"things\" { key pk }\n", &Request::default()).await.unwrap();
    let json = deploy::json::json(&found);
    assert_eq!((json["changes"].clone(), json["refused"].clone()), (true.into(), false.into()));
    assert_eq!(json["tables"][0]["steps"][0]["change"], "create_table");
}
