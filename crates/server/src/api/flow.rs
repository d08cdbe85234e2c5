//! Flows: what an application does beside the patterns of its model, such as a sign-up that hashes a password.
//!
//! A flow is a function from its arguments to its answer, both with a schema. It stands at `/v1/{model}/{flow}` as a write would: POST, a JSON object in,
//! problems out, and it is in the model's OpenAPI document.
//!
//! A flow has a deadline. When it passes, the flow's future is dropped where it waits, as if the process had stopped there: what was written stays.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use keyform_runtime::run::{Caller, RunError};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::problem::{self, Problem};
use crate::client::Client;
use crate::throttle::Throttled;

/// A procedure of an application.
///
/// ```
/// use keyform_server::{Flow, FlowCall, FlowError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greeting {
///     name: String,
/// }
///
/// let greet = Flow::new("greet", "Says hello.", |call: FlowCall<Greeting>| async move {
///     match call.arguments.name.as_str() {
///         "" => Err(FlowError::refused("NobodyThere", "a greeting needs a name")),
///         name => Ok(format!("hello, {name}")),
///     }
/// });
/// let greet = greet.public().outcomes(&["NobodyThere"]);
/// assert_eq!(greet.name(), "greet");
/// ```
#[derive(Clone)]
pub struct Flow {
    name: &'static str,
    about: &'static str,
    outcomes: &'static [&'static str],
    public: bool,
    interruptible: bool,
    arguments: Value,
    answer: Value,
    run: Arc<Run>,
}

type Work = Pin<Box<dyn Future<Output = Result<Value, FlowError>> + Send>>;
type Run = dyn Fn(FlowCall<Value>) -> Work + Send + Sync;

/// A call of a flow.
#[derive(Clone, Debug)]
pub struct FlowCall<Arguments> {
    /// Who calls: claims that were verified; none of them if nobody had to say who they are.
    pub caller: Caller,
    /// The client's network address, for limits.
    pub client: Client,
    /// With what.
    pub arguments: Arguments,
    /// The caller's `Idempotency-Key`, made one with who calls.
    pub token: Option<String>,
}

/// Why a flow gives no answer.
#[derive(Debug)]
pub enum FlowError {
    /// It was refused, for a reason with a name.
    Refused {
        /// The name.
        outcome: String,
        /// The reason, for people.
        detail: String,
    },
    /// The arguments are of their types, but wrong.
    Arguments(String),
    /// The caller may not.
    Forbidden,
    /// There were too many attempts of this caller, or on this account.
    Throttled(Throttled),
    /// The server has too much of this work to do at the moment.
    Overloaded {
        /// The seconds after which another try makes sense.
        retry_after_secs: u64,
    },
    /// A pattern that the flow called gave no answer.
    Failed(RunError),
    /// Something broke that callers can do nothing about; why, for the log.
    Broken(String),
}

impl FlowError {
    /// A refusal with a name.
    pub fn refused(outcome: &str, detail: impl Into<String>) -> Self {
        Self::Refused { outcome: outcome.to_owned(), detail: detail.into() }
    }
}

impl From<Throttled> for FlowError {
    fn from(throttled: Throttled) -> Self {
        Self::Throttled(throttled)
    }
}

impl From<RunError> for FlowError {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

impl fmt::Display for FlowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { outcome, detail } => write!(f, "{outcome}: {detail}"),
            Self::Arguments(detail) => f.write_str(detail),
            Self::Forbidden => RunError::Forbidden.fmt(f),
            Self::Throttled(throttled) => throttled.fmt(f),
            Self::Overloaded { .. } => f.write_str(OVERLOADED),
            Self::Failed(error) => error.fmt(f),
            Self::Broken(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FlowError {}

const OVERLOADED: &str = "the server has too much of this work to do: try again in a moment";

impl Flow {
    /// A flow for callers who say who they are.
    pub fn new<Arguments, Answer, Working>(
        name: &'static str,
        about: &'static str,
        run: impl Fn(FlowCall<Arguments>) -> Working + Send + Sync + 'static,
    ) -> Self
    where
        Arguments: DeserializeOwned + JsonSchema,
        Answer: Serialize + JsonSchema,
        Working: Future<Output = Result<Answer, FlowError>> + Send + 'static,
    {
        let run = move |call: FlowCall<Value>| -> Work {
            match serde_json::from_value(call.arguments) {
                Ok(arguments) => {
                    let FlowCall { caller, client, token, .. } = call;
                    let work = run(FlowCall { caller, client, arguments, token });
                    Box::pin(async move { printed(&work.await?) })
                }
                Err(error) => Box::pin(std::future::ready(Err(FlowError::Arguments(error.to_string())))),
            }
        };
        Self {
            name,
            about,
            outcomes: &[],
            public: false,
            interruptible: false,
            arguments: schema::<Arguments>(),
            answer: schema::<Answer>(),
            run: Arc::new(run),
        }
    }

    /// The same, for everybody.
    #[must_use]
    pub fn public(self) -> Self {
        Self { public: true, ..self }
    }

    /// The same, stopped when its caller leaves. Only for flows that lose nothing by it: those that read, and those that a next call or a job
    /// resumes. A caller chooses the moment of leaving, so a flow that charges for what it did must not be one of them.
    #[must_use]
    pub fn interruptible(self) -> Self {
        Self { interruptible: true, ..self }
    }

    /// The same, with the names by which it may be refused.
    #[must_use]
    pub fn outcomes(self, outcomes: &'static [&'static str]) -> Self {
        Self { outcomes, ..self }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn about(&self) -> &'static str {
        self.about
    }

    /// The names by which it may be refused.
    pub(super) fn refusals(&self) -> &'static [&'static str] {
        self.outcomes
    }

    pub(super) fn is_public(&self) -> bool {
        self.public
    }

    pub(super) fn is_interruptible(&self) -> bool {
        self.interruptible
    }

    /// The schema of the object of its arguments.
    pub(super) fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// The schema of its answer.
    pub(super) fn answer(&self) -> &Value {
        &self.answer
    }

    /// Calls it.
    ///
    /// # Errors
    /// [`FlowError`]
    pub async fn call(&self, call: FlowCall<Value>) -> Result<Value, FlowError> {
        (self.run)(call).await
    }
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flow").field("name", &self.name).finish_non_exhaustive()
    }
}

fn printed(answer: &impl Serialize) -> Result<Value, FlowError> {
    serde_json::to_value(answer).map_err(|error| FlowError::Arguments(format!("the answer is no JSON: {error}")))
}

/// A schema that needs no definitions beside it.
fn schema<Of: JsonSchema>() -> Value {
    let inlined = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    SchemaGenerator::new(inlined).into_root_schema_for::<Of>().to_value()
}

/// What a caller is told.
pub(super) fn problem_of(error: FlowError, model: &keyform_language::schema::Model) -> Problem {
    match error {
        FlowError::Refused { outcome, detail } => Problem::refused(outcome, detail),
        FlowError::Arguments(detail) => Problem::new(problem::ARGUMENTS, detail),
        FlowError::Forbidden => Problem::of(RunError::Forbidden, model),
        FlowError::Throttled(throttled) => Problem::throttled(throttled),
        FlowError::Overloaded { retry_after_secs } => {
            Problem::new(problem::OVERLOADED, OVERLOADED).retry_after(retry_after_secs)
        }
        FlowError::Failed(error) => Problem::of_flow(error, model),
        FlowError::Broken(why) => {
            tracing::error!(model = model.name, "a flow broke: {why}");
            Problem::new(problem::INTERNAL, "the flow could not be completed")
        }
    }
}
