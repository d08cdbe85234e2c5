//! PartiQL statements, alone, in batches and in transactions.

use serde_json::{Value, json};

use crate::random::Random;
use crate::request::{Reading, Request};
use crate::world::Table;

/// Returns a random request with PartiQL.
pub fn request(random: &mut Random, table: &Table) -> Request {
    match random.weighted(&[6, 2, 2]) {
        0 => {
            let (statement, key) = statement(random, table);
            let reading =
                if statement["Statement"].as_str().is_some_and(is_scan) { Reading::AnyOrder } else { Reading::Exact };
            with_keys(Request::new("ExecuteStatement", statement).read(reading), table, key)
        }
        1 => group(random, table, "BatchExecuteStatement", "Statements"),
        _ => group(random, table, "ExecuteTransaction", "TransactStatements"),
    }
}

fn is_scan(statement: &str) -> bool {
    statement.starts_with("SELECT") && !statement.contains("pk =")
}

fn with_keys(request: Request, table: &Table, key: Option<Value>) -> Request {
    key.into_iter().fold(request, |request, key| request.touching(&table.name, key))
}

fn group(random: &mut Random, table: &Table, operation: &'static str, member: &'static str) -> Request {
    let reads = random.percent(50);
    let mut statements = Vec::new();
    let mut keys = Vec::new();
    for _ in 0..random.between(1, 3) {
        let key = table.random_key(random);
        if !keys.contains(&key) {
            statements.push(if reads { select_one(table, &key) } else { write(random, table, &key) });
            keys.push(key);
        }
    }
    let request = Request::new(operation, json!({ member: statements }));
    keys.into_iter().fold(request, |request, key| request.touching(&table.name, key))
}

fn statement(random: &mut Random, table: &Table) -> (Value, Option<Value>) {
    let key = table.random_key(random);
    match random.below(6) {
        0 => (select_one(table, &key), None),
        1 => (select_partition(random, table, &key), None),
        2 => (json!({"Statement": format!("SELECT * FROM \"{}\"", table.name)}), None),
        _ => (write(random, table, &key), Some(key)),
    }
}

fn select_one(table: &Table, key: &Value) -> Value {
    let (condition, parameters) = whole_key(table, key);
    json!({"Statement": format!("SELECT * FROM \"{}\" WHERE {condition}", table.name), "Parameters": parameters})
}

fn select_partition(random: &mut Random, table: &Table, key: &Value) -> Value {
    let what = random.word(&["*", "pk, a", "doc.x, cnt", "lst[0]"]);
    let more =
        random.word(&["", " AND cnt > 3", " AND begins_with(txt, 'a')", " AND a IS MISSING", " AND cnt IN [1, 2, 3]"]);
    let text = format!("SELECT {what} FROM \"{}\" WHERE pk = ?{more}", table.name);
    json!({"Statement": text, "Parameters": [key[&table.hash.name]]})
}

fn whole_key(table: &Table, key: &Value) -> (String, Vec<Value>) {
    let attributes: Vec<&str> = table.key_attributes().map(|key| key.name.as_str()).collect();
    let condition = attributes.iter().map(|name| format!("{name} = ?")).collect::<Vec<_>>().join(" AND ");
    (condition, attributes.iter().map(|name| key[*name].clone()).collect())
}

fn write(random: &mut Random, table: &Table, key: &Value) -> Value {
    let (condition, parameters) = whole_key(table, key);
    let name = &table.name;
    let text = match random.below(6) {
        0 | 1 => {
            let fields: Vec<String> = table.key_attributes().map(|key| format!("'{}': ?", key.name)).collect();
            let body = random.word(&["'cnt': 5", "'doc': {'x': [1, 'two', true, null]}", "'tags': <<'a', 'b'>>"]);
            format!("INSERT INTO \"{name}\" VALUE {{{}, {body}}}", fields.join(", "))
        }
        2 => format!(
            "DELETE FROM \"{name}\" WHERE {condition}{}",
            random.word(&["", " AND cnt > 3", " RETURNING ALL OLD *"])
        ),
        _ => {
            let action = random.word(&[
                "SET cnt = 7",
                "SET cnt = cnt + 1",
                "REMOVE a",
                "SET doc.x = 'set'",
                "SET a = 'x' SET b = 'y'",
            ]);
            let more = random.word(&["", "", " AND cnt > 3", " RETURNING ALL NEW *", " RETURNING MODIFIED OLD *"]);
            format!("UPDATE \"{name}\" {action} WHERE {condition}{more}")
        }
    };
    json!({"Statement": text, "Parameters": parameters})
}
