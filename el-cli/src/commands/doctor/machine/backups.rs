//! A tracker that is older than its backups, and backups that fail.

use el_core::ops::Finding;
use el_core::{inspect_copy, inspect_database};

use super::slight_finding;
use crate::backups::Backups;
use crate::project::Project;

pub(super) fn find_faults(project: &Project) -> Vec<Finding> {
    if project.server.is_some() {
        return Vec::new();
    }
    let Some(backups) = Backups::for_database(&project.db) else { return Vec::new() };
    let failed = backups.last_failure().map(|failure| {
        let message = format!("the last hourly backup failed: {failure}");
        slight_finding("backup", message, "once that is put right: el backup now")
    });
    let last = |facts: el_core::CopyFacts| facts.last_event_at;
    let newest = backups.newest().and_then(|newest| inspect_copy(&newest.path).ok());
    let present = inspect_database(&project.db).ok().and_then(last);
    let is_older = match (present, newest.and_then(last)) {
        // A new tracker is no older one.
        (Some(present), Some(newest)) => present < newest,
        _ => false,
    };
    let older = is_older.then(|| Finding {
        code: "older_than_backup",
        serious: true,
        message: "the tracker is older than its newest backup: a checkout, or a copy, took its \
                  place"
            .to_owned(),
        hint: "el restore --dry-run says what the newest backup would bring back".to_owned(),
    });
    failed.into_iter().chain(older).collect()
}
