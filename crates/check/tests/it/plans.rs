//! Read planning: the request of a read or its obstacles. One model, many reads.

use keyform_check::Checked;
use keyform_check::explain::words;
use keyform_language::plan::ReadOutcome;

const MODEL: &str = r#"
model plans

table T {
  key    pk, sk
  index  gsi1 (gsi1pk, gsi1sk)
  index  byScore (team, score)
  index  byPlace (country + city, kind + built)
  tag    kindOf
}

entity Server in T {
  key   "SERVER#{serverId}", "META"

  serverId: ulid = ulid()
  name:     string(1..50)
}

entity Channel in T {
  key   "SERVER#{serverId}", "CHANNEL#{channelId}"
  gsi1  "CHANNEL#{channelId}", "META"

  serverId:  ref Server cascade
  channelId: ulid = ulid()
  name:      string(1..50)
}

entity LastRead in T {
  key   "USER#{userId}", "LASTREAD#{channelId}"
  gsi1  "CHANNEL#{channelId}", "USER#{userId}"

  userId:    ulid
  channelId: ref Channel cascade
}

entity Message in T {
  key   "CHANNEL#{channelId}", "MSG#{createdAt:ms}#{messageId}"

  channelId: ref Channel cascade
  messageId: ulid = ulid()
  createdAt: timestamp created
  author:    string(1..20)
}

entity Page in T {
  key   "BOOK#{book}", "{title}#{number:pad(4)}"

  book:   slug(1..9)
  title:  string(1..50)
  number: int(0..9999)
}

entity Player in T {
  key   "PLAYER#{name}", "PLAYER"

  name:  slug(1..9)
  team:  slug(1..9)
  score: int
}

entity House in T {
  key   "HOUSE#{house}", "HOUSE"

  house:   ulid
  country: slug(2)
  city:    slug(1..9)
  kind:    "flat" | "farm"
  built:   date
}
"#;

/// Compares the plan in words, one line each, or the codes of the findings about the read.
fn check(read: &str, expected: &[&str]) {
    let text = format!("{MODEL}\nread {read}\n");
    let checked = Checked::read(&text);
    let (last, outcome) = (checked.model.reads.last(), checked.plans.reads.last());
    let actual: Vec<String> = match (last, outcome) {
        (Some(read), Some(ReadOutcome::Planned(plan))) => words::of_read(&checked.model, read, plan),
        _ => {
            let errors = checked.diagnostics.iter().filter(|finding| finding.code.0.starts_with('A'));
            let errors = errors.filter(|finding| finding.code.0 != "A15");
            errors.map(|finding| format!("{}: {}", finding.code, finding.help.clone().unwrap_or_default())).collect()
        }
    };
    assert_eq!(actual, expected, "{read}");
}

#[test]
fn whole_keys_are_got() {
    check("r(serverId) -> Server?", &["GetItem of table T", "pk = \"SERVER#{serverId}\"", "sk = \"META\""]);
    check(
        "r(serverId in serverIds) -> [Server]",
        &["BatchGetItem of table T, up to 100 keys a request", "pk = \"SERVER#{serverIds}\"", "sk = \"META\""],
    );
    check(
        "r(serverId: ulid) -> Server? key \"SERVER#{serverId}\", \"META\"",
        &["GetItem of table T", "pk = \"SERVER#{serverId}\"", "sk = \"META\""],
    );
}

#[test]
fn a_prefix_ends_with_its_delimiter() {
    check(
        "r(serverId) -> [Channel] page 9",
        &["Query of table T", "pk = \"SERVER#{serverId}\"", "sk begins with \"CHANNEL#\"", "9 items a page"],
    );
    check(
        "r(channelId, createdAt) -> [Message] all",
        &["Query of table T", "pk = \"CHANNEL#{channelId}\"", "sk begins with \"MSG#{createdAt:ms}#\""],
    );
}

#[test]
fn ranges_are_closed_by_their_prefix() {
    let with = |range: &str, expected: &str| {
        let read = format!("r(channelId, {range}) -> [Message] all");
        check(&read, &["Query of table T", "pk = \"CHANNEL#{channelId}\"", expected]);
    };
    with("createdAt > a", "sk between \"MSG#{a:ms}$\" and \"MSG$\"");
    with("createdAt >= a", "sk between \"MSG#{a:ms}\" and \"MSG$\"");
    with("createdAt < b", "sk between \"MSG#\" and \"MSG#{b:ms}\"");
    with("createdAt <= b", "sk between \"MSG#\" and \"MSG#{b:ms}$\"");
    with("createdAt between a and b", "sk between \"MSG#{a:ms}\" and \"MSG#{b:ms}$\"");
    with("createdAt > a, createdAt < b", "sk between \"MSG#{a:ms}$\" and \"MSG#{b:ms}\"");
}

#[test]
fn numbers_and_keys_of_several_attributes_have_ranges() {
    check(
        "r(team, score > least) -> [Player] via byScore all",
        &["Query of index byScore of table T", "team = \"{team}\"", "score > \"{least}\""],
    );
    check(
        "r(country, city, kind, built >= since) -> [House] via byPlace all",
        &[
            "Query of index byPlace of table T",
            "country = \"{country}\"",
            "city = \"{city}\"",
            "kind = \"{kind}\"",
            "built >= \"{since}\"",
        ],
    );
}

#[test]
fn several_entities_share_what_their_keys_begin_with() {
    check("r(serverId) -> Server + [Channel] all", &["Query of table T", "pk = \"SERVER#{serverId}\""]);
    check(
        "r(channelId) -> Channel? + [LastRead] via gsi1 all",
        &["Query of index gsi1 of table T", "gsi1pk = \"CHANNEL#{channelId}\""],
    );
}

#[test]
fn the_first_of_an_order_is_a_page_of_one() {
    check(
        "r(channelId) -> Message? newest first",
        &[
            "Query of table T",
            "pk = \"CHANNEL#{channelId}\"",
            "sk begins with \"MSG#\"",
            "descending by sort key, one item",
        ],
    );
}

#[test]
fn what_is_in_the_way_is_named_with_what_would_help() {
    check(
        "r(channelId) -> Channel?",
        &["A01: read it `via gsi1`, whose key matches the parameters; or take `serverId` as a parameter"],
    );
    check(
        "r(author) -> [Message] all",
        &[
            "A01: add `gsi1 \"AUTHOR#{author}\", \"MESSAGE#{messageId}\"` to Message and read it `via gsi1`; or take `channelId` as a parameter",
        ],
    );
    check(
        "r(name) -> [Channel] all",
        &["A01: add `index byName (name)` to table T and read it `via byName`; or take `serverId` as a parameter"],
    );
    check(
        "r(channelId, author) -> [Message] all",
        &[
            "A03: add `gsi1 \"CHANNELID#{channelId}#AUTHOR#{author}\", \"MESSAGE#{messageId}\"` to Message and read it `via gsi1`; or, if few items are read in vain, filter: `(…, wanted: …) … where author = wanted`",
        ],
    );
    check("r(team) -> [Player] via gsi1 all", &["A05: read it `via byScore`, whose key matches the parameters"]);
    check(
        "r(book, title > after) -> [Page] all",
        &["A09: end the sort key with `{title}`, or write `title` with a fixed width"],
    );
    check(
        "r(serverId begins start) -> [Channel] all",
        &[
            "A02: test the partition key by equality; to list every Channel, give all of them one index key such as \"CHANNELS\", or write `scan`",
        ],
    );
    check("r(team, score begins start) -> [Player] via byScore all", &["A14: test `score` by equality or by a range"]);
}
