use super::Page;
use crate::model::{InboxMessage, handle};
use crate::store::{Store, message, run};
use crate::{Ctx, Error, Result};

/// Which of the messages that reached a reader.
#[derive(Debug, Clone, Copy, Default)]
pub struct InboxFilter<'a> {
    /// Whose inbox: a name, or its handle.
    pub reader: &'a str,
    pub unread_only: bool,
    /// Only messages after this number.
    pub after: i64,
    pub limit: Option<i64>,
}

/// What reached a reader, newest first.
pub fn inbox(store: &Store, filter: &InboxFilter<'_>) -> Result<Page<InboxMessage>> {
    let reader = reader(filter.reader)?;
    store.read(|tx| {
        let (items, total) =
            message::inbox(tx, &reader, filter.unread_only, filter.after, filter.limit)?;
        Ok(Page { items, total })
    })
}

/// The number of the message that was written last; what comes later has a higher one.
pub fn last_message(store: &Store) -> Result<i64> {
    store.read(message::last_seq)
}

/// Marks messages, by their numbers, as read by `of`: the marks of other readers stay. How many
/// were unread.
pub fn mark_read(store: &mut Store, ctx: &Ctx<'_>, of: &str, messages: &[i64]) -> Result<usize> {
    let reader = reader(of)?;
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let mut marked = 0;
        for seq in messages {
            marked += usize::from(message::mark_read(tx, &reader, *seq, ctx.now)?);
        }
        Ok(marked)
    })
}

fn reader(name: &str) -> Result<String> {
    let reader = handle(name);
    if reader.is_empty() {
        return Err(Error::invalid(
            "agent",
            format!("'{}' is no name that could have an inbox", name.escape_debug()),
        ));
    }
    Ok(reader)
}
