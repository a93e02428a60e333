//! Brings an open pull request up to date, beside its commits.

use el_core::model::PullRequest;
use el_core::protocol::pull_request::replace_section;
use el_core::{Store, ops};

use super::texts::Texts;
use super::{PullRun, Result};

/// The parts of an open pull request that are not as they should be.
#[derive(Debug, Default)]
pub(super) struct Change {
    pub(super) base: Option<String>,
    pub(super) body: Option<String>,
    pub(super) draft: Option<bool>,
}

impl Change {
    pub(super) fn is_empty(&self) -> bool {
        self.base.is_none() && self.body.is_none() && self.draft.is_none()
    }
}

/// Finds the section between the marks, if it is another now, and base and draft if that was asked
/// for, or if the base was the branch of another atom. `wanted`: the base that it should have.
/// A body that lost a mark belongs to a person.
pub(super) fn find_change(
    run: &PullRun<'_>,
    record: &PullRequest,
    texts: &Texts,
    wanted: &str,
) -> Result<Change> {
    let Some(number) = record.number else { return Ok(Change::default()) };
    // A forge may keep the line ends of a browser.
    let body = run.forge().request_body(&run.place.repo, number)?.replace("\r\n", "\n");
    // The base was named, or the branch below was merged meanwhile.
    let is_stacked = run.repository.atom_of(&record.base_ref).is_some();
    let moves = record.base_ref != wanted && (run.options.changes_base || is_stacked);
    let turns = run.options.changes_draft && record.is_draft() != run.options.is_draft;
    Ok(Change {
        base: moves.then(|| wanted.to_owned()),
        body: replace_section(&body, &texts.section).filter(|new| *new != body),
        draft: turns.then_some(run.options.is_draft),
    })
}

/// Brings it up to date. Returns true if anything changed.
pub(super) fn update(
    run: &PullRun<'_>,
    store: &mut Store,
    record: &mut PullRequest,
    texts: &Texts,
    wanted: &str,
) -> Result<bool> {
    let change = find_change(run, record, texts, wanted)?;
    let (Some(number), forge, repo) = (record.number, run.forge(), &run.place.repo) else {
        return Ok(false);
    };
    if change.body.is_some() || change.base.is_some() {
        forge.edit_request(repo, number, change.base.as_deref(), change.body.as_deref())?;
    }
    if let Some(is_draft) = change.draft {
        forge.set_draft(repo, number, is_draft)?;
        let key = (record.atom_id.as_str(), record.seq);
        *record = ops::pull_request_drafted(store, &run.land.ctx(), key, is_draft)?;
    }
    Ok(!change.is_empty())
}
