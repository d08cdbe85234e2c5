//! Random models with tenants, guards and references. A seed always gives the same model, and every drawn model is
//! sound: no pattern reaches items of another scope. [`weakened`] breaks a model in one place.

mod dice;
mod shape;

use keyform_language::document::ast::Document;
use keyform_language::document::{parse, print};

use crate::operator::{Mutant, mutants};
use dice::Dice;

/// Claims and declarations of a model under construction.
struct Drawing {
    dice: Dice,
    /// Type of the tenant's id.
    tenant: &'static str,
    /// Type of a user's id.
    user: &'static str,
    entities: String,
    guards: String,
    patterns: String,
}

impl Drawing {
    fn entity(&mut self, name: &str, body: &str) {
        self.entities
            .push_str(&format!("entity {name} in T {{ {body} volume 1K items, 300 bytes, 10 per partition }}\n"));
    }

    fn guard(&mut self, text: &str) {
        self.guards.push_str(&format!("guard {text}\n"));
    }

    /// Adds some of the patterns, at least one. Those that begin with `!` are always there: others need them.
    fn some(&mut self, patterns: &[String]) {
        let first = self.dice.below(patterns.len());
        for (number, pattern) in patterns.iter().enumerate() {
            match pattern.strip_prefix('!') {
                Some(needed) => self.patterns.push_str(&format!("{needed}\n")),
                None if number == first || self.dice.once_in(3) => self.patterns.push_str(&format!("{pattern}\n")),
                None => {}
            }
        }
    }
}

/// Returns the source of the model of a seed.
#[must_use]
pub fn draw(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let tenant = dice.pick(&["slug(2..12)", "ulid", "uuid", "slug(1..30)"]);
    let user = dice.pick(&["ulid", "uuid"]);
    let mut drawing =
        Drawing { dice, tenant, user, entities: String::new(), guards: String::new(), patterns: String::new() };
    let count = 1 + drawing.dice.below(2);
    for number in 0..count {
        let draw = shape::ALL[drawing.dice.below(shape::ALL.len())];
        draw(&mut drawing, number);
    }
    let Drawing { entities, guards, patterns, .. } = drawing;
    let text = format!(
        "model drawn{seed}\n\ncaller tenantId: {tenant}, userId: {user}, admin: bool global \"operators\"\n\n\
         table T {{\n  key pk, sk\n  index gsi (gpk, gsk)\n  tag kind\n}}\n\n{entities}\n{guards}\n{patterns}"
    );
    print(&parse(&text).0)
}

/// Returns a mutant of the model of a seed.
#[must_use]
pub fn weakened(seed: u64, document: &Document) -> Option<Mutant> {
    let mut dice = Dice::new(seed ^ 0x5DEE_CE66);
    let mut all = mutants(document);
    if all.is_empty() {
        return None;
    }
    // First an operator, then a place: some operators have many places, others few.
    let operators: Vec<_> = {
        let mut operators: Vec<_> = all.iter().map(|mutant| mutant.operator).collect();
        operators.dedup();
        operators
    };
    let operator = operators[dice.below(operators.len())];
    all.retain(|mutant| mutant.operator == operator);
    let number = dice.below(all.len());
    Some(all.swap_remove(number))
}
