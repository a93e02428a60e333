//! Serves a connection on its own thread: reads a request, chooses the answer, logs both, answers.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::http::{Connection, Request};
use crate::log::Log;
use crate::messages::{self, End};
use crate::scenario::{Picked, Scenario, Step};

/// The time limit of `wait_file`, above any test's own limit, so that the test reports the missing
/// file.
const WAIT_FILE: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    scenario: Scenario,
    log: Log,
    requests: AtomicU64,
}

impl Server {
    pub(crate) fn new(scenario: Scenario, log: Log) -> Self {
        Self { scenario, log, requests: AtomicU64::new(0) }
    }

    fn connection(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream)?;
        while let Some(request) = connection.request()? {
            let n = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
            let end = self.request(&mut connection, &request, n);
            match end {
                Ok(End::KeepAlive) => {}
                Ok(End::Closed) => break,
                Err(e) => {
                    self.note(n, "gone", json!(e.to_string()));
                    break;
                }
            }
        }
        Ok(())
    }

    fn request(&self, connection: &mut Connection, request: &Request, n: u64) -> io::Result<End> {
        let path = request.path.split('?').next().unwrap_or_default();
        let body: Value = serde_json::from_slice(&request.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&request.body).into_owned()));
        let head_only = request.method == "HEAD";
        let mut line = described(request, n);
        let (status, answer) = match (request.method.as_str(), path) {
            ("POST", "/v1/messages") => {
                let session = request.header("x-claude-code-session-id").unwrap_or_default();
                let has_tools =
                    body.get("tools").and_then(Value::as_array).is_some_and(|t| !t.is_empty());
                let picked = self.scenario.pick(session, &messages::user_texts(&body), has_tools);
                line.insert("session".to_owned(), json!(session));
                line.insert("route".to_owned(), json!(picked.route));
                line.insert("step".to_owned(), json!(picked.name));
                line.insert("body".to_owned(), body.clone());
                self.log.add(line);
                return self.answer(connection, &body, &picked, n);
            }
            (_, "/v1/messages/count_tokens") => {
                (200, json!({"input_tokens": request.body.len() / 4 + 1}))
            }
            (_, "/v1/models") => {
                (200, json!({"data": [], "has_more": false, "first_id": null, "last_id": null}))
            }
            (_, "/") => (200, json!({"scripted": true})),
            _ => (404, messages::error("not_found_error", &format!("not scripted: {path}"))),
        };
        line.insert("body".to_owned(), body);
        self.log.add(line);
        connection.answer(
            status,
            &messages::json_headers(),
            answer.to_string().as_bytes(),
            head_only,
        )?;
        Ok(End::KeepAlive)
    }

    fn answer(
        &self,
        connection: &mut Connection,
        body: &Value,
        picked: &Picked,
        n: u64,
    ) -> io::Result<End> {
        prepare(&picked.step);
        let end = messages::answer(connection, body, &picked.step)?;
        if end == End::Closed {
            self.note(n, "closed", json!(picked.name));
        }
        Ok(end)
    }

    fn note(&self, n: u64, what: &str, value: Value) {
        let mut line = Map::new();
        line.insert("n".to_owned(), json!(n));
        line.insert(what.to_owned(), value);
        self.log.add(line);
    }
}

/// Prepares an answer: reports that the step was taken, then waits.
fn prepare(step: &Step) {
    if let Some(path) = &step.touch {
        // A test that waits for the file reports a missing file itself.
        let _ = std::fs::write(path, "");
    }
    std::thread::sleep(Duration::from_millis(step.delay_ms));
    if let Some(path) = &step.wait_file {
        let end = Instant::now() + WAIT_FILE;
        while !Path::new(path).exists() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The line of the log, without the key.
fn described(request: &Request, n: u64) -> Map<String, Value> {
    let headers: Map<String, Value> = request
        .headers
        .iter()
        .map(|(name, value)| {
            let secret = matches!(name.as_str(), "x-api-key" | "authorization" | "cookie");
            (name.clone(), json!(if secret { "[redacted]" } else { value }))
        })
        .collect();
    let mut line = Map::new();
    line.insert("n".to_owned(), json!(n));
    line.insert("method".to_owned(), json!(request.method));
    line.insert("path".to_owned(), json!(request.path));
    line.insert("headers".to_owned(), Value::Object(headers));
    line
}

pub(crate) fn serve(listener: &TcpListener, server: &Arc<Server>) {
    for stream in listener.incoming().flatten() {
        let server = Arc::clone(server);
        std::thread::spawn(move || {
            // A broken connection concerns only its client.
            let _ = server.connection(stream);
        });
    }
}
