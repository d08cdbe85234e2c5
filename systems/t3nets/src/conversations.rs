//! Conversations, which expire thirty days after the last turn.
//!
//! Each turn is a separate item under the *thread* of the conversation's head. One transaction saves the turn, updates
//! the head and increments the daily count, so concurrent turns are not lost, and the tenant's daily limit holds for
//! all senders.

use keyform::flow::{Host, Tables};
use keyform::live::handle::EntityChange;
use keyform::runtime::run::{Call, Caller as RunCaller, Runner};
use keyform::{Attributes, CallError, FromAttributes, ToAttribute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;

use crate::model::{
    Caller, ClearConversationError, Conversation, ConversationId, OpenConversationError, RemoveTurnsError,
    SaveTurnError, SaveTurnInput, T3nets, Turn,
};

/// Attempts to open a conversation for a turn, against concurrent calls that clear it.
const ATTEMPTS: u32 = 4;

/// A turn to save.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTurn {
    /// Id of the conversation, which is opened if needed; `default` in the dashboard.
    pub conversation_id: String,
    /// Message of the user.
    pub user_message: String,
    /// Answer of the assistant.
    pub answer: String,
    /// Metadata of the message from its channel.
    pub metadata: Option<serde_json::Value>,
}

/// A saved turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Saved {
    /// Id.
    pub turn_id: String,
    /// Time at which the turn was saved.
    pub created_at: String,
}

/// Identifies a conversation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WhichConversation {
    /// Id.
    pub conversation_id: String,
}

/// Recent turns of a conversation, as the model receives them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct History {
    /// Latest turns, oldest first, up to the tenant's `max_conversation_history`; two messages each.
    pub messages: Vec<Message>,
    /// Number of all turns of the conversation.
    pub turns: i64,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Text of the message.
    pub content: String,
}

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The user.
    User,
    /// The assistant.
    Assistant,
}

/// Saves a turn of the caller. Opens the conversation if it is new or has expired.
///
/// # Errors
/// [`SaveTurnError::DailyLimitReached`], [`SaveTurnError::TenantNotActive`]
pub async fn record(t3nets: &T3nets, turn: &SaveTurnInput) -> Result<Turn, SaveTurnError> {
    let mut attempt = 0;
    loop {
        match t3nets.save_turn(turn.clone()).await {
            Err(SaveTurnError::NotOpen) if attempt < ATTEMPTS => open(t3nets, &turn.conversation_id).await?,
            done => return done,
        }
        attempt += 1;
    }
}

async fn open(t3nets: &T3nets, conversation: &ConversationId) -> Result<(), SaveTurnError> {
    match t3nets.open_conversation(conversation).await {
        // A concurrent caller has opened it.
        Ok(_) | Err(OpenConversationError::Conflict(_)) => Ok(()),
        Err(OpenConversationError::Failed(error)) => Err(error.into()),
    }
}

/// Saves turns idempotently: a turn with the same key is saved once.
#[derive(Debug)]
pub struct Recorder {
    t3nets: T3nets,
    tables: Tables,
    answers: OnceCell<()>,
}

impl Recorder {
    /// Creates a recorder on a host.
    #[must_use]
    pub fn new(t3nets: T3nets, host: &Host) -> Self {
        Self { t3nets, tables: host.tables(), answers: OnceCell::new() }
    }

    /// Saves a turn of the caller like [`record`]. With a key that the caller has used before, it is not saved again,
    /// and the answer is the same.
    ///
    /// # Errors
    /// As [`record`].
    pub async fn record(&self, caller: Caller, turn: &SaveTurnInput, key: Option<&str>) -> Result<Turn, SaveTurnError> {
        let as_caller = self.t3nets.as_caller(caller.clone());
        let Some(key) = key else { return record(&as_caller, turn).await };
        let mut attempt = 0;
        loop {
            match self.save_once(&caller, turn, key).await {
                Err(SaveTurnError::NotOpen) if attempt < ATTEMPTS => open(&as_caller, &turn.conversation_id).await?,
                done => return done,
            }
            attempt += 1;
        }
    }

    async fn save_once(&self, caller: &Caller, turn: &SaveTurnInput, key: &str) -> Result<Turn, SaveTurnError> {
        let runner = self.t3nets.calls().runner();
        self.make_answers(runner).await?;
        let call = Call { arguments: arguments(turn), caller: claims(caller), cursor: None, token: None };
        let found = runner.write_once("saveTurn", &call, key).await.map_err(SaveTurnError::from)?;
        let found = found.ok_or(SaveTurnError::Failed(CallError::Gone))?;
        Turn::from_attributes(found.fields).map_err(|wrong| SaveTurnError::Failed(wrong.into()))
    }

    /// Creates the table of answers, if the host creates tables.
    async fn make_answers(&self, runner: &Runner) -> Result<(), CallError> {
        if self.tables == Tables::Made {
            self.answers.get_or_try_init(async || runner.create_answer_table().await.map(drop)).await?;
        }
        Ok(())
    }
}

fn arguments(turn: &SaveTurnInput) -> Attributes {
    let named = [
        ("conversation_id", turn.conversation_id.to_attribute()),
        ("user_message", turn.user_message.to_attribute()),
        ("answer", turn.answer.to_attribute()),
        ("metadata", turn.metadata.to_attribute()),
    ];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn claims(caller: &Caller) -> RunCaller {
    match caller.to_attribute() {
        Some(keyform::AttributeValue::M(claims)) => RunCaller::Claims(claims),
        _ => RunCaller::Claims(Attributes::new()),
    }
}

/// Returns the latest turns of the caller's conversation, as many as the tenant's settings provide for the assistant.
/// Empty for a missing or expired conversation.
///
/// # Errors
/// A read fails.
pub async fn history(t3nets: &T3nets, caller: &Caller, conversation: &ConversationId) -> Result<History, CallError> {
    let Some(tenant) = t3nets.tenant_by_id(&caller.tenant_id).await? else { return Ok(History::default()) };
    let head = t3nets.conversation(&caller.tenant_id, &caller.user_id, conversation).await?;
    let Some(head) = head else { return Ok(History::default()) };
    let wanted = usize::try_from(tenant.settings.max_conversation_history).unwrap_or(0);
    let mut latest = Vec::new();
    let mut turns = t3nets.turns(&caller.tenant_id, &caller.user_id, &head.thread_id).items();
    while latest.len() < wanted
        && let Some(turn) = turns.next().await
    {
        latest.push(turn?);
    }
    Ok(History { messages: latest.into_iter().rev().flat_map(said).collect(), turns: head.turns })
}

/// Returns the two messages of a turn, without the channel's metadata.
fn said(turn: Turn) -> [Message; 2] {
    [Message { role: Role::User, content: turn.user_message }, Message { role: Role::Assistant, content: turn.answer }]
}

/// Clears the caller's conversation. Its turns are unreachable from now on; the handler deletes them.
///
/// # Errors
/// The outcomes of the write `clearConversation`.
pub async fn clear(t3nets: &T3nets, conversation: &ConversationId) -> Result<(), ClearConversationError> {
    t3nets.clear_conversation(conversation).await
}

/// Deletes the turns of a conversation whose head was removed; implements the model's handler `forgetTurns`. Repeating
/// it is harmless.
///
/// # Errors
/// The reason of the failure: the change is delivered again.
pub async fn forget_turns(t3nets: &T3nets, change: &EntityChange) -> Result<(), String> {
    let Some(old) = &change.old else { return Err("the stream has no old image".to_owned()) };
    let head = Conversation::from_attributes(old.fields.clone()).map_err(|wrong| wrong.to_string())?;
    remove_turns(t3nets, &head).await.map_err(|error| error.to_string())
}

/// Deletes turns page by page. No turn is added meanwhile, because saving one requires the head. Reads may lag behind,
/// so a page that still appears after its deletion is deleted again a few times; after that the change is left to its
/// next delivery.
async fn remove_turns(t3nets: &T3nets, head: &Conversation) -> Result<(), RemoveTurnsError> {
    let (mut removed, mut attempt) = (None, 0);
    loop {
        let left = t3nets.turns(&head.tenant_id, &head.user_id, &head.thread_id).await?;
        let Some(first) = left.items.into_iter().next().map(|turn| turn.turn_id) else { return Ok(()) };
        if removed.as_ref() == Some(&first) {
            attempt += 1;
            if attempt == ATTEMPTS {
                return Err(RemoveTurnsError::Failed(CallError::Busy));
            }
        } else {
            attempt = 0;
        }
        t3nets.remove_turns(&head.tenant_id, &head.user_id, &head.thread_id).await?;
        removed = Some(first);
    }
}
