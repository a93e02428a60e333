//! The state and the title of a delegated task, for the requester.

use super::ready::has_failed;
use crate::model::{Atom, Outcome, Run, Status, TaskStatus};

/// Returns the state of a task. `last`: the live run, or the last run.
pub fn task_status(atom: &Atom, last: Option<&Run>) -> TaskStatus {
    if atom.run_id.is_some() {
        return TaskStatus::Running;
    }
    match atom.status {
        Status::Open => TaskStatus::Queued,
        // Claimed by a person.
        Status::InProgress => TaskStatus::Running,
        Status::Review | Status::Testing => TaskStatus::Review,
        Status::Blocked => TaskStatus::Failed,
        Status::Deferred
            if atom.defer_until.is_some()
                || last.is_some_and(|run| run.outcome == Some(Outcome::Deferred)) =>
        {
            TaskStatus::Deferred
        }
        Status::Deferred | Status::Discard => TaskStatus::Cancelled,
        Status::Closed if has_failed(atom.status, atom.close_reason.as_deref()) => {
            TaskStatus::Failed
        }
        Status::Closed => TaskStatus::Completed,
        Status::WontDo => TaskStatus::Declined,
    }
}

/// Longest title made from a prompt, in characters.
const TITLE: usize = 80;

/// Makes a title from a prompt: the first line with text, without marks of headings and lists, cut
/// at the end of a word.
pub fn title_from_prompt(prompt: &str) -> String {
    let said = |line: &str| {
        // A heading may be closed as it was opened, after a space.
        let open = line.trim_end().trim_end_matches('#');
        let line = if line.starts_with('#') && open.ends_with(' ') { open } else { line };
        let line = line.trim_start_matches(|c: char| c.is_whitespace() || "#>*-+=`".contains(c));
        let words: Vec<&str> = line
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|word| !word.is_empty())
            .collect();
        words.join(" ")
    };
    let line = prompt
        .lines()
        .map(said)
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "Delegated task".to_owned());
    if line.chars().count() <= TITLE {
        return line;
    }
    let cut: String = line.chars().take(TITLE - 1).collect();
    let whole =
        cut.rfind(' ').filter(|at| *at > cut.len() / 2).map_or(cut.as_str(), |at| &cut[..at]);
    format!("{whole}…")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::validate;

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        for (prompt, want) in [
            ("Fix the parser", "Fix the parser"),
            ("\n\n## Fix   the\tparser  \nmore", "Fix the parser"),
            ("---\n- do it", "do it"),
            ("# Learn C# #", "Learn C#"),
            ("Learn C#", "Learn C#"),
            ("  \n\t", "Delegated task"),
            ("a\u{1b}[31mb", "a [31mb"),
        ] {
            assert_eq!(title_from_prompt(prompt), want, "{prompt:?}");
        }
        let long = title_from_prompt(&"word ".repeat(100));
        assert!(long.ends_with("word…") && long.chars().count() <= TITLE, "{long}");
        assert_eq!(title_from_prompt(&"x".repeat(500)).chars().count(), TITLE);
    }

    proptest! {
        #[test]
        fn every_prompt_gives_a_legal_title(prompt in "\\PC{0,400}|(.|\n){0,400}") {
            let title = title_from_prompt(&prompt.replace('\0', ""));
            prop_assert!(validate::title(&title).is_ok(), "{title:?}");
        }
    }
}
