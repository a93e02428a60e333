//! `STATUS.txt` in the run's folder: the state of the run, as `name: value` lines, for readers of
//! files.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use el_core::model::{Progress, Timestamp};
use el_core::ops::{RunSignal, Settled};

use crate::claude::one_line;
use crate::clock;
use crate::rundir::replace_private;

/// The minimum interval between writes of changes.
const WRITE_EVERY: Duration = Duration::from_secs(2);
/// The interval at which an unchanged file is written again, so that the file's age shows a living
/// supervisor.
const REFRESH: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct StatusFile {
    path: PathBuf,
    /// The fixed part: run, work item, agent.
    head: String,
    began: Timestamp,
    written: Option<(Instant, String)>,
}

impl StatusFile {
    pub(super) fn new(
        path: PathBuf,
        run: &str,
        atom: &str,
        title: &str,
        agent: &str,
        began: Timestamp,
    ) -> StatusFile {
        let head = format!(
            "run: {run}\natom: {atom}\ntitle: {}\nagent: {}\n",
            one_line(title, 200),
            one_line(agent, 100)
        );
        StatusFile { path, head, began, written: None }
    }

    /// Writes the file if due. Called at each tick.
    pub(super) fn write_if_due(
        &mut self,
        watch: RunSignal,
        progress: &Progress,
        active_at: Option<Timestamp>,
    ) {
        let state = match watch {
            RunSignal::Work => "running".to_owned(),
            RunSignal::Finished(status) => format!("finishing, the work item is {status}"),
            RunSignal::Superseded => "ending, somebody else changed the work item".to_owned(),
            RunSignal::Cancelled(_) => "cancelling".to_owned(),
            RunSignal::OverBudget => "over budget".to_owned(),
            RunSignal::Over => "over".to_owned(),
        };
        let body = status_body(&state, progress);
        let is_due = match &self.written {
            None => true,
            Some((at, before)) if *before == body => at.elapsed() >= REFRESH,
            Some((at, _)) => at.elapsed() >= WRITE_EVERY,
        };
        if is_due {
            self.write(&body, active_at);
            self.written = Some((Instant::now(), body));
        }
    }

    /// Writes the final state of the run.
    pub(super) fn write_end(&mut self, settled: &Settled) {
        let detail = one_line(settled.run.detail.as_deref().unwrap_or_default(), 300);
        let status = settled.atom.as_ref().map_or("gone", |atom| atom.status.as_str());
        let body = status_body(&format!("ended as {}", settled.outcome), &settled.run.progress);
        self.write(
            &format!(
                "{body}detail: {detail}\natom_status: {status}\nartifacts: {}\n",
                settled.run.artifacts
            ),
            None,
        );
    }

    fn write(&self, body: &str, active_at: Option<Timestamp>) {
        let now = clock::now();
        let active = active_at.map_or_else(String::new, |at| format!("last_output: {at}\n"));
        let seconds = now.since(self.began).as_secs();
        let text = format!(
            "{}started: {}\nupdated: {now}\nelapsed_s: {seconds}\n{body}{active}",
            self.head, self.began
        );
        // A full disk costs this file, not the run.
        let _ = replace_private(&self.path, text.as_bytes());
    }
}

fn status_body(state: &str, progress: &Progress) -> String {
    #[expect(
        clippy::cast_precision_loss,
        reason = "an amount of dollars is far below the range where a float loses cents"
    )]
    let dollars = progress.cost.cost_micros as f64 / 1e6;
    let is_estimate = progress.cost.estimated_micros > 0;
    let estimated = if is_estimate { " (estimated)" } else { "" };
    let percent =
        progress.percent.map_or_else(String::new, |percent| format!("percent: {percent}\n"));
    let files = match (progress.files_processed, progress.files_total) {
        (Some(done), Some(total)) => format!("files: {done} of {total}\n"),
        (Some(done), None) => format!("files: {done}\n"),
        _ => String::new(),
    };
    format!(
        "status: {state}\n{percent}{files}turns: {}\ntokens_in: {}\ntokens_out: {}\n\
         cost_usd: {dollars:.4}{estimated}\ndoing: {}\n",
        progress.turns,
        progress.tokens_in,
        progress.tokens_out,
        one_line(progress.action.as_deref().unwrap_or("-"), 120),
    )
}

#[cfg(test)]
mod tests {
    use el_core::model::Status;

    use super::*;

    #[test]
    fn it_is_written_at_once_then_only_when_something_changed_and_time_has_passed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("STATUS.txt");
        let began = clock::now().minus(Duration::from_secs(90));
        let mut file =
            StatusFile::new(path.clone(), "run-1", "t-1", "A\ntitle \x1b[2J", "claude", began);
        let read = || std::fs::read_to_string(&path).unwrap();
        let mut progress =
            Progress { action: Some("Bash: make".to_owned()), ..Progress::default() };
        file.write_if_due(RunSignal::Work, &progress, None);
        let first = read();
        assert!(
            first.contains("status: running\n")
                && first.contains("title: A title\n")
                && first.contains("doing: Bash: make\n"),
            "{first}"
        );
        assert!(first.contains("elapsed_s: 90\n") || first.contains("elapsed_s: 91\n"), "{first}");
        progress.turns = 3;
        file.write_if_due(RunSignal::Work, &progress, None);
        assert_eq!(read(), first, "two seconds have not passed");
        file.written.as_mut().unwrap().0 = Instant::now().checked_sub(WRITE_EVERY).unwrap();
        file.write_if_due(RunSignal::Finished(Status::Closed), &progress, Some(began));
        let second = read();
        assert!(
            second.contains("turns: 3\n")
                && second.contains("status: finishing, the work item is closed\n"),
            "{second}"
        );
        assert!(second.contains("last_output: "), "{second}");
    }
}
