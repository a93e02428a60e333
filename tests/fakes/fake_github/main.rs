//! A scripted GitHub, or GitLab, on loopback, for the real `gh`, `glab` and `git`.
//!
//! ```text
//! fake-github --root FOLDER [--gitlab] [--ready FILE] [--log FILE] [--until-eof]
//! ```
//! - `--root FOLDER` gets the bare repositories; `acme/shop` is there from the start.
//! - `--gitlab` has it play GitLab for the real `glab`: the same people, repositories and orders.
//! - `--ready FILE` gets the port number once the server listens.
//! - `--log FILE` gets a JSON object per line for each call.
//! - `--until-eof` ends the server when stdin closes, so that the server never outlives its test.
//!
//! It is reached as a proxy: with `GH_HOST=github.localhost` and `HTTP_PROXY=http://127.0.0.1:PORT`
//! the real `gh` speaks plain http to `api.github.localhost`, and git, with `http_proxy`, clones
//! `http://github.localhost/acme/shop.git`. GitLab is all at `http://gitlab.localhost`. A test acts
//! for people there by `POST /_control`: see the head of `control.rs`.

mod answer;
mod backend;
mod control;
mod git;
mod gitlab;
mod gitlab_view;
#[path = "../fake_api/http.rs"]
#[expect(dead_code, reason = "the scripted Messages API also streams")]
mod http;
#[path = "../fake_api/log.rs"]
mod log;
mod mutations;
mod query;
mod rest;
mod rules;
mod search;
mod server;
mod state;
mod view;
mod zip;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // The last chance to report; with stderr closed there is none.
            let _ = writeln!(std::io::stderr(), "fake-github: {message}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<(), String> {
    let (mut root, mut ready, mut log) = (None, None, None);
    let (mut until_eof, mut is_gitlab) = (false, false);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().map(PathBuf::from).ok_or(format!("{word} needs a value"));
        match word.as_str() {
            "--root" => root = Some(value()?),
            "--ready" => ready = Some(value()?),
            "--log" => log = Some(value()?),
            "--until-eof" => until_eof = true,
            "--gitlab" => is_gitlab = true,
            other => return Err(format!("unknown argument {other}")),
        }
    }
    let root = root.ok_or("--root FOLDER is needed")?;
    let state = state::State::new(&root, is_gitlab)?;
    let server = server::Server::new(state, log::Log::open(log.as_deref())?);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .map_err(|error| format!("cannot listen: {error}"))?;
    let port = listener.local_addr().map_err(|error| format!("no local address: {error}"))?.port();
    std::thread::spawn(move || server::serve(&listener, &Arc::new(server)));
    if let Some(ready) = &ready {
        announce(ready, port)?;
    }
    if until_eof {
        // An error on stdin counts as the end.
        let _ = std::io::copy(&mut std::io::stdin().lock().take(u64::MAX), &mut std::io::sink());
        return Ok(());
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
        .map_err(|error| format!("cannot write {}: {error}", ready.display()))
}
