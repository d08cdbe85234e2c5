//! A connection's stream, and a view of it that notices when the client leaves.
//!
//! hyper reads nothing while a request is worked on, because a client may close its side and still wait for the answer. Work that may go on for long
//! looks for itself, with a second handle of the same socket: no descriptor is duplicated for it.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;

/// The wait between two looks at a client that has sent its next request already: data that waits hides the end behind it.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A TCP stream with several handles.
pub(crate) struct Stream(Arc<TcpStream>);

/// A handle that notices when the client leaves.
#[derive(Clone)]
pub(crate) struct Presence(Arc<TcpStream>);

impl Stream {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self(Arc::new(stream))
    }

    pub(crate) fn presence(&self) -> Presence {
        Presence(self.0.clone())
    }
}

impl Presence {
    /// Ready when the client has closed its side of the connection, or the connection is lost.
    pub(crate) async fn left(&self) {
        loop {
            match self.0.peek(&mut [0]).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            match self.0.ready(Interest::READABLE).await {
                Ok(ready) if ready.is_read_closed() => return,
                Err(_) => return,
                Ok(_) => tokio::time::sleep(LOOK_EVERY).await,
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
                // The socket was not ready after all: the next look registers the task again.
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
        // TCP has no buffer of ours.
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
