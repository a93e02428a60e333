//! The address of the board: the project's own port, and the names that a browser may use.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use el_agents::tmux::socket_name;

use super::LOOPBACK;
use crate::{App, CommandError, Result};

/// The projects' ports, so that a bookmark stays true.
const FIRST_PORT: u16 = 7300;
const PORTS: u64 = 600;
/// The ports that are tried when the project's own is taken.
const TRIES: u16 = 10;

/// The names of the board. Requests for other names are refused.
#[derive(Debug, Clone)]
pub(super) struct Name {
    /// `el-<hash>.localhost`: no page of another program on this machine shares its cookies.
    own: String,
    pub(super) port: u16,
}

impl Name {
    /// The value of `Host` for each name.
    pub(super) fn host_names(&self) -> [String; 4] {
        [&self.own, "localhost", "127.0.0.1", "[::1]"].map(|name| format!("{name}:{}", self.port))
    }

    /// Returns true if a request for this `Host` is meant for the board.
    pub(super) fn is_host(&self, host: &[u8]) -> bool {
        self.host_names().iter().any(|ours| host.eq_ignore_ascii_case(ours.as_bytes()))
    }

    pub(super) fn origin(&self) -> String {
        format!("http://{}:{}", self.own, self.port)
    }

    /// The link for a browser. The code is in the fragment, which is sent to nobody.
    pub(super) fn browser_link(&self, code: &str) -> String {
        format!("{}/#code={code}", self.origin())
    }

    /// The link for a browser that does not know `.localhost`.
    pub(super) fn numeric_link(&self, code: &str) -> String {
        format!("http://127.0.0.1:{}/#code={code}", self.port)
    }

    /// The name of the cookie. Browsers keep cookies by host, not by port.
    pub(super) fn cookie_name(&self) -> String {
        format!("__Host-{}-{}", self.own.trim_end_matches(".localhost"), self.port)
    }
}

/// Listens on loopback, on the requested port, or else on the project's.
pub(super) fn listen_on_port(
    database: &Path,
    port: Option<u16>,
) -> Result<(Name, Vec<TcpListener>)> {
    let id = socket_name(database);
    let hash = u64::from_str_radix(id.trim_start_matches("el-"), 16).unwrap_or_default();
    let own = FIRST_PORT + u16::try_from(hash % PORTS).unwrap_or_default();
    let wanted = match port {
        Some(port) => port..=port,
        None => own..=own + TRIES,
    };
    let mut last = io::Error::from(io::ErrorKind::AddrInUse);
    for port in wanted.clone() {
        match bind_loopback(port) {
            Ok(listeners) => {
                let port = listeners[0].local_addr().map_or(port, |address| address.port());
                return Ok((Name { own: format!("{id}.localhost"), port }, listeners));
            }
            Err(error) => last = error,
        }
    }
    let error = CommandError::conflict(
        "port_in_use",
        format!("cannot listen on port {} of this machine", wanted.start()),
    );
    Err(error.with_source(last).with_hint("el serve --port 0 takes a free one"))
}

fn bind_loopback(port: u16) -> io::Result<Vec<TcpListener>> {
    let [four, mut six] = LOOPBACK;
    let mut first = four;
    first.set_port(port);
    let first = TcpListener::bind(first)?;
    first.set_nonblocking(true)?;
    six.set_port(first.local_addr()?.port());
    // A machine without IPv6 has IPv4.
    let second = TcpListener::bind(six).and_then(|second| {
        second.set_nonblocking(true)?;
        Ok(second)
    });
    Ok([first].into_iter().chain(second.ok()).collect())
}

/// Shows the link in the person's browser. A machine without one is no error: the link is printed.
pub(super) fn open_browser(app: &App, link: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            std::thread::spawn(move || drop(child.wait()));
        }
        Err(error) => app.printer.warn(&format!("cannot start {program}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_own_names_are_answered() {
        let name = Name { own: "el-1f.localhost".to_owned(), port: 7301 };
        for host in ["el-1f.localhost:7301", "LOCALHOST:7301", "127.0.0.1:7301", "[::1]:7301"] {
            assert!(name.is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:7302",
            "localhost:7301.",
            "evil.example:7301",
            "127.0.0.1.nip.io:7301",
            "el-20.localhost:7301",
            "127.0.0.1:7301@evil",
            "[::1]",
            "\u{ff}:7301",
        ] {
            assert!(!name.is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn a_port_that_is_taken_is_told_or_passed_over() {
        let (name, _held) = listen_on_port(Path::new("/x/el.db"), None).unwrap();
        assert_eq!(
            listen_on_port(Path::new("/x/el.db"), Some(name.port)).unwrap_err().code(),
            "port_in_use"
        );
        let (other, _also) = listen_on_port(Path::new("/x/el.db"), None).unwrap();
        assert!(other.port > name.port && other.port <= name.port + TRIES);
    }
}
