use std::collections::HashMap;

use super::engine::{self, params};
use super::{Tx, list_text};
use crate::error::Doing;
use crate::model::{Comment, Timestamp};
use crate::{Ctx, Result, model};

pub(crate) fn insert(tx: &Tx<'_>, ctx: &Ctx<'_>, atom: &str, content: &str) -> Result<Comment> {
    let comment = Comment {
        record_type: Comment::RECORD_TYPE,
        id: model::fresh_uuid(),
        parent_id: atom.to_owned(),
        author: ctx.actor.to_owned(),
        content: content.to_owned(),
        run_id: ctx.session.map(|s| s.run.clone()),
        created_at: ctx.now,
    };
    insert_as_is(tx, &comment)?;
    Ok(comment)
}

/// Adds a comment unchanged.
pub(crate) fn insert_as_is(tx: &Tx<'_>, comment: &Comment) -> Result<()> {
    tx.gather_row(
        "INSERT INTO comments (id, atom_id, author, content, run_id, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        params![
            comment.id,
            comment.parent_id,
            comment.author,
            comment.content,
            comment.run_id,
            comment.created_at.as_micros()
        ],
    )
    .doing("add a comment")
}

/// Removes a comment. Returns false if there is none.
pub(crate) fn remove(tx: &Tx<'_>, id: &str) -> Result<bool> {
    let removed =
        tx.execute("DELETE FROM comments WHERE id = ?1", [id]).doing("remove a comment")?;
    Ok(removed > 0)
}

/// Replaces the text of a comment.
pub(crate) fn replace_text(tx: &Tx<'_>, comment: &Comment) -> Result<()> {
    let text = tx.pick_text(
        "UPDATE comments SET content = ?2 WHERE id = ?1",
        "UPDATE comments SET content = v.content FROM (VALUES (?1, ?2)) AS v (id, content)
         WHERE comments.id = v.id",
    );
    tx.gather_row(text, [&comment.id, &comment.content]).doing("edit a comment")
}

/// The comments with these ids, by id.
pub(crate) fn find_all(tx: &Tx<'_>, ids: &[&str]) -> Result<HashMap<String, Comment>> {
    let found = query_comments(
        tx,
        "SELECT id, atom_id, author, content, run_id, created_at FROM comments
         WHERE id IN (SELECT value FROM json_each(?1))",
        params![list_text(ids)],
    )?;
    Ok(found.into_iter().map(|comment| (comment.id.clone(), comment)).collect())
}

/// The comments on an atom, by time and id.
pub(crate) fn by_time(tx: &Tx<'_>, atom: &str) -> Result<Vec<Comment>> {
    query_comments(
        tx,
        "SELECT id, atom_id, author, content, run_id, created_at FROM comments
         WHERE atom_id = ?1 ORDER BY created_at, id",
        params![atom],
    )
}

/// Oldest first.
pub(crate) fn list_of(tx: &Tx<'_>, atom: &str) -> Result<Vec<Comment>> {
    query_comments(
        tx,
        "SELECT id, atom_id, author, content, run_id, created_at FROM comments WHERE atom_id = ?1
         ORDER BY seq",
        params![atom],
    )
}

fn query_comments(tx: &Tx<'_>, sql: &str, params: &[&dyn engine::ToSql]) -> Result<Vec<Comment>> {
    tx.read_all(sql, params, |row| {
        Ok(Comment {
            record_type: Comment::RECORD_TYPE,
            id: row.get(0)?,
            parent_id: row.get(1)?,
            author: row.get(2)?,
            content: row.get(3)?,
            run_id: row.get(4)?,
            created_at: Timestamp::from_micros(row.get(5)?),
        })
    })
    .doing("read comments")
}
