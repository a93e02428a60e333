//! Faults of a server that holds the tracker.

use std::time::Duration;

use super::Finding;
use crate::Result;
use crate::model::Timestamp;
use crate::ops::{find_namesakes, list_workers, namesakes_sentence};
use crate::store::Store;

/// The largest difference of two clocks that is not reported.
const SKEW: Duration = Duration::from_secs(5);

pub(super) fn find_faults(store: &Store, now: Timestamp) -> Result<Vec<Finding>> {
    let Some(health) = store.server_health()? else { return Ok(Vec::new()) };
    let mut findings = Vec::new();
    let mut tell = |code, message: String, hint: &str| {
        findings.push(Finding { code, serious: code == "tables", message, hint: hint.to_owned() });
    };
    let apart = now.as_micros().abs_diff(health.now);
    if u128::from(apart) > SKEW.as_micros() {
        let side = if now.as_micros() > health.now { "ahead of" } else { "behind" };
        tell(
            "clock",
            format!("the clock of this machine is {} s {side} the server's", apart / 1_000_000),
            "set both by NTP: el goes by the server's, git and agents' files by this machine's",
        );
    }
    if health.standbys > 0 && !health.waits_for_standby {
        tell(
            "standby",
            "the server has standbys and waits for none: after a failover, changes that were \
             acknowledged may be missing, and work is given out twice"
                .to_owned(),
            "synchronous_standby_names = 'ANY 1 (a, b)', with two standbys, waits for one of them",
        );
    }
    if health.is_pooled {
        tell(
            "pooler",
            "a pooler in transaction mode is between this el and the server".to_owned(),
            "commands work through it; give el work the server's own address, since no wake-up \
             comes through a pooler",
        );
    }
    if !health.missing.is_empty() {
        tell(
            "tables",
            format!("the database has no tables {}, which el needs", health.missing.join(", ")),
            "somebody removed them, or this role cannot see them: bring them back from a backup of \
             the server",
        );
    }
    let workers = list_workers(store)?;
    for host in find_namesakes(&workers, None, Timestamp::from_micros(health.now)) {
        let (message, hint) = namesakes_sentence(&host);
        tell("namesakes", message, hint);
    }
    Ok(findings)
}
