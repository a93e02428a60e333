//! The agents of a worker, their limits, the right to delegate, and the checks of work.

use std::path::{Path, PathBuf};

use el_agents::git::{GitError, Isolation, JoinMode, Repository};
use el_agents::land::LandSettings;
use el_agents::settings::{Network, SandboxMode, SandboxSettings};
use el_agents::worker::{Resources, Served};
use el_core::protocol::words;
use el_core::rules::admit::Limits;

use super::file::Entry;
use super::keys::Key;
use super::value::Value;
use super::{Origin, Settings, WorkSettings};
use crate::{CommandError, Result};

impl Settings {
    /// The agents of a worker, in the given order.
    ///
    /// An agent has a single run at a time, unless `max_parallel` in its table allows more, for all
    /// workers together. Without `max_parallel`, the only agent of a worker may use all sessions of
    /// that worker. `--concurrency` on the command line is the last word, and also raises a
    /// `max_parallel` of the files. A worker of several agents divides its sessions among the
    /// agents, so no agent's limit is raised.
    pub(crate) fn served_agents(&self, work: &WorkSettings) -> Result<Vec<Served>> {
        let known = self.known_agents();
        // Configured agents are known, so the name came from a flag. A typing error must not start
        // runs under an unknown name.
        if let Some(stranger) = work.agents.iter().find(|name| !known.contains(name)) {
            return Err(CommandError::invalid_value(
                "agent",
                format!("there is no agent '{stranger}'; there are: {}", known.join(", ")),
            )
            .with_detail("agents", known)
            .with_hint(format!("el config set agents.{stranger}.executor claude makes it one")));
        }
        let is_alone = work.agents.len() == 1;
        let concurrency = usize::try_from(work.concurrency).unwrap_or(usize::MAX);
        let asked_for = matches!(self.value_origin("concurrency")?, Origin::Flag { .. });
        work.agents
            .iter()
            .map(|name| {
                self.ensure_executor_trusted(name)?;
                self.ensure_trusted(&["verify"], Some(name))?;
                let mut agent = self.agent_settings(name)?;
                let worktrees = self.run_isolation(name, &agent.working_directory)?;
                let is_apart =
                    concurrency > 1 || self.optional_text("isolate", Some(name))?.is_some();
                agent.isolation = worktrees.clone().filter(|_| is_apart);
                agent.task_isolation = worktrees;
                let own =
                    agent.max_parallel.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
                let at_most = match own {
                    Some(most) if is_alone && asked_for => most.max(concurrency),
                    Some(most) => most,
                    None if is_alone => concurrency,
                    None => 1,
                };
                Ok(Served { agent, at_most })
            })
            .collect()
    }

    /// Refuses an agent with a table that names a program without a person's trust. Claude Code
    /// would run instead, under the agent's name and for money.
    fn ensure_executor_trusted(&self, agent: &str) -> Result<()> {
        let is_its_program = |entry: &&Entry| {
            entry.agent.as_deref() == Some(agent)
                && ["executor", "command"].contains(&entry.key.name)
        };
        match self.inert_settings().iter().find(is_its_program) {
            None => Ok(()),
            Some(entry) => Err(CommandError::config_error(
                &entry.name(),
                format!("nobody has trusted the program of the agent {agent}: {}", entry.name()),
            )
            .with_hint("el trust shows the settings of this project and asks")),
        }
    }

    /// The machine's resources and the money that a worker may use.
    pub(super) fn resource_limits(&self) -> Result<Resources> {
        Ok(Resources {
            limits: Limits {
                max_load: self.amount("max_load", None)?,
                min_memory: self.optional_int("min_memory", None)?.map(|mib| u64::from(mib) << 20),
                start_interval: self.optional_time("start_interval", None)?.unwrap_or_default(),
            },
            budget_per_epic: self.amount("budget_per_epic", None)?,
            budget_per_day: self.amount("budget_per_day", None)?,
        })
    }

    /// The worktree settings of runs; `None` if the settings or the folder rule out worktrees. The
    /// default is a worktree if the repository has a commit.
    fn run_isolation(&self, agent: &str, folder: &Path) -> Result<Option<Isolation>> {
        let name = Some(agent);
        let is_wanted = match self.optional_text("isolate", name)?.as_deref() {
            Some(word) => word == "worktree",
            None => may_have_worktrees(folder)?,
        };
        if !is_wanted {
            return Ok(None);
        }
        let limit = self.optional_time("worktree_setup_timeout", name)?.unwrap_or_default();
        Ok(Some(Isolation {
            folder: self.worktrees_folder()?,
            base: self.optional_text("worktree_base", name)?,
            at_upstream: self.lands_by_pull_request()?,
            fetch: self.value("worktree_fetch", name)? == Value::Bool(true),
            is_own_base: false,
            remote: self.shared_remote()?,
            branch_prefix: self.branch_prefix()?,
            copy: self.text_list("worktree_copy", name)?,
            link: self.text_list("worktree_link", name)?,
            setup: self.command_words("worktree_setup", name)?,
            setup_timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
        }))
    }

    /// How names of new branches begin.
    pub(crate) fn branch_prefix(&self) -> Result<String> {
        Ok(self.optional_text("branch_prefix", None)?.unwrap_or_default())
    }

    /// The remote at which the machines of a team share the atoms' branches.
    pub(crate) fn shared_remote(&self) -> Result<Option<String>> {
        let remote = self.optional_text("remote", None)?;
        if remote.as_ref().is_some_and(|name| name.starts_with('-') || name.is_empty()) {
            let message = "remote is the name of a remote, such as origin";
            return Err(CommandError::config_error("remote", message.to_owned()));
        }
        Ok(remote)
    }

    /// The folder of the worktrees.
    pub(crate) fn worktrees_folder(&self) -> Result<std::path::PathBuf> {
        Ok(self
            .optional_path("worktrees_directory", None)?
            .unwrap_or_else(|| self.root.join(".eluent/worktrees")))
    }

    /// Files that `el` itself puts into worktrees, which are no agent's changes.
    pub(crate) fn put_into_worktrees(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for agent in self.agents().into_iter().map(Some).chain([None]) {
            names.extend(self.text_list("worktree_copy", agent)?);
            names.extend(self.text_list("worktree_link", agent)?);
        }
        Ok(names)
    }

    /// The settings of `el land`.
    pub(crate) fn land_settings(&self) -> Result<LandSettings> {
        let mode = if self.optional_text("land_mode", None)?.as_deref() == Some("merge") {
            JoinMode::Merge
        } else {
            JoinMode::Rebase
        };
        Ok(LandSettings {
            mode,
            onto: self.optional_text("land_onto", None)?,
            check: self.command_words("land_check", None)?,
            copy: self.text_list("worktree_copy", None)?,
            link: self.text_list("worktree_link", None)?,
            setup: self.command_words("worktree_setup", None)?,
            setup_limit: self.optional_time("worktree_setup_timeout", None)?.unwrap_or_default(),
            check_limit: self.optional_time("land_check_timeout", None)?.unwrap_or_default(),
            worktrees: self.worktrees_folder()?,
            put_into_worktrees: self.put_into_worktrees()?,
            configuration: self.project.path.clone(),
            sandbox: self.sandbox_settings(None)?,
        })
    }

    pub(super) fn sandbox_settings(&self, agent: Option<&str>) -> Result<SandboxSettings> {
        Ok(SandboxSettings {
            mode: match self.optional_text("sandbox", agent)?.as_deref() {
                Some("strict") => SandboxMode::Strict,
                Some("off") => SandboxMode::Off,
                _ => SandboxMode::Auto,
            },
            network: match self.optional_text("sandbox_network", agent)?.as_deref() {
                Some("off") => Network::Off,
                _ => Network::On,
            },
            write: self.paths("sandbox_write", agent)?,
            hide: [
                self.paths("sandbox_hide", agent)?,
                crate::known_trackers::to_hide(),
                self.server.as_ref().map(el_core::login_files).unwrap_or_default(),
            ]
            .concat(),
        })
    }

    pub(super) fn value_origin(&self, name: &str) -> Result<Origin> {
        let key =
            Key::find_key(name).expect("the names in this file are those of the list of keys");
        Ok(self.get(key, None)?.origin)
    }

    /// Trusted projects of other users. Entries in a project's own file are ignored.
    pub(crate) fn safe_directories(&self) -> Result<Vec<PathBuf>> {
        let folders = self.text_list("safe_directories", None)?;
        Ok(folders.iter().map(|text| PathBuf::from(super::with_home(text))).collect())
    }

    /// Returns true if an epic is closed once all that it contains is over. A bad value closes
    /// nothing.
    pub(crate) fn epic_autoclose(&self) -> bool {
        self.value("epic_autoclose", None).is_ok_and(|value| value == Value::Bool(true))
    }

    /// Returns true if dependants wait for the merge of what they depend on. A bad value holds
    /// none.
    pub(crate) fn waits_for_merges(&self) -> bool {
        self.value("pr_gate", None).is_ok_and(|value| value == Value::Text("merged".to_owned()))
    }

    /// The agents that may delegate tasks; empty means all.
    pub(crate) fn allowed_delegates(&self) -> Result<Vec<String>> {
        self.text_list("delegates", None)
    }

    /// The greatest depth of nested tasks.
    pub(crate) fn delegation_max_depth(&self) -> Result<u32> {
        Ok(self.optional_int("delegation_max_depth", None)?.unwrap_or(1))
    }

    /// The words of the check's command; empty: there is none.
    pub(super) fn check_command(&self, agent: Option<&str>) -> Result<Vec<String>> {
        self.command_words("verify", agent)
    }

    /// The words of a command; empty: there is none.
    pub(super) fn command_words(
        &self,
        name: &'static str,
        agent: Option<&str>,
    ) -> Result<Vec<String>> {
        let mut words = match self.value(name, agent)? {
            Value::List(words) => words,
            Value::Text(text) => words::split_command(&text).map_err(|error| {
                CommandError::internal_error(format!(
                    "{name} was checked when it was read: {error}"
                ))
            })?,
            _ => Vec::new(),
        };
        if let Some(program) = words.first_mut() {
            *program = super::with_home(program);
        }
        Ok(words)
    }
}

/// Returns true if the folder's repository can have worktrees. Without a repository or a commit,
/// agents share the folder.
///
/// # Errors
///
/// Any other failure of git: agents must not share a folder because git could not be asked.
fn may_have_worktrees(folder: &Path) -> Result<bool> {
    match Repository::open_at(folder).and_then(|found| found.head_commit()) {
        Ok(_) => Ok(true),
        Err(GitError::NoRepository(_) | GitError::NoCommit(_)) => Ok(false),
        Err(error) => {
            let hint = error.hint().into_owned();
            let at = folder.display();
            Err(CommandError::config_error("git", format!("no agent starts in {at}: {error}"))
                .with_hint(hint)
                .with_hint(
                    "el config set isolate none lets agents work in the folder all the same",
                ))
        }
    }
}
