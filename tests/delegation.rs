//! `el run`, `el tasks`, `el queue`: handing over, one task at a time, checks, cancelling.

mod checks;
mod folders;
mod handing_over;
mod queue;

use serde_json::Value;

use crate::support::{SOON, TestEnv, wait_until};

impl TestEnv {
    /// Hands over a task whose scripted agent takes these steps. Returns the answer of `el run`.
    #[track_caller]
    fn hand_over(&self, steps: &[&str], more: &[&str]) -> Value {
        self.robot(&[&["run"], more, &["--", &Self::script(steps)]].concat())
    }

    #[track_caller]
    fn task(&self, id: &Value) -> Value {
        self.robot(&["tasks", "show", id.as_str().unwrap()])
    }

    /// Waits until the task stands so.
    #[track_caller]
    fn wait_for_task(&self, id: &Value, status: &str) -> Value {
        wait_until(&format!("{id} to be {status}"), SOON, || {
            Some(self.task(id)).filter(|task| task["status"] == status)
        })
    }

    /// Waits until no worker is there any more.
    #[track_caller]
    fn wait_for_workers_to_leave(&self) {
        let count = || -> i64 {
            self.database().query_row("SELECT count(*) FROM workers", [], |row| row.get(0)).unwrap()
        };
        wait_until("the worker to leave", SOON, || (count() == 0).then_some(()));
    }

    /// How many workers have begun in the background so far.
    fn workers_begun(&self) -> usize {
        let log = std::fs::read_to_string(self.project(".eluent/worker.log")).unwrap_or_default();
        log.lines().filter(|line| line.contains("Ctrl-C stops claiming")).count()
    }

    fn go(&self, file: &str) {
        std::fs::write(self.project(file), "").unwrap();
    }
}
