//! Handshake of a connection, with a timeout, and the answer to clients that do not speak TLS.

use std::io;
use std::time::Duration;

use keyform_core::world::timeout;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::Tls;
use crate::shared::Shared;
use crate::stream::Stream;

/// First byte of a TLS connection: the content type of a handshake record.
const HANDSHAKE: u8 = 22;
/// Answer to plain HTTP.
const PLAIN: &[u8] = b"HTTP/1.1 400 Bad Request\r\nserver: keyform\r\ncontent-type: application/json\r\n\
    content-length: 68\r\nconnection: close\r\n\r\n{\"message\":\"This port accepts HTTPS only: use https:// in the URL\"}\n";
/// Time for a client that is still sending to read its answer.
const LINGER: Duration = Duration::from_secs(1);

/// Returns the encrypted stream, or `None` if the client did not complete the handshake in time.
pub(crate) async fn shake(tls: &Tls, stream: Stream, shared: &Shared) -> Option<TlsStream<Stream>> {
    let patience = shared.timeouts.handshake;
    let shaking = async {
        match stream.first_byte().await? {
            Some(HANDSHAKE) => TlsAcceptor::from(tls.config.clone()).accept(stream).await.map(Some),
            Some(byte) if byte.is_ascii_uppercase() => {
                // The client learns of its mistake; whether it reads the answer does not matter.
                drop(timeout(&*shared.world, LINGER, refuse(stream)).await);
                Ok(None)
            }
            _ => Ok(None),
        }
    };
    match timeout(&*shared.world, patience, shaking).await {
        Ok(Ok(stream)) => return stream,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
    None
}

/// Answers plain HTTP and drains the socket: closing it with unread bytes would reset it, and the client could lose the
/// answer.
async fn refuse(mut stream: Stream) -> io::Result<()> {
    stream.write_all(PLAIN).await?;
    stream.shutdown().await?;
    let mut rest = [0; 4096];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::PLAIN;

    #[test]
    fn the_answer_to_plain_http_has_its_length() {
        let text = std::str::from_utf8(PLAIN).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{}", body.len());
    }
}
