//! The actions of the keys on a row: each is a command of `el`.

use super::action::{Action, Ask, Place};
use super::state::{Mark, Row};
use crate::output::sanitize;

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

fn action(ask: Ask, place: Place, commands: Vec<Vec<String>>) -> Action {
    Action { ask, place, commands }
}

fn aside(ask: Ask, line: &[&str]) -> Action {
    action(ask, Place::Aside, vec![words(line)])
}

/// The command that the key of a need shows, for a person to complete: it changes settings, or
/// holds a value that nobody can guess.
pub(super) fn shown_command(key: char, row: Option<&Row>) -> Option<String> {
    let way = row?.ways.iter().find(|way| way.key == "e" && key == 'e')?;
    Some(format!("in a shell: {}", sanitize::one_line(&way.command)))
}

/// The action of a key, or why the row has none; `None` if no row has one.
pub(super) fn action_of(key: char, row: Option<&Row>) -> Option<Result<Action, String>> {
    let of_project = match key {
        '+' => aside(Ask::Line("Title of the new atom: ".into()), &["create", "--title"]),
        's' => start(row),
        'S' => {
            let ask = Ask::Confirm("Stop every worker, and end its sessions?".into());
            aside(ask, &["work", "--stop"])
        }
        'L' => {
            let way = row.map(|row| row.ways.iter().find(|way| way.key == "L"));
            let line: Vec<String> = match way {
                Some(Some(way)) => {
                    way.command.split_whitespace().skip(1).map(str::to_owned).collect()
                }
                Some(None) => return Some(Err("L is for a branch that can be landed".to_owned())),
                None => words(&["land", "--all"]),
            };
            let ask = Ask::Confirm(format!("el {}?", line.join(" ")));
            action(ask, Place::Terminal, vec![line])
        }
        'u' => aside(Ask::Undo, &["undo"]),
        'a' | 'A' | 'r' | 'c' | 'R' | 'x' | 'X' | 'p' | 'z' | 'o' | 'e' => {
            let chosen = row.and_then(|row| Some((row, row.atom.as_deref()?)));
            let Some((row, id)) = chosen else {
                return Some(Err(format!("{key} is for an atom, and this row is about none")));
            };
            return Some(action_on(key, row, id));
        }
        _ => return None,
    };
    Some(Ok(of_project))
}

/// Starts a worker, or the action that the row has for `s`.
fn start(row: Option<&Row>) -> Action {
    let resume = row
        .and_then(|row| row.ways.iter().find(|way| way.key == "s"))
        .map(|way| way.command.split_whitespace().skip(1).map(str::to_owned).collect());
    let line = resume.unwrap_or_else(|| words(&["work", "--background"]));
    let place = match line.first().map(String::as_str) {
        Some("orchestrate") => Place::Terminal,
        _ => Place::Aside,
    };
    action(Ask::Nothing, place, vec![line])
}

fn action_on(key: char, row: &Row, id: &str) -> Result<Action, String> {
    let text = |verb: &str| Ask::Text {
        file: format!("{verb}-{id}.md"),
        about: format!("To {verb} {id}: {}", row.text),
    };
    let remark = words(&["comment", "add", id, "-"]);
    let reopen = words(&["reopen", id]);
    let no_review = || Err(format!("{id} does not wait for a review"));
    Ok(match key {
        'a' | 'r' if !row.has_key(key) => return no_review(),
        'a' => aside(Ask::Confirm(format!("Approve {id}?")), &["approve", id]),
        'r' => aside(text("reject"), &["reject", id, "--reason", "-"]),
        'A' if row.mark == Mark::Runs => return Err(format!("{id} is at work; c comments")),
        'A' => action(text("answer"), Place::Aside, vec![remark, reopen]),
        'c' if row.has_way("c", "answer") => {
            action(text("answer"), Place::Aside, vec![remark, reopen])
        }
        'c' if row.has_way("c", "reopen") => aside(Ask::Nothing, &["reopen", id]),
        'c' => action(text("comment"), Place::Aside, vec![remark]),
        'R' => aside(Ask::Nothing, &["retry", id]),
        'x' if row.mark == Mark::Runs || row.has_way("x", "cancel") => {
            aside(Ask::Confirm(format!("End the run of {id}?")), &["cancel", id])
        }
        'x' => aside(
            Ask::Confirm(format!("Close {id} as won't do?")),
            &["update", id, "--status", "wont_do"],
        ),
        'X' => aside(
            Ask::Confirm(format!("Discard {id}? el discard restore brings it back.")),
            &["discard", id],
        ),
        'p' => aside(
            Ask::Line(format!("Priority of {id}, 0 (critical) to 5 (someday): ")),
            &["update", id, "-p"],
        ),
        'z' => aside(
            Ask::Line(format!("Put {id} off until (3h, 2d, tomorrow): ")),
            &["update", id, "--status", "deferred", "--defer-until"],
        ),
        'o' if row.mark == Mark::Runs || row.has_key('o') => {
            action(Ask::Nothing, Place::Terminal, vec![words(&["attach", id])])
        }
        'o' => return Err(format!("{id} has no session now; l shows its log")),
        _ => action(Ask::Nothing, Place::Terminal, vec![words(&["edit", id])]),
    })
}

#[cfg(test)]
mod tests {
    use el_core::model::Way;

    use super::*;
    use crate::top::state::tests::row;

    fn with_ways(ways: &[(&'static str, &'static str)]) -> Row {
        let way = |(key, label): &(&'static str, &'static str)| Way {
            key,
            label,
            command: String::new(),
        };
        Row { ways: ways.iter().map(way).collect(), ..row(Some("t-1")) }
    }

    fn of(key: char, row: &Row) -> Action {
        action_of(key, Some(row)).unwrap().unwrap()
    }

    #[test]
    fn nothing_that_cannot_be_taken_back_happens_without_a_question() {
        let row = with_ways(&[("a", "approve"), ("r", "reject"), ("L", "land")]);
        for key in ['a', 'x', 'X', 'S', 'L'] {
            assert!(matches!(of(key, &row).ask, Ask::Confirm(_)), "{key}");
        }
        assert_eq!(of('u', &row).ask, Ask::Undo);
        assert_eq!(of('R', &row).commands, [["retry", "t-1"]]);
    }

    #[test]
    fn a_row_without_a_branch_that_can_be_landed_lands_none() {
        assert!(action_of('L', Some(&row(Some("t-1")))).unwrap().is_err());
        assert_eq!(action_of('L', None).unwrap().unwrap().commands, [["land", "--all"]]);
    }

    #[test]
    fn a_run_is_ended_and_anything_else_decided_against() {
        let ended = Row { mark: Mark::Runs, ..row(Some("t-1")) };
        assert_eq!(of('x', &ended).commands, [["cancel", "t-1"]]);
        let other = of('x', &row(Some("t-1")));
        assert_eq!(other.commands, [["update", "t-1", "--status", "wont_do"]]);
    }

    #[test]
    fn an_answer_reopens_and_a_comment_does_not() {
        let count = |key, row: &Row| of(key, row).commands.len();
        assert_eq!(count('c', &with_ways(&[("c", "answer")])), 2);
        assert_eq!(of('c', &with_ways(&[("c", "reopen")])).commands, [["reopen", "t-1"]]);
        assert_eq!((count('c', &row(Some("t-1"))), count('A', &row(Some("t-1")))), (1, 2));
    }

    #[test]
    fn a_key_that_does_nothing_to_a_row_says_why() {
        for key in ['a', 'r', 'o'] {
            let told = action_of(key, Some(&row(Some("t-1")))).unwrap();
            assert!(told.unwrap_err().contains("t-1"), "{key}");
        }
        for key in ['a', 'A', 'r', 'c', 'R', 'x', 'X', 'p', 'z', 'o', 'e'] {
            assert!(action_of(key, Some(&row(None))).unwrap().is_err(), "{key}");
            assert!(action_of(key, None).unwrap().is_err(), "{key}");
        }
        assert!(action_of('s', Some(&row(None))).is_some() && action_of('+', None).is_some());
        assert_eq!(action_of('y', None), None);
    }
}
