//! Generates a CloudFormation template (YAML) of a model's tables. Variables in table names become parameters.
//!
//! Tables are retained when the stack is deleted, so that a stack operation cannot lose data. CloudFormation requires
//! tables with indexes to be created one after the other, so each depends on the previous one.

use keyform_core::operation::CreateTable;
use keyform_core::table::{KeySchema, Projection, TableClass, Throughput};
use serde_yaml_ng::{Mapping, Value};

use keyform_check::Checked;
use keyform_language::bind;
use keyform_language::schema::Table;
use keyform_language::span::Spanned;

use super::CodegenSettings;
use super::variable::{self, Piece, camel, pieces, written};

pub(super) fn print(checked: &Checked, settings: &CodegenSettings) -> Result<String, String> {
    let model = &checked.model;
    let mut template = Mapping::new();
    put(&mut template, "AWSTemplateFormatVersion", "2010-09-09");
    put(&mut template, "Description", format!("The tables of the model {}", model.name));
    let open = variable::open(model, &settings.variables);
    if !open.is_empty() {
        put(&mut template, "Parameters", parameters(&open));
    }
    let mut resources = Mapping::new();
    let mut outputs = Mapping::new();
    let mut before: Option<String> = None;
    for table in &model.tables {
        let logical = camel(&table.name);
        put(&mut resources, &logical, resource(table, settings, before.as_deref()));
        for (name, value) in output(table, &logical) {
            put(&mut outputs, &name, value);
        }
        if !table.indexes.is_empty() {
            before = Some(logical);
        }
    }
    put(&mut template, "Resources", resources);
    put(&mut template, "Outputs", outputs);
    serde_yaml_ng::to_string(&template).map_err(|error| error.to_string())
}

fn put(map: &mut Mapping, name: &str, value: impl Into<Value>) {
    map.insert(Value::from(name), value.into());
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Mapping {
    entries.into_iter().map(|(name, value)| (Value::from(name), value)).collect()
}

fn parameters(open: &[String]) -> Mapping {
    let parameter = |name: &String| {
        let about = map([
            ("Type", "String".into()),
            ("Description", format!("{{{name}}} in the names of tables").into()),
            ("AllowedPattern", "[a-zA-Z0-9_.-]+".into()),
        ]);
        (Value::from(camel(name)), Value::from(about))
    };
    open.iter().map(parameter).collect()
}

fn resource(table: &Table, settings: &CodegenSettings, before: Option<&str>) -> Mapping {
    let mut resource = map([
        ("Type", "AWS::DynamoDB::Table".into()),
        ("DeletionPolicy", "Retain".into()),
        ("UpdateReplacePolicy", "Retain".into()),
    ]);
    if let Some(before) = before.filter(|_| !table.indexes.is_empty()) {
        put(&mut resource, "DependsOn", before);
    }
    put(&mut resource, "Properties", properties(table, settings));
    resource
}

fn properties(table: &Table, settings: &CodegenSettings) -> Mapping {
    let request = bind::table_request(table, String::new());
    let mut out = Mapping::new();
    put(&mut out, "TableName", name(&pieces(table, &settings.variables)));
    let definition = |(name, kind): (&String, &keyform_core::table::ScalarType)| {
        Value::from(map([("AttributeName", name.clone().into()), ("AttributeType", kind.name().into())]))
    };
    put(&mut out, "AttributeDefinitions", request.attributes.iter().map(definition).collect::<Vec<_>>());
    put(&mut out, "KeySchema", key(&request.key));
    put(&mut out, "BillingMode", request.billing.name());
    if let Some(units) = request.throughput {
        put(&mut out, "ProvisionedThroughput", throughput(units));
    }
    indexes(&mut out, &request);
    settings_of(&mut out, table, &request);
    out
}

/// Returns a plain string, or `Fn::Sub` for a name with variables.
fn name(pieces: &[Piece]) -> Value {
    let text = written(pieces, |variable| format!("${{{}}}", camel(variable)));
    match pieces.iter().any(|piece| matches!(piece, Piece::Variable(_))) {
        true => map([("Fn::Sub", text.into())]).into(),
        false => text.into(),
    }
}

fn key(key: &KeySchema) -> Vec<Value> {
    let element = |name: &String, kind: &str| {
        Value::from(map([("AttributeName", name.clone().into()), ("KeyType", kind.into())]))
    };
    let partition = key.partition.iter().map(|name| element(name, "HASH"));
    partition.chain(key.sort.iter().map(|name| element(name, "RANGE"))).collect()
}

fn throughput(units: Throughput) -> Mapping {
    map([("ReadCapacityUnits", units.read.into()), ("WriteCapacityUnits", units.write.into())])
}

fn projection(projection: &Projection) -> Mapping {
    match projection {
        Projection::All => map([("ProjectionType", "ALL".into())]),
        Projection::KeysOnly => map([("ProjectionType", "KEYS_ONLY".into())]),
        Projection::Include(names) => {
            let names: Vec<Value> = names.iter().cloned().map(Value::from).collect();
            map([("ProjectionType", "INCLUDE".into()), ("NonKeyAttributes", names.into())])
        }
    }
}

fn indexes(out: &mut Mapping, request: &CreateTable) {
    let index = |name: &String, schema: &KeySchema, copied: &Projection| {
        map([
            ("IndexName", name.clone().into()),
            ("KeySchema", key(schema).into()),
            ("Projection", projection(copied).into()),
        ])
    };
    let global = request.global_indexes.iter().map(|global| {
        let mut entry = index(&global.name, &global.key, &global.projection);
        if let Some(units) = global.throughput {
            put(&mut entry, "ProvisionedThroughput", throughput(units));
        }
        Value::from(entry)
    });
    let local =
        request.local_indexes.iter().map(|local| Value::from(index(&local.name, &local.key, &local.projection)));
    let (global, local): (Vec<Value>, Vec<Value>) = (global.collect(), local.collect());
    if !global.is_empty() {
        put(out, "GlobalSecondaryIndexes", global);
    }
    if !local.is_empty() {
        put(out, "LocalSecondaryIndexes", local);
    }
}

fn settings_of(out: &mut Mapping, table: &Table, request: &CreateTable) {
    if let Some(Spanned { value: attribute, .. }) = &table.ttl {
        let ttl = map([("AttributeName", attribute.clone().into()), ("Enabled", true.into())]);
        put(out, "TimeToLiveSpecification", ttl);
    }
    if let Some(view) = request.stream {
        put(out, "StreamSpecification", map([("StreamViewType", view.name().into())]));
    }
    if let Some(sse) = &request.sse {
        let mut entry = map([("SSEEnabled", true.into()), ("SSEType", "KMS".into())]);
        if let Some(key) = &sse.kms_key {
            put(&mut entry, "KMSMasterKeyId", key.clone());
        }
        put(out, "SSESpecification", entry);
    }
    if let Some(class) = request.class.filter(|class| *class != TableClass::Standard) {
        put(out, "TableClass", class.name());
    }
    if table.recovery {
        put(out, "PointInTimeRecoverySpecification", map([("PointInTimeRecoveryEnabled", true.into())]));
    }
    if request.deletion_protected {
        put(out, "DeletionProtectionEnabled", true);
    }
}

fn output(table: &Table, logical: &str) -> Vec<(String, Mapping)> {
    let reference = map([("Ref", logical.into())]);
    let attribute = |name: &str| -> Mapping {
        let path: Vec<Value> = vec![logical.into(), name.into()];
        map([("Fn::GetAtt", path.into())])
    };
    let mut outputs = vec![
        (format!("{logical}Name"), map([("Value", reference.into())])),
        (format!("{logical}Arn"), map([("Value", attribute("Arn").into())])),
    ];
    if table.stream.is_some() {
        outputs.push((format!("{logical}StreamArn"), map([("Value", attribute("StreamArn").into())])));
    }
    outputs
}
