//! The clocks of this crate; el-core has none.

use std::time::{Duration, SystemTime};

use el_core::model::Timestamp;

/// The wall clock, as the store is told it.
pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Time since some fixed moment that goes on while the machine sleeps: what a lease is measured
/// with, so that a supervisor that slept through its lease knows it.
pub(crate) fn awake_or_not() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    // Elsewhere the monotonic clock is the nearest; on macOS it does count sleep.
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A number from 0 to 1, from the system's randomness, to spread what would otherwise happen at
/// once.
pub(crate) fn jitter() -> f64 {
    let token = el_core::model::fresh_token();
    let bits = u32::from_str_radix(&token[..8], 16).expect("a token is hexadecimal");
    f64::from(bits) / f64::from(u32::MAX)
}
