//! Completion by the shell: the script that `el completions` prints calls `el` back, so that ids
//! and titles are the tracker's own.

use std::env;
use std::ffi::OsStr;

use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate};
use el_agents::clock;
use el_core::model::{Atom, IssueType};
use el_core::ops::{self, AtomFilter, RunFilter, Sort};
use el_core::{Durability, Store};

use crate::locate;
use crate::output::sanitize;
use crate::settings::keys;

/// Set by the completion script; the value is the shell.
pub(crate) const VARIABLE: &str = "EL_COMPLETE";
/// The number of atoms that are considered, last changed first: a key press must not read a whole
/// project.
const CONSIDERED: i64 = 5_000;
/// The longest menu.
const MOST: i64 = 200;

/// Answers a shell's request for completions and ends the process. Returns if there is no request.
pub(crate) fn answer_the_shell(grammar: fn() -> clap::Command) {
    if env::var_os(VARIABLE).is_some() {
        CompleteEnv::with_factory(grammar).var(VARIABLE).bin("el").complete();
    }
}

/// Completes ids of atoms that are not over, with titles.
pub(crate) fn complete_atoms() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| matching_candidates(current, false, |_| true))
}

/// Completes ids of all atoms, with titles.
pub(crate) fn all_atoms() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| matching_candidates(current, true, |_| true))
}

/// Completes ids of epics, with titles.
pub(crate) fn complete_epics() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        matching_candidates(current, true, |atom| atom.issue_type == IssueType::Epic)
    })
}

/// Completes ids of runs, live runs first, and of atoms.
pub(crate) fn complete_runs() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| run_candidates(current).unwrap_or_default())
}

/// Completes names of channels, most recently used first.
pub(crate) fn complete_channels() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let found =
            open_store().and_then(|store| ops::list_channels(&store, "").ok()).unwrap_or_default();
        found.into_iter().map(|channel| new_candidate(channel.name, &channel.last)).collect()
    })
}

/// Completes names of settings, with their meaning.
pub(crate) fn complete_settings() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        keys::all_keys()
            .map(|key| CompletionCandidate::new(key.name).help(Some(key.help.into())))
            .collect()
    })
}

fn matching_candidates(
    current: &OsStr,
    include_over: bool,
    is_meant: impl Fn(&Atom) -> bool,
) -> Vec<CompletionCandidate> {
    let found = || {
        let store = open_store()?;
        let filter = AtomFilter { include_over, ..AtomFilter::default() };
        ops::list(&store, &filter, Sort::Updated, Some(CONSIDERED), 0, clock::now()).ok()
    };
    let current = current.to_string_lossy().to_ascii_lowercase();
    let fits = |id: &str| id.starts_with(&current) || short_part(id).starts_with(&current);
    let candidates = found()
        .map(|page| page.items)
        .unwrap_or_default()
        .into_iter()
        .filter(|atom| fits(&atom.id) && is_meant(atom));
    candidates
        .take(usize::try_from(MOST).unwrap_or(usize::MAX))
        .map(|atom| {
            // A candidate must begin with the typed text, or the shell drops the candidate.
            let value = if atom.id.starts_with(&current) {
                atom.id.clone()
            } else {
                short_part(&atom.id).to_owned()
            };
            new_candidate(value, &format!("{} · {}", atom.status, atom.title))
        })
        .collect()
}

fn run_candidates(current: &OsStr) -> Option<Vec<CompletionCandidate>> {
    let current = current.to_string_lossy().to_ascii_lowercase();
    let page =
        ops::runs(&open_store()?, &RunFilter { limit: Some(MOST), ..RunFilter::default() }).ok()?;
    let runs = page.items.into_iter().filter(|run| run.id.starts_with(&current)).map(|run| {
        let state = run.outcome.map_or("live", |outcome| outcome.as_str());
        new_candidate(run.id.clone(), &format!("{state} · {}", run.atom_id))
    });
    Some(runs.collect())
}

fn short_part(id: &str) -> &str {
    id.rsplit_once('-').map_or(id, |(_, short)| short)
}

fn new_candidate(value: String, about: &str) -> CompletionCandidate {
    let about = sanitize::truncate_to(&sanitize::one_line(about), 60).into_owned();
    CompletionCandidate::new(value).help(Some(about.into()))
}

fn open_store() -> Option<Store> {
    locate::find_project(None).ok()?.open_store(Durability::Normal).ok()
}
