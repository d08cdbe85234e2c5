//! Finds fields, claims and parameters that identify the same thing.
//!
//! They form one *concept*: a `ref` and its target, and fields with the same name. A concept that is a claim has a
//! different value for each caller. If every entity with the concept in its key also has a claim in its partition key,
//! the value is the same in both worlds: two tenants with the same ids. All other concepts must differ, or the worlds
//! would share items.

use keyform_language::document::ast::BinaryOp;
use keyform_language::scalar::generated::RustId;
use keyform_language::schema::{
    EntityId, Expr, ExprKind, FieldId, GuardId, LetSource, Model, Origin, Parameter, Permission, Read, Type, ValuePath,
    Write,
};
use keyform_language::scope::disjunct::claim;

/// Names too generic to identify a concept.
const GENERIC: [&str; 4] = ["id", "name", "key", "code"];

/// Concept, identified by the index of its first node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Concept(usize);

/// Holder of a value: a field of an entity, or a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Field(EntityId, FieldId),
    Claim(usize),
}

/// Concepts of a model.
pub(super) struct Concepts<'a> {
    model: &'a Model,
    /// Fields by entity, then claims.
    nodes: Vec<Node>,
    /// Index of the first field of each entity, then of the first claim.
    begins: Vec<usize>,
    /// Concept of each node: the smallest index among the nodes that identify the same thing.
    of: Vec<usize>,
    /// Concepts that are claims of a caller's token.
    claimed: Vec<bool>,
    /// Concepts that may have the same value in both worlds.
    shared: Vec<bool>,
    /// Concepts that identify something.
    naming: Vec<bool>,
    /// Concepts that identify persons.
    personal: Vec<bool>,
}

impl<'a> Concepts<'a> {
    pub(super) fn of(model: &'a Model) -> Self {
        let (mut nodes, mut begins) = (Vec::new(), Vec::new());
        for entity in model.entity_ids() {
            begins.push(nodes.len());
            nodes.extend((0..model.entity(entity).fields.len()).map(|field| Node::Field(entity, FieldId(field))));
        }
        begins.push(nodes.len());
        nodes.extend(model.caller.iter().flat_map(|caller| (0..caller.fields.len()).map(Node::Claim)));
        let count = nodes.len();
        let none = || vec![false; count];
        let of = (0..count).collect();
        let mut concepts =
            Self { model, nodes, begins, of, claimed: none(), shared: none(), naming: none(), personal: none() };
        concepts.join_references();
        concepts.join_names();
        concepts.claimed = concepts.each(Self::has_claim);
        concepts.shared = concepts.each(Self::may_be_shared);
        concepts.naming = concepts.each(Self::has_name);
        concepts.personal = concepts.each(Self::is_of_person);
        concepts
    }

    fn each(&self, is: impl Fn(&Self, Concept) -> bool) -> Vec<bool> {
        (0..self.nodes.len()).map(|number| self.of[number] == number && is(self, Concept(number))).collect()
    }

    fn join_references(&mut self) {
        for number in 0..self.nodes.len() {
            if let Some(target) = self.target(self.kind(self.nodes[number])) {
                self.join(number, self.number(target));
            }
        }
    }

    fn join_names(&mut self) {
        for number in 0..self.nodes.len() {
            let node = self.nodes[number];
            let name = self.name(node);
            let first = (0..number).find(|&other| self.name(self.nodes[other]) == name);
            if let Some(first) = first.filter(|_| !GENERIC.contains(&name) && is_name(self.kind(node))) {
                self.join(first, number);
            }
        }
    }

    fn join(&mut self, one: usize, other: usize) {
        let (low, high) = (self.of[one].min(self.of[other]), self.of[one].max(self.of[other]));
        self.of.iter_mut().filter(|concept| **concept == high).for_each(|concept| *concept = low);
    }

    fn number(&self, node: Node) -> usize {
        match node {
            Node::Field(entity, field) => self.begins[entity.0] + field.0,
            Node::Claim(number) => self.begins[self.begins.len() - 1] + number,
        }
    }

    /// Returns the node that a reference points to.
    fn target(&self, kind: &Type) -> Option<Node> {
        let (Type::Ref { entity, field, .. } | Type::Copy { entity, field, .. }) = kind else { return None };
        let entity = (*entity)?;
        Some(Node::Field(entity, field.or_else(|| self.model.entity(entity).id_field())?))
    }

    pub(super) fn kind(&self, node: Node) -> &'a Type {
        match node {
            Node::Field(entity, field) => &self.model.entity(entity).field(field).kind,
            Node::Claim(number) => {
                self.model.caller.as_ref().map_or(&Type::Unknown, |caller| &caller.fields[number].kind)
            }
        }
    }

    pub(super) fn name(&self, node: Node) -> &'a str {
        match node {
            Node::Field(entity, field) => &self.model.entity(entity).field(field).name,
            Node::Claim(number) => self.model.caller.as_ref().map_or("", |caller| &caller.fields[number].name),
        }
    }

    /// Returns the name of a concept's first node.
    pub(super) fn word(&self, concept: Concept) -> &'a str {
        self.name(self.nodes[concept.0])
    }

    /// Returns the concept of a field or claim.
    pub(super) fn concept(&self, node: Node) -> Concept {
        Concept(self.of[self.number(node)])
    }

    /// Returns whether the concept is a claim.
    pub(super) fn is_claimed(&self, concept: Concept) -> bool {
        self.claimed[concept.0]
    }

    /// Returns whether the concept identifies a person, who can be one of several in a tenant. A caller with several
    /// names has a tenant by the first of them that begins a key; all others are the person's.
    pub(super) fn is_personal(&self, concept: Concept) -> bool {
        self.personal[concept.0]
    }

    fn is_of_person(&self, concept: Concept) -> bool {
        let claims = self.nodes.iter().copied().filter(|node| matches!(node, Node::Claim(_)));
        let names: Vec<Concept> =
            claims.filter(|node| is_name(self.kind(*node))).map(|node| self.concept(node)).collect();
        let tenant = names.iter().copied().filter(|_| names.len() > 1).find(|of| self.begins_key(*of));
        self.is_claimed(concept) && tenant != Some(concept)
    }

    fn begins_key(&self, concept: Concept) -> bool {
        let first = |id: EntityId| self.model.entity(id).key_fields().first().copied();
        self.model.entity_ids().any(|id| first(id).is_some_and(|field| self.concept(Node::Field(id, field)) == concept))
    }

    /// Returns the concept of a claim.
    pub(super) fn claim(&self, number: usize) -> Concept {
        self.concept(Node::Claim(number))
    }

    /// Iterates over all concepts.
    pub(super) fn all(&self) -> impl Iterator<Item = Concept> {
        (0..self.nodes.len()).filter(|number| self.of[*number] == *number).map(Concept)
    }

    /// Returns whether the concept has the same value in both worlds.
    pub(super) fn is_shared(&self, concept: Concept) -> bool {
        self.shared[concept.0] && !self.claimed[concept.0]
    }

    /// Returns whether the concept identifies something: it is part of a key, unique, referenced, or a claim.
    pub(super) fn is_naming(&self, concept: Concept) -> bool {
        self.naming[concept.0]
    }

    fn nodes_of(&self, concept: Concept) -> impl Iterator<Item = Node> {
        self.nodes.iter().zip(&self.of).filter(move |(_, of)| **of == concept.0).map(|(node, _)| *node)
    }

    fn has_claim(&self, concept: Concept) -> bool {
        self.nodes_of(concept).any(|node| matches!(node, Node::Claim(_)) && is_name(self.kind(node)))
    }

    /// Returns whether every entity with the concept in its key has a claim in its partition key, and values are unique
    /// only within a claim.
    fn may_be_shared(&self, concept: Concept) -> bool {
        let is_unique = self.nodes_of(concept).any(|node| match node {
            Node::Claim(_) => false,
            Node::Field(id, field) => {
                let unique = self.model.entity(id).field(field).flags.unique.as_ref();
                let is_claim = |per: &FieldId| self.is_claimed(self.concept(Node::Field(id, *per)));
                unique.is_some_and(|unique| !unique.per.iter().any(is_claim))
            }
        });
        !is_unique
            && self.model.entity_ids().all(|id| {
                let entity = self.model.entity(id);
                let has = |field: FieldId| self.concept(Node::Field(id, field)) == concept;
                let is_claim = |field| self.is_claimed(self.concept(Node::Field(id, field)));
                let mut partition =
                    entity.key.iter().flat_map(|key| &key.partition).flat_map(|part| part.template.fields());
                !entity.key_fields().into_iter().any(has) || partition.any(is_claim)
            })
    }

    fn has_name(&self, concept: Concept) -> bool {
        self.nodes_of(concept).any(|node| match node {
            Node::Claim(_) => true,
            Node::Field(id, field) => {
                let entity = self.model.entity(id);
                let is_key = entity.key_fields().contains(&field);
                let is_unique = entity.field(field).flags.unique.is_some();
                is_name(self.kind(node)) && (is_key || is_unique || self.target(self.kind(node)).is_some())
            }
        })
    }

    /// Returns the concept of each parameter of a read.
    pub(super) fn of_read(&self, read: &Read) -> Vec<Option<Concept>> {
        self.of_parameters(&read.parameters, read.allow.as_ref(), &[])
    }

    /// Returns the concept of each parameter of a write, also derived from the fields it is assigned to.
    pub(super) fn of_write(&self, write: &Write) -> Vec<Option<Concept>> {
        let mut uses = Vec::new();
        for action in write.actions() {
            let Some(entity) = action.entity else { continue };
            let keys = action.keys.iter().filter_map(|(field, expr)| Some((parameter_of(expr)?, *field)));
            uses.extend(keys.map(|(number, field)| (number, Node::Field(entity, field))));
        }
        for binding in &write.lets {
            if let LetSource::Read { read, arguments } = &binding.source {
                let parameters = &self.model.read(*read).parameters;
                let given =
                    arguments.iter().zip(parameters).filter_map(|(expr, to)| Some((parameter_of(expr)?, to.field?)));
                uses.extend(given.map(|(number, (entity, field))| (number, Node::Field(entity, field))));
            }
        }
        self.of_parameters(&write.parameters, write.allow.as_ref(), &uses)
    }

    fn of_parameters(
        &self,
        parameters: &[Parameter],
        allow: Option<&Permission>,
        uses: &[(usize, Node)],
    ) -> Vec<Option<Concept>> {
        let mut uses = uses.to_vec();
        if let Some(Permission::When(condition)) = allow {
            condition.walk(&mut |expr| self.add_uses(expr, &mut uses));
        }
        let concept = |(number, parameter): (usize, &Parameter)| {
            let by_field = parameter.field.map(|(entity, field)| Node::Field(entity, field));
            let by_use = uses.iter().find(|(of, _)| *of == number).map(|(_, node)| *node);
            let by_target = self.target(&parameter.kind);
            let by_name = || self.nodes.iter().copied().find(|node| self.name(*node) == parameter.field_name);
            let node = by_target.or(by_use).or(by_field).or_else(by_name)?;
            Some(self.concept(node)).filter(|concept| self.is_naming(*concept))
        };
        parameters.iter().enumerate().map(concept).collect()
    }

    /// Collects the fields and claims that guards, reads and equalities in `allow` compare with parameters.
    fn add_uses(&self, expr: &Expr, uses: &mut Vec<(usize, Node)>) {
        match &expr.kind {
            ExprKind::Guard { guard, arguments } => {
                for (place, argument) in arguments.iter().enumerate() {
                    if let (Some(number), Some(node)) = (parameter_of(argument), self.guarded(*guard, place)) {
                        uses.push((number, node));
                    }
                }
            }
            ExprKind::ValuePath(ValuePath { origin: Origin::Read { read, arguments, .. }, .. }) => {
                let parameters = &self.model.read(*read).parameters;
                for (argument, to) in arguments.iter().zip(parameters) {
                    if let (Some(number), Some((entity, field))) = (parameter_of(argument), to.field) {
                        uses.push((number, Node::Field(entity, field)));
                    }
                }
            }
            ExprKind::Binary(BinaryOp::Equal, left, right) => {
                for (one, other) in [(left, right), (right, left)] {
                    if let (Some(number), Some(claim)) = (parameter_of(one), claim(other)) {
                        uses.push((number, Node::Claim(claim)));
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the key field that a guard's parameter is compared with.
    fn guarded(&self, guard: GuardId, parameter: usize) -> Option<Node> {
        let guard = &self.model.guards[guard.0];
        let (field, _) = guard.keys.iter().find(|(_, expr)| parameter_of(expr) == Some(parameter))?;
        Some(Node::Field(guard.entity?, *field))
    }
}

fn parameter_of(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::ValuePath(ValuePath { origin: Origin::Parameter(number), path }) if path.is_empty() => Some(*number),
        _ => None,
    }
}

/// Returns whether values of the type can be identifiers.
pub(super) fn is_name(kind: &Type) -> bool {
    match kind.resolved() {
        Type::List(of, _) => is_name(of),
        Type::Scalar(scalar, _) => matches!(scalar.rust().id, Some(RustId::Text(_))),
        _ => false,
    }
}
