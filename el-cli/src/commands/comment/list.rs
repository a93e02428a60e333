use el_core::model::Comment;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;
use crate::complete;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{comments, style};

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
            let text = page.paint(style::DIM, "nothing was said yet");
            page.push_line(text);
        }
        comments::print_comments(page, &said, app.now());
    })?;
    Ok(Exit::Done)
}
