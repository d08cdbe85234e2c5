//! A whole run as data: tables, and a sequence of steps. Steps do not depend on responses, so a run stays valid when
//! steps are removed.

use keyform_core::operation::{
    DeleteTable, GlobalIndexChange, Operation, Query, Scan, StreamChange, TimeToLive, UpdateTable, UpdateTimeToLive,
};
use keyform_core::table::StreamView;
use keyform_engine::store::PowerCut;

use super::table::Design;
use super::{read, write};
use crate::proof::random::Random;

/// Step of a run.
#[derive(Clone, Debug)]
pub enum Step {
    /// Runs an operation once.
    Run(Operation),
    /// Runs a query page by page to the end.
    QueryThrough(Query),
    /// Runs a scan in this many segments, page by page to the end.
    ScanThrough(Scan, u32),
    /// Advances the clock.
    Wait { ms: u64 },
    /// Runs the background work.
    Sweep,
    /// Closes and reopens the database.
    Reopen,
    /// Cuts the power and opens the database from what the disk kept.
    PowerCut(PowerCut),
    /// Compares everything: items, indexes, counts, streams.
    Compare,
}

#[derive(Clone, Debug)]
pub struct Plan {
    /// Seed of the run, shown in reports.
    pub seed: u64,
    pub steps: Vec<Step>,
}

impl Plan {
    /// Creates the run of a seed.
    pub fn random(seed: u64, length: usize) -> Self {
        let mut random = Random::new(seed);
        let large = random.percent(4);
        let names = ["orders", "people"];
        let mut designs: Vec<Design> =
            names[..random.between(1, 2)].iter().map(|name| Design::random(&mut random, name, large)).collect();
        let creates = designs.iter().map(|design| Step::Run(Operation::CreateTable(design.create.clone())));
        let mut steps: Vec<Step> = creates.chain([Step::Sweep]).collect();
        while steps.len() < length {
            step(&mut random, &mut designs, &mut steps);
        }
        steps.push(Step::Compare);
        Self { seed, steps }
    }

    /// Creates random writes and table changes, without reads and crashes.
    pub fn random_writes(seed: u64, length: usize) -> Self {
        let mut random = Random::new(seed);
        let mut designs = [Design::random(&mut random, "orders", false)];
        let mut steps = vec![Step::Run(Operation::CreateTable(designs[0].create.clone())), Step::Sweep];
        while steps.len() < length {
            if random.percent(8) {
                change_table(&mut random, &mut designs[0], &mut steps);
            } else {
                steps.push(Step::Run(write(&mut random, &designs)));
            }
        }
        Self { seed, steps }
    }
}

fn step(random: &mut Random, designs: &mut [Design], steps: &mut Vec<Step>) {
    let place = random.below(designs.len());
    let design = &mut designs[place];
    match random.below(100) {
        0..50 => steps.push(Step::Run(write(random, designs))),
        50..62 => steps.push(Step::Run(read(random, designs))),
        62..76 => steps.push(Step::QueryThrough(read::query(random, design))),
        76..82 => {
            let segments = *random.pick(&[1, 1, 2, 3, 7]);
            steps.push(Step::ScanThrough(read::scan(random, design), segments));
        }
        82..85 => steps.push(Step::Wait { ms: some_time(random) }),
        85..89 => steps.push(Step::Sweep),
        89..91 => steps.push(Step::Reopen),
        91..93 => steps.push(Step::PowerCut(power_cut(random))),
        93..94 => steps.push(Step::Compare),
        94..96 => steps.push(Step::Run(time_to_live(random, design))),
        _ => change_table(random, design, steps),
    }
}

/// Returns a duration, mostly up to about an hour, sometimes long enough for stream records to be trimmed.
fn some_time(random: &mut Random) -> u64 {
    if random.percent(10) { 25 * 60 * 60 * 1000 } else { random.between(1, 4_000_000) as u64 }
}

fn write(random: &mut Random, designs: &[Design]) -> Operation {
    let place = random.below(designs.len());
    let design = &designs[place];
    match random.below(20) {
        0..8 => write::put(random, design),
        8..13 => write::update_item(random, design),
        13..16 => write::delete(random, design),
        16 | 17 => write::batch_write(random, designs),
        _ => write::transact_write(random, designs),
    }
}

fn read(random: &mut Random, designs: &[Design]) -> Operation {
    let place = random.below(designs.len());
    let design = &designs[place];
    match random.below(4) {
        0 | 1 => read::get(random, design),
        2 => read::batch_get(random, designs),
        _ => read::transact_get(random, designs),
    }
}

fn power_cut(random: &mut Random) -> PowerCut {
    match random.below(3) {
        0 => PowerCut::DropAll,
        1 => PowerCut::KeepAll,
        _ => PowerCut::Tear(random.bits()),
    }
}

fn time_to_live(random: &mut Random, design: &Design) -> Operation {
    let setting = TimeToLive { attribute: "t".to_owned(), enabled: random.percent(75) };
    Operation::UpdateTimeToLive(UpdateTimeToLive { table: design.create.table.clone(), setting })
}

/// Deletes the table and creates it again with its current indexes and stream.
fn make_anew(design: &mut Design, steps: &mut Vec<Step>) {
    design.create.global_indexes.clone_from(&design.globals);
    design.create.attributes = design.definitions();
    steps.push(Step::Run(Operation::DeleteTable(DeleteTable { table: design.create.table.clone() })));
    steps.push(Step::Wait { ms: 1000 });
    steps.push(Step::Run(Operation::CreateTable(design.create.clone())));
}

/// Adds or removes an index, toggles the stream, or recreates the table. The background runs before the change, so that
/// the previous one is complete.
fn change_table(random: &mut Random, design: &mut Design, steps: &mut Vec<Step>) {
    steps.push(Step::Sweep);
    if random.percent(15) {
        return make_anew(design, steps);
    }
    let mut request = UpdateTable { table: design.create.table.clone(), ..UpdateTable::default() };
    match random.below(3) {
        0 if design.globals.len() < 4 => {
            let index = design.global_index(random);
            design.globals.push(index.clone());
            request.indexes.push(GlobalIndexChange::Create(index));
        }
        1 if !design.globals.is_empty() => {
            let index = design.globals.swap_remove(random.below(design.globals.len()));
            request.indexes.push(GlobalIndexChange::Delete { name: index.name });
        }
        _ => {
            // Toggles the stream. A new stream needs a different creation time than the last one.
            steps.push(Step::Wait { ms: 1000 });
            let enabled = design.create.stream.take();
            design.create.stream = if enabled.is_none() { Some(*random.pick(&StreamView::ALL)) } else { None };
            request.stream = Some(design.create.stream.map_or(StreamChange::Disable, StreamChange::Enable));
        }
    }
    request.attributes = design.definitions();
    steps.push(Step::Run(Operation::UpdateTable(request)));
}
