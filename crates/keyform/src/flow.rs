//! API for the code beside a model: flows that clients call, periodic jobs, and the [`Host`] that they run on. An
//! [`Application`](crate::application::Application) combines them.

pub use keyform_flow::{
    Attempts, BlockingPool, Client, Flow, FlowCall, FlowError, Host, Job, PoolError, Rate, Tables, Throttle, Throttled,
    TokenKeys, TokenKeysError, beginning,
};
