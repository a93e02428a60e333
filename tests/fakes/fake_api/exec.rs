//! `--exec`: a command whose Claude Code client talks to this server alone.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

/// Variables that direct the client to this server, without update checks or accounts.
const CLIENT: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "sk-ant-api03-dummy-dummy-dummy-fake"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
];

/// Runs the command to the end. Returns its status (128 + n for signal n, as a shell does).
///
/// A value that the caller has set is kept, except the address of the API.
pub(crate) fn run(words: &[String], port: u16) -> Result<ExitCode, String> {
    let (program, arguments) = words.split_first().ok_or("--exec needs a command")?;
    let mut command = Command::new(program);
    command.args(arguments).env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"));
    for (key, value) in CLIENT {
        if std::env::var_os(key).is_none() {
            command.env(key, value);
        }
    }
    let status = command.status().map_err(|e| format!("cannot run {program}: {e}"))?;
    let code = status.code().or_else(|| status.signal().map(|n| 128 + n)).unwrap_or(1);
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}
