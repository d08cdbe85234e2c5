//! Finds tables in NoSQL Workbench models. Facets become entities, and common prefixes of their samples become
//! templates.

use serde_json::Value;

use super::table::{Attribute, Entity, Index, Table, projection, provisioned, strings};

pub(super) fn tables(model: &Value) -> Vec<Table> {
    model.get("DataModel").and_then(Value::as_array).into_iter().flatten().filter_map(table).collect()
}

fn table(value: &Value) -> Option<Table> {
    let name = value.get("TableName")?.as_str()?;
    let (partition, sort) = keys(value.get("KeyAttributes")?);
    let key: Vec<Attribute> = partition.into_iter().chain(sort).collect();
    let others = attributes(value.get("NonKeyAttributes"));
    let facets: Vec<&Value> = value.get("TableFacets").and_then(Value::as_array).into_iter().flatten().collect();
    let global = value.get("GlobalSecondaryIndexes").and_then(Value::as_array).into_iter().flatten();
    let local = value.get("LocalSecondaryIndexes").and_then(Value::as_array).into_iter().flatten();
    let on_demand = value.get("BillingMode").and_then(Value::as_str) == Some("PAY_PER_REQUEST");
    Some(Table {
        name: name.to_owned(),
        physical: Some(name.to_owned()),
        indexes: global
            .filter_map(|line| index(line, false))
            .chain(local.filter_map(|line| index(line, true)))
            .collect(),
        entities: facets.iter().filter_map(|facet| entity(facet, &key, &others)).collect(),
        provisioned: provisioned(value).filter(|_| !on_demand),
        key,
        ..Table::default()
    })
}

fn keys(value: &Value) -> (Option<Attribute>, Option<Attribute>) {
    (value.get("PartitionKey").and_then(attribute), value.get("SortKey").and_then(attribute))
}

fn attribute(value: &Value) -> Option<Attribute> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Some(Attribute { name: text("AttributeName")?, kind: text("AttributeType").unwrap_or_else(|| "S".to_owned()) })
}

fn attributes(value: Option<&Value>) -> Vec<Attribute> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(attribute).collect()
}

fn index(value: &Value, local: bool) -> Option<Index> {
    let (partition, sort) = keys(value.get("KeyAttributes")?);
    Some(Index {
        name: value.get("IndexName")?.as_str()?.to_owned(),
        local,
        partition: partition.into_iter().collect(),
        sort: sort.into_iter().collect(),
        projection: projection(value.get("Projection")),
    })
}

fn entity(facet: &Value, key: &[Attribute], others: &[Attribute]) -> Option<Entity> {
    let name = facet.get("FacetName")?.as_str()?;
    let alias =
        |part: &str| facet.get("KeyAttributeAlias").and_then(|aliases| aliases.get(part)).and_then(Value::as_str);
    let aliases = [alias("PartitionKeyAlias"), alias("SortKeyAlias")];
    let mut fields = Vec::new();
    let mut templates = Vec::new();
    for (attribute, alias) in key.iter().zip(aliases) {
        let field = alias.filter(|alias| !alias.is_empty()).unwrap_or(&attribute.name).to_owned();
        templates.push(format!("{}{{{field}}}", common_prefix(facet, &attribute.name)));
        fields.push(Attribute { name: field, kind: attribute.kind.clone() });
    }
    let wanted = strings(facet.get("NonKeyAttributes"));
    fields.extend(others.iter().filter(|attribute| wanted.contains(&attribute.name)).cloned());
    Some(Entity { name: name.to_owned(), templates, fields })
}

/// Returns the common prefix of all samples of a key up to a delimiter: `USER#` for `USER#1` and `USER#2`.
fn common_prefix(facet: &Value, attribute: &str) -> String {
    let rows = facet.get("TableData").and_then(Value::as_array).into_iter().flatten();
    let mut texts = rows.filter_map(|row| row.get(attribute)?.get("S")?.as_str());
    let Some(first) = texts.next() else { return String::new() };
    let shared = texts.fold(first, |shared, text| {
        let bytes = shared.bytes().zip(text.bytes()).take_while(|(one, other)| one == other).count();
        &shared[..(0..=bytes).rev().find(|&end| shared.is_char_boundary(end)).unwrap_or(0)]
    });
    shared.rfind(['#', '/', '|', ':']).map_or_else(String::new, |end| shared[..=end].to_owned())
}
