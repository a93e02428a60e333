//! A way to the server that a test has in its hands.

use std::io::{Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

const SOCKET: &str = ".s.PGSQL.5432";

/// The faults that a test puts in the way, and the traffic that it sees.
#[derive(Debug, Default)]
struct State {
    /// Connections stay, new ones are taken, and nothing comes.
    is_cut: AtomicBool,
    /// The messages that the server sends unasked are lost, as by a pooler.
    is_silent: bool,
    /// How much was asked.
    asked: AtomicUsize,
}

/// A way to the server: a socket of its own.
pub(super) struct Way {
    url: String,
    state: Arc<State>,
}

impl Way {
    /// A way to the server at the address.
    pub(super) fn to(url: &str, folder: PathBuf) -> Way {
        Way::with(url, folder, State::default())
    }

    /// The same, by which nobody is told of anything.
    pub(super) fn without_messages(url: &str, folder: PathBuf) -> Way {
        Way::with(url, folder, State { is_silent: true, ..State::default() })
    }

    fn with(url: &str, folder: PathBuf, state: State) -> Way {
        let (head, rest) = url.split_once("host=").unwrap();
        let (server, options) = rest.split_once('&').unwrap();
        std::fs::create_dir(&folder).unwrap();
        let listener = UnixListener::bind(folder.join(SOCKET)).unwrap();
        let state = Arc::new(state);
        let (server, shared) = (Path::new(server).join(SOCKET), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&server) else { return };
                let (back, out) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                pass_on(client, out, Direction::Asked, &shared);
                pass_on(server, back, Direction::Answered, &shared);
            }
        });
        Way { url: format!("{head}host={}&{options}", folder.display()), state }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn cut(&self, is_cut: bool) {
        self.state.is_cut.store(is_cut, Ordering::Relaxed);
    }

    /// How many questions went this way.
    pub(super) fn asked(&self) -> usize {
        self.state.asked.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Asked,
    Answered,
}

fn pass_on(from: UnixStream, mut to: UnixStream, direction: Direction, state: &Arc<State>) {
    let state = Arc::clone(state);
    thread::spawn(move || {
        let mut messages = Messages { from, is_begun: direction == Direction::Answered };
        while let Some(message) = messages.next() {
            while state.is_cut.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(20));
            }
            match (direction, message.kind) {
                // A query, or the execution of a statement.
                (Direction::Asked, b'Q' | b'E') => {
                    state.asked.fetch_add(1, Ordering::Relaxed);
                }
                (Direction::Answered, b'A') if state.is_silent => continue,
                _ => {}
            }
            if to.write_all(&message.bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}

struct Message {
    kind: u8,
    bytes: Vec<u8>,
}

/// The messages of one side: a letter, a length and the contents. A client's first has no letter.
struct Messages {
    from: UnixStream,
    is_begun: bool,
}

impl Messages {
    fn next(&mut self) -> Option<Message> {
        let mut bytes = vec![0; 4 + usize::from(self.is_begun)];
        self.from.read_exact(&mut bytes).ok()?;
        let length = bytes.last_chunk::<4>().copied().map(u32::from_be_bytes)?;
        let kind = if self.is_begun { bytes[0] } else { 0 };
        self.is_begun = true;
        let begin = bytes.len();
        bytes.resize(begin + usize::try_from(length).ok()?.checked_sub(4)?, 0);
        self.from.read_exact(&mut bytes[begin..]).ok()?;
        Some(Message { kind, bytes })
    }
}
