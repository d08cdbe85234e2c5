//! Random models: claims, tables, entities of several kinds, and patterns with the permissions that isolate their
//! callers. A seed always gives the same model, and models have no errors by construction.
//!
//! An entity belongs to a tenant, a person, both, a group (whose members a guard checks), or everyone. The rest is
//! random: fields of all types, optional ones, defaults, versions, unique values, references, an index.

pub mod types;

use keyform_scenario::Dice;

/// Pattern: the text before its permission, the permission, and the text after it.
struct Pattern {
    name: String,
    before: String,
    allow: String,
    after: String,
    /// Set if the pattern would leak or change other callers' data without its permission.
    is_guarded: bool,
}

/// Random model.
pub struct Drawn {
    head: String,
    patterns: Vec<Pattern>,
    /// Condition that every caller satisfies.
    anybody: String,
}

impl Drawn {
    /// Returns the source of the model.
    pub fn text(&self) -> String {
        self.printed(None)
    }

    /// Returns, for each guarded pattern, the model with that pattern open to everyone, and the pattern's name.
    pub fn leaky(&self) -> Vec<(String, String)> {
        let guarded = self.patterns.iter().enumerate().filter(|(_, pattern)| pattern.is_guarded);
        guarded.map(|(number, pattern)| (self.printed(Some(number)), pattern.name.clone())).collect()
    }

    fn printed(&self, open: Option<usize>) -> String {
        let mut text = self.head.clone();
        for (number, Pattern { before, allow, after, .. }) in self.patterns.iter().enumerate() {
            let allow = if open == Some(number) { &self.anybody } else { allow };
            text.push_str(&format!("{before} allow {allow}{after}\n"));
        }
        text
    }
}

/// Field: its name, its type, and whether a create requires it.
struct Field {
    name: String,
    kind: String,
    is_given: bool,
}

/// Scope of an entity's items: its fields and its permission.
struct Scope {
    /// Fields with their types.
    fields: Vec<(String, String)>,
    /// Prefix of the partition key.
    partition: String,
    /// Permission of patterns in this scope.
    allow: String,
    /// Fields that come from a claim: `tenantId = caller.tenantId`.
    claims: Vec<String>,
}

/// Model under construction.
struct Drawing {
    dice: Dice,
    /// Claim that identifies the person, and its type.
    person: (&'static str, &'static str),
    tenant: Option<(&'static str, &'static str)>,
    tables: usize,
    entities: String,
    guards: String,
    patterns: Vec<Pattern>,
}

/// Generates the model of a seed.
pub fn draw(seed: u64) -> Drawn {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D);
    let kinds = ["ulid", "uuid", "slug(1..20)"];
    let person = (dice.pick(&["userId", "personId", "accountId"]), dice.pick(&kinds));
    let tenant = (!dice.once_in(3)).then(|| (dice.pick(&["tenantId", "orgId", "teamId"]), dice.pick(&kinds)));
    let tables = 1 + dice.below(2);
    let mut claims = vec![format!("{}: {}", person.0, person.1)];
    claims.extend(tenant.map(|(name, kind)| format!("{name}: {kind}")));
    if dice.once_in(3) {
        claims.push("level: \"low\" | \"high\"".to_owned());
    }
    let mut head = format!("model random{seed}\n\ncaller {}\n\n", claims.join(", "));
    for table in 0..tables {
        let tag = if dice.once_in(3) { "" } else { "  tag kind\n" };
        head.push_str(&format!("table T{table} {{\n  key pk, sk\n  index byState (statePk, stateSk)\n{tag}}}\n\n"));
    }
    let mut drawing =
        Drawing { dice, person, tenant, tables, entities: String::new(), guards: String::new(), patterns: Vec::new() };
    for number in 0..1 + drawing.dice.below(4) {
        drawing.draw_kind(number);
    }
    head.push_str(&drawing.entities);
    head.push_str(&drawing.guards);
    Drawn { head, patterns: drawing.patterns, anybody: format!("caller.{} is some", person.0) }
}

impl Drawing {
    fn draw_kind(&mut self, number: usize) {
        let (person, person_kind) = self.person;
        let of_person = (person.to_owned(), person_kind.to_owned());
        let is_person = format!("{person} = caller.{person}");
        match (self.dice.below(5), self.tenant) {
            (0 | 1, Some((tenant, kind))) => self.draw_entity(
                number,
                Scope {
                    fields: vec![(tenant.to_owned(), kind.to_owned())],
                    partition: format!("TENANT#{{{tenant}}}#E{number}"),
                    allow: format!("{tenant} = caller.{tenant}"),
                    claims: vec![format!("{tenant} = caller.{tenant}")],
                },
            ),
            (2, Some((tenant, kind))) => self.draw_entity(
                number,
                Scope {
                    fields: vec![(tenant.to_owned(), kind.to_owned()), of_person],
                    partition: format!("TENANT#{{{tenant}}}#OF#{{{person}}}#E{number}"),
                    allow: format!("{tenant} = caller.{tenant} and {is_person}"),
                    claims: vec![format!("{tenant} = caller.{tenant}"), is_person],
                },
            ),
            (3, _) => self.draw_group(number),
            (4, _) => self.draw_catalogue(number),
            _ => self.draw_entity(
                number,
                Scope {
                    fields: vec![of_person],
                    partition: format!("OF#{{{person}}}#E{number}"),
                    allow: is_person.clone(),
                    claims: vec![is_person],
                },
            ),
        }
    }

    fn table(&mut self) -> String {
        format!("T{}", self.dice.below(self.tables))
    }

    /// Generates content fields of any type.
    fn fields(&mut self, number: usize) -> Vec<Field> {
        let kinds = [
            "string(1..20)",
            "int(0..100)",
            "bool",
            "date",
            "email",
            "number",
            "money",
            "list<string(1..20)>",
            "set<string>",
            "{ street: string, city: string? }",
            "\"x\" | \"y\"",
        ];
        let count = 1 + self.dice.below(4);
        let each = (0..count).map(|place| {
            let (name, kind) = (format!("f{number}{place}"), self.dice.pick(&kinds).to_owned());
            match self.dice.below(3) {
                0 => Field { name, kind: format!("{kind}?"), is_given: self.dice.once_in(2) },
                _ => Field { name, kind, is_given: true },
            }
        });
        each.collect()
    }

    /// Generates an entity within a scope, with patterns of every kind.
    fn draw_entity(&mut self, number: usize, scope: Scope) {
        let (name, id, table) = (format!("E{number}"), format!("e{number}Id"), self.table());
        let (id_kind, is_made) = match self.dice.below(3) {
            0 => ("ulid = ulid()", true),
            1 => ("uuid = uuid()", true),
            _ => ("slug(1..20)", false),
        };
        let fields = self.fields(number);
        let has_version = self.dice.once_in(3);
        let (unique, has_index) = (self.dice.below(4), self.dice.once_in(2));
        let mut text = format!("entity {name} in {table} {{\n  key \"{}\", \"ITEM#{{{id}}}\"\n", scope.partition);
        if has_index {
            text.push_str(&format!("  byState \"{}#S#{{state}}\", \"{{{id}}}\"\n", scope.partition));
        }
        for (field, kind) in &scope.fields {
            text.push_str(&format!("  {field}: {kind}\n"));
        }
        text.push_str(&format!("  {id}: {id_kind}\n"));
        for field in &fields {
            text.push_str(&format!("  {}: {}\n", field.name, field.kind));
        }
        text.push_str("  state: \"a\" | \"b\" = \"a\"\n  count: int = 0\n");
        if has_version {
            text.push_str("  revision: int version\n");
        }
        match unique {
            0 => text.push_str(&format!("  label: slug(2..10) unique per {}\n", scope.fields[0].0)),
            1 => text.push_str("  label: slug(2..10) unique\n"),
            _ => {}
        }
        text.push_str("  volume 1K items, 500 bytes, 10 per partition\n}\n\n");
        self.entities.push_str(&text);
        let mut given: Vec<String> =
            fields.iter().filter(|field| field.is_given).map(|field| field.name.clone()).collect();
        if unique < 2 {
            given.push("label".to_owned());
        }
        let shape = Shape { number, name, id, is_made, given, first: fields[0].name.clone(), has_version, has_index };
        self.draw_reads(&shape, &scope);
        self.draw_writes(&shape, &scope);
    }

    fn draw_reads(&mut self, shape: &Shape, scope: &Scope) {
        let Shape { number, name, id, .. } = shape;
        let place = names(scope);
        let page = 1 + self.dice.below(9);
        let order = match self.dice.below(3) {
            0 => String::new(),
            1 => format!(" ordered by {id},"),
            _ => format!(" ordered by {id} descending,"),
        };
        let strong = self.dice.pick(&["", " strong,"]);
        let filter = self.dice.pick(&["", " where state = \"a\",", " where count >= 0,"]);
        let mut read = |pattern: String, rest: String| {
            self.patterns.push(Pattern {
                before: format!("read {pattern}{rest}"),
                name: pattern,
                allow: scope.allow.clone(),
                after: String::new(),
                is_guarded: true,
            });
        };
        read(format!("one{number}"), format!("({place}, {id}) -> {name}?"));
        read(format!("some{number}"), format!("({place}, {id} in ids) -> [{name}]"));
        read(format!("all{number}"), format!("({place}) -> [{name}]{order}{strong}{filter} page {page}"));
        read(format!("count{number}"), format!("({place}) -> count {name}"));
        if !shape.is_made {
            read(format!("begin{number}"), format!("({place}, {id} begins prefix) -> [{name}] page {page}"));
        }
        if shape.has_index {
            read(format!("inState{number}"), format!("({place}, state) -> [{name}] via byState,{order} page {page}"));
        }
    }

    fn draw_writes(&mut self, shape: &Shape, scope: &Scope) {
        let Shape { number, name, id, first, .. } = shape;
        let (place, given) = (names(scope), shape.given.join(", "));
        let comma = if given.is_empty() { "" } else { ", " };
        let with_id = if shape.is_made { String::new() } else { format!(", {id}") };
        let (seen, fresh) = match shape.has_version {
            true => (", seen: int", "\n    if revision = seen else Conflict"),
            false => ("", ""),
        };
        let exists = self.dice.pick(&["", " if exists else Unknown"]);
        let mut write = |pattern: String, head: String, steps: String, is_guarded: bool, allow: &str| {
            self.patterns.push(Pattern {
                before: format!("write {pattern}{head} {{\n "),
                name: pattern,
                allow: allow.to_owned(),
                after: format!("\n  {steps}\n}}"),
                is_guarded,
            });
        };
        let allow = scope.allow.as_str();
        let adding = format!("({place}{with_id}{comma}{given}) -> {name}");
        write(format!("add{number}"), adding, format!("create {name} {{}} else Taken"), false, allow);
        if !scope.claims.is_empty() {
            let head = format!("({}) -> {name}", format!("{with_id}{comma}{given}").trim_start_matches(", "));
            let claims = scope.claims.join(", ");
            let anybody =
                scope.claims[0].split(" = ").nth(1).map(|claim| format!("{claim} is some")).unwrap_or_default();
            write(format!("make{number}"), head, format!("create {name} {{ {claims} }} else Taken"), false, &anybody);
        }
        let at = format!("{name}({place}, {id})");
        let change = format!("update {at} {{ {first} = {first} }} else Unknown{fresh}");
        write(format!("change{number}"), format!("({place}, {id}, {first}{seen}) -> {name}"), change, true, allow);
        let bump = format!("update {at} {{ count += 1 }} else Unknown");
        write(format!("bump{number}"), format!("({place}, {id}) -> {name}"), bump, true, allow);
        let looked = format!(
            "let found = one{number}({place}, {id}) else Unknown\n  require found.count >= 0 else Negative\n  update {at} {{ state = \"b\" }} else Unknown"
        );
        write(format!("look{number}"), format!("({place}, {id}) -> {name}"), looked, true, allow);
        write(format!("drop{number}"), format!("({place}, {id})"), format!("delete {at}{exists}"), true, allow);
    }

    /// Generates a group, its members, and its items.
    fn draw_group(&mut self, number: usize) {
        let (person, kind) = self.person;
        let (group, table) = (format!("g{number}Id"), self.table());
        let id_kind = self.dice.pick(&["ulid", "uuid"]);
        let on_delete = self.dice.pick(&["cascade", "restrict", "keep"]);
        self.entities.push_str(&format!("entity Group{number} in {table} {{\n  key \"GROUP{number}#{{{group}}}\", \"GROUP\"\n  {group}: {id_kind} = {id_kind}()\n  \
             title: string(1..20)\n  volume 1K items, 300 bytes\n}}\n\n\
             entity Member{number} in {table} {{\n  key \"GROUP{number}#{{{group}}}\", \"MEMBER#{{{person}}}\"\n  {group}: ref Group{number} {on_delete}\n  \
             {person}: {kind}\n  role: \"owner\" | \"guest\" = \"guest\"\n  volume 1K items, 300 bytes, 10 per partition\n}}\n\n"));
        self.guards.push_str(&format!("guard in{number}({group}) = exists Member{number}({group}, caller.{person})\n"));
        self.guards.push_str(&format!(
            "guard owns{number}({group}) = exists Member{number}({group}, caller.{person}) where role = \"owner\"\n\n"
        ));
        let mut pattern = |name: String, before: String, allow: String, after: String, is_guarded: bool| {
            self.patterns.push(Pattern { name, before, allow, after, is_guarded });
        };
        let (inside, owner) = (format!("in{number}({group})"), format!("owns{number}({group})"));
        let name = format!("group{number}");
        pattern(name.clone(), format!("read {name}({group}) -> Group{number}?"), inside.clone(), String::new(), true);
        let name = format!("members{number}");
        let head = format!("read {name}({group}) -> [Member{number}] page 5");
        pattern(name, head, inside.clone(), String::new(), true);
        let name = format!("rename{number}");
        let head = format!("write {name}({group}, title) -> Group{number} {{\n ");
        let steps = format!("\n  update Group{number}({group}) {{ title = title }} else Unknown\n}}");
        pattern(name, head, owner.clone(), steps, true);
        let name = format!("expel{number}");
        let head = format!("write {name}({group}, {person}) {{\n ");
        let steps = format!("\n  delete Member{number}({group}, {person}) if exists else Unknown\n}}");
        pattern(name, head, owner, steps, true);
        let name = format!("found{number}");
        let head = format!("write {name}(title) -> Group{number} {{\n ");
        let steps = format!(
            "\n  let made = {id_kind}()\n  create Group{number} {{ {group} = made }} else Taken\n  \
             create Member{number} {{ {group} = made, {person} = caller.{person}, role = \"owner\" }} else Taken\n}}"
        );
        pattern(name, head, format!("caller.{person} is some"), steps, false);
        let scope = Scope {
            fields: vec![(group.clone(), format!("ref Group{number} {on_delete}"))],
            partition: format!("GROUP{number}#{{{group}}}#DOCS"),
            allow: inside,
            claims: Vec::new(),
        };
        self.draw_entity(100 + number, scope);
    }

    /// Generates an entity that everyone may read and only the system may change.
    fn draw_catalogue(&mut self, number: usize) {
        let table = self.table();
        self.entities.push_str(&format!("entity Product{number} in {table} {{\n  key \"PRODUCT{number}#{{p{number}Id}}\", \"PRODUCT\"\n  p{number}Id: slug(1..20)\n  \
             title: string(1..20)\n  volume 1K items, 300 bytes\n}}\n\n"));
        self.patterns.push(Pattern {
            name: format!("product{number}"),
            before: format!("read product{number}(p{number}Id) -> Product{number}?"),
            allow: "public".to_owned(),
            after: format!("\n  unscoped Product{number} \"a catalogue for everyone\""),
            is_guarded: false,
        });
        self.patterns.push(Pattern {
            name: format!("list{number}"),
            before: format!("write list{number}(p{number}Id, title) -> Product{number} {{\n "),
            allow: "system".to_owned(),
            after: format!("\n  create Product{number} {{}} else Taken\n}}"),
            is_guarded: false,
        });
    }
}

/// Properties of an entity that its patterns need.
struct Shape {
    number: usize,
    name: String,
    id: String,
    /// Set if the id is generated when an item is created.
    is_made: bool,
    /// Fields that a create takes as arguments.
    given: Vec<String>,
    first: String,
    has_version: bool,
    has_index: bool,
}

fn names(scope: &Scope) -> String {
    scope.fields.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
}
