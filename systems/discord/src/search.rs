//! Text search in a channel.
//!
//! There is no text index: the search reads messages from the latest on and compares them. One call examines a bounded
//! number of messages and returns a cursor to continue. The comparison ignores case, which a filter in the store could
//! not do.

use keyform::flow::FlowError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::{ChannelId, Message, UserId};
use crate::service::Service;

/// Maximum number of pages that one call reads.
const PAGES_MAX: usize = 10;
/// Number of results after which a call stops.
const FOUND_ENOUGH: usize = 50;
/// Maximum length of the search text in characters.
const TEXT_CHARACTERS_MAX: usize = 100;

/// A search in a channel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Search {
    /// Id of the channel.
    #[schemars(with = "String")]
    pub channel_id: ChannelId,
    /// Text that the message contains.
    pub text: String,
    /// Limits the search to messages of this user.
    #[schemars(with = "Option<String>")]
    pub user_id: Option<UserId>,
    /// Cursor of the previous call.
    pub cursor: Option<String>,
}

/// Result of a search.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Messages, newest first.
    #[schemars(with = "Vec<Value>")]
    pub items: Vec<Message>,
    /// Number of messages examined.
    pub examined: usize,
    /// Cursor of the next call; absent at the beginning of the channel.
    pub cursor: Option<String>,
}

impl Service {
    /// Returns the messages of a channel that contain a text.
    ///
    /// # Errors
    /// [`FlowError::Forbidden`] for non-members of the server, and an empty or too long text.
    pub async fn search_messages(&self, user: &UserId, search: Search) -> Result<SearchResult, FlowError> {
        let text = search.text.trim().to_lowercase();
        if text.is_empty() || text.chars().count() > TEXT_CHARACTERS_MAX {
            return Err(FlowError::Arguments(format!("`text` must have 1 to {TEXT_CHARACTERS_MAX} characters")));
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
