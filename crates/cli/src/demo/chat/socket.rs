//! Live reads over the server's WebSocket. A connection that is lost is made again, and each read goes on where it was.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// How often a connection that was lost is tried again, with growing pauses.
const TRIES_MAX: u32 = 8;

/// What the chat asks for.
pub(super) enum Ask {
    /// Be this caller from now on.
    Authenticate(String),
    /// Follow a read.
    Follow {
        /// The chat's name for it.
        id: String,
        /// The read.
        read: String,
        /// Its arguments.
        arguments: Value,
    },
    /// Follow it no longer.
    Unfollow(String),
}

/// What the chat hears.
pub(super) enum Heard {
    /// A message of the server.
    Message(Value),
    /// Something about the connection.
    Note(String),
    /// Nothing more comes; why.
    End(String),
}

/// The connection, and what is followed on it.
pub(super) struct Socket {
    url: String,
    token: Option<String>,
    /// What to send to follow a read, with the token of where it is.
    followed: BTreeMap<String, Value>,
    asks: mpsc::UnboundedReceiver<Ask>,
    heard: mpsc::UnboundedSender<Heard>,
}

/// How a connection ended.
enum Ended {
    /// Nobody asks any more.
    Unwanted,
    /// It can be made again; why it ended.
    Lost(String),
}

impl Socket {
    /// A connection that is made when somebody is logged in.
    pub(super) fn start(url: String) -> (mpsc::UnboundedSender<Ask>, mpsc::UnboundedReceiver<Heard>) {
        let (asking, asks) = mpsc::unbounded_channel();
        let (heard, hearing) = mpsc::unbounded_channel();
        let socket = Self { url, token: None, followed: BTreeMap::new(), asks, heard };
        tokio::spawn(socket.run());
        (asking, hearing)
    }

    async fn run(mut self) {
        while self.token.is_none() {
            let Some(ask) = self.asks.recv().await else { return };
            self.note(ask);
        }
        let mut tries = 0;
        loop {
            let why = match self.connect().await {
                Ok(stream) => {
                    if tries > 0 {
                        self.tell(Heard::Note("* connected again".to_owned()));
                    }
                    tries = 0;
                    match self.serve(stream).await {
                        Ended::Unwanted => return,
                        Ended::Lost(why) => why,
                    }
                }
                Err(why) => why,
            };
            tries += 1;
            if tries > TRIES_MAX {
                return self.tell(Heard::End(why));
            }
            if tries == 1 {
                self.tell(Heard::Note(format!("* {why}; connecting again")));
            }
            tokio::time::sleep(Duration::from_millis(100) * 2u32.pow(tries)).await;
        }
    }

    fn tell(&self, heard: Heard) {
        // Whoever has left does not listen.
        self.heard.send(heard).unwrap_or_default();
    }

    async fn connect(&self) -> Result<Stream, String> {
        let wrong = |error: &dyn std::fmt::Display| format!("cannot follow what happens: {error}");
        let mut request = self.url.as_str().into_client_request().map_err(|error| wrong(&error))?;
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", HeaderValue::from_static("keyform.live.v1"));
        let token = format!("Bearer {}", self.token.as_deref().unwrap_or_default());
        headers.insert("authorization", HeaderValue::from_str(&token).map_err(|error| wrong(&error))?);
        match connect_async(request).await {
            Ok((stream, _)) => Ok(stream),
            Err(Error::Http(answer)) => Err(wrong(&format!("the server answered {}", answer.status()))),
            Err(error) => Err(wrong(&error)),
        }
    }

    async fn serve(&mut self, mut stream: Stream) -> Ended {
        for subscribe in self.followed.values() {
            if let Err(error) = stream.send(Message::text(subscribe.to_string())).await {
                return Ended::Lost(error.to_string());
            }
        }
        loop {
            tokio::select! {
                ask = self.asks.recv() => {
                    let Some(ask) = ask else { return Ended::Unwanted };
                    if let Some(message) = self.note(ask)
                        && let Err(error) = stream.send(Message::text(message.to_string())).await
                    {
                        return Ended::Lost(error.to_string());
                    }
                }
                message = stream.next() => match message {
                    Some(Ok(Message::Text(text))) => self.hear(&text),
                    Some(Ok(Message::Close(_))) | None => return Ended::Lost("the connection ended".to_owned()),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Ended::Lost(error.to_string()),
                },
            }
        }
    }

    /// Notes what is asked for; what to send for it.
    fn note(&mut self, ask: Ask) -> Option<Value> {
        match ask {
            Ask::Authenticate(token) => {
                self.token = Some(token);
                None
            }
            Ask::Follow { id, read, arguments } => {
                let subscribe = json!({ "type": "subscribe", "id": id, "read": read, "arguments": arguments });
                self.followed.insert(id, subscribe.clone());
                Some(subscribe)
            }
            Ask::Unfollow(id) => {
                self.followed.remove(&id)?;
                Some(json!({ "type": "unsubscribe", "id": id }))
            }
        }
    }

    fn hear(&mut self, text: &str) {
        let Ok(message) = serde_json::from_str::<Value>(text) else { return };
        let id = message["id"].as_str().unwrap_or_default();
        if let (Some(followed), Some(token)) = (self.followed.get_mut(id), message.get("token")) {
            followed["token"] = token.clone();
        }
        if message["type"] == "ended" {
            self.followed.remove(id);
        }
        self.tell(Heard::Message(message));
    }
}
