//! Stream with a write timeout: disconnects clients that do not read their answer.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use keyform_core::World;
use keyform_core::execute::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Stream with a limit on the duration of a pending write.
pub(crate) struct Stall<S> {
    stream: S,
    world: Arc<dyn World>,
    patience: Duration,
    /// Set while a write is pending.
    limit: Option<BoxFuture<'static, ()>>,
}

impl<S: Unpin> Stall<S> {
    pub(crate) fn new(stream: S, patience: Duration, world: Arc<dyn World>) -> Self {
        Self { stream, world, patience, limit: None }
    }

    /// Returns the outcome of a write, or an error after writes have been pending too long.
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.limit = None;
            return written;
        }
        let (world, patience) = (&self.world, self.patience);
        let limit = self.limit.get_or_insert_with(|| world.sleep(patience));
        ready!(limit.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its response")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
