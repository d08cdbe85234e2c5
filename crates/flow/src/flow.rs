//! Flows: application code beside the patterns of a model, such as a sign-up that hashes a password.
//!
//! A flow is a function from arguments to an answer, both with a JSON schema. It is served at `/v1/{model}/{flow}` like
//! a write (POST, JSON object in, problem document on error) and listed in the model's OpenAPI document.
//!
//! A flow has a deadline. When it passes, the server drops the flow's future at its current await point, as a crash
//! would; writes that were applied stay applied.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use keyform_core::Item;
use keyform_runtime::run::{Caller, RunError};
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::client::Client;
use crate::throttle::Throttled;

/// Application procedure that clients can call.
///
/// ```
/// use keyform_flow::{Flow, FlowCall, FlowError};
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

/// Call of a flow.
#[derive(Clone, Debug)]
pub struct FlowCall<Arguments> {
    /// Verified claims of the caller; empty for an anonymous call of a public flow.
    pub caller: Caller,
    /// Client's network address, for rate limits.
    pub client: Client,
    /// Arguments of the call, deserialized from JSON.
    pub arguments: Arguments,
    /// Token derived from the caller and its `Idempotency-Key`; unique per caller, flow and key.
    pub token: Option<String>,
}

impl<Arguments> FlowCall<Arguments> {
    /// Returns the caller's account for rate limits, the same as for the limits of patterns; `None` for an anonymous
    /// caller.
    #[must_use]
    pub fn account(&self) -> Option<Vec<u8>> {
        account_of(&self.caller)
    }
}

/// Returns the account that rate limits count for a caller: all of its claims.
#[must_use]
pub fn account_of(caller: &Caller) -> Option<Vec<u8>> {
    match caller {
        Caller::Claims(claims) if !claims.is_empty() => Some(Item::from(claims).as_bytes().to_vec()),
        Caller::Claims(_) | Caller::System => None,
    }
}

/// Reason why a flow returned no answer.
#[derive(Debug)]
pub enum FlowError {
    /// The flow refused the call with a named outcome.
    Refused {
        /// Outcome name; one of those passed to [`Flow::outcomes`].
        outcome: String,
        /// Explanation for the caller, in the `detail` of the problem.
        detail: String,
    },
    /// The arguments have the right types but invalid values.
    Arguments(String),
    /// The caller lacks permission.
    Forbidden,
    /// Too many attempts by this caller or on this account.
    Throttled(Throttled),
    /// The server is too busy with this kind of work.
    Overloaded {
        /// Seconds to wait before a retry.
        retry_after_secs: u64,
    },
    /// A pattern that the flow called failed.
    Failed(RunError),
    /// Internal error. The text goes to the log, not to the caller.
    Broken(String),
}

impl FlowError {
    /// Returns a [`FlowError::Refused`].
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

impl std::error::Error for FlowError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Throttled(throttled) => Some(throttled),
            Self::Failed(error) => Some(error),
            Self::Refused { .. } | Self::Arguments(_) | Self::Forbidden | Self::Overloaded { .. } | Self::Broken(_) => {
                None
            }
        }
    }
}

const OVERLOADED: &str = "the server is overloaded with this work: try again later";

impl Flow {
    /// Creates a flow for authenticated callers.
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

    /// Makes the flow callable without authentication.
    #[must_use]
    pub fn public(self) -> Self {
        Self { public: true, ..self }
    }

    /// Cancels the flow when its caller disconnects. Use it only for flows that are safe to abandon: reads, and flows
    /// that a later call or a job resumes. The caller chooses the moment of disconnecting, so a flow that charges for
    /// its work must not be interruptible.
    #[must_use]
    pub fn interruptible(self) -> Self {
        Self { interruptible: true, ..self }
    }

    /// Declares the outcome names that the flow may refuse with, for the OpenAPI document.
    #[must_use]
    pub fn outcomes(self, outcomes: &'static [&'static str]) -> Self {
        Self { outcomes, ..self }
    }

    /// Returns the name, which is the last segment of the flow's path.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description for the OpenAPI document.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the outcome names passed to [`Flow::outcomes`].
    #[must_use]
    pub fn refusals(&self) -> &'static [&'static str] {
        self.outcomes
    }

    /// Returns whether callers need no authentication.
    #[must_use]
    pub fn is_public(&self) -> bool {
        self.public
    }

    /// Returns whether a server may cancel the flow when its caller disconnects.
    #[must_use]
    pub fn is_interruptible(&self) -> bool {
        self.interruptible
    }

    /// Returns the JSON schema of the arguments.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Returns the JSON schema of the answer.
    #[must_use]
    pub fn answer(&self) -> &Value {
        &self.answer
    }

    /// Runs the flow with untyped arguments.
    ///
    /// # Errors
    /// The arguments do not match the schema, or the flow failed or refused the call.
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
    serde_json::to_value(answer).map_err(|error| FlowError::Arguments(format!("the answer is not JSON: {error}")))
}

/// Generates a self-contained schema without `$defs`.
fn schema<Of: JsonSchema>() -> Value {
    let inlined = schemars::generate::SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    SchemaGenerator::new(inlined).into_root_schema_for::<Of>().to_value()
}
