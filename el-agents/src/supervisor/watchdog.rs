//! Decides if and why an agent is to be ended: pure, from the observations at a moment.

use std::time::Duration;

use el_core::model::EndKind;
use el_core::ops::RunSignal;

/// The time for an agent to end by itself after SIGINT.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);
/// The time for an agent to exit after its result. The agent itself waits five seconds for its
/// background tasks.
const RESULT_GRACE: Duration = Duration::from_secs(15);
/// The factor by which a tool that still runs after the close (a commit with slow hooks) may
/// stretch the grace.
const TOOL_PATIENCE: u32 = 5;

/// The bounds of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) execution_timeout: Duration,
    pub(crate) stall_timeout: Duration,
    pub(crate) close_grace: Duration,
    pub(crate) lease: Duration,
}

/// The observations at a moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    /// The time since the run began, without time in suspend.
    pub(crate) running: Duration,
    /// The time since the last activity of the agent or its tree.
    pub(crate) idle: Duration,
    /// The time since the agent's result.
    pub(crate) since_result: Option<Duration>,
    /// The time since the atom reached a status that ends the run.
    pub(crate) since_finished: Option<Duration>,
    /// A called tool has not answered.
    pub(crate) tool_in_flight: bool,
    /// The time since the lease was last extended, with time in suspend.
    pub(crate) lease_age: Duration,
    /// The last signal of the store.
    pub(crate) watch: RunSignal,
    /// The API refuses the account.
    pub(crate) is_refused: bool,
    /// A signal asked for the end: the session or its server ended, or SIGTERM came.
    pub(crate) hung_up: bool,
}

/// A decision to end the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EndNow {
    pub(crate) kind: EndKind,
    /// The time for the agent to end by itself.
    pub(crate) grace: Duration,
}

/// Decides; `None` lets the agent go on.
pub(crate) fn decide(bounds: &Bounds, moment: &Moment) -> Option<EndNow> {
    let end = |kind| Some(EndNow { kind, grace: INTERRUPT_GRACE });
    match moment.watch {
        // Another process has settled the run, so no further word of this agent counts.
        RunSignal::Over => return Some(EndNow { kind: EndKind::LeaseLost, grace: Duration::ZERO }),
        RunSignal::Superseded => return end(EndKind::Finished),
        RunSignal::Cancelled(_) | RunSignal::OverBudget => return end(EndKind::Cancelled),
        RunSignal::Work | RunSignal::Finished(_) => {}
    }
    if moment.hung_up {
        return end(EndKind::Hangup);
    }
    if moment.is_refused {
        return end(EndKind::Refused);
    }
    // The agent ends before the lease can be taken over.
    if moment.lease_age > bounds.lease.mul_f64(0.7) {
        return Some(EndNow {
            kind: EndKind::LeaseLost,
            grace: bounds.lease.mul_f64(0.05).min(INTERRUPT_GRACE),
        });
    }
    if moment.running > bounds.execution_timeout {
        return end(EndKind::TimedOut);
    }
    if let Some(since) = moment.since_finished {
        let patience = if moment.tool_in_flight { TOOL_PATIENCE } else { 1 };
        if since > bounds.close_grace.saturating_mul(patience)
            || moment.since_result.is_some_and(|t| t > RESULT_GRACE.min(bounds.close_grace))
        {
            return end(EndKind::Finished);
        }
        return None;
    }
    if moment.since_result.is_some_and(|since| since > RESULT_GRACE) {
        return end(EndKind::Exited);
    }
    if moment.idle > bounds.stall_timeout {
        return end(EndKind::Stalled);
    }
    None
}

#[cfg(test)]
mod tests {
    use el_core::model::{CancelMode, Status};

    use super::*;

    const BOUNDS: Bounds = Bounds {
        execution_timeout: Duration::from_secs(3600),
        stall_timeout: Duration::from_secs(1200),
        close_grace: Duration::from_secs(60),
        lease: Duration::from_secs(60),
    };

    fn moment() -> Moment {
        Moment {
            running: Duration::from_secs(10),
            idle: Duration::ZERO,
            since_result: None,
            since_finished: None,
            tool_in_flight: false,
            lease_age: Duration::ZERO,
            watch: RunSignal::Work,
            is_refused: false,
            hung_up: false,
        }
    }

    fn kind(moment: &Moment) -> Option<EndKind> {
        decide(&BOUNDS, moment).map(|end| end.kind)
    }

    #[test]
    fn an_agent_at_work_goes_on() {
        assert_eq!(decide(&BOUNDS, &moment()), None);
    }

    #[test]
    fn an_agent_that_closed_its_atom_may_finish_its_last_turn() {
        let closed = Moment {
            watch: RunSignal::Finished(Status::Closed),
            since_finished: Some(Duration::from_secs(30)),
            ..moment()
        };
        assert_eq!(kind(&closed), None);
        assert_eq!(
            kind(&Moment { since_finished: Some(Duration::from_secs(61)), ..closed }),
            Some(EndKind::Finished)
        );
        let committing = Moment {
            tool_in_flight: true,
            since_finished: Some(Duration::from_secs(200)),
            ..closed
        };
        assert_eq!(kind(&committing), None, "a commit with slow hooks");
        assert_eq!(
            kind(&Moment { since_finished: Some(Duration::from_secs(301)), ..committing }),
            Some(EndKind::Finished)
        );
    }

    #[test]
    fn an_agent_that_said_its_result_has_to_leave() {
        assert_eq!(
            kind(&Moment { since_result: Some(Duration::from_secs(16)), ..moment() }),
            Some(EndKind::Exited)
        );
    }

    #[test]
    fn each_bound_has_its_own_end() {
        assert_eq!(
            kind(&Moment { running: Duration::from_secs(3601), ..moment() }),
            Some(EndKind::TimedOut)
        );
        assert_eq!(
            kind(&Moment { idle: Duration::from_secs(1201), ..moment() }),
            Some(EndKind::Stalled)
        );
        assert_eq!(
            kind(&Moment { lease_age: Duration::from_secs(43), ..moment() }),
            Some(EndKind::LeaseLost)
        );
        assert_eq!(kind(&Moment { is_refused: true, ..moment() }), Some(EndKind::Refused));
        assert_eq!(kind(&Moment { hung_up: true, ..moment() }), Some(EndKind::Hangup));
        assert_eq!(
            kind(&Moment { watch: RunSignal::Cancelled(CancelMode::Hold), ..moment() }),
            Some(EndKind::Cancelled)
        );
        assert_eq!(
            kind(&Moment { watch: RunSignal::Superseded, ..moment() }),
            Some(EndKind::Finished)
        );
    }

    #[test]
    fn a_run_that_is_over_is_ended_without_grace() {
        assert_eq!(
            decide(&BOUNDS, &Moment { watch: RunSignal::Over, ..moment() }),
            Some(EndNow { kind: EndKind::LeaseLost, grace: Duration::ZERO })
        );
    }

    #[test]
    fn the_agent_is_gone_before_its_lease_can_be_taken() {
        let end =
            decide(&BOUNDS, &Moment { lease_age: Duration::from_secs(43), ..moment() }).unwrap();
        assert!(Duration::from_secs(43) + end.grace + Duration::from_secs(10) < BOUNDS.lease);
    }
}
