//! Items that belong to others: references that a write checks or compares, and what a delete leaves.

use keyform_check::Checked;

const HEAD: &str = r#"
model m
caller orgId: slug(3..20), userId: ulid
table T "teams" {
  key pk, sk
  index byTeam (teamPk, teamSk)
  stream new_and_old
}
entity Team in T {
  key "ORG#{orgId}", "TEAM#{teamId}"
  orgId:  slug(3..20)
  teamId: ulid = ulid()
  name:   string(1..50) personal
  size:   int(0..100) = 0
}
guard lead(orgId, teamId) = exists Team(orgId, teamId) where name = caller.userId
"#;

/// Returns the codes of rules W23 to W29 for a model of teams and one more entity.
fn codes(entity: &str, patterns: &str) -> Vec<&'static str> {
    let checked = Checked::read(&format!("{HEAD}{entity}\n{patterns}\n"));
    let syntax = checked.diagnostics.iter().find(|it| it.code.0.starts_with('S') || it.code.0.starts_with('N'));
    assert!(syntax.is_none(), "{patterns}: {syntax:?}");
    let mut codes: Vec<&str> = checked.diagnostics.iter().map(|it| it.code.0).collect();
    codes.retain(|code| ("W23"..="W29").contains(code));
    codes.dedup();
    codes
}

fn task(reference: &str) -> String {
    format!(
        "entity Task in T {{\n key \"ORG#{{orgId}}\", \"TASK#{{taskId}}\"\n byTeam \"TEAM#{{orgId}}#{{teamId}}\", \"{{taskId}}\"\n \
         orgId: slug(3..20)\n taskId: ulid = ulid()\n teamId: {reference}\n note: string(1..50)? personal\n done: int(0..9) = 0\n}}"
    )
}

#[test]
fn references_from_arguments_are_checked() {
    let add =
        |steps: &str| codes(&task("ref Team"), &format!("write add(orgId, teamId) {{\n{steps}\ncreate Task {{}}\n}}"));
    let scope = "allow orgId = caller.orgId";
    assert_eq!(add(scope), ["W23"]);
    assert_eq!(add("allow system"), ["W23"]);
    assert!(add(&format!("{scope}\ncheck Team(orgId, teamId) exists else Unknown")).is_empty());
    assert!(add(&format!("{scope}\nupdate Team(orgId, teamId) {{ size += 1 }} else Unknown")).is_empty());
    assert!(add("allow orgId = caller.orgId and lead(orgId, teamId)").is_empty());
    assert_eq!(add(&format!("{scope}\ncheck Team(orgId, teamId) absent else Known")), ["W23"]);
    let kept = "write add(orgId, teamId) { allow orgId = caller.orgId  create Task {} }";
    assert!(codes(&task("ref Team keep"), kept).is_empty());
    assert_eq!(codes(&task("ulid"), kept), ["W23"]);
}

#[test]
fn deletes_know_the_items_that_belong_to_the_deleted_one() {
    let drop = "write drop(orgId, teamId) { allow orgId = caller.orgId  delete Team(orgId, teamId) }";
    assert_eq!(codes(&task("ulid"), drop), ["W24"]);
    assert_eq!(codes(&task("ref Team keep"), drop), ["W25"]);
    assert!(codes(&task("ref Team cascade"), drop).is_empty());
    assert!(codes(&task("ref Team restrict"), drop).is_empty());
    let both = "write drop(orgId, teamId, taskId) { allow orgId = caller.orgId  delete Team(orgId, teamId)  delete Task(orgId, taskId) if teamId = teamId else Other }";
    assert!(!codes(&task("ulid"), both).contains(&"W24"));
}

#[test]
fn changes_reach_the_reads_that_return_them() {
    let of = |line: &str| {
        let reads = "read tasks(orgId, teamId) -> [Task] via byTeam, page 9 allow orgId = caller.orgId\n\
                     read team(orgId, teamId) -> Team? allow orgId = caller.orgId";
        codes(&task("ref Team keep"), &format!("{reads}\n{line}"))
    };
    assert!(of("on Task insert -> live tasks(orgId, teamId)").is_empty());
    assert_eq!(of("on Task insert -> live team(orgId, teamId)"), ["W26"]);
    assert_eq!(of("on Task insert -> live tasks(teamId, orgId)"), ["W26"]);
    assert_eq!(of("on Task expire -> handler gone needs old"), ["W26"]);
}

#[test]
fn arguments_do_not_replace_counts() {
    let of = |set: &str| {
        let count = "write count(orgId, teamId) { allow orgId = caller.orgId  update Team(orgId, teamId) { size += 1 } else Unknown }";
        codes(
            &task("ref Team keep"),
            &format!(
                "{count}\nwrite put(orgId, teamId, size, seen: int(0..100)) {{ allow orgId = caller.orgId  {set} }}"
            ),
        )
    };
    assert_eq!(of("require seen > 0 else Wrong  update Team(orgId, teamId) {} else Unknown"), ["W27"]);
    assert!(of("update Team(orgId, teamId) { size = size } else Unknown if size = seen else Changed").is_empty());
    assert!(of("require seen > 0 else Wrong  require size > 0 else Wrong  update Team(orgId, teamId) { size = 0 } else Unknown").is_empty());
}

#[test]
fn related_items_are_compared() {
    let of = |steps: &str| {
        let write = format!("write finish(orgId, taskId, team: ulid) {{\nallow orgId = caller.orgId\n{steps}\n}}");
        codes(&task("ref Team keep"), &write)
    };
    let team = "update Team(orgId, team) { size -= 1 } else Unknown";
    assert_eq!(of(&format!("update Task(orgId, taskId) {{ done = 1 }} else Unknown\n{team}")), ["W29"]);
    assert!(
        of(&format!("update Task(orgId, taskId) {{ done = 1 }} else Unknown if teamId = team else Other\n{team}"))
            .is_empty()
    );
    assert!(of(&format!("update Task(orgId, taskId, teamId: team) {{ done = 1 }} else Unknown\n{team}")).is_empty());
}
