use el_core::model::Message;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{List, messages};
use crate::{App, Exit, Result, complete};

/// Read a channel, oldest message first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el chat show claude-code-gendry
  el chat show general --limit 20
  el chat show general --after 141 --robot")]
pub(crate) struct Args {
    /// The channel
    #[arg(value_name = "CHANNEL", add = complete::complete_channels())]
    channel: String,
    /// Only the last messages; 0 means all [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
    /// Only messages after this number (`seq`)
    #[arg(long, value_name = "SEQ", default_value_t = 0, hide_default_value = true)]
    after: i64,
}

#[derive(Serialize, JsonSchema)]
pub(in crate::commands) struct Viewed<'a> {
    channel: &'a str,
    #[serde(flatten)]
    list: List<'a, Message>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let limit = args.limit.filter(|limit| *limit > 0).map(i64::from);
    let (channel, found) =
        ops::read_channel(&app.open_for_reading()?, &args.channel, args.after, limit)?;
    let viewed = Viewed { channel: &channel, list: List::from_page(&found) };
    let now = app.now();
    app.printer.emit(&viewed, |page| {
        messages::print_all(page, found.items.iter().map(|message| (message, false)), true, now);
        viewed.list.print_footer(page, "message", "messages");
    })
}
