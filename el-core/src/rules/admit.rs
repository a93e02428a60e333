//! Admission of another session by the load and the memory of the machine. A session costs over a
//! second of CPU and a quarter of a gigabyte at the start. The figures show the cost only later, so
//! recent starts are counted ahead.

use std::time::Duration;

/// The memory of a session at the start, in bytes.
const SESSION_BYTES: u64 = 256 << 20;
/// How long a new session counts with its full cost, which the figures show only later.
const SETTLING: Duration = Duration::from_secs(10);
/// If no session runs, `el` is not the cause of the load: after this wait, a session starts anyway.
const LONGEST_IDLE: Duration = Duration::from_secs(60);

/// The bounds; without bounds, nothing is held back.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// The one-minute load per core above which no session starts.
    pub max_load: Option<f64>,
    /// Bytes that must be free in addition to the memory of a session.
    pub min_memory: Option<u64>,
    /// Between two starts.
    pub start_interval: Duration,
}

/// The figures of the machine. An unreadable figure holds nothing back.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Machine {
    /// The one-minute load average per core.
    pub load: Option<f64>,
    pub cores: usize,
    /// Available memory in bytes, within the limits of the control group.
    pub memory: Option<u64>,
}

/// Why no session starts now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Held {
    Load { is: f64, max: f64 },
    Memory { free: u64, needed: u64 },
    Interval { left: Duration },
}

/// The decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Admission {
    /// A session may start.
    Start,
    /// No session may start now.
    Hold(Held),
    /// A session may start against the figures: no session ran for so long that waiting would be a
    /// stall.
    StartAnyway(Held),
}

/// Decides about a start. `since_starts`: the time since each recent start. `held_idle`: how long
/// starts have been held back while no session ran; `None` if a session runs.
pub fn may_start_session(
    limits: &Limits,
    machine: &Machine,
    since_starts: &[Duration],
    held_idle: Option<Duration>,
) -> Admission {
    let young = since_starts.iter().filter(|since| **since < SETTLING).count();
    let held = interval_hold(limits, since_starts)
        .or_else(|| load_hold(limits, machine, young))
        .or_else(|| memory_hold(limits, machine, young));
    match held {
        None => Admission::Start,
        Some(held) if held_idle.is_some_and(|idle| idle >= LONGEST_IDLE) => {
            Admission::StartAnyway(held)
        }
        Some(held) => Admission::Hold(held),
    }
}

fn interval_hold(limits: &Limits, since_starts: &[Duration]) -> Option<Held> {
    let left = limits.start_interval.checked_sub(*since_starts.iter().min()?)?;
    (!left.is_zero()).then_some(Held::Interval { left })
}

fn load_hold(limits: &Limits, machine: &Machine, young: usize) -> Option<Held> {
    let (max, is) = (limits.max_load?, machine.load?);
    // Each keeps about one core busy that the average does not tell of yet.
    let young = f64::from(u32::try_from(young).unwrap_or(u32::MAX))
        / f64::from(u32::try_from(machine.cores.max(1)).unwrap_or(1));
    (is + young > max).then_some(Held::Load { is: is + young, max })
}

fn memory_hold(limits: &Limits, machine: &Machine, young: usize) -> Option<Held> {
    let (min, free) = (limits.min_memory?, machine.memory?);
    let young = u64::try_from(young).unwrap_or(u64::MAX).saturating_add(1);
    let needed = min.saturating_add(SESSION_BYTES.saturating_mul(young));
    (free < needed).then_some(Held::Memory { free, needed })
}

impl std::fmt::Display for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Held::Load { is, max } => {
                write!(f, "the load is {is:.2} for each core, and max_load is {max:.2}")
            }
            Held::Memory { free, needed } => {
                write!(
                    f,
                    "{} MiB of memory are free, and {} are needed with min_memory",
                    free >> 20,
                    needed >> 20
                )
            }
            Held::Interval { .. } => {
                f.write_str("start_interval has not passed since the last start")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const S: fn(u64) -> Duration = Duration::from_secs;

    #[test]
    fn what_was_started_just_now_counts_before_the_figures_show_it() {
        let limits = Limits { max_load: Some(1.0), min_memory: Some(0), ..Limits::default() };
        let machine = Machine { load: Some(0.4), cores: 2, memory: Some(600 << 20) };
        assert_eq!(may_start_session(&limits, &machine, &[S(1)], None), Admission::Start);
        assert!(matches!(
            may_start_session(&limits, &machine, &[S(1), S(2)], None),
            Admission::Hold(Held::Load { .. })
        ));
        let memory = Limits { max_load: None, ..limits };
        assert!(matches!(
            may_start_session(&memory, &machine, &[S(1), S(2)], None),
            Admission::Hold(Held::Memory { .. })
        ));
        assert_eq!(may_start_session(&memory, &machine, &[S(11), S(12)], None), Admission::Start);
    }

    proptest! {
        #[test]
        fn it_never_stalls_and_never_holds_without_a_bound(
            load in prop::option::of(0.0..100.0_f64),
            memory in prop::option::of(any::<u64>()),
            cores in 0_usize..64,
            max_load in prop::option::of(0.01..50.0_f64),
            min_memory in prop::option::of(any::<u64>()),
            starts in prop::collection::vec(0_u64..100, 0..8),
            interval in 0_u64..100,
        ) {
            let machine = Machine { load, cores, memory };
            let since: Vec<Duration> = starts.into_iter().map(S).collect();
            let limits = Limits { max_load, min_memory, start_interval: S(interval) };
            let stalled = matches!(
                may_start_session(&limits, &machine, &since, Some(LONGEST_IDLE)),
                Admission::Hold(_)
            );
            prop_assert!(!stalled);
            prop_assert_eq!(
                may_start_session(&Limits::default(), &machine, &since, None),
                Admission::Start
            );
            prop_assert_eq!(
                may_start_session(
                    &Limits { start_interval: Duration::ZERO, ..limits },
                    &Machine::default(),
                    &since,
                    None
                ),
                Admission::Start
            );
        }
    }
}
