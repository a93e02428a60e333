//! The comments of an import.

use std::collections::HashSet;

use super::*;

/// Adds new comments, and edits comments with a changed text.
pub(super) struct Writer<'a> {
    lookup: &'a Lookup<'a>,
    targets: &'a [Target],
    ctx: &'a Ctx<'a>,
    /// A file neither changes a comment on behalf of a session, nor lets it speak for others.
    session: Option<&'a Run>,
    written: HashSet<String>,
    /// The comments that are compared next, each with the number of its record.
    next: Vec<(Comment, Option<usize>)>,
    added: usize,
    edited: usize,
    touched: Vec<usize>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        lookup: &'a Lookup<'a>,
        targets: &'a [Target],
        ctx: &'a Ctx<'a>,
        session: Option<&'a Run>,
    ) -> Self {
        Writer {
            lookup,
            targets,
            ctx,
            session,
            written: HashSet::new(),
            next: Vec::new(),
            added: 0,
            edited: 0,
            touched: Vec::new(),
        }
    }

    pub(super) fn write_comment(&mut self, said: RecordComment, notes: &mut Notes) -> Result<()> {
        let Some(parent_id) = self.lookup.find_id(self.targets, &said.atom)? else {
            let place = format!("line {} ({})", said.line, said.atom);
            notes.add(NoteKind::LeftOut, "a comment on an atom that is not in the file", &place);
            return Ok(());
        };
        let now = self.ctx.now;
        let at = self.lookup.index.get(said.atom.as_str()).copied();
        let made = Comment {
            record_type: Comment::RECORD_TYPE,
            id: self.comment_id(&said),
            parent_id: parent_id.to_string(),
            author: self.session.map_or(said.author, |_| self.ctx.actor.to_owned()),
            content: said.content,
            run_id: self.session.map_or(said.run_id, |run| Some(run.id.clone())),
            created_at: said.created_at.filter(|_| self.session.is_none()).unwrap_or(now),
        };
        // Of two with one id, the second is compared with the first.
        if self.next.len() >= AT_ONCE || self.next.iter().any(|(one, _)| one.id == made.id) {
            self.write_next()?;
        }
        self.next.push((made, at));
        Ok(())
    }

    fn write_next(&mut self) -> Result<()> {
        let tx = self.lookup.tx;
        let next = std::mem::take(&mut self.next);
        let ids: Vec<&str> = next.iter().map(|(made, _)| &*made.id).collect();
        let known = comment::find_all(tx, &ids)?;
        for (made, at) in next {
            let mut data = json!({ "comment": made.id, "author": made.author });
            match known.get(&made.id) {
                None => {
                    comment::insert_as_is(tx, &made)?;
                    self.added += 1;
                }
                Some(known)
                    if self.session.is_none()
                        && (&known.parent_id, &known.author) == (&made.parent_id, &made.author)
                        && known.content != made.content =>
                {
                    comment::replace_text(tx, &made)?;
                    self.edited += 1;
                    data["edited"] = true.into();
                }
                Some(_) => continue,
            }
            let atom = Some(&*made.parent_id);
            event::insert(tx, self.ctx, EventKind::Commented, atom, None, &data)?;
            self.touched.extend(at);
        }
        Ok(())
    }

    /// Writes the rest, and tells what was done.
    pub(super) fn finish(mut self, done: &mut Imported, touched: &mut [bool]) -> Result<()> {
        self.write_next()?;
        done.comments_added = self.added;
        done.comments_edited = self.edited;
        self.touched.into_iter().for_each(|at| touched[at] = true);
        Ok(())
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
