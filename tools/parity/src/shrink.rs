//! Minimises a request that shows a difference.

use serde_json::Value;

use crate::request::Request;

const ATTEMPTS_MAX: usize = 150;

/// Removes members, list elements and words as long as the check still holds.
pub fn shrink(request: &Request, still_shows: &mut dyn FnMut(&Request) -> bool) -> Request {
    let mut best = request.clone();
    let mut attempts = 0;
    loop {
        let smaller = candidates(&best.body).into_iter().find_map(|body| {
            attempts += 1;
            let candidate = Request { body, ..best.clone() };
            (attempts <= ATTEMPTS_MAX && still_shows(&candidate)).then_some(candidate)
        });
        match smaller {
            Some(smaller) if attempts < ATTEMPTS_MAX => best = smaller,
            _ => return best,
        }
    }
}

/// Returns every value with one part less.
fn candidates(value: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    match value {
        Value::Object(map) => {
            for name in map.keys() {
                let mut without = map.clone();
                without.remove(name);
                found.push(Value::Object(without));
            }
            for (name, inner) in map {
                found.extend(candidates(inner).into_iter().map(|smaller| {
                    let mut with = map.clone();
                    with.insert(name.clone(), smaller);
                    Value::Object(with)
                }));
            }
        }
        Value::Array(list) => {
            for index in 0..list.len() {
                let mut without = list.clone();
                without.remove(index);
                found.push(Value::Array(without));
            }
            for (index, inner) in list.iter().enumerate() {
                found.extend(candidates(inner).into_iter().map(|smaller| {
                    let mut with = list.clone();
                    with[index] = smaller;
                    Value::Array(with)
                }));
            }
        }
        _ => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_matter_is_removed() {
        let request = Request::new("PutItem", json!({"a": {"x": 1, "y": [1, 2]}, "b": 2, "c": 3}));
        let smallest = shrink(&request, &mut |candidate| candidate.body["a"]["y"].to_string().contains('2'));
        assert_eq!(smallest.body, json!({"a": {"y": [2]}}));
    }
}
