//! The two workers of a round, restarted whenever a worker is gone and work is left.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Mutex;
use std::time::Instant;

use rustix::process::Signal;

use crate::procs::send;
use crate::scratch::{Ran, Scratch, ended};

#[derive(Debug)]
struct Slot {
    child: Child,
    output: PathBuf,
    /// Ended by the harness, so its end proves nothing.
    struck: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Workers {
    slots: Mutex<[Option<Slot>; 2]>,
    /// Since when there was always a worker.
    up_since: Mutex<Option<Instant>>,
}

/// A notable event of a worker.
#[derive(Debug)]
pub(crate) enum Noticed {
    /// The worker ended by itself, with an error.
    Failed(Ran),
    /// The worker waits, because too many runs in a row failed, and is sent away so that the round
    /// goes on.
    Held,
}

impl Workers {
    /// Takes note of ended workers, and starts new workers if `start` says so.
    pub(crate) fn keep(&self, scratch: &Scratch, start: bool) -> Vec<Noticed> {
        let mut noticed = Vec::new();
        let mut slots = self.slots.lock().unwrap();
        for slot in slots.iter_mut() {
            if let Some(worker) = slot {
                if let Some(status) = worker.child.try_wait().unwrap() {
                    let ran = ended(status, &worker.output);
                    // 9: the worker ended, and some of its work failed, as scripted.
                    if !matches!(ran.status, 0 | 9) && !worker.struck {
                        noticed.push(Noticed::Failed(ran));
                    }
                    *slot = None;
                } else if !worker.struck {
                    let said =
                        fs::read_to_string(worker.output.with_extension("out")).unwrap_or_default();
                    if said.contains("claiming waits for") {
                        worker.struck = true;
                        send(worker.child.id(), Signal::TERM);
                        noticed.push(Noticed::Held);
                    }
                }
            }
            if slot.is_none() && start {
                let (child, output) =
                    scratch.start(&mut scratch.command(&["work", "--drain", "--concurrency", "3"]));
                *slot = Some(Slot { child, output, struck: false });
            }
        }
        let any = slots.iter().any(Option::is_some);
        let mut up_since = self.up_since.lock().unwrap();
        *up_since = if any { Some(up_since.unwrap_or_else(Instant::now)) } else { None };
        noticed
    }

    pub(crate) fn up_since(&self) -> Option<Instant> {
        *self.up_since.lock().unwrap()
    }

    pub(crate) fn count(&self) -> usize {
        self.slots.lock().unwrap().iter().flatten().count()
    }

    /// Signals a worker. Returns true if there was a worker.
    pub(crate) fn strike(&self, which: usize, signal: Signal) -> bool {
        let mut slots = self.slots.lock().unwrap();
        let Some(worker) = slots[which % 2].as_mut() else { return false };
        if worker.child.try_wait().unwrap().is_some() {
            return false;
        }
        worker.struck = true;
        // The pid cannot belong to another process: the worker is not reaped yet.
        send(worker.child.id(), signal)
    }

    /// Ends all, for good.
    pub(crate) fn end(&self) {
        for slot in self.slots.lock().unwrap().iter_mut() {
            if let Some(mut worker) = slot.take() {
                let _ = worker.child.kill();
                let _ = worker.child.wait();
            }
        }
    }
}
