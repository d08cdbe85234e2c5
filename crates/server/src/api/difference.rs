//! What a new version of a model changes for its callers.

use std::collections::BTreeMap;
use std::fmt;

use keyform_language::Checked;

/// What a new version of a model changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Patterns that are new.
    pub added: Vec<String>,
    /// Patterns that are gone.
    pub removed: Vec<String>,
    /// Patterns whose text is another.
    pub changed: Vec<String>,
    /// Tables, entities or guards have another text, which may change any pattern.
    pub ground: bool,
}

impl Difference {
    pub(super) fn between(before: Option<&Checked>, after: &Checked) -> Self {
        let (old, new) = (before.map(patterns).unwrap_or_default(), patterns(after));
        let names = |keep: &dyn Fn(&String, &String) -> bool, of: &BTreeMap<String, String>| {
            of.iter().filter(|(name, text)| keep(name, text)).map(|(name, _)| name.clone()).collect()
        };
        Self {
            added: names(&|name, _| !old.contains_key(name), &new),
            removed: names(&|name, _| !new.contains_key(name), &old),
            changed: names(&|name, text| old.get(name).is_some_and(|before| before != text), &new),
            ground: before.is_some_and(|before| ground(before) != ground(after)),
        }
    }

    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("added", &self.added), ("removed", &self.removed), ("changed", &self.changed)];
        let named = parts.iter().filter(|(_, names)| !names.is_empty());
        let mut texts: Vec<String> = named.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
        if self.ground {
            texts.push("tables, entities or guards changed".to_owned());
        }
        f.write_str(if texts.is_empty() { "nothing changed".to_owned() } else { texts.join("; ") }.as_str())
    }
}

/// The text of each pattern.
fn patterns(checked: &Checked) -> BTreeMap<String, String> {
    let model = &checked.model;
    let reads = model.reads.iter().map(|read| (read.name.clone(), checked.words(read.span)));
    let writes = model.writes.iter().map(|write| (write.name.clone(), checked.words(write.span)));
    reads.chain(writes).collect()
}

/// The text of all that patterns stand on.
fn ground(checked: &Checked) -> Vec<String> {
    let model = &checked.model;
    let tables = model.tables.iter().map(|table| table.span);
    let entities = model.entities.iter().map(|entity| entity.span);
    let guards = model.guards.iter().map(|guard| guard.span);
    let caller = model.caller.iter().map(|caller| caller.span);
    tables.chain(entities).chain(guards).chain(caller).map(|span| checked.words(span)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "model shop\n\ntable Orders { key pk }\n\nentity Order in Orders {\n  key \"ORDER#{orderId}\"\n  orderId: ulid = ulid()\n}\n\nread order(orderId) -> Order?\n";

    #[test]
    fn added_removed_and_changed_patterns_are_told() {
        let before = Checked::read(MODEL);
        let check = |text: &str, expected: &str| {
            assert_eq!(Difference::between(Some(&before), &Checked::read(text)).to_string(), expected);
        };
        check(MODEL, "nothing changed");
        check(&MODEL.replace("Order?", "Order? strong"), "changed order");
        check(&MODEL.replace("read order(", "read orderById("), "added orderById; removed order");
        check(&MODEL.replace("= ulid()\n", "= ulid()\n  note: string(..9)?\n"), "tables, entities or guards changed");
        assert_eq!(Difference::between(None, &before).to_string(), "added order");
    }
}
