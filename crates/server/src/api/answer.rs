//! Answers requests below `/v1`: routing, authentication, arguments, execution.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::{Method, Request};
use keyform_check::surface::{Audience, Pattern};
use keyform_core::ErrorCode;
use keyform_core::world::timeout;
use keyform_flow::{Client, Flow, FlowCall};
use keyform_runtime::run::{Call, Caller, json};
use serde_json::{Value, json};

use super::arguments;
use super::flow_problem;
use super::models::Models;
use super::openapi;
use super::problem::{self, Problem};
use super::repeat::Scope;
use super::served::Served;
use crate::body::{self, Body, BodyError};
use crate::observe;
use crate::reply::{self, Reply};
use crate::request_id::RequestId;
use crate::shared::Shared;
use crate::sigv4::{in_path, path_part};
use crate::stream::Presence;
use crate::work;

/// Status and body of a successful call.
type Answered = (u16, Vec<u8>);

/// Maximum length of an `Idempotency-Key` header.
const KEY_BYTES_MAX: usize = 255;

pub(crate) async fn answer(shared: &Arc<Shared>, request: Request<Incoming>) -> Reply {
    let (begin, id) = (shared.world.monotonic(), RequestId::next());
    let (head, body) = request.into_parts();
    let answer = route(shared, &head, body).await;
    let reply = match &answer {
        Ok((status, body)) => reply::model(*status, body.clone(), false, None, &id),
        Err(problem) => reply::model(problem.status(), problem.body(), true, problem.header(), &id),
    };
    let took = shared.world.monotonic().saturating_sub(begin);
    count(shared, &head, &answer, took);
    let mut names = head.uri.path().split('/').skip(2);
    let (names, client) = ((names.next(), names.next()), head.extensions.get().copied());
    observe::model_call(names, reply.status().as_u16(), took, client, &id);
    // An unread rest of the body may still be in transit, so the connection cannot be reused.
    if answer.is_err() && head.method != Method::GET { reply::closing(reply) } else { reply }
}

/// Refuses model API requests while no key to verify tokens is configured.
pub(crate) fn closed() -> Reply {
    let advice = "the model API is closed: credentials are configured, but no key to verify the tokens of callers: configure a token key";
    let problem = Problem::new(problem::FORBIDDEN, advice);
    reply::closing(reply::model(problem.status(), problem.body(), true, None, &RequestId::next()))
}

/// Counts a call of an existing pattern. Unknown names are not counted, so that clients cannot grow the metrics.
fn count(shared: &Shared, head: &Parts, answer: &Result<Answered, Problem>, took: Duration) {
    let names: Vec<&str> = head.uri.path().split('/').skip(2).collect();
    let [model, pattern] = names.as_slice() else { return };
    let outcome = match answer {
        Ok(_) => "ok",
        Err(problem) if problem.is(problem::UNKNOWN_PATH) => return,
        Err(problem) => problem.name(),
    };
    if answer.as_ref().is_err_and(|problem| problem.is(problem::FORBIDDEN)) {
        tracing::debug!(model, pattern, "caller not allowed: rejected by `allow` or a guard");
    }
    shared.metrics.record_call(model, pattern, outcome, took);
}

async fn route(shared: &Arc<Shared>, head: &Parts, body: Incoming) -> Result<Answered, Problem> {
    let path: Vec<String> = head.uri.path().trim_end_matches('/').split('/').skip(2).map(path_part).collect();
    match path.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => {
            check_method(head, "GET")?;
            Ok(found(&list(&shared.models)))
        }
        [model] => {
            check_method(head, "GET")?;
            Ok(found(&describe(&*find(shared, model)?)))
        }
        [model, "openapi.json"] => {
            check_method(head, "GET")?;
            let served = find(shared, model)?;
            Ok(found(&openapi::of_served(&served)))
        }
        [model, pattern] => call(shared, head, body, &*find(shared, model)?, pattern).await,
        _ => Err(Problem::new(problem::UNKNOWN_PATH, "the path of a pattern is /v1/{model}/{pattern}")),
    }
}

pub(super) fn find(shared: &Shared, name: &str) -> Result<Arc<Served>, Problem> {
    let unknown = || {
        let names = shared.models.names().join(", ");
        Problem::new(problem::UNKNOWN_PATH, format!("no model with this name; the models are: {names}"))
    };
    shared.models.get(name).ok_or_else(unknown)
}

fn check_method(head: &Parts, wanted: &'static str) -> Result<(), Problem> {
    if head.method.as_str() == wanted {
        return Ok(());
    }
    Err(Problem::new(problem::METHOD, format!("this path accepts {wanted}")).with_header("allow", wanted))
}

fn found(value: &Value) -> Answered {
    (200, value.to_string().into_bytes())
}

fn list(models: &Models) -> Value {
    let model = |name: &String| {
        let url = format!("/v1/{}", in_path(name));
        json!({ "name": name, "url": url, "openapi": format!("{url}/openapi.json") })
    };
    json!({ "models": models.names().iter().map(model).collect::<Vec<_>>() })
}

fn describe(served: &Served) -> Value {
    let model = served.model();
    let pattern = |pattern: Pattern<'_>| {
        let arguments: Vec<&str> = pattern.arguments(model).map(|argument| argument.name).collect();
        json!({
            "name": pattern.name(),
            "method": pattern.method(),
            "url": format!("/v1/{}/{}", in_path(&model.name), in_path(pattern.name())),
            "arguments": arguments,
            "outcomes": pattern.outcomes(served.checked()),
            "description": pattern.docs(),
        })
    };
    let flow = |flow: &Flow| {
        json!({
            "name": flow.name(),
            "method": "POST",
            "url": format!("/v1/{}/{}", model.name, flow.name()),
            "outcomes": flow.refusals(),
            "description": flow.about(),
        })
    };
    json!({
        "name": model.name,
        "patterns": Pattern::reachable(model).map(pattern).collect::<Vec<_>>(),
        "flows": served.flows().iter().map(flow).collect::<Vec<_>>(),
    })
}

/// Calls a pattern: checks the audience, authenticates the caller, parses the arguments, then runs it.
async fn call(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
    served: &Served,
    name: &str,
) -> Result<Answered, Problem> {
    let model = served.model();
    let unknown = || Problem::new(problem::UNKNOWN_PATH, "the model has no such pattern");
    if let Some(flow) = served.flow(name) {
        return run_flow(shared, head, body, served, flow).await;
    }
    let pattern = Pattern::find(model, name).ok_or_else(unknown)?;
    match pattern.audience(model) {
        Audience::Nobody => return Err(unknown()),
        Audience::System => {
            return Err(Problem::new(
                problem::FORBIDDEN,
                "this pattern is for code only, not for \
            callers",
            ));
        }
        Audience::Everybody | Audience::Callers => {}
    }
    check_method(head, pattern.method())?;
    shared.authentication.prepare(&head.headers).await;
    let caller = shared.authentication.caller(&head.headers, model, pattern)?;
    match pattern {
        Pattern::Read(_) => read(head, served, pattern, caller).await,
        Pattern::Write(_) => write(shared, head, body, served, pattern, caller).await,
    }
}

async fn read(head: &Parts, served: &Served, pattern: Pattern<'_>, caller: Caller) -> Result<Answered, Problem> {
    let model = served.model();
    let (arguments, cursor) = arguments::of_query(model, pattern, head.uri.query().unwrap_or_default())?;
    let call = Call { arguments, caller, cursor, token: None };
    served.attempt(pattern.name(), client(head), &call)?;
    let work = async { served.runner().await?.read(pattern.name(), &call).await };
    let answer = whole(work).await?.map_err(|error| Problem::of(error, model))?;
    Ok(found(&json::answer(model, &answer)))
}

async fn write(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
    served: &Served,
    pattern: Pattern<'_>,
    caller: Caller,
) -> Result<Answered, Problem> {
    let body = read_body(shared, head, body).await?;
    let arguments = arguments::of_body(served.model(), pattern, body.bytes())?;
    let call = Call { arguments, caller, cursor: None, token: None };
    served.attempt(pattern.name(), client(head), &call)?;
    apply(served, pattern, call, idempotency_key(head)?).await
}

/// Runs a flow. The flow's own code handles repeated calls with the same idempotency key.
async fn run_flow(
    shared: &Arc<Shared>,
    head: &Parts,
    body: Incoming,
    served: &Served,
    flow: &Flow,
) -> Result<Answered, Problem> {
    check_method(head, "POST")?;
    shared.authentication.prepare(&head.headers).await;
    let caller = shared.authentication.claimant(&head.headers, served.model(), flow.is_public())?;
    let body = read_body(shared, head, body).await?;
    let arguments = Value::Object(arguments::object(body.bytes())?);
    let key = idempotency_key(head)?;
    let scope = key.map(|key| Scope { model: served.name(), pattern: flow.name(), caller: &caller, key });
    let token = scope.as_ref().map(Scope::token);
    let call = FlowCall { caller: caller.clone(), client: client(head), token, arguments };
    // Create the model's tables before the first flow runs.
    served.runner().await.map_err(|error| Problem::of(error, served.model()))?;
    let answer = while_wanted(shared, head, flow, whole(flow.call(call))).await??;
    answer.map(|answer| found(&answer)).map_err(|error| flow_problem::of(error, served.model()))
}

/// Runs the work of a flow until its deadline or, if it is interruptible, until its caller disconnects. Dropping the
/// future is as safe as a crash of the process at that point.
async fn while_wanted<T>(
    shared: &Shared,
    head: &Parts,
    flow: &Flow,
    work: impl Future<Output = T>,
) -> Result<T, Problem> {
    let presence = head.extensions.get::<Presence>().filter(|_| flow.is_interruptible());
    let left = async {
        match presence {
            Some(presence) => presence.left().await,
            None => std::future::pending().await,
        }
    };
    let limit = shared.timeouts.flow;
    tokio::select! {
        done = timeout(&*shared.world, limit, work) => done.map_err(|_| {
            tracing::warn!(flow = flow.name(), "stopped at its deadline of {} s", limit.as_secs());
            let detail = "the flow was stopped at its deadline, but its writes stay: check them before you call it \
                again";
            Problem::new(problem::DEADLINE, detail)
        }),
        () = left => {
            tracing::debug!(flow = flow.name(), "stopped: the client disconnected");
            Err(Problem::new(problem::DEADLINE, "the client disconnected"))
        }
    }
}

/// Returns the client that sent the request.
fn client(head: &Parts) -> Client {
    head.extensions.get::<Client>().copied().unwrap_or(Client::LOCAL)
}

async fn read_body(shared: &Arc<Shared>, head: &Parts, body: Incoming) -> Result<Body, Problem> {
    arguments::check_content_type(&head.headers)?;
    let body = body::read(head, body, shared).await.map_err(|error| unread(&error))?;
    let body = body::unpack(&head.headers, body, shared).await;
    body.map_err(|error| match error.code() {
        ErrorCode::RequestTooLarge => unread(&BodyError::TooLarge),
        _ => Problem::new(problem::BODY, error.message()),
    })
}

fn idempotency_key(head: &Parts) -> Result<Option<&str>, Problem> {
    let Some(value) = head.headers.get("idempotency-key") else { return Ok(None) };
    let key = value.to_str().ok().filter(|key| !key.is_empty() && key.len() <= KEY_BYTES_MAX);
    let wrong = || Problem::new(problem::ARGUMENTS, "Idempotency-Key must have 1 to 255 ASCII characters");
    key.map(Some).ok_or_else(wrong)
}

/// Applies a write. A write without a result returns an empty body.
async fn apply(served: &Served, pattern: Pattern<'_>, call: Call, key: Option<&str>) -> Result<Answered, Problem> {
    let model = served.model();
    let work = async {
        match key {
            Some(key) => served.runner_with_answers().await?.write_once(pattern.name(), &call, key).await,
            None => served.runner().await?.write(pattern.name(), &call).await,
        }
    };
    let item = whole(work).await?.map_err(|error| Problem::of(error, model).without_key())?;
    if matches!(pattern, Pattern::Write(write) if write.result.is_none()) {
        return Ok((204, Vec::new()));
    }
    match item {
        Some(item) => Ok(found(&json::found(model, &item))),
        None if pattern.may_be_none() => Ok(found(&Value::Null)),
        // A repeated call of a caller who is no longer permitted: the write was applied, and its item is not shown.
        None if key.is_some() => Ok((204, Vec::new())),
        None => Err(Problem::new(problem::NOT_FOUND, "the write was applied; its item was deleted immediately after")),
    }
}

/// Runs the work to completion; a panic becomes an internal error of this call alone.
async fn whole<T>(work: impl Future<Output = T>) -> Result<T, Problem> {
    work::whole(work).await.map_err(|error| Problem::new(problem::INTERNAL, error.message()))
}

fn unread(error: &BodyError) -> Problem {
    match error {
        BodyError::TooLarge => Problem::new(problem::TOO_LARGE, "the body exceeds the limit of this server"),
        BodyError::TooSlow => Problem::new(problem::BODY, "the body took too long"),
        BodyError::Broken => Problem::new(problem::BODY, "the body is incomplete"),
    }
}
