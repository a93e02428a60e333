use std::fmt::Write as _;

use super::super::change::{ChangeDetails, set_status};
use super::super::post;
use super::flow::LoadedPlan;
use crate::model::{Atom, CompletionStatus, Status, claude_code_channel};
use crate::ops::comment::insert_comment;
use crate::protocol::response::Aggregation;
use crate::rules::orchestrate::Question;
use crate::store::{Tx, atom, orchestration};
use crate::{Ctx, Result};

/// Longest reason that is made of an aggregation, in characters.
const REASON: usize = 1_000;
/// Bytes of the merged content that a comment shows; the whole stays with the answer.
const OUTPUT_MAX: usize = 16 << 10;

/// Reports the result once, as a comment of the epic and a message to the requester. Closes the
/// epic if nothing is missing, and closes an epic again that a person reopened without new work.
pub(super) fn conclude(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    loaded: &LoadedPlan,
    missing: &[String],
) -> Result<()> {
    let epic = &loaded.epic;
    let data = loaded.asked_question(Question::Aggregation).and_then(|asked| asked.data.clone());
    let result: Option<Aggregation> = data.and_then(|data| serde_json::from_value(data).ok());
    if loaded.own.ended_at.is_none() {
        send_result(
            tx,
            ctx,
            epic,
            &in_words(loaded, result.as_ref(), missing),
            !missing.is_empty(),
        )?;
        orchestration::set_ended(tx, &epic.id, Some(ctx.now))?;
    }
    let has_failed =
        result.as_ref().and_then(Aggregation::completion_status) == Some(CompletionStatus::Failed);
    if missing.is_empty() && !has_failed && !epic.status.is_over() {
        let reason = close_reason(result.as_ref());
        set_status(
            tx,
            ctx,
            &atom::get(tx, &epic.id)?,
            Status::Closed,
            ChangeDetails::with_reason(&reason),
        )?;
    }
    Ok(())
}

fn send_result(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    epic: &Atom,
    text: &str,
    is_missing: bool,
) -> Result<()> {
    insert_comment(tx, ctx, &epic.id, None, text)?;
    let to = &epic.created_by;
    let what = if is_missing {
        "is brought together, and something is missing"
    } else {
        "is brought together"
    };
    let message = format!("{} ({}) {what}.\n\n{text}", epic.id, epic.title);
    post::insert_message(
        tx,
        ctx,
        &claude_code_channel(to),
        ctx.actor,
        &message,
        std::slice::from_ref(to),
        Some(&epic.id),
        None,
    )?;
    Ok(())
}

fn close_reason(result: Option<&Aggregation>) -> String {
    let summary = result
        .and_then(|result| result.summary.as_deref())
        .unwrap_or("its tasks were brought together");
    let line = crate::text::one_line(summary, REASON);
    // A reason whose first word is a failure would read as a failed epic.
    if line.is_empty() || crate::rules::ready::has_failed(Status::Closed, Some(&line)) {
        format!("done: {line}")
    } else {
        line
    }
}

fn in_words(loaded: &LoadedPlan, result: Option<&Aggregation>, missing: &[String]) -> String {
    let mut text = String::from("## Result");
    if let Some(result) = result {
        let _ = write!(text, "\n\n**Status:** {}", result.status);
        if let Some(summary) = &result.summary {
            let _ = write!(text, "\n\n{summary}");
        }
        if !result.conflicts.is_empty() {
            text.push_str("\n\n### Conflicts\n");
            for conflict in &result.conflicts {
                let kind = conflict.kind.as_deref().unwrap_or("conflict");
                let _ =
                    write!(text, "\n- {kind}: {}", conflict.description.as_deref().unwrap_or("-"));
                if let Some(resolution) = &conflict.resolution {
                    let _ = write!(text, " — {resolution}");
                }
            }
        }
        if !result.output_files.is_empty() {
            text.push_str("\n\n### Files\n");
            result.output_files.iter().for_each(|file| {
                let _ = write!(text, "\n- {file}");
            });
        }
        if let Some(merged) = &result.merged_output {
            let shown = crate::text::head_bytes(merged, OUTPUT_MAX);
            let _ = write!(text, "\n\n### Content\n\n{shown}");
            if shown.len() < merged.len() {
                let _ =
                    write!(text, "\n\n(the whole: el orchestrate show {} --robot)", loaded.epic.id);
            }
        }
    }
    if !missing.is_empty() {
        text.push_str("\n\n### Missing\n");
        for id in missing {
            let found: Option<&Atom> = loaded.atoms.iter().find(|atom| atom.id == *id);
            let title = found.map_or("", |atom| atom.title.as_str());
            let status = found.map_or_else(String::new, |atom| format!(" ({})", atom.status));
            let _ = write!(text, "\n- {id} {title}{status}");
        }
    }
    text
}
