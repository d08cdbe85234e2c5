//! Expressions may not reach into key attributes, neither of the table nor of an index.

use crate::support::{TABLE, World, global_index, on_both, simple_table};
use keyform_core::expression::{ConditionKind, Substitutions, parse_condition, parse_projection, parse_update};
use keyform_core::operation::{DeleteItem, GetItem, Scan, UpdateItem};
use keyform_core::table::ScalarType;
use keyform_core::{AttributeValue, Attributes, Operation};

fn key() -> Attributes {
    Attributes::from([("pk".to_owned(), AttributeValue::from("k"))])
}

fn condition(text: &str) -> Option<keyform_core::expression::Condition> {
    Some(parse_condition(text, ConditionKind::Condition, &mut Substitutions::default()).expect("a condition"))
}

fn get(projection: &str) -> Operation {
    let projection = parse_projection(projection, &mut Substitutions::default()).expect("a projection");
    Operation::GetItem(GetItem {
        table: TABLE.to_owned(),
        key: key(),
        projection: Some(projection),
        ..GetItem::default()
    })
}

fn scan(filter: &str) -> Operation {
    Operation::Scan(Scan { filter: condition(filter), ..Scan::of(TABLE) })
}

fn delete(text: &str) -> Operation {
    Operation::DeleteItem(DeleteItem { table: TABLE.to_owned(), key: key(), options: condition(text).into() })
}

fn update(text: &str) -> Operation {
    let update = parse_update(text, &mut Substitutions::default()).expect("an update");
    Operation::UpdateItem(UpdateItem {
        table: TABLE.to_owned(),
        key: key(),
        update: Some(update),
        ..UpdateItem::default()
    })
}

#[test]
fn a_path_into_a_key_attribute_is_refused() {
    on_both(|world: &mut World| {
        let mut request = simple_table();
        request.attributes.insert("g".to_owned(), ScalarType::S);
        request.global_indexes.push(global_index("global", "g"));
        world.create(request);
        let said = |operation: Operation| -> String {
            world
                .database
                .execute_blocking(operation)
                .map_or_else(|error| error.message().to_owned(), |_| "ok".to_owned())
        };
        let start = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
        for (operation, expected) in [
            (get("a, pk.x"), format!("{start}Key: pk")),
            (get("g[0]"), format!("{start}IndexKey: g")),
            (get("a.pk, g"), "ok".to_owned()),
            (scan("attribute_exists(g.x) OR attribute_exists(pk[0])"), format!("{start}Key: pk")),
            (scan("size(g.x) = a"), format!("{start}IndexKey: g")),
            (delete("attribute_exists(pk.x)"), format!("{start}Key: pk")),
            (delete("attribute_not_exists(g)"), "ok".to_owned()),
            (update("SET a = if_not_exists(pk.x, pk)"), format!("{start}Key: pk")),
            (update("REMOVE g.x"), format!("{start}IndexKey: g")),
        ] {
            assert_eq!(said(operation), expected);
        }
    });
}
