//! Stream that passes requests to hyper only while their framing is unambiguous, and that closes without losing the
//! last answer.
//!
//! hyper answers a byte that no request can contain with 400, after the answers to earlier requests on the connection.
//! At a defect found by [`Framing`], this stream substitutes such a byte and discards everything that follows.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::framing::Framing;

/// Ends any head and makes it invalid.
const POISON: &[u8] = b"\0\r\n\r\n";
/// Time for a client that is still sending to read its answer. Closing a socket with unread bytes resets it, and the
/// answer may be lost.
const LINGER: Duration = Duration::from_secs(1);

/// Stream of requests with strict framing.
pub(crate) struct Strict<S> {
    stream: S,
    world: Arc<dyn World>,
    framing: Framing,
    /// Remaining poison bytes, once a defect was found.
    poison: Option<&'static [u8]>,
    /// Set when the connection no longer carries HTTP.
    upgraded: Arc<AtomicBool>,
    lingering: Option<BoxFuture<'static, ()>>,
}

impl<S> Strict<S> {
    pub(crate) fn new(stream: S, upgraded: Arc<AtomicBool>, world: Arc<dyn World>) -> Self {
        Self { stream, world, framing: Framing::default(), poison: None, upgraded, lingering: None }
    }

    /// Checks new bytes, and replaces those from a defect on.
    fn inspect(&mut self, buffer: &mut ReadBuf<'_>, before: usize) {
        if let Err((position, defect)) = self.framing.follow(&buffer.filled()[before..]) {
            tracing::debug!(?defect, "request rejected: its end is ambiguous");
            buffer.set_filled(before + position);
            self.poison = Some(feed(POISON, buffer));
        }
    }

    fn is_complete(&self) -> bool {
        self.upgraded.load(Ordering::Relaxed) || (self.poison.is_none() && self.framing.is_idle())
    }
}

/// Copies as much as fits into the buffer and returns the rest.
fn feed<'a>(bytes: &'a [u8], buffer: &mut ReadBuf<'_>) -> &'a [u8] {
    let (now, later) = bytes.split_at(bytes.len().min(buffer.remaining()));
    buffer.put_slice(now);
    later
}

impl<S: AsyncRead + Unpin> Strict<S> {
    /// Discards further input for up to [`LINGER`]. Does not wait for a client that has sent exactly its requests.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut is_complete = self.is_complete();
        let world = &self.world;
        let limit = self.lingering.get_or_insert_with(|| world.sleep(LINGER));
        let mut scratch = [0; 8 * 1024];
        while limit.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.stream).poll_read(cx, &mut buffer) {
                Poll::Pending if is_complete => break,
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    is_complete = false;
                    self.poison = Some(b"");
                }
                Poll::Ready(_) => break,
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Strict<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if let Some(rest) = self.poison {
            self.poison = Some(feed(rest, buffer));
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if !self.upgraded.load(Ordering::Relaxed) {
            self.inspect(buffer, before);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Strict<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.lingering.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        ready!(self.poll_linger(cx));
        Poll::Ready(Ok(()))
    }
}
