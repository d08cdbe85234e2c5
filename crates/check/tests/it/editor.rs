//! Editor features. `|` in a model marks the cursor.

use keyform_check::Checked;
use keyform_check::editor::{complete, definition, hover};

const MODEL: &str = r#"model chat

caller userId: ulid

table Chat {
  key   pk, sk
  index gsi1 (gsi1pk, gsi1sk)
}

entity User in Chat {
  key  "USER#{userId}", "PROFILE"
  gsi1 "EMAIL#{email}", "USER#{userId}"

  userId: ulid = ulid()
  email:  email unique
  name:   string(1..32)
}

guard self(userId) = exists User(caller.userId)

/// By the address.
read userByEmail(email) -> User? via gsi1 allow system
read user(userId) -> User? allow public

write rename(userId, name) {
  let user = user(userId) else Unknown
  allow self(userId)
  update User(userId) { name = name }
}
"#;

/// Returns the model with one replacement, and the offset of the cursor in it.
fn cursor(find: &str, with: &str) -> (Checked, usize) {
    assert!(MODEL.contains(find), "{find}");
    let text = MODEL.replacen(find, with, 1);
    let offset = text.find('|').expect("a cursor");
    (Checked::read(&text.replacen('|', "", 1)), offset)
}

fn completed(find: &str, with: &str) -> Vec<String> {
    let (checked, offset) = cursor(find, with);
    complete(&checked, offset).into_iter().map(|completion| completion.label).collect()
}

fn defined(find: &str, with: &str) -> String {
    let (checked, offset) = cursor(find, with);
    let span = definition(&checked, offset).expect("is declared");
    let line = checked.source[..span.start].matches('\n').count() + 1;
    format!("{line}: {}", &checked.source[span.start..span.end])
}

#[test]
fn templates_complete_fields_and_formats() {
    assert_eq!(completed("EMAIL#{email}", "EMAIL#{|}"), ["userId", "email", "name"]);
    assert!(completed("EMAIL#{email}", "EMAIL#{email:|}").contains(&"lower".to_owned()));
}

#[test]
fn words_complete_by_what_stands_before() {
    assert_eq!(completed("via gsi1", "via |"), ["gsi1"]);
    assert_eq!(completed("-> User? allow", "-> | allow"), ["User"]);
    assert_eq!(completed("{ name = name }", "{ name = caller.| }"), ["userId"]);
    assert_eq!(completed("{ name = name }", "{ name = user.| }"), ["userId", "email", "name"]);
    assert!(completed("name:   string(1..32)", "name:   |").contains(&"timestamp".to_owned()));
    assert!(completed("  allow self(userId)", "  |").contains(&"create".to_owned()));
    assert!(completed("allow public", "allow |").contains(&"self".to_owned()));
    assert!(completed("model chat", "|\nmodel chat").contains(&"entity".to_owned()));
}

#[test]
fn names_lead_to_their_declarations() {
    assert_eq!(defined("EMAIL#{email}", "EMAIL#{em|ail}"), "15: email");
    assert_eq!(defined("via gsi1", "via gs|i1"), "7: gsi1");
    assert_eq!(defined("update User", "update Us|er"), "10: User");
    assert_eq!(defined("allow self(userId)", "allow se|lf(userId)"), "19: self");
    assert_eq!(defined("user(userId) else", "us|er(userId) else"), "26: user");
}

#[test]
fn hovers_tell_key_condition_and_cost() {
    let (checked, offset) = cursor("read userByEmail", "read userBy|Email");
    let shown = hover(&checked, offset).unwrap().text;
    assert!(shown.starts_with("**Query** on `Chat` of index `gsi1`"), "{shown}");
    assert!(shown.contains("gsi1pk = \"EMAIL#{email}\""), "{shown}");
    assert!(shown.contains("0.5 read units"), "{shown}");
    assert!(shown.ends_with("By the address."), "{shown}");
    let (checked, offset) = cursor("EMAIL#{email}", "EMAIL#{ema|il}");
    assert_eq!(hover(&checked, offset).unwrap().text, "```kf\nemail: email unique\n```\nof User");
}

#[test]
fn no_offset_is_too_strange() {
    let checked = Checked::read(MODEL);
    for offset in 0..=MODEL.len() + 1 {
        drop(complete(&checked, offset));
        drop(hover(&checked, offset));
        let declared = definition(&checked, offset);
        assert!(declared.is_none_or(|span| span.end <= MODEL.len()));
    }
}
