//! Integration tests of the comparison with other implementations.

mod page;
