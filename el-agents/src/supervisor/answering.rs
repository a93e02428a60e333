//! Decides between two calls of an agent: records the answers, asks again after an unusable answer,
//! and sends back an agent that left its atom open.

use std::fs::File;

use el_core::model::{EndKind, ExitRecord};
use el_core::ops::{self, AgentAnswer, Reply, RunSignal};
use el_core::protocol::context::nudge_text;

use super::Supervisor;
use crate::claude::one_line;
use crate::rundir::write_private;
use crate::settings::Executor;

/// How often a run resumes an agent that left its atom open.
pub(super) const RESUMES: u32 = 1;

/// The next prompt of the same conversation.
pub(super) struct NextPrompt {
    prompt: String,
    /// A line for people at the pane.
    why: String,
}

impl Supervisor {
    /// Returns the next prompt after a call; `None` ends the run.
    pub(super) fn next_prompt(&mut self, record: &ExitRecord) -> Option<NextPrompt> {
        let ended_well = matches!(record.end, EndKind::Exited | EndKind::Finished)
            && !record.is_error
            && record.signal.is_none()
            && record.exit_code.unwrap_or(0) == 0
            && record.fault.is_none();
        if !ended_well {
            return None;
        }
        let reading = self.watcher.reader.take_reading();
        let may_go_on = self.may_go_on(record);
        let (store, run, token) = self.watcher.lease.store_and_token();
        let heard = AgentAnswer {
            run,
            token,
            reading: &reading,
            asked_again: record.resumes,
            may_ask_again: may_go_on,
        };
        match ops::record_answer(store, &self.spec.ctx(), &heard) {
            Ok(Reply::LeftOpen) if may_go_on && record.resumes < RESUMES => {
                let why =
                    "the agent ended without closing its atom; it is sent back once".to_owned();
                Some(NextPrompt { prompt: self.nudge_text(), why })
            }
            Ok(Reply::AskAgain { prompt }) => Some(NextPrompt {
                prompt,
                why: "the answer cannot be used; the agent is asked again".to_owned(),
            }),
            Ok(Reply::Stopped { why }) => {
                self.watcher
                    .pane
                    .show(&format!("! no answer that can be used: {}", one_line(&why, 300)));
                None
            }
            Ok(Reply::None | Reply::LeftOpen | Reply::Kept) => None,
            Err(error) => {
                self.watcher
                    .pane
                    .show(&format!("! what the agent said could not be kept: {error}"));
                None
            }
        }
    }

    /// Returns true if the conversation can go on: the agent has a conversation, time and money are
    /// left, and this process still holds the run.
    fn may_go_on(&mut self, record: &ExitRecord) -> bool {
        if self.spec.agent.executor != Executor::Claude || record.end != EndKind::Exited {
            return false;
        }
        if self.watcher.began.elapsed() >= self.spec.agent.execution_timeout
            || self.watcher.signals.hung_up()
        {
            return false;
        }
        let progress = self.watcher.reader.progress();
        if self.spec.budget_left(progress.cost.cost_micros).is_some_and(|left| left <= 0.0) {
            return false;
        }
        let lease = &mut self.watcher.lease;
        lease.beat(None, &progress).is_ok() && lease.last_signal() == RunSignal::Work
    }

    /// Returns the prompt for an agent that left its atom open.
    pub(super) fn nudge_text(&mut self) -> String {
        let verify = self.stored_verify();
        nudge_text(&self.spec.atom, verify.as_ref())
    }

    /// Makes ready for another call.
    pub(super) fn begin_next_call(&mut self, again: &NextPrompt) -> std::io::Result<File> {
        let (store, run, token) = self.watcher.lease.store_and_token();
        // For the audit trail. The agent is sent back even if the write fails.
        let _ = ops::record_nudge(store, &self.spec.ctx(), run, token);
        self.watcher.pane.show(&format!("el: {}", again.why));
        self.watcher.reader.next_call();
        let path = self.folder.path().join("nudge.md");
        write_private(&path, again.prompt.as_bytes()).map_err(std::io::Error::other)?;
        File::open(path)
    }
}
