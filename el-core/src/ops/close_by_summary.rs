use super::change::{AtomEnd, end_atom};
use crate::model::{Status, Summary, SummaryStatus};
use crate::protocol::summary::parse_summary;
use crate::store::{Store, atom, run};
use crate::{Ctx, Result};

/// Longest reason that is made of a summary, in characters.
const REASON: usize = 1_000;

/// Closes the atom of a session because the summary exists: the execution protocol counts a summary
/// as the end of a task. `review`: the work has to be reviewed. An atom that is over, or that the
/// agent gave another status, is left alone.
///
/// # Errors
///
/// If the session itself could not close the atom: the run is over, a review is wanted, or a check
/// has to pass first.
pub fn close_by_summary(
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    summary: &str,
    review: bool,
) -> Result<()> {
    let reason = close_reason(&parse_summary(summary));
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let atom = atom::get(tx, id)?;
        if atom.status != Status::InProgress {
            return Ok(());
        }
        let end = AtomEnd {
            status: Status::Closed,
            reason: Some(&reason),
            review,
            was_checked: false,
            via: Some("summary file"),
        };
        end_atom(tx, ctx, session.as_ref(), &atom, end)
    })
}

/// Returns the closing reason in the agent's words. For a failure the reason begins with a word
/// that `conditional_blocks` reads as a failure.
fn close_reason(summary: &Summary) -> String {
    let done = if summary.accomplishments.is_empty() {
        summary.objective.clone().unwrap_or_else(|| "see the summary file".to_owned())
    } else {
        summary.accomplishments.join("; ")
    };
    let head = match (summary.status, &summary.status_text) {
        (Some(SummaryStatus::Failed), _) => "failed: ".to_owned(),
        (Some(SummaryStatus::Partial), _) => "partial: ".to_owned(),
        (None, Some(words)) => format!("not completed, its status is unclear ({words:?}): "),
        (Some(SummaryStatus::Completed), _) | (None, None) => String::new(),
    };
    format!("{head}{}", crate::text::one_line(&done, REASON))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_what_was_done_and_says_if_it_failed() {
        let text = |status: &str| {
            format!(
                "# Task Completion Summary\n\n## Accomplishments\n- Parser written\n- Tests added\n\
                 \n## Status\n{status}\n"
            )
        };
        assert_eq!(
            close_reason(&parse_summary(&text("✅ COMPLETED"))),
            "Parser written; Tests added"
        );
        assert_eq!(
            close_reason(&parse_summary(&text("❌ FAILED"))),
            "failed: Parser written; Tests added"
        );
        assert_eq!(
            close_reason(&parse_summary(&text("⚠️ PARTIAL"))),
            "partial: Parser written; Tests added"
        );
        assert_eq!(
            close_reason(&parse_summary(&text("Unable to complete"))),
            "not completed, its status is unclear (\"Unable to complete\"): Parser written; Tests \
             added"
        );
        assert_eq!(close_reason(&parse_summary("done\n")), "done");
        assert_eq!(close_reason(&parse_summary("\n")), "see the summary file");
        assert!(
            close_reason(&parse_summary(&format!("## Accomplishments\n- {}\n", "x".repeat(9_000))))
                .chars()
                .count()
                <= REASON
        );
    }
}
