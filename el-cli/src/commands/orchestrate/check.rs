//! The check of the whole, at the end: a command, run where all results are together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use el_agents::git::{self, Mode, Repository, Scratch, Step};
use el_agents::tmux::socket_name;
use el_agents::whole_check::{self, Breaker, WholeCheck};
use el_core::model::{Verify, VerifyStatus};
use el_core::ops::{self, Overview};
use el_core::protocol::words;

use super::begin::Began;
use super::branches::{self, Branch};
use super::tell::Teller;
use crate::app::App;
use crate::commands::worktrees::failed;
use crate::error::{CommandError, Result};

/// What came of it.
#[derive(Debug)]
pub(super) enum Checked {
    Ended {
        passed: bool,
        output: String,
    },
    /// A person broke it off; it did not end.
    BrokenOff,
}

/// A command and how long it may take.
struct Command<'a> {
    key: &'static str,
    name: &'static str,
    words: &'a [String],
    limit: Duration,
}

/// Whose check it is, for all processes of this machine.
pub(super) fn owner(app: &App, epic: &str) -> Result<String> {
    let db = &app.project()?.db;
    let whole = db.canonicalize().unwrap_or_else(|_| db.clone());
    Ok(format!("{}:{epic}", whole.display()))
}

pub(super) fn run(
    app: &App,
    began: &Began,
    teller: &mut Teller<'_>,
    round: usize,
) -> Result<Checked> {
    let overview = ops::overview(&app.reader()?, &began.epic.id)?;
    let check = Command {
        key: "orchestrate_check",
        name: "check",
        words: &overview.settings.check,
        limit: began.settings.whole_check_limit()?,
    };
    let folder = &began.options.agents[0].agent.working_directory;
    let done = match together(began, &overview, folder)? {
        Place::Folder => {
            teller.check_begins(round, &words::join(check.words), folder);
            command(app, began, teller, &check, folder)?
        }
        Place::Apart { why } => {
            teller.check_begins(round, &words::join(check.words), folder);
            Checked::Ended { passed: false, output: why }
        }
        Place::Checkout { scratch, repository } => {
            let place = place_in(&scratch, &repository);
            teller.check_begins(round, &words::join(check.words), &place);
            let landing = began.settings.landing()?;
            git::furnish(repository.top(), scratch.path(), &landing.copy, &landing.link)
                .map_err(failed)?;
            let setup = Command {
                key: "worktree_setup",
                name: "setup",
                words: &landing.setup,
                limit: landing.setup_limit,
            };
            match landing.setup.is_empty() {
                true => command(app, began, teller, &check, &place)?,
                false => match command(app, began, teller, &setup, &place)? {
                    Checked::Ended { passed: true, .. } => {
                        command(app, began, teller, &check, &place)?
                    }
                    other => other,
                },
            }
        }
    };
    if let Checked::Ended { passed, output } = &done {
        teller.check_ended(round, *passed, output);
    }
    Ok(done)
}

/// The folder in it that the project is in.
fn place_in(scratch: &Scratch, repository: &Repository) -> PathBuf {
    let below = scratch.path().join(repository.prefix());
    let is_there = !repository.prefix().as_os_str().is_empty() && below.is_dir();
    if is_there { below } else { scratch.path().to_owned() }
}

/// Where the results are together.
enum Place {
    /// In the project's folder: nobody worked elsewhere.
    Folder,
    /// In a checkout of our own.
    Checkout { scratch: Scratch, repository: Repository },
    /// Nowhere: they do not fit together.
    Apart { why: String },
}

/// The branch of the aggregation has all that it brought together; those of the tasks of failed
/// checks came later. Where the aggregation has no branch, those of all tasks are joined.
fn together(began: &Began, overview: &Overview, folder: &Path) -> Result<Place> {
    let Ok(repository) = Repository::of(folder) else { return Ok(Place::Folder) };
    let (first, mut tasks) = branches::of(&repository, overview)?;
    tasks.retain(|task| first.is_none() || task.is_later);
    if first.is_none() && tasks.is_empty() {
        return Ok(Place::Folder);
    }
    let base = began.options.agents[0]
        .agent
        .isolation
        .as_ref()
        .and_then(|isolation| isolation.base.clone());
    let mut top = match (&first, base) {
        (Some(first), _) => first.tip.clone(),
        (None, Some(base)) => repository.commit(&base).map_err(failed)?.unwrap_or_default(),
        (None, None) => repository.head().map_err(failed)?,
    };
    let above = began.settings.worktrees()?;
    git::folder_of_worktrees(&above).map_err(failed)?;
    // Projects may share the folder.
    let db = &began.options.places.database;
    let project = socket_name(&db.canonicalize().unwrap_or_else(|_| db.clone()));
    let scratch =
        Scratch::new(&repository, &above.join(format!(".check-{project}-{}", began.epic.id)), &top)
            .map_err(failed)?;
    for Branch { name: branch, tip, .. } in tasks {
        if repository.contains(&top, &tip).map_err(failed)? {
            continue;
        }
        let message = format!("Join {branch} for the check of {}", began.epic.id);
        match scratch.join(&top, None, &tip, Mode::Merge, &message).map_err(failed)? {
            Step::Joined(commit) => top = commit,
            Step::Conflict(files) => {
                let names = files.join("\n");
                let with =
                    first.as_ref().map_or("the branches before it", |first| first.name.as_str());
                let why = format!(
                    "The branch {branch} does not go together with {with}. In conflict are:\n{names}"
                );
                return Ok(Place::Apart { why });
            }
        }
    }
    scratch.go(&top).map_err(failed)?;
    Ok(Place::Checkout { scratch, repository })
}

fn command(
    app: &App,
    began: &Began,
    teller: &mut Teller<'_>,
    command: &Command<'_>,
    folder: &Path,
) -> Result<Checked> {
    let Command { key, name, words, limit } = command;
    let verify =
        Verify::pending(words.to_vec(), true, u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
    let owner = owner(app, &began.epic.id)?;
    let guard = [began.options.places.el.as_os_str(), "hook".as_ref(), "guard-check".as_ref()]
        .map(OsString::from);
    let line = words::join(words);
    let mut look = |elapsed: Duration| teller.check_goes_on(&line, elapsed);
    let ended = Breaker::listen()
        .and_then(|mut breaker| {
            whole_check::run(
                &mut breaker,
                &verify,
                folder,
                &began.options.environment,
                &owner,
                &guard,
                &mut look,
            )
        })
        .map_err(|source| {
            CommandError::internal(format!("the {name} could not be watched")).with_source(source)
        })?;
    teller.finish();
    let WholeCheck::Over(done) = ended else { return Ok(Checked::BrokenOff) };
    let said = done.output.unwrap_or_default();
    match done.status {
        VerifyStatus::Passed => Ok(Checked::Ended { passed: true, output: said }),
        VerifyStatus::NotRun | VerifyStatus::Pending => {
            Err(CommandError::config(key, format!("the {name} cannot be run: {said}"))
                .with_hint("it is a program and its arguments; sh -c '…' gives it a shell")
                .with_hint(format!(
                    "el orchestrate resume {} --check 'CMD' goes on with another one",
                    began.epic.id
                )))
        }
        status => {
            let code =
                done.exit_code.map_or_else(String::new, |code| format!(", exit code {code}"));
            Ok(Checked::Ended {
                passed: false,
                output: format!("{said}\nthe {name} ended as {status}{code}").trim().to_owned(),
            })
        }
    }
}
