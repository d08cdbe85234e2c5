//! Placeholder until the library comparison stands.
fn main() {}
