//! Estimates the tokens of a call in advance.

use serde_json::Value;

use crate::prices::Tokens;

/// Approximate number of characters per token.
const CHARS_PER_TOKEN: usize = 4;
/// Tokens that separate two messages.
const TOKENS_PER_MESSAGE: usize = 3;
/// Minimum length of an answer in tokens.
const ANSWER_TOKENS_MIN: usize = 100;

/// Input of a planned call.
#[derive(Clone, Debug, Default)]
pub struct PlannedCall {
    /// System prompt of the agent.
    pub system_prompt: String,
    /// Messages of the conversation.
    pub messages: Vec<Value>,
    /// Tools in the provider's format.
    pub tools: Vec<Value>,
    /// Requested maximum length of the answer.
    pub output_tokens_max: Option<u32>,
}

/// Estimates the tokens of a call: a quarter of the characters plus a constant per message as input, a fifth of that as
/// output.
#[must_use]
pub fn estimate(call: &PlannedCall) -> Tokens {
    let chars = call.system_prompt.chars().count()
        + call.messages.iter().map(message_chars).sum::<usize>()
        + call.tools.iter().map(json_chars).sum::<usize>();
    let input = chars.div_ceil(CHARS_PER_TOKEN) + TOKENS_PER_MESSAGE * call.messages.len();
    let output = input.div_ceil(5).max(ANSWER_TOKENS_MIN);
    let (input, output) = (tokens(input), tokens(output));
    Tokens {
        prompt_tokens: input,
        completion_tokens: call.output_tokens_max.map_or(output, |longest| output.min(longest)),
    }
}

/// Returns the characters of a message: of its text if it has only that, otherwise of its JSON.
fn message_chars(message: &Value) -> usize {
    match message.get("content").unwrap_or(message) {
        Value::String(text) => text.chars().count(),
        _ => json_chars(message),
    }
}

fn json_chars(value: &Value) -> usize {
    value.to_string().chars().count()
}

fn tokens(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_come_from_characters_messages_and_tools() {
        let call = PlannedCall {
            system_prompt: "x".repeat(41),
            messages: vec![json!({"role": "user", "content": "é".repeat(400)}), json!("y".repeat(40))],
            ..PlannedCall::default()
        };
        assert_eq!(estimate(&call), Tokens { prompt_tokens: 121 + 6, completion_tokens: 100 });
        let tools = PlannedCall { tools: vec![json!({"name": "z".repeat(3988)})], ..call.clone() };
        assert_eq!(estimate(&tools), Tokens { prompt_tokens: 1120 + 6, completion_tokens: 226 });
        let short = PlannedCall { output_tokens_max: Some(7), ..call };
        assert_eq!(estimate(&short).completion_tokens, 7);
    }
}
