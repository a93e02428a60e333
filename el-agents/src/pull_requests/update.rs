//! Brings an open pull request up to date, beside its commits.

use el_core::model::PullRequest;
use el_core::protocol::pull_request::replace_section;

use super::texts::Texts;
use super::{PullError, PullRun};

/// Replaces the section between the marks, and changes base and draft if that was asked for, or if
/// the base was the branch of another atom. `wanted`: the base that it should have.
/// Returns true if anything changed. A body that lost a mark belongs to a person.
pub(super) fn update(
    run: &PullRun<'_>,
    record: &PullRequest,
    texts: &Texts,
    wanted: &str,
) -> Result<bool, PullError> {
    let Some(number) = record.number else { return Ok(false) };
    let (forge, repo) = (run.forge(), &run.place.repo);
    // A forge may keep the line ends of a browser.
    let body = forge.request_body(repo, number)?.replace("\r\n", "\n");
    let new = replace_section(&body, &texts.section).filter(|new| *new != body);
    // The base was named, or the branch below was merged meanwhile.
    let is_stacked = run.repository.atom_of(&record.base_ref).is_some();
    let base = Some(wanted)
        .filter(|wanted| record.base_ref != *wanted && (run.options.changes_base || is_stacked));
    if new.is_some() || base.is_some() {
        forge.edit_request(repo, number, base, new.as_deref())?;
    }
    let turns = run.options.changes_draft && record.is_draft() != run.options.is_draft;
    if turns {
        forge.set_draft(repo, number, run.options.is_draft)?;
    }
    Ok(new.is_some() || base.is_some() || turns)
}
