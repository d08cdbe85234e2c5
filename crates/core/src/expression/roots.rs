//! Which top-level attributes a condition is about.

use super::ast::{Condition, Operand};

impl Condition {
    /// The top-level attributes that the condition names, in the order in which they are written, repeated as they are.
    pub fn roots(&self) -> Vec<&str> {
        let mut roots = Vec::new();
        self.collect_roots(&mut roots);
        roots
    }

    fn collect_roots<'a>(&'a self, roots: &mut Vec<&'a str>) {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect_roots(roots)),
            Self::Not(part) => part.collect_roots(roots),
            Self::Compare { left, right, .. } => roots.extend([left, right].into_iter().filter_map(Operand::root)),
            Self::Between { operand, low, high } => {
                roots.extend([operand, low, high].into_iter().filter_map(Operand::root));
            }
            Self::In { operand, candidates } => {
                roots.extend(operand.root());
                roots.extend(candidates.iter().filter_map(Operand::root));
            }
            Self::AttributeExists(path) | Self::AttributeNotExists(path) | Self::AttributeType(path, _) => {
                roots.push(path.root());
            }
            Self::BeginsWith(first, second) | Self::Contains(first, second) => {
                roots.extend([first, second].into_iter().filter_map(Operand::root));
            }
        }
    }
}

impl Operand {
    fn root(&self) -> Option<&str> {
        match self {
            Self::Path(path) | Self::Size(path) => Some(path.root()),
            Self::Value(_) => None,
        }
    }
}
