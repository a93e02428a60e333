use el_core::model::Comment;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{List, comments, style};
use crate::{App, Exit, Result, complete};

/// Read the comments on an atom, oldest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el comment list q5e6
  el comment list q5e6 --robot")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Said<'a> {
    atom_id: &'a str,
    #[serde(flatten)]
    list: List<'a, Comment>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (atom_id, said) = ops::list_comments(&app.open_for_reading()?, &args.id)?;
    let data = Said { atom_id: &atom_id, list: List::complete(&said) };
    app.printer.emit(&data, |page| {
        if said.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "nothing was said yet");
        }
        comments::print_comments(page, &said, app.now());
    })
}
