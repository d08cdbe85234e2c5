//! Random tables: key types, indexes of both kinds, projections, streams.

use std::collections::BTreeMap;

use keyform_core::operation::CreateTable;
use keyform_core::table::{
    AttributeDefinitions, BillingMode, GlobalIndex, KeySchema, LocalIndex, Projection, ScalarType, StreamView,
};

use crate::proof::random::Random;

/// Attributes that are not in the key of any index.
pub const PLAIN: [&str; 8] = ["a", "b", "c", "l", "m", "s", "t", "u"];
const GLOBAL_KEYS: [&str; 3] = ["g1", "g2", "g3"];

/// Table as the generator knows it: its current definition, and the types of all its possible key attributes.
#[derive(Clone, Debug)]
pub struct Design {
    /// Request that creates it.
    pub create: CreateTable,
    /// Types of all attributes that are or may become keys.
    pub kinds: BTreeMap<String, ScalarType>,
    /// Current global indexes.
    pub globals: Vec<GlobalIndex>,
    /// True if some items are large.
    pub large: bool,
    made: usize,
}

impl Design {
    /// Creates a random table with that name.
    pub fn random(random: &mut Random, name: &str, large: bool) -> Self {
        let mut kinds: BTreeMap<String, ScalarType> = BTreeMap::new();
        for attribute in ["pk", "sk", "l1", "l2"].iter().chain(&GLOBAL_KEYS) {
            kinds.insert(
                (*attribute).to_owned(),
                *random.pick(&[ScalarType::S, ScalarType::S, ScalarType::N, ScalarType::B]),
            );
        }
        let sorted = large || random.percent(70);
        let create = CreateTable {
            table: name.to_owned(),
            attributes: AttributeDefinitions::new(),
            key: schema(&["pk"], if sorted { &["sk"] } else { &[] }),
            global_indexes: Vec::new(),
            local_indexes: Vec::new(),
            billing: BillingMode::PayPerRequest,
            throughput: None,
            on_demand: None,
            warm: None,
            stream: random.maybe(70, |random| *random.pick(&StreamView::ALL)),
            sse: None,
            class: None,
            deletion_protected: false,
            tags: Vec::new(),
        };
        let mut design = Self { create, kinds, globals: Vec::new(), large, made: 0 };
        design.add_indexes(random);
        design
    }

    fn add_indexes(&mut self, random: &mut Random) {
        if self.has_sort_key() {
            for (name, attribute) in [("local-1", "l1"), ("local-2", "l2")] {
                if random.percent(35) {
                    let projection = projection(random);
                    let key = schema(&["pk"], &[attribute]);
                    self.create.local_indexes.push(LocalIndex { name: name.to_owned(), key, projection });
                }
            }
        }
        for _ in 0..random.below(3) {
            let index = self.global_index(random);
            self.create.global_indexes.push(index.clone());
            self.globals.push(index);
        }
        self.create.attributes = self.definitions();
    }

    /// Returns a new global index with an unused name.
    pub fn global_index(&mut self, random: &mut Random) -> GlobalIndex {
        self.made += 1;
        let mut attributes = vec!["g1", "g2", "g3", "pk"];
        attributes.extend(self.has_sort_key().then_some("sk"));
        let mut take = |random: &mut Random| attributes.swap_remove(random.below(attributes.len()));
        let partition = random.some(1, if random.clone().percent(30) { 2 } else { 1 }, &mut take);
        let sort = random.some(0, if random.clone().percent(30) { 2 } else { 1 }, &mut take);
        GlobalIndex {
            name: format!("global-{}", self.made),
            key: schema(&partition, &sort),
            projection: projection(random),
            throughput: None,
            on_demand: None,
            warm: None,
        }
    }

    /// Returns whether the table has a sort key.
    pub fn has_sort_key(&self) -> bool {
        !self.create.key.sort.is_empty()
    }

    /// Returns the types of the current key attributes.
    pub fn definitions(&self) -> AttributeDefinitions {
        let locals = self.create.local_indexes.iter().map(|index| &index.key);
        let globals = self.globals.iter().map(|index| &index.key);
        let keys = std::iter::once(&self.create.key).chain(locals).chain(globals);
        keys.flat_map(KeySchema::attributes).map(|name| (name.clone(), self.kinds[name])).collect()
    }
}

fn schema(partition: &[&str], sort: &[&str]) -> KeySchema {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    KeySchema { partition: owned(partition), sort: owned(sort) }
}

fn projection(random: &mut Random) -> Projection {
    match random.below(3) {
        0 => Projection::All,
        1 => Projection::KeysOnly,
        _ => {
            let mut names: Vec<String> = random.some(1, 3, |random| (*random.pick(&PLAIN)).to_owned());
            names.sort();
            names.dedup();
            Projection::Include(names)
        }
    }
}
