//! Model API: serves the patterns of models as paths, with JSON in and out. The runner executes the patterns.
//!
//! Life of a call:
//! 1. `answer` parses the path: `/v1`, `/v1/{model}`, `/v1/{model}/openapi.json` or `/v1/{model}/{pattern}`.
//! 2. [`Models`] finds the model; `served` holds its runner and creates its tables before the first call.
//! 3. [`keyform_check::surface`] finds the pattern and its audience.
//! 4. `caller` authenticates: [`keyform_flow::token`] verifies a bearer token with the server's keys; on loopback without keys it
//!    trusts a header.
//! 5. `arguments` parses query or body into the model's types.
//! 6. The runner executes the pattern. It applies a write that is repeated under one `Idempotency-Key` once and returns
//!    the same answer each time.
//! 7. `problem` and `flow_problem` convert errors to `application/problem+json`.
//!
//! A `flow` of an application is called like a write and runs its own code. `live` serves subscriptions to reads.
//! `openapi` describes a model for clients, `difference` compares two versions of a model.

pub(crate) mod accepted;
mod answer;
mod arguments;
mod caller;
pub(crate) mod cascades;
mod claims;
mod difference;
mod flow_problem;
pub(crate) mod live;
mod models;
mod openapi;
mod problem;
mod repeat;
mod served;

pub(crate) use answer::{answer, closed};
pub(crate) use caller::Authentication;
pub use difference::Difference;
pub use models::Models;
pub use openapi::openapi;
pub use served::Served;
