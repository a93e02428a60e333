//! The effects of the script's steps.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use serde_json::{Map, Value, json};

use crate::agent::{Agent, Flow, Stop};
use crate::events::Cost;
use crate::script::Step;
use crate::{background, question, signals, tool};

/// The longest that `wait-file` waits, and the exit status when the file did not come.
const WAIT_FILE: (Duration, u8) = (Duration::from_secs(120), 98);

/// Terminal escapes of every family: title, clear, colour, cursor, C1, bidirectional marks, bell,
/// backspace.
const CONTROL_CODES: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[0m\u{1b}[1;\
    1H\u{9b}31m\u{1b}Ptmux;x\u{1b}\\\r\u{8}\u{7}\u{202e}flip\u{200b}";

impl Agent {
    pub(crate) fn step(&mut self, step: &Step) -> Flow {
        match step {
            Step::Say(text) => return self.say(text),
            Step::Answer { phase, data } => return self.say(&question::answer(phase, data)),
            Step::AnswerFile { phase, path } => {
                let data = std::fs::read_to_string(path).unwrap_or_else(|e| format!("{path}: {e}"));
                return self.say(&question::answer(phase, &data));
            }
            Step::El(line) => return self.run(line, true),
            Step::Sh(line) => return self.run(line, false),
            Step::Denied(line) => {
                let id = self.call(line)?;
                self.refuse(&id, line);
            }
            Step::Write { path, text, append } => write(path, text, *append),
            Step::Record(path) => self.record(path),
            Step::Sleep(millis) => return wait(|passed| passed >= Duration::from_millis(*millis)),
            Step::WaitFile(path) => {
                wait(|passed| passed >= WAIT_FILE.0 || Path::new(path).exists())?;
                if !Path::new(path).exists() {
                    return Err(Stop::Exit(WAIT_FILE.1));
                }
            }
            Step::Hang => return wait(|_| false),
            Step::Usage { input, output, usd } => {
                self.price = Cost { input: *input, output: *output, usd: *usd };
            }
            Step::Result => self.result(),
            Step::Linger(seconds) => {
                self.result();
                wait(|passed| passed >= Duration::from_secs(*seconds))?;
                return Err(Stop::Exit(0));
            }
            Step::NoResult => self.gives_result = false,
            Step::NoStopHook => self.asks_stop_hook = false,
            Step::Exit(code) => return Err(Stop::Exit(*code)),
            Step::Die(name) => die(name),
            Step::IgnoreSignals => signals::ignore_all(),
            Step::Child(words) => self.child(words),
            _ => return self.speak(step),
        }
        Ok(())
    }

    /// Steps that only print, and the ways in which the API ends a run.
    fn speak(&mut self, step: &Step) -> Flow {
        match step {
            Step::ApiError { status, text } => return Err(self.api_error(*status, text)),
            Step::ApiRetry(status) => self.events.system(json!({
                "type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 10,
                    "retry_delay_ms": 500,
                "error_status": status, "error": error_name(*status),
            })),
            Step::RateLimit { resets_at, kind } => {
                self.rate_limit_event("rejected", *resets_at, kind);
                let text = "You've hit your 5-hour limit · resets soon";
                self.events.api_error(text, "rate_limit", 429);
                return Err(self.end("success", "api_error", Some(429), text));
            }
            Step::RateWarning(resets_at) => {
                self.rate_limit_event("allowed_warning", *resets_at, "five_hour")
            }
            Step::MaxTurns => {
                return Err(self.end(
                    "error_max_turns",
                    "max_turns",
                    None,
                    "Reached maximum number \
                    of turns (1)",
                ));
            }
            Step::MaxBudget => {
                let text = "Reached maximum budget ($1)";
                return Err(self.end("error_max_budget_usd", "budget_exhausted", None, text));
            }
            Step::Spam(bytes) => {
                for _ in 0..bytes / 1000 {
                    self.say(&"spam ".repeat(200))?;
                }
            }
            Step::SpamStderr(bytes) => {
                for _ in 0..bytes / 100 {
                    complain(&"x".repeat(99));
                }
            }
            Step::LongLine(bytes) => return self.say(&"x".repeat(*bytes)),
            Step::BadUtf8 => {
                self.events.bytes(
                    b"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\",\"content\":",
                );
                self.events.bytes(b"[{\"type\":\"text\",\"text\":\"bad \xff\xfe\xc3 bytes\"}]}}\n");
            }
            Step::ControlCodes => return self.say(CONTROL_CODES),
            Step::Raw { text, end } => {
                self.events.bytes(text.as_bytes());
                self.events.bytes(if *end { b"\n" } else { b"" });
            }
            Step::Stderr(text) => complain(text),
            _ => {}
        }
        Ok(())
    }

    /// A call of the Bash tool.
    fn run(&mut self, line: &str, guarded: bool) -> Flow {
        let id = self.call(line)?;
        if guarded && !self.may_run(line) {
            self.refuse(&id, line);
            return Ok(());
        }
        let event = match tool::bash(line, &self.session.id) {
            Ok(Some(output)) if output.code == 0 => {
                self.events.tool_result(&id, &output.text, false)
            }
            Ok(Some(output)) => self.events.tool_result(
                &id,
                &format!("Exit code {}\n{}", output.code, output.text),
                true,
            ),
            Ok(None) => return Err(Stop::Interrupted { in_tool: true }),
            Err(error) => self.events.tool_result(&id, &error.to_string(), true),
        };
        self.session.remember(&event);
        Ok(())
    }

    fn record(&self, path: &str) {
        let env: Map<String, Value> = std::env::vars_os()
            .map(|(k, v)| (k.to_string_lossy().into_owned(), json!(v.to_string_lossy())))
            .collect();
        let record = json!({
            "argv": self.args.words, "cwd": self.session.cwd, "env": env, "prompt": self.prompt,
            "attempt": self.session.attempt(), "resumed": self.session.resumed,
                "session_id": self.session.id,
            "pid": std::process::id(),
        });
        write(path, &format!("{record}\n"), false);
    }

    fn child(&self, words: &[String]) {
        if let Err(error) = background::start(words) {
            complain(&format!("fake-agent: no child: {error}"));
        }
    }

    fn api_error(&mut self, status: u16, text: &str) -> Stop {
        let text =
            if text.is_empty() { format!("API Error: {status} scripted") } else { text.to_owned() };
        self.events.api_error(&text, error_name(status), status);
        self.end("success", "api_error", Some(status), &text)
    }

    fn rate_limit_event(&self, status: &str, resets_at: u64, kind: &str) {
        self.events.system(json!({
            "type": "rate_limit_event",
            "rate_limit_info": {
                "status": status, "resetsAt": resets_at, "rateLimitType": kind,
                    "isUsingOverage": false,
            },
        }));
    }
}

fn error_name(status: u16) -> &'static str {
    match status {
        401 | 403 => "authentication_failed",
        404 => "model_not_found",
        429 => "rate_limit",
        500..=599 => "server_error",
        _ => "unknown",
    }
}

/// Waits until `done` says so about the time that has passed, or until SIGINT.
fn wait(done: impl Fn(Duration) -> bool) -> Flow {
    let start = Instant::now();
    while !done(start.elapsed()) {
        if signals::interrupted() {
            return Err(Stop::Interrupted { in_tool: false });
        }
        std::thread::sleep(tool::TICK);
    }
    Ok(())
}

/// Writes whole files at once, so that a waiting test never reads half a file.
fn write(path: &str, text: &str, append: bool) {
    let done = if append {
        File::options()
            .create(true)
            .append(true)
            .open(path)
            .and_then(|mut f| f.write_all(text.as_bytes()))
    } else {
        let draft = format!("{path}.draft");
        std::fs::write(&draft, text).and_then(|()| std::fs::rename(&draft, path))
    };
    if let Err(error) = done {
        complain(&format!("fake-agent: cannot write {path}: {error}"));
    }
}

fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn die(name: &str) {
    let signal = match name {
        "TERM" => Signal::TERM,
        "HUP" => Signal::HUP,
        "SEGV" => Signal::SEGV,
        "ABRT" => Signal::ABORT,
        _ => Signal::KILL,
    };
    // Fails only for a process of another user.
    let _ = kill_process(getpid(), signal);
}
