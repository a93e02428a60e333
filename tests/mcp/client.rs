//! A client that sends exactly the test's messages and receives everything.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{SOON, TestEnv, wait_until};

/// The answer of a tool.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// The code of a failure.
    pub(crate) code: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Heard, and not yet asked for.
    heard: Vec<Value>,
    next: i64,
}

impl Client {
    /// Starts `el mcp` in the project without sending a message.
    #[track_caller]
    pub(crate) fn silent(env: &TestEnv) -> Client {
        Client::of(env.command("el").arg("mcp"))
    }

    /// Starts a server with this command.
    #[track_caller]
    pub(crate) fn of(command: &mut Command) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = child.stdout.take().unwrap();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Client { stdin: child.stdin.take(), child, lines, heard: Vec::new(), next: 0 }
    }

    /// Starts `el mcp` and agrees on a version, as `tester`.
    #[track_caller]
    pub(crate) fn start(env: &TestEnv) -> Client {
        let mut client = Client::of(env.command("el").env("EL_ACTOR", "tester").arg("mcp"));
        client.initialize("2025-06-18");
        client
    }

    #[track_caller]
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let info = json!({"name": "tester", "version": "1"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let result = self.ask("initialize", params)["result"].take();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    #[track_caller]
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).and_then(|()| stdin.flush()).unwrap();
    }

    #[track_caller]
    pub(crate) fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Sends a request without waiting for the answer. Returns the request's id.
    #[track_caller]
    pub(crate) fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// Sends a request; the whole answer.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(&json!(id))
    }

    /// Begins a call of a tool. Returns the call's id.
    #[track_caller]
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.begin("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let id = self.begin_call(tool, arguments);
        self.called(id)
    }

    /// The answer to a call.
    #[track_caller]
    pub(crate) fn called(&mut self, id: i64) -> Answer {
        let answer = self.answer(&json!(id));
        let result = &answer["result"];
        assert_eq!(result["content"][0]["type"], "text", "{answer}");
        let code = (result["isError"] == true)
            .then(|| result["_meta"]["el/error"]["code"].as_str().unwrap().to_owned());
        Answer { text: result["content"][0]["text"].as_str().unwrap().to_owned(), code }
    }

    /// Calls a tool, which must succeed.
    #[track_caller]
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer.code, None, "{answer:?}");
        answer.text
    }

    /// Calls a tool, which must fail with this code. Returns the text.
    #[track_caller]
    pub(crate) fn fails(&mut self, code: &str, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments);
        assert_eq!(answer.code.as_deref(), Some(code), "{answer:?}");
        assert!(answer.text.starts_with(&format!("{code} (exit ")), "{answer:?}");
        answer.text
    }

    /// Waits for a message with the given property.
    #[track_caller]
    pub(crate) fn wait_for(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&is_it) {
            return self.heard.remove(at);
        }
        let end = Instant::now() + SOON;
        loop {
            match self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let message = serde_json::from_str(&line)
                        .unwrap_or_else(|e| panic!("not the protocol ({e}): {line}"));
                    if is_it(&message) {
                        return message;
                    }
                    self.heard.push(message);
                }
                Err(error) => {
                    panic!("waited in vain for {what} ({error}); heard {:#?}", self.heard)
                }
            }
        }
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        self.wait_for(&format!("the answer to {id}"), |message| {
            message.get("id") == Some(id) && message.get("method").is_none()
        })
    }

    /// The next message of any kind.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Value {
        self.wait_for("anything", |_| true)
    }

    /// Returns the other messages within this time.
    pub(crate) fn rest(&mut self, within: Duration) -> Vec<Value> {
        let end = Instant::now() + within;
        let mut rest = std::mem::take(&mut self.heard);
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            rest.push(
                serde_json::from_str(&line)
                    .unwrap_or_else(|e| panic!("not the protocol ({e}): {line}")),
            );
        }
        rest
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the sending side and goes on receiving.
    pub(crate) fn hang_up(&mut self) {
        drop(self.stdin.take());
    }

    /// Closes the receiving side.
    pub(crate) fn deaf(&mut self) {
        self.lines = channel().1;
    }

    pub(crate) fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// Waits for the server's own end. Returns the exit code and the remaining output.
    #[track_caller]
    pub(crate) fn ended(mut self) -> (Option<i32>, Vec<Value>) {
        let status = wait_until("the server to end", SOON, || self.child.try_wait().unwrap());
        let mut rest = std::mem::take(&mut self.heard);
        loop {
            match self.lines.recv_timeout(SOON) {
                Ok(line) => rest.push(
                    serde_json::from_str(&line)
                        .unwrap_or_else(|e| panic!("not the protocol ({e}): {line}")),
                ),
                Err(RecvTimeoutError::Disconnected) => return (status.code(), rest),
                Err(RecvTimeoutError::Timeout) => panic!("its stdout stays open"),
            }
        }
    }

    /// Hangs up; the server must end well.
    #[track_caller]
    pub(crate) fn end(mut self) -> Vec<Value> {
        self.hang_up();
        let (code, rest) = self.ended();
        assert_eq!(code, Some(0));
        rest
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
