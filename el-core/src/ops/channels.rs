use super::Page;
use crate::model::{Channel, Message, channel_name, handle};
use crate::store::{Store, message};
use crate::{Error, Result};

/// Every channel, the one where something was said last first. What is unread is counted for
/// `reader`.
pub fn channels(store: &Store, reader: &str) -> Result<Vec<Channel>> {
    store.read(|tx| message::channels(tx, &handle(reader)))
}

/// The last `limit` messages of a channel after message number `after`, oldest first, with its
/// whole name.
pub fn channel(
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
        Ok((channel.clone(), Page { items, total }))
    })
}
