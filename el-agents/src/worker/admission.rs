//! Whether one more session may start now, and what is told if not.

use std::time::{Duration, Instant};

use el_core::ops;
use el_core::rules::admit::{Admission, Held, Limits, may_start_session};

use super::report::Report;
use super::state::State;
use crate::{clock, machine};

/// A start longer ago than this says nothing.
const FORGET: Duration = Duration::from_secs(600);
/// So often the store is told that starts are still held back, and so long it holds what it was
/// told.
const AGAIN: Duration = Duration::from_secs(20);
const TOLD_FOR: Duration = Duration::from_secs(60);
/// A wait between two starts that is shorter than this is told nobody.
const SHORT: Duration = Duration::from_secs(5);

impl State<'_> {
    /// Whether one more may start, with so many running.
    pub(super) fn may_start(&mut self, running: usize) -> bool {
        let limits = self.options.resources.limits;
        if limits == Limits::default() {
            return true;
        }
        let now = Instant::now();
        self.starts.at.retain(|at| now.duration_since(*at) < FORGET.max(limits.start_interval));
        let since: Vec<Duration> =
            self.starts.at.iter().map(|at| now.duration_since(*at)).collect();
        let idle_since = (running == 0).then(|| *self.starts.idle_since.get_or_insert(now));
        self.starts.idle_since = idle_since;
        match may_start_session(
            &limits,
            &machine::read(),
            &since,
            idle_since.map(|at| now.duration_since(at)),
        ) {
            Admission::Start => {
                self.no_longer_held();
                true
            }
            Admission::StartAnyway(held) => {
                self.warn(format!(
                    "nothing has run for a minute, so one is started although {held}"
                ));
                self.no_longer_held();
                true
            }
            Admission::Hold(held) => {
                self.tell_held(&held);
                false
            }
        }
    }

    pub(super) fn started(&mut self) {
        self.starts.at.push(Instant::now());
        self.starts.idle_since = None;
    }

    fn tell_held(&mut self, held: &Held) {
        if matches!(held, Held::Interval { left } if *left < SHORT) {
            return;
        }
        let kind = std::mem::discriminant(held);
        let is_new = self.starts.told.is_none_or(|(told, _)| told != kind);
        if !is_new && self.starts.told.is_some_and(|(_, at)| at.elapsed() < AGAIN) {
            return;
        }
        let reason = held.to_string();
        // It is what `el why` says; the worker's own output says it anyway.
        let _ = ops::set_held_back(&mut self.store, Some((clock::now().plus(TOLD_FOR), &reason)));
        self.starts.told = Some((kind, Instant::now()));
        if is_new {
            self.listener.report(&Report::HeldBack { reason });
        }
    }

    /// What was ready may start, or is ready no more.
    pub(super) fn no_longer_held(&mut self) {
        if self.starts.told.take().is_some() {
            let _ = ops::set_held_back(&mut self.store, None);
            self.listener.report(&Report::Released {});
        }
    }
}
