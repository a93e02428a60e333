use std::ffi::OsString;
use std::io::Read as _;
use std::time::Duration;

use el_agents::notify;
use el_core::ops::{self, Gate};
use el_core::protocol::context::nudge;
use serde_json::json;

use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;

/// What Claude Code calls at its own events
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Send a session back that ends its turn with its atom still in progress
    Stop,
    /// Run the notification command, bounded in time; the supervisor of a run starts this
    Notify {
        /// How long it may take, in milliseconds
        #[arg(long, value_name = "MS")]
        timeout_ms: u64,
        /// The program and its arguments
        #[arg(required = true, last = true)]
        command: Vec<OsString>,
    },
}

/// How often one run is sent back.
const TIMES: i64 = 1;
/// What a hook is told fits many times into this.
const INPUT_MAX: u64 = 1 << 20;

/// A hook never fails a session: whatever goes wrong, it says nothing and exits 0. (Claude Code takes an exit of 2 for "go on".)
pub(super) fn run(command: &Command, app: &App) -> Result<Exit> {
    match command {
        Command::Stop => {
            if let Some(reason) = stop(app) {
                let answer = json!({ "decision": "block", "reason": reason });
                // Nobody reads it any more: then the session is gone.
                let _ = app.printer.write(format!("{answer}\n").as_bytes());
            }
        }
        Command::Notify { timeout_ms, command } => {
            let result = notify::run_bounded(command, Duration::from_millis(*timeout_ms));
            notify::note(command, &result);
        }
    }
    Ok(Exit::Done)
}

fn stop(app: &App) -> Option<String> {
    // Sessions that are no run of ours are never bothered, and cost nothing.
    app.session()?;
    // Read to the end, or the client may find its pipe broken.
    let _ = std::io::stdin().lock().take(INPUT_MAX).read_to_end(&mut Vec::new());
    let mut store = app.writer().ok()?;
    match ops::stop_gate(&mut store, &app.ctx(), TIMES).ok()? {
        Gate::SendBack { atom_id, verify } => Some(nudge(&atom_id, verify.as_deref())),
        Gate::Pass => None,
    }
}
