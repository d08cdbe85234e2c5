//! JSON messages between clients of live reads and the server. `docs/live.md` describes them, `docs/live.schema.json`
//! is their schema.

use keyform_core::AttributeValue;
use keyform_language::schema::Model;
use keyform_runtime::run::json;
use serde_json::{Map, Value, json};

use crate::read::{Delivery, Ended, LiveChange, LiveItem, LivePage};

/// Message from a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Authenticates the client.
    Authenticate {
        /// Bearer token.
        token: String,
    },
    /// Subscribes to a read.
    Subscribe {
        /// Id that the client chose; every message about the subscription carries it.
        id: String,
        /// Name of the read.
        read: String,
        /// Arguments by name, in plain JSON.
        arguments: Map<String, Value>,
        /// Resume token of an earlier subscription.
        token: Option<String>,
    },
    /// Ends a subscription.
    Unsubscribe {
        /// Id that the client chose.
        id: String,
    },
    /// Requests a `pong`.
    Ping,
}

/// Limit of a subscription id.
const ID_CHARS_MAX: usize = 64;

/// Parses a message from a client.
///
/// # Errors
/// Returns the problem, and the subscription id if it could be parsed.
pub fn read(text: &str) -> Result<Request, (Option<String>, String)> {
    let wrong = |why: &str| (None, why.to_owned());
    let Ok(Value::Object(mut message)) = serde_json::from_str(text) else {
        return Err(wrong("a message must be a JSON object"));
    };
    let Some(Value::String(kind)) = message.remove("type") else {
        return Err(wrong("a message needs a `type`: authenticate, subscribe, unsubscribe or ping"));
    };
    let request = match kind.as_str() {
        "ping" => Request::Ping,
        "authenticate" => Request::Authenticate { token: text_of(&mut message, "token").map_err(|why| wrong(&why))? },
        "unsubscribe" => Request::Unsubscribe { id: id_of(&mut message).map_err(|why| wrong(&why))? },
        "subscribe" => {
            let id = id_of(&mut message).map_err(|why| wrong(&why))?;
            subscribe(&mut message, id.clone()).map_err(|why| (Some(id), why))?
        }
        other => {
            return Err(wrong(&format!(
                "unknown message type `{other}`: use authenticate, subscribe, unsubscribe or \
                ping"
            )));
        }
    };
    match message.keys().next() {
        Some(name) => Err(wrong(&format!("`{kind}` does not have a field `{name}`"))),
        None => Ok(request),
    }
}

fn subscribe(message: &mut Map<String, Value>, id: String) -> Result<Request, String> {
    let read = text_of(message, "read")?;
    let arguments = match message.remove("arguments") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(arguments)) => arguments,
        Some(_) => return Err("`arguments` must be an object".to_owned()),
    };
    let token = match message.remove("token") {
        None | Some(Value::Null) => None,
        Some(Value::String(token)) => Some(token),
        Some(_) => return Err("`token` must be a string".to_owned()),
    };
    Ok(Request::Subscribe { id, read, arguments, token })
}

fn id_of(message: &mut Map<String, Value>) -> Result<String, String> {
    let id = text_of(message, "id")?;
    if id.is_empty() || id.chars().count() > ID_CHARS_MAX {
        return Err(format!("`id` must have 1 to {ID_CHARS_MAX} characters"));
    }
    Ok(id)
}

fn text_of(message: &mut Map<String, Value>, name: &str) -> Result<String, String> {
    match message.remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("`{name}` is missing or not a string")),
    }
}

/// Formats the first page.
#[must_use]
pub fn page(model: &Model, id: &str, page: &LivePage) -> String {
    let mut message = json!({ "type": "page", "id": id, "token": page.token });
    match page.count {
        Some(count) => message["count"] = count.into(),
        None => {
            message["items"] = page.items.iter().map(|item| item_json(model, item)).collect();
            message["cursor"] = page.cursor.clone().map_or(Value::Null, Value::String);
        }
    }
    if let Some(why) = page.reset {
        message["reset"] = why.into();
    }
    message.to_string()
}

fn item_json(model: &Model, item: &LiveItem) -> Value {
    let entity = &model.entity(item.found.entity).name;
    let mut shown = json!({ "key": item.key, "entity": entity, "item": json::found(model, &item.found) });
    if let Some(last) = item.expires {
        shown["expires"] = json::to_json(&AttributeValue::from(last));
    }
    shown
}

/// Formats the message that a subscription resumes after a token.
#[must_use]
pub fn resumed(id: &str, token: &str) -> String {
    json!({ "type": "resumed", "id": id, "token": token }).to_string()
}

/// Formats changes. The part that all subscribers of the same read share is serialised once. `counts` leaves items
/// out.
#[must_use]
pub fn changes(model: &Model, id: &str, delivery: &Delivery, counts: bool) -> String {
    let shared = delivery.json.get_or_init(|| {
        let changes: Vec<Value> = delivery.changes.iter().map(|change| change_json(model, change, counts)).collect();
        format!("{},\"token\":{}}}", Value::Array(changes), Value::String(delivery.token.clone()))
    });
    format!("{{\"type\":\"changes\",\"id\":{},\"changes\":{shared}", Value::String(id.to_owned()))
}

fn change_json(model: &Model, change: &LiveChange, counts: bool) -> Value {
    let entity = &model.entity(change.entity).name;
    let mut shown = json!({ "kind": change.kind.name(), "key": change.key, "entity": entity, "at": change.at_ms });
    if let Some(id) = &change.id {
        shown["change"] = id.clone().into();
    }
    if let Some(found) = change.found.as_ref().filter(|_| !counts) {
        shown["item"] = json::found(model, found);
        if let Some(last) = change.expires {
            shown["expires"] = json::to_json(&AttributeValue::from(last));
        }
    }
    shown
}

/// Formats the end of a subscription.
#[must_use]
pub fn ended(id: &str, why: &Ended) -> String {
    let code = match why {
        Ended::Forbidden => "forbidden",
        Ended::Slow => "slow",
        Ended::Feed(_) => "unavailable",
        Ended::Run(_) => "internal",
    };
    ended_as(id, code, &why.to_string())
}

/// Formats the end of a subscription with a code and a message for clients.
#[must_use]
pub fn ended_as(id: &str, code: &str, detail: &str) -> String {
    json!({ "type": "ended", "id": id, "code": code, "detail": detail }).to_string()
}

/// Formats an acknowledgement, such as that of an unsubscribe or a ping.
#[must_use]
pub fn done(kind: &str, id: Option<&str>) -> String {
    let mut message = json!({ "type": kind });
    if let Some(id) = id {
        message["id"] = id.into();
    }
    message.to_string()
}

/// Formats the rejection of a client's message.
#[must_use]
pub fn problem(id: Option<&str>, code: &str, detail: &str) -> String {
    let mut message = json!({ "type": "error", "code": code, "detail": detail });
    if let Some(id) = id {
        message["id"] = id.into();
    }
    message.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_send_is_read_or_refused_in_words() {
        let subscribe = r#"{"type":"subscribe","id":"1","read":"messages","arguments":{"channelId":"c"},"token":null}"#;
        let Ok(Request::Subscribe { id, read: name, arguments, token }) = read(subscribe) else {
            panic!("{subscribe}")
        };
        assert_eq!((id.as_str(), name.as_str(), token), ("1", "messages", None));
        assert_eq!(arguments["channelId"], "c");
        assert_eq!(read(r#"{"type":"ping"}"#), Ok(Request::Ping));
        let check = |text: &str, id: Option<&str>, why: &str| {
            let (about, said) = read(text).expect_err(text);
            assert_eq!(about.as_deref(), id, "{text}");
            assert!(said.contains(why), "{text}: {said}");
        };
        check("no", None, "JSON object");
        check("{}", None, "`type`");
        check(r#"{"type":"dance"}"#, None, "unknown message type `dance`");
        check(r#"{"type":"subscribe","read":"x"}"#, None, "`id` is missing");
        check(r#"{"type":"subscribe","id":"7"}"#, Some("7"), "`read` is missing");
        check(r#"{"type":"subscribe","id":"7","read":"x","arguments":[]}"#, Some("7"), "`arguments` must be an object");
        check(r#"{"type":"subscribe","id":"","read":"x"}"#, None, "1 to 64");
        check(r#"{"type":"ping","x":1}"#, None, "`ping` does not have a field `x`");
    }
}
