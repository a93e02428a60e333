//! The colours, each with a single meaning. Only the sixteen colours of the terminal's theme are
//! used, so that a person's theme applies.

use anstyle::{AnsiColor, Style};
use el_core::model::{Outcome, Status};

const fn foreground(color: AnsiColor) -> Style {
    Style::new().fg_color(Some(anstyle::Color::Ansi(color)))
}

pub(crate) const PLAIN: Style = Style::new();
pub(crate) const HEADER: Style = Style::new().dimmed();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const ID: Style = foreground(AnsiColor::Cyan);
pub(crate) const LABEL: Style = foreground(AnsiColor::Magenta);
pub(crate) const PERSON: Style = foreground(AnsiColor::Blue);
pub(crate) const GOOD: Style = foreground(AnsiColor::Green);
pub(crate) const WARNING: Style = foreground(AnsiColor::Yellow);
pub(crate) const ERROR: Style = foreground(AnsiColor::Red).bold();
pub(crate) const HINT: Style = foreground(AnsiColor::Cyan);

/// The colour of a status.
pub(crate) fn status_style(word: &str) -> Style {
    match word {
        "open" => foreground(AnsiColor::Blue),
        "in_progress" => foreground(AnsiColor::Yellow).bold(),
        "blocked" => foreground(AnsiColor::Red),
        "review" | "testing" => foreground(AnsiColor::Magenta),
        "closed" => GOOD,
        "deferred" => foreground(AnsiColor::Cyan).dimmed(),
        "wont_do" | "discard" => DIM,
        _ => PLAIN,
    }
}

/// The mark that stands for a status where a word would take too much room.
pub(crate) fn status_mark(word: &str) -> &'static str {
    match word {
        "open" => "○",
        "in_progress" => "◐",
        "blocked" => "⊘",
        "review" | "testing" => "◑",
        "closed" => "●",
        "deferred" => "◌",
        _ => "·",
    }
}

/// The mark of an atom that is held: by a person, or by other tasks of its plan.
pub(crate) const HELD_MARK: &str = "◇";

/// The mark of an atom on a board. A person holds one in progress: runs are listed by themselves.
pub(crate) fn board_mark(status: Status) -> &'static str {
    match status {
        Status::InProgress => HELD_MARK,
        other => status_mark(other.as_str()),
    }
}

/// The colour of a priority, from loud (0) to dim (3 and more).
pub(crate) fn priority_style(level: u8) -> Style {
    match level {
        0 => ERROR,
        1 => foreground(AnsiColor::Yellow),
        2 => PLAIN,
        _ => DIM,
    }
}

/// The colour of a run's outcome, or of the state of a live run.
pub(crate) fn outcome_style(word: &str) -> Style {
    match word {
        "closed" | "review" | "testing" => GOOD,
        "deferred" | "wont_do" | "discard" | "superseded" | "cancelled" | "deleted" => DIM,
        "usage_limit" | "outage" | "interrupted" | "lost" | "stalled" | "timed_out" | "blocked" => {
            WARNING
        }
        "failed" | "violation" | "launch_failed" | "account_error" => foreground(AnsiColor::Red),
        _ => foreground(AnsiColor::Yellow).bold(),
    }
}

/// The mark of a run's outcome: that of the status which its agent set.
pub(crate) fn outcome_mark(outcome: Outcome) -> &'static str {
    match outcome {
        outcome if outcome.is_said_by_agent() => status_mark(outcome.as_str()),
        outcome if outcome.is_failure() => "✗",
        _ => "·",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_workers_and_the_web_have_the_same_sign_for_each_status() {
        let web = include_str!("../../web/src/format.ts");
        for status in Status::ALL.iter().copied() {
            let sign = status_mark(status.as_str());
            let entry = format!("{status}: [\"{sign}\",");
            assert!(web.contains(&entry), "{entry}");
            if status != Status::InProgress {
                assert_eq!(board_mark(status), sign, "{status}");
            }
            if let Ok(outcome) = status.as_str().parse::<Outcome>() {
                assert_eq!(outcome_mark(outcome), sign, "{status}");
            }
        }
        assert!(web.contains(&format!("HELD = \"{HELD_MARK}\";")));
        let signs: Vec<&str> = Status::ALL.iter().map(|one| status_mark(one.as_str())).collect();
        for source in [
            include_str!("../../web/src/views/queue.tsx"),
            include_str!("../../web/src/views/plans.tsx"),
            include_str!("board.rs"),
            include_str!("board/held.rs"),
            include_str!("../commands/orchestrate/layers.rs"),
            include_str!("../commands/orchestrate/place.rs"),
            include_str!("../commands/work/words.rs"),
        ] {
            let own = signs.iter().filter(|sign| !"○◐·".contains(**sign));
            for sign in own.chain([&HELD_MARK]) {
                assert!(!source.contains(&format!("\"{sign}\"")), "{sign} is written out");
            }
        }
    }
}
