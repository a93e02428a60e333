//! Listens for the signals that ask a process to end, in a program without a runtime.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// A signal that asks a process to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndSignal {
    Hangup,
    /// Ctrl-C, which a terminal sends to all processes of a job.
    Interrupt,
    Terminate,
}

/// From this call on, SIGHUP, SIGINT and SIGTERM do not end the process. A thread calls `heard` for
/// each signal, until `heard` returns false.
///
/// # Errors
/// If the system refuses the handlers or the thread.
pub fn spawn_listener(mut heard: impl FnMut(EndSignal) -> bool + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let (mut hangup, mut interrupt, mut terminate) = {
        let _guard = runtime.enter();
        (
            signal(SignalKind::hangup())?,
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        )
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                let signal = tokio::select! {
                    _ = hangup.recv() => EndSignal::Hangup,
                    _ = interrupt.recv() => EndSignal::Interrupt,
                    _ = terminate.recv() => EndSignal::Terminate,
                };
                if !heard(signal) {
                    return;
                }
            }
        });
    })?;
    Ok(())
}
