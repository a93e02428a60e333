//! Plans that have begun and that nobody drives: what each waits for, and what lets it go on.

use super::entry::way;
use super::found::{Found, about_atom};
use crate::Result;
use crate::model::{NeedKind, Timestamp, Way};
use crate::ops::orchestrate::resting_step;
use crate::rules::orchestrate::Step;
use crate::store::{Tx, board as rows};

/// The most entries that are ranked.
const RANKED: i64 = 100;
/// The most plans that are read in full, and the most tasks of each. Others get a general text.
const READ: usize = 3;
const TASKS: i64 = 200;

pub(super) fn add_plans(tx: &Tx<'_>, now: Timestamp, found: &mut Found) -> Result<()> {
    let mut left = READ;
    for (epic, since, fault) in rows::list_resting(tx, RANKED)? {
        let Some(atom) = rows::atom_row(tx, &epic)? else { continue };
        let mut told = match fault {
            Some(fault) => format!("the answer cannot be used: {fault}"),
            None => "it waits for somebody who goes on with it".to_owned(),
        };
        let resume = || way("s", "resume", format!("el orchestrate resume {epic}"));
        let mut ways: Vec<Way> = vec![resume()];
        if left > 0 && rows::count_planned(tx, &epic, TASKS)? < TASKS {
            left -= 1;
            let (step, failed_checks) = resting_step(tx, &epic)?;
            if let Some(why) = stop_of(&step) {
                told = why;
                // A resumed plan would stop at once.
                ways.clear();
            }
            if matches!(step, Step::Stop { question: None, .. }) && failed_checks > 0 {
                let command =
                    format!("el orchestrate resume {epic} --check-rounds {failed_checks}");
                ways.push(way("s", "fix again", command));
            }
        }
        ways.push(way("w", "plan", format!("el orchestrate show {epic}")));
        let mut need = about_atom(tx, NeedKind::Plan, &atom, None, &told, found)?;
        need.since = since.min(now);
        need.ways = ways;
        found.push(need);
    }
    Ok(())
}

/// Returns why resuming the plan would not help; `None` if it would.
fn stop_of(step: &Step) -> Option<String> {
    match step {
        Step::Stop { why, .. } => Some(format!("it stopped: {why}")),
        Step::AwaitWork { work } if !work.running.is_empty() || !work.ready.is_empty() => None,
        Step::AwaitWork { work } if !work.review.is_empty() => {
            Some(format!("it waits for the review of {}", work.review.join(", ")))
        }
        Step::AwaitWork { work } if !work.waiting.is_empty() => {
            Some(format!("it waits for what holds {}", work.waiting.join(", ")))
        }
        Step::Done { missing } if !missing.is_empty() => {
            Some(format!("these gave no result: {}", missing.join(", ")))
        }
        _ => None,
    }
}
