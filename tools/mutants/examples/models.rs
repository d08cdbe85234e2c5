#![allow(clippy::print_stdout, missing_docs, reason="scratch")]
use keyform_language::{Checked, document::parse};
use std::time::{Instant,Duration};
fn main() {
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let show = std::env::args().nth(2).is_some();
    std::panic::set_hook(Box::new(|_| {}));
    let (mut ts, mut td, mut tm) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut counts = std::collections::BTreeMap::new();
    for seed in 0..n {
        let text = keyform_mutants::models::draw(seed);
        if show { println!("{text}"); }
        let (document, _) = parse(&text);
        let c = Checked::read(&text);
        let bad: Vec<_> = c.diagnostics.iter().filter(|d| d.severity == keyform_language::Severity::Error || d.code.0.starts_with('P')).collect();
        if !bad.is_empty() { println!("seed {seed} not clean {:?}\n{text}", bad.iter().map(|d| (d.code.0, &d.message)).collect::<Vec<_>>()); continue; }
        let t = Instant::now();
        let m = keyform_mutants::models::weakened(seed, &document).unwrap();
        tm += t.elapsed(); let t = Instant::now();
        let stat = keyform_mutants::verdict::permission_findings(&m.document);
        ts += t.elapsed(); let t = Instant::now();
        let orig = if seed % 2 == 0 { keyform_mutants::verdict::leak(&document, None) } else { keyform_mutants::verdict::leak(&document, Some(&m)) };
        td += t.elapsed();
        let key = if seed % 2 == 0 { format!("original leak={:?}", orig.as_ref().map(|l| l.is_some())) } else { format!("mutant static={} leak={:?}", stat.is_some(), orig.as_ref().map(|l| l.is_some())) };
        if seed % 2 == 0 && orig.as_ref().is_some_and(|l| l.is_some()) { println!("LEAK in original {seed} {orig:?}\n{text}"); }
        if seed % 2 == 1 && stat.is_none() && orig.as_ref().is_some_and(|l| l.is_some()) { println!("UNSOUND {seed} {} {} {orig:?}", m.operator.name(), m.name()); }
        *counts.entry(key).or_insert(0) += 1;
        if stat.is_some() && seed%2==1 && orig == Some(None) { *counts.entry(format!("conservative {} {}", m.operator.name(), stat.unwrap())).or_insert(0) += 1; }
    }
    for (k, v) in counts { println!("{v:6} {k}"); }
    println!("mutate {tm:?} static {ts:?} dynamic {td:?}");
}
