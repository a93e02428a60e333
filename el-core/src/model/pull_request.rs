use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Timestamp;
use super::text_enum::text_enum;

text_enum! {
    /// The state of a pull request. It does not depend on the atom's status.
    pub enum PullRequestState as "pull request state" {
        /// The branch is being pushed, or the process that did so was ended.
        Pushing = "pushing",
        /// The branch was pushed, and the pull request is being made.
        Opening = "opening",
        Open = "open",
        /// In the merge queue of the forge.
        Queued = "queued",
        Merged = "merged",
        /// Closed without being merged.
        Closed = "closed",
        /// The forge knows the repository or the number no more.
        Lost = "lost",
    }
}

impl PullRequestState {
    /// The pull request can still be merged, so no other is made for the atom.
    pub const fn is_live(self) -> bool {
        use PullRequestState::{Open, Opening, Pushing, Queued};
        matches!(self, Pushing | Opening | Open | Queued)
    }
}

/// Commits of a branch that could not be pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeldPush {
    /// The tip of the branch here.
    pub tip: String,
    pub why: String,
    /// The tries of this tip.
    pub tries: u32,
    /// When the first of them failed.
    pub since: Timestamp,
    /// The earliest time at which a worker or a watch tries again by itself.
    pub until: Timestamp,
}

impl HeldPush {
    /// The longest time between two tries.
    pub const LONGEST: Duration = Duration::from_secs(30 * 60);

    /// Returns true if it may be tried again. A time that is further off than the longest wait
    /// dates from before the clock went back.
    pub fn is_due(&self, now: Timestamp) -> bool {
        self.until <= now || self.until.since(now) > HeldPush::LONGEST
    }
}

/// A pull request of an atom's branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PullRequest {
    #[serde(rename = "_type")]
    #[schemars(extend("const" = Self::RECORD_TYPE))]
    pub record_type: &'static str,
    pub atom_id: String,
    /// 1 for the first. Work after a merge is a further one.
    pub seq: i64,
    pub forge: String,
    /// HOST/OWNER/NAME of the repository that receives the work.
    pub repo: String,
    /// The owner of the repository that the branch is pushed to.
    pub head_owner: String,
    pub head_ref: String,
    pub base_ref: String,
    /// The commit that is being pushed; `null`: no push is under way.
    pub pushing: Option<String>,
    /// The last commit that arrived, as far as el knows.
    pub pushed: Option<String>,
    pub number: Option<u64>,
    pub url: Option<String>,
    pub state: PullRequestState,
    /// Of an open one: `waiting`, `failing`, `changes_requested`, `conflict`, `behind`,
    /// `branch_deleted`, `unqueued` or `ready`; of a draft `draft`, or its trouble, such as
    /// `draft_failing`. Else why it ended.
    pub detail: Option<String>,
    pub merge_commit: Option<String>,
    /// The head that was merged.
    pub merged_head: Option<String>,
    pub created_at: Timestamp,
    /// When the forge was asked last.
    pub seen_at: Option<Timestamp>,
    /// The earliest time of the next question, after a failure.
    pub next_look: Option<Timestamp>,
    /// Questions in a row that failed.
    pub failures: u32,
    /// The commits of the branch here that could not be pushed; `null`: there are none.
    pub held: Option<HeldPush>,
    /// When a commit arrived whose push had been held up.
    #[serde(skip)]
    pub late_at: Option<Timestamp>,
    /// el made the branch at the remote, and deletes it there after the merge.
    #[serde(skip)]
    pub owns_branch: bool,
}

impl PullRequest {
    /// The value of `_type` in every row.
    pub const RECORD_TYPE: &'static str = "pull_request";

    /// Makes the record of a pull request before its first push.
    pub fn new(atom: &str, seq: i64, forge: &str, repo: &str, now: Timestamp) -> PullRequest {
        PullRequest {
            record_type: PullRequest::RECORD_TYPE,
            atom_id: atom.to_owned(),
            seq,
            forge: forge.to_owned(),
            repo: repo.to_owned(),
            head_owner: String::new(),
            head_ref: String::new(),
            base_ref: String::new(),
            pushing: None,
            pushed: None,
            number: None,
            url: None,
            state: PullRequestState::Pushing,
            detail: None,
            merge_commit: None,
            merged_head: None,
            created_at: now,
            seen_at: None,
            next_look: None,
            failures: 0,
            held: None,
            late_at: None,
            owns_branch: false,
        }
    }

    /// Returns true if it is open as a draft, as far as the forge has said.
    pub fn is_draft(&self) -> bool {
        let is_open = self.state == PullRequestState::Open;
        is_open && self.detail.as_deref().is_some_and(|detail| detail.starts_with("draft"))
    }

    /// Makes an open one a draft, or ready for review. Its trouble stays.
    pub(crate) fn set_draft(&mut self, is_draft: bool) {
        let trouble = self.waits_for().filter(|word| !["draft", "waiting", "ready"].contains(word));
        self.detail = Some(match (is_draft, trouble) {
            (true, None | Some("unqueued")) => "draft".to_owned(),
            (true, Some(trouble)) => format!("draft_{trouble}"),
            (false, trouble) => trouble.unwrap_or("waiting").to_owned(),
        });
    }

    /// Returns true if the forge did not show it at the last look. After some more, it is lost.
    pub fn is_unseen(&self) -> bool {
        self.state.is_live() && self.failures > 0
    }

    /// Returns true if the merge queue threw this head out.
    pub fn is_thrown_out(&self) -> bool {
        self.state == PullRequestState::Open && self.detail.as_deref() == Some("unqueued")
    }

    /// The word for the thing that an open one waits for, draft or not.
    pub fn waits_for(&self) -> Option<&str> {
        let detail = self.detail.as_deref().filter(|_| self.state == PullRequestState::Open)?;
        Some(detail.strip_prefix("draft_").unwrap_or(detail))
    }

    /// Returns true if a branch with this tip lands by the pull request, or has landed by it.
    /// Commits that came after the merge have not.
    pub fn carries(&self, tip: &str) -> bool {
        let is_tip = |commit: &Option<String>| commit.as_deref() == Some(tip);
        let is_merged = self.state == PullRequestState::Merged;
        self.state.is_live() || is_merged && (is_tip(&self.pushed) || is_tip(&self.merged_head))
    }
}
