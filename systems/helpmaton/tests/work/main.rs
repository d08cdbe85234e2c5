//! What workspaces do: credit, limits, conversations, usage, agents, documents and connections; and how a workspace goes.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod access_patterns;
mod concurrency;
mod conversations;
mod credits;
mod documents;
mod http;
mod jobs;
mod objects;
mod office;
mod removal;
mod things;
