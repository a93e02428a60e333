//! Looks at the open pull requests beside the worker's loop, so that work goes on by itself after a
//! merge or a review.

use std::time::Instant;

use el_core::model::PullRequest;
use el_core::ops::{self, Given};

use super::report::Report;
use super::state::State;
use crate::pull_requests::{BETWEEN_LOOKS, Watched};

impl State<'_> {
    /// Begins a look if one is due. Most projects have no open pull request, and need no thread.
    pub(super) fn begin_look(&mut self) {
        if self.watching.is_due() {
            self.watching.next = Instant::now() + BETWEEN_LOOKS;
            let live = ops::pull_requests(&self.store, true).unwrap_or_default();
            if self.watching.has_live.is_none() {
                live.iter().for_each(|one| self.warn_of_held(one));
            }
            self.watching.begin_look(!live.is_empty(), self.options.durability);
        }
    }

    /// Tells of an answer to a review that an earlier worker could not push.
    fn warn_of_held(&mut self, one: &PullRequest) {
        let Some(held) = &one.held else { return };
        let (id, why) = (&one.atom_id, &held.why);
        self.warn(format!("commits of {id} wait to be pushed: {why}; el pr {id} tries at once"));
    }

    /// Reports what a look has found.
    pub(super) async fn report_look(&mut self) {
        let Some(task) = self.watching.task.take_if(|task| task.is_finished()) else { return };
        // After a panic the watch ends, and the work goes on.
        let Ok((watch, looked)) = task.await else {
            self.watching.end(None);
            return self.warn("pull requests are watched no more: the look failed".to_owned());
        };
        self.watching.end(Some(watch));
        let trouble = match looked {
            Ok(found) => {
                let waits = found.waits.as_ref().map(|wait| wait.why.clone());
                self.report_pulls(found);
                waits
            }
            Err(error) => Some(error),
        };
        if let Some(why) = trouble.as_ref().filter(|_| trouble != self.watching.told) {
            self.warn(format!("pull requests are not looked at now: {why}"));
        }
        self.watching.told = trouble;
    }

    fn report_pulls(&mut self, found: Watched) {
        for pull_request in found.changed {
            self.listener.report(&Report::PullRequest { pull_request: Box::new(pull_request) });
        }
        for answer in found.answers {
            let note = answer.closing_note();
            let (atom, fate, detail) = (answer.atom_id, answer.outcome, answer.detail.or(note));
            let taken_in = answer.taken_in;
            self.listener.report(&Report::Answered { atom, fate, detail, taken_in });
        }
        for handed in found.given {
            let (atom, taken_in) = (handed.atom_id, handed.taken_in);
            let is_blocked = handed.given == Given::Blocked;
            self.listener.report(&Report::AskedFor { atom, is_blocked, taken_in });
        }
    }
}
