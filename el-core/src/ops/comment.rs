use serde_json::json;

use crate::model::{Comment, EventKind, validate};
use crate::store::{self, Store, Tx, atom, event, run};
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
        let comment = insert_comment(tx, ctx, &id, None, &content)?;
        atom::touch(tx, &id, ctx.now)?;
        Ok(comment)
    })
}

/// Adds a comment with the event, in the name of the actor. `run`: the run that the comment is
/// about.
pub(super) fn insert_comment(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    atom: &str,
    run: Option<&str>,
    content: &str,
) -> Result<Comment> {
    let added = store::comment::insert(tx, ctx, atom, content)?;
    let data = json!({ "comment": added.id });
    event::insert(tx, ctx, EventKind::Commented, Some(atom), run, &data)?;
    Ok(added)
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
