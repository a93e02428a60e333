use el_core::ops;

use crate::output::{Cell, Column, List, Table, style, time};
use crate::{App, Exit, Result};

/// List the channels, most recently used first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el chat list
  el chat list --robot")]
pub(crate) struct Args {}

pub(super) fn run(app: &App) -> Result<Exit> {
    let channels = ops::list_channels(&app.open_for_reading()?, app.actor())?;
    let list = List::complete(&channels);
    let now = app.now();
    app.printer.emit(&list, |page| {
        if page.is_quiet() {
            return channels.iter().for_each(|channel| page.push_line(&channel.name));
        }
        if channels.is_empty() {
            page.push_painted(style::DIM, "nothing was said yet");
            return;
        }
        let mut table = Table::new([
            Column::new("CHANNEL"),
            Column::new("MESSAGES").align_right().hide_when_narrow(2),
            Column::new("UNREAD").align_right(),
            Column::new("LAST").hide_when_narrow(1),
            Column::new("BY").hide_when_narrow(3),
            Column::new("SAID").flexible(),
        ]);
        for channel in &channels {
            let unread =
                if channel.unread > 0 { channel.unread.to_string() } else { String::new() };
            table.push_row([
                Cell::styled(style::LABEL, &channel.name),
                Cell::new(channel.messages.to_string()),
                Cell::styled(style::WARNING, unread),
                Cell::styled(style::DIM, time::relative_time(now, channel.last_at)),
                Cell::styled(style::PERSON, &channel.last_author),
                Cell::new(&channel.last),
            ]);
        }
        table.print_table(page);
        list.print_footer(page, "channel", "channels");
    })
}
