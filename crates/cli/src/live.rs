//! Live reads over a server's WebSocket. A lost connection is reestablished, and each read resumes.
//!
//! 1. The user sends [`Ask`]s: first its credentials, then subscriptions.
//! 2. The [`Socket`] connects, subscribes with the resume token of each read, and forwards messages as [`Heard`].
//! 3. After a lost connection it retries several times with growing delays. A connection that never succeeded is not
//!    retried.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use keyform::{SystemWorld, World as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::{Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

type Stream = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Headers that identify the caller.
pub(crate) type Headers = Vec<(&'static str, String)>;

/// Maximum number of consecutive attempts to reconnect.
const TRIES_MAX: u32 = 7;
/// Delay before the first attempt; it doubles with each further one.
const PAUSE: Duration = Duration::from_millis(200);
/// Time after which a connection counts as stable, even without messages.
const LASTING: Duration = Duration::from_secs(60);

/// Request to the socket.
pub(crate) enum Ask {
    /// Sets the caller. There is no connection before this.
    Authenticate(Headers),
    /// Subscribes to a read.
    Follow {
        /// Subscription id, chosen by the user of the socket.
        id: String,
        /// Name of the read.
        read: String,
        /// Arguments of the read.
        arguments: Value,
    },
    /// Ends a subscription.
    Unfollow(String),
}

/// Event of the socket.
pub(crate) enum Heard {
    /// Message of the server.
    Message(Value),
    /// The connection was lost and is being retried; contains the reason.
    Lost(String),
    /// The connection is reestablished.
    Again,
    /// The socket has ended; contains the reason.
    End(String),
}

/// WebSocket connection with its subscriptions.
pub(crate) struct Socket {
    /// Server URL as given.
    server: String,
    model: String,
    headers: Option<Headers>,
    /// Subscribe messages by id, each with its latest resume token.
    followed: BTreeMap<String, Value>,
    /// Set when the connection has received a message, so that it counts as working.
    has_news: bool,
    asks: mpsc::UnboundedReceiver<Ask>,
    heard: mpsc::UnboundedSender<Heard>,
}

/// Reason for the end of a connection.
enum Ended {
    /// The user has dropped its sender.
    Unwanted,
    /// The connection was lost and can be retried; contains the reason.
    Lost(String),
}

impl Socket {
    /// Starts a socket for the reads of a model on a server, `http://…` or `https://…`. It ends when the sender is
    /// dropped.
    pub(crate) fn start(server: &str, model: &str) -> (mpsc::UnboundedSender<Ask>, mpsc::UnboundedReceiver<Heard>) {
        let (asking, asks) = mpsc::unbounded_channel();
        let (heard, hearing) = mpsc::unbounded_channel();
        let (server, model) = (server.to_owned(), model.to_owned());
        let socket = Self { server, model, headers: None, followed: BTreeMap::new(), has_news: false, asks, heard };
        tokio::spawn(socket.run());
        (asking, hearing)
    }

    async fn run(mut self) {
        while self.headers.is_none() {
            let Some(ask) = self.asks.recv().await else { return };
            self.note(ask);
        }
        let mut stream = match self.connect().await {
            Ok(stream) => stream,
            Err(why) => return self.tell(Heard::End(why)),
        };
        let mut tries = 0;
        loop {
            let begun = SystemWorld.monotonic();
            let why = match self.serve(stream).await {
                Ended::Unwanted => return,
                Ended::Lost(why) => why,
            };
            if self.has_news || SystemWorld.monotonic() - begun > LASTING {
                tries = 0;
            }
            self.tell(Heard::Lost(why));
            stream = match self.connect_again(&mut tries).await {
                Ok(stream) => stream,
                Err(why) => return self.tell(Heard::End(why)),
            };
            self.tell(Heard::Again);
        }
    }

    fn tell(&self, heard: Heard) {
        // The receiver may be gone.
        self.heard.send(heard).unwrap_or_default();
    }

    async fn connect_again(&self, tries: &mut u32) -> Result<Stream, String> {
        let mut why = "the server closes every connection".to_owned();
        while *tries < TRIES_MAX {
            SystemWorld.sleep(PAUSE * 2u32.pow(*tries)).await;
            *tries += 1;
            match self.connect().await {
                Ok(stream) => return Ok(stream),
                Err(error) => why = error,
            }
        }
        Err(why)
    }

    async fn connect(&self) -> Result<Stream, String> {
        match connect_async(self.request()?).await {
            Ok((stream, _)) => Ok(stream),
            Err(Error::Http(answer)) => Err(refusal(&answer)),
            Err(error) => Err(format!("cannot reach {}: {error}: is `keyform serve` running there?", self.server)),
        }
    }

    fn request(&self) -> Result<Request, String> {
        let url = format!("ws{}/v1/{}/live", self.server.trim_start_matches("http"), self.model);
        let mut request = url.into_client_request().map_err(|error| error.to_string())?;
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", HeaderValue::from_static("keyform.live.v1"));
        for (name, value) in self.headers.iter().flatten() {
            let value = HeaderValue::from_str(value).map_err(|error| format!("{name}: {error}"))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        Ok(request)
    }

    async fn serve(&mut self, mut stream: Stream) -> Ended {
        self.has_news = false;
        for subscribe in self.followed.values() {
            if let Err(error) = stream.send(Message::text(subscribe.to_string())).await {
                return Ended::Lost(error.to_string());
            }
        }
        loop {
            tokio::select! {
                ask = self.asks.recv() => {
                    let Some(ask) = ask else {
                        // The close frame is best effort.
                        stream.close(None).await.unwrap_or_default();
                        return Ended::Unwanted;
                    };
                    if let Some(message) = self.note(ask)
                        && let Err(error) = stream.send(Message::text(message.to_string())).await
                    {
                        return Ended::Lost(error.to_string());
                    }
                }
                message = stream.next() => match message {
                    Some(Ok(Message::Text(text))) => self.hear(&text),
                    Some(Ok(Message::Close(frame))) => return Ended::Lost(closed(frame.as_ref())),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return Ended::Lost(error.to_string()),
                    None => return Ended::Lost("the connection ended".to_owned()),
                },
            }
        }
    }

    /// Records a request; returns the message to send for it.
    fn note(&mut self, ask: Ask) -> Option<Value> {
        match ask {
            Ask::Authenticate(headers) => {
                self.headers = Some(headers);
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
            self.has_news |= followed.get("token") != Some(token);
            followed["token"] = token.clone();
        }
        if message["type"] == "ended" {
            self.followed.remove(id);
        }
        self.tell(Heard::Message(message));
    }
}

/// Describes the response of a server that rejects the WebSocket.
fn refusal(answer: &Response) -> String {
    let body = answer.body().as_ref().and_then(|body| serde_json::from_slice::<Value>(body).ok());
    let said = body.and_then(|body| body["detail"].as_str().map(str::to_owned)).unwrap_or_default();
    format!("the server answered {}: {said}", answer.status())
}

fn closed(frame: Option<&CloseFrame>) -> String {
    match frame {
        Some(frame) => format!("the server closed the connection ({}): {}", u16::from(frame.code), frame.reason),
        None => "the server closed the connection".to_owned(),
    }
}
