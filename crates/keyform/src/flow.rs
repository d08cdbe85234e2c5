//! What the code beside a model is written against: flows that clients call, periodic jobs, and the [`Host`] that they
//! run on. An [`Application`](crate::application::Application) holds them together.

pub use keyform_flow::{
    Attempts, BlockingPool, Client, Flow, FlowCall, FlowError, Host, Job, PoolError, Rate, Tables, Throttle, Throttled,
    TokenKeys, TokenKeysError, beginning,
};
