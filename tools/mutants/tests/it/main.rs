//! Tests of the permission proof by weakened and by random models.

mod random;
mod systems;
