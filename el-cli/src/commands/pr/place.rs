//! The remote for pushes, and the repository that receives the work. An unclear place is asked
//! for once, on a terminal, and kept in the project's configuration.

use std::io::{self, BufRead as _};

use el_agents::forge::Forges;
use el_agents::git::Repository;
use el_agents::pull_requests::{PullError, PullPlace, WantedPlace, find_place};

use crate::settings::write::{self, Name};
use crate::trust::Trust;
use crate::{App, CommandError, Result, input};

pub(super) fn find_or_ask(
    app: &App,
    repository: &Repository,
    forges: &Forges,
    wanted: &WantedPlace,
) -> Result<PullPlace> {
    let mut wanted = wanted.clone();
    loop {
        let found = find_place(repository, forges, &wanted);
        if !input::can_ask(app) {
            return Ok(found?);
        }
        match found {
            Err(PullError::Remotes { remotes }) if wanted.remote.is_none() => {
                let (names, about): (Vec<String>, Vec<String>) =
                    remotes.into_iter().map(|(name, to)| (name, format!(" ({to})"))).unzip();
                let at = choose(app, "to which remote are branches pushed?", &names, &about)?;
                let name = names[at].clone();
                keep(app, "pr_remote", &name)?;
                wanted.remote = Some(name);
            }
            Err(PullError::Fork { fork, parent }) if wanted.repo.is_none() => {
                let names = [parent, fork];
                let at = choose(
                    app,
                    "which repository receives the work?",
                    &names,
                    &[const { String::new() }; 2],
                )?;
                keep(app, "pr_repo", &names[at])?;
                wanted.repo = Some(names[at].clone());
            }
            found => return Ok(found?),
        }
    }
}

/// Asks for one of several, by number or name, until one is named. `about`: for each, a few words.
fn choose(app: &App, question: &str, names: &[String], about: &[String]) -> Result<usize> {
    for (at, (name, about)) in names.iter().zip(about).enumerate() {
        app.printer.note(&format!("{}  {name}{about}", at + 1));
    }
    loop {
        app.printer.note(&format!("{question} [1-{}]", names.len()));
        let mut answer = String::new();
        let read = io::stdin().lock().read_line(&mut answer).map_err(|source| {
            CommandError::internal_error("cannot read the answer").with_source(source)
        })?;
        if read == 0 {
            return Err(CommandError::usage_error("none was named, and nothing was pushed"));
        }
        let answer = answer.trim();
        let is_meant =
            |(at, name): (usize, &String)| *name == answer || answer.parse() == Ok(at + 1);
        if let Some(at) = names.iter().enumerate().position(is_meant) {
            return Ok(at);
        }
        app.printer.note("that is none of them: a number or a name, or Ctrl-D to leave it");
    }
}

/// Stores an answer, so that the question comes once.
fn keep(app: &App, key: &str, value: &str) -> Result<()> {
    let path = app.project()?.config_path();
    let trust = Trust::for_project(&path);
    write::set_value(&path, &Name::parse_name(key)?, value, Some(&trust))?;
    app.printer.note(&format!("{key} = {value} is kept in {}", path.display()));
    Ok(())
}
