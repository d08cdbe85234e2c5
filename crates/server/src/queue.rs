//! Connections that the operating system has accepted and the server has not taken yet. Closing the port would reset them.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Takes every connection that waits, and closes the port.
pub(crate) fn drain(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    // The runtime learns of connections with a delay; the socket itself knows all of them and never blocks.
    let listener = match listener.into_std() {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "connections that wait cannot be taken");
            return Vec::new();
        }
    };
    let mut waiting = Vec::new();
    while let Ok((stream, address)) = listener.accept() {
        match stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
            Ok(stream) => waiting.push((stream, address)),
            Err(error) => tracing::warn!(%error, "a connection could not be taken over"),
        }
    }
    waiting
}
