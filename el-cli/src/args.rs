//! The command line, and reports of faults in the command line.

use std::ffi::{OsStr, OsString};
use std::mem::ManuallyDrop;

use clap::error::ErrorKind;
use clap::{Args as _, CommandFactory as _, FromArgMatches as _, Parser, Subcommand as _};

use crate::CommandError;
use crate::command_list::COMMAND_LIST;
use crate::commands::Command;
use crate::globals::Globals;
use crate::output::terminal::ColorWhen;

mod refusal;

/// An issue tracker for coding agents, with the workers built in
#[derive(Debug, Parser)]
#[command(name = "el", version, max_term_width = 100, help_template = HELP,
    after_help = COMMAND_LIST, disable_help_subcommand = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    /// `None`: the board.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const HELP: &str = "\
{about}

{usage-heading} {usage}{after-help}

Options:
{options}
";

/// A parsed command line.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// A command to run.
    Run(Box<Cli>),
    /// Help or the version was asked for: text for stdout.
    Text { text: clap::builder::StyledStr, color: ColorWhen },
    /// The command line is faulty.
    Wrong { error: CommandError, robot: bool, color: ColorWhen },
}

/// Parses the command line.
pub(crate) fn parse_command_line(argv: &[OsString]) -> Parsed {
    if let Some(cli) = parse_by_one_command(argv) {
        return Parsed::Run(Box::new(cli));
    }
    match parse_by(Cli::command(), argv) {
        Ok(cli) => Parsed::Run(Box::new(cli)),
        Err(error) => match error.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
                Parsed::Text { text: error.render(), color: wanted_color(argv) }
            }
            _ => Parsed::Wrong {
                error: refusal::from_parser_error(&error, argv),
                robot: wants_robot(argv),
                color: wanted_color(argv),
            },
        },
    }
}

/// Parses by the grammar of the called command alone. The other commands are two thirds of what
/// clap builds. `None` for words that are no command to run: the whole grammar judges those.
fn parse_by_one_command(argv: &[OsString]) -> Option<Cli> {
    let word = leading_flags(argv).find(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
    let all = ManuallyDrop::new(Command::augment_subcommands(clap::Command::new("el")));
    let called = all.find_subcommand(word)?.clone();
    let grammar = Globals::augment_args(clap::Command::new("el").disable_help_subcommand(true));
    parse_by(grammar.subcommand_required(true).subcommand(called), argv).ok()
}

/// Parses by this grammar, which then stays in memory: the process ends sooner.
fn parse_by(grammar: clap::Command, argv: &[OsString]) -> clap::error::Result<Cli> {
    let mut grammar = ManuallyDrop::new(grammar);
    let mut matches = grammar.try_get_matches_from_mut(argv)?;
    Cli::from_arg_matches_mut(&mut matches)
}

/// Returns true if the version alone is asked for.
pub(crate) fn asks_for_version(argv: &[OsString]) -> bool {
    matches!(argv, [_, flag] if flag == "--version" || flag == "-V")
}

/// The arguments before `--`, where flags count as flags.
fn leading_flags(argv: &[OsString]) -> impl Iterator<Item = &OsStr> {
    argv.iter().skip(1).map(OsString::as_os_str).take_while(|argument| *argument != "--")
}

/// Returns true if the caller is a robot. Works on command lines that the parser refused.
fn wants_robot(argv: &[OsString]) -> bool {
    leading_flags(argv).any(|argument| argument == "--robot" || argument == "--json")
}

fn wanted_color(argv: &[OsString]) -> ColorWhen {
    let words: Vec<_> = leading_flags(argv).filter_map(OsStr::to_str).collect();
    let joined = words.iter().rev().find_map(|word| word.strip_prefix("--color="));
    let apart = words.windows(2).rev().find(|pair| pair[0] == "--color").map(|pair| pair[1]);
    match joined.or(apart) {
        Some("always") => ColorWhen::Always,
        Some("never") => ColorWhen::Never,
        _ => ColorWhen::Auto,
    }
}

#[cfg(test)]
mod tests;
