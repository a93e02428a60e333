//! Listens for the signals that ask a process to end, in a program without a runtime.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// From this call on, SIGHUP, SIGINT and SIGTERM do not end the process. A thread calls `heard` for
/// each signal, until `heard` returns false.
///
/// # Errors
/// If the system refuses the handlers or the thread.
pub fn spawn_listener(mut heard: impl FnMut() -> bool + Send + 'static) -> io::Result<()> {
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
                tokio::select! {
                    _ = hangup.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                if !heard() {
                    return;
                }
            }
        });
    })?;
    Ok(())
}
