//! A connection a thread. The addresses are those that a proxy sees.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer;
use crate::backend;
use crate::control;
use crate::gitlab;
use crate::http::{Connection, Request};
use crate::log::Log;
use crate::query::Document;
use crate::rest;
use crate::rules::{Act, Rule};
use crate::state::State;

/// How long a call is held, above any test's own limit.
const HELD: Duration = Duration::from_secs(120);

pub(crate) struct Server {
    state: Mutex<State>,
    log: Log,
    /// How often the tests let the held calls go.
    releases: Mutex<u64>,
    released: Condvar,
    calls: AtomicU64,
}

/// The answer that is sent; `None` closes the connection.
type Reply = Option<(u16, Vec<(String, String)>, Vec<u8>)>;

impl Server {
    pub(crate) fn new(state: State, log: Log) -> Server {
        Server {
            state: Mutex::new(state),
            log,
            releases: Mutex::new(0),
            released: Condvar::new(),
            calls: AtomicU64::new(0),
        }
    }

    fn connection(&self, stream: TcpStream) -> io::Result<()> {
        let mut connection = Connection::new(stream)?;
        while let Some(request) = connection.request()? {
            let Some((code, headers, body)) = self.reply(&request) else { break };
            connection.answer(code, &headers, &body, request.method == "HEAD")?;
        }
        Ok(())
    }

    fn reply(&self, request: &Request) -> Reply {
        let (host, path, query) = parts(request);
        if path == "/_control" {
            return Some(self.control(request));
        }
        let mut line = Map::new();
        let is_api = path.starts_with("/api/");
        let is_git = host == "github.localhost" || self.state().is_gitlab && !is_api;
        let document = if is_git { None } else { document(request, path, &mut line) };
        let name = match &document {
            Some(Ok(document)) => format!("{} {}", document.kind, document.name),
            _ if is_git => format!("git {path}?{query}"),
            _ => format!("{} {path}", request.method),
        };
        line.insert("n".to_owned(), json!(self.calls.fetch_add(1, Ordering::Relaxed) + 1));
        line.insert("call".to_owned(), json!(name));
        if is_git && path.ends_with("/git-receive-pack") {
            line.insert("pushed".to_owned(), json!(backend::pushed(request)));
        }
        let rule = self.state().take_rule(&name);
        let act = rule.as_ref().map(|rule| rule.act);
        if let Some(rule) = rule.filter(|rule| rule.act == Act::Fail) {
            line.insert("failed".to_owned(), json!(rule.code));
            self.log.add(line);
            return Some(failure(&rule));
        }
        if act == Some(Act::Hold) {
            self.hold(&mut line);
        }
        let (code, kind, body) = if is_git {
            self.git(request, path, query)
        } else {
            self.api(request, (path, query), document, &mut line)
        };
        line.insert("code".to_owned(), json!(code));
        match act {
            Some(Act::Drop) => {
                line.insert("failed".to_owned(), json!("the answer is lost"));
                self.log.add(line);
                return None;
            }
            Some(Act::HoldAfter) => self.hold(&mut line),
            _ => {}
        }
        self.log.add(line);
        Some((code, headers(&kind), body))
    }

    fn git(&self, request: &Request, path: &str, query: &str) -> (u16, String, Vec<u8>) {
        let root = self.state().root().to_owned();
        let answered = backend::answer(&root, request, path, query);
        self.state().settle();
        answered.unwrap_or_else(|error| (500, "text/plain".to_owned(), error.to_string().into()))
    }

    fn api(
        &self,
        request: &Request,
        (path, query): (&str, &str),
        document: Option<Result<Document, String>>,
        line: &mut Map<String, Value>,
    ) -> (u16, String, Vec<u8>) {
        let (code, kind, body) = match document {
            Some(Ok(document)) => {
                line.insert("fields".to_owned(), json!(document.field_names()));
                let answered = answer::answer(&mut self.state(), &document);
                if let Some(errors) = answered.body.get("errors") {
                    line.insert("errors".to_owned(), errors.clone());
                }
                if !answered.missing.is_empty() {
                    line.insert("missing".to_owned(), json!(answered.missing));
                }
                rest::json_answer(200, &answered.body)
            }
            Some(Err(message)) => rest::json_answer(400, &json!({ "message": message })),
            None if self.state().is_gitlab => {
                gitlab::answer(&mut self.state(), request, (path, query))
            }
            None => rest::answer(&mut self.state(), request, path),
        };
        (code, kind.to_owned(), body)
    }

    fn control(&self, request: &Request) -> (u16, Vec<(String, String)>, Vec<u8>) {
        let order: Map<String, Value> = serde_json::from_slice(&request.body).unwrap_or_default();
        if order.get("do") == Some(&json!("release")) {
            *self.releases.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            self.released.notify_all();
            return (200, headers("application/json"), b"{}".to_vec());
        }
        let (code, body) = match control::control(&mut self.state(), &order) {
            Ok(body) => (200, body),
            Err(message) => (400, json!({ "message": message })),
        };
        (code, headers("application/json"), body.to_string().into_bytes())
    }

    /// Says in the log that a call is held, and waits for the test.
    fn hold(&self, line: &mut Map<String, Value>) {
        let mut told = line.clone();
        told.insert("held".to_owned(), json!(true));
        let releases = self.releases.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *releases;
        self.log.add(told);
        // Beyond the limit the test has failed already.
        let _ = self.released.wait_timeout_while(releases, HELD, |now| *now == before);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host, the path and the query of a request, which a proxy gets as a whole address.
fn parts(request: &Request) -> (&str, &str, &str) {
    let (host, rest) = match request.path.strip_prefix("http://") {
        Some(address) => {
            let at = address.find('/').unwrap_or(address.len());
            (&address[..at], &address[at..])
        }
        None => (request.header("host").unwrap_or_default(), request.path.as_str()),
    };
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    (host.split(':').next().unwrap_or_default(), path, query)
}

fn document(
    request: &Request,
    path: &str,
    line: &mut Map<String, Value>,
) -> Option<Result<Document, String>> {
    // glab asks for `/api/graphql/`.
    if !path.trim_end_matches('/').ends_with("/graphql") {
        return None;
    }
    let asked: Map<String, Value> = serde_json::from_slice(&request.body).unwrap_or_default();
    let variables = asked.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
    line.insert("variables".to_owned(), json!(variables));
    let query = asked.get("query").and_then(Value::as_str).unwrap_or_default();
    Some(Document::parse(query, &variables))
}

fn failure(rule: &Rule) -> (u16, Vec<(String, String)>, Vec<u8>) {
    let mut headers = headers("application/json; charset=utf-8");
    for (name, value) in &rule.headers {
        headers.push((name.clone(), value.as_str().unwrap_or_default().to_owned()));
    }
    let body = match &rule.body {
        Some(Value::String(text)) => text.clone(),
        Some(body) => body.to_string(),
        None => json!({ "message": rule.message }).to_string(),
    };
    (rule.code, headers, body.into_bytes())
}

fn headers(kind: &str) -> Vec<(String, String)> {
    [("content-type", kind), ("x-oauth-scopes", "repo, read:org"), ("cache-control", "no-cache")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
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
