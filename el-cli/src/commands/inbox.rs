use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use el_core::Store;
use el_core::model::InboxMessage;
use el_core::ops::{self, InboxFilter, Page};
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::{List, messages};
use crate::{App, Exit, Result};

/// Read the messages that name you, or another name, by @name
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el inbox
  el inbox --unread --mark-read
  el inbox --agent gendry --unread --robot
  el inbox --unread --watch          Go on, until Ctrl-C

Each reader has marks of their own. With --watch and --robot, each message is one line of JSON.")]
pub(crate) struct Args {
    /// The inbox of this name, instead of yours
    #[arg(long, visible_alias = "reader", value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new())]
    agent: Option<String>,
    /// Only unread messages
    #[arg(long)]
    unread: bool,
    /// Keep running, and show new messages
    #[arg(long)]
    watch: bool,
    /// Mark the shown messages as read
    #[arg(long)]
    mark_read: bool,
    /// Only the last messages; 0 means all [default: all]
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<u32>,
}

/// Between two looks; a look costs microseconds.
const LOOK: Duration = Duration::from_millis(150);

#[derive(Serialize, JsonSchema)]
pub(super) struct Inbox<'a> {
    reader: &'a str,
    #[serde(flatten)]
    list: List<'a, InboxMessage>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let name = args.agent.as_deref().unwrap_or(app.actor());
    let reader = el_core::model::handle_of(name);
    let mut store = if args.mark_read { app.open_for_writing()? } else { app.open_for_reading()? };
    if args.watch {
        return watch_inbox(args, app, &mut store, name);
    }
    let found = read_inbox(args, &store, name, 0)?;
    let inbox = Inbox { reader: &reader, list: List::from_page(&found) };
    let now = app.now();
    app.printer.emit(&inbox, |page| {
        let shown = found.items.iter().map(|item| (&item.message, item.read_at.is_none()));
        messages::print_all(page, shown, false, now);
        let unread = if args.unread { " unread" } else { "" };
        let none = format!("nothing{unread} for {reader}");
        inbox.list.print_end(page, ["message", "messages", &none]);
    })?;
    // Marked only after the messages were shown.
    if args.mark_read {
        mark_messages_read(app, &mut store, name, &found)?;
    }
    Ok(Exit::Done)
}

/// The inbox after message number `after`, oldest first.
fn read_inbox(args: &Args, store: &Store, reader: &str, after: i64) -> Result<Page<InboxMessage>> {
    let limit = args.limit.filter(|limit| *limit > 0 && after == 0).map(i64::from);
    let mut found =
        ops::inbox(store, &InboxFilter { reader, unread_only: args.unread, after, limit })?;
    found.items.reverse();
    Ok(found)
}

/// Marks the shown messages that were unread.
pub(crate) fn mark_messages_read(
    app: &App,
    store: &mut Store,
    reader: &str,
    shown: &Page<InboxMessage>,
) -> Result<()> {
    let unread: Vec<i64> = shown
        .items
        .iter()
        .filter(|item| item.read_at.is_none())
        .map(|item| item.message.seq)
        .collect();
    if !unread.is_empty() {
        ops::mark_read(store, &app.ctx(), reader, &unread)?;
    }
    Ok(())
}

/// Prints the waiting messages, and then each new message, until the process is ended.
fn watch_inbox(args: &Args, app: &App, store: &mut Store, reader: &str) -> Result<Exit> {
    store.look_at_ease();
    let mut after = 0;
    let mut seen = None;
    loop {
        let version = store.data_version()?;
        if seen != Some(version) {
            seen = Some(version);
            // New messages have higher numbers than all earlier ones: numbers follow the order of
            // commits.
            let found = read_inbox(args, store, reader, after)?;
            after = found.items.last().map_or(after, |item| item.message.seq);
            for item in &found.items {
                app.printer.emit_line(item, |page| {
                    let is_unread = item.read_at.is_none();
                    messages::print_message(page, &item.message, is_unread, false, app.now());
                    if !page.is_quiet() {
                        page.push_blank();
                    }
                })?;
            }
            if args.mark_read {
                mark_messages_read(app, store, reader, &found)?;
            }
        }
        std::thread::sleep(LOOK);
    }
}
