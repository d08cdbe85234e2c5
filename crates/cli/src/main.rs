//! The `keyform` command.

fn main() {}
