//! Writes answers to stdout, singly or, for a batch, together.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::output::Printer;

/// Writes messages to the client. A failed write is reported to the listener.
#[derive(Debug)]
pub(super) struct AnswerSink {
    printer: Printer,
    gone: Box<dyn DisconnectListener>,
}

/// Learns that the client is gone.
pub(super) trait DisconnectListener: std::fmt::Debug + Send + Sync {
    fn client_gone(&self);
}

impl AnswerSink {
    pub(super) fn new(printer: Printer, gone: Box<dyn DisconnectListener>) -> AnswerSink {
        AnswerSink { printer, gone }
    }

    /// Writes a whole message on a line of its own.
    pub(super) fn send_message(&self, message: &Value) {
        if self.printer.json_line(message).is_err() {
            self.gone.client_gone();
        }
    }
}

/// Where the answer to a request goes.
#[derive(Debug, Clone)]
pub(super) enum Reply {
    Alone(Arc<AnswerSink>),
    InBatch(Arc<Batch>),
}

/// Collects the answers to a batch, and sends them together after the last answer.
#[derive(Debug)]
pub(super) struct Batch {
    out: Arc<AnswerSink>,
    state: Mutex<(usize, Vec<Value>)>,
}

impl Batch {
    /// A batch of `messages` messages. Each message must call [`Reply::send_answer`] exactly once,
    /// with `None` for no answer.
    pub(super) fn new(out: Arc<AnswerSink>, messages: usize) -> Arc<Batch> {
        Arc::new(Batch { out, state: Mutex::new((messages, Vec::new())) })
    }
}

impl Reply {
    /// The answer; `None` if there is to be none.
    pub(super) fn send_answer(&self, answer: Option<Value>) {
        match self {
            Reply::Alone(out) => answer.iter().for_each(|answer| out.send_message(answer)),
            Reply::InBatch(batch) => {
                let mut state = batch.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.0 = state.0.saturating_sub(1);
                state.1.extend(answer);
                if state.0 == 0 && !state.1.is_empty() {
                    batch.out.send_message(&Value::Array(std::mem::take(&mut state.1)));
                }
            }
        }
    }
}
