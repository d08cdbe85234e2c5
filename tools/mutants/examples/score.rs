#![allow(clippy::print_stdout, missing_docs, reason="scratch")]
use keyform_mutants::{verdict::Original, mutants};
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let op = std::env::args().nth(2);
    let mut original = Original::new(&text);
    let document = original.document().clone();
    std::panic::set_hook(Box::new(|_| {}));
    let begin = std::time::Instant::now();
    let all = mutants(&document);
    println!("{} mutants {:?}", all.len(), begin.elapsed());
    for m in all { if op.as_deref().is_some_and(|o| o != m.operator.name()) {continue}
        let v = original.judge(&m);
        println!("{} | {} | {:?} | {:?}", m.operator.name(), m.name(), v.codes, v.effect);
    }
    println!("{:?}", begin.elapsed());
}
