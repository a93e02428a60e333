//! The actions: each is a command of `el`, by an `el` of its own.

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::Sender;

use super::Message;
use super::action::{Action, Ask, Place};
use super::state::{Mark, Row};
use crate::output::sanitize;

fn words(line: &[&str]) -> Vec<String> {
    line.iter().map(|word| (*word).to_owned()).collect()
}

/// A row without ways of its own is a run or an atom of the queue: of these, only a run is ended.
fn has_way(row: Option<&Row>, key: &str, label: &str) -> bool {
    row.is_some_and(|row| match row.ways.as_slice() {
        [] => row.mark == Mark::Runs,
        ways => ways.iter().any(|way| way.key == key && way.label == label),
    })
}

/// The command that the key of a need shows, for a person to complete: it changes settings, or
/// holds a value that nobody can guess.
pub(super) fn shown_command(key: char, row: Option<&Row>) -> Option<String> {
    let way = row?.ways.iter().find(|way| way.key == "e" && key == 'e')?;
    Some(sanitize::one_line(&way.command).into_owned())
}

/// The action of a key on a row; `None` if the key does nothing there.
pub(super) fn action_of(key: char, row: Option<&Row>) -> Option<Action> {
    let of = |ask, place, commands: Vec<Vec<String>>| Some(Action { ask, place, commands });
    let aside = |ask, line: &[&str]| of(ask, Place::Aside, vec![words(line)]);
    let confirm = |text: String| Ask::Confirm(text);
    match key {
        '+' => return aside(Ask::Line("Title of the new atom: ".into()), &["create", "--title"]),
        's' => {
            let resume = row
                .and_then(|row| row.ways.iter().find(|way| way.key == "s"))
                .map(|way| way.command.split_whitespace().skip(1).map(str::to_owned).collect());
            let line = resume.unwrap_or_else(|| words(&["work", "--background"]));
            let place = match line.first().map(String::as_str) {
                Some("orchestrate") => Place::Terminal,
                _ => Place::Aside,
            };
            return of(Ask::Nothing, place, vec![line]);
        }
        'S' => {
            let ask = confirm("Stop every worker, and end its sessions?".into());
            return aside(ask, &["work", "--stop"]);
        }
        'L' => {
            let line = match row.and_then(|row| row.atom.as_deref()) {
                Some(atom) => words(&["land", atom]),
                None => words(&["land", "--all"]),
            };
            let ask = confirm(format!("el {}?", line.join(" ")));
            return of(ask, Place::Terminal, vec![line]);
        }
        _ => {}
    }
    let id = row?.atom.as_deref()?;
    match key {
        'a' => aside(confirm(format!("Approve {id}?")), &["approve", id]),
        'r' => aside(Ask::Text("reason.md"), &["reject", id, "--reason", "-"]),
        'c' => of(
            Ask::Text("answer.md"),
            Place::Aside,
            vec![words(&["comment", "add", id, "-"]), words(&["reopen", id])],
        ),
        'R' => aside(Ask::Nothing, &["retry", id]),
        'x' if has_way(row, "x", "cancel") => {
            aside(confirm(format!("End the run of {id}?")), &["cancel", id])
        }
        'x' => {
            let line = ["update", id, "--status", "wont_do"];
            aside(confirm(format!("Decide against {id}?")), &line)
        }
        'X' => aside(
            confirm(format!("Discard {id}? el discard restore brings it back.")),
            &["discard", id],
        ),
        'p' => aside(Ask::Line(format!("Priority of {id}, 0 to 5: ")), &["update", id, "-p"]),
        'z' => {
            let until = Ask::Line(format!("Put {id} off until (3h, 2d, tomorrow): "));
            aside(until, &["update", id, "--status", "deferred", "--defer-until"])
        }
        'o' => of(Ask::Nothing, Place::Terminal, vec![words(&["attach", id])]),
        _ => None,
    }
}

/// Runs the commands of an action beside the board, and tells how they ended.
pub(super) fn run_aside(
    program: impl Fn() -> Command + Send + 'static,
    commands: Vec<Vec<String>>,
    text: Option<String>,
    messages: Sender<Message>,
) {
    std::thread::spawn(move || {
        let mut told = String::new();
        let mut text = text;
        for line in commands {
            let mut command = program();
            command.args(&line);
            match run_quietly(command, text.take()) {
                Ok((is_done, said)) => {
                    told = said;
                    if !is_done {
                        break;
                    }
                }
                Err(error) => {
                    told = error.to_string();
                    break;
                }
            }
        }
        // Nobody listens once the board is closed.
        let _ = messages.send(Message::Done(told));
    });
}

fn run_quietly(mut command: Command, text: Option<String>) -> io::Result<(bool, String)> {
    let stdin = if text.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let (Some(text), Some(mut stdin)) = (text, child.stdin.take()) {
        // A command that refuses its arguments reads nothing.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait_with_output()?;
    let said = if ended.status.success() { &ended.stdout } else { &ended.stderr };
    let said = String::from_utf8_lossy(said);
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Ok((ended.status.success(), sanitize::one_line(line).into_owned()))
}

/// Runs the commands of an action on the terminal, and waits for Enter at the end, unless they show
/// a screen of their own.
pub(super) fn run_on_terminal(
    program: impl Fn() -> Command,
    commands: &[Vec<String>],
) -> Result<(), io::Error> {
    let mut has_failed = false;
    for line in commands {
        has_failed |= !program().args(line).status()?.success();
    }
    let is_screen = commands.iter().any(|line| line.first().is_some_and(|verb| verb == "attach"));
    if !is_screen || has_failed {
        let mut stdout = io::stdout();
        write!(stdout, "\nEnter goes back to the board. ")?;
        stdout.flush()?;
        io::stdin().lock().read_line(&mut String::new())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(atom: Option<&str>) -> Row {
        Row {
            key: "k".into(),
            mark: Mark::Needs,
            atom: atom.map(str::to_owned),
            kind: String::new(),
            text: String::new(),
            right: String::new(),
            ways: Vec::new(),
            priority: None,
        }
    }

    #[test]
    fn nothing_that_cannot_be_taken_back_happens_without_a_question() {
        let row = row(Some("t-1"));
        for key in ['a', 'x', 'X', 'S', 'L'] {
            let action = action_of(key, Some(&row)).unwrap();
            assert!(matches!(action.ask, Ask::Confirm(_)), "{key}");
        }
        assert_eq!(action_of('R', Some(&row)).unwrap().commands, [["retry", "t-1"]]);
    }

    #[test]
    fn a_run_is_ended_and_anything_else_decided_against() {
        let ended = Row { mark: Mark::Runs, ..row(Some("t-1")) };
        assert_eq!(action_of('x', Some(&ended)).unwrap().commands, [["cancel", "t-1"]]);
        let other = action_of('x', Some(&row(Some("t-1")))).unwrap();
        assert_eq!(other.commands, [["update", "t-1", "--status", "wont_do"]]);
    }

    #[test]
    fn a_row_without_an_atom_has_the_keys_of_the_project_alone() {
        let row = row(None);
        for key in ['a', 'r', 'c', 'R', 'x', 'X', 'p', 'z', 'o'] {
            assert_eq!(action_of(key, Some(&row)), None, "{key}");
        }
        assert!(action_of('s', Some(&row)).is_some() && action_of('+', None).is_some());
    }
}
