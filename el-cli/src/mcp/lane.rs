//! Runs calls in order of arrival. When the turn of a long call comes, the call moves to another
//! thread.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use serde_json::Value;

use super::arguments::Arguments;
use super::call::{Call, Progress, Stops};
use super::reply::Reply;
use super::tools::{self, Tool};
use super::version::Version;
use crate::globals::Globals;
use crate::output::printer::{Format, Printer};
use crate::output::terminal::ColorWhen;
use crate::session::Session;
use crate::{App, CommandError, Exit};

/// The greatest number of calls that may wait at once.
const WAITING_MAX: usize = 64;
/// The maximum number of calls in the queue.
const QUEUE_MAX: usize = 1_000;

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) id: Value,
    pub(super) tool: &'static Tool,
    pub(super) arguments: Arguments,
    pub(super) globals: Globals,
    pub(super) session: Option<Arc<Session>>,
    pub(super) version: Version,
    pub(super) stops: Stops,
    pub(super) progress: Option<Progress>,
    pub(super) reply: Reply,
}

/// The unanswered calls, which can be cancelled.
#[derive(Debug, Default)]
pub(super) struct OpenCalls(Mutex<Vec<(Value, Stops)>>);

impl OpenCalls {
    fn add(&self, id: &Value, stops: &Stops) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push((id.clone(), stops.clone()));
    }

    fn remove(&self, stops: &Stops) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, other)| !Arc::ptr_eq(&other.cancelled, &stops.cancelled));
    }

    /// Cancels the call with this id, if the call is still unanswered.
    pub(super) fn cancel_call(&self, id: &Value) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter()
            .filter(|(other, _)| other == id)
            .for_each(|(_, stops)| stops.cancelled.store(true, Ordering::SeqCst));
    }

    pub(super) fn cancel_all(&self) {
        let open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().for_each(|(_, stops)| stops.cancelled.store(true, Ordering::SeqCst));
    }
}

/// The lane's entrance.
#[derive(Debug)]
pub(super) struct Lane {
    jobs: Sender<Job>,
    queued: Arc<AtomicUsize>,
    open: Arc<OpenCalls>,
    thread: JoinHandle<()>,
}

impl Lane {
    pub(super) fn new(open: Arc<OpenCalls>) -> std::io::Result<Lane> {
        let (jobs, queue) = channel();
        let queued = Arc::new(AtomicUsize::new(0));
        let (counter, known) = (Arc::clone(&queued), Arc::clone(&open));
        let thread = std::thread::Builder::new()
            .name("calls".to_owned())
            .spawn(move || run_jobs(&queue, &counter, &known))?;
        Ok(Lane { jobs, queued, open, thread })
    }

    pub(super) fn enqueue(&self, job: Job) {
        if self.queued.load(Ordering::SeqCst) >= QUEUE_MAX {
            job.send_answer(Err(busy_error("calls are in the queue")));
            return;
        }
        self.open.add(&job.id, &job.stops);
        self.queued.fetch_add(1, Ordering::SeqCst);
        // The thread ends only after this sender is dropped.
        let _ = self.jobs.send(job);
    }

    /// Accepts no more calls, and waits for the calls in the queue.
    pub(super) fn finish_and_wait(self) {
        drop(self.jobs);
        let _ = self.thread.join();
    }
}

fn run_jobs(queue: &Receiver<Job>, queued: &AtomicUsize, open: &Arc<OpenCalls>) {
    let mut waiting: Vec<JoinHandle<()>> = Vec::new();
    for job in queue {
        queued.fetch_sub(1, Ordering::SeqCst);
        waiting.retain(|thread| !thread.is_finished());
        if !(job.tool.may_take_long)(&job.arguments) {
            job.run(open);
        } else if waiting.len() >= WAITING_MAX {
            open.remove(&job.stops);
            job.send_answer(Err(busy_error("calls wait for something")));
        } else {
            let open = Arc::clone(open);
            waiting.push(std::thread::spawn(move || job.run(&open)));
        }
    }
    for thread in waiting {
        let _ = thread.join();
    }
}

fn busy_error(what: &str) -> CommandError {
    let message = format!("as many {what} as this server takes at once; nothing was changed");
    CommandError::new(Exit::TimedOut, "busy", message).with_retryable(true)
}

impl Job {
    fn run(mut self, open: &OpenCalls) {
        let arguments = std::mem::take(&mut self.arguments);
        let done = if self.stops.is_cancelled() {
            Err(super::call::called_off())
        } else {
            // Warnings go to stderr; stdout is the protocol's.
            let printer = Printer::new(Format::Human, ColorWhen::Never, true);
            let app = App::new(self.globals.clone(), printer, self.session.clone());
            let call = Call::new(app, self.stops.clone(), self.progress.clone());
            (self.tool.run)(&call, arguments)
        };
        open.remove(&self.stops);
        self.send_answer(done);
    }

    /// Sends the answer, unless the call was cancelled.
    fn send_answer(&self, done: Result<String, CommandError>) {
        let answer =
            (!self.stops.is_cancelled()).then(|| tools::call_answer(&self.id, done, self.version));
        self.reply.send_answer(answer);
    }
}
