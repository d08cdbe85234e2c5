//! Claims of the caller that a read depends on.

use std::collections::BTreeSet;

use super::Model;
use super::expression::{Expr, ExprKind, Origin, ValuePath};
use super::pattern::{Guard, Permission, Read};

impl Read {
    /// Returns the names of the claims that its `allow` compares, also in guards and in reads that `allow` calls, and
    /// those that its filter compares.
    #[must_use]
    pub fn claims<'m>(&self, model: &'m Model) -> BTreeSet<&'m str> {
        let mut found = BTreeSet::new();
        let allow = match &self.allow {
            Some(Permission::When(condition)) => Some(condition),
            Some(Permission::Public(_) | Permission::System(_)) | None => None,
        };
        for condition in allow.into_iter().chain(&self.filter) {
            in_condition(model, condition, &mut found);
        }
        found
    }
}

fn in_condition<'m>(model: &'m Model, condition: &Expr, found: &mut BTreeSet<&'m str>) {
    condition.walk(&mut |part| match &part.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Caller(number), .. }) => {
            let claim = model.caller.as_ref().and_then(|caller| caller.fields.get(*number));
            found.extend(claim.map(|claim| claim.name.as_str()));
        }
        ExprKind::Guard { guard, .. } => in_guard(model, &model.guards[guard.0], found),
        _ => {}
    });
}

fn in_guard<'m>(model: &'m Model, guard: &Guard, found: &mut BTreeSet<&'m str>) {
    let keys = guard.keys.iter().map(|(_, value)| value);
    keys.chain(&guard.condition).for_each(|part| in_condition(model, part, found));
}

#[cfg(test)]
mod tests {
    use crate::Compiled;

    #[test]
    fn claims_are_found_in_allow_in_guards_and_in_filters() {
        let compiled = Compiled::read(
            r#"model m
            caller userId: slug, orgId: slug, level: int, unused: slug?
            table T { key a, b }
            entity E in T { a: slug(1..20)  b: slug(1..20)  owner: slug(1..20)  rank: int }
            guard member(a) = exists E(a, caller.userId) where rank >= caller.level
            read open(a) -> [E] page 5 allow public
            read mine(a) -> [E] page 5 where owner = caller.orgId allow member(a)"#,
        );
        let claims =
            |number: usize| compiled.model.reads[number].claims(&compiled.model).into_iter().collect::<Vec<_>>();
        assert_eq!(claims(0), Vec::<&str>::new());
        assert_eq!(claims(1), ["level", "orgId", "userId"]);
    }
}
