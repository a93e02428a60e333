//! Until when a forge is not asked, after it took no more calls or could not be reached: a small
//! file for each host, which all projects of a person on this machine share.

use std::path::PathBuf;
use std::time::Duration;

use el_core::model::Timestamp;
use serde::{Deserialize, Serialize};

use super::ForgeError;
use crate::rundir::{private_folder, replace_private};

/// The first wait, and the longest; each doubles the one before.
const FIRST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// The waits of all forges.
#[derive(Debug, Clone, Default)]
pub struct ForgeWaits {
    /// `None`: nothing is shared.
    folder: Option<PathBuf>,
}

/// A wait for a forge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgeWait {
    pub until: Timestamp,
    pub why: String,
    /// The failures in a row.
    failures: u32,
}

impl ForgeWaits {
    /// `folder`: a folder of the person's own.
    pub fn new(folder: Option<PathBuf>) -> ForgeWaits {
        ForgeWaits { folder }
    }

    /// The wait for a host that is not over. A wait that ends later than the longest possible one
    /// was written before the clock went back, and does not count.
    pub fn find(&self, host: &str, now: Timestamp) -> Option<ForgeWait> {
        let wait = self.read(host)?;
        (wait.until > now && wait.until.since(now) <= LONGEST).then_some(wait)
    }

    /// Notes a failure. `ends`: when the forge takes calls again, if it said so.
    pub fn note_failure(
        &self,
        host: &str,
        now: Timestamp,
        why: &str,
        ends: Option<Timestamp>,
    ) -> ForgeWait {
        let failures = self.read(host).map_or(0, |wait| wait.failures).saturating_add(1);
        let doubled = FIRST.saturating_mul(1 << (failures - 1).min(8));
        let own = now.plus(doubled.min(LONGEST));
        let ends = ends.filter(|ends| *ends > now).map(|ends| ends.min(now.plus(LONGEST)));
        let wait = ForgeWait { until: ends.unwrap_or(own), why: why.to_owned(), failures };
        if let (Some(file), Ok(text)) = (self.file(host), serde_json::to_vec(&wait)) {
            // Without the file, only this process waits.
            let folder = file.parent().map_or(Ok(()), private_folder);
            let _ = folder.and_then(|()| replace_private(&file, &text));
        }
        wait
    }

    /// Notes that a call failed in a way that passes.
    pub(crate) fn note_error(&self, error: &ForgeError, now: Timestamp) -> ForgeWait {
        let host = error.host().unwrap_or_default();
        let ends = match error {
            ForgeError::RateLimit { wait, .. } => wait.map(|wait| now.plus(wait)),
            _ => None,
        };
        self.note_failure(host, now, &error.to_string(), ends)
    }

    /// Notes that a host has answered.
    pub fn clear(&self, host: &str) {
        if let Some(file) = self.file(host) {
            // Mostly there is none.
            let _ = std::fs::remove_file(file);
        }
    }

    fn read(&self, host: &str) -> Option<ForgeWait> {
        serde_json::from_slice(&std::fs::read(self.file(host)?).ok()?).ok()
    }

    fn file(&self, host: &str) -> Option<PathBuf> {
        // A host is made of letters, digits, dots and dashes alone.
        Some(self.folder.as_ref()?.join(format!("{host}.json")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_are_shared_and_end_with_an_answer() {
        let dir = tempfile::tempdir().unwrap();
        let one = ForgeWaits::new(Some(dir.path().join("forges")));
        let other = one.clone();
        let now = Timestamp::from_micros(1_764_000_000_000_000);
        let host = "github.com";
        assert_eq!(one.find(host, now), None);
        let mut waited = Vec::new();
        for _ in 0..7 {
            let wait = one.note_failure(host, now, "no network", None);
            assert_eq!(other.find(host, now), Some(wait.clone()), "another project waits too");
            waited.push(wait.until.since(now).as_secs() / 60);
        }
        assert_eq!(waited, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(other.find("git.acme.com", now), None, "another host is asked");
        assert_eq!(other.find(host, now.plus(LONGEST)), None, "it is over");
        other.clear(host);
        assert_eq!(one.find(host, now), None);
    }

    #[test]
    fn a_limit_lasts_as_long_as_the_forge_says_and_no_longer_than_half_an_hour() {
        let dir = tempfile::tempdir().unwrap();
        let waits = ForgeWaits::new(Some(dir.path().to_owned()));
        let now = Timestamp::from_micros(1_764_000_000_000_000);
        let ends = |seconds| Some(now.plus(Duration::from_secs(seconds)));
        let wait = |ends| waits.note_failure("github.com", now, "limit", ends).until.since(now);
        assert_eq!(wait(ends(90)), Duration::from_secs(90));
        assert_eq!(wait(ends(90_000)), LONGEST);
        let earlier = Timestamp::from_micros(now.as_micros() - 3_600_000_000);
        assert_eq!(waits.find("github.com", earlier), None, "the clock went back");
    }
}
