use super::Page;
use crate::model::{InboxMessage, handle_of};
use crate::store::{Store, message, run};
use crate::{Ctx, Error, Result};

/// A filter of a reader's messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct InboxFilter<'a> {
    /// The owner of the inbox: a name, or a handle.
    pub reader: &'a str,
    pub unread_only: bool,
    /// Only messages after this number.
    pub after: i64,
    pub limit: Option<i64>,
}

/// Returns a reader's messages, newest first.
///
/// # Errors
///
/// If the reader's name is not legal, or the database cannot be read.
pub fn inbox(store: &Store, filter: &InboxFilter<'_>) -> Result<Page<InboxMessage>> {
    let reader = reader_handle(filter.reader)?;
    store.read(|tx| {
        let (items, total) =
            message::list_inbox(tx, &reader, filter.unread_only, filter.after, filter.limit)?;
        Ok(Page::of_total(items, total))
    })
}

/// Marks messages as read by `of`. Other readers' marks stay. Returns how many were unread.
///
/// # Errors
///
/// If a number is no message's, a session marks for another reader, the caller's run is stale, or
/// the database cannot be written.
pub fn mark_read(store: &mut Store, ctx: &Ctx<'_>, of: &str, messages: &[i64]) -> Result<usize> {
    let reader = reader_handle(of)?;
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        if let Some(own) = session.filter(|own| handle_of(&own.agent) != reader) {
            return Err(Error::Refused(format!(
                "this session is {}'s, and marks nothing as read for @{reader}",
                own.agent
            )));
        }
        let mut marked = 0;
        for seq in messages {
            marked += usize::from(message::mark_read(tx, &reader, *seq, ctx.now)?);
        }
        Ok(marked)
    })
}

fn reader_handle(name: &str) -> Result<String> {
    let reader = handle_of(name);
    if reader.is_empty() {
        return Err(Error::invalid(
            "agent",
            format!("'{}' is no name that could have an inbox", name.escape_debug()),
        ));
    }
    Ok(reader)
}
