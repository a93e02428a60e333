//! The stream of events: what changes is told at once, to all, once.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Board;
use crate::support::TestEnv;

/// A stream that a browser listens to.
pub(crate) struct Listener(BufReader<TcpStream>);

/// A message of the stream.
#[derive(Debug)]
pub(crate) struct Message {
    id: Option<i64>,
    kind: String,
    pub(crate) data: Value,
}

impl Listener {
    pub(crate) fn open(board: &Board, path: &str, more: &str) -> Listener {
        let mut stream = board.connect();
        let (host, cookie) = (&board.host, &board.cookie);
        let text = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{cookie}\r\n{more}\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Listener(reader)
    }

    /// The next message that is no sign of life.
    #[track_caller]
    fn next(&mut self) -> Message {
        let mut found = Message { id: None, kind: String::new(), data: Value::Null };
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).unwrap() > 0, "the stream ended");
            let Some((key, value)) = line.trim_end().split_once(": ") else {
                if line.trim() == "" && !["", "alive"].contains(&found.kind.as_str()) {
                    return found;
                }
                continue;
            };
            match key {
                "id" => found.id = value.parse().ok(),
                "event" => found.kind = value.to_owned(),
                "data" => found.data = serde_json::from_str(value).unwrap(),
                _ => {}
            }
        }
    }

    #[track_caller]
    pub(crate) fn next_change(&mut self) -> Message {
        let next = self.next();
        assert_eq!(next.kind, "change", "{next:#?}");
        next
    }
}

#[test]
fn a_change_is_told_to_every_browser_within_the_time() {
    let env = TestEnv::with_tracker();
    let board = Board::start(&env, &[]);
    let seq = board.get("/api/snapshot").data()["seq"].as_i64().unwrap();
    let mut listeners: Vec<Listener> =
        (0..3).map(|_| Listener::open(&board, &format!("/api/events?since={seq}"), "")).collect();
    for listener in &mut listeners {
        assert_eq!(listener.next_change().data["seq"], seq, "the state at the beginning");
    }
    // The watcher has begun once the first change was told.
    std::thread::sleep(Duration::from_millis(300));
    let id = env.create("New", &[]);
    let began = Instant::now();
    for listener in &mut listeners {
        let told = listener.next_change();
        assert_eq!(told.data["atoms"][0]["id"], id.as_str());
        assert_eq!(told.data["board"]["ready"]["items"][0]["title"], "New");
        assert_eq!(told.id, told.data["seq"].as_i64());
    }
    // Generous: other tests run beside this one.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[test]
fn a_stream_that_broke_off_goes_on_where_it_was() {
    let env = TestEnv::with_tracker();
    let first = env.create("First", &[]);
    let board = Board::start(&env, &[]);
    let seq = board.get("/api/snapshot").data()["seq"].as_i64().unwrap();
    env.el(&["comment", "add", &first, "while nobody listened"]).ok();
    let second = env.create("Second", &[]);
    let mut again =
        Listener::open(&board, "/api/events?since=0", &format!("Last-Event-ID: {seq}\r\n"));
    let told = again.next_change();
    assert_eq!(told.data["since"], seq);
    let ids: Vec<&str> =
        told.data["atoms"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [first.as_str(), second.as_str()], "both, and each once");
    // From a tracker that was restored meanwhile.
    let mut ahead = Listener::open(&board, "/api/events?since=99999", "");
    assert_eq!(ahead.next().kind, "reset");
}

#[test]
fn a_tracker_that_goes_and_comes_back_is_told() {
    let env = TestEnv::with_tracker();
    env.create("One", &[]);
    let board = Board::start(&env, &[]);
    let mut listener = Listener::open(&board, "/api/events?since=0", "");
    listener.next_change();
    std::thread::sleep(Duration::from_millis(300));
    let (state, away) = (env.project(".eluent"), env.project("away"));
    std::fs::rename(&state, &away).unwrap();
    assert_eq!(listener.next().kind, "trouble");
    assert_eq!(board.get("/api/snapshot").status, 404);
    std::fs::rename(&away, &state).unwrap();
    // A look that began before may tell of the trouble once more.
    let mut kinds = std::iter::repeat_with(|| listener.next().kind);
    assert_eq!(kinds.find(|kind| kind != "trouble").unwrap(), "reset");
    board.is_well();
}
