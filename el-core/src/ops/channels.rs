use super::Page;
use crate::model::{Channel, Message, channel_name, handle_of};
use crate::store::{Store, message};
use crate::{Error, Result};

/// Returns every channel, the channel with the latest message first. Unread messages are counted
/// for `reader`.
///
/// # Errors
///
/// If the database cannot be read.
pub fn list_channels(store: &Store, reader: &str) -> Result<Vec<Channel>> {
    store.read(|tx| message::list_channels(tx, &handle_of(reader)))
}

/// Returns the last `limit` messages of a channel after message number `after`, oldest first, with
/// the whole name of the channel.
///
/// # Errors
///
/// If the name is no channel's, or the database cannot be read.
pub fn read_channel(
    store: &Store,
    name: &str,
    after: i64,
    limit: Option<i64>,
) -> Result<(String, Page<Message>)> {
    let channel = channel_name(name)?;
    store.read(|tx| {
        let (items, total) = message::of_channel(tx, &channel, after, limit)?;
        if total == 0 && after == 0 {
            return Err(Error::not_found("channel", name));
        }
        Ok((channel.clone(), Page::of_total(items, total)))
    })
}
