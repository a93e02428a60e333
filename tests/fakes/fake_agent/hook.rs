//! `--settings`: permission rules and Stop hooks, read and run as by the client.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::session::Session;

/// The client's time limit for a hook without a timeout.
const DEFAULT_SECONDS: u64 = 60;

#[derive(Debug, Default)]
pub(crate) struct Settings(Value);

impl Settings {
    /// Reads a file, or the argument itself if it is JSON.
    pub(crate) fn load(argument: Option<&str>) -> Result<Self, String> {
        let Some(argument) = argument else { return Ok(Self::default()) };
        let text = if argument.trim_start().starts_with('{') {
            argument.to_owned()
        } else {
            std::fs::read_to_string(argument)
                .map_err(|_| format!("Error: Settings file not found: {argument}"))?
        };
        let value = serde_json::from_str(&text)
            .map_err(|_| "Error: Invalid JSON provided to --settings".to_owned())?;
        Ok(Self(value))
    }

    pub(crate) fn allowed(&self) -> Vec<String> {
        let rules = self.0.pointer("/permissions/allow").and_then(Value::as_array);
        rules.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    }

    /// Runs all Stop hooks. Returns the reason of the first block.
    pub(crate) fn stop(
        &self,
        session: &Session,
        again: bool,
        mode: &str,
        last_text: &str,
    ) -> Option<String> {
        let groups = self.0.pointer("/hooks/Stop").and_then(Value::as_array);
        let hooks = groups
            .into_iter()
            .flatten()
            .filter_map(|g| g.get("hooks"))
            .filter_map(Value::as_array)
            .flatten();
        let input = json!({
            "session_id": session.id, "transcript_path": session.transcript, "cwd": session.cwd,
            "prompt_id": crate::session::uuid(), "permission_mode": mode,
                "effort": {"level": "high"},
            "hook_event_name": "Stop", "stop_hook_active": again,
                "last_assistant_message": last_text,
            "background_tasks": [], "session_crons": [],
        });
        hooks.filter_map(|hook| ask(hook, &input, session)).next()
    }
}

/// A hook that is missing, fails, is late or prints other output does not block. Exit 2 blocks with
/// stderr as the reason.
fn ask(hook: &Value, input: &Value, session: &Session) -> Option<String> {
    let line = hook.get("command")?.as_str()?;
    let seconds = hook.get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_SECONDS);
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("CLAUDE_PROJECT_DIR", &session.cwd)
        .env("CLAUDE_CODE_SESSION_ID", &session.id)
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    // The input fits in a pipe; a hook that does not read does no harm.
    let _ = child.stdin.take()?.write_all(format!("{input}\n").as_bytes());
    let end = Instant::now() + Duration::from_secs(seconds);
    while child.try_wait().ok()?.is_none() {
        if Instant::now() > end {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(crate::tool::TICK);
    }
    let output = child.wait_with_output().ok()?;
    match output.status.code() {
        Some(2) => Some(format!("[{line}]: {}", String::from_utf8_lossy(&output.stderr))),
        Some(0) => {
            let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
            let blocks = answer.get("decision").is_some_and(|d| d == "block");
            blocks.then(|| {
                answer.get("reason").and_then(Value::as_str).unwrap_or_default().to_owned()
            })
        }
        _ => None,
    }
}
