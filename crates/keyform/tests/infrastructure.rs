//! What others deploy: templates and policies of a model, as they were last read and found good.
//!
//! `KEYFORM_BLESS=1 cargo test -p keyform --test infrastructure` writes them anew; `tools/templates.sh` has the vendors' own tools look at them.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::fs;
use std::path::{Path, PathBuf};

use keyform::model::Checked;
use keyform::model::generate::{Settings, target};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/infrastructure")
}

fn print(name: &str, checked: &Checked, variables: &[(&str, &str)]) -> String {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    (target(name).unwrap().print)(checked, &Settings { variables }).unwrap()
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
