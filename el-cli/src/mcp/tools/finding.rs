//! Tools that read, and the inbox.

use el_core::ops::{self, AssigneeFilter, AtomFilter, InboxFilter, Page, Sort};

use crate::mcp::arguments::Arguments;
use crate::mcp::call::Call;
use crate::mcp::rows;
use crate::{Result, commands};

/// `None` for all: a limit of 0.
fn limit_argument(arguments: &mut Arguments, default: u32) -> Result<Option<i64>> {
    let limit = arguments.optional_number("limit")?.unwrap_or(default);
    Ok((limit > 0).then_some(i64::from(limit)))
}

fn offset_argument(arguments: &mut Arguments) -> Result<i64> {
    Ok(i64::from(arguments.optional_number("offset")?.unwrap_or(0)))
}

fn atom_rows(found: &Page<el_core::model::Atom>, offset: i64, nothing: &str) -> String {
    let rows: Vec<String> = found.items.iter().map(rows::atom_row).collect();
    rows::page_rows(&rows, offset, found, nothing)
}

pub(super) fn list_ready(call: &Call, mut given: Arguments) -> Result<String> {
    let filter = AtomFilter {
        types: given.word_list("type")?,
        labels: given.text_list("label")?,
        ..AtomFilter::default()
    };
    let (limit, offset) = (limit_argument(&mut given, 10)?, offset_argument(&mut given)?);
    given.ensure_all_used("ready")?;
    let store = call.app.open_for_reading()?;
    let found = ops::ready(&store, &filter, Sort::Priority, limit, offset, call.app.now())?;
    Ok(atom_rows(&found, offset, "nothing is ready; list shows what there is"))
}

pub(super) fn list_atoms(call: &Call, mut given: Arguments) -> Result<String> {
    let assignee = given.optional_text("assignee")?;
    let filter = AtomFilter {
        statuses: given.word_list("status")?,
        types: given.word_list("type")?,
        labels: given.text_list("label")?,
        assignee: assignee.map(|name| {
            if name.is_empty() { AssigneeFilter::Nobody } else { AssigneeFilter::Is(name) }
        }),
        parent: given.optional_text("parent")?,
        text: given.optional_text("text")?,
        ..AtomFilter::default()
    };
    let (limit, offset) = (limit_argument(&mut given, 20)?, offset_argument(&mut given)?);
    given.ensure_all_used("list")?;
    let store = call.app.open_for_reading()?;
    let found = ops::list(&store, &filter, Sort::Priority, limit, offset, call.app.now())?;
    Ok(atom_rows(&found, offset, "nothing found"))
}

pub(super) fn show_atom(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.required_text("id")?;
    let offset = given.optional_number("offset")?.unwrap_or(0);
    given.ensure_all_used("show")?;
    let text = commands::show::atom_text(&call.app, &id, rows::WINDOW)?;
    Ok(rows::text_window(&text, usize::try_from(offset).unwrap_or(usize::MAX)))
}

/// Messages for the caller, oldest first. Messages that were cut off are not marked as read.
pub(super) fn read_inbox(call: &Call, mut given: Arguments) -> Result<String> {
    let (marks, all) = (given.optional_flag("mark_read")?, given.optional_flag("all")?);
    let limit = limit_argument(&mut given, 20)?;
    given.ensure_all_used("inbox")?;
    let reader = call.app.actor();
    let mut store =
        if marks { call.app.open_for_writing()? } else { call.app.open_for_reading()? };
    let mut found =
        ops::inbox(&store, &InboxFilter { reader, unread_only: !all, after: 0, limit })?;
    found.items.reverse();
    let now = call.app.now();
    let texts: Vec<String> = found.items.iter().map(|item| rows::message_row(item, now)).collect();
    if marks {
        commands::inbox::mark_messages_read(&call.app, &mut store, reader, &found)?;
    }
    let more = found.total - i64::try_from(texts.len()).unwrap_or(0);
    let more = if more > 0 {
        format!("({more} older ones are left out; limit 0 shows all)\n")
    } else {
        String::new()
    };
    let nothing = if all { "nothing" } else { "nothing unread" };
    let text = if texts.is_empty() {
        format!("{nothing} for {}", el_core::model::handle_of(reader))
    } else {
        texts.concat()
    };
    Ok(rows::text_window(&format!("{more}{text}"), 0))
}
