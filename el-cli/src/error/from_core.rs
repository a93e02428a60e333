//! Maps failures of `el-core` to errors of the command line.

use el_core::Error;
use el_core::model::VerifyStatus;
use el_core::text::last_lines;
use serde_json::json;

use super::CommandError;
use crate::Exit;

impl From<Error> for CommandError {
    fn from(error: Error) -> CommandError {
        let exit = exit_of(&error);
        let built = CommandError::new(exit, error.code(), error.to_string())
            .with_retryable(error.is_retryable());
        let built = match &error {
            Error::Invalid { field, .. } => built.with_detail("field", *field),
            Error::NotFound { what, id } => built
                .with_detail("what", *what)
                .with_detail("id", id.as_str())
                .with_hint(not_found_hint(what)),
            Error::Ambiguous { id, candidates } => built
                .with_detail("id", id.as_str())
                .with_detail(
                    "candidates",
                    candidates
                        .iter()
                        .map(|(id, title)| json!({"id": id, "title": title}))
                        .collect::<Vec<_>>(),
                )
                .with_listing(candidates.iter().map(|(id, title)| format!("{id}  {title}")))
                .with_hint("type more characters of the id"),
            Error::Conflict { code, .. } => built.with_hints(conflict_hint(code)),
            Error::Moved { .. } => built
                .with_hint("EL_DATABASE_URL or database_url names a server, --db or EL_DB a file")
                .with_hint("a move that is not finished goes on by the same el db move"),
            Error::StaleRun { run, why } => {
                built.with_detail("run", run.as_str()).with_detail("why", why.as_str()).with_hint(
                    "another attempt may already be working on this atom: stop working on it, and \
                     leave what you found in your final message",
                )
            }
            Error::Unverified { atom, verify } => built
                .with_detail("atom_id", atom.as_str())
                .with_detail("verify", json!(verify))
                .with_listing(
                    last_lines(verify.output.as_deref().unwrap_or_default(), OUTPUT_LINES)
                        .map(str::to_owned),
                )
                .with_hint(match verify.status {
                    VerifyStatus::Pending | VerifyStatus::Passed => {
                        "el close runs the check, and closes the work if it passes"
                    }
                    _ => "put right what the check says, then run el close again",
                }),
            Error::Report { problems } => built
                .with_detail("fields", json!(problems))
                .with_listing(problems.iter().map(|p| format!("{}: {}", p.field, p.message)))
                .with_hint("el submit ATOM --template prints a report to fill in"),
            Error::Paused { until, reason } => {
                built.with_detail("until", json!(until)).with_detail("reason", reason.as_str())
            }
            Error::NoDatabase { path } => {
                built.with_path(path).with_hint("el init makes one in the current folder")
            }
            Error::NotADatabase { path, .. } => built
                .with_path(path)
                .with_hint("restore it from a backup, or name another database with --db"),
            Error::NewerDatabase { path, found, known } => built
                .with_path(path)
                .with_detail("found", *found)
                .with_detail("known", *known)
                .with_hint("install a newer el; this one changes nothing in that database"),
            Error::Busy { waited_s, stopped } => built
                .with_detail("waited_s", *waited_s)
                .with_detail("stopped", *stopped)
                .with_hint(match stopped {
                    Some(pid) => format!(
                        "process {pid} is stopped and has the database open: kill -CONT {pid} lets \
                         it go on"
                    ),
                    None => "try again; el doctor shows who holds the database".to_owned(),
                }),
            Error::ReadOnly { .. } => built.with_hint(
                "make the folder of the database writable for this user, or name another \
                 database with --db",
            ),
            Error::Damaged { .. } => built
                .with_hint(
                    "copy the folder .eluent away before anything else, its -wal and -shm files \
                     too",
                )
                .with_hint(
                    "then restore a backup, or save what can be read: sqlite3 copy/el.db \
                     .recover | sqlite3 saved.db",
                ),
            Error::Disk { .. } => built
                .with_hint("make room on the disk that holds .eluent (df -h .), then try again"),
            Error::Corrupt { table, .. } => {
                built.with_detail("table", *table).with_hint("el doctor lists what is damaged")
            }
            Error::Server { fault, .. } => built.with_hint(fault.hint()),
            Error::Io { path, .. } => built.with_path(path),
            _ => built,
        };
        // Display never includes the source, so the chain below the error is kept for the causes.
        match error {
            Error::Sqlite { source, .. }
            | Error::Damaged { source, .. }
            | Error::Disk { source, .. }
            | Error::ReadOnly { source } => built.with_source(source),
            Error::Io { source, .. } => built.with_source(source),
            _ => built,
        }
    }
}

/// Enough of a check's output for a person or an agent to go on with; the whole is among the
/// details.
const OUTPUT_LINES: usize = 40;

/// Where to look for a thing of this kind.
fn not_found_hint(what: &str) -> &'static str {
    match what {
        "run" => "el runs lists the runs",
        "role" => "CREATE ROLE name LOGIN makes one; psql and createuser do",
        "artifact" => "el artifacts show ATOM lists what was handed back",
        "step" => "el undo --list shows your steps",
        "bond" => "el dep list ATOM shows the bonds of an atom",
        "channel" => "el chat list shows the channels; el chat post begins one",
        _ => "el list --all shows every atom; a beginning of the short id is enough",
    }
}

fn conflict_hint(code: &str) -> Option<&'static str> {
    Some(match code {
        "not_in_review" => "el review lists what waits",
        "no_run" => "el why ATOM says what it waits for; el work takes what is ready",
        "target_in_use" => "name a file that is not there yet, or a database or schema of its own",
        "runs_live" => {
            "el work --stop ends workers and runs cleanly; el work settles those of a worker that \
             is gone"
        }
        "copy_differs" => "el doctor says what is wrong with the tracker; --fix counts anew",
        _ => return None,
    })
}

fn exit_of(error: &Error) -> Exit {
    match error {
        Error::Invalid { .. } | Error::Report { .. } => Exit::Usage,
        Error::NotFound { .. } | Error::NoDatabase { .. } => Exit::NotFound,
        Error::Ambiguous { .. } | Error::Conflict { .. } => Exit::Conflict,
        Error::StaleRun { .. } => Exit::StaleRun,
        Error::Server { fault: el_core::ServerFault::TimedOut, .. } => Exit::TimedOut,
        Error::NewerDatabase { .. } | Error::Server { .. } | Error::Moved { .. } => {
            Exit::Configuration
        }
        Error::Busy { .. } => Exit::TimedOut,
        Error::Refused(_) | Error::Unverified { .. } => Exit::Refused,
        Error::Paused { .. } => Exit::Paused,
        _ => Exit::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ambiguous_id_lists_its_candidates_for_people_and_programs() {
        let error = CommandError::from(Error::Ambiguous {
            id: "q5".into(),
            candidates: vec![("app-q5e6".into(), "One".into()), ("app-q5zz".into(), "Two".into())],
        });
        assert_eq!(error.exit(), Exit::Conflict);
        assert_eq!(error.listed_items().len(), 2);
        assert_eq!(error.details()["candidates"][1]["id"], "app-q5zz");
    }

    #[test]
    fn a_busy_database_is_worth_another_try() {
        let error = CommandError::from(Error::Busy { waited_s: 30, stopped: None });
        assert!(error.is_retryable());
        assert_eq!(error.exit(), Exit::TimedOut);
    }
}
