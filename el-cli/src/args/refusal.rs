//! Turns the parser's errors into `el`'s own: the fault, and the next thing to do.

use std::ffi::{OsStr, OsString};
use std::num::ParseIntError;

use clap::CommandFactory as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::{Cli, leading_flags};
use crate::CommandError;

/// The most words that are named as the one that was meant.
const SUGGESTIONS_MAX: usize = 2;

/// Commands of other programs, with `el`'s own.
const OTHER_WORDS: [(&str, &str); 7] = [
    ("add", "create"),
    ("assign", "update ATOM --assignee NAME"),
    ("delete", "discard"),
    ("done", "close"),
    ("new", "create"),
    ("remove", "discard"),
    ("rm", "discard"),
];

/// The arguments that take any words.
const FREE_TEXT: [&str; 5] = ["PROMPT", "GOAL", "TITLE", "TEXT", "WORDS"];

/// Converts a parser error.
pub(super) fn from_parser_error(error: &clap::Error, argv: &[OsString]) -> CommandError {
    let usage = usage_line(error);
    // `el reject --reason <TEXT> <ATOM>...`: the command's own words come first.
    let words = usage.split_whitespace().take_while(|word| !word.starts_with(['[', '<', '-']));
    let mut name = words.collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        // The parser shows no usage where a value is missing.
        let grammar = Cli::command();
        let called = |word: &OsStr| grammar.find_subcommand(word).map(clap::Command::get_name);
        let called = leading_flags(argv).find_map(called);
        name = called.map_or("el".to_owned(), |called| format!("el {called}"));
    }
    let is_value = matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue);
    let mut refusal = match is_value {
        true => CommandError::invalid_value(&wrong_field(error), summarize_error(error)),
        false => CommandError::usage_error(summarize_error(error)),
    };
    let unknown = context_texts(error, ContextKind::InvalidSubcommand);
    if let Some((_, meant)) = OTHER_WORDS.iter().find(|(word, _)| unknown == [*word])
        && name == "el"
    {
        refusal = refusal.with_hint(format!("did you mean '{meant}'?"));
    }
    for kind in
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
    {
        // The parser names the nearest last.
        for meant in context_texts(error, kind).into_iter().rev().take(SUGGESTIONS_MAX) {
            refusal = refusal.with_hint(format!("did you mean '{meant}'?"));
        }
    }
    if matches!(error.kind(), ErrorKind::UnknownArgument)
        && let Some(word) = context_texts(error, ContextKind::InvalidArg).into_iter().next()
        && takes_text(&name)
    {
        refusal = refusal.with_hint(match word.starts_with('-') {
            true => format!("a text that begins with '-' follows --: -- '{word}'"),
            false => "a text of several words goes in quotes".to_owned(),
        });
    }
    if !usage.is_empty() {
        refusal = refusal.with_detail("usage", usage);
    }
    refusal.with_hint(format!("{name} --help tells more"))
}

/// Returns true if the command, with the words before it, has an argument of free text.
fn takes_text(name: &str) -> bool {
    let mut grammar = Cli::command();
    grammar.build();
    for word in name.split_whitespace().skip(1) {
        let Some(found) = grammar.find_subcommand(word) else { return false };
        grammar = found.clone();
    }
    let mut names =
        grammar.get_positionals().flat_map(|one| one.get_value_names().unwrap_or_default());
    names.any(|name| FREE_TEXT.contains(&name.as_str()))
}

/// The fault in a sentence.
fn summarize_error(error: &clap::Error) -> String {
    let argument = context_texts(error, ContextKind::InvalidArg).join(", ");
    let value =
        context_texts(error, ContextKind::InvalidValue).into_iter().next().unwrap_or_default();
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            "a command is missing".to_owned()
        }
        ErrorKind::InvalidSubcommand => {
            let word = context_texts(error, ContextKind::InvalidSubcommand).join(" ");
            format!("there is no command '{word}'")
        }
        ErrorKind::UnknownArgument if argument.starts_with('-') => {
            format!("there is no flag {argument} here")
        }
        ErrorKind::UnknownArgument => format!("'{argument}' is one word too many"),
        ErrorKind::MissingRequiredArgument => format!("{argument} is missing"),
        ErrorKind::ArgumentConflict => {
            let others = context_texts(error, ContextKind::PriorArg).join(", ");
            match others.is_empty() || others == argument {
                true => format!("{argument} was given more than once"),
                false => format!("{argument} and {others} do not go together"),
            }
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument} needs a value"),
        ErrorKind::InvalidValue => {
            let valid = context_texts(error, ContextKind::ValidValue).join(", ");
            format!("{}: '{value}' is not one of {valid}", wrong_field(error))
        }
        ErrorKind::InvalidUtf8 => "the command line holds text that is not UTF-8".to_owned(),
        ErrorKind::TooManyValues => format!("{argument} takes no value"),
        // The check of the value itself gives the best explanation.
        _ => match std::error::Error::source(error) {
            Some(source) if source.is::<ParseIntError>() => {
                format!("{}: '{value}' is no whole number", wrong_field(error))
            }
            Some(source) if !value.is_empty() => {
                format!("{}: '{value}': {}", wrong_field(error), bounds_in_words(source))
            }
            _ => first_paragraph(error),
        },
    }
}

/// The explanation of a faulty value. The parser writes bounds as Rust does.
fn bounds_in_words(source: &dyn std::error::Error) -> String {
    let text = source.to_string();
    let Some((value, bounds)) = text.split_once(" is not in ") else { return text };
    let Some((least, most)) = bounds.split_once("..=") else { return text };
    format!("{value} is not between {least} and {most}")
}

/// The flag or argument with the faulty value, as robots know the field: `status` of
/// `--status <STATUS>`.
fn wrong_field(error: &clap::Error) -> String {
    let argument =
        context_texts(error, ContextKind::InvalidArg).into_iter().next().unwrap_or_default();
    argument.split([' ', '=']).next().unwrap_or_default().trim_start_matches('-').to_owned()
}

fn usage_line(error: &clap::Error) -> String {
    let plain = error.render().to_string();
    let line = plain.lines().find_map(|line| line.trim().strip_prefix("Usage: "));
    line.unwrap_or_default().to_owned()
}

fn first_paragraph(error: &clap::Error) -> String {
    let plain = error.render().to_string();
    let plain = plain.strip_prefix("error: ").unwrap_or(&plain);
    let paragraph = plain.split("\n\n").next().unwrap_or_default();
    let lines = paragraph.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn context_texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
