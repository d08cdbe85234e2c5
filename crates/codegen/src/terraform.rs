//! Generates Terraform resources of the AWS provider for a model's tables. Variables in table names become Terraform
//! variables.

use std::fmt::Write as _;

use keyform_core::operation::CreateTable;
use keyform_core::table::{KeySchema, Projection, TableClass};

use keyform_check::Checked;
use keyform_language::bind;
use keyform_language::schema::{Model, Table};
use keyform_language::span::Spanned;

use super::CodegenSettings;
use super::variable::{self, pieces, snake, written};

/// Minimum provider version, and the minimum for index keys of several attributes.
const VERSION: &str = ">= 5.0";
const VERSION_OF_LONG_KEYS: &str = ">= 6.31";

pub(super) fn print(checked: &Checked, settings: &CodegenSettings) -> Result<String, String> {
    let model = &checked.model;
    let mut out = format!("# The tables of the model {}.\n", model.name);
    provider(model).close(&mut out);
    for name in variable::open(model, &settings.variables) {
        let mut block = Block::new(&format!("variable {}", text(&snake(&name))));
        block.set("type", "string");
        block.set("description", text(&format!("{{{name}}} in the names of tables")));
        block.close(&mut out);
    }
    for table in &model.tables {
        resource(&mut out, table, settings);
    }
    Ok(out)
}

fn provider(model: &Model) -> Block {
    let is_long = |key: &KeySchema| key.partition.len() > 1 || key.sort.len() > 1;
    let requests = model.tables.iter().map(|table| bind::table_request(table, String::new()));
    let mut indexes = requests.flat_map(|request| request.global_indexes);
    let version = if indexes.any(|index| is_long(&index.key)) { VERSION_OF_LONG_KEYS } else { VERSION };
    let mut aws = Block::new("aws =");
    aws.set("source", text("hashicorp/aws"));
    aws.set("version", text(version));
    let mut required = Block::new("required_providers");
    required.add(aws);
    let mut terraform = Block::new("terraform");
    terraform.add(required);
    terraform
}

/// Block with its arguments, whose equal signs are aligned, followed by nested blocks.
struct Block {
    head: String,
    arguments: Vec<(String, String)>,
    blocks: Vec<Block>,
}

impl Block {
    fn new(head: &str) -> Self {
        Self { head: head.to_owned(), arguments: Vec::new(), blocks: Vec::new() }
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.arguments.push((name.to_owned(), value.into()));
    }

    fn add(&mut self, block: Self) {
        self.blocks.push(block);
    }

    fn close(self, out: &mut String) {
        out.push('\n');
        self.write(out, 0);
    }

    fn write(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        push(out, &format!("{indent}{} {{", self.head));
        for (name, value) in &self.arguments {
            push(out, &format!("{indent}  {name:<width$} = {value}"));
        }
        for (number, block) in self.blocks.iter().enumerate() {
            if number > 0 || !self.arguments.is_empty() {
                out.push('\n');
            }
            block.write(out, depth + 1);
        }
        push(out, &format!("{indent}}}"));
    }
}

fn push(out: &mut String, line: &str) {
    writeln!(out, "{line}").expect("writing to a String never fails");
}

/// Formats a string literal; escapes `${` and `%{`, which start a template.
fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out.replace("${", "$${").replace("%{", "%%{")
}

fn list(names: &[String]) -> String {
    format!("[{}]", names.iter().map(|name| text(name)).collect::<Vec<_>>().join(", "))
}

fn resource(out: &mut String, table: &Table, settings: &CodegenSettings) {
    let request = bind::table_request(table, String::new());
    let label = snake(&table.name);
    let mut block = Block::new(&format!("resource \"aws_dynamodb_table\" {}", text(&label)));
    let name = written(&pieces(table, &settings.variables), |variable| format!("${{var.{}}}", snake(variable)));
    block.set("name", format!("\"{name}\""));
    block.set("billing_mode", text(request.billing.name()));
    if let Some(units) = request.throughput {
        block.set("read_capacity", units.read.to_string());
        block.set("write_capacity", units.write.to_string());
    }
    keys(&mut block, &request.key);
    switches(&mut block, &request);
    for (name, kind) in &request.attributes {
        let mut attribute = Block::new("attribute");
        attribute.set("name", text(name));
        attribute.set("type", text(kind.name()));
        block.add(attribute);
    }
    indexes(&mut block, &request);
    let key = settings_of(&mut block, table, &request, &label);
    block.close(out);
    if let Some(key) = key {
        key.close(out);
    }
    outputs(out, table, &label);
}

/// Adds a key. Single attributes are arguments; several attributes, which only indexes have, are blocks.
fn keys(block: &mut Block, key: &KeySchema) {
    if key.partition.len() > 1 || key.sort.len() > 1 {
        let hash = key.partition.iter().map(|name| (name, "HASH"));
        for (name, kind) in hash.chain(key.sort.iter().map(|name| (name, "RANGE"))) {
            let mut element = Block::new("key_schema");
            element.set("attribute_name", text(name));
            element.set("key_type", text(kind));
            block.add(element);
        }
        return;
    }
    if let [name] = key.partition.as_slice() {
        block.set("hash_key", text(name));
    }
    if let [name] = key.sort.as_slice() {
        block.set("range_key", text(name));
    }
}

fn switches(block: &mut Block, request: &CreateTable) {
    if let Some(view) = request.stream {
        block.set("stream_enabled", "true");
        block.set("stream_view_type", text(view.name()));
    }
    if let Some(class) = request.class.filter(|class| *class != TableClass::Standard) {
        block.set("table_class", text(class.name()));
    }
    if request.deletion_protected {
        block.set("deletion_protection_enabled", "true");
    }
}

fn indexes(block: &mut Block, request: &CreateTable) {
    for index in &request.global_indexes {
        let mut entry = Block::new("global_secondary_index");
        entry.set("name", text(&index.name));
        keys(&mut entry, &index.key);
        projection(&mut entry, &index.projection);
        if let Some(units) = index.throughput {
            entry.set("read_capacity", units.read.to_string());
            entry.set("write_capacity", units.write.to_string());
        }
        block.add(entry);
    }
    for index in &request.local_indexes {
        let mut entry = Block::new("local_secondary_index");
        entry.set("name", text(&index.name));
        if let [name] = index.key.sort.as_slice() {
            entry.set("range_key", text(name));
        }
        projection(&mut entry, &index.projection);
        block.add(entry);
    }
}

fn projection(block: &mut Block, projection: &Projection) {
    match projection {
        Projection::All => block.set("projection_type", text("ALL")),
        Projection::KeysOnly => block.set("projection_type", text("KEYS_ONLY")),
        Projection::Include(names) => {
            block.set("projection_type", text("INCLUDE"));
            block.set("non_key_attributes", list(names));
        }
    }
}

/// Adds TTL, recovery and encryption. Returns the data source that looks up the KMS key, because the provider requires
/// its ARN.
fn settings_of(block: &mut Block, table: &Table, request: &CreateTable, label: &str) -> Option<Block> {
    if let Some(Spanned { value: attribute, .. }) = &table.ttl {
        let mut ttl = Block::new("ttl");
        ttl.set("attribute_name", text(attribute));
        ttl.set("enabled", "true");
        block.add(ttl);
    }
    if table.recovery {
        let mut recovery = Block::new("point_in_time_recovery");
        recovery.set("enabled", "true");
        block.add(recovery);
    }
    let sse = request.sse.as_ref()?;
    let mut entry = Block::new("server_side_encryption");
    entry.set("enabled", "true");
    let lookup = sse.kms_key.as_deref().and_then(|key| key_lookup(&mut entry, key, label));
    block.add(entry);
    lookup
}

fn key_lookup(entry: &mut Block, key: &str, label: &str) -> Option<Block> {
    let (data, argument, attribute) = match key {
        key if key.starts_with("arn:") => {
            entry.set("kms_key_arn", text(key));
            return None;
        }
        key if key.starts_with("alias/") => ("aws_kms_alias", "name", "target_key_arn"),
        _ => ("aws_kms_key", "key_id", "arn"),
    };
    entry.set("kms_key_arn", format!("data.{data}.{label}.{attribute}"));
    let mut lookup = Block::new(&format!("data {} {}", text(data), text(label)));
    lookup.set(argument, text(key));
    Some(lookup)
}

fn outputs(out: &mut String, table: &Table, label: &str) {
    let attributes = [("name", true), ("arn", true), ("stream_arn", table.stream.is_some())];
    for (attribute, _) in attributes.into_iter().filter(|(_, wanted)| *wanted) {
        let mut block = Block::new(&format!("output {}", text(&format!("{label}_{attribute}"))));
        block.set("value", format!("aws_dynamodb_table.{label}.{attribute}"));
        block.close(out);
    }
}
