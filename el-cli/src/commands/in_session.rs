//! The permissions of an agent's session, in a single table, since `Bash(el *)` lets an agent call
//! every command. Commands that start programs, name programs for others, or decide how agents run
//! are for people. Files may only be written into the agent's folder.
//!
//! The tracker (`el_core::ops`) decides which atoms a session may change, also for the tools of `el
//! mcp`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use el_agents::requirements;

use self::SessionPermission::{Do, Not, Within, Write};
use super::{Command, config, mailbox, phase};
use crate::output::sanitize;
use crate::project::linked_worktree;
use crate::{App, CommandError, Result};

/// The permission of a session for a command with its arguments.
#[derive(Debug, PartialEq, Eq)]
enum SessionPermission<'a> {
    Do,
    /// Allowed if the written file or folder is in the agent's folder.
    Write(&'a Path),
    /// Allowed if the delegated work stays in this folder of the project.
    Within(Option<&'a Path>),
    /// Never allowed; the text names the effect that is for people only.
    Not(&'static str),
}

/// The refusal of `el edit` in a session, where the caller would name the editor's program.
const EDITOR: &str = "an editor is started for a person; el update changes an atom without one";

impl Command {
    /// Lists every command, so that a new command does not compile before its permission is
    /// decided.
    fn in_session(&self) -> SessionPermission<'_> {
        match self {
            Command::Edit(_) => Not(EDITOR),
            Command::Create(args) if args.edit => Not(EDITOR),
            // The program that `el hook notify` runs is started by a supervisor, outside of
            // sessions. The client calls the other hooks.
            Command::Hook(command) if command.runs_a_program() => Not("it runs a program"),
            Command::Init(_) => Not("a tracker's configuration names programs that are started"),
            Command::Config(
                config::Command::Set(_) | config::Command::Unset(_) | config::Command::Edit(_),
            ) => Not("the settings say which programs are started, and what holds for agents"),
            Command::Trust(args) if args.show => Do,
            Command::Trust(_) => Not("trust is a person's word"),
            Command::Serve(_) => {
                Not("the board decides in a person's name, about agents' work too")
            }
            Command::Service(command) if command.only_looks() => Do,
            Command::Service(_) | Command::Setup(_) => Not("it changes what other programs start"),
            Command::Work(args) if args.only_looks() => Do,
            Command::Work(_) => Not("workers are started and stopped from outside of sessions"),
            Command::Run(args) if args.verify.is_some() => {
                Not("--verify names a command to be run; the setting 'verify' is a check that a \
                 person chose")
            }
            Command::Run(args) => Within(args.workdir.as_deref()),
            Command::Orchestrate(args) if args.only_looks() => Do,
            Command::Orchestrate(_) => {
                Not("plans are begun and driven on from outside of sessions")
            }
            Command::Phase(phase::Command::Set(_)) => Not("an agent's answer is what it says"),
            Command::Land(_) => Not("what is brought in is a person's to decide"),
            Command::Pr(args) if args.only_looks() => Do,
            Command::Pr(_) => Not("what leaves this machine is a person's to decide"),
            Command::Sync(_) => Not(
                "it reaches another tracker in a person's name, and brings in what others wrote",
            ),
            Command::Worktrees(args) if args.is_removal() => {
                Not("other agents may be at work there")
            }
            Command::Top(_) => Not("the board is where people decide"),
            Command::Attach(_) => {
                Not("a session's screen is for people; el logs shows what an agent says")
            }
            // The command itself refuses callers other than the run's supervisor.
            Command::Supervise(args) if args.workplace => Do,
            Command::Supervise(_) => Not("el work starts it"),
            Command::Mailbox(mailbox::Command::Sync(_)) => Not("it decides in the name of others"),
            Command::Discard(args) if args.is_prune() => Not("what is pruned cannot be restored"),
            Command::Db(_) => Not("the database is a person's"),
            Command::Backup(_) | Command::Restore(_) | Command::Undo(_) => {
                Not("backups, and what is taken back, are a person's")
            }
            Command::Doctor(args) if args.fix => Not("el doctor without --fix says what is wrong"),
            Command::MergeDriver(args) if args.install.is_some() => {
                Not("it names a program for git to start")
            }
            Command::Man(args) if args.dir.is_some() => {
                Not("manual pages are installed by a person")
            }
            Command::Export(args) => writes_to(args.output.as_deref()),
            Command::Artifacts(args) => writes_to(args.output_file()),
            Command::MergeDriver(args) => writes_to(args.ours.as_deref()),
            Command::Config(
                config::Command::Show(_)
                | config::Command::Get(_)
                | config::Command::Path(_)
                | config::Command::Agents,
            )
            | Command::Phase(phase::Command::Show(_))
            | Command::Mailbox(mailbox::Command::Post(_))
            | Command::Create(_)
            | Command::List(_)
            | Command::Show(_)
            | Command::Ready(_)
            | Command::Next(_)
            | Command::Update(_)
            | Command::Close(_)
            | Command::Reopen(_)
            | Command::Submit(_)
            | Command::Review(_)
            | Command::Approve(_)
            | Command::Reject(_)
            | Command::Comment(_)
            | Command::Dep(_)
            | Command::Claim(_)
            | Command::Release(_)
            | Command::Discard(_)
            | Command::Search(_)
            | Command::History(_)
            | Command::Stats(_)
            | Command::Status(_)
            | Command::Tasks(_)
            | Command::Queue(_)
            | Command::Runs(_)
            | Command::Workers(_)
            | Command::Worktrees(_)
            | Command::Logs(_)
            | Command::Why(_)
            | Command::CheckText(_)
            | Command::Cancel(_)
            | Command::Retry(_)
            | Command::Chat(_)
            | Command::Inbox(_)
            | Command::Import(_)
            | Command::Completions(_)
            | Command::Prime(_)
            | Command::Schema(_)
            | Command::Diff(_)
            | Command::Doctor(_)
            | Command::Hook(_)
            | Command::Man(_)
            | Command::Mcp(_)
            | Command::Help(_) => Do,
        }
    }

    /// Refuses a command that the session may not run. Outside of a session, every command is
    /// allowed.
    pub(super) fn check_session(&self, app: &App) -> Result<()> {
        if app.session().is_none() {
            return Ok(());
        }
        match self.in_session() {
            Do => Ok(()),
            Not(why) => Err(refusal_error(format!("an agent's session may not do this: {why}"))
                .with_hint(
                    "leave it to a person: say what is needed in a comment (el comment add), or \
                     put the work off",
                )),
            Write(path) => may_write(path, app),
            Within(folder) => may_work_in(app, folder),
        }
    }
}

fn writes_to(path: Option<&Path>) -> SessionPermission<'_> {
    path.filter(|path| *path != Path::new("-")).map_or(Do, Write)
}

fn refusal_error(message: String) -> CommandError {
    CommandError::refused("in_session", message)
}

/// The names of git's own copies, which git gives to a merge driver.
const GIT_MERGES: &[u8] = b".merge_file_";

/// Allows files only below the folder of the run, and no hidden files there: hidden files are the
/// tracker, git's hooks, and other programs' settings.
fn may_write(path: &Path, app: &App) -> Result<()> {
    let folder = session_folder(app)?;
    let is_inside = resolve_path(path)
        .as_deref()
        .and_then(|path| path.strip_prefix(&folder).ok())
        .is_some_and(|below| {
            let is_open = |name: &std::ffi::OsStr| {
                !name.as_encoded_bytes().starts_with(b".")
                    || name.as_encoded_bytes().starts_with(GIT_MERGES)
            };
            below.components().all(|part| matches!(part, Component::Normal(name) if is_open(name)))
        });
    if is_inside {
        return Ok(());
    }
    Err(refusal_error(format!(
        "an agent's session writes no file at {}",
        sanitize::path_line(path)
    ))
    .with_path(path)
    .with_hint(format!(
        "write below {}, and nothing hidden; without the option it is printed",
        sanitize::path_line(&folder)
    )))
}

/// Allows delegation only into the session's own project: the tracker's folder, a linked worktree,
/// or the session's own folder.
pub(super) fn may_work_in(app: &App, folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder.filter(|_| app.session().is_some()) else { return Ok(()) };
    // A later check reports a missing folder.
    let Ok(wanted) = fs::canonicalize(folder) else { return Ok(()) };
    let root = fs::canonicalize(&app.project()?.root)
        .unwrap_or_else(|_| app.project().map(|p| p.root.clone()).unwrap_or_default());
    let is_inside = wanted.starts_with(&root)
        || linked_worktree(&wanted, &root).is_some()
        || wanted.starts_with(session_folder(app)?);
    if is_inside && requirements::ensure_task_folder(&wanted, &app.project()?.db).is_ok() {
        return Ok(());
    }
    let why =
        if is_inside { "belongs to the tracker or to git" } else { "is outside of its project" };
    Err(refusal_error(format!(
        "an agent's session hands no work over into {}, which {why}",
        sanitize::path_line(folder)
    ))
    .with_path(folder)
    .with_hint("leave the folder out, or name one of this project"))
}

/// The folder of this session's run, with links resolved.
fn session_folder(app: &App) -> Result<PathBuf> {
    app.caller().and_then(|session| session.workplace()).ok_or_else(|| {
        refusal_error(
            "this is an agent's session, and the run that it belongs to cannot be found".to_owned(),
        )
        .with_hint("without the option it is printed")
    })
}

/// The path that an open would reach: links are followed, and a missing file is placed in its
/// folder.
fn resolve_path(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return Some(found);
    }
    // A link that leads nowhere yet is written through all the same.
    if fs::symlink_metadata(path).is_ok() {
        return None;
    }
    let whole = std::path::absolute(path).ok()?;
    let name = whole.file_name()?.to_owned();
    Some(fs::canonicalize(whole.parent()?).ok()?.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Parsed, parse_command_line};

    fn may(line: &str) -> String {
        let words: Vec<std::ffi::OsString> = line.split_whitespace().map(Into::into).collect();
        let Parsed::Run(cli) = parse_command_line(&words) else { panic!("{line}") };
        match cli.command.unwrap().in_session() {
            SessionPermission::Not(_) => "not".to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_starts_or_configures_something_is_not_an_agents() {
        for line in [
            "el init",
            "el config set notify x",
            "el config set review false --user",
            "el config unset verify",
            "el serve",
            "el top",
            "el serve --read-only",
            "el service install",
            "el service uninstall",
            "el setup claude",
            "el setup agents",
            "el trust",
            "el trust --yes",
            "el trust --revoke",
            "el man --dir pages",
            "el work",
            "el work --once",
            "el work --stop",
            "el run x --verify make",
            "el attach q5",
            "el edit q5",
            "el create --edit",
            "el config edit",
            "el supervise run-1",
            "el mailbox sync",
            "el land q5",
            "el pr q5",
            "el pr --all --dry-run",
            "el pr watch --once",
            "el sync github",
            "el sync github --dry-run",
            "el sync github --push q5",
            "el discard prune",
            "el db",
            "el db move --to x",
            "el db dump x",
            "el db grant member x",
            "el doctor --fix",
            "el backup",
            "el backup now",
            "el restore",
            "el undo",
            "el undo --list",
            "el restore 1 --dry-run",
            "el merge-driver --install issues.jsonl",
            "el hook notify --timeout-ms 1 -- sh",
        ] {
            assert_eq!(may(line), "not", "{line}");
        }
    }

    #[test]
    fn what_tells_or_files_is() {
        for line in [
            "el work --dry-run",
            "el config show",
            "el trust --show",
            "el doctor",
            "el pr list",
            "el discard q5",
            "el export",
            "el artifacts get q5 1 -o -",
            "el hook stop",
            "el mcp",
            "el close q5",
            "el import x.jsonl",
        ] {
            assert_eq!(may(line), "Do", "{line}");
        }
        assert_eq!(may("el export -o a/b"), "Write(\"a/b\")");
        assert_eq!(may("el artifacts get q5 1 -o x"), "Write(\"x\")");
        assert_eq!(may("el merge-driver a b c"), "Write(\"b\")");
        assert_eq!(may("el run x --workdir /y"), "Within(Some(\"/y\"))");
    }
}
