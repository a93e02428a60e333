//! A client that sends what a test says, byte by byte if it has to.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Running, TestEnv};

/// A running `el serve`.
pub(crate) struct Board {
    _process: Running,
    pub(super) port: u16,
    /// `el-<hash>.localhost:<port>`
    pub(super) host: String,
    /// The code of the link that was printed.
    pub(super) code: String,
    /// `Cookie: …`, once signed in.
    pub(super) cookie: String,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Answer {
    /// The document of the body.
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }

    /// The `data` of an answer that says that all went well.
    #[track_caller]
    pub(crate) fn data(&self) -> Value {
        assert_eq!(self.status, 200, "{self:#?}");
        self.json()["data"].take()
    }

    #[track_caller]
    pub(super) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

impl Board {
    /// Starts the server, and signs this client in.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv, flags: &[&str]) -> Board {
        let mut board = Board::start_signed_out(env, flags);
        let code = board.code.clone();
        let answer = board.sign_in(&code);
        board.cookie = cookie_of(&answer);
        board
    }

    #[track_caller]
    pub(super) fn start_signed_out(env: &TestEnv, flags: &[&str]) -> Board {
        let words = [&["serve", "--robot"], flags].concat();
        let port = ["--port", "0"];
        let words = if flags.contains(&"--port") { words } else { [&words[..], &port].concat() };
        let process = env.start_el(&words);
        let link = process.wait_for("link");
        let origin = link["origin"].as_str().unwrap();
        let code = link["url"].as_str().unwrap().split_once("#code=").unwrap().1;
        Board {
            port: u16::try_from(link["port"].as_u64().unwrap()).unwrap(),
            host: origin.strip_prefix("http://").unwrap().to_owned(),
            code: code.to_owned(),
            cookie: String::new(),
            _process: process,
        }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends these bytes and reads to the end of the connection. `None`: there was no answer.
    pub(super) fn send(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // The server may have closed the connection by now: what it said before counts.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let text = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// A request with exactly these header lines.
    #[track_caller]
    pub(super) fn raw(&self, first: &str, headers: &[&str], body: &str) -> Answer {
        let mut text = format!("{first} HTTP/1.1\r\n");
        for line in headers {
            text.push_str(&format!("{line}\r\n"));
        }
        text.push_str("Connection: close\r\n");
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        text.push_str(body);
        self.send(text.as_bytes()).unwrap_or_else(|| panic!("no answer to {first} {headers:?}"))
    }

    /// Sends a GET request as the page does.
    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> Answer {
        let host = format!("Host: {}", self.host);
        let headers = [host.as_str(), "Sec-Fetch-Site: same-origin", self.cookie.as_str()];
        self.raw(&format!("GET {path}"), &filled(&headers), "")
    }

    /// Sends a POST request as the page does.
    #[track_caller]
    pub(super) fn post(&self, path: &str, body: &Value) -> Answer {
        let lines = self.own_headers();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.raw(&format!("POST {path}"), &lines, &body.to_string())
    }

    /// The headers of a change that the page makes.
    pub(super) fn own_headers(&self) -> Vec<String> {
        let mut lines = vec![
            format!("Host: {}", self.host),
            format!("Origin: http://{}", self.host),
            "Sec-Fetch-Site: same-origin".to_owned(),
            "Content-Type: application/json".to_owned(),
            "X-El: 1".to_owned(),
        ];
        lines.extend((!self.cookie.is_empty()).then(|| self.cookie.clone()));
        lines
    }

    #[track_caller]
    pub(super) fn sign_in(&self, code: &str) -> Answer {
        self.post("/api/sign-in", &json!({ "code": code }))
    }

    /// Says that the server still works.
    #[track_caller]
    pub(super) fn is_well(&self) {
        assert_eq!(self.get("/api/snapshot").status, 200);
    }
}

/// The header with which a browser brings the cookie of this answer.
#[track_caller]
pub(super) fn cookie_of(answer: &Answer) -> String {
    let line = answer.header("set-cookie").unwrap_or_else(|| panic!("no cookie: {answer:#?}"));
    format!("Cookie: other=1; {}", line.split(';').next().unwrap())
}

fn filled<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    lines.iter().copied().filter(|line| !line.is_empty()).collect()
}
