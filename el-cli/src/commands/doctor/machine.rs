//! What `el doctor` looks at beyond the database: the configuration, and the programs and folders
//! that `el work` needs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use el_agents::check::{self, ConfigurationError};
use el_agents::git::Repository;
use el_agents::settings::{AgentSettings, Places};
use el_agents::worker;
use el_core::ops::Finding;

use crate::app::App;
use crate::commands::work::places;
use crate::error::Result;
use crate::settings::{Settings, WorkSettings};

pub(super) fn look(app: &App) -> Result<Vec<Finding>> {
    let settings = app.settings()?;
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
    let mut findings: Vec<Finding> = untidy.chain(bad).collect();
    findings.extend(needs(app, &settings).into_iter().map(|(message, hint)| Finding {
        code: "machine",
        // The tracker works without; `el work` says so itself before it claims anything.
        serious: false,
        message: format!("el work cannot run here: {message}"),
        hint,
    }));
    findings.extend(little_room(app));
    findings.extend(git_locks(&settings));
    Ok(findings)
}

/// Locks in the repositories that agents work in: as long as they are there, no git changes what
/// they are of.
fn git_locks(settings: &Settings) -> Vec<Finding> {
    let agents = settings.known_agents().into_iter().filter_map(|name| settings.agent(&name).ok());
    let folders: BTreeSet<_> = agents.map(|agent| agent.working_directory).collect();
    let repositories = folders.iter().filter_map(|folder| Repository::of(folder).ok());
    let locks: BTreeSet<_> =
        repositories.flat_map(|found| found.locks().unwrap_or_default()).collect();
    let told = |lock: PathBuf| Finding {
        code: "git_lock",
        serious: false,
        message: format!("a git holds, or left behind, the lock {}", lock.display()),
        hint: "once no git is at work there any more, remove it: rm, with that path".to_owned(),
    };
    locks.into_iter().map(told).collect()
}

/// Below this, changes begin to fail.
const ROOM: u64 = 16 << 20;

fn little_room(app: &App) -> Option<Finding> {
    let folder = &app.project().ok()?.state;
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    (free < ROOM).then(|| Finding {
        code: "disk",
        serious: false,
        message: format!("only {} KiB are free where {} is", free >> 10, folder.display()),
        hint: "make room: no change can be kept on a full disk; .eluent/runs holds the files of ended runs".to_owned(),
    })
}

/// What is needed for a run of some agent and is not there, with its remedy.
fn needs(app: &App, settings: &Settings) -> Vec<(String, String)> {
    // What cannot be used at all is told above.
    let Ok(work) = settings.work() else { return Vec::new() };
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let told = |error: ConfigurationError| (error.message, error.hint);
    let tmux = check::find_tmux(&environment).and_then(|bin| check::tmux_version(&bin)).err();
    let mut needs: Vec<_> = tmux.map(told).into_iter().collect();
    for name in settings.known_agents() {
        let alone = WorkSettings { agents: vec![name.clone()], ..work.clone() };
        let missing = match (settings.served(&alone), places(app, &work)) {
            (Ok(served), Ok(places)) => {
                of_agent(&served[0].agent, &places, &environment).into_iter().map(told).collect()
            }
            // A value that is wrong as a setting is told above.
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

/// What the runs of one agent need: its folder, its program, and the programs that its settings
/// name.
fn of_agent(
    agent: &AgentSettings,
    places: &Places,
    environment: &[(OsString, OsString)],
) -> Vec<ConfigurationError> {
    let mut missing: Vec<_> =
        worker::check_agent(agent, places, environment).err().into_iter().collect();
    let setup = agent.isolation.as_ref().map_or(&[][..], |isolation| &isolation.setup);
    for (field, words) in
        [("verify", &agent.verify[..]), ("notify", &agent.notify), ("worktree_setup", setup)]
    {
        let Some(program) = words.first() else { continue };
        if check::find_program(program, environment, &agent.working_directory).is_err() {
            missing.push(ConfigurationError {
                field,
                message: format!(
                    "the program of '{field}', {program:?}, is not there or not executable"
                ),
                hint: format!("el config set {field} COMMAND names another; no shell reads it"),
            });
        }
    }
    missing
}
