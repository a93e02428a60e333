use crate::Result;
use crate::model::{ReviewVerdict, Run};
use crate::protocol::context::Context;
use crate::store::{Store, atom, bond, comment, review, run};

/// Builds the context that the agent of a run gets.
///
/// # Errors
///
/// If the database cannot be read.
pub fn build_context(store: &Store, of: &Run, preamble: Option<&str>) -> Result<Context> {
    store.read(|tx| {
        let found = atom::get(tx, &of.atom_id)?;
        let mut blockers = Vec::new();
        for edge in bond::list_touching(tx, &found.id)? {
            if edge.target_id == found.id && edge.dependency_type.is_blocking() {
                blockers.extend(atom::find(tx, &edge.source_id)?);
            }
        }
        Ok(Context {
            agent: of.agent.clone(),
            attempt: of.attempt,
            parent: found.parent_id.as_deref().map(|id| atom::find(tx, id)).transpose()?.flatten(),
            blockers,
            comments: comment::list_of(tx, &found.id)?,
            attempts: run::of_atom(tx, &found.id)?.into_iter().filter(|r| r.id != of.id).collect(),
            rejection: review::last_review(tx, &found.id)?
                .filter(|review| review.verdict == Some(ReviewVerdict::Rejected)),
            review: found.asks_for_review(),
            verify: of.verify.clone(),
            summary_path: None,
            question: super::orchestrate::question_text(tx, &found.id)?,
            larger_work: super::orchestrate::larger_work(tx, &found)?,
            preamble: preamble.map(str::to_owned),
            atom: found,
        })
    })
}
