//! Verdicts on the patterns of the five systems, and on small models: what each statement about scopes is needed for.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use keyform_check::Checked;

fn system(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../../systems/{name}/{name}.kf"));
    fs::read_to_string(path).expect("a model can be read")
}

/// Returns the patterns with findings about the scope of items, each once.
fn unbound(source: &str) -> BTreeSet<String> {
    let checked = Checked::read(source);
    let is_scope = |code: &str| code == "P01" || code == "P02";
    let found = checked.diagnostics.iter().filter(|finding| is_scope(finding.code.0));
    found.filter_map(|finding| finding.message.split('`').nth(1)).map(str::to_owned).collect()
}

fn check(name: &str, removed: &str, expected: &[&str]) {
    let source = system(name);
    assert!(unbound(&source).is_empty(), "{name}: {:?}", unbound(&source));
    assert!(source.contains(removed), "{name} has no {removed}");
    let found = unbound(&source.replace(removed, ""));
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{name} without {removed}");
}

#[test]
fn every_exception_of_the_systems_is_needed() {
    check("discord", "  unscoped User \"names and pictures are shown next to messages\"\n", &["profile", "usersById"]);
    check("discord", "  unscoped Server \"an invitation shows the name of its server\"\n", &["serversById"]);
    check("discord", " bearer", &["inviteByCode", "joinByInvite"]);
    check("discord", " grants", &["joinByInvite"]);
    check("workspaces", " grants", &["joinByInvite"]);
    check("workspaces", " bearer", &["inviteByCode", "joinByInvite"]);
    let counted = ["addMember", "addOwner", "createAgent", "deleteAgent", "deleteAgentKey", "deleteChannel"];
    let counted = [counted.as_slice(), &["deleteMcpServer", "removeMember", "removeOwner"]].concat();
    check("helpmaton", " grants", &counted);
    let operated = ["identity", "mappingsOfChannel", "setDailyLimit", "setTenantStatus", "tenantById"];
    let operated = [operated.as_slice(), &["tenantOfChannel", "tenants"]].concat();
    check("t3nets", " global \"staff who run the service\"", &operated);
}

const HEAD: &str = r#"
model docs
caller userId: ulid, plan: string(1..20)
table Docs { key pk, sk }
entity Org in Docs {
  key "ORG#{orgId}", "ORG"
  orgId: ulid = ulid()
  plan:  string(1..20)
}
entity Member in Docs {
  key "ORG#{orgId}", "MEMBER#{userId}"
  orgId:  ref Org keep
  userId: ulid
  level:  int(1..3) = 1
}
entity Doc in Docs {
  key "DOC#{docId}", "DOC"
  docId:  ulid = ulid()
  orgId:  ref Org keep
  author: string(1..40)
}
entity Comment in Docs {
  key "DOC#{docId}", "COMMENT#{commentId}"
  docId:     ref Doc keep
  commentId: ulid = ulid()
  text:      string(1..100)
}
guard member(orgId) = exists Member(orgId, caller.userId)
guard editor(orgId) = exists Member(orgId, caller.userId) where level >= 2
read anyDoc(docId) -> Doc? allow system
"#;

/// Checks the verdict on one pattern: the codes about permissions, in order.
fn verdict(pattern: &str, expected: &[&str]) {
    let checked = Checked::read(&format!("{HEAD}{pattern}\n"));
    let mut codes: Vec<&str> = checked.diagnostics.iter().map(|finding| finding.code.0).collect();
    codes.retain(|code| code.starts_with('P') || code.starts_with('N') || code.starts_with('S') || *code == "L02");
    codes.dedup();
    assert_eq!(codes, expected, "{pattern}\n{:#?}", checked.diagnostics);
}

#[test]
fn items_are_bound_by_claims_guards_and_what_was_read() {
    verdict("read docs(docId, orgId) -> Doc? allow member(orgId)", &[]);
    verdict("read docs(docId, orgId) -> Doc? allow public", &["P01"]);
    verdict("read org(orgId) -> Org? allow member(orgId) or caller.plan = \"gold\"", &["P01"]);
    verdict("read orgs(orgId, plan) -> Org? allow plan = caller.plan", &["P01"]);
    verdict("read comments(docId) -> [Comment] page 9 allow member(anyDoc(docId).orgId)", &[]);
    verdict("read comments(docId, orgId: ulid) -> [Comment] page 9 allow member(orgId)", &["P01"]);
    verdict("read mine(docId) -> Doc? where author = caller.userId allow public", &[]);
    verdict("read org(orgId) -> Org? allow member(orgId)\n  unscoped Org \"no need\"", &["L02"]);
}

#[test]
fn writes_are_bound_by_the_stored_and_by_the_new_value() {
    let write = |steps: &str| format!("write w(orgId, docId, other: ulid) {{\n{steps}\n}}");
    let used = "require other != docId else Same\nallow member(orgId)";
    verdict(&write(&format!("{used}\nupdate Doc(docId) {{ author = \"x\" }} else Gone")), &[]);
    verdict(&write(&format!("{used}\nupdate Doc(docId) {{ orgId = other }} else Gone")), &["P01"]);
    verdict(&write(&format!("{used}\ndelete Doc(docId)")), &[]);
    verdict(&write(&format!("{used}\nput Doc {{ author = \"x\" }}")), &[]);
    verdict(&write(&format!("{used}\nput Doc {{ orgId = other, author = \"x\" }}")), &["P01"]);
    let other = "write w(org: ulid, docId, other: ulid) {\n allow member(org)\n";
    verdict(&format!("{other} update Doc(docId, orgId: other) {{ author = \"x\" }} else Gone\n}}"), &["P01"]);
    verdict(&format!("{other} update Doc(docId, orgId: org) {{ author = \"x\" }} else Gone\n}}"), &["P07"]);
}

#[test]
fn new_item_with_a_fresh_id_is_not_placed_in_another_scope() {
    let write =
        |allow: &str| format!("write w(orgId) {{\n allow {allow}\n create Doc {{ author = \"x\" }} else Exists\n}}");
    verdict(&write("public"), &["P01"]);
    verdict(&write("member(orgId)"), &[]);
    // A guard takes the id, so it names a scope, although the plan of an organisation is for all.
    let plans = "read plan(orgId) -> Org? select (orgId, plan) allow public\n unscoped Org \"plans are listed\"";
    verdict(&format!("{plans}\n{}", write("public")), &["P01"]);
    verdict(&format!("{plans}\n{}", write("member(orgId)")), &[]);
}

#[test]
fn what_a_guard_reads_is_granted_only_by_those_who_have_it() {
    let add = |parameters: &str, allow: &str| {
        format!("write add({parameters}) {{\n allow {allow}\n create Member {{}} else Exists\n}}")
    };
    verdict(&add("orgId, userId", "member(orgId)"), &[]);
    verdict(&add("orgId, userId", "userId = caller.userId"), &["P02"]);
    verdict(&add("orgId, userId, level", "member(orgId)"), &["P02"]);
    verdict(&add("orgId, userId, level", "editor(orgId)"), &[]);
    verdict(&add("orgId, userId, level: int(1..1)", "member(orgId)"), &[]);
}

#[test]
fn claims_may_be_arguments_of_guards() {
    let of = "guard of(orgId, userId) = exists Member(orgId, userId)";
    let own = "read docs(orgId, docId) -> Doc? allow of(orgId, caller.userId)";
    verdict(&format!("{of}\n{own}"), &[]);
    verdict(&format!("{of}\nread docs(orgId, docId, user: ulid) -> Doc? allow of(orgId, user)"), &["P03", "P01"]);
    let add = "write add(orgId, userId) { allow of(orgId, caller.userId)  create Member { level = 1 } else Known }";
    verdict(&format!("{of}\n{add}"), &[]);
    let claimed = "guard of(orgId, userId) = exists Member(orgId, userId) where level >= 3";
    verdict(
        &format!(
            "{claimed}\nwrite add(orgId, userId, level) {{ allow member(orgId)  create Member {{}} else Known }}\nread docs(orgId, docId) -> Doc? allow of(orgId, caller.userId)"
        ),
        &["P02"],
    );
}

#[test]
fn rights_are_compared_by_the_values_that_guards_admit() {
    let roles = |pattern: &str| {
        let model = r#"
            model m
            caller userId: ulid, staff: bool
            table T { key pk, sk }
            entity Org in T {
              key "ORG#{orgId}", "ORG"
              orgId:   ulid = ulid()
              ownerId: ulid immutable
            }
            entity Member in T {
              key "ORG#{orgId}", "MEMBER#{userId}"
              orgId:  ref Org keep
              userId: ulid
              role:   "owner" | "editor" | "reader"
            }
            guard any(orgId) = exists Member(orgId, caller.userId)
            guard editor(orgId) = exists Member(orgId, caller.userId) where role in ("owner", "editor")
            guard owner(orgId) = exists Member(orgId, caller.userId) where role = "owner"
            guard founder(orgId) = exists Org(orgId) where ownerId = caller.userId
        "#;
        let checked = Checked::read(&format!("{model}{pattern}"));
        checked.diagnostics.iter().any(|finding| finding.code.0 == "P02")
    };
    let add = |kind: &str, allow: &str, value: &str| {
        roles(&format!("write add(orgId, userId{kind}) {{ allow {allow}  create Member {{ {value} }} else Known }}"))
    };
    assert!(!add(", role: \"editor\" | \"reader\"", "owner(orgId)", ""));
    assert!(!add(", role", "owner(orgId)", ""));
    assert!(add(", role", "editor(orgId)", ""));
    assert!(!add(", role: \"editor\" | \"reader\"", "editor(orgId)", ""));
    assert!(!add(", role: \"reader\"", "any(orgId)", ""));
    assert!(!add(", role", "founder(orgId)", ""));
    assert!(!add(", role", "any(orgId) and caller.staff = true", ""));
    assert!(add("", "any(orgId)", "role = \"owner\""));
    assert!(!add("", "any(orgId)", "role = \"reader\""));
    assert!(!add("", "owner(orgId)", "role = \"owner\""));
}

/// A new id belongs to no scope, so it does not bind the item to one.
#[test]
fn a_new_id_does_not_bind_an_item_that_is_put_under_another() {
    let add =
        |allow: &str| format!("write add(docId, text) -> Comment {{\n {allow}\n create Comment {{}} else Twice\n}}");
    verdict(&add("allow public"), &["P01"]);
    verdict(&add("allow member(anyDoc(docId).orgId)"), &[]);
    verdict("write found(plan) -> Org {\n allow public\n create Org {} else Twice\n}", &[]);
}

/// The fields of an item that a `let` reads reach the caller through what the steps store and compare.
#[test]
fn a_let_that_reads_items_of_any_scope_may_only_use_their_id() {
    let copy = |allow: &str, used: &str| {
        format!(
            "write note(docId) -> Org {{\n let doc = anyDoc(docId) else Gone\n allow {allow}\n create Org {{ plan = {used} }} else Twice\n}}"
        )
    };
    verdict(&copy("public", "doc.author"), &["P01"]);
    verdict(&copy("member(doc.orgId)", "doc.author"), &[]);
    verdict(&copy("public", "\"free\""), &[]);
}

/// A delete of an absent item has compared nothing, but items of another scope may refer to an id like its own.
#[test]
fn a_delete_cascades_only_from_an_item_that_exists() {
    let drop = |condition: &str| {
        format!(
            "entity Room in Docs {{\n key \"ORG#{{orgId}}\", \"ROOM#{{roomId}}\"\n orgId: ref Org keep\n roomId: ulid = ulid()\n}}\n\
             entity Line in Docs {{\n key \"ROOM#{{roomId}}\", \"LINE#{{lineId}}\"\n roomId: ref Room cascade\n lineId: ulid = ulid()\n}}\n\
             write drop(orgId, roomId) {{\n allow member(orgId)\n delete Room(orgId, roomId){condition}\n}}"
        )
    };
    verdict(&drop(""), &["P01"]);
    verdict(&drop(" if exists else Gone"), &[]);
}

/// A `for` over rows, another `let` and a `require` show a foreign item as a step does.
#[test]
fn what_a_let_reads_is_judged_wherever_its_fields_go() {
    let write = |steps: &str| {
        format!(
            "read comments(docId) -> [Comment] page 9 allow system\nwrite w(orgId, docId, prefix: string(1..9)) {{\n allow member(orgId)\n{steps}\n}}"
        )
    };
    let used = "check Org(orgId) exists if plan != prefix else Same";
    let create = "create Doc { docId = ulid(), author";
    verdict(
        &write(&format!("let d = anyDoc(docId) else No\nlet x = d.author\n{used}\n{create} = x }} else Twice")),
        &["P01"],
    );
    verdict(
        &write(&format!(
            "let d = anyDoc(docId) else No\nrequire d.author begins prefix else No\n{create} = \"x\" }} else Twice"
        )),
        &["P01"],
    );
    verdict(
        &write(&format!(
            "let d = anyDoc(docId) else No\nrequire d.orgId = orgId else No\nrequire d.author begins prefix else No\n{create} = \"x\" }} else Twice"
        )),
        &[],
    );
    verdict(
        &write(&format!("let all = comments(docId)\n{used}\nfor c in all max 5 {{ {create} = c.text }} else Twice }}")),
        &["P01"],
    );
}

/// An argument is chosen by the caller, whichever way it reaches the step.
#[test]
fn arguments_are_followed_through_let_and_for() {
    let set =
        |parameters: &str, steps: &str| format!("write set(orgId, {parameters}) {{\n allow member(orgId)\n{steps}\n}}");
    let update = |value: &str| format!("update Member(orgId, userId) {{ level = {value} }} else No");
    verdict(&set("userId, l: int(1..3)", &update("l")), &["P02"]);
    verdict(&set("userId, l: int(1..3)", &format!("let x = l\n{}", update("x"))), &["P02"]);
    verdict(&set("userId, l: int(1..1)", &format!("let x = l\n{}", update("x"))), &[]);
    verdict(&set("userId", &format!("let x = 3\n{}", update("x"))), &["P02"]);
    let rows = |top: u8| {
        set(
            &format!("rows: list<{{ u: ulid, l: int(1..{top}) }}>(..5)"),
            "for r in rows max 5 { update Member(orgId, r.u) { level = r.l } else No }",
        )
    };
    verdict(&rows(3), &["P02"]);
    verdict(&rows(1), &[]);
}

#[test]
fn internal_fields_are_neither_set_nor_compared_by_callers() {
    let file = r#"
        entity File in Docs {
          key "USER#{userId}", "FILE#{fileId}"
          userId: ulid
          fileId: ulid = ulid()
          path:   string(1..64) internal
        }
    "#;
    let write = |steps: &str| format!("{file}\nwrite w(fileId, z: string(1..64)) {{\n allow public\n{steps}\n}}");
    let create = |value: &str| format!("create File {{ userId = caller.userId, path = {value} }} else Twice");
    verdict(&write(&create("z")), &["P04"]);
    verdict(&write(&format!("let y = z\n{}", create("y"))), &["P04"]);
    verdict(&write(&create("hash(z)")), &[]);
    verdict(&write("delete File(caller.userId, fileId, path: z)"), &["P04"]);
    verdict(&write("delete File(caller.userId, fileId) if path = z else No"), &["P04"]);
    verdict(&write("delete File(caller.userId, fileId) if path begins \"a\" and fileId != z else No"), &[]);
    let each = "write all(paths: list<string(1..64)>(..3)) {\n allow public\n for p in paths max 3 { create File { fileId = ulid(), userId = caller.userId, path = p } else Twice }\n}";
    verdict(&format!("{file}\n{each}"), &["P04"]);
}

/// Who holds an item with `grants` is authorised for what it names, so only who is authorised may write the name.
#[test]
fn references_with_grants_are_set_by_authorised_callers_only() {
    let invite = r#"
        entity Invite in Docs {
          key "INVITE#{code}", "INVITE"
          code:   string(32) bearer = token(16)
          orgId:  ref Org keep grants
          byUser: ulid
        }
    "#;
    let mint = |allow: &str| {
        format!(
            "{invite}\nwrite mint(orgId) {{\n allow {allow}\n create Invite {{ byUser = caller.userId }} else Twice\n}}"
        )
    };
    verdict(&mint("public"), &["P02"]);
    verdict(&mint("member(orgId)"), &[]);
    let turn = |allow: &str| {
        format!(
            "{invite}\nwrite turn(code, orgId) {{\n allow {allow}\n update Invite(code) {{ orgId = orgId }} else No\n}}"
        )
    };
    verdict(&turn("public"), &["P02"]);
    verdict(&turn("member(orgId)"), &[]);
    let each = "write each(orgs: list<ulid>(..3)) {\n allow public\n for o in orgs max 3 { upsert Invite(caller.userId) { orgId = o, byUser = caller.userId } }\n}";
    let own = invite.replace("code:   string(32) bearer = token(16)", "code: ulid");
    verdict(&format!("{own}\n{each}"), &["P02"]);
}

/// The request fails unless the item exists with the verified scope, so what refers to its id is in that scope.
#[test]
fn a_checked_item_binds_what_refers_to_it() {
    let edit = |parameters: &str, check: &str| {
        format!(
            "write edit({parameters}, docId, commentId, text) {{\n allow member(orgId)\n {check}\n update Comment(docId, commentId) {{ text = text }} else No\n}}"
        )
    };
    verdict(&edit("orgId", "check Org(orgId) exists else No"), &["P01"]);
    verdict(&edit("orgId", "check Doc(docId) exists else No"), &[]);
    verdict(&edit("orgId", "update Doc(docId) { author = \"x\" } else No"), &[]);
    verdict(&edit("orgId, other: ulid", "update Doc(docId) { orgId = other } else No"), &["P01"]);
}

/// A guard that compares a field with a claim decides by the scope of its item.
#[test]
fn a_field_that_a_guard_compares_with_a_claim_may_be_the_authorised_scope() {
    let guard = "guard mine(docId) = exists Doc(docId) where orgId = caller.org";
    let head = HEAD.replace("plan: string(1..20)\ntable", "plan: string(1..20), org: ulid?\ntable");
    let found = |allow: &str| {
        let write = format!("write add(orgId) {{ allow {allow}  create Doc {{ author = caller.userId }} else Twice }}");
        let checked = Checked::read(&format!("{head}{guard}\n{write}\n"));
        checked.diagnostics.iter().any(|finding| finding.code.0 == "P02")
    };
    assert!(!found("member(orgId)"));
    assert!(found("public"));
}

/// A free text in a key ends where the delimiters after it begin, if nothing after it can contain one.
#[test]
fn an_exact_key_binds_a_free_text_before_a_type_without_delimiters() {
    let model = |folder: &str, id: &str| {
        let (place, argument) = if folder.is_empty() { ("", "") } else { ("{folder}#", ", folder") };
        format!(
            r#"
            model files
            caller tenant: string(1..20)
            table Files {{ key pk, sk }}
            entity Doc in Files {{
              key "DOCS", "{place}DOC#{{tenant}}#{{docId}}"
              tenant: string(1..20)
              docId:  {id}
              folder: string(1..20)
              body:   string(1..50)
            }}
            write edit(tenant, docId, body{argument}) {{
              allow tenant = caller.tenant
              update Doc(tenant, docId{argument}) {{ body = body }} else No
            }}
            "#
        )
    };
    assert!(unbound(&model("", "slug(1..20)")).is_empty());
    assert!(!unbound(&model("", "string(1..20)")).is_empty());
    assert!(!unbound(&model("folder", "slug(1..20)")).is_empty());
    let checked = Checked::read(&model("", "string(1..20)"));
    let finding = checked.diagnostics.iter().find(|finding| finding.code.0 == "P01").expect("P01 is found");
    assert!(format!("{:?}", finding.notes).contains("have the same key"), "{:?}", finding.notes);
}

#[test]
fn items_without_a_scope_neither_show_nor_compare_private_fields() {
    let user = |flag: &str| {
        format!(
            "entity User in Docs {{\n key \"USER#{{userId}}\", \"USER\"\n userId: ulid\n phone: string(1..20) {flag}\n name: string(1..20)\n}}\n"
        )
    };
    let of = |flag: &str, pattern: &str, expected: &[&str]| verdict(&format!("{}{pattern}", user(flag)), expected);
    let clause = "unscoped User \"names are for all\"";
    // A `secret` field is never returned.
    for (flag, expected) in [("personal", &["P10"][..]), ("secret", &[])] {
        of(flag, &format!("read u(userId) -> User? allow public\n {clause}"), expected);
        of(flag, &format!("read u(userId) -> User? select (userId, name) allow public\n {clause}"), &[]);
    }
    of(
        "personal",
        &format!("read n(userId, p: string) -> count User where phone begins p allow public\n {clause}"),
        &["P10"],
    );
    let rename = |result: &str| {
        format!(
            "write rename(userId, name){result} {{\n allow public\n {clause}\n update User(userId) {{ name = name }} else No\n}}"
        )
    };
    of("personal", &rename(" -> User"), &["P10"]);
    of("personal", &rename(""), &[]);
    of("secret", &rename(" -> User"), &[]);
    of(
        "personal",
        &format!("write drop(userId) -> User {{\n allow public\n {clause}\n delete User(userId)\n}}"),
        &["P10"],
    );
}
