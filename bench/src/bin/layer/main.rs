//! Cost of the model layer: a pattern called with typed arguments, compared with the same handwritten request, in
//! process and in memory.
//!
//! Two numbers for each call. The first is the difference on our engine. The second uses a store that returns a
//! prepared answer, so that only the layer itself remains: finding the pattern, checking the arguments, building the
//! request, converting the answer. Both sides run alternately, in short rounds, and the medians are printed.

use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use keyform::execute::BoxFuture;
use keyform_check::Checked;
use keyform::runtime::run::{Call, Runner, RunSettings};
use keyform::{AttributeValue, Attributes, Database, Error, Execute, Operation, Output, SystemWorld, World};
use rustix::time::{ClockId, clock_gettime};

const ROUNDS: usize = 15;
const CALLS: usize = 20_000;
const USER: &str = "01KKP2T8SN0000000000000001";
const NOTE: &str = "01KKP2T8SN0000000000000002";
/// Maximum cost of a simple read or write.
const TARGET_MICROS: f64 = 2.0;

type Answered<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Output, Error>> + Send + 'a>>;

/// A store that records the last request and its answer, and then returns this answer.
struct Canned {
    store: Database,
    last: Mutex<Option<(Operation, Output)>>,
    answers: Mutex<Option<Output>>,
}

impl Execute for Canned {
    fn execute(&self, operation: Operation) -> Answered<'_> {
        Box::pin(async move {
            if let Some(output) = &*self.answers.lock().expect("one thread") {
                black_box(operation);
                return Ok(output.clone());
            }
            let output = self.store.execute(operation.clone()).await?;
            *self.last.lock().expect("one thread") = Some((operation, output.clone()));
            Ok(output)
        })
    }
}

/// A fixed clock and counting ids: time and randomness are not part of the layer's cost.
struct Still(AtomicUsize);

impl World for Still {
    fn now_millis(&self) -> i64 {
        1_773_480_413_589
    }
    fn sleep(&self, time: std::time::Duration) -> BoxFuture<'static, ()> {
        SystemWorld.sleep(time)
    }
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(0);
    }
    fn ulid(&self) -> String {
        fresh_id(self.0.fetch_add(1, Ordering::Relaxed))
    }
    fn uuid(&self) -> String {
        "6f1b9c1e-0000-4000-8000-000000000000".to_owned()
    }
    fn code(&self, length: usize) -> String {
        "a".repeat(length)
    }
    fn token(&self, bytes: usize) -> String {
        "a".repeat(bytes)
    }
    fn jitter(&self) -> f64 {
        0.5
    }
}

/// One line of the table.
struct Subject {
    pattern: &'static str,
    is_read: bool,
    arguments: Attributes,
}

fn main() {
    let note = [("userId", USER), ("noteId", NOTE), ("title", "A title"), ("text", "Some text, as notes have it.")];
    let subjects = [
        Subject { pattern: "note", is_read: true, arguments: attributes(&note[..2]) },
        Subject { pattern: "putNote", is_read: false, arguments: attributes(&note) },
        Subject { pattern: "retitle", is_read: false, arguments: attributes(&note[..3]) },
        Subject { pattern: "addNote", is_read: false, arguments: attributes(&[note[0], note[2], note[3]]) },
    ];
    println!("microseconds of a processor for one call, medians of {ROUNDS} rounds of {CALLS} calls");
    println!("| pattern | the request by hand | the pattern | difference | the layer alone |");
    println!("|---|---|---|---|---|");
    let costs: Vec<f64> = subjects.iter().map(measure).collect();
    let most = costs.iter().copied().fold(0.0, f64::max);
    println!("\nat most {most:.2} µs; the aim is {TARGET_MICROS} µs");
    std::process::exit(i32::from(most > TARGET_MICROS));
}

fn attributes(pairs: &[(&str, &str)]) -> Attributes {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), AttributeValue::from(*value))).collect()
}

/// Prints a line; returns the cost of the layer on the engine.
fn measure(subject: &Subject) -> f64 {
    let store = Arc::new(Canned { store: Database::in_memory(), last: Mutex::default(), answers: Mutex::default() });
    let runner = runner(store.clone(), 2);
    block_on(runner.create_tables()).expect("tables are made");
    let on_engine = self::runner(Arc::new(store.store.clone()), 1_000_000_000);
    block_on(runner.write("addNote", &Call { arguments: full(), ..Call::default() })).expect("a note is written");
    let call = Call { arguments: subject.arguments.clone(), ..Call::default() };
    run(&runner, subject, &call);
    let (operation, output) = store.last.lock().expect("one thread").clone().expect("a request was sent");
    *store.answers.lock().expect("one thread") = Some(output);

    let numbers = AtomicUsize::new(500_000_000);
    let (mut raw, mut layered, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        raw.push(timed(|| by_hand(&store.store, numbers.fetch_add(1, Ordering::Relaxed), &operation)));
        layered.push(timed(|| run(&on_engine, subject, &call)));
        alone.push(timed(|| run(&runner, subject, &call)));
    }
    let (raw, layered, alone) = (median(raw), median(layered), median(alone));
    let difference = layered - raw;
    println!("| {} | {raw:.2} | {layered:.2} | {difference:.2} | {alone:.2} |", subject.pattern);
    difference
}

fn full() -> Attributes {
    attributes(&[("userId", USER), ("title", "A title"), ("text", "Some text, as notes have it.")])
}

/// An id by its number.
fn fresh_id(number: usize) -> String {
    format!("01KKP2T8SN{number:016}")
}

fn runner(store: Arc<dyn Execute>, first: usize) -> Runner {
    let checked = Arc::new(Checked::read(include_str!("notes.kf")));
    let settings = RunSettings { variables: [("stage".to_owned(), "bench".to_owned())].into(), ..RunSettings::default() };
    Runner::new(checked, store, Arc::new(Still(AtomicUsize::new(first))), settings).expect("the model has no errors")
}

/// The request as a program without models builds it, again for each call; the answer becomes attributes.
fn by_hand(store: &Database, number: usize, operation: &Operation) {
    let store: &dyn Execute = store;
    let mut operation = operation.clone();
    if let Operation::PutItem(put) = &mut operation
        && put.options.condition.is_some()
    {
        put.item.insert("sk".to_owned(), format!("NOTE#{}", fresh_id(number)).into());
        put.item.insert("noteId".to_owned(), fresh_id(number).into());
    }
    match block_on(store.execute(operation)).expect("the store answers") {
        Output::GetItem(output) => {
            black_box(output.item.map(|item| item.to_attributes()));
        }
        Output::PutItem(output) | Output::UpdateItem(output) | Output::DeleteItem(output) => {
            black_box(output.attributes.map(|item| item.to_attributes()));
        }
        output => {
            black_box(output);
        }
    }
}

fn run(runner: &Runner, subject: &Subject, call: &Call) {
    if subject.is_read {
        black_box(block_on(runner.read(subject.pattern, call)).expect("the read answers"));
    } else {
        black_box(block_on(runner.write(subject.pattern, call)).expect("the write succeeds"));
    }
}

fn timed(call: impl Fn()) -> f64 {
    let started = processor_nanos();
    (0..CALLS).for_each(|_| call());
    (processor_nanos() - started) / 1e3 / CALLS as f64
}

/// Returns the processor time of this thread, which does not depend on the load of the machine.
fn processor_nanos() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Nothing here waits: a store in memory is ready at once.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
        std::thread::yield_now();
    }
}
