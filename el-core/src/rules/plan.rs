//! The next actions of a worker, decided by a pure function. The loop that carries the actions out
//! is thin.

use crate::model::{Run, Timestamp};

/// The liveness of a process, such as a run's supervisor, or of a session. *Unknown* never reaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Seen running.
    Alive,
    /// Certainly not running any more.
    Absent,
    /// Not observable from here.
    Unknown,
}

/// How the worker was asked to behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// Claims, launches and waits.
    #[default]
    Working,
    /// Claims nothing more and waits for the running sessions.
    Draining,
}

/// A worker's view of the project.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    pub now: Timestamp,
    pub phase: Phase,
    /// Every live run of the project, with the state of the supervisor.
    pub live: &'a [(&'a Run, Liveness)],
    /// The id of the worker.
    pub worker: &'a str,
    /// The most sessions of the worker at once, for all agents together.
    pub concurrency: usize,
    /// The agents that the worker serves and that are not paused, each with the limit of live runs
    /// over all workers.
    pub agents: &'a [(&'a str, usize)],
    /// Claims left of `--max` or `--once`; `None`: no bound.
    pub claims_left: Option<usize>,
}

/// An action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Claim up to `at_most` ready atoms and launch the runs.
    Claim { at_most: usize },
    /// The supervisor is gone: end the rest of the process tree, then settle the run.
    Recover { run: String },
    /// Take over a live run without a worker, or of another worker.
    Adopt { run: String },
}

/// Decides. Idempotent: the same snapshot gives the same actions, and an action that was carried
/// out is not asked for again.
///
/// `is_orphan` says of a run's worker id whether that worker is gone.
pub fn plan_actions(snapshot: &Snapshot<'_>, is_orphan: impl Fn(&str) -> bool) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut mine = 0;
    for (run, liveness) in snapshot.live {
        let is_mine = run.worker_id.as_deref() == Some(snapshot.worker);
        let is_anyones = run.worker_id.as_deref().is_none_or(&is_orphan);
        match liveness {
            // A run in launch has no supervisor yet, and counts as unknown for the time of a lease.
            // If the worker is gone, another worker waits for the run.
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
    if snapshot.phase == Phase::Working {
        // The claim checks the limit again; this check saves vain claims for a busy agent.
        let room = |(agent, limit): &(&str, usize)| {
            limit
                .saturating_sub(snapshot.live.iter().filter(|(run, _)| run.agent == *agent).count())
        };
        let rooms = snapshot.agents.iter().map(room).fold(0, usize::saturating_add);
        let free = snapshot.concurrency.saturating_sub(mine).min(rooms);
        let at_most = snapshot.claims_left.map_or(free, |left| free.min(left));
        if at_most > 0 {
            actions.push(Action::Claim { at_most });
        }
    }
    actions
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Progress, Stamp};

    fn now() -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000)
    }

    fn run(id: &str, worker: &str, registered: bool, lease: i64) -> Run {
        Run {
            record_type: Run::RECORD_TYPE,
            id: id.to_owned(),
            atom_id: format!("el-{id}"),
            attempt: 1,
            agent: "claude".to_owned(),
            executor: "claude".to_owned(),
            token: String::new(),
            worker_id: Some(worker.to_owned()),
            session: None,
            conversation: None,
            workdir: String::new(),
            started_at: now(),
            heartbeat_at: now(),
            lease_until: Timestamp::from_micros(now().as_micros() + lease * 1_000_000),
            ended_at: None,
            outcome: None,
            detail: None,
            exit_code: None,
            exit_signal: None,
            denied_tools: Vec::new(),
            supervisor: registered.then(|| Stamp { pid: 1, start: 1, boot: "b".to_owned() }),
            agent_pid: None,
            progress: Progress::default(),
            active_at: None,
            stop_blocks: 0,
            resumes: 0,
            cancel_requested: None,
            review: false,
            summary: None,
            completion: None,
            artifacts: 0,
            verify: None,
            output: None,
            error_lines: None,
            sandbox_notes: Vec::new(),
        }
    }

    fn borrowed(live: &[(Run, Liveness)]) -> Vec<(&Run, Liveness)> {
        live.iter().map(|(run, seen)| (run, *seen)).collect()
    }

    fn plan_of(live: &[(Run, Liveness)]) -> Vec<Action> {
        let snapshot = Snapshot {
            now: now(),
            phase: Phase::Working,
            live: &borrowed(live),
            worker: "me",
            concurrency: 2,
            agents: &[("claude", usize::MAX)],
            claims_left: None,
        };
        plan_actions(&snapshot, |worker| worker == "dead")
    }

    #[test]
    fn a_supervisor_that_cannot_be_seen_is_never_reaped() {
        for lease in [-1_000_000, 60] {
            let live = [(run("a", "me", true, lease), Liveness::Unknown)];
            assert_eq!(plan_of(&live), [Action::Claim { at_most: 1 }]);
        }
    }

    #[test]
    fn a_living_supervisor_is_never_reaped_however_old_its_lease() {
        let live = [(run("a", "me", true, -1_000), Liveness::Alive)];
        assert_eq!(plan_of(&live), [Action::Claim { at_most: 1 }]);
    }

    #[test]
    fn a_run_without_a_supervisor_has_one_lease_to_get_one() {
        assert_eq!(
            plan_of(&[(run("a", "me", false, 10), Liveness::Unknown)]),
            [Action::Claim { at_most: 1 }]
        );
        let gone = [(run("a", "me", false, 10), Liveness::Absent)];
        assert_eq!(plan_of(&gone)[0], Action::Recover { run: "a".to_owned() });
    }

    #[test]
    fn the_runs_of_a_dead_worker_are_adopted_and_those_of_a_living_one_left() {
        let adopts_one = [Action::Adopt { run: "a".to_owned() }, Action::Claim { at_most: 1 }];
        let live = [
            (run("a", "dead", true, 10), Liveness::Alive),
            (run("b", "other", true, 10), Liveness::Alive),
        ];
        assert_eq!(plan_of(&live), adopts_one);
        let starting = [
            (run("a", "dead", false, 10), Liveness::Unknown),
            (run("b", "other", false, 10), Liveness::Unknown),
        ];
        assert_eq!(plan_of(&starting), adopts_one);
    }

    #[test]
    fn nothing_is_claimed_in_a_pause_or_beyond_the_claims_that_are_left() {
        let base = Snapshot {
            now: now(),
            phase: Phase::Working,
            live: &[],
            worker: "me",
            concurrency: 9,
            agents: &[("claude", usize::MAX)],
            claims_left: Some(4),
        };
        assert_eq!(plan_actions(&base, |_| false), [Action::Claim { at_most: 4 }]);
        for idle in [
            Snapshot { agents: &[], ..base.clone() },
            Snapshot { claims_left: Some(0), ..base.clone() },
            Snapshot { phase: Phase::Draining, ..base.clone() },
        ] {
            assert_eq!(plan_actions(&idle, |_| false), []);
        }
    }

    #[test]
    fn a_busy_agent_claims_nothing_more_whoever_runs_it() {
        let gendry = Run { agent: "gendry".to_owned(), ..run("b", "me", true, 60) };
        let live = [(run("a", "other", true, 60), Liveness::Alive), (gendry, Liveness::Alive)];
        let claims = |agents: &[(&str, usize)]| {
            let snapshot = Snapshot {
                now: now(),
                phase: Phase::Working,
                live: &borrowed(&live),
                worker: "me",
                concurrency: 9,
                agents,
                claims_left: None,
            };
            plan_actions(&snapshot, |_| false)
        };
        assert_eq!(claims(&[("claude", 1), ("gendry", 1)]), []);
        assert_eq!(
            claims(&[("claude", 1), ("gendry", 1), ("ada", 1)]),
            [Action::Claim { at_most: 1 }]
        );
        assert_eq!(claims(&[("claude", 3), ("gendry", 1)]), [Action::Claim { at_most: 2 }]);
    }

    proptest! {
        #[test]
        fn no_more_runs_than_allowed_and_each_run_has_one_fate(
            runs in prop::collection::vec(
                (0_usize..3, any::<bool>(), -100_i64..100, 0_usize..3), 0..8
            ),
        ) {
            let liveness = [Liveness::Alive, Liveness::Absent, Liveness::Unknown];
            let live: Vec<(Run, Liveness)> = runs
                .iter()
                .enumerate()
                .map(|(n, (worker, registered, lease, seen))| {
                    (
                        run(&n.to_string(), ["me", "other", "dead"][*worker], *registered, *lease),
                        liveness[*seen],
                    )
                })
                .collect();
            let actions = plan_of(&live);
            let adopted = actions.iter().filter(|a| matches!(a, Action::Adopt { .. })).count();
            let claims: usize = actions
                .iter()
                .map(|a| if let Action::Claim { at_most } = a { *at_most } else { 0 })
                .sum();
            let kept = live
                .iter()
                .filter(|(r, l)| r.worker_id.as_deref() == Some("me") && *l != Liveness::Absent)
                .count();
            prop_assert!(claims == 0 || kept + adopted + claims <= 2);
            let mut touched: Vec<&String> = actions
                .iter()
                .filter_map(|a| match a {
                    Action::Recover { run } | Action::Adopt { run } => Some(run),
                    Action::Claim { .. } => None,
                })
                .collect();
            let count = touched.len();
            touched.sort();
            touched.dedup();
            prop_assert_eq!(count, touched.len());
            for action in &actions {
                if let Action::Recover { run } = action {
                    let (_, seen) = live.iter().find(|(r, _)| r.id == *run).unwrap();
                    prop_assert_eq!(*seen, Liveness::Absent);
                }
            }
        }
    }
}
