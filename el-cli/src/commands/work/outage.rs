//! A server that does not answer when a worker starts is waited for, as one that answers no more.

use std::thread;
use std::time::{Duration, Instant};

use el_core::Durability;
use serde_json::json;

use crate::{App, CommandError, Result};

/// The pause before the server is asked again: the first, and the longest.
const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(5);
/// How long a worker that is to come to an end by itself waits.
const LIMIT: Duration = Duration::from_secs(10 * 60);

/// Waits until the tracker's server answers.
pub(super) fn wait_for_server(app: &App, is_bounded: bool) -> Result<()> {
    let project = app.project()?;
    if project.server.is_none() {
        return Ok(());
    }
    let (began, mut pause) = (Instant::now(), SHORTEST);
    let mut has_told = false;
    loop {
        let error = match project.open_store(Durability::Normal) {
            Err(error) if is_away(&error) => error,
            // Other faults are reported by the code that needs the tracker.
            _ if has_told => return tell(app, "the server answers again"),
            _ => return Ok(()),
        };
        if is_bounded && began.elapsed() > LIMIT {
            return Err(error);
        }
        if !has_told {
            has_told = true;
            tell(app, &format!("waiting for the server: {error}"))?;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST);
    }
}

fn is_away(error: &CommandError) -> bool {
    ["server_unreachable", "server_timeout", "server_overloaded"].contains(&error.code())
}

fn tell(app: &App, message: &str) -> Result<()> {
    if app.printer.is_robot() {
        let line = json!({ "at": app.now(), "event": "warning", "message": message });
        return app.printer.json_line(&line);
    }
    app.printer.warn(message);
    Ok(())
}
