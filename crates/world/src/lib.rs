//! The worlds that programs run in.
//!
//! 1. [`SystemWorld`] is the real one: the machine's clock, tokio's timer, the operating system's randomness. `system`
//!    is the only file that may use them.
//! 2. `testing::ManualWorld` (feature `testing`) is one that tests control.
//! 3. [`exposed_mode`] tells whether other accounts of the machine can read a secret file.
//!
//! [`World`](keyform_core::World) itself is in `keyform-core`, so that a crate can take a world without depending on
//! this one.

#![warn(unreachable_pub)]

mod exposed;
mod system;
#[cfg(feature = "testing")]
pub mod testing;

pub use exposed::exposed_mode;
pub use system::{SystemWorld, monotonic_origin, system};
