use super::runs::resolve_target;
use crate::model::{Artifact, RUN_PREFIX, Run};
use crate::store::{self, Store, artifact, atom};
use crate::{Error, Result};

/// The hand-over of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct HandedBack {
    pub run: Run,
    /// The summary first, then the key deliverables.
    pub artifacts: Vec<Artifact>,
    /// Files that the summary names and that were not handed over, each with a reason.
    pub not_sent: Vec<Artifact>,
}

/// Returns the hand-over of a run. For an atom: of the last run that handed back files, or else of
/// the live or last run.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn artifacts(store: &Store, text: &str) -> Result<HandedBack> {
    store.read(|tx| {
        let is_run = text.trim().to_ascii_lowercase().starts_with(&format!("{RUN_PREFIX}-"));
        let last =
            if is_run { None } else { artifact::last_run_with_any(tx, &atom::resolve(tx, text)?)? };
        let run = match last {
            Some(id) => store::run::get(tx, &id)?,
            None => resolve_target(tx, text)?,
        };
        let (artifacts, not_sent) =
            artifact::of_run(tx, &run.id)?.into_iter().partition(Artifact::is_sent);
        Ok(HandedBack { run, artifacts, not_sent })
    })
}

impl HandedBack {
    /// Finds an artifact by number, path, name, or the word `summary`.
    ///
    /// # Errors
    ///
    /// If no artifact matches, or several do.
    pub fn find_artifact(&self, wanted: &str) -> Result<&Artifact> {
        let wanted = wanted.trim();
        let by_number = wanted
            .parse::<i64>()
            .ok()
            .and_then(|n| self.artifacts.iter().find(|artifact| artifact.n == n));
        let by_path = || self.artifacts.iter().find(|artifact| artifact.path == wanted);
        if let Some(found) = by_number.or_else(by_path) {
            return Ok(found);
        }
        let named: Vec<&Artifact> = self
            .artifacts
            .iter()
            .filter(|artifact| {
                artifact.name == wanted || artifact.path.ends_with(&format!("/{wanted}"))
            })
            .collect();
        match named.as_slice() {
            [one] => Ok(one),
            // The word `summary` names the first artifact, unless a file of the agent has the name.
            [] if wanted == "summary" && !self.artifacts.is_empty() => Ok(&self.artifacts[0]),
            [] => Err(self.missing_error(wanted)),
            several => Err(Error::Ambiguous {
                id: wanted.to_owned(),
                candidates: several
                    .iter()
                    .map(|artifact| (artifact.n.to_string(), artifact.path.clone()))
                    .collect(),
            }),
        }
    }

    fn missing_error(&self, wanted: &str) -> Error {
        let refused = self
            .not_sent
            .iter()
            .find(|artifact| artifact.path == wanted || artifact.name == wanted);
        match refused.and_then(|artifact| Some((artifact, artifact.reason?))) {
            Some((artifact, reason)) => Error::conflict(
                "not_sent",
                format!("{} was not handed over: it {}", artifact.path, reason.reason_text()),
            ),
            None => Error::not_found("artifact", wanted),
        }
    }
}
