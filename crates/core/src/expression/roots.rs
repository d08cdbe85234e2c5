//! Collects the paths and top-level attributes that an expression uses.

use super::ast::{Condition, Operand, Path, SetValue, Update, UpdateOperand};

impl Condition {
    /// Returns the top-level attributes used by the condition, in text order and with duplicates.
    pub fn roots(&self) -> Vec<&str> {
        self.paths().into_iter().map(Path::root).collect()
    }

    /// Returns the paths used by the condition, in text order and with duplicates.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths = Vec::new();
        self.collect_paths(&mut paths);
        paths
    }

    fn collect_paths<'a>(&'a self, paths: &mut Vec<&'a Path>) {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().for_each(|part| part.collect_paths(paths)),
            Self::Not(part) => part.collect_paths(paths),
            Self::Compare { left, right, .. } => paths.extend([left, right].into_iter().filter_map(Operand::path)),
            Self::Between { operand, low, high } => {
                paths.extend([operand, low, high].into_iter().filter_map(Operand::path));
            }
            Self::In { operand, candidates } => {
                paths.extend(operand.path());
                paths.extend(candidates.iter().filter_map(Operand::path));
            }
            Self::AttributeExists(path) | Self::AttributeNotExists(path) | Self::AttributeType(path, _) => {
                paths.push(path);
            }
            Self::BeginsWith(first, second) | Self::Contains(first, second) => {
                paths.extend([first, second].into_iter().filter_map(Operand::path));
            }
        }
    }
}

impl Operand {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Size(path) => Some(path),
            Self::Value(_) => None,
        }
    }
}

impl Update {
    /// Returns all paths of the update: those it writes or removes, then those it reads.
    pub fn paths(&self) -> Vec<&Path> {
        let mut paths: Vec<&Path> = self.touched_paths().collect();
        for action in &self.set {
            match &action.value {
                SetValue::Operand(operand) => operand.collect_paths(&mut paths),
                SetValue::Plus(left, right) | SetValue::Minus(left, right) => {
                    left.collect_paths(&mut paths);
                    right.collect_paths(&mut paths);
                }
            }
        }
        paths
    }
}

impl UpdateOperand {
    fn collect_paths<'a>(&'a self, paths: &mut Vec<&'a Path>) {
        match self {
            Self::Path(path) => paths.push(path),
            Self::Value(_) => {}
            Self::IfNotExists(path, otherwise) => {
                paths.push(path);
                otherwise.collect_paths(paths);
            }
            Self::ListAppend(first, second) => {
                first.collect_paths(paths);
                second.collect_paths(paths);
            }
        }
    }
}
