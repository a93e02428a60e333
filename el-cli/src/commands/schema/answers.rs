//! The types of the answers of all commands, under `data`.

use el_agents::land::AtomBranch;
use el_agents::mailbox::Synced;
use el_core::DatabaseState;
use el_core::model::{Atom, Bond, Channel, Comment, Message, Run};
use el_core::ops::{Board, Cancelled, CancelledTask, Primed, Shown, Task, Updated};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;

use crate::commands::{
    artifacts, backup, chat, check_text, comment, completions, config, db, dep, diff, discard,
    doctor, export, help, history, import, inbox, init, land, list, mailbox, man, merge_driver,
    next, orchestrate, phase, pr, queue, ready, restore, review, run, runs, service, setup, stats,
    submit, sync, tasks, trust, undo, why, workers, worktrees,
};
use crate::output::{List, OneOrMany};
use crate::schema;

/// Commands whose output is a stream, or is not `el`'s to promise.
pub(super) const NOT_DESCRIBED: &[&str] =
    &["attach", "logs", "mcp", "orchestrate", "orchestrate resume", "serve", "top", "work"];

/// The function that builds the schema of a `T`.
const fn answer_schema<T: JsonSchema>() -> schema::Answer {
    SchemaGenerator::subschema_for::<T>
}

const ANSWERS: &[(&str, schema::Answer)] = &[
    ("init", answer_schema::<init::Made<'_>>()),
    ("create", answer_schema::<OneOrMany<'_, Atom>>()),
    ("list", answer_schema::<List<'_, list::Row>>()),
    ("ready", answer_schema::<ready::Ready<'_>>()),
    ("search", answer_schema::<List<'_, Atom>>()),
    ("show", answer_schema::<OneOrMany<'_, Shown>>()),
    ("next", answer_schema::<next::Picked<'_>>()),
    ("edit", answer_schema::<Updated>()),
    ("update", answer_schema::<OneOrMany<'_, Updated>>()),
    ("close", answer_schema::<OneOrMany<'_, Atom>>()),
    ("reopen", answer_schema::<OneOrMany<'_, Atom>>()),
    ("discard", answer_schema::<OneOrMany<'_, Atom>>()),
    ("discard list", answer_schema::<List<'_, Atom>>()),
    ("discard restore", answer_schema::<Atom>()),
    ("discard prune", answer_schema::<discard::prune::Pruned<'_>>()),
    ("comment add", answer_schema::<Comment>()),
    ("comment list", answer_schema::<comment::list::Said<'_>>()),
    ("dep add", answer_schema::<Bond>()),
    ("dep remove", answer_schema::<List<'_, Bond>>()),
    ("dep list", answer_schema::<dep::list::Bonds<'_>>()),
    ("dep tree", answer_schema::<dep::tree::Tree<'_>>()),
    ("dep check", answer_schema::<dep::check::Checked<'_>>()),
    ("claim", answer_schema::<Atom>()),
    ("release", answer_schema::<Atom>()),
    ("retry", answer_schema::<OneOrMany<'_, Atom>>()),
    ("cancel", answer_schema::<OneOrMany<'_, Cancelled>>()),
    ("history", answer_schema::<history::History<'_>>()),
    ("stats", answer_schema::<stats::Answer>()),
    ("status", answer_schema::<Board>()),
    ("why", answer_schema::<why::Answer>()),
    ("check-text", answer_schema::<check_text::Understood>()),
    ("runs", answer_schema::<List<'_, Run>>()),
    ("runs list", answer_schema::<List<'_, Run>>()),
    ("runs show", answer_schema::<OneOrMany<'_, runs::show::Shown>>()),
    ("db", answer_schema::<DatabaseState>()),
    ("db dump", answer_schema::<db::dump::Answer>()),
    ("db grant", answer_schema::<db::grant::Answer<'_>>()),
    ("db migrate", answer_schema::<DatabaseState>()),
    ("db move", answer_schema::<db::move_to::Answer>()),
    ("db status", answer_schema::<DatabaseState>()),
    ("backup", answer_schema::<List<'_, backup::Row>>()),
    ("backup list", answer_schema::<List<'_, backup::Row>>()),
    ("backup now", answer_schema::<backup::Made>()),
    ("restore", answer_schema::<restore::Answer>()),
    ("undo", answer_schema::<undo::Answer<'_>>()),
    ("trust", answer_schema::<trust::Asked>()),
    ("config show", answer_schema::<config::show::Shown>()),
    ("config edit", answer_schema::<config::edit::Edited>()),
    ("config path", answer_schema::<config::path::Found>()),
    ("config agents", answer_schema::<List<'_, config::agents::Row>>()),
    ("config get", answer_schema::<config::get::Setting<'_>>()),
    ("config set", answer_schema::<config::set::Set<'_>>()),
    ("config unset", answer_schema::<config::unset::Unset<'_>>()),
    ("doctor", answer_schema::<doctor::Report<'_>>()),
    ("completions", answer_schema::<completions::Script<'_>>()),
    ("import", answer_schema::<import::Report<'_>>()),
    ("sync github", answer_schema::<sync::github::Answer>()),
    ("export", answer_schema::<export::Report<'_>>()),
    ("merge-driver", answer_schema::<merge_driver::Report<'_>>()),
    ("prime", answer_schema::<Option<Primed>>()),
    ("run", answer_schema::<run::Answer<'_>>()),
    ("tasks", answer_schema::<List<'_, Task>>()),
    ("tasks list", answer_schema::<List<'_, Task>>()),
    ("tasks show", answer_schema::<OneOrMany<'_, tasks::Placed>>()),
    ("tasks cancel", answer_schema::<OneOrMany<'_, CancelledTask>>()),
    ("queue", answer_schema::<List<'_, queue::Row>>()),
    ("queue list", answer_schema::<List<'_, queue::Row>>()),
    ("queue show", answer_schema::<List<'_, queue::Row>>()),
    ("artifacts", answer_schema::<List<'_, Run>>()),
    ("artifacts list", answer_schema::<List<'_, Run>>()),
    ("artifacts show", answer_schema::<artifacts::show::Answer<'_>>()),
    ("artifacts get", answer_schema::<artifacts::get::Answer<'_>>()),
    ("chat", answer_schema::<List<'_, Channel>>()),
    ("chat list", answer_schema::<List<'_, Channel>>()),
    ("chat show", answer_schema::<chat::show::Viewed<'_>>()),
    ("chat post", answer_schema::<Message>()),
    ("inbox", answer_schema::<inbox::Inbox<'_>>()),
    ("submit", answer_schema::<submit::Answer<'_>>()),
    ("review", answer_schema::<List<'_, review::Row<'_>>>()),
    ("approve", answer_schema::<OneOrMany<'_, Atom>>()),
    ("reject", answer_schema::<OneOrMany<'_, Atom>>()),
    ("mailbox sync", answer_schema::<Synced>()),
    ("mailbox post", answer_schema::<mailbox::post::Appended>()),
    ("service install", answer_schema::<service::Answer>()),
    ("service uninstall", answer_schema::<service::Answer>()),
    ("service status", answer_schema::<service::Answer>()),
    ("setup claude", answer_schema::<setup::Answer<'_>>()),
    ("setup agents", answer_schema::<setup::Answer<'_>>()),
    ("schema", answer_schema::<super::Answer<'_>>()),
    ("man", answer_schema::<man::Manual<'_>>()),
    ("help", answer_schema::<help::Help<'_>>()),
    ("orchestrate list", answer_schema::<List<'_, orchestrate::status::Item>>()),
    ("orchestrate show", answer_schema::<orchestrate::status::Answer<'_>>()),
    ("phase set", answer_schema::<phase::set::Supplied<'_>>()),
    ("phase show", answer_schema::<phase::show::Shown<'_>>()),
    ("diff", answer_schema::<diff::Difference>()),
    ("land", answer_schema::<land::Answer<'_>>()),
    ("pr", answer_schema::<pr::Opening<'_>>()),
    ("pr list", answer_schema::<pr::Listing>()),
    ("pr watch", answer_schema::<pr::Listing>()),
    ("pr merge", answer_schema::<pr::Merging>()),
    ("pr adopt", answer_schema::<pr::Listing>()),
    ("workers", answer_schema::<List<'_, workers::Row>>()),
    ("workers list", answer_schema::<List<'_, workers::Row>>()),
    ("workers show", answer_schema::<List<'_, workers::Row>>()),
    ("worktrees", answer_schema::<List<'_, AtomBranch>>()),
    ("worktrees list", answer_schema::<List<'_, AtomBranch>>()),
    ("worktrees show", answer_schema::<OneOrMany<'_, AtomBranch>>()),
    ("worktrees prune", answer_schema::<worktrees::prune::Pruning<'_>>()),
    ("worktrees remove", answer_schema::<worktrees::remove::Removed<'_>>()),
];

/// The commands that have a schema.
pub(super) fn command_names() -> impl Iterator<Item = &'static str> {
    ANSWERS.iter().map(|(name, _)| *name)
}

/// The schema of a command's whole document, success and failure; `None` if there is no such
/// command.
pub(super) fn document_schema(command: &str) -> Option<Value> {
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
                document_schema(path).is_some() != NOT_DESCRIBED.contains(&path.as_str()),
                "{path}: a schema, or a place in NOT_DESCRIBED"
            );
        }
        for name in command_names() {
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
        for name in command_names() {
            let document = document_schema(name).unwrap();
            each(&document, name, &mut |schema, path| {
                // An agent's block is kept with all that it says.
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
