//! Opening the chunks of a segment on several threads.
//!
//! ```text
//! this thread   read 1  read 2  read 3  open 3 ──────  read 4  read 5  open 5 ──────
//! worker                open 1 ──────  open 2 ──────           open 4 ──────
//! ```
//!
//! The calling thread reads all chunks, because only it may use the disk. It gives each chunk to the workers, or opens it
//! itself if they have enough to do. A buffer is reused as soon as its chunk is opened.

use std::sync::mpsc::{self, Receiver, Sender, TrySendError};
use std::thread;

use parking_lot::Mutex;

use super::super::error::StoreError;
use super::chunk::{Chunk, Opened};
use super::read::Chunks;

/// Content of a chunk, and the buffer that it no longer needs.
type Done = (Opened, Vec<u8>);

/// Opens all chunks with `open`, on this thread and on `workers` others, and passes their contents to `take`, in any
/// order.
pub(super) fn open_all(
    mut chunks: Chunks<'_>,
    workers: usize,
    open: impl Fn(&mut Chunk) -> Opened + Sync,
    mut take: impl FnMut(Opened),
) -> Result<(), StoreError> {
    // With one waiting chunk per worker, a worker that finishes a chunk finds another one while this thread is busy.
    let (given, waiting) = mpsc::sync_channel(workers);
    let (finished, done) = mpsc::channel();
    let waiting = Mutex::new(waiting);
    thread::scope(|scope| {
        // Dropped at the end of this closure, also after an error, which ends the workers.
        let given = given;
        for _ in 0..workers {
            let (waiting, finished, open) = (&waiting, finished.clone(), &open);
            let thread = thread::Builder::new().name("store-replay".to_owned());
            let thread = thread.spawn_scoped(scope, move || work(waiting, &finished, open));
            thread.map_err(|error| StoreError::io("start a thread for", "the store", error))?;
        }
        drop(finished);
        let mut free = Vec::new();
        while let Some(chunk) = chunks.next(free.pop().unwrap_or_default())? {
            if let Err(TrySendError::Full(mut chunk) | TrySendError::Disconnected(mut chunk)) = given.try_send(chunk) {
                take(open(&mut chunk));
                free.push(chunk.buffer);
            }
            for (opened, buffer) in done.try_iter() {
                take(opened);
                free.push(buffer);
            }
        }
        drop(given);
        done.iter().for_each(|(opened, _)| take(opened));
        Ok(())
    })
}

/// Opens waiting chunks until there are no more.
fn work(waiting: &Mutex<Receiver<Chunk>>, finished: &Sender<Done>, open: impl Fn(&mut Chunk) -> Opened) {
    loop {
        let Ok(mut chunk) = waiting.lock().recv() else { return };
        let opened = open(&mut chunk);
        if finished.send((opened, chunk.buffer)).is_err() {
            // The calling thread stopped because of an error.
            return;
        }
    }
}
