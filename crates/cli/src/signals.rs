//! Delivers Ctrl-C, SIGTERM and, if requested, SIGHUP as messages.

use std::io;
use std::sync::mpsc::Sender;
use std::thread;

use tokio::runtime::Builder;

/// Sends a message for each stop signal, from a thread that lives as long as the process. After this returns, signals
/// no longer end the process by default. SIGHUP is delivered only with a message for it.
pub(crate) fn watch<T: Send + 'static>(
    sender: Sender<T>,
    stop: fn() -> T,
    hangup: Option<fn() -> T>,
) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let mut signals = runtime.block_on(async { Signals::new(hangup.is_some()) })?;
    let watcher = move || {
        runtime.block_on(async {
            loop {
                let message = match (signals.next().await, hangup) {
                    (Signal::Hangup, Some(hangup)) => hangup(),
                    (Signal::Hangup | Signal::Stop, _) => stop(),
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
    };
    thread::Builder::new().name("keyform-signals".to_owned()).spawn(watcher)?;
    Ok(())
}

enum Signal {
    Stop,
    #[cfg_attr(windows, expect(dead_code, reason = "Windows has no SIGHUP"))]
    Hangup,
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn new(hangup: bool) -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let hangup = hangup.then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())?, hangup })
    }

    async fn next(&mut self) -> Signal {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Stop,
            _ = self.terminate.recv() => Signal::Stop,
            () = hangup => Signal::Hangup,
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new(_hangup: bool) -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) -> Signal {
        self.0.recv().await;
        Signal::Stop
    }
}
