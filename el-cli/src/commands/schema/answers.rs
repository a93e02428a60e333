//! The types of the answers of all commands, under `data`.

use el_agents::land::AtomBranch;
use el_agents::mailbox::Synced;
use el_core::model::{Atom, Bond, Channel, Comment, Message, Run};
use el_core::ops::{Cancelled, CancelledTask, Explanation, Primed, Shown, Stats, Task, Updated};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::commands::{
    artifacts, chat, check_text, comment, completions, config, dep, diff, discard, doctor, export,
    help, history, import, inbox, init, land, list, mailbox, man, merge_driver, next, orchestrate,
    phase, queue, review, run, runs, setup, submit, tasks, trust, worktrees,
};
use crate::output::list::{List, OneOrMany};
use crate::schema;

/// Commands whose output is a stream, or is not `el`'s to promise.
pub(super) const NOT_DESCRIBED: &[&str] =
    &["attach", "logs", "mcp", "orchestrate", "orchestrate resume", "work"];

/// The function that builds the schema of a `T`.
const fn of<T: JsonSchema>() -> schema::Answer {
    SchemaGenerator::subschema_for::<T>
}

const ANSWERS: &[(&str, schema::Answer)] = &[
    ("init", of::<init::Made<'_>>()),
    ("create", of::<OneOrMany<'_, Atom>>()),
    ("list", of::<List<'_, list::Row>>()),
    ("ready", of::<List<'_, Atom>>()),
    ("search", of::<List<'_, Atom>>()),
    ("show", of::<OneOrMany<'_, Shown>>()),
    ("next", of::<next::Picked<'_>>()),
    ("edit", of::<Updated>()),
    ("update", of::<OneOrMany<'_, Updated>>()),
    ("close", of::<OneOrMany<'_, Atom>>()),
    ("reopen", of::<OneOrMany<'_, Atom>>()),
    ("discard", of::<OneOrMany<'_, Atom>>()),
    ("discard list", of::<List<'_, Atom>>()),
    ("discard restore", of::<Atom>()),
    ("discard prune", of::<discard::prune::Pruned<'_>>()),
    ("comment add", of::<Comment>()),
    ("comment list", of::<comment::list::Said<'_>>()),
    ("dep add", of::<Bond>()),
    ("dep remove", of::<List<'_, Bond>>()),
    ("dep list", of::<dep::list::Bonds<'_>>()),
    ("dep tree", of::<dep::tree::Tree<'_>>()),
    ("dep check", of::<dep::check::Checked<'_>>()),
    ("claim", of::<Atom>()),
    ("release", of::<Atom>()),
    ("retry", of::<OneOrMany<'_, Atom>>()),
    ("cancel", of::<OneOrMany<'_, Cancelled>>()),
    ("history", of::<history::History<'_>>()),
    ("stats", of::<Stats>()),
    ("why", of::<Explanation>()),
    ("check-text", of::<check_text::Understood>()),
    ("runs", of::<List<'_, Run>>()),
    ("runs list", of::<List<'_, Run>>()),
    ("runs show", of::<OneOrMany<'_, runs::show::Shown>>()),
    ("trust", of::<trust::Asked>()),
    ("config show", of::<config::show::Shown>()),
    ("config edit", of::<config::edit::Edited>()),
    ("config path", of::<config::path::Found>()),
    ("config agents", of::<List<'_, config::agents::Row>>()),
    ("config get", of::<config::get::Setting<'_>>()),
    ("config set", of::<config::set::Set<'_>>()),
    ("config unset", of::<config::unset::Unset<'_>>()),
    ("doctor", of::<doctor::Report<'_>>()),
    ("completions", of::<completions::Script<'_>>()),
    ("import", of::<import::Report<'_>>()),
    ("export", of::<export::Report<'_>>()),
    ("merge-driver", of::<merge_driver::Report<'_>>()),
    ("prime", of::<Option<Primed>>()),
    ("run", of::<run::Answer<'_>>()),
    ("tasks", of::<List<'_, Task>>()),
    ("tasks list", of::<List<'_, Task>>()),
    ("tasks show", of::<OneOrMany<'_, tasks::Placed>>()),
    ("tasks cancel", of::<OneOrMany<'_, CancelledTask>>()),
    ("queue", of::<List<'_, queue::Row>>()),
    ("queue list", of::<List<'_, queue::Row>>()),
    ("queue show", of::<List<'_, queue::Row>>()),
    ("artifacts", of::<List<'_, Run>>()),
    ("artifacts list", of::<List<'_, Run>>()),
    ("artifacts show", of::<artifacts::show::Answer<'_>>()),
    ("artifacts get", of::<artifacts::get::Answer<'_>>()),
    ("chat", of::<List<'_, Channel>>()),
    ("chat list", of::<List<'_, Channel>>()),
    ("chat show", of::<chat::show::Viewed<'_>>()),
    ("chat post", of::<Message>()),
    ("inbox", of::<inbox::Inbox<'_>>()),
    ("submit", of::<submit::Answer<'_>>()),
    ("review", of::<List<'_, review::Row<'_>>>()),
    ("approve", of::<OneOrMany<'_, Atom>>()),
    ("reject", of::<OneOrMany<'_, Atom>>()),
    ("mailbox sync", of::<Synced>()),
    ("mailbox post", of::<mailbox::post::Appended>()),
    ("setup claude", of::<setup::Answer<'_>>()),
    ("setup agents", of::<setup::Answer<'_>>()),
    ("schema", of::<super::Answer<'_>>()),
    ("man", of::<man::Manual<'_>>()),
    ("help", of::<help::Help<'_>>()),
    ("orchestrate list", of::<orchestrate::status::All>()),
    ("orchestrate show", of::<orchestrate::status::Answer<'_>>()),
    ("phase set", of::<phase::set::Supplied<'_>>()),
    ("phase show", of::<phase::show::Shown<'_>>()),
    ("diff", of::<diff::Difference>()),
    ("land", of::<land::Landing<'_>>()),
    ("worktrees", of::<List<'_, AtomBranch>>()),
    ("worktrees prune", of::<worktrees::prune::Pruning<'_>>()),
    ("worktrees remove", of::<worktrees::remove::Removed<'_>>()),
];

/// The commands that have a schema.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ANSWERS.iter().map(|(name, _)| *name)
}

/// The schema of a command's whole document, success and failure; `None` if there is no such
/// command.
pub(super) fn document(command: &str) -> Option<Value> {
    let (_, answer) = ANSWERS.iter().find(|(name, _)| *name == command)?;
    Some(schema::of_document(&format!("el {command} --robot"), *answer))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn leaves(command: &clap::Command, path: &str, out: &mut Vec<String>) {
        for sub in
            command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
        {
            let path = format!("{path} {}", sub.get_name()).trim().to_owned();
            leaves(sub, &path, out);
            if !sub.is_subcommand_required_set() {
                out.push(path);
            }
        }
    }

    #[test]
    fn every_command_has_a_schema_or_is_known_to_have_none() {
        let mut command = crate::args::Cli::command();
        command.build();
        let mut found = vec!["help".to_owned()];
        leaves(&command, "", &mut found);
        for path in &found {
            assert!(
                document(path).is_some() != NOT_DESCRIBED.contains(&path.as_str()),
                "{path}: a schema, or a place in NOT_DESCRIBED"
            );
        }
        for name in names() {
            assert!(found.iter().any(|path| path == name), "{name} is no command");
        }
    }

    /// Calls `look` with every object in a schema, and its path.
    fn each(
        schema: &Value,
        path: &str,
        look: &mut dyn FnMut(&serde_json::Map<String, Value>, &str),
    ) {
        match schema {
            Value::Object(map) => {
                look(map, path);
                map.iter().for_each(|(key, value)| each(value, &format!("{path}/{key}"), look));
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .for_each(|(at, value)| each(value, &format!("{path}/{at}"), look)),
            _ => {}
        }
    }

    #[test]
    fn every_object_is_closed_and_what_is_named_is_there() {
        for name in names() {
            let document = document(name).unwrap();
            each(&document, name, &mut |schema, path| {
                // What an agent says in its block is kept with all that it says.
                let is_open = path.ends_with("/Completion");
                if schema.get("properties").is_some_and(Value::is_object)
                    && schema.contains_key("type")
                    && !is_open
                {
                    assert_eq!(
                        schema.get("additionalProperties"),
                        Some(&Value::Bool(false)),
                        "{path} takes any key"
                    );
                }
                if let Some(named) = schema.get("$ref").and_then(Value::as_str) {
                    assert!(
                        document.pointer(named.trim_start_matches('#')).is_some(),
                        "{path} names {named}"
                    );
                }
                if let Some(text) = schema.get("description").and_then(Value::as_str) {
                    assert!(
                        !text.contains("[`") && !text.contains("::"),
                        "{path} is for readers of the code: {text}"
                    );
                }
            });
        }
    }
}
