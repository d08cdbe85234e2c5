//! Request metrics for Prometheus, counted with atomics and rendered on demand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use keyform_core::ErrorCode;
use keyform_core::operation::OperationKind;

use crate::admission::Refusal;
use crate::shared::Shared;

/// Number of operation labels: those of the list, DescribeEndpoints, which no store executes, and `unknown`.
const LABELS: usize = OperationKind::ALL.len() + 2;

/// Operation label of the request metrics and the access log.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Operation(OperationKind),
    DescribeEndpoints,
    /// Operation name that the service does not have.
    Unknown,
}

impl Kind {
    /// Returns the operation that an `X-Amz-Target` header names.
    pub(crate) fn of_target(target: &str) -> Self {
        match target.split_once('.').map_or("", |(_, name)| name) {
            "DescribeEndpoints" => Self::DescribeEndpoints,
            name => OperationKind::from_name(name).map_or(Self::Unknown, Self::Operation),
        }
    }

    /// Returns the name that the service uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Operation(kind) => kind.name(),
            Self::DescribeEndpoints => "DescribeEndpoints",
            Self::Unknown => "unknown",
        }
    }

    /// Returns all labels; [`Self::position`] is a position in them.
    fn all() -> impl Iterator<Item = Self> {
        OperationKind::ALL.iter().copied().map(Self::Operation).chain([Self::DescribeEndpoints, Self::Unknown])
    }

    fn position(self) -> usize {
        match self {
            Self::Operation(kind) => kind as usize,
            Self::DescribeEndpoints => LABELS - 2,
            Self::Unknown => LABELS - 1,
        }
    }
}

/// Connection limits with their metric labels.
const REFUSALS: [(Refusal, &str); 3] =
    [(Refusal::Full, "total"), (Refusal::Client, "address"), (Refusal::Descriptors, "descriptors")];

/// Upper bounds of the latency buckets, in microseconds and as Prometheus labels.
const BUCKETS: [(u64, &str); 14] = [
    (50, "0.00005"),
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (1_000_000, "1"),
    (5_000_000, "5"),
];

/// Metric that a store adds to `/metrics`.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Prometheus metric name, such as `keyform_store_commits_total`.
    pub name: &'static str,
    /// Help text, one sentence.
    pub help: &'static str,
    /// Prometheus metric type.
    pub kind: FigureKind,
    /// Current value.
    pub value: f64,
}

/// Prometheus metric type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// Monotonically increasing.
    Counter,
    /// May increase and decrease.
    Gauge,
}

#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct OperationFigures {
    buckets: [Counter; BUCKETS.len() + 1],
    micros: Counter,
}

impl OperationFigures {
    fn add(&self, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BUCKETS.partition_point(|(end, _)| *end < micros);
        self.buckets[bucket].add(1);
        self.micros.add(micros);
    }

    /// Writes the lines of a histogram, or nothing if it is empty.
    fn write(&self, page: &mut Page, name: &str, labels: &str) {
        let counts: Vec<u64> = self.buckets.iter().map(Counter::get).collect();
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return;
        }
        let mut below = 0;
        for ((_, end), count) in BUCKETS.iter().zip(&counts) {
            below += count;
            page.line(format_args!("{name}_bucket{{{labels},le=\"{end}\"}} {below}"));
        }
        page.line(format_args!("{name}_bucket{{{labels},le=\"+Inf\"}} {total}"));
        let seconds = Duration::from_micros(self.micros.get()).as_secs_f64();
        page.line(format_args!("{name}_sum{{{labels}}} {seconds}"));
        page.line(format_args!("{name}_count{{{labels}}} {total}"));
    }
}

/// Durations and outcomes of one pattern's calls.
#[derive(Default)]
struct CallFigures {
    times: OperationFigures,
    outcomes: BTreeMap<String, u64>,
}

/// All metrics of a server.
pub(crate) struct Metrics {
    /// Moment of the start on the monotonic clock.
    begin: Duration,
    operations: [OperationFigures; LABELS],
    errors: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// Calls by model and pattern.
    calls: Mutex<BTreeMap<(String, String), CallFigures>>,
    received_bytes: Counter,
    sent_bytes: Counter,
    pub(crate) connections: Counter,
    refused: [Counter; REFUSALS.len()],
    /// WebSocket connections opened for live reads.
    pub(crate) live_opened: Counter,
    live_closes: Mutex<BTreeMap<u16, u64>>,
}

impl Metrics {
    pub(crate) fn new(begin: Duration) -> Self {
        Self {
            begin,
            operations: std::array::from_fn(|_| OperationFigures::default()),
            errors: Mutex::default(),
            calls: Mutex::default(),
            received_bytes: Counter::default(),
            sent_bytes: Counter::default(),
            connections: Counter::default(),
            refused: Default::default(),
            live_opened: Counter::default(),
            live_closes: Mutex::default(),
        }
    }

    pub(crate) fn record(&self, kind: Kind, error: Option<ErrorCode>, took: Duration, received: usize, sent: usize) {
        self.operations[kind.position()].add(took);
        self.received_bytes.add(received as u64);
        self.sent_bytes.add(sent as u64);
        if let Some(code) = error {
            let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
            *errors.entry((kind.name(), code.name())).or_default() += 1;
        }
    }

    pub(crate) fn record_refused(&self, refusal: Refusal) {
        let counters = REFUSALS.iter().zip(&self.refused);
        counters.filter(|((known, _), _)| *known == refusal).for_each(|(_, counter)| counter.add(1));
    }

    fn refusals(&self, page: &mut Page) {
        let name = "keyform_connections_refused_total";
        page.head(name, "Connections refused, by the limit that they exceeded.", "counter");
        for ((_, limit), counter) in REFUSALS.iter().zip(&self.refused) {
            page.line(format_args!("{name}{{limit=\"{limit}\"}} {}", counter.get()));
        }
    }

    /// Renders all metrics, including those of the store.
    pub(crate) fn page(&self, shared: &Shared) -> String {
        let mut page = Page(String::with_capacity(8192));
        self.requests(&mut page);
        self.errors(&mut page);
        self.model_calls(&mut page);
        page.single("keyform_received_bytes_total", "Bytes of request bodies.", "counter", self.received_bytes.get());
        page.single(
            "keyform_sent_bytes_total",
            "Bytes of responses before compression.",
            "counter",
            self.sent_bytes.get(),
        );
        page.single("keyform_connections_total", "Connections accepted.", "counter", self.connections.get());
        page.single("keyform_connections", "Open connections.", "gauge", shared.admissions.total());
        self.refusals(&mut page);
        let uptime = shared.world.monotonic().saturating_sub(self.begin);
        page.single("keyform_uptime_seconds", "Time since the start of the server.", "gauge", uptime.as_secs_f64());
        if let Some(bytes) = resident_bytes() {
            page.single("process_resident_memory_bytes", "Memory of the process.", "gauge", bytes);
        }
        broken_items(&mut page, shared);
        self.live(&mut page, shared);
        for figure in shared.probe.iter().flat_map(|probe| probe.figures()) {
            let kind = if figure.kind == FigureKind::Counter { "counter" } else { "gauge" };
            page.single(figure.name, figure.help, kind, figure.value);
        }
        page.0
    }

    fn requests(&self, page: &mut Page) {
        let name = "keyform_request_seconds";
        page.head(name, "Time from the head of a request to its response, by operation.", "histogram");
        for (kind, figures) in Kind::all().zip(&self.operations) {
            figures.write(page, name, &format!("operation=\"{}\"", kind.name()));
        }
    }

    /// Counts a call of a pattern. `outcome` is `ok`, the model's name for a refusal, or the type of the problem.
    pub(crate) fn record_call(&self, model: &str, pattern: &str, outcome: &str, took: Duration) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let figures = calls.entry((model.to_owned(), pattern.to_owned())).or_default();
        figures.times.add(took);
        *figures.outcomes.entry(outcome.to_owned()).or_default() += 1;
    }

    fn model_calls(&self, page: &mut Page) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let labels = |model: &str, pattern: &str| format!("model=\"{}\",pattern=\"{}\"", plain(model), plain(pattern));
        let name = "keyform_model_call_seconds";
        page.head(name, "Time from the head of a call to its response, by model and pattern.", "histogram");
        for ((model, pattern), figures) in &*calls {
            figures.times.write(page, name, &labels(model, pattern));
        }
        let name = "keyform_model_calls_total";
        page.head(
            name,
            "Calls of patterns, by result: ok, the name of an outcome, or the type of a problem.",
            "counter",
        );
        for ((model, pattern), figures) in &*calls {
            for (outcome, count) in &figures.outcomes {
                page.line(format_args!("{name}{{{},outcome=\"{}\"}} {count}", labels(model, pattern), plain(outcome)));
            }
        }
    }

    fn live(&self, page: &mut Page, shared: &Shared) {
        let live = shared.live.figures();
        let opened = self.live_opened.get();
        let open = opened.saturating_sub(self.live_closes().values().sum());
        page.single("keyform_live_connections_total", "WebSockets of live reads opened.", "counter", opened);
        page.single("keyform_live_connections", "Open WebSockets of live reads.", "gauge", open);
        page.head(
            "keyform_live_closes_total",
            "WebSockets of live reads closed, by code; 4008: client too slow.",
            "counter",
        );
        for (code, count) in self.live_closes() {
            page.line(format_args!("keyform_live_closes_total{{code=\"{code}\"}} {count}"));
        }
        page.single("keyform_live_subscriptions", "Active live reads.", "gauge", live.subscriptions);
        page.single("keyform_live_subscriptions_total", "Live reads started.", "counter", live.subscribed);
        page.single("keyform_live_pages_total", "First pages sent.", "counter", live.pages);
        page.single("keyform_live_resumes_total", "Live reads resumed with a token.", "counter", live.resumed);
        page.single(
            "keyform_live_deliveries_total",
            "Deliveries of changes to subscribers.",
            "counter",
            live.deliveries,
        );
        page.single("keyform_live_changes_total", "Changes in these deliveries.", "counter", live.changes);
        let ended = live.ended;
        let reasons = [
            ("forbidden", ended.forbidden),
            ("slow", ended.slow),
            ("unavailable", ended.unavailable),
            ("internal", ended.internal),
        ];
        page.head("keyform_live_ended_total", "Subscriptions ended by the server, by reason.", "counter");
        for (why, count) in reasons {
            page.line(format_args!("keyform_live_ended_total{{reason=\"{why}\"}} {count}"));
        }
        page.head(
            "keyform_live_feed_lag_seconds",
            "Time since all changes of a followed table were last read.",
            "gauge",
        );
        for (table, lag) in &live.feeds {
            let (table, lag) = (plain(table), lag.as_secs_f64());
            page.line(format_args!("keyform_live_feed_lag_seconds{{table=\"{table}\"}} {lag}"));
        }
    }

    fn live_closes(&self) -> BTreeMap<u16, u64> {
        self.live_closes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a closed WebSocket connection by close code; 1006 means that there was none.
    pub(crate) fn record_live_close(&self, code: u16) {
        *self.live_closes.lock().unwrap_or_else(PoisonError::into_inner).entry(code).or_default() += 1;
    }

    fn errors(&self, page: &mut Page) {
        page.head("keyform_errors_total", "Requests that were rejected or failed, by operation and code.", "counter");
        for ((operation, code), count) in &*self.errors.lock().unwrap_or_else(PoisonError::into_inner) {
            page.line(format_args!("keyform_errors_total{{operation=\"{operation}\",code=\"{code}\"}} {count}"));
        }
    }
}

/// Writes how many reads met an item that does not fit its entity. Entities without any are included, so that an alert
/// can tell zero from absent.
fn broken_items(page: &mut Page, shared: &Shared) {
    let name = "keyform_broken_items_total";
    page.head(name, "Reads of stored items that do not fit the model, by model and entity.", "counter");
    for served in shared.models.all() {
        for (entity, count) in served.broken_items() {
            let (model, entity) = (plain(served.name()), plain(entity));
            page.line(format_args!("{name}{{model=\"{model}\",entity=\"{entity}\"}} {count}"));
        }
    }
}

/// Page in the Prometheus text format.
struct Page(String);

impl Page {
    fn head(&mut self, name: &str, help: &str, kind: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn single(&mut self, name: &str, help: &str, kind: &str, value: impl std::fmt::Display) {
        self.head(name, help, kind);
        self.line(format_args!("{name} {value}"));
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{text}").expect("writing to a String never fails");
    }
}

/// Escapes a model name for use in a label.
fn plain(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Returns the resident memory of this process, on systems with `/proc`.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
