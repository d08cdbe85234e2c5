//! Counts calls of several threads for a while.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::subject::{Call, Keyform, Subject, block_on};

const UNDER_WAY: usize = 32;

/// Results of several rounds.
#[derive(Default)]
pub struct Measured {
    rates: Vec<f64>,
}

impl Measured {
    pub fn add(&mut self, rate: f64) {
        self.rates.push(rate);
    }

    pub fn median(&mut self) -> f64 {
        self.rates.sort_by(f64::total_cmp);
        self.rates[self.rates.len() / 2]
    }
}

/// Returns the calls per second if each thread waits for its call.
pub fn run(subject: &impl Subject, call: Call, threads: usize, duration: Duration) -> f64 {
    measure(threads, duration, |ended, next| {
        while !ended() {
            subject.call(call, next());
        }
    })
}

/// Returns the calls per second if each thread has several concurrent calls.
pub fn run_overlapped(subject: &Keyform, call: Call, threads: usize, duration: Duration) -> f64 {
    measure(threads, duration, |ended, next| {
        let mut under_way = VecDeque::new();
        while !ended() {
            under_way.push_back(Box::pin(subject.start(call, next())));
            if under_way.len() == UNDER_WAY {
                block_on(under_way.pop_front().expect("calls are under way")).expect("the call succeeds");
            }
        }
        for rest in under_way {
            block_on(rest).expect("the call succeeds");
        }
    })
}

fn measure(threads: usize, duration: Duration, work: impl Fn(&dyn Fn() -> bool, &dyn Fn() -> usize) + Sync) -> f64 {
    let calls = AtomicUsize::new(0);
    let started = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (calls, work) = (&calls, &work);
            scope.spawn(move || {
                let next = || {
                    let number = calls.fetch_add(1, Ordering::Relaxed);
                    // Spreads calls over the items, so that threads use different ones.
                    number.wrapping_mul(7919) + thread
                };
                work(&|| started.elapsed() >= duration, &next);
            });
        }
    });
    calls.load(Ordering::Relaxed) as f64 / started.elapsed().as_secs_f64()
}
