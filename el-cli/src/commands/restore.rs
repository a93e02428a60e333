//! Brings back a backup.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use el_core::model::Timestamp;
use el_core::{CopyFacts, count_noun, inspect_copy, list_changes};
use schemars::JsonSchema;
use serde::Serialize;

use crate::backups::{Backup, Backups, Present, Reason, Restored};
use crate::output::{Page, sanitize, style, time};
use crate::{App, CommandError, Exit, Result};

/// Bring back a backup of the tracker; what it replaces is kept
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el restore --dry-run       The changes that the newest backup would bring
  el restore                 Bring the newest one back
  el restore 3               The third of el backup list
  el restore \"2 hours ago\"   The last one from before then; a date and 2026-12-01T09:30 do too
  el restore copy.db         A file

It works when the database is missing or damaged, and refuses while workers or runs are there.
The database that it replaces becomes a backup of its own. Runs that were live in the backup are
settled, and no session of then can write again.

Exit codes: 3 there is no such backup; 4 somebody works on the tracker.")]
pub(crate) struct Args {
    /// A number of `el backup list`, a time, or a file [default: the newest]
    #[arg(value_name = "WHEN", value_hint = clap::ValueHint::FilePath)]
    when: Option<String>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// The number of atoms in which the backup differs from the present tracker.
#[derive(Debug, Serialize, JsonSchema)]
struct Change {
    /// Atoms in the backup alone, which come back.
    back: usize,
    /// Atoms in both, with changes.
    changed: usize,
    /// Atoms in the present tracker alone, which go.
    gone: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    dry_run: bool,
    database: PathBuf,
    backup: Backup,
    /// The contents of the backup.
    holds: CopyFacts,
    /// `null` if the present database is missing or damaged.
    change: Option<Change>,
    /// Why the present database cannot be used; `null` if it can.
    fault: Option<String>,
    /// The place of the replaced tracker; `null` if there was none.
    replaced: Option<PathBuf>,
    /// The runs that were live in the backup; settled now.
    ended_runs: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let backups = Backups::locate(app)?;
    let backup = chosen(&backups, args.when.as_deref(), app.now())?;
    let holds = inspect_copy(&backup.path)?;
    let mut change = None;
    let mut fault = None;
    // Checking a large database takes seconds, so it is done once.
    let mut look = |present: &Present| -> Result<()> {
        match present {
            Present::Sound(_) => change = Some(compare(backups.database(), &backup.path)?),
            Present::Missing => fault = Some("it is missing".to_owned()),
            Present::Damaged(why) => fault = Some(why.clone()),
        }
        Ok(())
    };
    let restored = match args.dry_run {
        true => look(&backups.present()?).map(|()| Restored::default())?,
        false => backups.restore(&backup, app.actor(), app.now(), look)?,
    };
    let answer = Answer {
        dry_run: args.dry_run,
        database: backups.database().to_owned(),
        backup,
        holds,
        change,
        fault,
        replaced: restored.replaced,
        ended_runs: restored.ended.into_iter().map(|run| run.id).collect(),
    };
    app.printer.emit(&answer, |page| print_answer(page, &answer, app.now()))
}

/// The backup that the words mean.
fn chosen(backups: &Backups, when: Option<&str>, now: Timestamp) -> Result<Backup> {
    let none = |message: String| {
        CommandError::new(Exit::NotFound, "no_backup", message)
            .with_hint("el backup list shows what there is")
    };
    let all = backups.list();
    let Some(when) = when else {
        return backups.newest().ok_or_else(|| {
            none(format!("there is no backup in {}", backups.backups_folder().display()))
        });
    };
    if let Ok(number) = when.parse::<usize>() {
        let found = number.checked_sub(1).and_then(|at| all.get(at)).cloned();
        let count = all.len();
        return found.ok_or_else(|| none(format!("there is no backup {number}, but {count}")));
    }
    let file = Path::new(when);
    if file.is_file() {
        return backup_of_file(file);
    }
    let until = time::parse_time("WHEN", when, now, time::Towards::Past)
        .map_err(|error| error.with_hint("or a number of el backup list, or a file"))?;
    let is_older = |backup: &&Backup| backup.at <= until && backup.reason != Reason::Damaged;
    all.iter()
        .find(is_older)
        .cloned()
        .ok_or_else(|| none(format!("there is no backup from before {}", time::local_time(until))))
}

fn backup_of_file(file: &Path) -> Result<Backup> {
    let failed = |source| CommandError::file_error("read", file, source);
    let path = std::fs::canonicalize(file).map_err(failed)?;
    let meta = std::fs::metadata(&path).map_err(failed)?;
    let at = Timestamp::from(meta.modified().map_err(failed)?);
    match inspect_copy(&path) {
        Err(error @ el_core::Error::NotADatabase { .. }) => {
            Err(CommandError::invalid_value("when", error.to_string())
                .with_hint("el backup list shows what there is"))
        }
        // The caller reports the rest.
        _ => Ok(Backup { path, at, reason: Reason::Manual, size: meta.len() }),
    }
}

fn compare(present: &Path, backup: &Path) -> Result<Change> {
    let mut then: BTreeMap<String, i64> = list_changes(backup)?.into_iter().collect();
    let mut change = Change { back: 0, changed: 0, gone: 0 };
    for (id, changed_at) in list_changes(present)? {
        match then.remove(&id) {
            None => change.gone += 1,
            Some(before) if before != changed_at => change.changed += 1,
            Some(_) => {}
        }
    }
    change.back = then.len();
    Ok(change)
}

fn print_answer(page: &mut Page, answer: &Answer, now: Timestamp) {
    if page.is_quiet() {
        return;
    }
    let when = time::relative_time(now, answer.backup.at);
    let head = match answer.dry_run {
        true => "Would restore".to_owned(),
        false => page.paint(style::GOOD, "Restored"),
    };
    let atoms = count_noun(usize::try_from(answer.holds.atoms).unwrap_or(0), "atom");
    page.push_line(format!("{head} the backup from {when}, with {atoms}"));
    if let Some(change) = &answer.change {
        page.push_line(format!(
            "  {} come back, {} change, {} go",
            change.back, change.changed, change.gone
        ));
    }
    if let Some(fault) = &answer.fault {
        page.push_line(format!(
            "  The present database cannot be used: {}",
            sanitize::one_line(fault)
        ));
    }
    if let Some(replaced) = &answer.replaced {
        page.push_line(format!("  The old tracker is kept: {}", sanitize::path_line(replaced)));
    }
    if !answer.ended_runs.is_empty() {
        let runs = answer.ended_runs.join(", ");
        page.push_line(format!("  Runs that were live in the backup have ended: {runs}"));
    }
}
