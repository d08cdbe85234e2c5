//! Delivers Ctrl-C and SIGTERM as messages.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use tokio::runtime::Builder;

/// Sends a message for each stop signal, from a thread that lives as long as the process. After this returns, signals
/// no longer end the process by default.
pub(crate) fn watch<T: Send + 'static>(sender: Sender<T>, message: fn() -> T) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut signals = runtime.block_on(async { Signals::new() })?;
    let watcher = move || {
        runtime.block_on(async {
            loop {
                signals.next().await;
                if sender.send(message()).is_err() {
                    return;
                }
            }
        });
    };
    thread::Builder::new().name("keyform-signals".to_owned()).spawn(watcher)?;
    Ok(())
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
