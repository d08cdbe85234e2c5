//! Differences between two versions of a model, as its callers see them.

use std::collections::BTreeMap;
use std::fmt;

use keyform_check::Checked;

/// Changes between two versions of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Patterns that exist only in the new version.
    pub added: Vec<String>,
    /// Patterns that exist only in the old version.
    pub removed: Vec<String>,
    /// Patterns whose source text differs.
    pub changed: Vec<String>,
    /// Set if tables, entities, guards or the caller differ, which may affect any pattern.
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

    /// Returns whether both versions are the same.
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

/// Maps each pattern's name to its source text.
fn patterns(checked: &Checked) -> BTreeMap<String, String> {
    let model = &checked.model;
    let reads = model.reads.iter().map(|read| (read.name.clone(), checked.words(read.span)));
    let writes = model.writes.iter().map(|write| (write.name.clone(), checked.words(write.span)));
    reads.chain(writes).collect()
}

/// Returns the source text of everything that patterns depend on.
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
