//! Decides if another session may start now, and reports the reason if not.

use std::time::{Duration, Instant};

use el_core::ops;
use el_core::rules::admit::{Admission, Held, Limits, may_start_session};

use super::report::Report;
use super::state::State;
use crate::{clock, machine};

/// Starts older than this no longer count.
const FORGET_AFTER: Duration = Duration::from_secs(600);
/// The interval at which the store is told that starts are held back. The store drops the note
/// after [`TOLD_FOR`].
const TELL_AGAIN: Duration = Duration::from_secs(20);
const TOLD_FOR: Duration = Duration::from_secs(60);
/// A shorter wait between two starts is not reported.
const SHORT_WAIT: Duration = Duration::from_secs(5);

impl State<'_> {
    /// Returns true if another session may start beside the running sessions.
    pub(super) fn may_start(&mut self, running: usize) -> bool {
        let limits = self.options.resources.limits;
        if limits == Limits::default() {
            return true;
        }
        let now = Instant::now();
        self.starts
            .at
            .retain(|at| now.duration_since(*at) < FORGET_AFTER.max(limits.start_interval));
        let since: Vec<Duration> =
            self.starts.at.iter().map(|at| now.duration_since(*at)).collect();
        let idle_since = (running == 0).then(|| *self.starts.idle_since.get_or_insert(now));
        self.starts.idle_since = idle_since;
        match may_start_session(
            &limits,
            &machine::read_figures(),
            &since,
            idle_since.map(|at| now.duration_since(at)),
        ) {
            Admission::Start => {
                self.clear_held();
                true
            }
            Admission::StartAnyway(held) => {
                self.warn(format!(
                    "nothing has run for a minute, so one is started although {held}"
                ));
                self.clear_held();
                true
            }
            Admission::Hold(held) => {
                self.report_held(&held);
                false
            }
        }
    }

    pub(super) fn note_start(&mut self) {
        self.starts.at.push(Instant::now());
        self.starts.idle_since = None;
    }

    fn report_held(&mut self, held: &Held) {
        if matches!(held, Held::Interval { left } if *left < SHORT_WAIT) {
            return;
        }
        let kind = std::mem::discriminant(held);
        let is_new = self.starts.told.is_none_or(|(told, _)| told != kind);
        if !is_new && self.starts.told.is_some_and(|(_, at)| at.elapsed() < TELL_AGAIN) {
            return;
        }
        let reason = held.to_string();
        // For `el why` only; the worker's own output says the same.
        let _ = ops::set_held_back(&mut self.store, Some((clock::now().plus(TOLD_FOR), &reason)));
        self.starts.told = Some((kind, Instant::now()));
        if is_new {
            self.listener.report(&Report::HeldBack { reason });
        }
    }

    /// Clears the note that starts are held back.
    pub(super) fn clear_held(&mut self) {
        if self.starts.told.take().is_some() {
            let _ = ops::set_held_back(&mut self.store, None);
            self.listener.report(&Report::Released {});
        }
    }
}
