//! Pull requests in words.

use el_core::count_times;
use el_core::model::{HeldPush, PullRequest, PullRequestState, Timestamp};

use crate::output::{sanitize, style, time};

pub(crate) fn number_text(one: &PullRequest) -> String {
    one.number.map_or_else(|| "no number yet".to_owned(), |number| format!("#{number}"))
}

pub(crate) fn state_style(state: PullRequestState) -> anstyle::Style {
    match state {
        PullRequestState::Closed | PullRequestState::Lost => style::WARNING,
        PullRequestState::Merged => style::GOOD,
        _ => style::DIM,
    }
}

/// The state in words.
pub(crate) fn state_words(one: &PullRequest) -> String {
    let not_pushed = if one.held.is_some() { ", not pushed" } else { "" };
    // It counts as lost only after some more looks.
    let not_found = if one.is_unseen() { ", not found there" } else { "" };
    let detail = one.detail.as_deref().unwrap_or_default();
    let detail = match detail {
        "unqueued" => "thrown out of the merge queue".to_owned(),
        detail => detail.replacen("draft_", "draft, ", 1).replace('_', " "),
    };
    let words = match one.state {
        PullRequestState::Pushing if one.held.is_some() => return "could not be pushed".to_owned(),
        PullRequestState::Pushing => "its push was begun".to_owned(),
        PullRequestState::Opening => "is being opened".to_owned(),
        PullRequestState::Open if detail.is_empty() => "open".to_owned(),
        PullRequestState::Open => format!("open: {detail}"),
        PullRequestState::Queued => "in the merge queue".to_owned(),
        PullRequestState::Merged => format!("merged into {}", one.base_ref),
        PullRequestState::Closed => "closed without being merged".to_owned(),
        PullRequestState::Lost => format!("lost: {detail}"),
    };
    words + not_found + not_pushed
}

/// The commits that could not be pushed, why, and when that is tried again.
pub(crate) fn held_words(held: &HeldPush, now: Timestamp) -> String {
    let tries = count_times(usize::try_from(held.tries).unwrap_or(usize::MAX));
    let again = match held.until <= now {
        true => "at the next look".to_owned(),
        false => time::relative_time(now, held.until),
    };
    let (tip, why) = (held.tip.get(..10).unwrap_or(&held.tip), sanitize::one_line(&held.why));
    let first = time::relative_time(now, held.since);
    format!("{tip} is not pushed: {why} (tried {tries}, first {first}; again {again})")
}

/// The number and the state of one that is not merged.
pub(crate) fn briefly(one: &PullRequest) -> Option<String> {
    let is_told = one.state != PullRequestState::Merged;
    is_told.then(|| format!("{} {}", number_text(one), state_words(one)))
}

/// The number, the state and the address.
pub(crate) fn brief(one: &PullRequest) -> String {
    let url = one.url.as_deref().map(|url| format!("  {}", sanitize::one_line(url)));
    format!("{} {}{}", number_text(one), state_words(one), url.unwrap_or_default())
}

/// A sentence about an atom's pull request, and what to do about it.
pub(crate) fn describe_pull_request(one: &PullRequest, now: Timestamp) -> String {
    let url = one.url.as_deref().map(|url| format!(", {}", sanitize::one_line(url)));
    let head = format!(
        "Its pull request ({}{}) is: {}.",
        number_text(one),
        url.unwrap_or_default(),
        state_words(one)
    );
    let id = &one.atom_id;
    let head = match &one.held {
        None => head,
        Some(held) => format!("{head} {}.", held_words(held, now)),
    };
    match one.state {
        PullRequestState::Pushing | PullRequestState::Opening => {
            format!("{head} el pr {id} goes on with it.")
        }
        PullRequestState::Closed => {
            format!("{head} A person decides: el reopen {id}, or el discard {id}.")
        }
        PullRequestState::Lost => {
            format!("{head} Its branch is as it was here; el pr {id} opens a new one.")
        }
        _ if one.is_unseen() => format!(
            "{head} The forge did not show it at the last look; after three of them, an hour \
             apart, it counts as lost."
        ),
        PullRequestState::Open if one.is_thrown_out() => {
            format!("{head} Its page says why; el pr merge {id} asks for the queue again.")
        }
        _ if one.held.is_some() => format!(
            "{head} Nothing more is asked of its agent before that is pushed; el pr {id} tries at \
             once."
        ),
        _ => head,
    }
}
