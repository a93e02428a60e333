//! What a worker does next: the whole of its mind, as one pure function. The loop that carries the actions out is thin.

use crate::model::{Run, Timestamp};

/// What the worker knows about a live run's supervisor. *Unknown* never reaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    Absent,
    Unknown,
}

/// How the worker was asked to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Claims, launches and waits.
    #[default]
    Working,
    /// Claims nothing more and waits for what it runs.
    Draining,
}

/// What a worker sees when it looks.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    pub now: Timestamp,
    pub phase: Phase,
    /// Every live run of the project, with what is known of its supervisor.
    pub live: &'a [(Run, Liveness)],
    /// This worker's id.
    pub worker: &'a str,
    /// Sessions that this worker may have at once.
    pub concurrency: usize,
    /// Claims left of `--max` or `--once`; `None`: no bound.
    pub claims_left: Option<usize>,
    /// Nothing is claimed before this.
    pub paused_until: Option<Timestamp>,
}

/// One thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Claim up to this many ready atoms and launch them.
    Claim { at_most: usize },
    /// The supervisor is gone: end what is left of its tree, then settle the run.
    Recover { run: String },
    /// A live run whose worker is another or none is ours to watch from now on.
    Adopt { run: String },
}

/// Decides. Idempotent: the same snapshot gives the same actions, and an action that was carried out is not asked for again.
///
/// `is_orphan` says of a run's worker id whether that worker is gone.
pub fn plan(snapshot: &Snapshot<'_>, is_orphan: impl Fn(&str) -> bool) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut mine = 0;
    for (run, liveness) in snapshot.live {
        let is_mine = run.worker_id.as_deref() == Some(snapshot.worker);
        let is_anyones = run.worker_id.as_deref().is_none_or(&is_orphan);
        let is_starting = run.supervisor.is_none();
        match liveness {
            // A run that is being launched has no supervisor yet; it has one lease of time to get one, unless its session is known to be gone.
            Liveness::Alive | Liveness::Unknown if is_starting && run.lease_until > snapshot.now => mine += usize::from(is_mine),
            Liveness::Absent => actions.push(Action::Recover { run: run.id.clone() }),
            Liveness::Alive | Liveness::Unknown => {
                if is_mine {
                    mine += 1;
                } else if is_anyones {
                    actions.push(Action::Adopt { run: run.id.clone() });
                    mine += 1;
                }
            }
        }
    }
    let is_paused = snapshot.paused_until.is_some_and(|until| until > snapshot.now);
    if snapshot.phase == Phase::Working && !is_paused {
        let free = snapshot.concurrency.saturating_sub(mine);
        let at_most = snapshot.claims_left.map_or(free, |left| free.min(left));
        if at_most > 0 {
            actions.push(Action::Claim { at_most });
        }
    }
    actions
}
