//! Random models of one entity with fields of random types, and a write for each way to change a field.
//!
//! Parameters are declared wider than the fields, so that many values do not fit. A seed always gives the same model.

use keyform_scenario::Dice;

/// Entity under construction.
#[derive(Default)]
struct Drawing {
    fields: String,
    writes: String,
    /// Fields that a new item gets from parameters.
    given: Vec<String>,
    count: usize,
}

/// Returns the source of the model of a seed.
pub fn draw(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x2545_F491);
    let mut drawing = Drawing::default();
    let kinds: [fn(&mut Drawing, &mut Dice, &str); 8] = [
        Drawing::number,
        Drawing::text,
        Drawing::choice,
        Drawing::list,
        Drawing::set,
        Drawing::map,
        Drawing::record,
        Drawing::json,
    ];
    for place in 0..3 + dice.below(4) {
        let kind = kinds[dice.below(kinds.len())];
        kind(&mut drawing, &mut dice, &format!("f{place}"));
    }
    if dice.once_in(2) {
        drawing.fields.push_str("  madeAt: timestamp created\n  revision: int version\n");
    }
    if dice.once_in(2) {
        drawing.fields.push_str("  fixed: slug(1..4) immutable\n");
        drawing.given.push("fixed".to_owned());
    }
    let given: String = drawing.given.iter().map(|name| format!(", {name}")).collect();
    let set: String = drawing.given.iter().map(|name| format!(" {name} = {name}")).collect();
    let Drawing { fields, writes, .. } = drawing;
    format!(
        "model types{seed}\n\ntable Things \"things\" {{\n  key pk\n  tag kind\n}}\n\n\
         entity Thing in Things {{\n  key \"THING#{{id}}\"\n\n  id: slug(1..4)\n{fields}}}\n\n\
         read thing(id) -> Thing? strong\n\
         write make(id{given}) -> Thing {{ create Thing {{}} else Taken }}\n\
         write replace(id{given}) -> Thing {{ put Thing {{}} }}\n\
         write set(id{given}) -> Thing {{ upsert Thing(id) {{{set} }} }}\n\
         write drop(id) {{ delete Thing(id) }}\n{writes}"
    )
}

impl Drawing {
    /// Adds a write that changes one field.
    fn write(&mut self, parameters: &str, change: &str) {
        let number = self.count;
        self.count += 1;
        self.writes.push_str(&format!(
            "write change{number}(id{parameters}) -> Thing {{ update Thing(id) {{ {change} }} else Unknown }}\n"
        ));
    }

    fn field(&mut self, name: &str, kind: &str, default: Option<&str>) {
        let default = match default {
            Some(default) => format!(" = {default}"),
            None => {
                self.given.push(name.to_owned());
                String::new()
            }
        };
        self.fields.push_str(&format!("  {name}: {kind}{default}\n"));
    }

    fn number(&mut self, dice: &mut Dice, name: &str) {
        let kind = dice.pick(&["int", "int(0..)", "int(..2)", "int(-9..9)", "int(0..1)", "money", "number"]);
        let default = dice.once_in(2).then_some("0");
        self.field(name, kind, default);
        let operand = if kind == "number" { "number" } else { "int" };
        self.write(&format!(", v: {operand}"), &format!("{name} = v"));
        self.write(&format!(", v: {operand}"), &format!("{name} += v"));
        self.write(&format!(", v: {operand}"), &format!("{name} -= v"));
        self.write(&format!(", v: {operand}"), &format!("{name} = {name} + v"));
    }

    fn text(&mut self, dice: &mut Dice, name: &str) {
        let kind = dice.pick(&["string(1..2)", "string(2..3)", "slug(1..4)", "string(..1)?"]);
        self.field(name, kind, None);
        self.write(", v: string", &format!("{name} = v"));
        if kind.ends_with('?') {
            self.write("", &format!("remove {name}"));
        }
    }

    fn choice(&mut self, _: &mut Dice, name: &str) {
        self.field(name, "\"a\" | \"ab\" | \"c\"", Some("\"c\""));
        self.write(", v: string", &format!("{name} = v"));
    }

    fn list(&mut self, dice: &mut Dice, name: &str) {
        let kind = dice.pick(&["list<string(1..2)>(..3)", "list<slug(1..4)>(1..3)", "list<int(-1..1)>"]);
        let of = if kind.contains("int") { "int" } else { "string" };
        self.field(name, kind, (!kind.contains("(1..3)")).then_some("[]"));
        self.write(&format!(", v: {of}"), &format!("append {name} v"));
        self.write(&format!(", v: {of}, w: {of}"), &format!("append {name} [v, w]"));
        self.write(&format!(", v: list<{of}>"), &format!("{name} = v"));
    }

    fn set(&mut self, dice: &mut Dice, name: &str) {
        let kind = dice.pick(&["set<slug(1..4)>(..2)?", "set<string(1..2)>(2..3)?", "set<slug(1..4)>?"]);
        self.fields.push_str(&format!("  {name}: {kind}\n"));
        self.write(", v: string", &format!("add {name} v"));
        self.write(", v: list<string>", &format!("add {name} v"));
        self.write(", v: string", &format!("remove {name} v"));
        self.write(", v: list<string>", &format!("{name} = v"));
    }

    fn map(&mut self, dice: &mut Dice, name: &str) {
        let kind = dice.pick(&["map<int(-1..1)>(..2)", "map<int(0..)>(..3)", "map<string(1..2)>(..1)"]);
        self.field(name, kind, Some("{}"));
        let of = if kind.contains("int") { "int" } else { "string" };
        self.write(&format!(", k: slug(1..4), v: {of}"), &format!("{name}[k] = v"));
        self.write(", k: slug(1..4)", &format!("remove {name}[k]"));
        if of == "int" {
            self.write(", k: slug(1..4), v: int", &format!("{name}[k] += v"));
        }
    }

    fn record(&mut self, dice: &mut Dice, name: &str) {
        let inner = dice.pick(&["{ c: int(-9..9) }?", "{ c: int(0..) }"]);
        let default = if inner.ends_with('?') { "{ a = 1 }" } else { "{ a = 1, n = { c = 1 } }" };
        self.field(name, &format!("{{ a: int(-2..2), b: string(1..2)?, n: {inner} }}"), Some(default));
        self.write(", v: int", &format!("{name}.a = v"));
        self.write(", v: int", &format!("{name}.a += v"));
        self.write(", v: string", &format!("{name}.b = v"));
        self.write("", &format!("remove {name}.b"));
        self.write(", v: int", &format!("{name}.n.c -= v"));
    }

    fn json(&mut self, _: &mut Dice, name: &str) {
        self.field(name, "json?", Some("{}"));
        self.write(", v: string", &format!("{name}.a = v"));
        self.write(", v: string", &format!("{name} = v"));
        self.write("", &format!("remove {name}"));
    }
}
