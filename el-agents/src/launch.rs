//! Launches a claimed run: writes the run's files, then lets tmux start `el supervise`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use el_core::model::Run;
use el_core::ops::{self, ClaimedRun};
use el_core::{Error, Store};

use crate::claude::{self, ChildEnvironment};
use crate::launch_spec::{LaunchSpec, claude_options};
use crate::requirements::{self, ConfigurationError};
use crate::rundir::{RunDir, RunDirError, write_private};
use crate::sandbox::{Found, Sandbox};
use crate::settings::{AgentSettings, Executor, Places, RunRules};
use crate::summary_file::{self, FileStamp};
use crate::tmux::{SessionError, SessionIds, Tmux, session_name};
use crate::{clock, session};

/// The time that a tool gets beyond the time limit of the check, in milliseconds.
const TOOL_TIMEOUT_MARGIN_MS: u64 = 60_000;
/// The highest tool time-out that Claude Code accepts by default, in milliseconds.
const TOOL_TIMEOUT_MIN_MS: u64 = 600_000;

/// The means to launch runs of an agent. Made once, before any claim.
#[derive(Debug, Clone)]
pub(crate) struct Launcher {
    pub(crate) agent: AgentSettings,
    pub(crate) rules: RunRules,
    pub(crate) places: Places,
    pub(crate) tmux: Tmux,
    program: PathBuf,
    environment: Vec<(OsString, OsString)>,
    preamble: Option<String>,
    pub(crate) sandbox: Found,
}

/// A run that could not be launched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    /// The store refused.
    #[error("the store refused the launch")]
    Store(#[from] Error),
    /// A file could not be written.
    #[error("the run's files could not be written")]
    Files(#[from] RunDirError),
    /// The folder that the atom names cannot be worked in.
    #[error(transparent)]
    Folder(ConfigurationError),
    /// The session could not be started.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A setting that could not be checked before.
    #[error("a setting does not fit")]
    Configuration(#[from] ConfigurationError),
}

impl Launcher {
    /// Checks all requirements of a run.
    ///
    /// # Errors
    /// If tmux or the agent's program is not there, or a folder is missing: the field and the
    /// remedy.
    pub(crate) fn new(
        agent: AgentSettings,
        rules: RunRules,
        places: Places,
        environment: Vec<(OsString, OsString)>,
        preamble: Option<String>,
    ) -> Result<Launcher, ConfigurationError> {
        let tmux = Tmux::discover(&crate::tmux::socket_name(&places.database), &environment)?;
        requirements::check_tmux_version(tmux.bin())?;
        let program = check_agent(&agent, &places, &environment)?;
        requirements::ensure_context_directory(&places.contexts)?;
        requirements::ensure_summaries_directory(&summary_file::summaries_folder(&places))?;
        let sandbox = Sandbox::find(&agent.sandbox, &agent.env_pass, &environment)?;
        Ok(Launcher { agent, rules, places, tmux, program, environment, preamble, sandbox })
    }

    /// How the agent is called, in words for people.
    pub(crate) fn preview_command(&self) -> Result<Vec<String>, ConfigurationError> {
        let spec = LaunchSpec {
            run: "RUN".to_owned(),
            atom: "ATOM".to_owned(),
            conversation: "UUID".to_owned(),
            agent: self.agent.clone(),
            program: self.program.clone(),
            rules: self.rules,
            places: self.places.clone(),
            summary_before: None,
            preamble: None,
            branch: None,
            sandbox: None,
            missing_sandbox: None,
        };
        let words = spec.argv(&RunDir::new(&self.places.runs, "RUN"), None)?;
        Ok(words
            .iter()
            .map(|word| shell_escape::unix::escape(word.to_string_lossy()).into_owned())
            .collect())
    }

    /// Launches a claimed run: writes its folder and starts its session. Slow work is left to the
    /// supervisor.
    ///
    /// # Errors
    /// If the run could not be launched. The claim stands; the caller settles the run as
    /// `launch_failed`.
    pub(crate) fn launch_run(
        &self,
        store: &mut Store,
        claimed: &ClaimedRun,
    ) -> Result<(String, SessionIds), LaunchError> {
        let run = &claimed.run;
        let agent = self.agent_for(claimed)?;
        let own_prompt = Some(agent.system_prompt.clone()).filter(|text| !text.is_empty());
        let folder = RunDir::new(&self.places.runs, &run.id);
        folder.create()?;
        let environment = self.child_environment(run, &folder, &agent);
        let settings = claude::settings_json(
            &self.places.el,
            &environment,
            self.sandbox.found_sandbox().is_some(),
        )?;
        write_private(&folder.settings_path(), settings.as_bytes())?;
        folder.write_environment(&run.token, &environment)?;
        folder.write_server(self.places.server.as_ref())?;
        folder.write_launch(&LaunchSpec {
            run: run.id.clone(),
            atom: run.atom_id.clone(),
            conversation: run.conversation.clone().unwrap_or_default(),
            agent,
            program: self.program.clone(),
            rules: self.rules,
            places: self.places.clone(),
            summary_before: FileStamp::of_file(&summary_file::summary_file(
                &self.places,
                &run.atom_id,
            )),
            preamble: self.preamble.clone().or(own_prompt),
            branch: None,
            sandbox: self.sandbox.found_sandbox().cloned(),
            missing_sandbox: self.sandbox.missing().map(str::to_owned),
        })?;
        let random = u32::from_str_radix(&el_core::model::fresh_token()[..8], 16)
            .expect("a token is hexadecimal");
        let name = session_name(&run.atom_id, clock::now().as_secs(), random);
        // Recorded before the session starts, so that a recovery finds the session.
        ops::record_launch(store, &run.id, &run.token, &name)?;
        let argv: Vec<OsString> = vec![
            self.places.el.clone().into(),
            "supervise".into(),
            run.id.clone().into(),
            "--db".into(),
            self.places.database.clone().into(),
        ];
        let ids = self.tmux.start_session(&name, &argv, self.agent.preserve_sessions)?;
        Ok((name, ids))
    }

    /// Returns the agent's settings, with the atom's own settings applied.
    fn agent_for(&self, claimed: &ClaimedRun) -> Result<AgentSettings, LaunchError> {
        let mut agent = self.agent.clone();
        let of_tasks = agent.task_isolation.take();
        if let Some(task) = &claimed.atom.delegation {
            agent.isolation = agent.isolation.or(of_tasks).filter(|_| task.workdir.is_none());
            if let Some(limit) = task.timeout_ms {
                agent.execution_timeout = Duration::from_millis(u64::try_from(limit).unwrap_or(0));
            }
            if let Some(folder) = &task.workdir {
                agent.working_directory = PathBuf::from(folder);
                let folder = &agent.working_directory;
                requirements::ensure_working_directory(folder)
                    .and_then(|()| requirements::ensure_task_folder(folder, &self.places.database))
                    .map_err(LaunchError::Folder)?;
            }
        } else if agent.isolation.is_none() && claimed.run.attempt > 1 {
            // The supervisor asks git, which may take its time.
            agent.task_isolation = of_tasks;
        }
        agent.apply(claimed.atom.run_options.clone().unwrap_or_default());
        Ok(agent)
    }

    /// Returns tool time-outs for Claude Code. `el close` runs a required check as a tool of the
    /// agent, and a tool has two minutes by default. Time-outs set by the caller stay.
    fn tool_timeouts(&self, run: &Run) -> Vec<(&'static str, OsString)> {
        let Some(verify) = run.verify.as_ref().filter(|verify| verify.required) else {
            return Vec::new();
        };
        let millis = verify
            .timeout_ms
            .saturating_add(TOOL_TIMEOUT_MARGIN_MS)
            .max(TOOL_TIMEOUT_MIN_MS)
            .to_string();
        ["BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS"]
            .into_iter()
            .filter(|name| !self.environment.iter().any(|(given, _)| given == name))
            .map(|name| (name, OsString::from(&millis)))
            .collect()
    }

    fn child_environment(
        &self,
        run: &Run,
        folder: &RunDir,
        agent: &AgentSettings,
    ) -> Vec<(OsString, OsString)> {
        let el_folder = self.places.el.parent().map(Path::to_owned).unwrap_or_default();
        let set = [
            (session::VARIABLE, folder.session_socket().into()),
            // For the agent to know. They grant nothing.
            ("EL_ATOM", OsString::from(&run.atom_id)),
            ("EL_ACTOR", OsString::from(&run.agent)),
            // `CLAUDE.md` is read where the project's settings are not.
            ("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD", "1".into()),
        ];
        claude::child_environment(
            self.environment.iter().cloned(),
            &ChildEnvironment {
                own: agent.env.clone(),
                strip: agent.env_strip.clone(),
                pass: agent.env_pass.clone(),
                set: set
                    .into_iter()
                    .chain(self.tool_timeouts(run))
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
                el_folder,
                max_retries: self.agent.api_max_retries,
                api_timeout_ms: self
                    .agent
                    .api_timeout
                    .map(|t| u64::try_from(t.as_millis()).unwrap_or(u64::MAX)),
            },
        )
    }
}

/// Checks the requirements of an agent's runs without any change. Returns the path of the agent's
/// program.
///
/// # Errors
/// The field that is wrong, and the remedy.
pub fn check_agent(
    agent: &AgentSettings,
    places: &Places,
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, ConfigurationError> {
    requirements::ensure_working_directory(&agent.working_directory)?;
    requirements::ensure_worktrees_possible(agent)?;
    let program = find_agent_program(agent, environment)?;
    // Values that the agent's command line does not take are found now, not at the first run.
    drop(claude::settings_json(&places.el, &[], false)?);
    if matches!(agent.executor, Executor::Claude | Executor::Interactive) {
        requirements::ensure_permission_mode(Some(&agent.permission_mode), environment)?;
        drop(claude::argv(&claude_options(
            agent,
            &program,
            "00000000-0000-4000-8000-000000000000",
            Path::new("/"),
            false,
        ))?);
    }
    Ok(program)
}

fn find_agent_program(
    agent: &AgentSettings,
    environment: &[(OsString, OsString)],
) -> Result<PathBuf, ConfigurationError> {
    let folder = &agent.working_directory;
    match &agent.executor {
        Executor::Claude | Executor::Interactive => {
            requirements::find_program(&agent.claude_code_path, environment, folder)
        }
        Executor::Command(words) => {
            let name = words.first().map(String::as_str).unwrap_or_default();
            requirements::find_program(name, environment, folder).map_err(|_| {
                ConfigurationError::new(
                    "command",
                    format!(
                        "the program of agent {}, {name:?}, is not there or not executable",
                        agent.name
                    ),
                    format!(
                        "set command in [agents.{}] to a program and its arguments",
                        agent.name
                    ),
                )
            })
        }
    }
}
