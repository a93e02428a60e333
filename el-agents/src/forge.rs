//! The forge that a repository is on, asked by the user's own program.
//!
//! No token is held here and no API is called. Every call names the repository, never asks a
//! person, takes texts by standard input, and ends in bounded time.

use el_core::model::Timestamp;
use serde_json::Value;

mod answer;
mod call;
mod choice;
mod error;
mod gh;
mod glab;
mod push_address;
mod repo_name;
mod waits;

pub use self::choice::{ForgeKind, Forges};
pub use self::error::{ForgeError, ForgeProgram, Result};
pub use self::gh::{FoundIssues, GithubCli, IssueChange, IssueFilter};
pub use self::glab::GitlabCli;
pub use self::push_address::push_address;
pub use self::repo_name::RepoName;
pub use self::waits::{ForgeWait, ForgeWaits};

/// The facts to know of a repository before anything is pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The name as the forge has it: a renamed repository answers under its new name.
    pub repo: RepoName,
    /// `None`: the repository is empty.
    pub default_branch: Option<String>,
    pub parent: Option<RepoName>,
    /// The user may push there.
    pub may_push: bool,
    /// The allowed ways to merge, the preferred one first.
    pub methods: Vec<MergeMethod>,
}

/// How a pull request is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeMethod {
    Squash,
    Merge,
    Rebase,
}

impl MergeMethod {
    /// The word in the settings.
    pub fn name(self) -> &'static str {
        match self {
            MergeMethod::Squash => "squash",
            MergeMethod::Merge => "merge",
            MergeMethod::Rebase => "rebase",
        }
    }
}

/// The end of a pull request, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestState {
    Open,
    Closed,
    Merged,
}

/// A pull request of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundRequest {
    pub number: u64,
    pub url: String,
    pub state: RequestState,
    pub head: String,
    /// The owner of the repository that has the branch.
    pub head_owner: String,
}

/// A pull request to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewRequest<'a> {
    /// The repository that has the branch.
    pub head: &'a RepoName,
    pub head_ref: &'a str,
    pub base_ref: &'a str,
    pub title: &'a str,
    pub body: &'a str,
    pub is_draft: bool,
}

/// A pull request as the forge has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFacts {
    pub number: u64,
    pub url: String,
    pub state: RequestState,
    pub is_draft: bool,
    pub head: String,
    pub base_ref: String,
    pub merge_commit: Option<String>,
    pub is_queued: bool,
    /// The base has a merge queue.
    pub has_queue: bool,
    /// The forge will merge the request once the rules allow.
    pub is_armed: bool,
    pub checks: Checks,
    pub review: Review,
    pub conflict: Conflict,
    /// The branch was deleted at the forge, and the pull request is open all the same.
    pub is_branch_gone: bool,
    /// The base takes only branches that contain the base, and the branch does not.
    pub is_behind: bool,
    /// The base wants something that has not come, such as a check that has not begun.
    pub is_blocked: bool,
    /// Threads of reviews that nobody resolved.
    pub open_threads: usize,
}

impl RequestFacts {
    /// Returns true if a check or a review is still to come.
    pub(crate) fn still_waits(&self) -> bool {
        self.checks == Checks::Pending || self.review == Review::Required || self.is_blocked
    }
}

/// The checks of the head together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    None,
    Pending,
    Passed,
    Failed,
}

/// The decision of the reviewers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Review {
    /// No review is required, or none was made.
    None,
    Required,
    Approved,
    ChangesRequested,
}

/// A conflict of the head with the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict {
    No,
    Yes,
    /// The forge has not looked yet.
    Unknown,
}

/// The kind of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemarkKind {
    /// A required check that failed.
    Check,
    /// A review that requests changes.
    Review,
    /// A comment of a thread that nobody resolved.
    Thread,
}

/// A demand of a reviewer or a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeRemark {
    pub kind: RemarkKind,
    /// The commit that it is about; empty: whatever the head is.
    pub head: String,
    /// Unique in its pull request.
    pub id: String,
    pub author: String,
    pub is_bot: bool,
    /// The author's part in the repository, in the forge's word: `OWNER`, `MEMBER`, `NONE`, …
    pub role: String,
    pub text: String,
    /// File and line.
    pub place: Option<String>,
    /// The run, or the job, of a failed check, which has the log.
    pub run: Option<u64>,
    /// When it was said.
    pub at: Option<Timestamp>,
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Forges write it in small or in capital letters.
fn state_of(word: &Value) -> RequestState {
    let is_word = |name| word.as_str().is_some_and(|word| word.eq_ignore_ascii_case(name));
    if is_word("merged") {
        RequestState::Merged
    } else if is_word("closed") {
        RequestState::Closed
    } else {
        // At GitLab it is `locked` while it is being merged.
        RequestState::Open
    }
}

fn time_of(value: &Value) -> Option<Timestamp> {
    Timestamp::parse(value.as_str()?).ok()
}

/// The calls that el makes.
pub trait Forge: std::fmt::Debug {
    /// The word in the store.
    fn name(&self) -> &'static str;

    /// Checks that the program is there and new enough.
    ///
    /// # Errors
    /// [`ForgeError::Missing`] or [`ForgeError::TooOld`].
    fn ensure_ready(&self) -> Result<()>;

    /// # Errors
    /// If the forge cannot be asked, or does not show the repository.
    fn repository_facts(&self, repo: &RepoName) -> Result<RepositoryFacts>;

    /// The pull requests of a branch, from any repository, open or not; the newest first.
    ///
    /// # Errors
    /// If the forge cannot be asked.
    fn find_requests(&self, repo: &RepoName, head_ref: &str) -> Result<Vec<FoundRequest>>;

    /// Makes a pull request. Returns number and address.
    ///
    /// # Errors
    /// If it was not made, or the answer was lost.
    fn create_request(&self, repo: &RepoName, new: &NewRequest<'_>) -> Result<(u64, String)>;

    /// # Errors
    /// If the forge cannot be asked.
    fn request_body(&self, repo: &RepoName, number: u64) -> Result<String>;

    /// Changes the base, the body, or both.
    ///
    /// # Errors
    /// If the forge refuses.
    fn edit_request(
        &self,
        repo: &RepoName,
        number: u64,
        base_ref: Option<&str>,
        body: Option<&str>,
    ) -> Result<()>;

    /// # Errors
    /// If the forge refuses.
    fn set_draft(&self, repo: &RepoName, number: u64, is_draft: bool) -> Result<()>;

    /// Looks at many pull requests at once, in their order. `None`: there is no such one.
    ///
    /// # Errors
    /// If the forge cannot be asked.
    fn request_facts(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Option<RequestFacts>>>;

    /// Asks for a merge of exactly this head. Success says only that the forge took the request:
    /// look afterwards. `method`: `None` for a merge queue. `when_ready`: it merges by itself once
    /// it may; at once, if it may by now.
    ///
    /// # Errors
    /// If the forge refuses.
    fn request_merge(
        &self,
        repo: &RepoName,
        number: u64,
        head: &str,
        method: Option<MergeMethod>,
        when_ready: bool,
    ) -> Result<()>;

    /// Finds the demands of reviewers and checks, in the pull requests' order.
    ///
    /// # Errors
    /// If the forge cannot be asked.
    fn find_remarks(&self, repo: &RepoName, numbers: &[u64]) -> Result<Vec<Vec<ForgeRemark>>>;

    /// The log of the failed steps of a run.
    ///
    /// # Errors
    /// If the forge cannot be asked, or has the log no more.
    fn failed_log(&self, repo: &RepoName, run: u64) -> Result<String>;

    /// Returns true if any open pull request has the branch as base.
    ///
    /// # Errors
    /// If the forge cannot be asked.
    fn is_base(&self, repo: &RepoName, branch: &str) -> Result<bool>;

    /// Returns true if the branch takes only signed commits.
    ///
    /// # Errors
    /// If the forge cannot be asked.
    fn wants_signatures(&self, repo: &RepoName, branch: &str) -> Result<bool>;

    /// The reference, in the repository that receives the work, of a pull request's head.
    fn head_reference(&self, number: u64) -> String;

    /// Where the repository may have its template: the folders in the forge's order, and the names
    /// of the file in small letters.
    fn template_places(&self) -> (&'static [&'static str], &'static [&'static str]);
}
