use el_core::ops::{self, NewMessage};

use crate::output::style;
use crate::{App, Exit, Result, complete, input};

/// Post a message to a channel; a missing channel is created
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el chat post general \"@gendry the parser is next\"
  el chat post general --to \"Ada Lovelace\" --atom q5e6 \"please look\"
  git log -1 | el chat post general -")]
pub(crate) struct Args {
    /// The channel
    #[arg(value_name = "CHANNEL", add = complete::complete_channels())]
    channel: String,
    /// The message; `-` reads the text from stdin
    #[arg(value_name = "TEXT", allow_hyphen_values = true)]
    text: String,
    /// More recipients beside the @names in the text; may be repeated
    #[arg(long, value_name = "NAME")]
    to: Vec<String>,
    /// The atom that the message is about
    #[arg(long, value_name = "ATOM", add = complete::all_atoms())]
    atom: Option<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let new = NewMessage {
        channel: args.channel.clone(),
        content: input::read_text(app, "message", &args.text)?,
        to: args.to.clone(),
        atom: args.atom.clone(),
    };
    let posted = ops::post(&mut app.open_for_writing()?, &app.ctx(), &new)?;
    app.printer.emit(&posted, |page| {
        if page.is_quiet() {
            return page.push_line(&posted.id);
        }
        let channel = page.paint(style::LABEL, &format!("#{}", posted.channel));
        let reached = if posted.mentions.is_empty() {
            String::new()
        } else {
            format!(", for {}", posted.mentions.join(", "))
        };
        page.push_done("Said in", &format!("{channel}{reached}"));
    })
}
