//! Finds mistyped commands among the words of a goal or prompt. `el orchestrate stauts X` must not
//! become a plan, nor `el run list` a task, which would cost agents' runs.

use el_core::ops;
use strsim::osa_distance;

use crate::App;
use crate::command_list::command_names;

/// Verbs of other programs, with `el`'s own word.
const SYNONYMS: &[(&str, &str)] = &[
    ("abort", "cancel"),
    ("continue", "resume"),
    ("delete", "discard"),
    ("info", "show"),
    ("kill", "stop"),
    ("ls", "list"),
    ("ps", "list"),
    ("remove", "discard"),
    ("restart", "retry"),
    ("rm", "discard"),
    ("tail", "logs"),
    ("view", "show"),
];

/// Commands that take the id of an atom or a run.
const ON_ID: &[&str] = &[
    "approve", "attach", "cancel", "claim", "close", "diff", "discard", "edit", "history", "land",
    "logs", "pr", "reject", "release", "reopen", "retry", "show", "submit", "update", "why",
    "work",
];

/// The verb that a word equals, or nearly equals.
pub(crate) fn nearest_verb<'a>(word: &str, verbs: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let word = SYNONYMS.iter().find(|(other, _)| *other == word).map_or(&*word, |(_, verb)| verb);
    let most_slips = match word.chars().count() {
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    };
    let distance = |verb: &&str| osa_distance(word, verb);
    verbs
        .iter()
        .copied()
        .min_by_key(|verb| distance(verb))
        .filter(|verb| distance(verb) <= most_slips)
}

/// The command of `el` that a word before an id is, or nearly is.
pub(crate) fn command_of_el(word: &str) -> Option<&'static str> {
    match word.to_lowercase().as_str() {
        "stop" | "kill" => Some("cancel"),
        "wait" => Some("why"),
        _ => nearest_verb(word, &command_names()),
    }
}

/// The call that a word before an id was meant to be. `show` stands for what takes no id.
pub(crate) fn call_on_id(word: &str, id: &str) -> Option<String> {
    let command = command_of_el(word)?;
    Some(format!("el {} {id}", if ON_ID.contains(&command) { command } else { "show" }))
}

/// The command that a text is: nearly a verb, and an id. No task is as short as that.
pub(crate) fn command_on_id(app: &App, text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let (Some(verb), Some(id), None) = (words.next(), words.next(), words.next()) else {
        return None;
    };
    call_on_id(verb, &named_id(app, id)?)
}

/// The id of the only atom that begins with a word.
pub(crate) fn id_of_beginning(app: &App, word: &str) -> Option<String> {
    ops::resolve_id(&app.open_for_reading().ok()?, word).ok()
}

/// The id of the atom or run that a word names in full, or with the project's prefix. A mere
/// beginning does not count: `the` may be the beginning of an id, and is an ordinary word.
pub(crate) fn named_id(app: &App, word: &str) -> Option<String> {
    let store = app.open_for_reading().ok()?;
    let found = match word.to_ascii_lowercase().starts_with("run-") {
        true => ops::resolve_run(&store, word).ok()?,
        false => ops::resolve_id(&store, word).ok()?,
    };
    let lower = word.to_ascii_lowercase();
    let is_full = |short: &str| short == lower || lower.contains('-');
    found.rsplit_once('-').is_some_and(|(_, short)| is_full(short)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keys_is_the_verb_it_was_meant_to_be() {
        let verbs = ["list", "show", "status", "resume"];
        for (word, verb) in [
            ("stauts", "status"),
            ("resum", "resume"),
            ("Lsit", "list"),
            ("ls", "list"),
            ("continue", "resume"),
            ("shwo", "show"),
        ] {
            assert_eq!(nearest_verb(word, &verbs), Some(verb), "{word}");
        }
        let commands = command_names();
        assert_eq!(ON_ID.iter().find(|name| !commands.contains(name)), None);
        for word in ["Document", "fix", "tidy", "write", "a", ""] {
            assert_eq!(nearest_verb(word, &verbs), None, "{word}");
        }
    }
}
