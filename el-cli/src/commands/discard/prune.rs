use std::time::Duration;

use el_core::model::Atom;
use el_core::{count_noun, ops};
use schemars::JsonSchema;
use serde::Serialize;

use crate::backups::Reason;
use crate::output::{atoms, style};
use crate::{App, CommandError, Exit, Result, backup_hooks, input};

/// Remove old discarded atoms for good, with their comments and bonds
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el discard prune --dry-run
  el discard prune --days 90
  el discard prune --days 0 --force

Asks before it removes anything; where nobody can answer, --force is needed. Events and runs
stay, so el history still tells what was there.")]
pub(crate) struct Args {
    /// Only atoms discarded at least this many days ago
    #[arg(long, value_name = "N", default_value_t = 30)]
    days: u32,
    /// Show the atoms without removing any
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long)]
    force: bool,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Pruned<'a> {
    pruned_count: usize,
    pruned_ids: Vec<&'a str>,
    dry_run: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let age = Duration::from_secs(u64::from(args.days) * 86_400);
    let mut store = app.open_for_writing()?;
    let found = ops::prune(&mut store, &app.ctx(), age, true)?;
    if args.dry_run || found.is_empty() {
        return report_pruned(app, &found, args.dry_run);
    }
    if !args.force && !confirm_prune(app, &found)? {
        return report_pruned(app, &[], false);
    }
    backup_hooks::before(app, Reason::BeforePrune);
    let pruned = ops::prune(&mut store, &app.ctx(), age, false)?;
    report_pruned(app, &pruned, false)
}

fn confirm_prune(app: &App, found: &[Atom]) -> Result<bool> {
    if !input::can_ask(app) {
        let atoms = count_noun(found.len(), "atom");
        return Err(CommandError::usage_error(format!(
            "{atoms} would be removed for good, and nobody can be asked"
        ))
        .with_hint("run it on a terminal, where it asks; --dry-run shows what would go"));
    }
    for atom in found {
        app.printer.note(&format!("  {} {}", atom.id, atom.title));
    }
    let which = if found.len() == 1 { "it" } else { "them" };
    input::ask_yes_no(app, &format!("remove {which} for good?"))
}

fn report_pruned(app: &App, pruned: &[Atom], dry_run: bool) -> Result<Exit> {
    let data = Pruned {
        pruned_count: pruned.len(),
        pruned_ids: pruned.iter().map(|atom| atom.id.as_str()).collect(),
        dry_run,
    };
    app.printer.emit(&data, |page| {
        for atom in pruned {
            atoms::print_done(page, if dry_run { "Would remove" } else { "Removed" }, atom);
        }
        if pruned.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "nothing was removed");
        }
    })
}
