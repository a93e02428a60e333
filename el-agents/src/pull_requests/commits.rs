//! Reads the messages of the commits that a push would show to others.

use el_core::protocol::pull_request::{describe_key, find_closings};
use el_core::{Store, ops};

use super::Result;
use super::item::{PullItem, PullOutcome};
use super::run::PullRun;

/// Closing words that are told of a branch.
const TOLD: usize = 20;

/// Reads the messages that the remote does not have yet. One with something that looks like a key
/// holds the branch back. Words that close an issue are noted: no message of a commit is changed.
/// `own`: the issues that the pull request closes by itself.
pub(super) fn read_messages(
    run: &PullRun<'_>,
    store: &Store,
    item: &mut PullItem,
    own: &[u64],
) -> Result<()> {
    let Some(tip) = &item.tip else { return Ok(()) };
    let records = ops::pull_requests_of(store, &item.atom_id)?;
    let pushed = records.into_iter().filter_map(|record| record.pushed);
    let known: Vec<String> = [run.base_commit.to_owned()].into_iter().chain(pushed).collect();
    let mut words = vec!["log", "-z", "--format=%H%n%B", "--ignore-missing", tip, "--not"];
    words.extend(known.iter().map(String::as_str));
    let said = run.repository.git().ask(&words)?;
    let own: Vec<String> = own.iter().map(|number| format!(" #{number}")).collect();
    let mut closes = Vec::new();
    for (commit, message) in said.split('\0').filter_map(|one| one.split_once('\n')) {
        let short = commit.get(..10).unwrap_or(commit);
        if let Some(like) = describe_key(message, &run.texts.private_values) {
            let base = run.place.base_name();
            let why = format!(
                "the message of its commit {short} has something that looks like {like}; take it \
                 out in its worktree (git rebase -i {base}, reword)"
            );
            item.hold(PullOutcome::HasKey, why);
            return Ok(());
        }
        let is_own = |closing: &String| own.iter().any(|issue| closing.ends_with(issue));
        let closing = find_closings(message).into_iter().filter(|it| !is_own(it));
        closes.extend(closing.map(|it| format!("{it} ({short})")));
    }
    let more = closes.len().saturating_sub(TOLD);
    closes.truncate(TOLD);
    closes.extend((more > 0).then(|| format!("and {more} more")));
    item.closes = closes;
    Ok(())
}
