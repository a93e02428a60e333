//! The branch of a run while the agent works on it: commits are taken over from the sandbox, and
//! pushed to the remote that the machines of a team share.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::pane::Pane;
use crate::git::{PushResult, branch_file, push_branch};
use crate::sandbox::OwnBranch;

/// The time limit of a push.
pub(super) const PUSH_LIMIT: Duration = Duration::from_secs(60);

/// The branch of a run.
#[derive(Debug, Default)]
pub(super) struct RunBranch {
    /// In a sandbox, the branch as the agent has it.
    pub(super) confined: Option<OwnBranch>,
    /// The pushes, if the hosts share a remote.
    pub(super) push: Option<BranchPush>,
}

impl RunBranch {
    /// Takes over the agent's commits, and begins a push if one is due.
    pub(super) fn take_and_push(&mut self, pane: &mut Pane) {
        if let Some(branch) = &mut self.confined {
            // A failed take-over is tried again, and reported, at the end of the run.
            let _ = branch.take_over();
        }
        if let Some(why) = self.push.as_mut().and_then(BranchPush::begin_if_due) {
            pane.show(&format!("! {why}; it is tried again"));
        }
    }

    /// Takes over the agent's commits once its processes are gone.
    pub(super) fn take_commits_finally(&mut self, pane: &mut Pane) {
        let Some(mut branch) = self.confined.take() else { return };
        match branch.take_over_finally() {
            // If the saved state stays, the next take-over finds nothing new.
            Ok(()) => drop(branch.forget()),
            Err(error) => {
                pane.show(&format!("! the last commits are not on the branch: {error}"));
            }
        }
    }
}

/// The pushes of a run's branch, each on a thread of its own.
#[derive(Debug)]
pub(super) struct BranchPush {
    folder: PathBuf,
    branch: String,
    remote: String,
    atom: String,
    /// Where git keeps the commit of the branch.
    file: PathBuf,
    /// The contents of `file` at the last push.
    seen: Option<String>,
    /// The interval between looks for new commits.
    every: Duration,
    looked_at: Instant,
    running: Option<JoinHandle<Option<String>>>,
}

impl BranchPush {
    /// `lease`: another host may go on with the atom once it is over.
    pub(super) fn new(
        folder: &Path,
        branch: &str,
        (remote, atom): (&str, &str),
        lease: Duration,
    ) -> BranchPush {
        let top = folder.ancestors().find(|above| above.join(".git").exists()).unwrap_or(folder);
        let file = branch_file(top, branch);
        BranchPush {
            folder: folder.to_owned(),
            branch: branch.to_owned(),
            remote: remote.to_owned(),
            atom: atom.to_owned(),
            seen: fs::read_to_string(&file).ok(),
            file,
            every: lease / 4,
            looked_at: Instant::now(),
            running: None,
        }
    }

    /// Begins a push if there are new commits. Returns why the last one failed.
    fn begin_if_due(&mut self) -> Option<String> {
        if self.looked_at.elapsed() < self.every {
            return None;
        }
        self.looked_at = Instant::now();
        if self.running.as_ref().is_some_and(|running| !running.is_finished()) {
            return None;
        }
        let failed = self.running.take().and_then(|ended| ended.join().ok().flatten());
        if failed.is_some() {
            self.seen = None;
        }
        let now = fs::read_to_string(&self.file).ok();
        if now.is_some() && now != self.seen {
            self.seen = now;
            self.running = Some(std::thread::spawn(self.push_job()));
        }
        failed
    }

    /// A last push. Returns why it failed, in words.
    pub(super) fn push_finally(mut self) -> Option<String> {
        if let Some(running) = self.running.take() {
            // The push below tells of a failure.
            let _ = running.join();
        }
        self.push_job()()
    }

    fn push_job(&self) -> impl FnOnce() -> Option<String> + use<> {
        let (folder, branch) = (self.folder.clone(), self.branch.clone());
        let (remote, atom) = (self.remote.clone(), self.atom.clone());
        move || {
            let told = match push_branch(&folder, &remote, &atom, PUSH_LIMIT) {
                Ok(PushResult::Pushed) => return None,
                Ok(PushResult::Refused(why)) => why,
                Err(error) => error.to_string(),
            };
            Some(format!("{branch} could not be pushed to {remote}: {told}"))
        }
    }
}
