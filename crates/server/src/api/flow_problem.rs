//! Problem documents of flows that returned no answer.

use keyform_flow::FlowError;
use keyform_language::schema::Model;
use keyform_runtime::run::RunError;

use super::problem::{self, Problem};

/// Converts a flow's error to the problem document that the caller receives.
pub(super) fn of(error: FlowError, model: &Model) -> Problem {
    match error {
        FlowError::Refused { outcome, detail } => Problem::refused(outcome, detail),
        FlowError::Arguments(detail) => Problem::new(problem::ARGUMENTS, detail),
        FlowError::Forbidden => Problem::of(RunError::Forbidden, model),
        FlowError::Throttled(throttled) => Problem::throttled(throttled),
        FlowError::Overloaded { retry_after_secs } => {
            Problem::new(problem::OVERLOADED, error.to_string()).retry_after(retry_after_secs)
        }
        FlowError::Failed(error) => Problem::of_flow(error, model),
        FlowError::Broken(why) => {
            tracing::error!(model = model.name, "a flow broke: {why}");
            Problem::new(problem::INTERNAL, "the flow could not be completed")
        }
    }
}
