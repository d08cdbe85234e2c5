//! Ways in which a model is weakened, and the mutants that they make of a model.

use keyform_language::document::ast::{
    CallerField, Declaration, DeclarationKind, Document, Entity, Expr, ExprKind, Guard, Name, Table,
};
use keyform_language::document::print;

use crate::{field, key, permission, place, step};

/// Way in which a model is weakened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// `allow …` becomes `allow public`.
    Public,
    /// An operand of `and` in `allow` is dropped.
    DropConjunct,
    /// `allow …` becomes `allow … or` a condition that every caller meets.
    Widen,
    /// A guard gets another argument.
    SwapGuardArgument,
    /// A guard is replaced by one that demands less.
    WeakerGuard,
    /// The condition of a guard, or a part of it, is dropped.
    DropGuardWhere,
    /// A claim becomes a parameter.
    ClaimToParameter,
    /// A condition of a step, a `require`, a named key argument or the `where` of a read is dropped.
    DropCondition,
    /// A `check` is dropped.
    DropCheck,
    /// A field of a key is dropped.
    DropKeyPart,
    /// Two fields of a key change places.
    SwapKeyParts,
    /// A `slug` becomes a `string`, which may contain delimiters.
    SlugToString,
    /// A read uses another index, or none.
    OtherIndex,
    /// `unique per …` becomes `unique`.
    DropPer,
    /// `create` becomes `put`.
    CreateToPut,
    /// `create` becomes `upsert`.
    CreateToUpsert,
    /// A read in `let` gets other arguments.
    SwapLetArguments,
    /// `select` is dropped.
    DropSelect,
    /// `secret` is dropped.
    DropSecret,
    /// `internal` is dropped.
    DropInternal,
    /// `immutable` is dropped.
    DropImmutable,
    /// `version` is dropped.
    DropVersion,
    /// A comparison is negated.
    Negate,
    /// `grants` is added to a `ref`.
    AddGrants,
    /// `bearer` is added to a field of a key, or to a unique one.
    AddBearer,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 25] = [
        Self::Public,
        Self::DropConjunct,
        Self::Widen,
        Self::SwapGuardArgument,
        Self::WeakerGuard,
        Self::DropGuardWhere,
        Self::ClaimToParameter,
        Self::DropCondition,
        Self::DropCheck,
        Self::DropKeyPart,
        Self::SwapKeyParts,
        Self::SlugToString,
        Self::OtherIndex,
        Self::DropPer,
        Self::CreateToPut,
        Self::CreateToUpsert,
        Self::SwapLetArguments,
        Self::DropSelect,
        Self::DropSecret,
        Self::DropInternal,
        Self::DropImmutable,
        Self::DropVersion,
        Self::Negate,
        Self::AddGrants,
        Self::AddBearer,
    ];

    /// Returns the name for tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "allow public",
            Self::DropConjunct => "drop a conjunct",
            Self::Widen => "or true",
            Self::SwapGuardArgument => "swap a guard argument",
            Self::WeakerGuard => "weaker guard",
            Self::DropGuardWhere => "drop a guard's where",
            Self::ClaimToParameter => "claim to parameter",
            Self::DropCondition => "drop a condition",
            Self::DropCheck => "drop a check",
            Self::DropKeyPart => "drop a key part",
            Self::SwapKeyParts => "swap key parts",
            Self::SlugToString => "slug to string",
            Self::OtherIndex => "other index",
            Self::DropPer => "drop per",
            Self::CreateToPut => "create to put",
            Self::CreateToUpsert => "create to upsert",
            Self::SwapLetArguments => "swap let arguments",
            Self::DropSelect => "drop select",
            Self::DropSecret => "drop secret",
            Self::DropInternal => "drop internal",
            Self::DropImmutable => "drop immutable",
            Self::DropVersion => "drop version",
            Self::Negate => "negate",
            Self::AddGrants => "add grants",
            Self::AddBearer => "add bearer",
        }
    }

    /// Returns the declaration once for each place that the operator weakens.
    fn apply(self, scene: &Scene<'_>, kind: &DeclarationKind) -> Vec<DeclarationKind> {
        match self {
            Self::Public => permission::public(kind),
            Self::DropConjunct => permission::drop_conjunct(kind),
            Self::Widen => permission::widen(scene, kind),
            Self::SwapGuardArgument => permission::swap_guard_argument(scene, kind),
            Self::WeakerGuard => permission::weaker_guard(scene, kind),
            Self::DropGuardWhere => permission::drop_guard_where(kind),
            Self::ClaimToParameter => permission::claim_to_parameter(scene, kind),
            Self::Negate => permission::negate(kind),
            Self::DropCondition => step::drop_condition(kind),
            Self::DropCheck => step::drop_check(kind),
            Self::CreateToPut => step::create_to_put(kind),
            Self::CreateToUpsert => step::create_to_upsert(scene, kind),
            Self::SwapLetArguments => step::swap_let_arguments(kind),
            Self::OtherIndex => step::other_index(scene, kind),
            Self::DropSelect => step::drop_select(kind),
            Self::DropKeyPart => key::drop_part(kind),
            Self::SwapKeyParts => key::swap_parts(kind),
            Self::SlugToString => field::slug_to_string(kind),
            Self::DropPer => field::drop_per(kind),
            Self::DropSecret | Self::DropInternal | Self::DropImmutable | Self::DropVersion => {
                field::drop_flag(kind, self)
            }
            Self::AddGrants => field::add_grants(kind),
            Self::AddBearer => field::add_bearer(kind),
        }
    }
}

/// Declarations of a document that mutations look up.
pub(crate) struct Scene<'a> {
    pub(crate) claims: Vec<&'a CallerField>,
    pub(crate) guards: Vec<&'a Guard>,
    pub(crate) entities: Vec<&'a Entity>,
    pub(crate) tables: Vec<&'a Table>,
}

impl<'a> Scene<'a> {
    pub(crate) fn of(document: &'a Document) -> Self {
        let mut scene = Self { claims: Vec::new(), guards: Vec::new(), entities: Vec::new(), tables: Vec::new() };
        for declaration in &document.declarations {
            match &declaration.value {
                DeclarationKind::Caller(claims) => scene.claims.extend(claims),
                DeclarationKind::Guard(guard) => scene.guards.push(guard),
                DeclarationKind::Entity(entity) => scene.entities.push(entity),
                DeclarationKind::Table(table) => scene.tables.push(table),
                _ => {}
            }
        }
        scene
    }

    pub(crate) fn guard(&self, name: &str) -> Option<&'a Guard> {
        self.guards.iter().find(|guard| guard.name.text == name).copied()
    }

    pub(crate) fn entity(&self, name: &str) -> Option<&'a Entity> {
        self.entities.iter().find(|entity| entity.name.text == name).copied()
    }

    /// Returns a condition that every caller meets: a claim that every token has is there.
    pub(crate) fn anyone(&self) -> Option<Expr> {
        let claim = self.claims.iter().find(|claim| !claim.kind.optional)?;
        let caller = place::named("caller");
        let member: Expr = ExprKind::Member(caller, Name::from(claim.name.text.clone())).into();
        Some(ExprKind::IsSome(member).into())
    }
}

/// Model with one weakened place.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// Operator that made it.
    pub operator: Operator,
    /// Name of the changed declaration.
    pub declaration: String,
    /// Changed line of the formatted declaration.
    pub line: String,
    /// Index of the changed declaration.
    pub number: usize,
    /// Weakened declaration.
    changed: Declaration,
}

impl Mutant {
    /// Returns the weakened model.
    #[must_use]
    pub fn document(&self, original: &Document) -> Document {
        let mut document = original.clone();
        document.declarations[self.number] = self.changed.clone();
        document
    }

    /// Returns the name for lists: the declaration and the changed line.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}: {}", self.declaration, self.line)
    }
}

/// Returns all mutants of a model, each once.
#[must_use]
pub fn mutants(document: &Document) -> Vec<Mutant> {
    let scene = Scene::of(document);
    let mut all: Vec<Mutant> = Vec::new();
    for operator in Operator::ALL {
        for (number, declaration) in document.declarations.iter().enumerate() {
            let before = printed(declaration);
            let mut seen = vec![before.clone()];
            for kind in operator.apply(&scene, &declaration.value) {
                let changed = Declaration { value: kind, ..declaration.clone() };
                let text = printed(&changed);
                if seen.contains(&text) {
                    continue;
                }
                let line = changed_line(&before, &text);
                seen.push(text);
                let place = place::name(&declaration.value);
                let is_same = |other: &&Mutant| {
                    let same = other.operator == operator && other.declaration == place;
                    same && other.line.split(" (again").next() == Some(&line)
                };
                let line = match all.iter().filter(is_same).count() {
                    0 => line,
                    count => format!("{line} (again, {count})"),
                };
                let declaration = place.to_owned();
                all.push(Mutant { operator, declaration, line, number, changed });
            }
        }
    }
    all
}

fn printed(declaration: &Declaration) -> String {
    print(&Document { declarations: vec![declaration.clone()], tail: Vec::new() })
}

/// Returns the last line that differs; for dropped lines, the first of them with a minus sign.
fn changed_line(before: &str, after: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after): (Vec<String>, Vec<String>) =
        (before.lines().map(words).collect(), after.lines().map(words).collect());
    let first = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = before[first..].iter().rev().zip(after[first..].iter().rev());
    let last = after.len() - rest.take_while(|(one, other)| one == other).count();
    match after[first..last].last() {
        Some(line) => line.clone(),
        None => format!("- {}", before.get(first).cloned().unwrap_or_default()),
    }
}
