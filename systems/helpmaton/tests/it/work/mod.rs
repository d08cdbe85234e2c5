//! Contents of workspaces: credits, limits, conversations, usage, agents, documents and connections; and the removal of
//! a workspace.

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
