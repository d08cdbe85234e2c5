//! The model API: the patterns of models as paths, with JSON in and out. It knows what a model says; how a pattern runs is the runner's business.
//!
//! The life of a call:
//! 1. `answer` reads the path: `/v1`, `/v1/{model}`, `/v1/{model}/openapi.json` or `/v1/{model}/{pattern}`.
//! 2. [`Models`] knows the models; `served` is one of them with its runner, and makes its tables before the first call.
//! 3. [`keyform_language::surface`] has the pattern, and whether it is for callers at all.
//! 4. `caller` asks who calls: `token` verifies a bearer token with the [`TokenKeys`]; on loopback without keys a header is believed.
//! 5. `arguments` reads query or body in the types of the model.
//! 6. The runner runs the pattern; a write that is sent again under its `Idempotency-Key` it applies once, and answers alike.
//! 7. `problem` says what went wrong, as `application/problem+json`.
//!
//! A `flow` of an application is called like a write, and runs its own code.
//!
//! `live` is for those who follow a read. `openapi` describes a model for clients, `difference` tells what a new version of a model changes.

mod answer;
mod arguments;
mod caller;
pub(crate) mod cascades;
mod difference;
mod flow;
pub(crate) mod live;
mod models;
mod openapi;
mod problem;
mod repeat;
mod served;
mod token;
mod token_keys;

pub(crate) use answer::{answer, closed};
pub(crate) use caller::Authentication;
pub use difference::Difference;
pub use flow::{Flow, FlowCall, FlowError};
pub use models::Models;
pub use openapi::openapi;
pub use served::{Served, Tables};
pub use token_keys::{TokenKeys, TokenKeysError};
