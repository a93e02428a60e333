//! Checks of `el doctor` outside of the database: the configuration, and the programs and folders
//! that `el work` needs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use el_agents::git::Repository;
use el_agents::requirements::{self, ConfigurationError};
use el_agents::sandbox::Sandbox;
use el_agents::settings::{AgentSettings, Executor, Places};
use el_agents::tmux::{Tmux, socket_name};
use el_agents::worker;
use el_core::ops::{self, Finding};

use crate::commands::work::frozen::frozen_processes;
use crate::commands::work::project_places;
use crate::modes::Exposed;
use crate::project::Project;
use crate::settings::keys::Key;
use crate::settings::{Settings, WorkSettings};
use crate::{App, Result, in_git, shared_remote};

mod backups;
mod facts;
mod program;

pub(super) use facts::{Fact, print_facts};

/// The code of a finding that keeps `el work` from running.
pub(super) const CANNOT_WORK: &str = "machine";

/// The place in which `el doctor` was called.
pub(super) struct MachineScope {
    settings: Settings,
    /// `None`: in no project.
    project: Option<Project>,
}

impl MachineScope {
    pub(super) fn for_app(app: &App) -> Result<MachineScope> {
        match app.project() {
            Ok(project) => {
                Ok(MachineScope { settings: app.settings()?, project: Some(project.clone()) })
            }
            Err(error) if error.code() == "no_database" => {
                Ok(MachineScope { settings: App::user_settings()?, project: None })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_project(&self) -> bool {
        self.project.is_some()
    }
}

pub(super) fn inspect_machine(app: &App, place: &MachineScope) -> (Vec<Finding>, Vec<Fact>) {
    let settings = &place.settings;
    let untidy = settings.problems().map(|problem| Finding {
        code: "config",
        serious: problem.is_serious,
        message: problem.to_string(),
        hint: match problem.is_serious {
            true => "put that line right; until then el work and el run start no agent".to_owned(),
            false => "el config show lists every setting".to_owned(),
        },
    });
    let bad = settings.bad_values().into_iter().map(|error| Finding {
        code: "config",
        serious: true,
        message: error.message().to_owned(),
        hint: "el config set KEY VALUE checks a value before it writes it".to_owned(),
    });
    let untrusted = settings
        .inert_sentence()
        .map(|message| slight_finding("untrusted", message, "el trust shows them and asks"));
    let mut findings: Vec<Finding> = untidy.chain(bad).chain(untrusted).collect();
    let mut needs = missing_requirements(app, place);
    // An unusable value is reported already.
    needs.retain(|(message, _)| !findings.iter().any(|finding| finding.message == *message));
    // The tracker works without runs; `el work` reports the same faults before any claim.
    findings.extend(needs.into_iter().map(|(message, hint)| {
        slight_finding(CANNOT_WORK, format!("el work cannot run here: {message}"), hint)
    }));
    if let Some(project) = &place.project {
        let worktrees = settings.worktrees_folder().ok();
        let hint = "make room: no change can be kept on a full disk; .eluent/runs holds the files \
                    of ended runs";
        findings.extend(little_room(&project.state, hint));
        let others = worktrees.filter(|at| !shares_disk(at, &project.state));
        let hint = "make room, or set worktrees_directory to a folder on another disk: agents \
                    cannot begin there; el worktrees prune removes what has landed";
        findings.extend(others.and_then(|at| little_room(&at, hint)));
        findings.extend(open_to_others(project));
        let repositories = repositories_of_agents(settings);
        findings.extend(git_locks(&repositories));
        findings.extend(missing_authors(&repositories));
        findings.extend(missing_check(settings, project));
        findings.extend(stopped_processes(app).unwrap_or_default());
        let remote = shared_remote::find_fault(settings);
        findings.extend(remote.map(|(message, hint)| slight_finding("remote", message, hint)));
        findings.extend(in_git::find_tracked(project));
        findings.extend(backups::find_faults(project));
    }
    (findings, facts::collect_facts(settings))
}

/// A finding with which the tracker still works.
fn slight_finding(
    code: &'static str,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Finding {
    Finding { code, serious: false, message: message.into(), hint: hint.into() }
}

/// Locks in the repositories of the agents. A lock blocks git's changes for as long as the lock
/// exists.
fn git_locks(repositories: &[Repository]) -> Vec<Finding> {
    let locks: BTreeSet<_> =
        repositories.iter().flat_map(|found| found.find_locks().unwrap_or_default()).collect();
    let told = |lock: &PathBuf| {
        let message = format!("a git holds, or left behind, the lock {}", lock.display());
        let hint = "once no git is at work there any more, remove it: rm, with that path";
        slight_finding("git_lock", message, hint)
    };
    locks.iter().map(told).collect()
}

/// Repositories in which nobody can commit.
fn missing_authors(repositories: &[Repository]) -> Vec<Finding> {
    let told = |repository: &Repository| {
        let top = repository.top().display();
        let message = format!("git knows no author in {top}, so agents cannot commit");
        let hint = "git config --global user.name NAME, and user.email";
        slight_finding("git_identity", message, hint)
    };
    repositories.iter().filter(|found| !found.git().knows_author()).map(told).collect()
}

fn repositories_of_agents(settings: &Settings) -> Vec<Repository> {
    let agents =
        settings.known_agents().into_iter().filter_map(|name| settings.agent_settings(&name).ok());
    let folders: BTreeSet<_> = agents.map(|agent| agent.working_directory).collect();
    folders.iter().filter_map(|folder| Repository::open_at(folder).ok()).collect()
}

/// Workers and supervisors that say nothing, and are not gone.
fn stopped_processes(app: &App) -> Result<Vec<Finding>> {
    let store = app.open_for_reading()?;
    let told = frozen_processes(&ops::live_runs(&store)?, &ops::list_workers(&store)?);
    Ok(told.into_iter().map(|(what, way)| slight_finding("stopped", what, way)).collect())
}

/// The free space, in bytes, below which changes begin to fail.
const ROOM: u64 = 16 << 20;

fn little_room(folder: &Path, hint: &str) -> Option<Finding> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    (free < ROOM).then(|| {
        let message = format!("only {} KiB are free where {} is", free >> 10, folder.display());
        slight_finding("disk", message, hint)
    })
}

fn shares_disk(one: &Path, other: &Path) -> bool {
    let device = |at: &Path| std::fs::metadata(at).map(|found| found.dev()).ok();
    device(one) == device(other)
}

/// Other users may write the files that name the programs that are started.
fn open_to_others(project: &Project) -> Option<Finding> {
    let exposed = Exposed::find_exposed(project)?;
    let message = format!("nothing is started: {}", exposed.message());
    Some(slight_finding("modes", message, exposed.hint()))
}

/// Missing requirements of any agent's runs, each with its remedy.
fn missing_requirements(app: &App, place: &MachineScope) -> Vec<(String, String)> {
    let settings = &place.settings;
    // Unusable settings are reported above.
    let Ok(work) = settings.work_settings() else { return Vec::new() };
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let told = |error: ConfigurationError| (error.message, error.hint);
    let tmux = requirements::find_tmux(&environment)
        .and_then(|bin| requirements::check_tmux_version(&bin))
        .err();
    let mut needs: Vec<_> = tmux.map(told).into_iter().collect();
    if place.project.is_none() {
        let agents = work.agents.iter().filter_map(|name| settings.agent_settings(name).ok());
        let clients: BTreeSet<_> = agents
            .filter(|agent| !matches!(agent.executor, Executor::Command(_)))
            .map(|agent| (agent.claude_code_path, agent.working_directory))
            .collect();
        let missing = |(client, folder): &(String, PathBuf)| {
            requirements::find_program(client, &environment, folder).err()
        };
        needs.extend(clients.iter().filter_map(missing).map(told));
        return needs;
    }
    needs.extend(long_socket(app, &work, &environment));
    let mut asked = BTreeSet::new();
    // The agent of the default settings is never started if the settings name others.
    let is_default = |name: &str| Key::find_key("agent").and_then(|key| key.default) == Some(name);
    let is_used = |name: &String| work.agents.contains(name) || !is_default(name);
    for name in settings.known_agents().into_iter().filter(is_used) {
        let alone = WorkSettings { agents: vec![name.clone()], ..work.clone() };
        let missing = match (settings.served_agents(&alone), project_places(app, &work)) {
            (Ok(served), Ok(places)) => {
                of_agent(&served[0].agent, &places, &environment, &mut asked)
                    .into_iter()
                    .map(told)
                    .collect()
            }
            // A value that is wrong as a setting is reported above.
            (Err(error), _) | (_, Err(error)) => {
                vec![(error.message().to_owned(), error.hints().join("; "))]
            }
        };
        for need in missing {
            if !needs.iter().any(|(message, _)| *message == need.0) {
                needs.push(need);
            }
        }
    }
    needs
}

/// The longest path of a socket that the system takes.
const SOCKET_MAX: usize = 107;

fn long_socket(
    app: &App,
    work: &WorkSettings,
    environment: &[(OsString, OsString)],
) -> Option<(String, String)> {
    let bin = requirements::find_tmux(environment).ok()?;
    let places = project_places(app, work).ok()?;
    let socket = Tmux::new(bin, &socket_name(&places.database), environment).socket_path();
    let length = socket.as_os_str().len();
    (length > SOCKET_MAX).then(|| {
        (
            format!("the path of tmux's socket is {length} bytes long: {}", socket.display()),
            format!("set TMUX_TMPDIR to a shorter folder; {SOCKET_MAX} bytes are the most"),
        )
    })
}

/// Missing requirements of a single agent: the folder, the program, and the programs that the
/// settings name. `asked`: the clients that were started already.
fn of_agent(
    agent: &AgentSettings,
    places: &Places,
    environment: &[(OsString, OsString)],
    asked: &mut BTreeSet<String>,
) -> Vec<ConfigurationError> {
    let mut missing: Vec<_> =
        worker::check_agent(agent, places, environment).err().into_iter().collect();
    // A missing client is reported already.
    if missing.is_empty() && asked.insert(agent.claude_code_path.clone()) {
        missing.extend(client_fault(agent));
    }
    missing.extend(Sandbox::find(&agent.sandbox, &agent.env_pass, environment).err());
    let isolation = agent.isolation.as_ref().or(agent.task_isolation.as_ref());
    let setup = isolation.map_or(&[][..], |isolation| &isolation.setup);
    let named =
        [("verify", &agent.verify[..]), ("notify", &agent.notify), ("worktree_setup", setup)];
    missing.extend(named.into_iter().filter_map(|(field, words)| {
        missing_program(field, words, environment, &agent.working_directory)
    }));
    missing
}

/// The program of a setting, if it is not there.
fn missing_program(
    field: &'static str,
    words: &[String],
    environment: &[(OsString, OsString)],
    folder: &Path,
) -> Option<ConfigurationError> {
    let program = words.first()?;
    requirements::find_program(program, environment, folder).err()?;
    Some(ConfigurationError {
        field,
        message: format!("the program of '{field}', {program:?}, is not there or not executable"),
        hint: format!("el config set {field} COMMAND names another; no shell reads it"),
    })
}

/// `el land` would begin, and stop at its check.
fn missing_check(settings: &Settings, project: &Project) -> Option<Finding> {
    // A value that is wrong as a setting is reported.
    let check = settings.land_settings().ok()?.check;
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let missing = missing_program("land_check", &check, &environment, &project.root)?;
    let message = format!("el land cannot check here: {}", missing.message);
    Some(slight_finding("land_check", message, missing.hint))
}

/// The client is there and does not start: npm's wrapper without its program, a wrong platform.
fn client_fault(agent: &AgentSettings) -> Option<ConfigurationError> {
    if matches!(agent.executor, Executor::Command(_)) {
        return None;
    }
    let refusal = facts::client_version(agent).err()?;
    let client = &agent.claude_code_path;
    Some(ConfigurationError {
        field: "claude_code_path",
        message: format!("the client, {client:?}, {}", refusal.in_words()),
        hint: format!(
            "{client} --version has to work; el config set claude_code_path PATH names another"
        ),
    })
}
