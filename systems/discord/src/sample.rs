//! Sample data: two people, a server with two channels, a few messages, and an invite. A second start finds the
//! existing data.

use std::time::Duration;

use keyform::Secret;
use keyform::flow::FlowError;

use crate::account::{LogIn, Registration};
use crate::model::{ChannelId, CreateChannelInput, CreateInviteInput, CreateServerInput, InviteCode, ServerId, UserId};
use crate::service::Service;

const SERVER: &str = "Engines";
const CHANNEL: &str = "analytical-engine";
const TALK: [(&str, &str); 4] = [
    ("ada", "The engine weaves algebraical patterns just as the loom weaves flowers and leaves."),
    ("grace", "Does it compile?"),
    ("ada", "On punched cards, at the first try."),
    ("grace", "Then I will look for the moth."),
];

/// Attempts, and delay between them, for reads of a lagging index.
const TRIES_MAX: u32 = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// Returns the password of a sample user, which is also the default of the chat client.
#[must_use]
pub fn password(name: &str) -> String {
    format!("demo-password-of-{name}")
}

/// Returns the address of a sample user, which is also the default of the chat client.
#[must_use]
pub fn email(name: &str) -> String {
    format!("{name}@example.com")
}

impl Service {
    /// Writes the sample data if it is missing; returns lines that describe what to try.
    ///
    /// # Errors
    /// The store fails.
    pub async fn make_sample(&self) -> Result<Vec<String>, FlowError> {
        let ada = self.sample_user("ada").await?;
        let grace = self.sample_user("grace").await?;
        let server = self.sample_server(&ada).await?;
        let code = self.sample_invite(&ada, &server).await?;
        self.patiently(|| async { Ok(self.as_user(&grace).join_by_invite(&code).await?) }).await?;
        let channel = self.sample_channel(&ada, &server).await?;
        self.sample_talk(&ada, &grace, &channel).await?;
        Ok(lines(&ada, &server, &channel, &code))
    }

    /// Retries work that a lagging index may refuse for a moment, because it lacks a new code or channel.
    async fn patiently<T, W: Future<Output = Result<T, FlowError>>>(
        &self,
        work: impl Fn() -> W,
    ) -> Result<T, FlowError> {
        for _ in 0..TRIES_MAX {
            match work().await {
                Err(FlowError::Forbidden | FlowError::Refused { .. }) => self.world().sleep(PAUSE).await,
                done => return done,
            }
        }
        work().await
    }

    async fn sample_user(&self, name: &str) -> Result<UserId, FlowError> {
        let (email, password) = (email(name), Secret::new(password(name)));
        let who = Registration { email: email.clone(), username: name.to_owned(), password: password.clone() };
        if let Some(user) = self.discord.user_by_email(&email).await? {
            return Ok(user.user_id);
        }
        match self.register(who, None).await {
            // Another instance was faster.
            Err(FlowError::Refused { outcome, .. }) if outcome == "EmailTaken" => {
                Ok(self.log_in(LogIn { email, password }).await?.user.user_id)
            }
            registered => Ok(registered?.user.user_id),
        }
    }

    async fn sample_server(&self, ada: &UserId) -> Result<ServerId, FlowError> {
        let discord = self.as_user(ada);
        for membership in discord.servers_of_user(ada).all().await? {
            let server = discord.server_by_id(&membership.server_id).await?;
            if server.is_some_and(|server| server.name == SERVER) {
                return Ok(membership.server_id);
            }
        }
        Ok(discord.create_server(CreateServerInput::new(SERVER)).await?.server_id)
    }

    async fn sample_invite(&self, ada: &UserId, server: &ServerId) -> Result<InviteCode, FlowError> {
        let discord = self.as_user(ada);
        let invites = discord.invites_of_server(server).await?;
        match invites.items.into_iter().find(|invite| invite.max_uses.is_none() && invite.expires_at.is_none()) {
            Some(invite) => Ok(invite.invite_code),
            None => Ok(discord.create_invite(CreateInviteInput::new(server.clone())).await?.invite_code),
        }
    }

    async fn sample_channel(&self, ada: &UserId, server: &ServerId) -> Result<ChannelId, FlowError> {
        let discord = self.as_user(ada);
        let channels = discord.channels_of_server(server).all().await?;
        if let Some(channel) = channels.into_iter().find(|channel| channel.name == CHANNEL) {
            return Ok(channel.channel_id);
        }
        let topic = Some("what the machine may do one day".to_owned());
        let channel = CreateChannelInput { topic, ..CreateChannelInput::new(server.clone(), CHANNEL) };
        Ok(discord.create_channel(channel).await?.channel_id)
    }

    async fn sample_talk(&self, ada: &UserId, grace: &UserId, channel: &ChannelId) -> Result<(), FlowError> {
        let written = self.discord.messages(channel).await?.items.len();
        for (name, text) in TALK.into_iter().skip(written) {
            let author = if name == "ada" { ada } else { grace };
            self.patiently(|| async { Ok(self.as_user(author).post_message(channel, text).await?) }).await?;
        }
        Ok(())
    }
}

fn lines(ada: &UserId, server: &ServerId, channel: &ChannelId, code: &InviteCode) -> Vec<String> {
    let caller = format!("X-Keyform-Caller: userId={ada}");
    let log_in = format!(r#"{{"email":"{}","password":"{}"}}"#, email("ada"), password("ada"));
    vec![
        format!(
            "ada and grace are in the server {SERVER} ({server}); their passwords are {} and {}",
            password("ada"),
            password("grace")
        ),
        format!("others join it with the invite code {code}"),
        format!("curl -H 'Content-Type: application/json' -d '{log_in}' http://127.0.0.1:8000/v1/discord/logIn"),
        format!("curl -H '{caller}' 'http://127.0.0.1:8000/v1/discord/messages?channelId={channel}'"),
        "keyform demo chat --name ada      and, in another terminal: keyform demo chat --name grace".to_owned(),
    ]
}
