//! Session of a chat user: current channel, commands and events.

use std::collections::{BTreeMap, BTreeSet};

use keyform::Ulid;
use serde_json::{Value, json};

use super::command::{Command, HELP};
use super::link::{Link, Trouble};
use super::transcript::{Transcript, line, plain, text};

/// Credentials of a chat user.
#[derive(Clone, Debug)]
pub struct Visitor {
    /// Name that others see.
    pub name: String,
    /// E-mail address of the account.
    pub email: String,
    /// Password of the account.
    pub password: String,
}

/// Result of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Lines to display.
    Lines(Vec<String>),
    /// The user wants to quit.
    Quit,
}

/// Session of a chat user.
#[derive(Debug)]
pub struct Chat<L> {
    link: L,
    user_id: String,
    connection_id: String,
    place: Option<OpenChannel>,
    /// Number of channel changes; events of earlier channels are ignored.
    moves: u64,
    transcript: Transcript,
    /// Online users of this server, with the keys of their presence rows.
    online: BTreeMap<String, BTreeSet<String>>,
    /// Members of this server, by the keys of their membership rows.
    members: BTreeMap<String, String>,
    names: BTreeMap<String, String>,
}

/// Current server and channel.
#[derive(Clone, Debug)]
struct OpenChannel {
    server_id: String,
    server: String,
    channel_id: String,
    channel: String,
}

type Lines = Result<Vec<String>, Trouble>;

const FOLLOWED: [&str; 4] = ["messages", "members", "channels", "online"];

impl<L: Link> Chat<L> {
    /// Logs in, or registers a new user, and enters the first server. The returned lines describe the current channel.
    ///
    /// # Errors
    /// The password is wrong, or the server fails.
    pub async fn enter(mut link: L, visitor: &Visitor) -> Result<(Self, Vec<String>), Trouble> {
        let session = log_in(&link, visitor).await?;
        let token = session["token"].as_str();
        link.authenticate(
            token.ok_or_else(|| Trouble::new("this server issues no tokens: it needs a secret to sign them"))?,
        );
        let user_id = text(&session["user"], "userId").to_owned();
        let name = text(&session["user"], "username").to_owned();
        let mut chat = Self {
            link,
            names: [(user_id.clone(), name.clone())].into(),
            user_id,
            connection_id: format!("chat-{}", Ulid::fresh()),
            place: None,
            moves: 0,
            transcript: Transcript::default(),
            online: BTreeMap::new(),
            members: BTreeMap::new(),
        };
        let mut lines = vec![format!("* you are {}; /help lists the commands", plain(&name))];
        let servers = chat.servers().await?;
        match servers.first() {
            Some(server) => lines.extend(chat.go_to_server(text(server, "serverId"), None).await?),
            None => {
                lines.push("* you are not in a server yet: /join CODE with an invite, or /new-server NAME".to_owned())
            }
        }
        Ok((chat, lines))
    }

    /// Returns the connection to the server.
    pub fn link(&mut self) -> &mut L {
        &mut self.link
    }

    /// Executes a line. Errors are returned as lines too.
    pub async fn line(&mut self, line: &str) -> Said {
        let done = match Command::read(line) {
            Ok(Command::Quit) => return Said::Quit,
            Ok(command) => self.run(command).await,
            Err(usage) => Err(Trouble::new(usage)),
        };
        Said::Lines(done.unwrap_or_else(|trouble| vec![format!("! {}", plain(&trouble.detail))]))
    }

    /// Renews the connection.
    ///
    /// # Errors
    /// The server fails.
    pub async fn heartbeat(&mut self) -> Result<(), Trouble> {
        let Some(place) = &self.place else { return Ok(()) };
        match self.link.post("keepConnected", json!({ "connectionId": self.connection_id })).await {
            // The machine slept longer than a connection lives.
            Err(trouble) if trouble.is("NotConnected") => {
                let here = json!({ "connectionId": self.connection_id, "channelId": place.channel_id });
                self.link.post("connect", here).await.map(drop)
            }
            kept => kept.map(drop),
        }
    }

    /// Closes the connection.
    ///
    /// # Errors
    /// The server fails; the connection then expires.
    pub async fn leave(&mut self) -> Result<(), Trouble> {
        self.link.post("closeConnection", json!({ "connectionId": self.connection_id })).await.map(drop)
    }

    async fn run(&mut self, command: Command<'_>) -> Lines {
        match command {
            Command::Nothing | Command::Quit => Ok(Vec::new()),
            Command::Help => Ok(HELP.lines().map(str::to_owned).collect()),
            Command::Say(content) => self.say(content).await,
            Command::Join(code) => self.join(code).await,
            Command::Invite(uses) => self.invite(uses).await,
            Command::Servers => self.list_servers().await,
            Command::Server(name) => self.find_server(name).await,
            Command::NewServer(name) => self.new_server(name).await,
            Command::Channels => self.list_channels().await,
            Command::Channel(name) => self.find_channel(name).await,
            Command::NewChannel(name) => self.new_channel(name).await,
            Command::Who => self.who().await,
            Command::Leave => self.leave_server().await,
            Command::React(number, emoji) => self.about(number, "addReaction", json!({ "emoji": emoji })).await,
            Command::Unreact(number, emoji) => self.about(number, "removeReaction", json!({ "emoji": emoji })).await,
            Command::Edit(number, content) => self.about(number, "editMessage", json!({ "content": content })).await,
            Command::Delete(number) => self.about(number, "deleteMessage", json!({})).await,
            Command::Read => self.mark_read().await,
            Command::Unread => self.unread().await,
            Command::Search(words) => self.search(words).await,
        }
    }

    fn here(&self) -> Result<&OpenChannel, Trouble> {
        self.place
            .as_ref()
            .ok_or_else(|| Trouble::new("you are not in a channel: /join CODE, /server NAME or /new-server NAME"))
    }

    async fn say(&mut self, content: &str) -> Lines {
        let message = json!({ "channelId": self.here()?.channel_id, "content": content });
        self.link.post("postMessage", message).await?;
        Ok(Vec::new())
    }

    async fn join(&mut self, code: &str) -> Lines {
        let invite = self.link.get("inviteByCode", json!({ "inviteCode": code })).await?;
        self.link.post("joinByInvite", json!({ "inviteCode": code })).await?;
        self.go_to_server(text(&invite, "serverId"), None).await
    }

    async fn invite(&mut self, uses: Option<u32>) -> Lines {
        let here = json!({ "serverId": self.here()?.server_id, "maxUses": uses });
        let invite = self.link.post("createInvite", here).await?;
        let code = text(&invite, "inviteCode");
        Ok(vec![format!("* others can join with /join {code}")])
    }

    async fn servers(&self) -> Result<Vec<Value>, Trouble> {
        let page = self.link.post("listMyServers", json!({})).await?;
        Ok(items(&page))
    }

    async fn list_servers(&self) -> Lines {
        let here = self.place.as_ref().map(|place| place.server_id.as_str());
        let lines = self.servers().await?.into_iter().map(|server| {
            let mark = if here == Some(text(&server, "serverId")) { "→" } else { " " };
            format!(
                "{mark} {} ({}, {} channels)",
                plain(text(&server, "name")),
                text(&server, "role"),
                server["channels"]
            )
        });
        Ok(lines.collect())
    }

    async fn find_server(&mut self, name: &str) -> Lines {
        let servers = self.servers().await?;
        match servers.iter().find(|server| same(text(server, "name"), name)) {
            Some(server) => self.go_to_server(text(server, "serverId"), None).await,
            None => Err(Trouble::new(format!("you are not in a server {name}: /servers lists yours"))),
        }
    }

    async fn new_server(&mut self, name: &str) -> Lines {
        let server = self.link.post("createServer", json!({ "name": name })).await?;
        let mut lines = self.go_to_server(text(&server, "serverId"), None).await?;
        lines.push("* the server is yours: /invite creates a code for others".to_owned());
        Ok(lines)
    }

    async fn channels(&self) -> Result<Vec<Value>, Trouble> {
        let overview = self.link.post("unreadBadges", json!({ "serverId": self.here()?.server_id })).await?;
        Ok(overview.as_array().cloned().unwrap_or_default())
    }

    async fn list_channels(&self) -> Lines {
        let here = self.here()?;
        let lines = self.channels().await?.into_iter().map(|channel| {
            let mark = if text(&channel, "channelId") == here.channel_id { "→" } else { " " };
            let topic = channel["topic"].as_str().map(|topic| format!(": {}", plain(topic))).unwrap_or_default();
            format!("{mark} #{}{topic}{}", plain(text(&channel, "name")), badge(&channel))
        });
        Ok(lines.collect())
    }

    async fn find_channel(&mut self, name: &str) -> Lines {
        let channels = self.channels().await?;
        match channels.iter().find(|channel| same(text(channel, "name"), name)) {
            Some(channel) => {
                let (id, server) = (text(channel, "channelId").to_owned(), self.here()?.server_id.clone());
                self.go_to_server(&server, Some(&id)).await
            }
            None => Err(Trouble::new(format!("no channel {name} here: /channels lists them"))),
        }
    }

    async fn new_channel(&mut self, name: &str) -> Lines {
        let server = self.here()?.server_id.clone();
        let channel = self.link.post("createChannel", json!({ "serverId": server, "name": name })).await?;
        self.go_to_server(&server, Some(text(&channel, "channelId"))).await
    }

    async fn who(&mut self) -> Lines {
        let page = self.link.post("listMembers", json!({ "serverId": self.here()?.server_id })).await?;
        let lines = items(&page).into_iter().map(|member| {
            let mark = if member["online"] == true { "●" } else { "○" };
            let role = if member["role"] == "owner" { " (owner)" } else { "" };
            format!("{mark} {}{role}", plain(text(&member, "username")))
        });
        Ok(lines.collect())
    }

    async fn leave_server(&mut self) -> Lines {
        let here = self.here()?.clone();
        self.link.post("leaveServer", json!({ "serverId": here.server_id })).await?;
        self.unfollow();
        self.place = None;
        Ok(vec![format!("* you have left {}", plain(&here.server))])
    }

    /// Calls a write on a displayed message.
    async fn about(&mut self, number: usize, write: &str, more: Value) -> Lines {
        let unknown = || Trouble::new(format!("no message #{number} here"));
        let message = self.transcript.message(number).ok_or_else(unknown)?;
        let mut arguments = json!({
            "channelId": message["channelId"],
            "createdAt": message["createdAt"],
            "messageId": message["messageId"],
        });
        if let (Some(arguments), Value::Object(more)) = (arguments.as_object_mut(), more) {
            arguments.extend(more);
        }
        self.link.post(write, arguments).await?;
        Ok(Vec::new())
    }

    async fn mark_read(&mut self) -> Lines {
        let channel = self.here()?.channel_id.clone();
        let Some(latest) = self.transcript.latest() else {
            return Ok(vec!["* nothing to read here".to_owned()]);
        };
        let at: keyform::Timestamp =
            text(latest, "createdAt").parse().map_err(|_| Trouble::new("the server returned an invalid time"))?;
        let mark = json!({ "channelId": channel, "messageId": latest["messageId"], "at": at.millis() });
        self.link.post("markRead", mark).await?;
        Ok(vec!["* everything here is marked as read".to_owned()])
    }

    async fn unread(&self) -> Lines {
        let badges = self.link.post("unreadBadges", json!({})).await?;
        let unread = badges.as_array().into_iter().flatten().filter(|channel| channel["unread"] != 0);
        let lines: Vec<String> =
            unread.map(|channel| format!("  #{}{}", plain(text(channel, "name")), badge(channel))).collect();
        Ok(if lines.is_empty() { vec!["* no unread messages".to_owned()] } else { lines })
    }

    async fn search(&self, words: &str) -> Lines {
        let search = json!({ "channelId": self.here()?.channel_id, "text": words });
        let found = items(&self.link.post("searchMessages", search).await?);
        if found.is_empty() {
            return Ok(vec!["* no messages found".to_owned()]);
        }
        Ok(found.iter().rev().map(|item| format!("? {}", line(0, item).trim_start_matches("#0 "))).collect())
    }

    /// Enters a channel of a server; the first one by default.
    async fn go_to_server(&mut self, server_id: &str, channel_id: Option<&str>) -> Lines {
        let overview = self.link.post("serverOverview", json!({ "serverId": server_id })).await?;
        let channels = overview["channels"].as_array().cloned().unwrap_or_default();
        let wanted = |channel: &&Value| channel_id.is_none_or(|id| text(channel, "channelId") == id);
        let Some(channel) = channels.iter().find(wanted) else {
            return Err(Trouble::new("this server has no such channel"));
        };
        let place = OpenChannel {
            server_id: server_id.to_owned(),
            server: text(&overview["server"], "name").to_owned(),
            channel_id: text(channel, "channelId").to_owned(),
            channel: text(channel, "name").to_owned(),
        };
        self.listen_to(&place.channel_id).await?;
        let title = format!("* {} #{}{}", plain(&place.server), plain(&place.channel), badge(channel));
        self.place = Some(place);
        self.follow();
        Ok(vec![title])
    }

    /// Moves the connection to a channel, so that others see the user there.
    async fn listen_to(&mut self, channel_id: &str) -> Result<(), Trouble> {
        let leaving =
            self.place.as_ref().map(|place| place.channel_id.as_str()).filter(|leaving| *leaving != channel_id);
        let connection = json!({ "connectionId": self.connection_id, "channelId": channel_id });
        let mut moved = Err(Trouble { outcome: Some("NotConnected".to_owned()), detail: String::new() });
        if let Some(leaving) = leaving {
            let mut switch = connection.clone();
            switch["leaving"] = leaving.into();
            moved = self.link.post("switchChannel", switch).await;
        }
        if moved.as_ref().is_err_and(|trouble| trouble.is("NotConnected")) {
            moved = self.link.post("connect", connection).await;
        }
        match moved {
            Err(trouble) if trouble.is("AlreadyConnected") => Ok(()),
            moved => moved.map(drop),
        }
    }

    fn unfollow(&mut self) {
        for what in FOLLOWED {
            self.link.unfollow(&format!("{what}-{}", self.moves));
        }
        self.transcript = Transcript::default();
        self.online.clear();
    }

    fn follow(&mut self) {
        if self.moves > 0 {
            self.unfollow();
        }
        self.moves += 1;
        let Some(place) = self.place.clone() else { return };
        let id = |what: &str| format!("{what}-{}", self.moves);
        let ids = FOLLOWED.map(id);
        self.link.follow(&ids[0], "messages", json!({ "channelId": place.channel_id }));
        self.link.follow(&ids[1], "membersOfServer", json!({ "serverId": place.server_id }));
        self.link.follow(&ids[2], "channelsOfServer", json!({ "serverId": place.server_id }));
        self.link.follow(&ids[3], "onlineInServer", json!({ "serverId": place.server_id }));
    }

    /// Converts a message of a live read to lines.
    pub async fn hear(&mut self, message: &Value) -> Vec<String> {
        let Some((what, moves)) = text(message, "id").rsplit_once('-') else { return Vec::new() };
        if moves != self.moves.to_string() {
            return Vec::new();
        }
        let what = what.to_owned();
        match message["type"].as_str() {
            Some("page") => self.hear_page(&what, &message["items"]),
            Some("changes") => {
                let mut lines = Vec::new();
                for change in message["changes"].as_array().into_iter().flatten() {
                    lines.extend(self.hear_change(&what, change).await);
                }
                lines
            }
            Some("ended") if what == "messages" => {
                self.place = None;
                vec![format!("* no more messages from this channel: {}", plain(text(message, "detail")))]
            }
            Some("error") => vec![format!("! {}", plain(text(message, "detail")))],
            _ => Vec::new(),
        }
    }

    fn hear_page(&mut self, what: &str, page: &Value) -> Vec<String> {
        let rows = page.as_array().map_or(&[][..], Vec::as_slice);
        match what {
            "messages" => self.transcript.page(rows),
            "members" => {
                let member = |row: &Value| (text(row, "key").to_owned(), text(&row["item"], "userId").to_owned());
                self.members = rows.iter().map(member).collect();
                Vec::new()
            }
            "online" => {
                self.online.clear();
                for row in rows {
                    let keys = self.online.entry(text(&row["item"], "userId").to_owned()).or_default();
                    keys.insert(text(row, "key").to_owned());
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    async fn hear_change(&mut self, what: &str, change: &Value) -> Option<String> {
        let (kind, key, item) = (text(change, "kind"), text(change, "key"), &change["item"]);
        match what {
            "messages" => self.transcript.change(kind, key, item),
            "members" if kind == "insert" => {
                let user = text(item, "userId").to_owned();
                self.members.insert(key.to_owned(), user.clone());
                self.somebody(&user, "has joined").await
            }
            "members" if kind == "remove" => {
                let user = self.members.remove(key)?;
                self.somebody(&user, "has left").await
            }
            "channels" => match kind {
                "insert" => Some(format!("* new channel: /channel {}", plain(text(item, "name")))),
                "remove" => Some("* a channel was deleted".to_owned()),
                _ => None,
            },
            "online" => self.hear_presence(kind, item, key).await,
            _ => None,
        }
    }

    async fn hear_presence(&mut self, kind: &str, item: &Value, key: &str) -> Option<String> {
        if kind == "remove" {
            let (user, keys) = self.online.iter_mut().find(|(_, keys)| keys.contains(key))?;
            keys.remove(key);
            let user = user.clone();
            if self.online.get(&user).is_some_and(BTreeSet::is_empty) {
                self.online.remove(&user);
                return self.somebody(&user, "has gone").await;
            }
            return None;
        }
        let user = text(item, "userId").to_owned();
        let is_new = !self.online.contains_key(&user);
        self.online.entry(user.clone()).or_default().insert(key.to_owned());
        if is_new { self.somebody(&user, "is here").await } else { None }
    }

    /// Formats a line about another user.
    async fn somebody(&mut self, user_id: &str, what: &str) -> Option<String> {
        if user_id == self.user_id || user_id.is_empty() {
            return None;
        }
        if !self.names.contains_key(user_id)
            && let Ok(profile) = self.link.get("profile", json!({ "userId": user_id })).await
        {
            self.names.insert(user_id.to_owned(), plain(text(&profile, "username")));
        }
        let name = self.names.get(user_id).map_or("someone", String::as_str);
        Some(format!("* {name} {what}"))
    }
}

async fn log_in(link: &impl Link, visitor: &Visitor) -> Result<Value, Trouble> {
    let known = json!({ "email": visitor.email, "password": visitor.password });
    match link.post("logIn", known).await {
        Err(trouble) if trouble.is("WrongCredentials") => {}
        answered => return answered,
    }
    let new = json!({ "email": visitor.email, "username": visitor.name, "password": visitor.password });
    link.post("register", new).await.map_err(|trouble| {
        if trouble.is("EmailTaken") {
            let detail = format!("{} has an account with another password: pass it with --password", visitor.email);
            return Trouble { detail, ..trouble };
        }
        trouble
    })
}

fn items(page: &Value) -> Vec<Value> {
    page["items"].as_array().cloned().unwrap_or_default()
}

fn same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

fn badge(channel: &Value) -> String {
    match channel["unread"].as_u64() {
        None | Some(0) => String::new(),
        Some(_) if channel["more"] == true => " (99+ unread)".to_owned(),
        Some(unread) => format!(" ({unread} unread)"),
    }
}
