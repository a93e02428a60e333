//! Carries actions out: each command by an `el` of its own.

use std::io::{self, BufRead as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::SyncSender;

use super::Message;
use super::action::Action;
use crate::editor::Draft;
use crate::output::sanitize;

/// The line below which nothing is read, as in git's commit messages.
const SCISSORS: &str = "# ------------------------ >8 ------------------------";

/// Returns the editor's first text: room for a text, and the subject.
pub(super) fn blank_form(about: &str) -> String {
    format!("\n\n{SCISSORS}\n# Write above this line; what is below it is left out.\n# {about}\n")
}

/// Returns the text that a person wrote into the form.
pub(super) fn written_part(text: &str) -> &str {
    text.split(SCISSORS).next().unwrap_or_default().trim()
}

/// Runs the commands of an action beside the board, and reports the end. The draft is the text for
/// the first command, and is kept unless all commands succeed.
pub(super) fn run_aside(
    program: impl Fn() -> Command + Send + 'static,
    commands: Vec<Vec<String>>,
    draft: Option<(Draft, String)>,
    messages: SyncSender<Message>,
) {
    std::thread::spawn(move || {
        let (draft, mut text) =
            draft.map_or((None, None), |(draft, text)| (Some(draft), Some(text)));
        let mut told = String::new();
        let mut has_failed = false;
        for line in commands {
            let ended = run_quietly(program().args(&line), text.take());
            let (is_done, said) = ended.unwrap_or_else(|error| (false, error.to_string()));
            told = first_line(&said);
            has_failed = !is_done;
            if has_failed {
                break;
            }
        }
        match draft {
            Some(draft) if has_failed => {
                told.push_str(&format!("; your text is in {}", draft.path_line()));
            }
            Some(draft) => draft.remove(),
            None => {}
        }
        // Nobody listens once the board is closed.
        let _ = messages.send(Message::Done(told));
    });
}

/// Asks `el undo` for the changes that would be taken back, for the question to the person.
pub(super) fn ask_undo(
    program: impl Fn() -> Command + Send + 'static,
    action: Action,
    messages: SyncSender<Message>,
) {
    std::thread::spawn(move || {
        let ended = run_quietly(program().args(["undo", "--dry-run", "-q"]), None);
        let (is_done, said) = ended.unwrap_or_else(|error| (false, error.to_string()));
        let told = if is_done { undo_question(&said, action) } else { None };
        let _ = messages.send(match told {
            Some((question, action)) => Message::Ask(question, action),
            None => Message::Done(first_line(&said)),
        });
    });
}

/// The question, and the action for this very step: the first line begins with its number, and each
/// other line tells a change.
fn undo_question(said: &str, mut action: Action) -> Option<(String, Action)> {
    let mut lines = said.lines();
    let (step, age) = lines.next()?.split_once(' ')?;
    let changes: Vec<&str> = lines.map(str::trim).filter(|line| !line.is_empty()).collect();
    action.commands.last_mut()?.push(step.to_owned());
    let what = sanitize::one_line(&changes.join("; ")).into_owned();
    Some((format!("Take back, from {age}: {what}?"), action))
}

fn first_line(said: &str) -> String {
    let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    sanitize::one_line(line).into_owned()
}

/// Returns true if the command succeeded, and its output.
fn run_quietly(command: &mut Command, text: Option<String>) -> io::Result<(bool, String)> {
    let stdin = if text.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let (Some(text), Some(mut stdin)) = (text, child.stdin.take()) {
        // A command that refuses its arguments reads nothing.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait_with_output()?;
    let said = if ended.status.success() { &ended.stdout } else { &ended.stderr };
    Ok((ended.status.success(), String::from_utf8_lossy(said).into_owned()))
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
    let has_screen = |line: &Vec<String>| {
        line.first().is_some_and(|verb| ["attach", "edit"].contains(&verb.as_str()))
    };
    if has_failed || !commands.iter().any(has_screen) {
        let mut stdout = io::stdout();
        write!(stdout, "\nEnter goes back to the board. ")?;
        stdout.flush()?;
        io::stdin().lock().read_line(&mut String::new())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::action::{Ask, Place};
    use super::*;

    #[test]
    fn a_form_keeps_what_is_above_the_line_with_its_headings() {
        let form = blank_form("To reject t-1: Sing");
        assert_eq!(written_part(&form), "");
        assert_eq!(
            written_part(&format!("# A heading\n\nA text.{form}")),
            "# A heading\n\nA text."
        );
        assert_eq!(written_part("no line\n"), "no line");
    }

    #[test]
    fn an_undo_names_the_step_and_all_that_it_takes_back() {
        let action =
            Action { ask: Ask::Undo, place: Place::Aside, commands: vec![vec!["undo".to_owned()]] };
        let said = "214 2m ago\n  t-1 status: open → closed\n  t-2 label x\n";
        let (question, action) = undo_question(said, action.clone()).unwrap();
        assert_eq!(question, "Take back, from 2m ago: t-1 status: open → closed; t-2 label x?");
        assert_eq!(action.commands, [["undo", "214"]]);
        assert!(undo_question("", action).is_none());
    }
}
