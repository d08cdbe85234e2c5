//! A run: creates tables on every server, sends requests, compares outcomes, and repairs servers that disagree about an
//! item, so that one difference does not cause a hundred.

#![expect(clippy::disallowed_methods, reason = "it waits for servers")]

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::compare::{Class, Verdict, compare};
use crate::decision::Decision;
use crate::generate;
use crate::outcome::Outcome;
use crate::random::Random;
use crate::record::Recorder;
use crate::report::{Finding, Report, kind_of};
use crate::request::{Request, Touched};
use crate::settings;
use crate::shrink::shrink;
use crate::target::Target;
use crate::world::Table;

const TABLES: usize = 6;
const REQUESTS_PER_EPOCH: usize = 2_500;
const SETTLE_MAX: Duration = Duration::from_secs(20);
const READ_RETRIES: usize = 6;
const DYING: Duration = Duration::from_millis(500);
const SHRINK_MAX: usize = 60;

/// Parameters of a run.
#[derive(Debug)]
pub struct Run {
    /// Our server.
    pub subject: Target,
    /// The peers.
    pub references: Vec<Target>,
    /// The reviewed differences.
    pub decisions: Vec<Decision>,
    /// Seed of the generator.
    pub seed: u64,
    /// Number of requests to send.
    pub requests: usize,
    /// True to minimise unexplained requests before they are reported.
    pub minimise: bool,
    /// File for all differences.
    pub recorder: Option<Recorder>,
}

impl Run {
    /// Sends the requests and returns the report. Reports progress to the callback.
    ///
    /// # Errors
    /// Returns an error if a server that died cannot be started again.
    pub fn execute(mut self, progress: &mut dyn FnMut(&Report, usize)) -> io::Result<Report> {
        let mut random = Random::seeded(self.seed);
        let mut report = Report::default();
        let mut sent = 0;
        let mut epoch = 0;
        while sent < self.requests {
            let tables = self.make_tables(&mut random, epoch);
            let until = (sent + REQUESTS_PER_EPOCH).min(self.requests);
            while sent < until {
                let request = generate::request(&mut random, &tables);
                sent += 1;
                if !self.one(&request, &tables, &mut report)? {
                    break;
                }
                if sent.is_multiple_of(500) {
                    progress(&report, sent);
                }
            }
            self.one(&hostile(&tables[0]), &tables, &mut report)?;
            self.drop_tables(&tables);
            epoch += 1;
        }
        report.crashes = self.targets().map(|target| (target.name.clone(), target.crashes)).collect();
        Ok(report)
    }

    fn targets(&mut self) -> impl Iterator<Item = &mut Target> {
        std::iter::once(&mut self.subject).chain(&mut self.references)
    }

    fn make_tables(&mut self, random: &mut Random, epoch: usize) -> Vec<Table> {
        let seed = self.seed;
        let tables: Vec<Table> =
            (0..TABLES).map(|number| Table::random(random, format!("parity-{seed}-{epoch}-{number}"))).collect();
        for target in self.targets() {
            for table in &tables {
                target.simple("CreateTable", &table.create());
            }
        }
        for target in self.targets() {
            tables.iter().for_each(|table| wait_until_active(target, &table.name));
        }
        tables
    }

    fn drop_tables(&mut self, tables: &[Table]) {
        for target in self.targets() {
            for table in tables {
                target.simple("DeleteTable", &json!({"TableName": table.name}));
            }
        }
    }

    /// Sends one request; returns false if a server died and the tables are lost.
    fn one(&mut self, request: &Request, tables: &[Table], report: &mut Report) -> io::Result<bool> {
        let outcomes = self.settled_outcomes(request);
        if outcomes.iter().any(|outcome| outcome.status == 0) {
            // A server that is about to end closes its connections first.
            sleep(DYING);
        }
        for target in self.targets() {
            if target.revive()? {
                report.died(&target.name, request);
                return Ok(false);
            }
        }
        let verdict = self.judge(request, &outcomes);
        self.record(request, &verdict, &outcomes)?;
        // A peer may reject a batch but still have written a part of it.
        let may_be_apart = request.operation == "BatchWriteItem" && !outcomes[0].is_success();
        if verdict.class != Class::Equal || may_be_apart {
            self.repair(&request.touched);
        }
        self.tidy(request, &outcomes);
        if verdict.class != Class::Equal {
            settings::bring_together(&mut self.subject, &mut self.references, request);
        }
        if !verdict.unexplained.is_empty() {
            let smaller = self.smaller(request, &outcomes, report);
            let repeated = smaller.and_then(|smaller| self.repeated(&smaller, tables));
            report.unexplained(repeated.unwrap_or_else(|| self.finding(request, &verdict, tables, outcomes.clone())));
        }
        report.count(&request.operation, &verdict);
        if outcomes.iter().all(Outcome::is_success) {
            return self.follow(&request.then, tables, report);
        }
        self.undo(request, &outcomes);
        Ok(true)
    }

    /// Sends the follow-up requests.
    fn follow(&mut self, then: &[Request], tables: &[Table], report: &mut Report) -> io::Result<bool> {
        for request in then {
            if !self.one(request, tables, report)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// If a request succeeded on some servers only, sends them only its last follow-up request, which reverts it.
    fn undo(&mut self, request: &Request, outcomes: &[Outcome]) {
        let Some(last) = request.then.last() else { return };
        for (target, _) in self.targets().zip(outcomes).filter(|(_, outcome)| outcome.is_success()) {
            target.ask(last);
            wait_until_active(target, last.body["TableName"].as_str().unwrap_or_default());
        }
    }

    fn record(&mut self, request: &Request, verdict: &Verdict, outcomes: &[Outcome]) -> io::Result<()> {
        if verdict.class == Class::Equal || self.recorder.is_none() {
            return Ok(());
        }
        let names: Vec<String> = self.targets().map(|target| target.name.clone()).collect();
        let answers = names.into_iter().zip(outcomes.iter().cloned()).collect();
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.write(request, answers))
    }

    fn judge(&self, request: &Request, outcomes: &[Outcome]) -> Verdict {
        let names = self.references.iter().map(|target| target.name.as_str());
        let peers: Vec<(&str, &Outcome)> = names.zip(&outcomes[1..]).collect();
        compare(&self.decisions, request, &outcomes[0], &peers)
    }

    /// Returns the outcomes of a request. Repeats a read that differs for a while, because a peer's indexes may lag
    /// behind its tables.
    fn settled_outcomes(&mut self, request: &Request) -> Vec<Outcome> {
        let mut outcomes = self.outcomes(request);
        for retry in 0..READ_RETRIES {
            let settled = outcomes.windows(2).all(|pair| pair[0] == pair[1]);
            if settled || !request.touched.is_empty() || !matches!(request.operation.as_str(), "Query" | "Scan") {
                break;
            }
            if outcomes.iter().any(|outcome| !outcome.is_success()) {
                break;
            }
            sleep(Duration::from_millis(10 << retry));
            outcomes = self.outcomes(request);
        }
        outcomes
    }

    fn outcomes(&mut self, request: &Request) -> Vec<Outcome> {
        self.targets().map(|target| outcome(target, request)).collect()
    }

    /// Copies our version of the items to every peer; an item that one of them rejects is removed everywhere.
    fn repair(&mut self, touched: &[Touched]) {
        for item in touched {
            let key = json!({"TableName": item.table, "Key": item.key});
            let found = read_item(&mut self.subject, item);
            let mut refused = false;
            for reference in &mut self.references {
                let outcome = match &found {
                    Some(found) => reference.simple("PutItem", &json!({"TableName": item.table, "Item": found})),
                    None => reference.simple("DeleteItem", &key),
                };
                refused |= !outcome.is_success();
            }
            if refused {
                self.targets().for_each(|target| drop(target.simple("DeleteItem", &key)));
            }
        }
    }

    /// Deletes the table that a request created, and waits for the one that it changed.
    fn tidy(&mut self, request: &Request, outcomes: &[Outcome]) {
        let Some(table) = &request.table_changed else { return };
        for (target, outcome) in self.targets().zip(outcomes) {
            if !outcome.is_success() {
                continue;
            }
            let made = request.body["TableName"].as_str().unwrap_or(table);
            wait_until_active(target, made);
            if request.operation == "CreateTable" {
                target.simple("DeleteTable", &json!({"TableName": made}));
                wait_until_gone(target, made);
            }
        }
    }

    /// Returns a smaller request that still shows an unexplained difference of a new kind.
    fn smaller(&mut self, request: &Request, outcomes: &[Outcome], report: &Report) -> Option<Request> {
        let kind = kind_of(&request.operation, outcomes.iter());
        let wanted = self.minimise && report.findings.len() < SHRINK_MAX && !report.has_seen(&kind);
        if !wanted || request.table_changed.is_some() {
            return None;
        }
        let smaller = shrink(request, &mut |candidate| {
            let outcomes = self.settled_outcomes(candidate);
            let verdict = self.judge(candidate, &outcomes);
            if verdict.class != Class::Equal {
                self.repair(&candidate.touched);
            }
            !verdict.unexplained.is_empty() && kind_of(&candidate.operation, outcomes.iter()) == kind
        });
        (smaller.body != request.body).then_some(smaller)
    }

    /// Sends a request again and returns its finding, if it still shows a difference.
    fn repeated(&mut self, request: &Request, tables: &[Table]) -> Option<Finding> {
        let item_before = request.touched.first().and_then(|touched| read_item(&mut self.subject, touched));
        let outcomes = self.settled_outcomes(request);
        let verdict = self.judge(request, &outcomes);
        self.repair(&request.touched);
        let shows = !verdict.unexplained.is_empty();
        shows.then(|| Finding { item_before, ..self.finding(request, &verdict, tables, outcomes) })
    }

    fn finding(&mut self, request: &Request, verdict: &Verdict, tables: &[Table], outcomes: Vec<Outcome>) -> Finding {
        let text = request.body.to_string();
        let names: Vec<String> = self.targets().map(|target| target.name.clone()).collect();
        Finding {
            operation: request.operation.clone(),
            request: request.body.clone(),
            class: verdict.class,
            answers: names.into_iter().zip(outcomes).collect(),
            table: tables.iter().find(|table| text.contains(table.name.as_str())).map(Table::create),
            item_before: None,
        }
    }
}

/// A request that crashes servers whose parsers recurse without a limit; ours must reject it.
fn hostile(table: &Table) -> Request {
    Request::new("Scan", json!({"TableName": table.name, "FilterExpression": "(".repeat(4_000)}))
}

/// Returns the outcome of a request on a server, with the resulting items that it may have written.
fn outcome(target: &mut Target, request: &Request) -> Outcome {
    let mut outcome = target.ask(request);
    if request.operation == "Scan" && request.body.get("TotalSegments").is_some() && outcome.is_success() {
        // The items of a segment differ between servers.
        outcome.body = json!({});
    }
    if outcome.is_success() && !request.touched.is_empty() {
        let after = request.touched.iter().map(|item| read_item(target, item).unwrap_or_default());
        outcome.body["after"] = after.collect();
    }
    outcome
}

fn read_item(target: &mut Target, item: &Touched) -> Option<Value> {
    let body = json!({"TableName": item.table, "Key": item.key, "ConsistentRead": true});
    let mut outcome = target.simple("GetItem", &body);
    outcome.body.get_mut("Item").map(Value::take)
}

fn wait_until_active(target: &mut Target, table: &str) {
    let body = json!({"TableName": table});
    wait(|| {
        let outcome = target.call("DynamoDB_20120810.DescribeTable", "raw", &body);
        let status = &outcome.body["Table"]["TableStatus"];
        let indexes = outcome.body["Table"]["GlobalSecondaryIndexes"].as_array();
        let built = indexes.is_none_or(|all| all.iter().all(|index| index["IndexStatus"] == "ACTIVE"));
        !outcome.is_success() || (status == "ACTIVE" && built)
    });
}

fn wait_until_gone(target: &mut Target, table: &str) {
    let body = json!({"TableName": table});
    wait(|| !target.simple("DescribeTable", &body).is_success());
}

fn wait(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + SETTLE_MAX;
    while !done() && Instant::now() < end {
        sleep(Duration::from_millis(20));
    }
}
