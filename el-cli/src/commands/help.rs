use clap::error::ErrorKind;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::style;
use crate::{App, CommandError, Exit, Result};

/// Explain a command, or a topic
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el help
  el help create
  el help dep add
  el help topics
  el help statuses")]
pub(crate) struct Args {
    /// A command, or a topic from `el help topics`
    #[arg(value_name = "COMMAND|TOPIC")]
    words: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Help<'a> {
    Topic { topic: &'a str, text: &'a str },
    Command { command: String, text: String },
    Topics { topics: &'a [Topic] },
}

/// A text that belongs to no single command.
#[derive(Serialize, JsonSchema)]
pub(super) struct Topic {
    #[serde(rename = "topic")]
    name: &'static str,
    about: &'static str,
    #[serde(skip)]
    text: &'static str,
}

const TOPICS: [Topic; 8] = [
    Topic {
        name: "statuses",
        about: "The meaning of each status, to people and to workers",
        text: include_str!("help/statuses.txt"),
    },
    Topic {
        name: "types",
        about: "Types of work, and priorities",
        text: include_str!("help/types.txt"),
    },
    Topic {
        name: "bonds",
        about: "The bonds by which atoms wait, and the other bonds",
        text: include_str!("help/bonds.txt"),
    },
    Topic {
        name: "ids",
        about: "How atoms are named, and how little of a name is enough",
        text: include_str!("help/ids.txt"),
    },
    Topic {
        name: "exit-codes",
        about: "The meaning of each exit code",
        text: include_str!("help/exit-codes.txt"),
    },
    Topic {
        name: "orchestration",
        about: "How a goal becomes a plan, what can go wrong, and how to put it right by hand",
        text: include_str!("help/orchestration.txt"),
    },
    Topic {
        name: "robot",
        about: "The shapes of --robot output",
        text: include_str!("help/robot.txt"),
    },
    Topic {
        name: "moving",
        about: "Importing, exporting, keeping an export in git",
        text: include_str!("help/moving.txt"),
    },
];

pub(super) fn run(args: &Args, app: &App, grammar: clap::Command) -> Result<Exit> {
    let words: Vec<&str> = args.words.iter().map(String::as_str).collect();
    if words == ["topics"] {
        return list_topics(app);
    }
    if let [word] = words.as_slice()
        && let Some(topic) = find_topic(word)
    {
        return app.printer.emit(&Help::Topic { topic: topic.name, text: topic.text }, |page| {
            page.push_line(topic.text.trim_end())
        });
    }
    // The output of `el COMMAND --help`.
    let line = std::iter::once("el").chain(words.iter().copied()).chain(["--help"]);
    match grammar.try_get_matches_from(line) {
        Err(error) if error.kind() == ErrorKind::DisplayHelp && app.printer.is_robot() => {
            app.printer.emit(
                &Help::Command { command: words.join(" "), text: error.render().to_string() },
                |_| {},
            )
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            app.printer.print_styled(&error.render()).map(|()| Exit::Done)
        }
        _ => Err(CommandError::not_found(format!(
            "'{}' is neither a command nor a topic",
            words.join(" ")
        ))
        .with_hint("el --help lists the commands, el help topics the topics")),
    }
}

fn find_topic(word: &str) -> Option<&'static Topic> {
    let wanted = word.to_ascii_lowercase().replace('_', "-");
    TOPICS
        .iter()
        .find(|topic| topic.name == wanted || topic.name.strip_suffix('s') == Some(wanted.as_str()))
}

fn list_topics(app: &App) -> Result<Exit> {
    app.printer.emit(&Help::Topics { topics: &TOPICS }, |page| {
        for topic in &TOPICS {
            let name = page.paint(style::ID, &format!("{:<13}", topic.name));
            page.push_line(format!("{name} {}", topic.about));
        }
        page.push_blank();
        let more = "el help TOPIC tells more; el help COMMAND explains a command";
        page.push_painted(style::DIM, more);
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use el_core::model::{BondKind, IssueType, Priority, Status};

    use super::*;

    fn text(name: &str) -> &'static str {
        find_topic(name).unwrap().text
    }

    /// A word that stands at the beginning of an entry.
    fn has_entry(text: &str, word: &str) -> bool {
        text.lines().any(|line| line.split_whitespace().next() == Some(word))
    }

    #[test]
    fn every_word_of_the_tracker_is_explained() {
        assert!(Status::ALL.iter().all(|word| has_entry(text("statuses"), word.as_str())));
        assert!(IssueType::ALL.iter().all(|word| has_entry(text("types"), word.as_str())));
        assert!(Priority::WORDS.iter().all(|word| text("types").contains(word)));
        assert!(BondKind::ALL.iter().all(|word| has_entry(text("bonds"), word.as_str())));
        assert!((0..=8).all(|code| has_entry(text("exit-codes"), &code.to_string())));
    }

    #[test]
    fn no_topic_hides_a_command_and_no_line_is_too_long() {
        let mut command = crate::args::Cli::command();
        command.build();
        for topic in &TOPICS {
            assert!(command.find_subcommand(topic.name).is_none(), "{}", topic.name);
            let longest = topic.text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= 96, "{}: a line has {longest} columns", topic.name);
        }
    }
}
