//! The remote for pushes, and the repository that receives the work. An unclear place is asked
//! for once, on a terminal, and kept in the project's configuration.

use std::io::{self, BufRead as _, IsTerminal as _};

use el_agents::forge::Forges;
use el_agents::git::Repository;
use el_agents::pull_requests::{PullError, PullPlace, WantedPlace, find_place};

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::settings::write::{self, Name};
use crate::trust::Trust;

pub(super) fn find_or_ask(
    app: &App,
    repository: &Repository,
    forges: &Forges,
    wanted: &WantedPlace,
) -> Result<PullPlace> {
    let mut wanted = wanted.clone();
    loop {
        let found = find_place(repository, forges, &wanted);
        if app.printer.is_robot() || !io::stdin().is_terminal() {
            return Ok(found?);
        }
        match found {
            Err(PullError::Remotes { remotes }) if wanted.remote.is_none() => {
                let shown: Vec<String> =
                    remotes.iter().map(|(name, to)| format!("{name} ({to})")).collect();
                let at = choose(app, "to which remote are branches pushed?", &shown)?;
                let name = remotes[at].0.clone();
                keep(app, "pr_remote", &name)?;
                wanted.remote = Some(name);
            }
            Err(PullError::Fork { fork, parent }) if wanted.repo.is_none() => {
                let names = [parent, fork];
                let at = choose(app, "which repository receives the work?", &names)?;
                keep(app, "pr_repo", &names[at])?;
                wanted.repo = Some(names[at].clone());
            }
            found => return Ok(found?),
        }
    }
}

/// Asks for one of several, by number.
fn choose(app: &App, question: &str, names: &[String]) -> Result<usize> {
    for (at, name) in names.iter().enumerate() {
        app.printer.note(&format!("{}  {name}", at + 1));
    }
    app.printer.note(&format!("{question} [1-{}]", names.len()));
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).map_err(|source| {
        CommandError::internal_error("cannot read the answer").with_source(source)
    })?;
    let chosen = answer.trim().parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    chosen.filter(|at| *at < names.len()).ok_or_else(|| {
        CommandError::usage_error("that is none of the numbers, and nothing was pushed")
    })
}

/// Stores an answer, so that the question comes once.
fn keep(app: &App, key: &str, value: &str) -> Result<()> {
    let path = app.project()?.config_path();
    let trust = Trust::for_project(&path);
    write::set_value(&path, &Name::parse_name(key)?, value, Some(&trust))?;
    app.printer.note(&format!("{key} = {value} is kept in {}", path.display()));
    Ok(())
}
