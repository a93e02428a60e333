use std::time::Duration;

use el_agents::mailbox::{Mailbox, Synced};
use el_core::Store;
use el_core::ops::AtomFilter;

use crate::commands::list::FilterArgs;
use crate::output::{Page, sanitize, style};
use crate::{App, CommandError, Exit, Result};

/// Read the messages and tasks of others, and write the tracker's own
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el mailbox sync
  el mailbox sync --watch
  el mailbox sync --watch --label web    Only these ready atoms become assignments

Assignments become atoms, and ready atoms become assignments; reports become reviews; a task
that is rejected in queue.json is sent back, and one that is approved there is closed only with
--approvals, since any agent can write that file; what is over is cleared. Missing files
are made, a file that is not JSON is set aside as FILE.bad-TIME. With --watch and --robot, each
look that brings something is one line of JSON.")]
pub(crate) struct Args {
    /// Go on until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Let queue.json approve work: all who can write that file then decide for you
    #[arg(long)]
    approvals: bool,
    #[command(flatten, next_help_heading = "Which ready atoms become assignments")]
    filter: FilterArgs,
}

/// Between two looks for changes; a look costs microseconds.
const LOOK: Duration = Duration::from_millis(100);
/// The number of looks after which failed files are tried again, changed or not.
const AGAIN: u32 = 50;

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let filter = args.filter.atom_filter(app)?;
    let mut store = app.open_for_writing()?;
    if let Some(session) = app.session() {
        let message = format!("the mailbox is not for an agent's session ({})", session.run);
        return Err(CommandError::conflict("in_session", message)
            .with_hint("el submit hands the work of a session over"));
    }
    let mut mailbox = Mailbox::new(&app.project()?.root).with_approvals(args.approvals);
    if args.watch {
        return watch_mailbox(app, &mut mailbox, &mut store, &filter);
    }
    let synced = mailbox.sync(&mut store, app.actor(), &filter)?;
    if let Some(first) = synced.errors.first() {
        let listing = synced.errors.iter().skip(1).cloned();
        return Err(CommandError::new(Exit::Internal, "mailbox", first)
            .with_listing(listing)
            .with_detail("errors", serde_json::json!(synced.errors))
            .with_detail("synced", serde_json::json!(synced)));
    }
    app.printer.emit(&synced, |page| {
        if synced.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "all is in step");
        }
        print_sync(page, &synced);
    })
}

fn print_sync(page: &mut Page, synced: &Synced) {
    if page.is_quiet() {
        return;
    }
    for note in &synced.notes {
        page.push_line(sanitize::one_line(note));
    }
    let marked =
        [("problem:", style::WARNING, &synced.problems), ("error:", style::ERROR, &synced.errors)];
    for (word, style, lines) in marked {
        for line in lines {
            let word = page.paint(style, word);
            page.push_line(format!("{word} {}", sanitize::one_line(line)));
        }
    }
    if synced.notes.is_empty() && !synced.written.is_empty() {
        let files: Vec<&str> =
            synced.written.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
        page.push_painted(style::DIM, &format!("wrote {}", files.join(", ")));
    }
}

/// Syncs whenever a file or the store has changed, until the process is ended. Files are replaced
/// whole, so an end leaves no partial file.
fn watch_mailbox(
    app: &App,
    mailbox: &mut Mailbox,
    store: &mut Store,
    filter: &AtomFilter,
) -> Result<Exit> {
    if !app.printer.is_robot() {
        app.printer.note("watching the mailbox; Ctrl-C ends it");
    }
    let mut seen = None;
    let mut waited = 0;
    loop {
        // Taken before the sync: a change during the sync triggers another.
        let state = (store.data_version()?, mailbox.fingerprint());
        let synced = if seen.as_ref() != Some(&state) || waited >= AGAIN {
            waited = 0;
            // A sync that writes is followed by another, since a foreign write in the meantime
            // looks the same.
            seen = Some(state);
            mailbox.sync(store, app.actor(), filter)?
        } else {
            mailbox.look_back()
        };
        let is_quiet = synced.arrived == 0
            && synced.notes.is_empty()
            && synced.problems.is_empty()
            && synced.errors.is_empty();
        if !is_quiet {
            app.printer.emit_line(&synced, |page| print_sync(page, &synced))?;
        }
        waited += 1;
        std::thread::sleep(LOOK);
    }
}
