//! The output of `keyform explain` is valid: every request of the example systems and other models decodes to the
//! operation it was formatted from, and a database with the model's tables accepts it.

use std::fs;
use std::path::{Path, PathBuf};

use keyform::{Database, ErrorCode, Operation};
use keyform_check::Checked;
use keyform_check::explain::request;
use keyform_language::bind;
use keyform_language::bind::sample::Sample;
use keyform_runtime::run::cascade_table;
use keyform_wire::Decoded;

fn models() -> Vec<PathBuf> {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    let name = |system: &str| systems.join(system).join(format!("{system}.kf"));
    let mut models: Vec<PathBuf> = ["agencies", "discord", "helpmaton", "t3nets", "workspaces"].map(name).into();
    models.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reads/shapes.kf"));
    let unseen = Path::new(env!("CARGO_MANIFEST_DIR")).join("../check/tests/unseen");
    models.extend(
        ["booking", "catalogue", "ledger", "saas", "sensors", "shop"].map(|name| unseen.join(format!("{name}.kf"))),
    );
    models
}

/// Returns every request of a model with sample arguments, as printed and as sent, by the name of its pattern.
fn requests(checked: &Checked) -> Vec<(String, (&'static str, serde_json::Value), Operation)> {
    let model = &checked.model;
    let mut requests = Vec::new();
    for (read, plan) in checked.plans.planned(model) {
        let sample = Sample::new(model);
        let bound = bind::read(model, read, plan, &sample.of_read(read));
        requests.extend(
            bound
                .unwrap_or_else(|error| panic!("{}: {error}", read.name))
                .request
                .map(|it| (read.name.clone(), request::of_read(&it), it.into())),
        );
    }
    for (write, plan) in model.writes.iter().zip(&checked.plans.writes) {
        let sample = Sample::new(model);
        let inputs = sample.of_write(write).unwrap_or_else(|error| panic!("{}: {error}", write.name));
        let plan = plan.as_ref().unwrap_or_else(|| panic!("{} has no plan", write.name));
        let bound = bind::write(model, write, plan, &inputs).unwrap_or_else(|error| panic!("{}: {error}", write.name));
        requests.extend(
            bound.operation.map(|operation| (write.name.clone(), request::of_write(&operation), operation.into())),
        );
    }
    requests
}

fn checked(path: &Path) -> Checked {
    Checked::read(&fs::read_to_string(path).expect("a model can be read"))
}

#[test]
fn printed_requests_are_read_as_what_they_were_printed_from() {
    for path in models() {
        for (pattern, (name, printed), operation) in requests(&checked(&path)) {
            let target = format!("DynamoDB_20120810.{name}");
            let decoded = keyform_wire::decode(&target, printed.to_string().as_bytes());
            let Ok(Decoded::Operation(request)) = decoded else { panic!("{pattern}: {printed}: {:?}", decoded.err()) };
            assert_eq!(request.operation, operation, "{pattern}: {printed}");
        }
    }
}

#[test]
fn a_database_with_the_models_tables_accepts_every_request() {
    for path in models() {
        let checked = checked(&path);
        let database = Database::in_memory();
        let sample = Sample::new(&checked.model);
        for table in &checked.model.tables {
            let create = bind::create_table(table, &sample.no_call());
            database.call_blocking(create).expect("the model's tables can be made");
        }
        database.call_blocking(cascade_table()).expect("the table of intents can be made");
        for (pattern, _, operation) in requests(&checked) {
            if let Err(error) = database.execute_blocking(operation) {
                let refused = [ErrorCode::ConditionalCheckFailed, ErrorCode::TransactionCanceled];
                assert!(refused.contains(&error.code()), "{pattern}: {error}");
            }
        }
    }
}
