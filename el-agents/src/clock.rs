//! The clocks of el; el-core has none.

use std::time::{Duration, SystemTime};

use el_core::model::Timestamp;

/// The wall clock, for the store.
pub(crate) fn now() -> Timestamp {
    SystemTime::now().into()
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
