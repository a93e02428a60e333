//! The clocks of el; el-core has none.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use el_core::Store;
use el_core::model::Timestamp;

/// How far the clock of the project's server is ahead of this machine's, in microseconds.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// The largest difference that is left alone, in microseconds. The way to a server takes its time,
/// and times would go back and forth with it.
const SLACK: i64 = 1_000_000;

/// The time for the store: by the server's clock, once [`follow`] knows of one.
pub fn now() -> Timestamp {
    shift_time(machine_time(), AHEAD.load(Ordering::Relaxed))
}

/// The time by this machine's own clock.
pub fn machine_time() -> Timestamp {
    SystemTime::now().into()
}

/// Goes by the clock of the server that has the project, so that no time that this process writes
/// or compares depends on its machine. For a project in a file, the machine's clock counts.
pub fn follow(store: &Store) {
    let here = machine_time();
    let ahead = store.lease_time(here).as_micros() - here.as_micros();
    if (ahead - AHEAD.load(Ordering::Relaxed)).abs() > SLACK {
        AHEAD.store(ahead, Ordering::Relaxed);
    }
}

/// The time that this machine's clock showed at a time of the store; files have such times.
pub(crate) fn on_machine(time: Timestamp) -> Timestamp {
    shift_time(time, -AHEAD.load(Ordering::Relaxed))
}

fn shift_time(time: Timestamp, micros: i64) -> Timestamp {
    Timestamp::from_micros(time.as_micros().saturating_add(micros))
}

/// Time since a fixed moment, including time in suspend. Leases are measured with this clock, so
/// that a supervisor notices a lease that expired during suspend.
pub(crate) fn time_with_suspend() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    // Elsewhere the monotonic clock is the nearest; on macOS that clock counts suspend.
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A random number from 0 to 1, for spreading events that would otherwise coincide.
pub(crate) fn jitter() -> f64 {
    let token = el_core::model::fresh_token();
    let bits = u32::from_str_radix(&token[..8], 16).expect("a token is hexadecimal");
    f64::from(bits) / f64::from(u32::MAX)
}
