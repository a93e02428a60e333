//! SIGINT handled as by the client (a flag that every wait checks), and the deaf agent of
//! `ignore-signals`.
#![expect(
    unsafe_code,
    reason = "the standard library has no way to set what a signal does, and a fake needs no crate \
        for it"
)]

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

const SIGHUP: i32 = 1;
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;
const SIG_IGN: usize = 1;

unsafe extern "C" {
    fn signal(number: i32, handler: usize) -> usize;
}

extern "C" fn on_interrupt(_: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

pub(crate) fn catch_interrupt() {
    let handler: extern "C" fn(i32) = on_interrupt;
    // SAFETY: the handler only stores to an atomic, which is allowed in a signal handler.
    unsafe {
        signal(SIGINT, handler as usize);
    }
}

/// From now on only SIGKILL ends the process and its children.
pub(crate) fn ignore_all() {
    for number in [SIGHUP, SIGINT, SIGTERM] {
        // SAFETY: no handler runs for an ignored signal.
        unsafe {
            signal(number, SIG_IGN);
        }
    }
}

pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}
