use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use el_agents::git::{Git, GitError, Repository};
use el_core::exchange::merge::{self, Conflict, Side};
use schemars::JsonSchema;
use serde::Serialize;

use super::export::{replace_file, write_whole_file};
use crate::output::{sanitize, style};
use crate::{App, CommandError, Exit, Result, input};

/// Merge two copies of an export that is kept in git
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el merge-driver --install issues.jsonl      Have git merge this file with el from now on
  el merge-driver --print issues.jsonl        Show what that would change
  el merge-driver %O %A %B %P                 Git's call

Two people who changed different fields of one atom have no conflict. A field that both changed,
or that one changed and the other removed, is written twice between git's marks, and the exit
code is 1: keep one of the two lines, each is whole. Nothing is set up, exported or committed
unless asked.")]
pub(crate) struct Args {
    /// The common origin of the two copies
    #[arg(value_name = "BASE", required_unless_present_any = ["install", "print"])]
    base: Option<PathBuf>,
    /// Our copy, which the result replaces
    #[arg(value_name = "OURS", required_unless_present_any = ["install", "print"])]
    pub(super) ours: Option<PathBuf>,
    /// The other side's copy
    #[arg(value_name = "THEIRS", required_unless_present_any = ["install", "print"])]
    theirs: Option<PathBuf>,
    /// The path in the repository, for messages
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Set up the driver in this clone, for this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["base", "print"])]
    pub(super) install: Option<PathBuf>,
    /// Print the commands of --install
    #[arg(long, value_name = "FILE", conflicts_with = "base")]
    print: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Report<'a> {
    Merged {
        path: &'a Path,
        conflicts: &'a [Conflict],
    },
    /// The git configuration, with `--install` or `--print`.
    SetUp {
        installed: bool,
        commands: &'a [String],
        attributes: &'a Path,
        line: &'a str,
        had_line: bool,
    },
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    if let Some(file) = args.install.as_deref().or(args.print.as_deref()) {
        return set_up(file, args.install.is_some(), app);
    }
    let (Some(base), Some(ours), Some(theirs)) = (&args.base, &args.ours, &args.theirs) else {
        return Err(CommandError::usage_error(
            "three files are needed: the common origin, ours, theirs",
        ));
    };
    let read = |path: &Path| {
        Side::index_file(input::open(app, path)?).map_err(|source| match source.kind() {
            io::ErrorKind::InvalidData => {
                CommandError::invalid_value("file", format!("{} is not UTF-8 text", path.display()))
            }
            _ => CommandError::file_error("read", path, source),
        })
    };
    let (base, our_side, theirs) = (read(base)?, read(ours)?, read(theirs)?);
    let conflicts = replace_file(app, ours, |out| {
        merge::merge_exports(base, our_side, theirs, out)
            .map_err(|source| CommandError::file_error("write", ours, source))
    })?;
    let path = args.path.as_deref().unwrap_or(ours);
    let report = Report::Merged { path, conflicts: &conflicts };
    if app.printer.is_robot() {
        app.printer.emit(&report, |_| {})?;
    }
    for conflict in conflicts.iter().take(50).filter(|_| !app.printer.is_robot()) {
        app.printer.warn(&describe_conflict(path, conflict));
    }
    // Git takes 1 to 127 for a conflict; git's own merge returns 1.
    Ok(if conflicts.is_empty() { Exit::Done } else { Exit::Internal })
}

fn describe_conflict(path: &Path, conflict: &Conflict) -> String {
    let (path, record) = (sanitize::path_line(path), sanitize::one_line(&conflict.record));
    let Some(field) = &conflict.field else {
        return format!("{path}: {record}: one side removed what the other changed");
    };
    let short = |value: &serde_json::Value| {
        sanitize::truncate_to(&sanitize::one_line(&value.to_string()), 40).into_owned()
    };
    let (ours, theirs) = (short(&conflict.ours), short(&conflict.theirs));
    format!("{path}: {record}: both changed {field}: {ours} here, {theirs} there")
}

/// The command by which git calls the driver.
const DRIVER: &str = "el merge-driver %O %A %B %P";

fn set_up(file: &Path, does: bool, app: &App) -> Result<Exit> {
    let git = open_repository()?;
    let root = git.folder();
    let inside = std::path::absolute(file)
        .ok()
        .and_then(|path| path.strip_prefix(root).ok().map(Path::to_owned))
        .unwrap_or_else(|| file.to_owned());
    let pattern = inside.display().to_string();
    if pattern
        .chars()
        .any(|c| c.is_whitespace() || matches!(c, '*' | '?' | '[' | '"' | '\\' | '!' | '#'))
    {
        return Err(CommandError::invalid_value(
            "file",
            format!("'{pattern}' has characters that mean something in .gitattributes"),
        ));
    }
    let attribute = format!("/{} merge=el", pattern.trim_start_matches('/'));
    let attributes = root.join(".gitattributes");
    let before = fs::read_to_string(&attributes).unwrap_or_default();
    let has_attribute = before.lines().any(|line| line.trim() == attribute);
    let config = [("merge.el.name", "el: field by field"), ("merge.el.driver", DRIVER)];
    if does {
        for (key, value) in config {
            git.ask(&["config", key, value]).map_err(git_failure)?;
        }
        if !has_attribute {
            let newline = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            write_whole_file(
                app,
                &attributes,
                format!("{before}{newline}{attribute}\n").as_bytes(),
            )?;
        }
    }
    let commands: Vec<String> =
        config.iter().map(|(key, value)| format!("git config {key} '{value}'")).collect();
    let data = Report::SetUp {
        installed: does,
        commands: &commands,
        attributes: &attributes,
        line: &attribute,
        had_line: has_attribute,
    };
    app.printer.emit_sentence(&data, |page| {
        if does {
            page.push_done("Installed", &format!("the merge driver for {pattern} in this clone"));
        }
        for command in &commands {
            page.push_line(format!("  {command}"));
        }
        let there = if has_attribute { " (was there)" } else { "" };
        page.push_line(format!(
            "  echo '{attribute}' >> {}{there}",
            sanitize::path_line(&attributes)
        ));
        if does {
            let next = "commit .gitattributes; every clone sets its own git config";
            page.push_painted(style::DIM, next);
        }
    })
}

/// Git at the top of the current checkout.
fn open_repository() -> Result<Git> {
    let here = crate::project::current_folder()?;
    Ok(Repository::open_at(&here).map_err(git_failure)?.git().clone())
}

fn git_failure(error: GitError) -> CommandError {
    let hint = error.hint();
    CommandError::config_error("git", error.to_string()).with_hint(hint)
}
