//! Handing back what a run has made, right before it is settled: collected, recorded in the store,
//! and written down as `RESULTS.json`, and as `ERRORS.md` where the run failed. Nothing in here can
//! keep a run from being settled.

mod errors;
mod results;

use el_core::model::{Atom, EndKind, ExitRecord, Outcome, Run, Timestamp};
use el_core::ops::{self, Settled};
use el_core::rules::retry::RetryPolicy;
use el_core::{Error, Store};

use crate::artifacts::{Collected, Job};
use crate::clock;
use crate::rundir::{LaunchSpec, RunDir, replace_private};
use crate::settings::Places;

/// A run at its end.
#[derive(Debug)]
pub(crate) struct HandOver {
    run: Run,
    atom: Option<Atom>,
    folder: RunDir,
    exit: ExitRecord,
    /// How it will be settled, as far as can be told.
    outcome: Outcome,
    detail: String,
    collected: Option<Collected>,
}

impl HandOver {
    /// Asks the store for what is needed.
    ///
    /// # Errors
    /// If the store cannot be used, or does not know the run.
    pub(crate) fn begin(
        store: &Store,
        folder: &RunDir,
        exit: &ExitRecord,
        policy: &RetryPolicy,
    ) -> Result<HandOver, Error> {
        let run = ops::run(store, &exit.run)?;
        let (outcome, detail) = ops::foresee(store, clock::now(), exit, policy)?;
        let atom = ops::brief(store, &run.atom_id).ok();
        Ok(HandOver {
            run,
            atom,
            folder: folder.clone(),
            exit: exit.clone(),
            outcome,
            detail,
            collected: None,
        })
    }

    /// What is to be collected; nothing if that was done before.
    pub(crate) fn job(&self, places: &Places, launched: Option<&LaunchSpec>) -> Option<Job> {
        if self.run.summary.is_some() {
            return None;
        }
        Some(Job {
            run: self.run.clone(),
            atom: self.atom.clone(),
            folder: self.folder.clone(),
            places: launched.map_or(places, |spec| &spec.places).clone(),
            summary_before: launched.and_then(|spec| spec.summary_before),
            record: self.record(),
            isolation: launched.and_then(|spec| spec.agent.isolation.clone()),
            never_ran: matches!(self.exit.end, EndKind::SpawnFailed | EndKind::LaunchFailed),
        })
    }

    /// Which run it was and how it ended. Without its times: they are in the run's own record.
    fn record(&self) -> Vec<String> {
        vec![
            format!(
                "Run {}, attempt {}, by {}",
                self.run.id,
                self.run.attempt,
                crate::claude::one_line(&self.run.agent, 100)
            ),
            format!("It ended as {}: {}", self.outcome, crate::claude::one_line(&self.detail, 300)),
        ]
    }

    /// Records what was collected; `None`: nothing was. Then writes the run's documents.
    ///
    /// # Errors
    /// If the store cannot be used. The documents are written all the same.
    pub(crate) fn finish(
        &mut self,
        store: &mut Store,
        collected: Option<Collected>,
    ) -> Result<(), Error> {
        let recorded = match &collected {
            Some(found) => ops::hand_over(
                store,
                &self.run.id,
                &self.run.token,
                &found.summary,
                &found.artifacts,
            ),
            None => Ok(()),
        };
        self.collected = collected;
        self.write(self.atom.as_ref(), self.outcome, &self.detail, self.retry_at());
        recorded
    }

    /// The run was settled: whatever came otherwise than it was foreseen is put right.
    pub(crate) fn settled(&self, settled: &Settled) {
        let is_as_told = settled.outcome == self.outcome
            && settled.atom.as_ref().map(|atom| (atom.status, atom.retry_at))
                == self.atom.as_ref().map(|atom| (atom.status, atom.retry_at));
        if !is_as_told {
            let detail = settled.run.detail.as_deref().unwrap_or(&self.detail);
            self.write(settled.atom.as_ref(), settled.outcome, detail, settled.retry_at());
        }
    }

    fn retry_at(&self) -> Option<Timestamp> {
        self.atom.as_ref().and_then(|atom| atom.retry_at)
    }

    fn write(
        &self,
        atom: Option<&Atom>,
        outcome: Outcome,
        detail: &str,
        retry_at: Option<Timestamp>,
    ) {
        let told = results::Told {
            run: &self.run,
            atom,
            exit: &self.exit,
            outcome,
            detail,
            retry_at,
            summary: self
                .collected
                .as_ref()
                .map(|found| &found.summary)
                .or(self.run.summary.as_ref()),
            artifacts: self
                .collected
                .as_ref()
                .map(|found| found.artifacts.as_slice())
                .unwrap_or_default(),
            folder: &self.folder,
        };
        // A full disk must not keep a run from its end; the store has it all.
        let _ = replace_private(&self.folder.results(), results::document(&told).as_bytes());
        let _ = match errors::text(&told) {
            Some(text) => replace_private(&self.folder.errors(), text.as_bytes()),
            None => std::fs::remove_file(self.folder.errors()).map_or(Ok(()), Ok),
        };
    }
}

/// The same for a run whose supervisor is gone, in one go.
pub(crate) fn of_lost(
    store: &mut Store,
    folder: &RunDir,
    places: &Places,
    exit: &ExitRecord,
    policy: &RetryPolicy,
) -> Option<HandOver> {
    // A store that cannot be used now cannot settle the run either: it is all tried again.
    let mut hand_over = HandOver::begin(store, folder, exit, policy).ok()?;
    let launched = folder.read_launch().ok();
    let collected =
        hand_over.job(places, launched.as_ref()).map(|job| crate::artifacts::collect(&job));
    // What could not be recorded is missing in the run's record, and no more.
    let _ = hand_over.finish(store, collected);
    Some(hand_over)
}
