//! Looking for words in a channel.
//!
//! There is no index of words: messages are read from the latest on, and looked at. One call looks at a bounded number of them and says where it
//! stopped; whoever wants more asks again from there. Upper and lower case are the same, which a filter in the store could not do.

use keyform::server::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{ChannelId, Message, UserId};
use crate::service::Service;

/// How many pages of messages one call reads.
const PAGES_MAX: usize = 10;
/// With so many found it goes no further.
const FOUND_ENOUGH: usize = 50;
/// The longest text to look for, in characters.
const TEXT_CHARACTERS_MAX: usize = 100;

/// What to look for.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Search {
    /// Where.
    #[schemars(with = "String")]
    pub channel_id: ChannelId,
    /// A part of the message.
    pub text: String,
    /// Only what this user wrote.
    #[schemars(with = "Option<String>")]
    pub user_id: Option<UserId>,
    /// Where the last call stopped.
    pub cursor: Option<String>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// The messages, the latest first.
    #[schemars(with = "Vec<Value>")]
    pub items: Vec<Message>,
    /// How many were looked at.
    pub examined: usize,
    /// Where it stopped; nothing at the channel's beginning.
    pub cursor: Option<String>,
}

impl Service {
    /// The messages of a channel with a text in them.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for those who are not in the server, and a text that is empty or too long.
    pub async fn search_messages(&self, user: &UserId, search: Search) -> Result<SearchResult, FlowError> {
        let text = search.text.trim().to_lowercase();
        if text.is_empty() || text.chars().count() > TEXT_CHARACTERS_MAX {
            return Err(FlowError::Arguments(format!("`text` has from 1 to {TEXT_CHARACTERS_MAX} characters")));
        }
        let is_meant = |message: &Message| {
            search.user_id.as_ref().is_none_or(|author| *author == message.user_id)
                && message.content.to_lowercase().contains(&text)
        };
        let discord = self.as_user(user);
        let mut result = SearchResult { items: Vec::new(), examined: 0, cursor: search.cursor.clone() };
        for _ in 0..PAGES_MAX {
            let page = discord.messages(&search.channel_id).after_any(result.cursor.take()).await?;
            result.examined += page.items.len();
            result.items.extend(page.items.into_iter().filter(is_meant));
            result.cursor = page.cursor;
            if result.cursor.is_none() || result.items.len() >= FOUND_ENOUGH {
                break;
            }
        }
        Ok(result)
    }
}
