use serde_json::json;

use crate::model::{Comment, EventKind, validate};
use crate::store::{self, Store, atom, event, run};
use crate::{Ctx, Error, Result};

/// Adds a comment.
///
/// # Errors
///
/// If the text is blank or too long, an id is unknown or ambiguous, the caller's run is stale, or
/// the database cannot be written.
pub fn add_comment(store: &mut Store, ctx: &Ctx<'_>, id: &str, content: &str) -> Result<Comment> {
    let content = validate::text("comment", content)?;
    if content.trim().is_empty() {
        return Err(Error::invalid("comment", "the comment is blank"));
    }
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let id = atom::resolve(tx, id)?;
        let comment = store::comment::insert(tx, ctx, &id, &content)?;
        atom::touch(tx, &id, ctx.now)?;
        event::insert(
            tx,
            ctx,
            EventKind::Commented,
            Some(&id),
            None,
            &json!({ "comment": comment.id }),
        )?;
        Ok(comment)
    })
}

/// Returns the comments of an atom, oldest first, with the whole id of the atom.
///
/// # Errors
///
/// If the id is unknown or ambiguous, or the database cannot be read.
pub fn list_comments(store: &Store, id: &str) -> Result<(String, Vec<Comment>)> {
    store.read(|tx| {
        let id = atom::resolve(tx, id)?;
        let comments = store::comment::list_of(tx, &id)?;
        Ok((id, comments))
    })
}
