//! Connection stream with a second handle that detects when the client disconnects.
//!
//! hyper does not read while a request is in progress, because a client may close its sending side and still wait for
//! the answer. Long work therefore checks for itself, with a second handle of the same socket, which needs no
//! additional descriptor.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use keyform_core::World;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// Polling interval for a client that has already sent its next request, because unread data hides the end of the
/// stream.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// TCP stream with shared ownership of the socket.
pub(crate) struct Stream(Arc<TcpStream>);

/// Handle that detects a disconnected client.
#[derive(Clone)]
pub(crate) struct Presence {
    stream: Arc<TcpStream>,
    world: Arc<dyn World>,
}

impl Stream {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    /// Returns the first byte that the client sends, without consuming it; `None` if it closes instead.
    pub(crate) async fn first_byte(&self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.0.peek(&mut byte).await? > 0).then_some(byte[0]))
    }

    pub(crate) fn presence(&self, world: Arc<dyn World>) -> Presence {
        Presence { stream: self.0.clone(), world }
    }
}

impl Presence {
    /// Completes when the client has closed its side of the connection, or the connection is lost.
    pub(crate) async fn left(&self) {
        loop {
            match self.stream.peek(&mut [0]).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            match self.stream.ready(Interest::READABLE).await {
                Ok(ready) if ready.is_read_closed() => return,
                Err(_) => return,
                Ok(_) => self.world.sleep(LOOK_EVERY).await,
            }
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            ready!(self.0.poll_read_ready(cx))?;
            match self.0.try_read_buf(buffer) {
                Ok(_) => return Poll::Ready(Ok(())),
                // Spurious readiness: the next poll registers the task again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.written(cx, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.written(cx, |stream| stream.try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Writes are not buffered here.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(socket2::SockRef::from(&*self.0).shutdown(std::net::Shutdown::Write))
    }
}

impl Stream {
    fn written(
        &self,
        cx: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.0.poll_write_ready(cx))?;
            match write(&self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => return Poll::Ready(written),
            }
        }
    }
}
