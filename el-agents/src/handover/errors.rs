//! `ERRORS.md`: the reasons of a failure, for a reader of the run's folder.

use el_core::model::SummaryStatus;

use super::results::EndedRun;
use crate::artifacts::read_last_lines;
use crate::claude::one_line;

/// The most lines of the agent's last output, and of its errors.
const LINES: usize = 30;

/// Renders the text; `None` for a run that failed neither by outcome nor by the agent's own words.
pub(super) fn render_markdown(told: &EndedRun<'_>) -> Option<String> {
    let says_so = told.summary.is_some_and(|summary| summary.status == Some(SummaryStatus::Failed));
    if !told.outcome.is_failure() && !told.outcome.is_external() && !says_so {
        return None;
    }
    let (run, exit) = (told.run, told.exit);
    let title =
        told.atom.map_or_else(String::new, |atom| format!(" ({})", one_line(&atom.title, 200)));
    let mut text = format!(
        "# {} failed\n\n- Work item: {}{title}\n- Attempt: {} by {}\n- Outcome: {}\n- Why: {}\n",
        run.id,
        run.atom_id,
        run.attempt,
        one_line(&run.agent, 100),
        told.outcome,
        one_line(told.detail, 1_000),
    );
    match (exit.exit_code, exit.signal) {
        (_, Some(signal)) => text.push_str(&format!("- Exit: killed by signal {signal}\n")),
        (Some(code), None) => text.push_str(&format!("- Exit: code {code}\n")),
        (None, None) => {}
    }
    if let Some(message) = &exit.message {
        text.push_str(&format!("- Message: {}\n", one_line(message, 1_000)));
    }
    if let Some(status) = exit.api_error_status {
        text.push_str(&format!("- The API answered: {status}\n"));
    }
    if !exit.denied_tools.is_empty() {
        text.push_str(&format!(
            "- Denied by its permissions: {}\n",
            one_line(&exit.denied_tools.join(", "), 500)
        ));
    }
    for note in &exit.sandbox_notes {
        text.push_str(&format!("- Sandbox: {}\n", one_line(note, 500)));
    }
    if let Some(atom) = told.atom {
        let retry = told
            .retry_at
            .map_or_else(String::new, |at| format!("; the next attempt begins after {at}"));
        text.push_str(&format!("- The work item is now: {}{retry}\n", atom.status));
    }
    if let Some(summary) = told.summary.filter(|_| says_so) {
        text.push_str("\n## What the agent says\n\n- Status: FAILED\n");
        for note in summary.notes.iter().chain(&summary.accomplishments) {
            text.push_str(&format!("- {}\n", one_line(note, 500)));
        }
    }
    let last = [
        ("The last lines of standard error", told.folder.stderr_path()),
        ("The last lines of output", told.folder.pane_path()),
    ];
    for (heading, path) in last {
        let lines = read_last_lines(&path, LINES);
        if !lines.is_empty() {
            text.push_str(&format!(
                "\n## {heading}\n\n{}\n",
                el_core::protocol::fence::fence_block(&lines, 16 << 10)
            ));
        }
    }
    text.push_str(&format!(
        "\n## More\n\n`el logs {}` shows the whole of it; `el why {}` what follows.\n",
        run.id, run.atom_id
    ));
    Some(text)
}
