use el_core::model::Atom;
use el_core::ops::{self, Primed};

use crate::output::{Page, sanitize};
use crate::{App, Exit, Result};

/// Print the few lines that an agent needs at its start
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el prime
  el prime --robot

At most 3 kB: what is in progress for the actor, what is ready, the commands. Says nothing, with
exit code 0, where there is no tracker: made for the hooks of agents, which run everywhere.")]
pub(crate) struct Args {}

/// The maximum number of atoms of each kind that are named.
const MOST: i64 = 5;
/// The columns of a title, and its bytes, since one column may take many.
const TITLE: usize = 80;
const TITLE_BYTES: usize = 120;

const COMMANDS: &str = "\
Commands (each takes --robot for JSON; any unique beginning of an id will do):
  el next --claim            take the best ready atom
  el show ID                 read it whole: description, acceptance, comments, bonds
  el comment add ID TEXT     say what you find out
  el create TITLE -d TEXT --discovered-from ID     file what you find on the way
  el dep add A B             B waits for A
  el close ID -r REASON      it is done
  el update ID --status deferred -r WHY    it cannot be done now (wont_do: not at all)
  el help topics             statuses, bonds, exit codes, shapes of JSON
";

const OWN_COMMANDS: &str = "\
End it with one of:
  el close ID -r \"what was done\"
  el update ID --status deferred -r \"what is missing\"     (wont_do: not to be done)
On the way: el show ID · el comment add ID TEXT · el create TITLE -d TEXT --discovered-from ID
";

pub(super) fn run(_args: &Args, app: &App) -> Result<Exit> {
    print_primer(app)
}

/// Prints the primer. Prints nothing without a tracker, or if the tracker is another user's.
pub(super) fn print_primer(app: &App) -> Result<Exit> {
    // A hook runs in every folder, also in folders without a tracker.
    let is_there = match app.foreign_tracker() {
        Err(error) if error.code() == "no_database" => false,
        // Another user's text must not reach our agents.
        other => other?.is_none(),
    };
    if !is_there {
        return app.printer.emit(&None::<Primed>, |_| {});
    }
    let primed = ops::prime(&app.open_for_reading()?, &app.ctx(), MOST)?;
    let inert = app.settings()?.inert_sentence();
    app.printer.emit(&primed, |page| {
        print_primed(page, &primed, app.actor());
        if let Some(sentence) = &inert {
            page.push_line(sanitize::one_line(sentence));
        }
    })
}

fn print_primed(page: &mut Page, primed: &Primed, actor: &str) {
    if let Some(own) = &primed.own {
        page.push_line("You are at work on this atom of the tracker el:");
        page.push_line(atom_line(own));
        page.push_line(OWN_COMMANDS.replace(" ID", &format!(" {}", own.id)).trim_end());
        return;
    }
    page.push_line("This project tracks its work with el.");
    let actor = shorten_text(actor, 40, 60);
    print_atoms(
        page,
        &format!("In progress for {actor}"),
        &primed.in_progress,
        primed.in_progress_total,
    );
    print_atoms(page, "Ready", &primed.ready, primed.ready_total);
    if primed.in_progress.is_empty() && primed.ready.is_empty() {
        page.push_line("Nothing is in progress for you, and nothing is ready.");
    }
    page.push_line(COMMANDS.trim_end());
}

fn print_atoms(page: &mut Page, heading: &str, atoms: &[Atom], total: i64) {
    if atoms.is_empty() {
        return;
    }
    let here = i64::try_from(atoms.len()).unwrap_or(i64::MAX);
    let total_text =
        if total >= ops::COUNTED { format!("{total} or more") } else { total.to_string() };
    let count = if here < total { format!("{here} of {total_text}") } else { total_text };
    page.push_line(format!("{heading} ({count}):"));
    for atom in atoms {
        page.push_line(atom_line(atom));
    }
}

/// An atom in a line. A title is data, and cannot start a line of its own.
fn atom_line(atom: &Atom) -> String {
    format!(
        "  {} P{} {}  {}",
        atom.id,
        atom.priority.value(),
        atom.issue_type,
        shorten_text(&atom.title, TITLE, TITLE_BYTES)
    )
}

fn shorten_text(text: &str, columns: usize, bytes: usize) -> String {
    let clean = sanitize::one_line(text);
    let fits = sanitize::truncate_to(&clean, columns);
    if fits.len() <= bytes {
        return fits.into_owned();
    }
    format!("{}…", el_core::text::head_bytes(&fits, bytes).trim_end())
}
