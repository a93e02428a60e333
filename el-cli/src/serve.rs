//! `el serve`: the web board of a project, for browsers of the same person on the same machine.
//!
//! One thread accepts connections and speaks HTTP; other threads ask the store
//! ([`board::Board::run_call`]), with an [`App`] for each request, as on the command line. A single
//! place decides what a request may do, before the routes ([`walls`]). A single thread watches the
//! database for all browsers ([`watch`]). The front end is built beforehand and embedded
//! ([`files`]).

use std::io::{BufRead, Read as _};
use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::serve::ServeOptions;
use crate::{App, CommandError, Exit, Result};

mod address;
mod answer;
mod ask_git;
mod board;
mod body;
mod connections;
mod figures;
mod files;
mod in_git;
mod looks;
mod notes;
mod pages;
mod plans;
mod review;
mod routes;
mod sign_in;
mod sign_in_calls;
mod stream;
mod transcript;
mod verbs;
mod views;
mod walls;
mod watch;
mod workers;

use board::Board;

/// The longest line that is read from stdin, in bytes.
const LINE_MAX: u64 = 64 << 10;
/// Threads that ask the store at a time.
const STORE_THREADS: usize = 6;

/// Serves the board until the process is asked to end.
pub(crate) fn serve(app: &App, options: ServeOptions) -> Result<Exit> {
    // A missing, damaged or newer database is reported now.
    drop(app.open_for_reading()?);
    let (name, listeners) = address::listen_on_port(&app.project()?.db, options.port)?;
    let board = Arc::new(Board::new(app, name, options.is_read_only)?);
    watch::start(&board)?;
    ask_git::start(&board)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(STORE_THREADS)
        .build()
        .map_err(|source| internal_error("cannot start the server", source))?;
    runtime
        .block_on(async {
            let routes = routes::all_routes(&board);
            for listener in listeners {
                let listener = tokio::net::TcpListener::from_std(listener)
                    .map_err(|source| internal_error("cannot listen", source))?;
                tokio::spawn(connections::accept_connections(
                    listener,
                    routes.clone(),
                    board.slots.clone(),
                ));
            }
            show_link(app, &board)?;
            if options.opens_browser {
                address::open_browser(app, &board.name.browser_link(&board.sign_in.fresh_code()));
            }
            let mut asks_for_link = read_lines();
            let (mut term, mut int) =
                (on_signal(SignalKind::terminate())?, on_signal(SignalKind::interrupt())?);
            loop {
                tokio::select! {
                    _ = term.recv() => break,
                    _ = int.recv() => break,
                    Some(()) = asks_for_link.recv() => show_link(app, &board)?,
                }
            }
            Ok(())
        })
        .map(|()| {
            // A request that waits for the disk does not hold up the end.
            runtime.shutdown_background();
            Exit::Done
        })
}

/// Prints a link with a fresh code, for one browser.
fn show_link(app: &App, board: &Board) -> Result<()> {
    let code = board.sign_in.fresh_code();
    let (link, plain) = (board.name.browser_link(&code), board.name.numeric_link(&code));
    let told = json!({
        "event": "link", "url": link, "numeric_url": plain,
        "origin": board.name.origin(), "port": board.name.port,
        "seconds": sign_in::CODE_LIFE.as_secs(), "read_only": board.is_read_only,
    });
    app.printer.emit_line(&told, |page| {
        if page.is_quiet() {
            return page.push_line(&link);
        }
        page.push_line(format!("The board of {}: {link}", board.project));
        page.push_line(format!("                or {plain}"));
        page.push_line(
            "The link signs one browser in, within a minute. Enter: a new link. Ctrl-C: the end.",
        );
    })
}

/// Sends a message for each line of stdin: a person presses Enter for a new link.
fn read_lines() -> tokio::sync::mpsc::Receiver<()> {
    let (told, lines) = tokio::sync::mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = std::io::stdin().lock();
        while skip_line(&mut stdin) {
            if told.blocking_send(()).is_err() {
                return;
            }
        }
        // Without the sender, nobody would wait for a line again; the server goes on without.
        std::thread::park();
    });
    lines
}

/// Reads past a line. Returns false at the end of the input, and for a line that never ends, as in
/// `/dev/zero`.
fn skip_line(input: &mut impl BufRead) -> bool {
    input.take(LINE_MAX).skip_until(b'\n').is_ok_and(|read| (1..LINE_MAX).contains(&(read as u64)))
}

fn on_signal(kind: SignalKind) -> Result<tokio::signal::unix::Signal> {
    signal(kind).map_err(|source| internal_error("cannot wait for signals", source))
}

fn internal_error(doing: &str, source: std::io::Error) -> CommandError {
    CommandError::internal_error(doing).with_source(source)
}

/// The addresses of this machine alone.
const LOOPBACK: [SocketAddr; 2] = [
    SocketAddr::V4(std::net::SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0)),
    SocketAddr::V6(std::net::SocketAddrV6::new(std::net::Ipv6Addr::LOCALHOST, 0, 0, 0)),
];

#[cfg(test)]
mod tests {
    use super::skip_line;

    #[test]
    fn a_line_without_an_end_ends_the_input() {
        assert!(!skip_line(&mut std::io::BufReader::new(std::io::repeat(0))));
        let mut typed = &b"\nnew\nlast"[..];
        assert_eq!([(); 4].map(|()| skip_line(&mut typed)), [true, true, true, false]);
    }
}
