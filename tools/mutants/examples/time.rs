#![allow(clippy::print_stdout, missing_docs, reason="scratch")]
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let begin = std::time::Instant::now();
    for _ in 0..5 { std::hint::black_box(keyform_language::Checked::read(&text)); }
    println!("check {:?}", begin.elapsed()/5);
    let mut c = keyform_language::Checked::read(&text); c.diagnostics.clear();
    let begin = std::time::Instant::now();
    std::hint::black_box(keyform_prove::prove(&c).unwrap());
    println!("prove all {:?}", begin.elapsed());
}
