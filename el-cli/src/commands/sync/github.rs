use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use el_agents::forge::{Forge as _, FoundIssues, GithubCli, IssueFilter, RepoName};
use el_core::exchange::{Batch, Tracker};
use el_core::model::{Status, Timestamp};
use el_core::ops::{self, ImportOptions, Imported, SyncState, Theirs};
use schemars::JsonSchema;
use serde::Serialize;

use super::accept::{Acceptance, Accepted};
use super::batch::read_batch;
use super::push::Pushed;
use super::repository::{choose_repository, scope_of};
use crate::backups::Reason;
use crate::commands::import::print_imported;
use crate::output::Progress;
use crate::{App, Exit, Result, backup_hooks, complete};

/// Take over the issues of a GitHub repository, by your own gh
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el sync github --dry-run
  el sync github -R acme/shop --label agents
  el sync github --full
  el sync github --theirs q5e6
  el sync github --push q5e6

The first time everything is taken over, later what changed since; --full also tells what is
gone there. Changes made here stand: of a field that changed on both sides the value here stays,
and is told; --theirs takes the value there. Nothing is written there without --push, which
shows what it would write, asks, and writes only what is there as it was last seen.

On a public repository, an issue becomes an atom only if its author is a member, a member is
assigned, or it has the label of the setting sync_github_label (or --label); comments of others
are left out, and what they reword later is held back and told.

Exit codes: 6 if gh is missing, too old or not signed in, or the repository is not known.")]
pub(crate) struct Args {
    /// The repository [default: the setting pr_repo, or the only remote's]
    #[arg(short = 'R', long, value_name = "[HOST/]OWNER/NAME",
        value_parser = NonEmptyStringValueParser::new())]
    repo: Option<String>,
    /// Only issues with this label
    #[arg(long, value_name = "LABEL", value_parser = NonEmptyStringValueParser::new())]
    label: Option<String>,
    /// Only issues that changed since this time, such as 2026-11-28T09:30:00Z
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "full")]
    since: Option<Timestamp>,
    /// All issues, and tell what is gone
    #[arg(long)]
    full: bool,
    /// Take their values: of these atoms all, without atoms where both sides changed a field
    #[arg(long, value_name = "ATOM", num_args = 0.., add = complete::all_atoms())]
    theirs: Option<Vec<String>>,
    /// Write title, text and labels of these atoms into their issues
    #[arg(long, value_name = "ATOM", num_args = 1.., add = complete::all_atoms(),
        conflicts_with_all = ["label", "since", "full", "theirs"])]
    push: Vec<String>,
    /// Do not ask before --push writes
    #[arg(long, requires = "push")]
    yes: bool,
    /// Show the result without any change
    #[arg(long)]
    dry_run: bool,
}

/// The search of GitHub lags behind, and clocks differ.
const OVERLAP: Duration = Duration::from_secs(3600);

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Synced {
    /// `host/owner/name`
    repository: String,
    is_public: bool,
    /// Only issues that changed since then were asked for; `null`: all.
    since: Option<Timestamp>,
    dry_run: bool,
    /// Issues that no member has accepted.
    left_out: Vec<u64>,
    /// Comments by people who are no members.
    comments_left_out: usize,
    /// This version of gh does not tell parents, sub-issues, blockers and types; Debian 12's
    /// neither why an issue was closed.
    lacks_relations: bool,
    #[serde(flatten)]
    imported: Imported,
}

/// The answer of `el sync github`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(in crate::commands) enum Answer {
    /// With `--push`.
    Pushed(Pushed),
    Pulled(Synced),
}

fn parse_time(text: &str) -> std::result::Result<Timestamp, String> {
    Timestamp::parse(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    app.project()?;
    let repo = choose_repository(app, args.repo.as_deref())?;
    let gh = GithubCli;
    gh.ensure_ready()?;
    if !args.push.is_empty() {
        let how = super::push::How { is_confirmed: args.yes, dry_run: args.dry_run };
        let pushed = super::push::run(&args.push, how, &gh, &repo, app)?;
        let is_left = pushed.leaves_fields();
        let answer = Answer::Pushed(pushed);
        app.printer.emit(&answer, |page| {
            let Answer::Pushed(pushed) = &answer else { return };
            pushed.print(page);
        })?;
        return Ok(if is_left { Exit::Conflict } else { Exit::Done });
    }
    let synced = pull(args, app, &gh, &repo)?;
    let answer = Answer::Pulled(synced);
    app.printer.emit(&answer, |page| {
        let Answer::Pulled(synced) = &answer else { return };
        let from = &synced.repository;
        print_imported(page, &synced.imported, Tracker::Github, from, synced.dry_run, &[]);
        if page.is_quiet() {
            return;
        }
        for line in describe_remarks(synced) {
            page.push_line(line);
        }
    })
}

fn pull(args: &Args, app: &App, gh: &GithubCli, repo: &RepoName) -> Result<Synced> {
    let scope = scope_of(repo);
    let label = args.label.as_deref();
    let name = format!("github:{}:{}", repo, label.unwrap_or_default());
    let state = ops::sync_state(&app.open_for_reading()?, Tracker::Github.as_str(), &name)?;
    let theirs = wanted_theirs(args, app)?;
    // Their values may have stood there for long.
    let asks_all = args.full || theirs != Theirs::Nowhere;
    let since = match args.since {
        None if asks_all => None,
        None => state.until.map(|until| until.minus(OVERLAP)),
        given => given,
    };
    let is_public = gh.is_public(repo)?;
    let (found, since) = list_issues(gh, repo, label, since)?;
    let mut accepted = Accepted { issues: found.items, ..Accepted::default() };
    if is_public {
        let text = since.map(|since| since.to_string());
        let roles = gh.author_roles(repo, text.as_deref())?;
        let wanted = app.settings()?.sync_settings()?.label;
        let acceptance = Acceptance {
            known: &state.known,
            scope: &scope,
            label: label.or(wanted.as_deref()),
            roles: &roles,
        };
        accepted = acceptance.sort_issues(std::mem::take(&mut accepted.issues));
    }
    let batch = read_batch(&accepted.issues)?;
    let until = latest_change(&batch);
    let waiting = closed_at_work(app, &state, &batch)?;
    let options = ImportOptions {
        dry_run: args.dry_run,
        is_partial: since.is_some() || label.is_some(),
        scope: Some(scope),
        theirs,
        held_texts: std::mem::take(&mut accepted.by_others),
    };
    if !args.dry_run && !batch.records.is_empty() {
        backup_hooks::before(app, Reason::BeforeImport);
    }
    let progress = Progress::new(&app.printer, "importing");
    let mut store = app.open_for_writing()?;
    let imported = ops::import(&mut store, &app.ctx(), batch, &options, &mut |done, total| {
        progress.show_counts(done, total)
    })?;
    // Changes that could not be taken yet are asked for again.
    let until = [until, waiting].into_iter().flatten().min();
    if let Some(until) = until.filter(|_| !args.dry_run && args.since.is_none()) {
        let until = if waiting.is_none() { until.max(state.until.unwrap_or(until)) } else { until };
        ops::note_sync(&mut store, &app.ctx(), &name, until)?;
    }
    Ok(Synced {
        repository: repo.to_string(),
        is_public,
        since,
        dry_run: args.dry_run,
        left_out: accepted.left_out,
        comments_left_out: accepted.comments_left_out,
        lacks_relations: found.lacks_relations,
        imported,
    })
}

fn wanted_theirs(args: &Args, app: &App) -> Result<Theirs> {
    let Some(atoms) = &args.theirs else { return Ok(Theirs::Nowhere) };
    if atoms.is_empty() {
        return Ok(Theirs::Conflicts);
    }
    Ok(Theirs::Atoms(app.resolve_ids(atoms)?.into_iter().collect()))
}

/// Asks for the changed issues, or for all where a search would not give them all.
fn list_issues(
    gh: &GithubCli,
    repo: &RepoName,
    label: Option<&str>,
    since: Option<Timestamp>,
) -> Result<(FoundIssues, Option<Timestamp>)> {
    let text = since.map(|since| since.to_string());
    let found = gh.issues(repo, IssueFilter { label, since: text.as_deref() })?;
    if found.is_cut {
        return Ok((gh.issues(repo, IssueFilter { label, since: None })?, None));
    }
    Ok((found, since))
}

/// The last change, by GitHub's own clock.
fn latest_change(batch: &Batch) -> Option<Timestamp> {
    batch.records.iter().filter_map(|record| record.updated_at).max()
}

/// The earliest change of an issue that is closed there while an agent works on it here.
fn closed_at_work(app: &App, state: &SyncState, batch: &Batch) -> Result<Option<Timestamp>> {
    let store = app.open_for_reading()?;
    let mut earliest = None;
    for record in batch.records.iter().filter(|record| record.status.is_over()) {
        let Some(atom) = state.known.get(&record.id) else { continue };
        if ops::get_atom(&store, atom)?.status == Status::InProgress {
            earliest = [earliest, record.updated_at].into_iter().flatten().min();
        }
    }
    Ok(earliest)
}

fn describe_remarks(synced: &Synced) -> Vec<String> {
    let mut lines = Vec::new();
    if !synced.left_out.is_empty() {
        let numbers: Vec<String> =
            synced.left_out.iter().take(8).map(|number| format!("#{number}")).collect();
        let more = if synced.left_out.len() > 8 { ", …" } else { "" };
        lines.push(format!(
            "Left out, as no member has accepted them: {}{more} (an assignee, or the label of \
             sync_github_label, does)",
            numbers.join(", ")
        ));
    }
    if synced.comments_left_out > 0 {
        lines.push(format!(
            "Left out: {} by people who are no members",
            crate::output::count::with_noun(synced.comments_left_out, "comment")
        ));
    }
    if synced.lacks_relations {
        lines.push(
            "This gh does not tell parents, sub-issues, blockers and types, so they stay as they \
             are; a newer one does (https://cli.github.com)"
                .to_owned(),
        );
    }
    lines
}
