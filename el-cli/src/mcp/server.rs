//! Turns messages into answers until the client leaves, a signal arrives or stdin ends.

use std::io::{self, BufReader, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::call::{Progress, Stops};
use super::lane::{Job, Lane, OpenCalls};
use super::lines::{self, Line};
use super::reply::{AnswerSink, Batch, DisconnectListener, Reply};
use super::tools::{self, Tool};
use super::version::Version;
use super::wire::{
    self, INVALID_PARAMS, INVALID_REQUEST, Incoming, METHOD_NOT_FOUND, PARSE_ERROR, Parsed,
    UNSUPPORTED_VERSION, WireError,
};
use crate::globals::Globals;
use crate::output::panic;
use crate::output::printer::{Format, Printer};
use crate::output::terminal::ColorWhen;
use crate::session::Session;
use crate::{App, CommandError, Exit, Result};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// The time for answers that are under way, after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// Instructions for the client's model, sent before any call.
const INSTRUCTIONS: &str = "\
el tracks this project's work as atoms. An id such as el-q5e6 may be cut to any unique beginning \
of its short part. \
Take work: ready, then claim; read it: show; end it: close with what was done, or update to \
deferred or wont_do with the reason. \
File what you find on the way: create. claude_code hands a task to a background agent and returns \
at once; inbox tells its end. \
A failed call says what to do next; after stale_run, stop working on that atom.";

/// An event for the deciding thread.
#[derive(Debug)]
enum Event {
    Line(Line),
    /// stdin has ended: the client asks for nothing more, but may still read.
    End,
    /// The client no longer reads.
    Gone,
    Signal,
    /// All calls are done.
    Drained,
}

#[derive(Debug)]
struct Hangup(SyncSender<Event>);

impl DisconnectListener for Hangup {
    fn client_gone(&self) {
        // A full queue holds other events, and the next answer fails as well.
        let _ = self.0.try_send(Event::Gone);
    }
}

/// Serves until the client has had enough.
pub(crate) fn serve(app: &App) -> Result<Exit> {
    // A panic must not write to stdout, which belongs to the protocol, whatever flags are given.
    panic::install_hook(false, app.globals().debug);
    if io::stdin().is_terminal() {
        app.printer.note("this speaks the Model Context Protocol with a program; Ctrl-D ends it");
    }
    let cannot = |source: io::Error| {
        CommandError::internal_error("cannot start to serve").with_source(source)
    };
    let (events, heard) = sync_channel(4);
    let asked_to_end = Arc::new(AtomicBool::new(false));
    hear_signals(events.clone(), Arc::clone(&asked_to_end)).map_err(cannot)?;
    let printer = Printer::new(Format::Robot, ColorWhen::Never, true);
    let out = Arc::new(AnswerSink::new(printer, Box::new(Hangup(events.clone()))));
    let open = Arc::new(OpenCalls::default());
    let lane = Lane::new(Arc::clone(&open)).map_err(cannot)?;
    let reader = events.clone();
    std::thread::Builder::new()
        .name("stdin".to_owned())
        .spawn(move || read_events(&reader))
        .map_err(cannot)?;
    let server = Server {
        out,
        open,
        lane,
        ending: Arc::default(),
        asked_to_end,
        version: Version::DEFAULT,
        globals: app.globals().clone(),
        session: app.caller().cloned(),
    };
    server.run(&heard, events);
    Ok(Exit::Done)
}

/// The first signal ends the server once no change is half-done, or after [`GRACE`] if the client
/// reads no answer. A second signal ends the server at once; committed changes stand.
fn hear_signals(events: SyncSender<Event>, asked_to_end: Arc<AtomicBool>) -> io::Result<()> {
    el_agents::end_signal::spawn_listener(move |_| {
        if asked_to_end.swap(true, Ordering::SeqCst) {
            end_now();
        }
        // If the channel is full, the next event sees the flag.
        let _ = events.try_send(Event::Signal);
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            end_now();
        });
        true
    })
}

#[expect(clippy::exit, reason = "the thread that decides may hang in a write that nobody reads")]
fn end_now() -> ! {
    std::process::exit(Exit::Done.code().into())
}

fn read_events(events: &SyncSender<Event>) {
    let mut stdin = BufReader::with_capacity(64 << 10, io::stdin());
    loop {
        let event = match lines::read_line(&mut stdin, lines::LONGEST) {
            Ok(Some(line)) => Event::Line(line),
            // A read error, such as a vanished terminal, ends the input.
            Ok(None) | Err(_) => Event::End,
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

struct Server {
    out: Arc<AnswerSink>,
    open: Arc<OpenCalls>,
    lane: Lane,
    ending: Arc<AtomicBool>,
    /// By a signal.
    asked_to_end: Arc<AtomicBool>,
    /// The version that `initialize` agreed on.
    version: Version,
    globals: Globals,
    session: Option<Arc<Session>>,
}

impl Server {
    fn run(mut self, heard: &Receiver<Event>, events: SyncSender<Event>) {
        for event in heard {
            let event =
                if self.asked_to_end.load(Ordering::SeqCst) { Event::Signal } else { event };
            match event {
                Event::Line(Line::Whole(line)) => self.handle_line(&line),
                Event::Line(Line::TooLong) => {
                    let text =
                        format!("Parse error: a message has at most {} bytes", lines::LONGEST);
                    self.reply_with_error(
                        &Reply::Alone(Arc::clone(&self.out)),
                        None,
                        WireError::new(PARSE_ERROR, text),
                    );
                }
                Event::End => break,
                Event::Gone | Event::Signal => {
                    // Queued calls are not begun, since the client no longer reads.
                    self.open.cancel_all();
                    break;
                }
                Event::Drained => {}
            }
        }
        // Waiting calls stop waiting. Writing calls finish within milliseconds, and no change stays
        // half-done.
        self.ending.store(true, Ordering::SeqCst);
        let Server { lane, open, .. } = self;
        let _ = std::thread::Builder::new().spawn(move || {
            lane.finish_and_wait();
            let _ = events.send(Event::Drained);
        });
        for event in heard {
            match event {
                Event::Drained => return,
                Event::Signal | Event::Gone => open.cancel_all(),
                _ => {}
            }
        }
    }

    fn handle_line(&mut self, line: &[u8]) {
        let alone = Reply::Alone(Arc::clone(&self.out));
        match wire::parse_message(line) {
            Parsed::Nothing => {}
            Parsed::Bad(error) => self.reply_with_error(&alone, None, error),
            Parsed::One(message) => self.handle_message(message, &alone),
            Parsed::Batch(messages) if self.version.has_batches() => {
                let reply = Reply::InBatch(Batch::new(Arc::clone(&self.out), messages.len()));
                for message in messages {
                    self.handle_message(message, &reply);
                }
            }
            Parsed::Batch(_) => {
                let text =
                    format!("Version {} of the protocol has no batches", self.version.as_str());
                self.reply_with_error(&alone, None, WireError::new(INVALID_REQUEST, text));
            }
        }
    }

    fn reply_with_error(&self, reply: &Reply, id: Option<&Value>, error: WireError) {
        reply.send_answer(Some(wire::error_message(id, error, self.version)));
    }

    fn handle_message(&mut self, message: Incoming, reply: &Reply) {
        match message {
            Incoming::Answer => reply.send_answer(None),
            Incoming::Wrong { id, error } => self.reply_with_error(reply, id.as_ref(), error),
            Incoming::Notification { method, params } => {
                if method == "notifications/cancelled"
                    && let Some(id) = params.get("requestId")
                {
                    self.open.cancel_call(id);
                }
                reply.send_answer(None);
            }
            Incoming::Request { id, method, params } => {
                if method == "initialize" && matches!(reply, Reply::InBatch(_)) {
                    return self.reply_with_error(
                        reply,
                        Some(&id),
                        WireError::new(INVALID_REQUEST, "initialize is no part of a batch"),
                    );
                }
                match self.handle_request(&id, &method, params, reply) {
                    Ok(Some(result)) => reply.send_answer(Some(wire::result_message(&id, result))),
                    // The answer is sent later.
                    Ok(None) => {}
                    Err(error) => self.reply_with_error(reply, Some(&id), error),
                }
            }
        }
    }

    fn handle_request(
        &mut self,
        id: &Value,
        method: &str,
        params: Map<String, Value>,
        reply: &Reply,
    ) -> Result<Option<Value>, WireError> {
        let version = self.version_of(method, &params)?;
        match method {
            "initialize" => self.initialize(&params).map(Some),
            "server/discover" => Ok(Some(server_description())),
            // `ping` went away with the handshake.
            "ping" if !version.is_stateless() => Ok(Some(json!({}))),
            "tools/list" if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) => Err(
                WireError::new(INVALID_PARAMS, "There is no such cursor: the list has one page"),
            ),
            "tools/list" => Ok(Some(tools::list_tools(version))),
            "tools/call" => self.call_tool(id, params, version, reply).map(|()| None),
            _ => Err(WireError::new(METHOD_NOT_FOUND, format!("Method not found: {method}"))),
        }
    }

    /// The version of a request: the version that the request names, or else the agreed version.
    fn version_of(&self, method: &str, params: &Map<String, Value>) -> Result<Version, WireError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let about = |key: &str| meta.and_then(|meta| meta.get(key));
        let missing =
            |key: &str| WireError::new(INVALID_PARAMS, format!("_meta lacks a good {key}"));
        let Some(asked) = about(VERSION_KEY) else {
            return if method == "server/discover" {
                Err(missing(VERSION_KEY))
            } else {
                Ok(self.version)
            };
        };
        let asked = asked.as_str().ok_or_else(|| missing(VERSION_KEY))?;
        let version = Version::from_exact_text(asked).ok_or_else(|| {
            let supported: Vec<&str> = Version::all_newest_first().collect();
            WireError::new(UNSUPPORTED_VERSION, "Unsupported protocol version")
                .with_data(json!({ "requested": asked, "supported": supported }))
        })?;
        if version.is_stateless() && !about(CAPABILITIES_KEY).is_some_and(Value::is_object) {
            return Err(missing(CAPABILITIES_KEY));
        }
        Ok(version)
    }

    fn initialize(&mut self, params: &Map<String, Value>) -> Result<Value, WireError> {
        let asked = params.get("protocolVersion").and_then(Value::as_str);
        let asked = asked
            .ok_or_else(|| WireError::new(INVALID_PARAMS, "protocolVersion must be a text"))?;
        self.version = Version::negotiate(asked);
        Ok(json!({
            "protocolVersion": self.version.as_str(),
            "capabilities": { "tools": {} },
            "serverInfo": tools::server_info(),
            "instructions": INSTRUCTIONS,
        }))
    }

    fn call_tool(
        &self,
        id: &Value,
        mut params: Map<String, Value>,
        version: Version,
        reply: &Reply,
    ) -> Result<(), WireError> {
        let Some(Value::String(name)) = params.remove("name") else {
            return Err(WireError::new(INVALID_PARAMS, "The name of the tool must be a text"));
        };
        let tool = Tool::find_tool(&name)
            .ok_or_else(|| WireError::new(INVALID_PARAMS, format!("Unknown tool: {name}")))?;
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => {
                return Err(WireError::new(INVALID_PARAMS, "The arguments must be an object"));
            }
        };
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
        let token = token.filter(|token| token.is_string() || token.is_i64() || token.is_u64());
        let progress = token.map(|token| Progress {
            out: Arc::clone(&self.out),
            token: token.clone(),
            version,
        });
        self.lane.enqueue(Job {
            id: id.clone(),
            tool,
            arguments: Arguments::new(arguments),
            globals: self.globals.clone(),
            session: self.session.clone(),
            version,
            stops: Stops { cancelled: Arc::default(), ending: Arc::clone(&self.ending) },
            progress,
            reply: reply.clone(),
        });
        Ok(())
    }
}

fn server_description() -> Value {
    let supported: Vec<&str> = Version::all_newest_first().collect();
    json!({
        "resultType": "complete",
        "supportedVersions": supported,
        "capabilities": { "tools": {} },
        "instructions": INSTRUCTIONS,
        "ttlMs": tools::FRESH_MS,
        "cacheScope": "public",
        "_meta": { tools::SERVER_KEY: tools::server_info() },
    })
}
