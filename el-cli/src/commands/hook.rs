use std::ffi::OsString;
use std::io::Read as _;
use std::time::Duration;

use el_agents::launch_spec::launched_sandbox;
use el_agents::{land, notify};
use el_core::ops::{self, Gate};
use el_core::protocol::context::nudge_text;
use serde_json::{Value, json};

use super::prime;
use crate::output::sanitize;
use crate::{App, Exit, Result};

/// Hooks that Claude Code calls
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Send back a session that ends its turn while its atom is still in progress
    Stop,
    /// Tell an agent in a sandbox which setting would have let a command succeed
    ToolFailed,
    /// Tell a new session the text of el prime
    SessionStart,
    /// Tell the summary of a compacted conversation the text of el prime
    PreCompact,
    /// End the check of an orchestration whose process was killed. Started by el orchestrate, which
    /// reports on stdin that all is well
    GuardCheck {
        /// The mark of the check's processes
        once: String,
    },
    /// Run the notification command with a time limit. Started by the supervisor of a run
    Notify {
        /// The time limit in milliseconds
        #[arg(long, value_name = "MS")]
        timeout_ms: u64,
        /// The program and its arguments
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
}

impl Command {
    pub(super) fn runs_a_program(&self) -> bool {
        matches!(self, Command::Notify { .. })
    }
}

/// How often a run is sent back to work.
const TIMES: i64 = 1;
/// The largest input that is read, many times the size of a real event.
const INPUT_MAX: u64 = 1 << 20;
/// The maximum number of background tasks that are named, and the columns for each.
const TASKS: usize = 3;
const DESCRIPTION: usize = 80;

/// Runs a hook. A hook never fails a session: after any error the hook prints nothing and exits 0.
/// (Claude Code takes exit code 2 for "go on".)
pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Stop => {
            if let Some(reason) = stop_message(app) {
                let answer = json!({ "decision": "block", "reason": reason });
                // If the pipe is closed, the session is gone.
                let _ = app.printer.write_bytes(format!("{answer}\n").as_bytes());
            }
        }
        Command::ToolFailed => {
            if let Some(hint) = sandbox_hint(app) {
                let answer = json!({ "hookSpecificOutput": {
                    "hookEventName": "PostToolUseFailure", "additionalContext": hint,
                } });
                let _ = app.printer.write_bytes(format!("{answer}\n").as_bytes());
            }
        }
        Command::SessionStart | Command::PreCompact => {
            drop(read_event());
            // Without a readable tracker, the hook stays silent.
            let _ = prime::print_primer(app);
        }
        Command::GuardCheck { once } => land::check::run_guard(once),
        Command::Notify { timeout_ms, command } => {
            let result = notify::run_bounded(command, Duration::from_millis(*timeout_ms));
            notify::log_result(command, &result);
        }
    }
    Ok(Exit::Done)
}

/// The client's description of the event. Read to the end, since the client may otherwise meet a
/// broken pipe. Anything but an object counts as empty.
fn read_event() -> Value {
    let mut bytes = Vec::new();
    let _ = std::io::stdin().lock().take(INPUT_MAX).read_to_end(&mut bytes);
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// Explains the sandbox's part in the failure of a command.
fn sandbox_hint(app: &App) -> Option<String> {
    let event = read_event();
    let said = match &event["error"] {
        Value::String(said) => said.clone(),
        other => other.to_string(),
    };
    let run = &app.session()?.run;
    let (sandbox, _) = launched_sandbox(&app.project().ok()?.db, run)?;
    sandbox.hint(&std::env::vars_os().collect::<Vec<_>>(), &said)
}

fn stop_message(app: &App) -> Option<String> {
    let input = read_event();
    if app.session().is_none() {
        return stop_other(app, &input);
    }
    let mut store = app.open_for_writing().ok()?;
    match ops::stop_gate(&mut store, &app.ctx(), TIMES).ok()? {
        Gate::SendBack { atom_id, verify } => {
            Some(nudge_text(&atom_id, verify.as_deref()) + &still_running(&input))
        }
        Gate::Pass => None,
    }
}

/// The answer to a session that is no run of `el work`. The session is sent back only if the
/// session itself claimed an atom and did not end the atom.
fn stop_other(app: &App, input: &Value) -> Option<String> {
    if input["stop_hook_active"] == true {
        return None;
    }
    let conversation = input["session_id"].as_str().filter(|id| !id.is_empty())?;
    if app.foreign_tracker().ok()?.is_some() {
        return None;
    }
    // Most sessions have claimed no atom, and cause no write.
    if !ops::has_unfinished(&app.open_for_reading().ok()?, conversation).ok()? {
        return None;
    }
    let found = ops::take_unfinished(&mut app.open_for_writing().ok()?, &app.ctx(), conversation)
        .ok()??;
    let (id, title) = (&found.id, sanitize::one_line(&found.title));
    Some(format!(
        "You have claimed {id} ({title}), and it is still in progress. If it is done: el close \
         {id} --reason \"what was done\". If it cannot be done now: el update {id} --status \
         deferred --reason \"why\". To give it back: el release {id}. If a person has to answer \
         something first, say so and stop.{}",
        still_running(input)
    ))
}

/// The agent's background work, in words. The client would end such work with the session.
fn still_running(input: &Value) -> String {
    let tasks: Vec<String> = input["background_tasks"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|task| task["status"] == "running")
        .filter_map(|task| task["description"].as_str().or(task["command"].as_str()))
        .map(|text| sanitize::truncate_to(&sanitize::one_line(text), DESCRIPTION).into_owned())
        .take(TASKS)
        .collect();
    if tasks.is_empty() {
        String::new()
    } else {
        format!("\nStill running in the background, wait for it first: {}", tasks.join("; "))
    }
}
