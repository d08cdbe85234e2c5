//! Messages as lines, each with a number to refer to it.

use std::collections::HashMap;

use serde_json::Value;

/// Messages displayed when the user enters a channel.
const SHOWN_MAX: usize = 20;

/// Displayed messages of a channel: messages by number, and numbers by the message's key in the live read.
#[derive(Clone, Debug, Default)]
pub(super) struct Transcript {
    shown: Vec<Option<Value>>,
    numbers: HashMap<String, usize>,
}

impl Transcript {
    /// Returns the message with a number.
    pub(super) fn message(&self, number: usize) -> Option<&Value> {
        self.shown.get(number.checked_sub(1)?)?.as_ref()
    }

    pub(super) fn latest(&self) -> Option<&Value> {
        self.shown.iter().flatten().max_by_key(|item| (text(item, "createdAt"), text(item, "messageId")))
    }

    /// Returns the lines of a page, oldest first; skips messages that were displayed before.
    pub(super) fn page(&mut self, rows: &[Value]) -> Vec<String> {
        let news = rows.iter().filter(|row| self.is_news(text(row, "key"), &row["item"]));
        let news: Vec<&Value> = news.take(SHOWN_MAX).collect();
        news.into_iter().rev().map(|row| self.put(text(row, "key"), &row["item"])).collect()
    }

    /// Returns the line of a change, unless it was displayed before.
    pub(super) fn change(&mut self, kind: &str, key: &str, item: &Value) -> Option<String> {
        if kind == "remove" {
            let number = self.numbers.remove(key)?;
            self.shown[number - 1] = None;
            return Some(format!("* message #{number} was deleted"));
        }
        self.is_news(key, item).then(|| self.put(key, item))
    }

    /// Compares `updatedAt`, because the same change may be delivered twice.
    fn is_news(&self, key: &str, item: &Value) -> bool {
        let known = self.numbers.get(key).and_then(|number| self.message(*number));
        known.is_none_or(|known| known != item && text(known, "updatedAt") <= text(item, "updatedAt"))
    }

    fn put(&mut self, key: &str, item: &Value) -> String {
        let known = self.numbers.get(key).copied();
        let number = known.unwrap_or_else(|| {
            self.shown.push(None);
            self.numbers.insert(key.to_owned(), self.shown.len());
            self.shown.len()
        });
        self.shown[number - 1] = Some(item.clone());
        line(number, item)
    }
}

/// Formats a message as a line.
pub(super) fn line(number: usize, item: &Value) -> String {
    let time = text(item, "createdAt").get(11..16).unwrap_or("--:--");
    let edited = if item["edited"] == true { " (edited)" } else { "" };
    let reactions = item["reactions"].as_object().into_iter().flatten();
    let reactions = reactions.filter_map(|(emoji, users)| Some((emoji, users.as_array()?.len())));
    let reactions: String = reactions
        .filter(|(_, count)| *count > 0)
        .map(|(emoji, count)| format!("  [{} {count}]", plain(emoji)))
        .collect();
    format!("#{number} {time} {}: {}{edited}{reactions}", plain(text(item, "username")), plain(text(item, "content")))
}

/// Returns a string field, or an empty string.
pub(super) fn text<'a>(item: &'a Value, field: &str) -> &'a str {
    item[field].as_str().unwrap_or_default()
}

/// Replaces control characters in text of other users, which could manipulate the terminal.
pub(super) fn plain(text: &str) -> String {
    text.replace('\n', " / ")
        .chars()
        .map(|character| if character.is_control() { '\u{fffd}' } else { character })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn message(content: &str, updated: &str) -> Value {
        let at = "2026-11-15T10:00:00.000Z";
        json!({ "username": "ada", "content": content, "createdAt": at, "updatedAt": updated, "reactions": {} })
    }

    #[test]
    fn a_message_has_one_number_and_is_shown_when_it_is_news() {
        let mut transcript = Transcript::default();
        let row = |key: &str, content: &str, updated: &str| json!({ "key": key, "item": message(content, updated) });
        let lines = transcript.page(&[row("b", "second", "2"), row("a", "first", "1")]);
        assert_eq!(lines, ["#1 10:00 ada: first", "#2 10:00 ada: second"]);
        assert_eq!(transcript.change("insert", "b", &message("second", "2")), None);
        let edited = transcript.change("modify", "a", &message("first!", "3"));
        assert_eq!(edited.as_deref(), Some("#1 10:00 ada: first!"));
        assert_eq!(transcript.change("modify", "a", &message("first", "1")), None);
        assert_eq!(transcript.change("remove", "b", &Value::Null).as_deref(), Some("* message #2 was deleted"));
        assert_eq!(transcript.message(2), None);
        assert_eq!(transcript.message(1).map(|item| &item["content"]), Some(&json!("first!")));
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_shown() {
        assert_eq!(plain("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb / c");
    }
}
