//! The system's clock, randomness and timer.

pub use keyform_flow::surroundings::System;
