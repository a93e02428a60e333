use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt as _;

use el_agents::git::{self, Repository};
use el_agents::tmux::socket_name;
use el_core::Store;
use el_core::model::{Event, EventKind, Status, Timestamp};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::worktrees::{Place, failed, places, repository, target};
use crate::app::App;
use crate::complete;
use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::output::page::Page;
use crate::output::{sanitize, style};

mod act;
mod conflict;
mod plan;

use plan::{Fate, Item};

/// Bring the finished work of agents in: their branches, one after another, checked before any is
/// kept
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el land q5e6
  el land --all
  el land --all --dry-run
  el land --all --onto release --robot

Works in a checkout of its own. The branch moves only once the check (land_check) has passed;
what makes it fail is found by halves and left out, and a conflict becomes an atom. Where the
branch is checked out with changes that are not committed, nothing is moved. It can be broken
off at any moment (Ctrl-C), and done again; --dry-run foresees conflicts, and runs no check.
What git revert took back is brought in again once its atom is closed again. Exit code 4 if
something could not be brought in.")]
pub(crate) struct Args {
    /// The atoms
    #[arg(value_name = "ATOM", required_unless_present = "all", conflicts_with = "all", add = complete::all_atoms())]
    atoms: Vec<String>,
    /// Every closed atom with a branch that has not landed
    #[arg(long)]
    all: bool,
    /// The branch to bring them to; else land_onto, or what is checked out
    #[arg(long, value_name = "BRANCH")]
    onto: Option<String>,
    /// Say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// What it answers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Landing<'a> {
    /// The branch.
    onto: &'a str,
    dry_run: bool,
    count: usize,
    /// How many of them were brought in.
    landed: usize,
    items: &'a [Item],
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    git::check_version().map_err(failed)?;
    let repository = repository(app)?;
    let store = app.reader()?;
    let wanted = match args.all {
        true => None,
        false => Some(
            args.atoms
                .iter()
                .map(|text| ops::resolve(&store, text))
                .collect::<Result<Vec<_>, _>>()?,
        ),
    };
    let onto = target(app, &repository, args.onto.as_deref())?;
    let _lock = if args.dry_run { None } else { Some(lock(app)?) };
    let mut items = look(app, &repository, &onto, wanted.as_deref())?;
    match args.dry_run {
        true => act::foresee(&repository, &onto, &mut items)?,
        false => act::land(app, &repository, &onto, &mut items)?,
    }
    report(app, &onto, args.dry_run, &items)
}

/// Only one at a time brings anything in.
fn lock(app: &App) -> Result<File> {
    let path = app.project()?.state.join("land.lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = file.map_err(|source| CommandError::file("open", &path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(CommandError::new(Exit::Conflict, "busy", "another el land is at work")
                .with_retryable(true)
                .with_hint("wait for it to end"))
        }
        Err(TryLockError::Error(source)) => Err(CommandError::file("lock", &path, source)),
    }
}

/// What there is to bring in, in the order in which it was finished.
fn look(
    app: &App,
    repository: &Repository,
    onto: &str,
    wanted: Option<&[String]>,
) -> Result<Vec<Item>> {
    let store = app.reader()?;
    let found: Vec<Place> = places(app, &store, repository, Some(onto))?;
    let mut items: Vec<Item> = Vec::new();
    for place in
        found.iter().filter(|place| wanted.is_none_or(|wanted| wanted.contains(&place.atom_id)))
    {
        let atom = ops::brief(&store, &place.atom_id).ok();
        let mut item = plan::item(place, atom.as_ref());
        if matches!(item.fate, Fate::ToLand | Fate::Already) {
            let reopened_at =
                if place.reverts.is_empty() { None } else { reopened_at(&store, &place.atom_id)? };
            item.taken_back(&place.reverts, reopened_at);
        }
        // Closed, its agent may still be writing: that is soon over, and no reason to be silent.
        let is_to_come = item.fate == Fate::AtWork && place.status == Some(Status::Closed);
        if wanted.is_some() || is_to_come || !item.is_left_out() {
            items.push(item);
        }
    }
    for id in wanted.unwrap_or_default() {
        if !items.iter().any(|item| item.atom_id == *id) {
            items.push(Item::without_branch(id));
        }
    }
    items.sort_by(|a, b| (a.closed_at, &a.atom_id).cmp(&(b.closed_at, &b.atom_id)));
    Ok(items)
}

/// When the atom was last taken up again after it had been closed.
fn reopened_at(store: &Store, atom: &str) -> Result<Option<Timestamp>> {
    let (_, events) = ops::history(store, atom)?;
    let is_reopening = |event: &&Event| {
        event.kind == EventKind::Status && event.data["from"] == Status::Closed.as_str()
    };
    Ok(events.iter().rev().find(is_reopening).map(|event| event.at))
}

fn report(app: &App, onto: &str, dry_run: bool, items: &[Item]) -> Result<Exit> {
    let landed = items.iter().filter(|item| item.fate == Fate::Landed).count();
    let data = Landing { onto, dry_run, count: items.len(), landed, items };
    let trouble: Vec<&Item> = items.iter().filter(|item| item.fate.is_trouble()).collect();
    if !trouble.is_empty() && app.printer.is_robot() {
        let noun = if trouble.len() == 1 { "branch" } else { "branches" };
        return Err(CommandError::new(
            Exit::Conflict,
            "not_landed",
            format!("{} {noun} could not be brought to {onto}", trouble.len()),
        )
        .with_hint("details.items says of each what became of it, and why")
        .with_detail("onto", onto)
        .with_detail("landed", landed)
        .with_detail("items", serde_json::to_value(items).unwrap_or_default()));
    }
    let exit = if trouble.is_empty() { Exit::Done } else { Exit::Conflict };
    app.printer.conclude(&data, exit, |page| view(page, onto, items))
}

fn view(page: &mut Page, onto: &str, items: &[Item]) {
    for item in items {
        let id = page.paint(style::ID, &item.atom_id);
        let style = if item.fate.is_trouble() { style::WARNING } else { style::GOOD };
        let fate = page.paint(style, &item.fate.words(onto));
        page.line(format!("{id}  {fate}"));
        if page.quiet() {
            continue;
        }
        if let Some(detail) = &item.detail {
            for line in detail.lines().rev().take(8).collect::<Vec<_>>().into_iter().rev() {
                page.line(format!("  {}", sanitize::line(line)));
            }
        }
        for revert in &item.brings_back {
            page.line(format!(
                "  what {} took back is brought in again",
                revert.get(..12).unwrap_or(revert)
            ));
        }
        if let Some(atom) = &item.conflict_atom {
            page.line(format!("  {} is filed to resolve it", page.paint(style::ID, atom)));
        }
    }
    if items.is_empty() && !page.quiet() {
        let text = page.paint(style::DIM, "nothing to bring in");
        page.line(text);
    }
}

/// The folder of the checkout in which it is all tried.
fn scratch_folder(app: &App) -> Result<std::path::PathBuf> {
    let folder = app.settings()?.worktrees()?;
    git::folder_of_worktrees(&folder).map_err(failed)?;
    // Projects may share the folder.
    Ok(folder.join(format!(".landing-{}", project_name(app)?)))
}

/// A name that no other tracker of this machine has.
fn project_name(app: &App) -> Result<String> {
    let db = &app.project()?.db;
    Ok(socket_name(&db.canonicalize().unwrap_or_else(|_| db.clone())))
}
