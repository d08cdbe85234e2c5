//! Support for tests of single steps.
