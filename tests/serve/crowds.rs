//! Crowds and dawdlers: the server refuses what is too much, and is there for its person again.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Board;
use crate::support::{TestEnv, wait_until};

/// Longer than the server waits for anybody.
const PATIENCE: Duration = Duration::from_secs(60);

fn is_served_again(board: &Board) {
    let request =
        format!("GET /api/hello HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", board.host);
    wait_until("an answer", PATIENCE, || {
        board.send(request.as_bytes()).filter(|answer| answer.status == 200).map(drop)
    });
    board.is_well();
}

/// Returns true if the board serves `count` connections at the same time.
fn has_room(board: &Board, count: usize) -> bool {
    let request = format!("GET /api/hello HTTP/1.1\r\nHost: {}\r\n\r\n", board.host);
    let mut held = Vec::new();
    for _ in 0..count {
        let mut stream = board.connect();
        let mut start = [0; 12];
        let is_served = stream.write_all(request.as_bytes()).is_ok()
            && stream.read_exact(&mut start).is_ok()
            && start.ends_with(b"200");
        if !is_served {
            return false;
        }
        held.push(stream);
    }
    true
}

/// Raises the number of files that this process may open, as far as it may.
fn allow_files(wanted: u64) -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let raised = Rlimit { current: Some(wanted.min(most)), maximum: limit.maximum };
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

#[test]
fn ten_thousand_connections_do_no_harm() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let mut left = 10_000_u64;
    // Where so many files are not allowed at a time, they come in waves.
    let wave = allow_files(10_500).saturating_sub(500).clamp(100, left);
    while left > 0 {
        let count = wave.min(left);
        left -= count;
        let mut open: Vec<TcpStream> = Vec::new();
        for _ in 0..count {
            // A full queue of the system is a refusal, too.
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", board.port)) {
                open.push(stream);
            }
        }
        for stream in &mut open {
            let _ = stream.write_all(b"GET /api/snapshot HTTP/1.1\r\nHost: x\r\n");
        }
    }
    is_served_again(&board);
}

#[test]
fn readers_that_take_nothing_lose_their_place() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let request = format!("GET /assets/app.js HTTP/1.1\r\nHost: {}\r\n\r\n", board.host);
    // Some 20 MB for each of them: more than the system keeps for a reader.
    let many = request.repeat(250);
    let mut dawdlers: Vec<TcpStream> = (0..80)
        .map(|_| {
            let mut stream = board.connect();
            stream.set_nonblocking(true).unwrap();
            // The server need not take the rest of the request.
            let _ = stream.write_all(many.as_bytes());
            stream
        })
        .collect();
    is_served_again(&board);
    // Nearly all places are free again.
    wait_until("room", PATIENCE, || has_room(&board, 60).then_some(()));
    let mut complete = 0;
    // They were cut off: what follows the bytes that were on their way is an end.
    for stream in &mut dawdlers {
        stream.set_nonblocking(false).unwrap();
        let mut taken = Vec::new();
        let end = stream.take(64 << 20).read_to_end(&mut taken);
        let is_end =
            end.as_ref().map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true);
        assert!(is_end, "{end:?} after {} bytes", taken.len());
        complete += usize::from(taken.len() > 20 << 20);
    }
    assert!(complete <= 4, "all was sent to {complete} who took nothing");
}

#[test]
fn a_listener_that_takes_nothing_holds_up_no_other() {
    let env = TestEnv::with_tracker();
    for number in 0..60 {
        // Long titles make long messages.
        env.create(&format!("{number} {}", "a long title ".repeat(14)), &[]);
    }
    let board = Board::start(&env, &[]);
    let listen = || {
        let mut stream = board.connect();
        let text = format!(
            "GET /api/events?since=0 HTTP/1.1\r\nHost: {}\r\n{}\r\n\r\n",
            board.host, board.cookie
        );
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let _idle: Vec<TcpStream> = (0..8).map(|_| listen()).collect();
    let mut reader = listen();
    reader.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut heard = String::new();
    for number in 0..20 {
        let title = format!("news {number}");
        env.create(&title, &[]);
        let mut bytes = [0; 64 << 10];
        while !heard.contains(&title) {
            let count = reader.read(&mut bytes).unwrap();
            assert!(count > 0, "the stream ended after {heard}");
            heard.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    }
    board.is_well();
}

/// A generator of numbers; the seed makes a failure repeatable.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % below.max(1) as u64).unwrap()
    }
}

/// Pieces of requests, true and false.
const PIECES: [&str; 30] = [
    "GET ",
    "POST ",
    "PUT ",
    "/",
    "/api/snapshot",
    "/api/atoms",
    "/api/atoms/x/approve",
    "/a/x/review",
    "/assets/",
    "..%2f",
    "%00",
    "%ff",
    "?since=",
    "9999999999999999999999",
    " HTTP/1.1\r\n",
    " HTTP/9.9\r\n",
    "Host: ",
    "localhost",
    "Origin: null\r\n",
    "Sec-Fetch-Site: none\r\n",
    "Cookie: __Host-el=",
    "X-El: 1\r\n",
    "Content-Type: application/json\r\n",
    "Content-Length: 5\r\n",
    "Content-Length: -1\r\n",
    "Transfer-Encoding: chunked\r\n",
    "\r\n",
    "{\"title\":\"x\"}",
    "ffffffffffffffff\r\n",
    "\u{0}\u{202e}é",
];

#[test]
fn no_bytes_end_the_server_or_change_anything() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let own = board.own_headers().join("\r\n");
    let true_one = format!("POST /api/atoms HTTP/1.1\r\n{own}\r\nContent-Length: 12\r\n\r\n");
    let mut numbers = Numbers(7);
    for round in 0..600 {
        let mut bytes: Vec<u8> = match round % 3 {
            // A true head; no body of this length is one.
            0 => true_one.clone().into_bytes(),
            _ => Vec::new(),
        };
        for _ in 0..numbers.next(14) {
            bytes.extend(PIECES[numbers.next(PIECES.len())].as_bytes());
        }
        for _ in 0..numbers.next(4) {
            if !bytes.is_empty() {
                let at = numbers.next(bytes.len());
                bytes[at] = u8::try_from(numbers.next(256)).unwrap();
            }
        }
        let mut stream = board.connect();
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer);
        assert!(!text.contains("500 Internal"), "round {round}: {bytes:?}\n{text}");
    }
    assert_eq!(env.robot(&["list", "--all"])["total"], 0);
    board.is_well();
}
