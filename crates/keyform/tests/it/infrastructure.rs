//! Generated templates and policies of a model, compared with the last reviewed version.
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform --test it infrastructure` regenerates them; `tools/templates.sh` validates them
//! with the vendors' tools.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use keyform::SystemWorld;
use keyform::execute::BoxFuture;
use keyform::expression::{Comparator, KeyTest};
use keyform::operation::{TransactAction, WriteRequest};
use keyform::runtime::run::{Call, Caller, Runner};
use keyform::{AttributeValue, Attributes, Database, Error, Execute, Operation, Output};
use keyform_check::Checked;
use keyform_codegen::{CodegenSettings, target};
use keyform_language::bind::sample::Sample;
use keyform_language::bind::{self, Inputs};
use keyform_language::document::ast::BinaryOp;
use keyform_language::schema::{Expr, ExprKind, Field, Origin, Parameter, Permission};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/infrastructure")
}

fn print(name: &str, checked: &Checked, variables: &[(&str, &str)]) -> String {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (target(name).unwrap().print)(checked, &CodegenSettings { variables }).unwrap()
}

fn shop() -> Checked {
    let checked = Checked::read(&fs::read_to_string(folder().join("shop.kf")).unwrap());
    assert!(!checked.has_errors(), "{:#?}", checked.diagnostics);
    checked
}

#[test]
fn templates_and_policies_are_as_they_were() {
    let checked = shop();
    for (name, file) in [("cloudformation", "shop.yaml"), ("terraform", "shop.tf"), ("iam", "shop.iam.json")] {
        let printed = print(name, &checked, &[]);
        let file = folder().join(file);
        if std::env::var_os("KEYFORM_BLESS").is_some() {
            fs::write(&file, &printed).unwrap();
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), printed, "{}", file.display());
    }
}

#[test]
fn variables_with_values_are_no_parameters() {
    let given = [("stage", "dev"), ("region", "eu-central-1"), ("account", "123456789012")];
    let template = print("cloudformation", &shop(), &given);
    assert!(template.contains("TableName: orders-dev\n") && !template.contains("Parameters:"), "{template}");
    let policies = print("iam", &shop(), &given);
    assert!(policies.contains("arn:aws:dynamodb:eu-central-1:123456789012:table/orders-dev/index/gsi1"), "{policies}");
}

#[test]
fn every_system_has_templates_and_policies() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    for name in ["agencies", "discord", "helpmaton", "t3nets", "workspaces"] {
        let checked = Checked::read(&fs::read_to_string(systems.join(name).join(format!("{name}.kf"))).unwrap());
        let tables = checked.model.tables.len();
        let template = print("cloudformation", &checked, &[]);
        assert_eq!(template.matches("Type: AWS::DynamoDB::Table").count(), tables, "{name}");
        let terraform = print("terraform", &checked, &[]);
        assert_eq!(terraform.matches("resource \"aws_dynamodb_table\"").count(), tables, "{name}");
        let policies: serde_json::Value = serde_json::from_str(&print("iam", &checked, &[])).unwrap();
        for pattern in checked
            .model
            .reads
            .iter()
            .map(|read| &read.name)
            .chain(checked.model.writes.iter().map(|write| &write.name))
        {
            let statements = policies[pattern]["Statement"].as_array().map_or(0, Vec::len);
            assert!(statements > 0, "{name}: {pattern} may do nothing");
        }
    }
}

/// Store that records its requests.
struct Recorder {
    database: Database,
    asked: Mutex<Vec<Operation>>,
}

impl Execute for Recorder {
    fn execute(&self, operation: Operation) -> BoxFuture<'_, Result<Output, Error>> {
        self.asked.lock().unwrap().push(operation.clone());
        Execute::execute(&self.database, operation)
    }
}

/// IAM request of an operation: the action, the table or index, and the partition key values.
struct Asked {
    action: &'static str,
    resource: String,
    leading: Vec<String>,
}

/// Partition keys of each table and index, by resource.
type Partitions = BTreeMap<String, Vec<String>>;

fn partitions(checked: &Checked) -> Partitions {
    let mut found = Partitions::new();
    for table in &checked.model.tables {
        let name = bind::table_name(table, &variables());
        found.insert(name.clone(), table.partition.iter().map(|key| key.name.clone()).collect());
        for index in &table.indexes {
            let keys = index.partition.iter().map(|key| key.name.clone()).collect();
            found.insert(format!("{name}/index/{}", index.physical), keys);
        }
    }
    found
}

fn variables() -> BTreeMap<String, String> {
    ["stage", "region", "env"].map(|name| (name.to_owned(), "dev".to_owned())).into()
}

fn texts(keys: &[String], attributes: &Attributes) -> Vec<String> {
    let text = |name: &String| match attributes.get(name)? {
        AttributeValue::S(text) => Some(text.clone()),
        _ => None,
    };
    keys.iter().filter_map(text).collect()
}

fn asked(operation: &Operation, partitions: &Partitions) -> Vec<Asked> {
    let of = |action, table: &str, attributes: &Attributes| {
        let leading = partitions.get(table).map(|keys| texts(keys, attributes)).unwrap_or_default();
        Asked { action, resource: table.to_owned(), leading }
    };
    match operation {
        Operation::GetItem(get) => vec![of("dynamodb:GetItem", &get.table, &get.key)],
        Operation::PutItem(put) => vec![of("dynamodb:PutItem", &put.table, &put.item)],
        Operation::UpdateItem(update) => vec![of("dynamodb:UpdateItem", &update.table, &update.key)],
        Operation::DeleteItem(delete) => vec![of("dynamodb:DeleteItem", &delete.table, &delete.key)],
        Operation::BatchGetItem(batch) => {
            let keys = batch.tables.iter().flat_map(|(table, get)| get.keys.iter().map(move |key| (table, key)));
            keys.map(|(table, key)| of("dynamodb:BatchGetItem", table, key)).collect()
        }
        Operation::BatchWriteItem(batch) => {
            let writes = batch.tables.iter().flat_map(|(table, writes)| writes.iter().map(move |write| (table, write)));
            let one = |(table, write): (&String, &WriteRequest)| match write {
                WriteRequest::Put(item) | WriteRequest::Delete(item) => of("dynamodb:BatchWriteItem", table, item),
            };
            writes.map(one).collect()
        }
        Operation::TransactWriteItems(transaction) => {
            let one = |action: &TransactAction| match action {
                TransactAction::Put { table, item, .. } => of("dynamodb:PutItem", table, item),
                TransactAction::Update { table, key, .. } => of("dynamodb:UpdateItem", table, key),
                TransactAction::Delete { table, key, .. } => of("dynamodb:DeleteItem", table, key),
                TransactAction::Check { table, key, .. } => of("dynamodb:ConditionCheckItem", table, key),
            };
            transaction.actions.iter().map(one).collect()
        }
        Operation::Query(query) => {
            let equal: Attributes = query
                .key
                .predicates
                .iter()
                .filter_map(|predicate| match &predicate.test {
                    KeyTest::Compare(Comparator::Equal, value) => Some((predicate.attribute.clone(), value.to_tree())),
                    _ => None,
                })
                .collect();
            let resource =
                query.index.as_ref().map_or(query.table.clone(), |index| format!("{}/index/{index}", query.table));
            vec![of("dynamodb:Query", &resource, &equal)]
        }
        Operation::Scan(scan) => {
            let resource =
                scan.index.as_ref().map_or(scan.table.clone(), |index| format!("{}/index/{index}", scan.table));
            vec![Asked { action: "dynamodb:Scan", resource, leading: Vec::new() }]
        }
        _ => Vec::new(),
    }
}

/// Returns whether the text matches a pattern with `*`.
fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|tail| {
            tail.char_indices().map(|(at, _)| at).chain([tail.len()]).any(|at| is_like(rest, &tail[at..]))
        }),
    }
}

/// Returns whether a policy allows a request to a caller with these claims.
fn allows(policy: &Value, asked: &Asked, claims: &Attributes) -> bool {
    let arn = format!("arn:aws:dynamodb:dev:1:table/{}", asked.resource);
    let resolved = |pattern: &Value| {
        let mut pattern = pattern.as_str().unwrap().to_owned();
        for (name, value) in claims {
            if let AttributeValue::S(value) = value {
                pattern = pattern.replace(&format!("${{aws:PrincipalTag/{name}}}"), value);
            }
        }
        pattern
    };
    policy["Statement"].as_array().unwrap().iter().any(|statement| {
        let acts = statement["Action"].as_array().unwrap().iter().any(|action| action == asked.action);
        let keys = &statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
        let like = |key: &String| keys.as_array().unwrap().iter().any(|pattern| is_like(&resolved(pattern), key));
        acts && is_like(statement["Resource"].as_str().unwrap(), &arn)
            && (keys.is_null() || asked.leading.iter().all(like))
    })
}

/// Sets arguments equal to claims where the permission requires it.
fn agree(
    condition: &Expr,
    parameters: &[Parameter],
    caller: &[Field],
    arguments: &mut Attributes,
    claims: &Attributes,
) {
    let ExprKind::Binary(operator, left, right) = &condition.kind else { return };
    if *operator == BinaryOp::And {
        for side in [left, right] {
            agree(side, parameters, caller, arguments, claims);
        }
    }
    let origin = |expr: &Expr| match &expr.kind {
        ExprKind::ValuePath(place) => Some(place.origin.clone()),
        _ => None,
    };
    for (one, other) in [(left, right), (right, left)] {
        if let (Some(Origin::Parameter(parameter)), Some(Origin::Caller(claim))) = (origin(one), origin(other))
            && *operator == BinaryOp::Equal
            && let Some(value) = claims.get(&caller[claim].name)
        {
            arguments.insert(parameters[parameter].arguments[0].clone(), value.clone());
        }
    }
}

/// Returns a call by a permitted caller.
fn permitted(checked: &Checked, parameters: &[Parameter], allow: Option<&Permission>, inputs: &mut Inputs<'_>) -> Call {
    let claims = inputs.caller.clone().into_owned();
    let mut arguments = inputs.arguments.clone().into_owned();
    let caller = checked.model.caller.as_ref().map_or(&[][..], |caller| &caller.fields);
    if let Some(Permission::When(condition)) = allow {
        agree(condition, parameters, caller, &mut arguments, &claims);
    }
    inputs.arguments = std::borrow::Cow::Owned(arguments.clone());
    Call { arguments, caller: Caller::Claims(claims), ..Call::default() }
}

/// Returns the actual requests of a pattern: called by a caller, which evaluates guards, and by the system, which gets
/// further.
async fn requests(runner: &Runner, recorder: &Recorder, name: &str, is_read: bool, call: &Call) -> Vec<Operation> {
    recorder.asked.lock().unwrap().clear();
    let system = Call { caller: Caller::System, ..call.clone() };
    for call in [call, &system] {
        // The store is empty, so most calls find nothing or are refused. Only their requests matter.
        if is_read {
            drop(runner.read(name, call).await);
        } else {
            drop(runner.write(name, call).await);
        }
    }
    std::mem::take(&mut *recorder.asked.lock().unwrap())
}

#[tokio::test]
async fn every_request_of_a_pattern_is_allowed_by_its_policy() {
    let systems = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../systems");
    let mut models = vec![folder().join("shop.kf")];
    models.extend(
        ["agencies", "discord", "helpmaton", "t3nets", "workspaces"]
            .map(|name| systems.join(name).join(format!("{name}.kf"))),
    );
    for file in models {
        let checked = Arc::new(Checked::read(&fs::read_to_string(&file).unwrap()));
        let given: Vec<(&str, &str)> = vec![("stage", "dev"), ("region", "dev"), ("env", "dev"), ("account", "1")];
        let policies: Value = serde_json::from_str(&print("iam", &checked, &given)).unwrap();
        let recorder = Arc::new(Recorder { database: Database::in_memory(), asked: Mutex::default() });
        let field_keys = Some(Arc::new(keyform::runtime::seal::Keyring::generate(&keyform::SystemWorld)));
        let settings = keyform::runtime::run::RunSettings { variables: variables(), field_keys, ..Default::default() };
        let runner = Runner::new(checked.clone(), recorder.clone(), Arc::new(SystemWorld), settings).unwrap();
        runner.create_tables().await.unwrap();
        let (partitions, sample) = (partitions(&checked), Sample::new(&checked.model));
        let mut looked_at = 0;
        let mut check = |name: &str, operations: Vec<Operation>, claims: &Attributes| {
            for asked in operations.iter().flat_map(|operation| asked(operation, &partitions)) {
                looked_at += 1;
                let Asked { action, resource, leading } = &asked;
                let place = file.display();
                let migrating = policies.get("keyform-migrations");
                let granted = [policies.get(name), migrating, policies.get("keyform-models")];
                let is_allowed = granted.into_iter().flatten().any(|policy| allows(policy, &asked, claims));
                assert!(is_allowed, "{place}: {name} may not {action} {resource} {leading:?}");
            }
        };
        for (read, outcome) in checked.model.reads.iter().zip(&checked.plans.reads) {
            let mut inputs = sample.of_read(read);
            let claims = inputs.caller.clone().into_owned();
            let call = permitted(&checked, &read.parameters, read.allow.as_ref(), &mut inputs);
            let mut operations = requests(&runner, &recorder, &read.name, true, &call).await;
            if let keyform_language::plan::ReadOutcome::Planned(plan) = outcome {
                let bound = bind::read(&checked.model, read, plan, &inputs).unwrap();
                operations.extend(bound.request.map(Operation::from));
            }
            check(&read.name, operations, &claims);
        }
        for (write, plan) in checked.model.writes.iter().zip(&checked.plans.writes) {
            let Ok(mut inputs) = sample.of_write(write) else { continue };
            let claims = inputs.caller.clone().into_owned();
            let call = permitted(&checked, &write.parameters, write.allow.as_ref(), &mut inputs);
            let mut operations = requests(&runner, &recorder, &write.name, false, &call).await;
            let bound = plan.as_ref().and_then(|plan| bind::write(&checked.model, write, plan, &inputs).ok());
            operations.extend(bound.and_then(|bound| bound.operation).map(Operation::from));
            check(&write.name, operations, &claims);
        }
        assert!(looked_at > checked.model.reads.len(), "{}: nothing was looked at", file.display());
    }
}
