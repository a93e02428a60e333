//! Gathers what a pull request tells from the tracker and from the repository.

use el_core::model::{Cost, Verify, VerifyStatus};
use el_core::protocol::pull_request::{
    KeyFound, Private, Told, compose_section, compose_title, new_body,
};
use el_core::rules::budget::format_usd;
use el_core::{Store, ops};

use super::{PullPlace, Result};
use crate::forge::Forge;
use crate::git::{Git, GitError};

/// The rules for what may be told.
#[derive(Debug, Clone, Default)]
pub struct TextRules {
    pub tells_cost: bool,
    /// Values of variables that agents do not get.
    pub private_values: Vec<String>,
    /// Folders of this machine.
    pub folders: Vec<String>,
    /// The check of a landing, which has passed; empty: there is none.
    pub land_check: Vec<String>,
}

/// The texts of a pull request.
#[derive(Debug, Clone)]
pub(super) struct Texts {
    pub(super) title: String,
    /// With its marks.
    pub(super) section: String,
    /// The section as a rehearsal shows it, which has run no check.
    predicted: String,
    /// The issues that it closes.
    pub(super) closes: Vec<u64>,
}

/// Composes the texts of an atom's pull request. The inner error names a field with a key.
pub(super) fn compose(
    store: &Store,
    rules: &TextRules,
    place: &PullPlace,
    atom_id: &str,
) -> Result<Result<Texts, KeyFound>> {
    let shown = ops::show(store, atom_id)?;
    let runs = &shown.runs;
    let mut checks: Vec<Verify> =
        runs.iter().rev().find_map(|run| run.verify.clone()).into_iter().collect();
    checks.retain(|check| check.status != VerifyStatus::Pending);
    let ran = checks.clone();
    if !rules.land_check.is_empty() {
        let passed = Verify::pending(rules.land_check.clone(), true, 0);
        checks.push(Verify { status: VerifyStatus::Passed, ..passed });
    }
    let summary = runs.iter().rev().find_map(|run| run.summary.as_ref());
    let micros: i64 = runs
        .iter()
        .filter_map(|run| Some(run.ended_at?.as_micros() - run.started_at.as_micros()))
        .sum();
    let cost: Cost = runs.iter().map(|run| run.progress.cost).sum();
    let cost = rules.tells_cost.then(|| format_usd(cost.cost_micros));
    let source = format!("{}:{}", place.forge, place.repo.short());
    // A forge closes issues only by what reaches the default branch.
    let closes: Vec<u64> = shown
        .aliases
        .iter()
        .filter(|name| place.is_default_base && name.source.eq_ignore_ascii_case(&source))
        .filter_map(|name| name.alias.trim_start_matches('#').parse().ok())
        .collect();
    let mut folders = rules.folders.clone();
    folders.extend(runs.iter().map(|run| run.workdir.clone()));
    // The longest first: a worktree lies within the repository.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
    let private = Private { values: &rules.private_values, folders: &folders };
    let told = Told {
        atom_id,
        title: &shown.atom.title,
        summary,
        checks: &checks,
        to_run: &[],
        attempts: runs.len(),
        minutes: micros / 60_000_000,
        cost: cost.as_deref(),
        closes: &closes,
    };
    let texts = || {
        Ok(Texts {
            title: compose_title(&told, &private)?,
            section: compose_section(&told, &private)?,
            predicted: compose_section(
                &Told { checks: &ran, to_run: &rules.land_check, ..told },
                &private,
            )?,
            closes: closes.clone(),
        })
    };
    Ok(texts())
}

impl Texts {
    /// The body of a new pull request, below the repository's own template.
    pub(super) fn new_body(&self, template: Option<&str>) -> String {
        new_body(template, &self.section)
    }

    /// A body with the section, as a rehearsal shows it.
    pub(super) fn predicted_body(&self, body: &str) -> String {
        body.replacen(&self.section, &self.predicted, 1)
    }
}

/// The repository's template of pull requests, as the base has it.
pub(super) fn template(
    git: &Git,
    forge: &dyn Forge,
    base: &str,
) -> Result<Option<String>, GitError> {
    let (folders, names) = forge.template_places();
    for folder in folders {
        let words = ["ls-tree", "--name-only", "-z", base, "--", folder];
        let words = if folder.is_empty() { &words[..4] } else { &words[..] };
        let listed = git.ask(words)?;
        let is_template = |name: &&str| {
            let file = name.strip_prefix(folder).unwrap_or(name).to_ascii_lowercase();
            names.contains(&file.as_str())
        };
        if let Some(name) = listed.split('\0').find(is_template) {
            return git.ask_optional(&["show", &format!("{base}:{name}")]);
        }
    }
    Ok(None)
}
