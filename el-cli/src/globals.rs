//! The flags that all commands share.

use std::path::PathBuf;

use crate::output::printer::{Format, Printer};
use crate::output::terminal::ColorWhen;

/// The flags of every command.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Globals {
    /// Print one JSON document, on success and on failure
    #[arg(long, visible_alias = "json", global = true)]
    pub(crate) robot: bool,
    /// The database, instead of the nearest .eluent/el.db [env: EL_DB]
    #[arg(long, global = true, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) db: Option<PathBuf>,
    /// The author of changes [env: EL_ACTOR]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) actor: Option<String>,
    /// When to colour
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value_t)]
    pub(crate) color: ColorWhen,
    /// Print the bare answer: ids, no sentences
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Show more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// On a bug in el, print the place of the bug [env: EL_DEBUG]
    #[arg(long, global = true)]
    pub(crate) debug: bool,
}

impl Globals {
    pub(crate) fn new_printer(&self) -> Printer {
        let format = if self.robot { Format::Robot } else { Format::Human };
        Printer::new(format, self.color, self.quiet)
    }
}
