//! Texts that describe a step, and that say why it cannot be taken back.

use serde_json::json;

use crate::model::{Event, EventKind, Status};

/// Events that change nothing by themselves.
pub(super) fn is_remark(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::Nudged
            | EventKind::Verified
            | EventKind::LandFailed
            | EventKind::Retried
            | EventKind::PullRequest
    )
}

/// Returns why a change cannot be taken back, with the other way.
pub(super) fn obstacle(event: &Event) -> Option<String> {
    let way = match event.kind {
        EventKind::Imported => "it is an import; el restore brings back the backup from before it",
        EventKind::Pruned => "what was pruned is gone; el restore brings back the backup of then",
        EventKind::Restored => "it is a restore; el backup list has what it replaced",
        EventKind::Landed => "it was landed; git revert takes its commits back",
        EventKind::Posted => "the message may have been read; post another one",
        EventKind::CancelRequested => "the run was told to end; el reopen has it done anew",
        EventKind::Submitted | EventKind::Approved | EventKind::Rejected => {
            "it is a review's; el reopen opens the atom again"
        }
        EventKind::RunStarted | EventKind::RunEnded => "it is a run; el reopen has it done anew",
        EventKind::Orchestrated | EventKind::Answered => {
            "it drives a plan; el orchestrate resume goes on with it"
        }
        EventKind::Status if !event.data["was"]["run"].is_null() => {
            "a run was at work, and has ended; el reopen opens the atom again"
        }
        EventKind::Status if event.data["from"] == json!(Status::Review) => {
            "it took the atom out of its review; el submit hands it over again"
        }
        EventKind::Status if !event.data["was"].is_object() => "an import set the status",
        _ => return None,
    };
    Some(way.to_owned())
}

pub(super) fn describe(event: &Event) -> String {
    let word = |key: &str| event.data[key].as_str().unwrap_or("?").to_owned();
    match event.kind {
        EventKind::Created => format!("created: {}", word("title")),
        EventKind::Updated => {
            let fields: Vec<&str> =
                event.data.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
            format!("changed: {}", fields.join(", "))
        }
        EventKind::Status => format!("{} → {}", word("from"), word("to")),
        EventKind::Commented => "commented".to_owned(),
        EventKind::BondAdded => format!("bound to {} ({})", word("source"), word("type")),
        EventKind::BondRemoved => format!("freed from {} ({})", word("source"), word("type")),
        kind => kind.as_str().replace('_', " "),
    }
}
