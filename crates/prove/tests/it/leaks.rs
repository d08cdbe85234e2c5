//! Leaks that the trial finds, each in a model that isolates its tenants without the change.

use keyform_prove::{Kind, prove_with};

use crate::{leaking, proof, reported, transcripts};

const DOCS: &str = r#"model docs

caller userId: ulid, staff: bool global "staff who run the service"

table Docs {
  key pk, sk
  index byDoc (docId)
  index byOrg (orgId)
}

entity Org in Docs {
  key "ORG#{orgId}", "ORG"

  orgId: ulid = ulid()
  name:  string(1..100)
}

entity Member in Docs {
  key "ORG#{orgId}", "MEMBER#{userId}"

  orgId:  ref Org cascade
  userId: ulid
  role:   "owner" | "member" = "member"
}

entity Doc in Docs {
  key "ORG#{orgId}", "DOC#{docId}"

  docId: ulid = ulid()
  orgId: ref Org cascade
  title: string(1..100)
  phone: string(..30)? personal
}

entity Invite in Docs {
  key "INVITE#{code}", "INVITE"

  code:  string(16) bearer = code(16)
  orgId: ref Org cascade immutable grants
}

guard member(orgId) = exists Member(orgId, caller.userId)
guard owner(orgId)  = exists Member(orgId, caller.userId) where role = "owner"

read doc(orgId, docId) -> Doc?             allow member(orgId)
read docs(orgId, docId in docIds) -> [Doc] allow member(orgId)
read docCount(orgId) -> count Doc          allow member(orgId)
read names(orgId) -> Org? select (orgId, name)
  allow public
  unscoped Org "names of organisations are public"
read invite(code) -> Invite?               allow public
read anyDoc(orgId, docId) -> Doc?          allow caller.staff = true

write rename(orgId, docId, title) -> Doc {
  allow member(orgId)
  update Doc(orgId, docId) { title = title } else UnknownDoc
}

write drop(orgId, docId) {
  allow member(orgId)
  delete Doc(orgId, docId) if exists else UnknownDoc
}

write publish(orgId, title) -> Doc {
  allow member(orgId)
  create Doc {} else Exists
}

write addMember(orgId, userId) -> Member {
  allow owner(orgId)
  create Member { role = "member" } else AlreadyMember
}

write setRole(orgId, userId, role) -> Member {
  allow owner(orgId)
  update Member(orgId, userId) { role = role } else UnknownMember
}

write join(code) -> Member {
  allow public
  let found = invite(code) else UnknownInvite
  check Org(found.orgId) exists else UnknownOrg
  create Member { orgId = found.orgId, userId = caller.userId } else AlreadyMember
}
"#;

/// Replaces a part of the model.
fn with(from: &str, to: &str) -> String {
    assert!(DOCS.contains(from), "{from}");
    DOCS.replace(from, to)
}

/// Checks that a change leaks in this pattern and in this way, and that the checker reports the same pattern.
fn check(from: &str, to: &str, pattern: &str, kind: Kind) {
    check_all(from, to, &[pattern], kind);
}

fn check_all(from: &str, to: &str, patterns: &[&str], kind: Kind) {
    let text = with(from, to);
    let proof = proof(&text);
    assert_eq!(leaking(&proof), patterns, "{}", transcripts(&proof));
    assert!(proof.leaks.iter().any(|leak| leak.kind == kind), "{}", transcripts(&proof));
    assert_eq!(reported(&text), patterns, "the checker and the trial agree");
}

#[test]
fn model_with_all_exceptions_has_no_leak() {
    let proof = proof(DOCS);
    assert!(proof.leaks.is_empty(), "{}", transcripts(&proof));
    assert_eq!(reported(DOCS), Vec::<String>::new());
    let closed: Vec<&str> = proof.closed().map(|tried| tried.name.as_str()).collect();
    assert_eq!(closed, ["anyDoc"], "only staff reads it");
    assert!(proof.calls() > 1000, "{}", proof.calls());
}

#[test]
fn read_of_any_tenant_is_found() {
    let any = "allow caller.userId is some";
    check(
        "read doc(orgId, docId) -> Doc?             allow member(orgId)",
        &format!("read doc(orgId, docId) -> Doc? {any}"),
        "doc",
        Kind::Read,
    );
    check(
        "docId in docIds) -> [Doc] allow member(orgId)",
        &format!("docId in docIds) -> [Doc] {any}"),
        "docs",
        Kind::Read,
    );
    check(
        "read docCount(orgId) -> count Doc          allow member(orgId)",
        &format!("read docCount(orgId) -> count Doc {any}"),
        "docCount",
        Kind::Read,
    );
    check(
        "docId in docIds) -> [Doc] allow member(orgId)",
        "docId in docIds) -> [Doc] allow public",
        "docs",
        Kind::Read,
    );
    let across = "read found(docId) -> [Doc] via byDoc, page 5 allow caller.userId is some\nread doc(";
    check("read doc(", across, "found", Kind::Read);
}

#[test]
fn change_of_another_tenants_item_is_found() {
    let rename = "title) -> Doc {\n  allow member(orgId)\n  update";
    check(rename, "title) -> Doc {\n  allow public\n  update", "rename", Kind::Change);
    let drop = "write drop(orgId, docId) {\n  allow member(orgId)";
    check(drop, "write drop(orgId, docId) {\n  allow caller.userId is some", "drop", Kind::Change);
    // The guard is about another organisation than the write.
    check(
        "write drop(orgId, docId) {\n  allow member(orgId)",
        "write drop(orgId, docId, mine: ulid) {\n  allow member(mine)",
        "drop",
        Kind::Change,
    );
}

#[test]
fn item_in_the_scope_of_another_tenant_is_found() {
    let publish = "title) -> Doc {\n  allow member(orgId)\n  create";
    check(publish, "title) -> Doc {\n  allow public\n  create", "publish", Kind::Creation);
}

#[test]
fn right_that_the_caller_does_not_have_is_found() {
    let open = "userId) -> Member {\n  allow owner(orgId)\n  create";
    check(open, "userId) -> Member {\n  allow public\n  create", "addMember", Kind::Right);
    let role = "role) -> Member {\n  allow owner(orgId)";
    check(role, "role) -> Member {\n  allow member(orgId)", "setRole", Kind::Right);
}

/// The guard of the write is satisfied by a role below the one that the caller may choose.
#[test]
fn role_above_the_callers_own_is_found() {
    let roles = |text: &str| {
        text.replace("\"owner\" | \"member\"", "\"guest\" | \"member\" | \"editor\" | \"admin\" | \"owner\"")
    };
    let editor =
        "guard editor(orgId) = exists Member(orgId, caller.userId) where role in (\"editor\", \"owner\")\n\nread doc(";
    let text = roles(&with("read doc(", editor));
    let proof_of = |allow: &str| {
        let add = format!(
            "write addAny(orgId, userId, role) -> Member {{\n  {allow}\n  create Member {{}} else AlreadyMember\n}}\n"
        );
        proof(&format!("{text}\n{add}"))
    };
    let found = proof_of("allow editor(orgId)");
    assert_eq!(leaking(&found), ["addAny"], "{}", transcripts(&found));
    assert!(found.leaks.iter().all(|leak| leak.kind == Kind::Right), "{}", transcripts(&found));
    let found = proof_of("allow owner(orgId)");
    assert!(found.leaks.is_empty(), "{}", transcripts(&found));
}

/// The level that gives the right is the upper bound, which no seed gives to a member.
#[test]
fn number_above_the_callers_own_is_found() {
    let text = with(
        "  role:   \"owner\" | \"member\" = \"member\"\n",
        "  role:   \"owner\" | \"member\" = \"member\"\n  level:  int(0..100) = 0\n",
    );
    let guard = "guard top(orgId) = exists Member(orgId, caller.userId) where level >= 100\n";
    let write = "write setLevel(orgId, userId, level) -> Member {\n  allow member(orgId)\n  update Member(orgId, userId) { level = level } else UnknownMember\n}\n";
    let found = proof(&format!("{text}\n{guard}\n{write}\nread topDoc(orgId, docId) -> Doc? allow top(orgId)\n"));
    assert_eq!(leaking(&found), ["setLevel"], "{}", transcripts(&found));
    assert!(found.leaks.iter().all(|leak| leak.kind == Kind::Right), "{}", transcripts(&found));
}

#[test]
fn exception_that_is_not_declared_is_found() {
    check_all("string(16) bearer = code(16)", "string(16) = code(16)", &["invite", "join"], Kind::Read);
    check("  unscoped Org \"names of organisations are public\"\n", "", "names", Kind::Read);
    check("staff: bool global \"staff who run the service\"", "staff: bool", "anyDoc", Kind::Read);
    let personal = "read all(orgId, docId) -> Doc?\n  allow public\n  unscoped Doc \"open\"\nread doc(";
    check("read doc(", personal, "all", Kind::Private);
}

const TENANTS: &str = r#"model tenants

caller tenant: string(1..40), userId: ulid

table Files { key pk, sk }

entity File in Files {
  key "FILES", "FILE#{tenant}#{fileId}"

  tenant: string(1..40)
  fileId: ulid = ulid()
  title:  string(1..100)
}

read files(mine: string(1..40)) -> [File] page 10
  key "FILES", begins "FILE#{mine}"
  allow mine = caller.tenant
"#;

#[test]
fn name_that_continues_another_is_found() {
    let proof = proof(TENANTS);
    assert_eq!(leaking(&proof), ["files"], "{}", transcripts(&proof));
    let leak = &proof.leaks[0];
    assert_eq!(leak.kind, Kind::Read);
    assert!(leak.tenants[0].contains("#b"), "{leak}");
}

#[test]
fn name_that_differs_in_case_is_found() {
    let text = TENANTS
        .replace("\"FILES\", \"FILE#{tenant}#{fileId}\"", "\"FILES#{tenant:lower}\", \"FILE#{fileId}\"")
        .replace("\"FILES\", begins \"FILE#{mine}\"", "\"FILES#{mine:lower}\", begins \"FILE#\"");
    let proof = proof(&text);
    assert_eq!(leaking(&proof), ["files"], "{}", transcripts(&proof));
}

/// A refusal that tells of another tenant's value is no leak; the owner of the model decides whether it matters.
#[test]
fn unique_value_of_another_tenant_is_noted() {
    let unique = with("  name:  string(1..100)\n", "  name:  string(1..100) unique\n");
    let found = "write found(name) -> Org {\n  allow public\n  create Org {} else NameTaken\n}\n";
    let proof = proof(&format!("{unique}\n{found}"));
    assert!(proof.leaks.is_empty(), "{}", transcripts(&proof));
    let notes: Vec<String> = proof.notes.iter().map(ToString::to_string).collect();
    let told = "`found` tells by `NameTaken` whether an item of another tenant exists";
    assert!(notes.iter().any(|note| note == told), "{notes:?}");
}

#[test]
fn transcript_shows_the_world_the_call_and_the_answer() {
    let text = with(
        "read doc(orgId, docId) -> Doc?             allow member(orgId)",
        "read doc(orgId, docId) -> Doc? allow public",
    );
    let proof = proof(&text);
    let transcript = proof.leaks[0].to_string();
    for part in [
        "`doc` shows items of the other tenant",
        "tenants ",
        "item     Doc {",
        "caller ",
        "call     doc(",
        "answer ",
        "without ",
    ] {
        assert!(transcript.contains(part), "{part} in\n{transcript}");
    }
}

#[test]
fn seed_repeats_the_same_calls() {
    let checked = keyform_check::Checked::read(DOCS);
    let count = |seeds| {
        let proof = prove_with(&checked, &keyform_prove::Options { seeds, progress: None }).expect("the model runs");
        (proof.answers, proof.requests, proof.notes)
    };
    assert_eq!(count(3), count(3));
}
