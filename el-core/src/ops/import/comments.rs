//! The comments of an import.

use std::collections::HashSet;

use super::*;

/// The change that a comment of the file made here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    Added,
    Edited,
    Nothing,
}

/// Adds new comments, and edits comments with a changed text.
pub(super) struct Writer<'a> {
    lookup: &'a Lookup<'a>,
    targets: &'a [Target],
    /// A file neither changes a comment on behalf of a session, nor lets it speak for others.
    session: Option<&'a Run>,
    written: HashSet<String>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        lookup: &'a Lookup<'a>,
        targets: &'a [Target],
        session: Option<&'a Run>,
    ) -> Self {
        Writer { lookup, targets, session, written: HashSet::new() }
    }

    pub(super) fn write_comment(
        &mut self,
        ctx: &Ctx<'_>,
        said: RecordComment,
        notes: &mut Notes,
    ) -> Result<Written> {
        let tx = self.lookup.tx;
        let Some(parent_id) = self.lookup.find_id(self.targets, &said.atom)? else {
            let place = format!("line {} ({})", said.line, said.atom);
            notes.add(NoteKind::LeftOut, "a comment on an atom that is not in the file", &place);
            return Ok(Written::Nothing);
        };
        let made = Comment {
            record_type: Comment::RECORD_TYPE,
            id: self.comment_id(&said),
            parent_id: parent_id.to_string(),
            author: self.session.map_or(said.author, |_| ctx.actor.to_owned()),
            content: said.content,
            run_id: self.session.map_or(said.run_id, |run| Some(run.id.clone())),
            created_at: said.created_at.filter(|_| self.session.is_none()).unwrap_or(ctx.now),
        };
        let done = if comment::insert_as_is(tx, &made)? {
            Written::Added
        } else if self.session.is_none() && comment::replace_text(tx, &made)? {
            Written::Edited
        } else {
            return Ok(Written::Nothing);
        };
        let mut data = json!({ "comment": made.id, "author": made.author });
        if done == Written::Edited {
            data["edited"] = true.into();
        }
        event::insert(tx, ctx, EventKind::Commented, Some(&made.parent_id), None, &data)?;
        Ok(done)
    }

    /// Returns the id to store a comment under. Two clones of a tracker can give the same id to two
    /// comments: author and time tell the comments apart, and within a file, the text.
    fn comment_id(&mut self, said: &RecordComment) -> String {
        if let Some(id) = &said.id {
            return id.clone();
        }
        let source = self.lookup.source;
        let at = said.created_at.map_or_else(String::new, |at| at.to_string());
        if let Some(key) = &said.key {
            let id = ids::of_text(&[source, &said.atom, &said.author, &at, "", key]);
            if self.written.insert(id.clone()) {
                return id;
            }
        }
        ids::of_text(&[source, &said.atom, &said.author, &at, &said.content])
    }
}
