//! A scripted Messages API on loopback: the model behind the real Claude Code client in tests.
//!
//! ```text
//! fake-api --scenario FILE [--port N] [--ready FILE] [--log FILE] [--until-eof]
//! fake-api --scenario FILE [--log FILE] … --exec CMD ARGS…
//! ```
//! - `--port 0` (the default) takes a free port; `--ready FILE` gets the port number once the
//!   server listens.
//! - `--log FILE` gets a JSON object per line for each request, with the answer (the key is cut
//!   out).
//! - `--until-eof` ends the server when stdin closes, so that the server never outlives its test.
//! - `--exec CMD ARGS…` (last) runs CMD with an environment that directs the client to this server,
//!   and exits with CMD's status. In a fresh network namespace (`unshare -n fake-api … --exec el
//!   work`) this also brings `lo` up.
//!
//! The scenario's format is described at the head of `scenario.rs`.

mod exec;
mod http;
mod log;
mod loopback;
mod messages;
mod scenario;
mod server;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use scenario::Scenario;

struct Args {
    scenario: PathBuf,
    port: u16,
    ready: Option<PathBuf>,
    log: Option<PathBuf>,
    until_eof: bool,
    exec: Vec<String>,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            // The last chance to report; with stderr closed there is none.
            let _ = writeln!(std::io::stderr(), "fake-api: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let args = parse(std::env::args().skip(1))?;
    let scenario = Scenario::load(&args.scenario)?;
    let log = log::Log::open(args.log.as_deref())?;
    let listener = loopback::listen(args.port)?;
    let port = listener.local_addr().map_err(|e| format!("no local address: {e}"))?.port();
    let server = Arc::new(server::Server::new(scenario, log));
    std::thread::spawn(move || server::serve(&listener, &server));
    if let Some(ready) = &args.ready {
        announce(ready, port)?;
    }
    if !args.exec.is_empty() {
        return exec::run(&args.exec, port);
    }
    if args.until_eof {
        // An error on stdin counts as the end.
        let _ = std::io::copy(&mut std::io::stdin().lock().take(u64::MAX), &mut std::io::sink());
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        std::thread::park();
    }
}

/// Writes the port by rename, so that a reader never sees half a number.
fn announce(ready: &Path, port: u16) -> Result<(), String> {
    let draft = ready.with_extension("draft");
    std::fs::write(&draft, format!("{port}\n"))
        .and_then(|()| std::fs::rename(&draft, ready))
        .map_err(|e| format!("cannot write {}: {e}", ready.display()))
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Args, String> {
    let mut args = Args {
        scenario: PathBuf::new(),
        port: 0,
        ready: None,
        log: None,
        until_eof: false,
        exec: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--scenario" => args.scenario = value()?.into(),
            "--port" => {
                args.port = value()?.parse().map_err(|_| "--port needs a number".to_owned())?
            }
            "--ready" => args.ready = Some(value()?.into()),
            "--log" => args.log = Some(value()?.into()),
            "--until-eof" => args.until_eof = true,
            "--exec" => {
                args.exec = words.by_ref().collect();
                if args.exec.is_empty() {
                    return Err("--exec needs a command".to_owned());
                }
            }
            other => return Err(format!("unknown argument {other}")),
        }
    }
    if args.scenario.as_os_str().is_empty() {
        return Err("--scenario FILE is needed".to_owned());
    }
    Ok(args)
}
