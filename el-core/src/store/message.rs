use super::Tx;
use super::engine::{self, Row, params};
use crate::error::Doing;
use crate::model::{Channel, InboxMessage, Message, Timestamp};
use crate::{Result, model};

/// A checked message to insert.
#[derive(Debug)]
pub(crate) struct NewRow<'a> {
    pub(crate) channel: &'a str,
    pub(crate) author: &'a str,
    pub(crate) content: &'a str,
    /// Sorted handles.
    pub(crate) mentions: Vec<String>,
    pub(crate) atom_id: Option<&'a str>,
    pub(crate) run_id: Option<&'a str>,
}

const COLUMNS: &str = "m.seq, m.id, m.channel, m.author, m.content, m.atom_id, m.run_id, \
     m.created_at, \
     (SELECT group_concat(n.reader, ' ') FROM mentions n WHERE n.message = m.seq)";

fn from_row(row: &Row<'_>) -> engine::Result<Message> {
    let mut mentions: Vec<String> = row
        .get::<_, Option<String>>(8)?
        .map(|all| all.split(' ').map(str::to_owned).collect())
        .unwrap_or_default();
    mentions.sort();
    Ok(Message {
        record_type: Message::RECORD_TYPE,
        seq: row.get(0)?,
        id: row.get(1)?,
        channel: row.get(2)?,
        author: row.get(3)?,
        content: row.get(4)?,
        mentions,
        atom_id: row.get(5)?,
        run_id: row.get(6)?,
        created_at: Timestamp::from_micros(row.get(7)?),
    })
}

pub(crate) fn insert(tx: &Tx<'_>, new: NewRow<'_>, now: Timestamp) -> Result<Message> {
    let id = model::fresh_uuid();
    let seq = tx
        .query_row(
            "INSERT INTO messages (id, channel, author, content, atom_id, run_id, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING seq",
            params![
                id,
                new.channel,
                new.author,
                new.content,
                new.atom_id,
                new.run_id,
                now.as_micros()
            ],
            |row| row.get(0),
        )
        .doing("post a message")?;
    for reader in &new.mentions {
        tx.execute("INSERT INTO mentions (reader, message) VALUES (?1, ?2)", params![reader, seq])
            .doing("fill an inbox")?;
    }
    Ok(Message {
        record_type: Message::RECORD_TYPE,
        seq,
        id,
        channel: new.channel.to_owned(),
        author: new.author.to_owned(),
        content: new.content.to_owned(),
        mentions: new.mentions,
        atom_id: new.atom_id.map(str::to_owned),
        run_id: new.run_id.map(str::to_owned),
        created_at: now,
    })
}

/// The last `limit` messages of a channel, oldest first, and how many there are.
pub(crate) fn of_channel(
    tx: &Tx<'_>,
    channel: &str,
    after: i64,
    limit: Option<i64>,
) -> Result<(Vec<Message>, i64)> {
    let total = tx
        .query_row(
            "SELECT count(*) FROM messages WHERE channel = ?1 AND seq > ?2",
            params![channel, after],
            |row| row.get(0),
        )
        .doing("count messages")?;
    let mut found: Vec<Message> = tx
        .read_all(
            &format!(
                "SELECT {COLUMNS} FROM messages m WHERE m.channel = ?1 AND m.seq > ?2
             ORDER BY m.seq DESC LIMIT ?3"
            ),
            params![channel, after, limit.unwrap_or(i64::MAX)],
            from_row,
        )
        .doing("read messages")?;
    found.reverse();
    Ok((found, total))
}

/// Returns every channel, the channel with the latest message first.
pub(crate) fn list_channels(tx: &Tx<'_>, reader: &str) -> Result<Vec<Channel>> {
    tx.read_all(
        "SELECT c.channel, c.n, m.author, m.created_at, substr(m.content, 1, 400),
                (SELECT count(*) FROM mentions n JOIN messages u ON u.seq = n.message
                 WHERE n.reader = ?1 AND n.read_at IS NULL AND u.channel = c.channel)
             FROM (SELECT channel, count(*) AS n, max(seq) AS last FROM messages GROUP BY channel) c
             JOIN messages m ON m.seq = c.last ORDER BY c.last DESC",
        [reader],
        |row| {
            let last: String = row.get(4)?;
            Ok(Channel {
                name: row.get(0)?,
                messages: row.get(1)?,
                last_author: row.get(2)?,
                last_at: Timestamp::from_micros(row.get(3)?),
                last: last.split_whitespace().collect::<Vec<_>>().join(" "),
                unread: row.get(5)?,
            })
        },
    )
    .doing("read channels")
}

/// Returns the reader's messages after message number `after`, newest first, with the total count.
pub(crate) fn list_inbox(
    tx: &Tx<'_>,
    reader: &str,
    unread_only: bool,
    after: i64,
    limit: Option<i64>,
) -> Result<(Vec<InboxMessage>, i64)> {
    let from = "FROM mentions i JOIN messages m ON m.seq = i.message
                WHERE i.reader = ?1 AND i.message > ?2 AND (?3 = 0 OR i.read_at IS NULL)";
    let total = tx
        .query_row(&format!("SELECT count(*) {from}"), params![reader, after, unread_only], |row| {
            row.get(0)
        })
        .doing("count an inbox")?;
    let sql = format!("SELECT {COLUMNS}, i.read_at {from} ORDER BY i.message DESC LIMIT ?4");
    let found = tx
        .read_all(&sql, params![reader, after, unread_only, limit.unwrap_or(i64::MAX)], |row| {
            Ok(InboxMessage { message: from_row(row)?, read_at: row.time_or_none(9)? })
        })
        .doing("read an inbox")?;
    Ok((found, total))
}

/// Marks a message as read by a reader. Returns true if the message was unread.
pub(crate) fn mark_read(tx: &Tx<'_>, reader: &str, seq: i64, now: Timestamp) -> Result<bool> {
    let changed = tx
        .execute(
            "UPDATE mentions SET read_at = ?3 WHERE reader = ?1 AND message = ?2
             AND read_at IS NULL",
            params![reader, seq, now.as_micros()],
        )
        .doing("mark a message as read")?;
    Ok(changed > 0)
}
