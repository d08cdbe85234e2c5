//! Values and the fields that take them: types of defaults, secrets in conditions and keys, what a batch overwrites.

use keyform_check::Checked;
use keyform_language::diagnostic::{Diagnostic, Severity};

/// Returns the codes of errors of a model with these fields and patterns, which may use the key `id`.
fn errors(fields: &str, patterns: &str) -> Vec<&'static str> {
    let text = format!(
        "model m\ncaller userId: slug(1..9)\ntable T {{ key pk, sk }}\nentity E in T {{\n  key \"E#{{id}}\", \"E\"\n  \
         id: slug(1..9)\n  {fields}\n}}\n\
         entity Log in T {{\n  key \"L#{{id}}\", \"L#{{text}}\"\n  id: slug(1..9)\n  text: string(1..80)\n}}\n\
         read logs(id) -> [Log] page 9  allow id = caller.userId\n\
         read e(id) -> E?  allow id = caller.userId\n{patterns}\n"
    );
    let checked = Checked::read(&text);
    let is_error = |it: &&Diagnostic| it.severity == Severity::Error;
    let mut codes: Vec<&str> = checked.diagnostics.iter().filter(is_error).map(|it| it.code.0).collect();
    codes.dedup();
    codes
}

const SECRET: &str = "hash: string(1..80) secret\n  hits: int = 0\n  m: map<string(1..80)>(..5) = {}\n  \
                      pub: string(1..80)?\n  sum: string(64)? secret internal\n  cost: int = 0 internal";

fn update(parameters: &str, body: &str) -> Vec<&'static str> {
    let write = format!(
        "write w(id, {parameters}) idempotent {{\n  allow id = caller.userId\n  let a = e(id) else No\n  {body}\n}}"
    );
    errors(SECRET, &write)
}

#[test]
fn callers_cannot_read_a_secret_out_by_conditions() {
    let hit = |rest: &str| format!("update E(id) {{ hits += 1 }} {rest} else No");
    assert_eq!(update("p: string(1..80)", &hit("if hash begins p")), ["D12"]);
    assert_eq!(update("p: string(1..80)", &hit("if hash = p")), ["D12"]);
    assert_eq!(update("p: string(1..80)", &hit("if pub is some or not hash contains p")), ["D12"]);
    assert_eq!(update("p: string(1..80)", &format!("require a.hash > p else Less\n  {}", hit(""))), ["D12"]);
    assert_eq!(
        update("p: string(1..80)", &format!("let h = a.hash\n  require h > p else Less\n  {}", hit(""))),
        ["D12"]
    );
    assert_eq!(update("p: string(1..80)", &hit("if hash < pub and size(p) > 1")), ["D12"]);
    // Whether there is a value, and whether it is the one that was read, tells nothing.
    assert!(update("p: string(1..80)", &hit("if sum is some and size(p) > 1")).is_empty());
    assert!(update("p: string(1..80)", &hit("if hash = a.hash and size(p) > 1")).is_empty());
    assert!(update("p: string(1..80)", &hit("if sum = hash(p)")).is_empty());
    let system = "write w(id, p: string(1..80)) idempotent { allow system  update E(id) { hits += 1 } if hash begins p else No }";
    assert!(errors(SECRET, system).is_empty());
}

#[test]
fn callers_cannot_compare_what_is_internal() {
    let hit = |rest: &str| format!("update E(id) {{ hits += 1 }} {rest} else No");
    assert_eq!(update("p: int", &hit("if cost < p")), ["P04"]);
    assert_eq!(update("p: int", &format!("require a.cost = p else Other\n  {}", hit(""))), ["P04"]);
    assert!(update("p: int", &format!("require p > 0 else Other\n  {}", hit("if cost < 100"))).is_empty());
    let read = "read r(id, p: int) -> E? where cost > p  allow id = caller.userId";
    assert_eq!(errors(SECRET, read), ["P04"]);
}

#[test]
fn a_secret_becomes_no_key() {
    assert_eq!(update("p: int", "require p > 0 else No\n  upsert Log(id, a.hash) {}"), ["D11"]);
    assert_eq!(update("p: string(1..80)", "update E(id) { m[a.hash] = p } else No"), ["D11"]);
    assert!(update("p: string(1..80)", "update E(id) { m[hash(a.hash)] = p } else No").is_empty());
    assert!(update("p: string(1..80)", "update E(id) { m[p] = p } else No").is_empty());
}

#[test]
fn a_default_that_the_request_computes_fits_its_type() {
    let of = |field: &str| {
        let mut codes = errors(field, "write make(id) { allow id = caller.userId  create E {} else Taken }");
        codes.retain(|code| code.starts_with('D'));
        codes
    };
    for call in ["now()", "now() + 1d", "today()", "ulid()", "uuid()", "token()", "code()"] {
        for kind in [
            "int(0..100)",
            "bool",
            "\"a\" | \"b\"",
            "list<string>",
            "string(1..5)",
            "binary",
            "money",
            "email",
            "number",
        ] {
            assert_eq!(of(&format!("f: {kind} = {call}")), ["D03"], "{kind} = {call}");
        }
    }
    for fitting in [
        "timestamp = now()",
        "date = now()",
        "epoch = now() + 1d",
        "epoch_ms = now()",
        "datetime = now()",
        "string(1..40) = now()",
        "date = today()",
    ] {
        assert!(of(&format!("f: {fitting}")).is_empty(), "{fitting}");
    }
    assert_eq!(of("f: date = today() + 1d"), ["D03"]);
    assert_eq!(of("g: timestamp = now()\n  f: int(0..9) = g + 1d"), ["D03"]);
    assert!(of("g: timestamp = now()\n  f: epoch = g + 1d").is_empty());
    assert_eq!(of("z: int?\n  f: int = z"), ["D03"]);
    assert!(of("z: int = 1\n  f: int = z").is_empty());
    assert!(of("z: int?\n  f: int? = z").is_empty());
}

#[test]
fn an_assignment_that_the_request_computes_fits_its_type() {
    let of = |field: &str, change: &str| {
        errors(field, &format!("write set(id) {{ allow id = caller.userId  update E(id) {{ {change} }} else No }}"))
    };
    assert_eq!(of("f: int(0..9) = 0", "f = now()"), ["D01"]);
    assert_eq!(of("f: bool = false", "f = now() + 1d"), ["D01"]);
    assert_eq!(of("f: date?", "f = today() + 1d"), ["D01"]);
    assert!(of("f: date?", "f = now() + 1d").is_empty());
    assert!(of("f: epoch?", "f = now() + 1d").is_empty());
    assert!(of("g: timestamp = now()\n  f: epoch?", "f = now()").is_empty());
}

#[test]
fn a_required_field_stays_in_records_of_maps_and_lists() {
    let fields = "m: map<{ a: int, b: int? }>(..3) = {}\n  l: list<{ a: int, b: int? }>(..3) = []";
    let of = |change: &str| {
        let write = format!(
            "write cut(id, k: string(1..9)) {{ allow id = caller.userId  update E(id) {{ {change} }} if k != id else No }}"
        );
        errors(fields, &write)
    };
    assert_eq!(of("remove m[k].a"), ["D05"]);
    assert_eq!(of("m[k].a = none"), ["D05"]);
    assert_eq!(of("remove l[0].a"), ["D05"]);
    assert!(of("remove m[k].b").is_empty());
    assert!(of("remove m[k]").is_empty());
}

#[test]
fn a_batch_keeps_nothing_of_the_items_that_it_replaces() {
    let of = |field: &str, verb: &str| {
        errors(
            field,
            &format!("write many(id, owner) batch {{ allow id = caller.userId  {verb} E {{}}  allow W01 \"x\" }}"),
        )
    };
    let owner = "owner: slug(1..9)";
    assert!(of(owner, "put").is_empty());
    for flag in ["owner: slug(1..9) immutable", "owner: slug(1..9)\n  v: int version"] {
        assert_eq!(of(flag, "put"), ["W20"], "{flag}");
        assert_eq!(of(flag, "replace"), ["W20"], "{flag}");
    }
    assert_eq!(of("owner: slug(1..9)\n  at: timestamp created", "put"), ["W20"]);
    assert!(of("owner: slug(1..9)\n  at: timestamp created", "replace").is_empty());
}

#[test]
fn a_write_carries_a_change_to_the_copies() {
    let posts = "name: string(1..20)";
    let of = |set: &str| {
        errors(
            posts,
            &format!(
                "entity Post in T {{\n  key \"E#{{id}}\", \"P#{{postId}}\"\n  id: ref E cascade\n  postId: ulid = ulid()\n  \
                 name: copy E.name refresh\n}}\n\
                 read posts(id) -> [Post] page 50  allow id = caller.userId\n\
                 write rename(id, name, other: string(1..20)) {{\n  allow id = caller.userId\n  let ps = posts(id)\n  \
                 require other != \"\" else No\n  update E(id) {{ name = name }} else No\n  \
                 for p in ps max 50 {{ update Post(id, p.postId) {{ name = {set} }} else No }}\n}}"
            ),
        )
    };
    assert!(of("name").is_empty(), "{:?}", of("name"));
    assert!(of("other").contains(&"D08"));
}

#[test]
fn a_managed_time_is_no_argument() {
    let of = |set: &str| {
        errors(
            "km: int = 0\n  at: timestamp updated",
            &format!(
                "write back(id, at) {{ allow id = caller.userId  update E(id) {{ km = 1, {set} }} if km < 9 and at < at else No }}"
            ),
        )
    };
    assert!(of("at = at").contains(&"D10"));
    assert!(!of("at = now()").contains(&"D10"));
}

#[test]
fn a_step_beyond_the_bounds_is_reported() {
    let of = |kind: &str, change: &str| {
        errors(
            &format!("km: {kind}"),
            &format!("write go(id) idempotent {{ allow id = caller.userId  update E(id) {{ {change} }} else No }}"),
        )
    };
    assert_eq!(of("int(0..100) = 0", "km += 200"), ["D02"]);
    assert_eq!(of("int(0..100) = 0", "km -= 101"), ["D02"]);
    assert!(of("int(0..100) = 0", "km += 100").is_empty());
    assert!(of("int(0..) = 0", "km += 200").is_empty());
}

#[test]
fn an_argument_with_an_unknown_field_is_no_value_of_the_record() {
    let of = |kind: &str| {
        errors(
            "rec: { a: int }?",
            &format!("write set(id, r: {kind}) {{ allow id = caller.userId  update E(id) {{ rec = r }} else No }}"),
        )
    };
    assert_eq!(of("{ a: int, c: int }"), ["D01"]);
    assert!(of("{ a: int }").is_empty());
}
