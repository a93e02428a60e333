use serde_json::json;

use crate::model::{EventKind, Message, channel_name, handle_of, mentioned_handles, validate};
use crate::store::message::NewRow;
use crate::store::{self, Store, Tx, atom, event, run};
use crate::{Ctx, Error, Result};

/// A message to post.
#[derive(Debug, Clone, Default)]
pub struct NewMessage {
    pub channel: String,
    /// A name as `@name` puts the message into that inbox.
    pub content: String,
    /// Further names that get the message.
    pub to: Vec<String>,
    /// The atom that the message is about, as people type ids; in a session, by default the
    /// session's atom.
    pub atom: Option<String>,
}

/// Posts a message to a channel. A new channel is created.
///
/// # Errors
///
/// If a name or the text is not legal, the atom is unknown or ambiguous, the caller's run is stale,
/// or the database cannot be written.
pub fn post(store: &mut Store, ctx: &Ctx<'_>, new: &NewMessage) -> Result<Message> {
    let channel = channel_name(&new.channel)?;
    let content = validate::text("message", &new.content)?;
    if content.trim().is_empty() {
        return Err(Error::invalid("message", "the message is blank"));
    }
    store.write(|tx| {
        let session = run::fence(tx, ctx)?;
        let about = match &new.atom {
            Some(id) => Some(atom::resolve(tx, id)?),
            None => session.as_ref().map(|run| run.atom_id.clone()),
        };
        let posted = insert_message(
            tx,
            ctx,
            &channel,
            ctx.actor,
            &content,
            &new.to,
            about.as_deref(),
            session.as_ref().map(|run| run.id.as_str()),
        )?;
        let data = json!({ "channel": posted.channel, "message": posted.id });
        event::insert(tx, ctx, EventKind::Posted, about.as_deref(), None, &data)?;
        Ok(posted)
    })
}

/// Inserts a message, and delivers the message to the names in `to` and to the names in the text.
#[expect(clippy::too_many_arguments, reason = "each is one column of the row")]
pub(super) fn insert_message(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    channel: &str,
    author: &str,
    content: &str,
    to: &[String],
    atom: Option<&str>,
    run: Option<&str>,
) -> Result<Message> {
    let mut readers = mentioned_handles(content);
    readers.extend(to.iter().map(|name| handle_of(name)).filter(|name| !name.is_empty()));
    readers.sort();
    readers.dedup();
    store::message::insert(
        tx,
        NewRow { channel, author, content, mentions: readers, atom_id: atom, run_id: run },
        ctx.now,
    )
}
