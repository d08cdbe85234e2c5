//! Changes that lose items or do not fit them, and changes that keep them: `check --against` tells them apart.

use keyform_check::{Checked, Options};
use keyform_language::diagnostic::Severity;

const OLD: &str = r#"model reg
table Reg "reg-t" {
  key pk, sk
  index g1 (g1pk, g1sk)
  tag ty
}
entity Emp in Reg {
  key "E#{id}", "E"
  g1 "CITY#{city}", "{id}"
  id: slug(1..9)
  city: slug(1..9)
  rec: { a: int, b: string(1..20)?, in: { n: int(-5..5) }, l: list<{ x: int }>? }
}
read emp(id) -> Emp?
read inCity(city) -> [Emp] via g1, page 50
write make(id, city, rec) -> Emp { create Emp {} else Dup }
"#;

fn errors(old: &str, new: &str) -> Vec<String> {
    let before = Checked::read(old);
    assert!(!before.has_errors(), "{:?}", before.diagnostics);
    let now = Checked::read_with(new, Options { before: Some(&before.model), ..Options::default() });
    let errors = now.diagnostics.iter().filter(|found| found.severity == Severity::Error);
    errors.map(|found| format!("{} {} ({})", found.code.0, found.message, found.primary.text)).collect()
}

fn changed(from: &str, to: &str) -> String {
    assert!(OLD.contains(from), "{from}");
    OLD.replace(from, to)
}

#[test]
fn a_renamed_entity_keeps_its_items_only_with_its_tag() {
    let renamed = OLD.replace("Emp", "Worker");
    let found = errors(OLD, &renamed);
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("M03") && one.contains("the tag \"Emp\"")),
        "{found:?}"
    );
    let kept = renamed.replace("key \"E#{id}\", \"E\"", "tag \"Emp\"\n  key \"E#{id}\", \"E\"");
    assert_eq!(errors(OLD, &kept), [""; 0]);
    // Without a tag attribute, the key decides.
    let untagged = |model: &str| model.replace("  tag ty\n", "");
    assert_eq!(errors(&untagged(OLD), &untagged(&renamed)), [""; 0]);
    // Another entity at other keys is not the renamed one.
    let other = renamed.replace("E#{id}", "W#{id}").replace("CITY#{city}", "WCITY#{city}");
    assert_eq!(errors(OLD, &other), [""; 0]);
}

#[test]
fn a_renamed_entity_loses_its_claims() {
    let model = |name: &str| {
        format!(
            "model m\ntable T {{ key pk }}\nentity {name} in T {{\n  key \"U#{{id}}\"\n  id: ulid\n  mail: email unique\n}}\n"
        )
    };
    let found = errors(&model("User"), &model("Member"));
    let codes: Vec<&str> = found.iter().map(|found| &found[..3]).collect();
    assert_eq!(codes, ["M06"], "{found:?}");
}

#[test]
fn a_tag_attribute_that_items_lack_hides_them_where_a_read_filters_by_it() {
    let model = |tag: &str, rest: &str| {
        format!(
            r#"model m
table T {{
  key pk, sk
  tag {tag}
}}
entity A in T {{
  key "P#{{p}}", "{{id}}"
  p: ulid
  id: slug(1..9)
}}
entity B in T {{
  key "P#{{p}}", "B#{{id}}"
  p: ulid
  id: ulid
}}
read a(p, id) -> A?
read b(p, id) -> B?
{rest}"#
        )
    };
    let filtered = "read as(p) -> [A] page 5\n";
    let found = errors(&model("kind", filtered), &model("ty", filtered));
    assert!(
        matches!(found.as_slice(), [one] if one.starts_with("M03") && one.contains("of A have no tag in `ty`")),
        "{found:?}"
    );
    assert_eq!(errors(&model("kind", ""), &model("ty", "")), [""; 0], "the key decides");
    let evolved = format!("{filtered}evolve A {{\n}}\n");
    assert_eq!(errors(&model("kind", filtered), &model("ty", &evolved)), [""; 0]);
}

#[test]
fn a_change_within_a_record_does_not_fit_existing_items() {
    for (from, to, what) in [
        ("a: int,", "a: int, z: int,", "`z` in it: is new and required"),
        ("b: string(1..20)?", "b: int", "`b` in it: was optional"),
        ("b: string(1..20)?", "b: int?", "`b` in it: the type has changed"),
        ("b: string(1..20)?", "b: string(1..19)?", "`b` in it: now at most 19"),
        ("b: string(1..20)?", "b: string(1..20)", "`b` in it: was optional"),
        ("n: int(-5..5)", "n: int(-4..5)", "`in` in it: `n` in it: now at least -4"),
        ("{ x: int }", "{ x: bool }", "`l` in it: `x` in it: the type has changed"),
        ("{ x: int }", "{ x: int, y: int }", "`l` in it: `y` in it: is new and required"),
    ] {
        let found = errors(OLD, &changed(from, to));
        assert!(matches!(found.as_slice(), [one] if one.starts_with("M03") && one.contains(what)), "{to}: {found:?}");
    }
    for (from, to) in [
        ("a: int,", "a: int, z: int?,"),
        ("a: int,", "a: number,"),
        ("b: string(1..20)?, ", ""),
        ("b: string(1..20)?", "b: string(1..30)?"),
        ("{ x: int }", "{ x: int, y: int? }"),
    ] {
        assert_eq!(errors(OLD, &changed(from, to)), [""; 0], "{to}");
    }
}

#[test]
fn an_existing_index_keeps_its_key_and_its_attributes() {
    for (from, to, what) in [
        ("(g1pk, g1sk)", "(hpk, hsk)", "has the key (g1pk, g1sk)"),
        ("(g1pk, g1sk)", "(g1sk, g1pk)", "has the key (g1pk, g1sk)"),
    ] {
        let found = errors(OLD, &changed(from, to));
        assert!(found.iter().any(|one| one.starts_with("M04") && one.contains(what)), "{to}: {found:?}");
    }
    let named = |index: &str| changed("index g1 (g1pk, g1sk)", index);
    let (keys, city) = ("index g1 (g1pk, g1sk) project (id)", "index g1 (g1pk, g1sk) project (id, city)");
    for (before, after, breaks) in [(keys, city, true), (city, keys, false)] {
        let reading = |model: String| model.replace("[Emp] via g1", "[Emp] via g1 select (id)");
        let found = errors(&reading(named(before)), &reading(named(after)));
        assert_eq!(found.iter().any(|one| one.starts_with("M04")), breaks, "{after}: {found:?}");
    }
    // A new index beside the old one.
    let beside = named("index g1 (g1pk, g1sk)\n  index g2 (g2pk, g2sk)");
    assert_eq!(errors(OLD, &beside), [""; 0]);
}

#[test]
fn a_table_is_compared_by_its_name_in_the_store() {
    let renamed =
        OLD.replace("table Reg ", "table Other ").replace("in Reg", "in Other").replace("key pk, sk", "key pk, tk");
    let found = errors(OLD, &renamed);
    assert!(found.iter().any(|one| one.starts_with("M04") && one.contains("(pk, sk)")), "{found:?}");
}
