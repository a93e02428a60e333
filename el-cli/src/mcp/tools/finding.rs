//! Tools that read, and the inbox.

use el_core::ops::{self, AssigneeFilter, AtomFilter, InboxFilter, Page, Sort};

use crate::commands;
use crate::error::Result;
use crate::mcp::arguments::Arguments;
use crate::mcp::call::Call;
use crate::mcp::rows;

/// `None` for all: a limit of 0.
fn limit(arguments: &mut Arguments, default: u32) -> Result<Option<i64>> {
    let limit = arguments.number("limit")?.unwrap_or(default);
    Ok((limit > 0).then_some(i64::from(limit)))
}

fn offset(arguments: &mut Arguments) -> Result<i64> {
    Ok(i64::from(arguments.number("offset")?.unwrap_or(0)))
}

fn atoms(found: &Page<el_core::model::Atom>, offset: i64, nothing: &str) -> String {
    let rows: Vec<String> = found.items.iter().map(rows::atom).collect();
    rows::page(&rows, offset, found.total, nothing)
}

pub(super) fn ready(call: &Call, mut given: Arguments) -> Result<String> {
    let filter = AtomFilter {
        types: given.words("type")?,
        labels: given.list("label")?,
        ..AtomFilter::default()
    };
    let (limit, offset) = (limit(&mut given, 10)?, offset(&mut given)?);
    given.done("ready")?;
    let found =
        ops::ready(&call.app.reader()?, &filter, Sort::Priority, limit, offset, call.app.now())?;
    Ok(atoms(&found, offset, "nothing is ready; list shows what there is"))
}

pub(super) fn list(call: &Call, mut given: Arguments) -> Result<String> {
    let assignee = given.text("assignee")?;
    let filter = AtomFilter {
        statuses: given.words("status")?,
        types: given.words("type")?,
        labels: given.list("label")?,
        assignee: assignee.map(|name| {
            if name.is_empty() { AssigneeFilter::Nobody } else { AssigneeFilter::Is(name) }
        }),
        parent: given.text("parent")?,
        text: given.text("text")?,
        ..AtomFilter::default()
    };
    let (limit, offset) = (limit(&mut given, 20)?, offset(&mut given)?);
    given.done("list")?;
    let found =
        ops::list(&call.app.reader()?, &filter, Sort::Priority, limit, offset, call.app.now())?;
    Ok(atoms(&found, offset, "nothing found"))
}

pub(super) fn show(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.needed("id")?;
    let offset = given.number("offset")?.unwrap_or(0);
    given.done("show")?;
    let text = commands::show::text(&call.app, &id, rows::WINDOW)?;
    Ok(rows::window(&text, usize::try_from(offset).unwrap_or(usize::MAX)))
}

/// Messages for the caller, oldest first. Messages that were cut off are not marked as read.
pub(super) fn inbox(call: &Call, mut given: Arguments) -> Result<String> {
    let (marks, all) = (given.flag("mark_read")?, given.flag("all")?);
    let limit = limit(&mut given, 20)?;
    given.done("inbox")?;
    let reader = call.app.actor();
    let mut store = if marks { call.app.writer()? } else { call.app.reader()? };
    let mut found =
        ops::inbox(&store, &InboxFilter { reader, unread_only: !all, after: 0, limit })?;
    found.items.reverse();
    let now = call.app.now();
    let texts: Vec<String> = found.items.iter().map(|item| rows::message(item, now)).collect();
    let unread: Vec<i64> = found
        .items
        .iter()
        .filter(|item| item.read_at.is_none())
        .map(|item| item.message.seq)
        .collect();
    if marks && !unread.is_empty() {
        ops::mark_read(&mut store, &call.app.ctx(), reader, &unread)?;
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
    Ok(rows::window(&format!("{more}{text}"), 0))
}
