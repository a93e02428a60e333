use el_core::ops;

use crate::output::style;
use crate::{App, CommandError, Exit, Result, complete, input};

/// Add a comment
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el comment add q5e6 \"The offset is lost in parse_zone\"
  git log -1 | el comment add q5e6 -")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    id: String,
    /// The comment; `-` reads the text from stdin
    #[arg(value_name = "TEXT", required_unless_present = "message", allow_hyphen_values = true)]
    text: Option<String>,
    /// The comment, as a flag
    #[arg(short, long, value_name = "TEXT", conflicts_with = "text", allow_hyphen_values = true)]
    message: Option<String>,
    /// The author, instead of you
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let given = args
        .text
        .as_ref()
        .or(args.message.as_ref())
        .ok_or_else(|| CommandError::usage_error("the text is missing"))?;
    let text = input::read_text(app, "comment", given)?;
    let mut store = app.open_for_writing()?;
    let mut ctx = app.ctx();
    if let Some(author) = &args.author {
        ctx.actor = author;
    }
    let added = ops::add_comment(&mut store, &ctx, &args.id, &text)?;
    app.printer.emit_sentence(&added, |page| {
        page.push_done("Commented on", &page.paint(style::ID, &added.parent_id));
    })
}
