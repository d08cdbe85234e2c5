//! Drains connections that the kernel has accepted but the server has not. Closing the port would reset them.

use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpStream};

/// Accepts every pending connection, then closes the port.
pub(crate) fn drain(listener: TcpListener) -> Vec<(TcpStream, SocketAddr)> {
    // The runtime learns of connections with a delay; the non-blocking socket itself has all of them.
    let listener = match listener.into_std() {
        Ok(listener) => listener,
        Err(error) => {
            tracing::warn!(%error, "cannot take waiting connections");
            return Vec::new();
        }
    };
    let mut waiting = Vec::new();
    while let Ok((stream, address)) = listener.accept() {
        match stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
            Ok(stream) => waiting.push((stream, address)),
            Err(error) => tracing::warn!(%error, "cannot take over a connection"),
        }
    }
    waiting
}
