//! The check of a commit. The answer is remembered within a landing, so that no commit is checked
//! twice.

use std::collections::HashMap;

use super::check::{CheckCommand, CheckEnd, CheckProgress, CheckRunner};
use super::{LandContext, LandError, Result};
use crate::git::{GitError, Repository, ScratchCheckout, copy_untracked};

/// Checks commits in a scratch checkout.
pub(super) struct CommitCheck<'a> {
    context: &'a LandContext<'a>,
    repository: &'a Repository,
    pub(super) runner: CheckRunner<'a>,
    progress: CheckProgress<'a>,
    /// The results by commit: the end of the check's output, or `None` if the commit passed.
    known: HashMap<String, Option<String>>,
}

impl<'a> CommitCheck<'a> {
    pub(super) fn new(
        context: &'a LandContext<'a>,
        repository: &'a Repository,
        runner: CheckRunner<'a>,
        progress: CheckProgress<'a>,
    ) -> CommitCheck<'a> {
        CommitCheck { context, repository, runner, progress, known: HashMap::new() }
    }

    /// Returns the end of the check's output if the commit fails; `None` if the commit passes.
    pub(super) fn find_failure(
        &mut self,
        scratch: &ScratchCheckout,
        commit: &str,
    ) -> Result<Option<String>> {
        if self.context.settings.check.is_empty() {
            return Ok(None);
        }
        if let Some(known) = self.known.get(commit) {
            return Ok(known.clone());
        }
        let said = self.run_check(scratch, commit)?;
        self.known.insert(commit.to_owned(), said.clone());
        Ok(said)
    }

    fn run_check(&mut self, scratch: &ScratchCheckout, commit: &str) -> Result<Option<String>> {
        let settings = self.context.settings;
        if let Err(error) = scratch.check_out(commit) {
            return if error.is_refusal() {
                Ok(Some(error.to_string()))
            } else {
                Err(error.into())
            };
        }
        let top = self.repository.top();
        match copy_untracked(top, scratch.path(), &settings.copy, &settings.link) {
            // The commit itself contains the file that is in the way.
            Err(error @ GitError::Untracked { .. }) => return Ok(Some(error.to_string())),
            done => done?,
        }
        let check = CheckCommand {
            key: "land_check",
            name: "check",
            words: &settings.check,
            limit: settings.check_limit,
        };
        let folder = self.repository.project_folder(scratch.path());
        // The setup runs for each commit, since the setup may depend on the commit's files.
        for command in [settings.setup_command(), check]
            .into_iter()
            .filter(|command| !command.words.is_empty())
        {
            let mut progress = |elapsed| (self.progress)(command.name, commit, elapsed);
            match self.runner.run_command(&command, &folder, &mut progress)? {
                CheckEnd::Passed(_) => {}
                CheckEnd::Failed(said) => return Ok(Some(said)),
                CheckEnd::Interrupted => return Err(LandError::Interrupted),
            }
        }
        Ok(None)
    }
}
