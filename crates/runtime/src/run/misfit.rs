//! Describes why a JSON value does not match its type, with the path of the offending part.

use serde_json::Value;

use keyform_language::schema::words::described;
use keyform_language::schema::{Field, Type};

use super::{fits, json};

/// Returns the problem with the value called `name`; `None` if it has the type.
#[must_use]
pub fn misfit(name: &str, value: &Value, kind: &Type) -> Option<String> {
    match (kind.resolved(), value) {
        (Type::Record(fields), Value::Object(parts)) => {
            let unknown = parts.keys().find(|part| !fields.iter().any(|field| field.name == **part));
            if let Some(unknown) = unknown {
                let known: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                return Some(format!("`{name}` has no field `{unknown}`; its fields are {}", known.join(", ")));
            }
            fields.iter().find_map(|field| part(name, parts.get(&field.name), field))
        }
        (Type::List(of, _) | Type::Set(of, _), Value::Array(parts)) => {
            let mut parts = parts.iter().enumerate();
            let within = parts.find_map(|(number, part)| misfit(&format!("{name}[{number}]"), part, of));
            within.or_else(|| whole(name, value, kind))
        }
        (Type::Map(of, _), Value::Object(parts)) => {
            let within = parts.iter().find_map(|(key, part)| misfit(&format!("{name}.{key}"), part, of));
            within.or_else(|| whole(name, value, kind))
        }
        _ => whole(name, value, kind),
    }
}

fn part(name: &str, part: Option<&Value>, field: &Field) -> Option<String> {
    let name = format!("{name}.{}", field.name);
    match part.filter(|part| !part.is_null()) {
        Some(part) => misfit(&name, part, &field.kind),
        None if field.optional || field.null || field.has_source() => None,
        None => Some(format!("`{name}` is missing")),
    }
}

fn whole(name: &str, value: &Value, kind: &Type) -> Option<String> {
    let is_fit = json::from_json(value, kind).is_some_and(|value| fits(&value, kind));
    (!is_fit).then(|| format!("`{name}` is not {}", described(kind)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use keyform_check::Checked;

    const MODEL: &str = r#"model shop
table Shop { key pk }
entity Order in Shop {
  key "{id}"
  id:    slug(1..9)
  lines: list<{ sku: string(1..5), count: int(1..9), note: string? }>(1..2)
  place: { city: string(2..), at: { lat: number }? }?
  tags:  set<email>(..2)?
  more:  map<int>?
  any:   json?
}
"#;

    #[test]
    fn the_place_and_the_bounds_are_told() {
        let checked = Checked::read(MODEL);
        let entity = &checked.model.entities[0];
        let check = |field: &str, value: Value, expected: Option<&str>| {
            let kind = &entity.field(entity.field_named(field).expect("a field")).kind;
            assert_eq!(misfit(field, &value, kind).as_deref(), expected, "{value}");
        };
        check("id", json!("a b"), Some("`id` is not a text of letters, digits, `-`, `_` and `.` of 1 to 9 characters"));
        check("lines", json!([]), Some("`lines` is not a list of 1 to 2 elements"));
        check("lines", json!([{"sku": "a", "count": 1, "note": null}]), None);
        check("lines", json!([{"sku": "a", "count": 10}]), Some("`lines[0].count` is not a whole number from 1 to 9"));
        check("lines", json!([{"sku": "a"}]), Some("`lines[0].count` is missing"));
        check(
            "lines",
            json!([{"sku": "a", "count": 1, "x": 1}]),
            Some("`lines[0]` has no field `x`; its fields are sku, count, note"),
        );
        check("place", json!({"city": "a"}), Some("`place.city` is not a text of at least 2 characters"));
        check("place", json!({"city": "ab", "at": {"lat": true}}), Some("`place.at.lat` is not a number"));
        check("place", json!({"city": "ab", "at": null}), None);
        check("tags", json!([]), None);
        check("tags", json!(["a@b.de", "no"]), Some("`tags[1]` is not an e-mail address"));
        check("more", json!({"a": "b"}), Some("`more.a` is not a whole number"));
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        check("any", deep, Some("`any` is not JSON with at most 31 levels and names of 1 to 65,535 bytes"));
    }
}
