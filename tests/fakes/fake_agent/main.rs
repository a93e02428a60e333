//! A scripted agent that plays `claude -p`: the same flags, the same events, the same ways to end,
//! and no model.
//!
//! The script stands in the prompt, in lines with `script:` (usually from the atom's description);
//! `script.rs` describes the language. Without a script the agent says hello, closes its atom and
//! ends. Modelled on measurements of the client 2.1.332; older clients differ, so events should be
//! read tolerantly.
//!
//! Without `-p`, on a terminal, the agent shows a screen like the client's and waits for its
//! prompt: see `tui.rs`.
//!
//! Two internal modes: `--in-session CMD ARGS…` runs a command in a session of its own, as the Bash
//! tool does, and `--background …` is a process that a script leaves behind.

mod agent;
mod args;
mod background;
mod calls;
mod events;
mod hook;
mod question;
mod script;
mod session;
mod signals;
mod steps;
mod tool;
mod tui;

use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;

use args::{Args, Mode};

const VERSION: &str = "2.1.332";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("--version" | "-v") => {
            let _ = writeln!(std::io::stdout(), "{VERSION} (Claude Code)");
            return ExitCode::SUCCESS;
        }
        Some("--in-session") => return tool::in_session(&words[1..]),
        Some("--background") => return background::run(&words[1..]),
        _ => {}
    }
    match run(&words) {
        Ok(code) => ExitCode::from(code),
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<u8, String> {
    signals::catch_interrupt();
    let args = Args::parse(words)?;
    let settings = hook::Settings::load(args.settings.as_deref())?;
    if args.bypasses_permissions()
        && rustix::process::geteuid().is_root()
        && std::env::var_os("IS_SANDBOX").is_none()
    {
        return Err("--dangerously-skip-permissions cannot be used with root/sudo privileges for \
            security reasons"
            .to_owned());
    }
    let (prompt, tui) =
        if args.mode == Mode::Screen && args.prompt.is_none() && std::io::stdin().is_terminal() {
            let mut tui = tui::Tui::open()?;
            let Some(prompt) = tui.submission() else { return Ok(0) };
            (prompt, Some(tui))
        } else {
            (prompt(&args)?, None)
        };
    calls::serve();
    let session = session::Session::open(&args, &prompt)?;
    let plan = script::Plan::parse(session.script_text(), session.attempt())?;
    Ok(agent::Agent::new(args, settings, session, prompt, tui).play(&plan))
}

/// The argument, then stdin, joined as by the client. The screen mode does not read stdin at the
/// start.
fn prompt(args: &Args) -> Result<String, String> {
    let mut prompt = args.prompt.clone().unwrap_or_default();
    if args.mode != Mode::Screen && !std::io::stdin().is_terminal() {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|e| format!("cannot read stdin: {e}"))?;
        if !prompt.is_empty() && !bytes.is_empty() {
            prompt.push('\n');
        }
        prompt.push_str(&String::from_utf8_lossy(&bytes));
    }
    if args.mode != Mode::Screen && prompt.trim().is_empty() {
        return Err("Error: Input must be provided either through stdin or as a prompt argument \
            when using --print"
            .to_owned());
    }
    Ok(prompt)
}
