//! The answers of `el pr`.

use el_agents::pull_requests::{Handed, PullItem, PullOutcome, PullPlace, PushedAnswer};
use el_core::model::{PullRequest, Timestamp};
use el_core::ops::Given;
use schemars::JsonSchema;
use serde::Serialize;

use crate::output::branch_lines::{BranchLines, print_branches};
use crate::output::pull_requests::{held_words, number_text, state_style, state_words};
use crate::output::{Page, sanitize, style, time};
use crate::{App, CommandError, Exit, Result};

/// The answer of `el pr`.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Opening<'a> {
    /// HOST/OWNER/NAME of the repository that receives the work.
    repo: String,
    /// The remote that branches are pushed to, and HOST/OWNER/NAME of the repository behind it.
    remote: &'a str,
    head_repo: String,
    base: &'a str,
    dry_run: bool,
    count: usize,
    /// The number of pull requests that were opened.
    opened: usize,
    items: &'a [PullItem],
    /// The setting `isolate` asks for worktrees.
    #[serde(skip)]
    has_worktrees: bool,
}

/// Without it, a single agent works in the project's folder.
const WORKTREES: &str = "el config set isolate worktree";

impl<'a> Opening<'a> {
    pub(super) fn new(
        place: &'a PullPlace,
        dry_run: bool,
        items: &'a [PullItem],
        has_worktrees: bool,
    ) -> Opening<'a> {
        Opening {
            repo: place.repo.to_string(),
            remote: &place.remote,
            head_repo: place.head.to_string(),
            base: &place.base,
            dry_run,
            count: items.len(),
            opened: items.iter().filter(|item| item.outcome == PullOutcome::Opened).count(),
            items,
            has_worktrees,
        }
    }
}

/// Pull requests as they are known here.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(in crate::commands) struct Listing {
    pub(super) count: usize,
    pub(super) total: usize,
    pub(super) truncated: bool,
    pub(super) items: Vec<PullRequest>,
    /// Atoms that are open again because a review asked for changes.
    reopened: Vec<String>,
    /// Atoms whose attempts at such changes are used up.
    blocked: Vec<String>,
    /// The answers of agents to reviews, which were pushed, or could not be.
    answers: Vec<PushedAnswer>,
    /// The branches here that got commits which others had pushed on top of them.
    taken_in: Vec<TakenIn>,
    /// Atoms whose answer to a review is in their worktree, and in no commit.
    uncommitted: Vec<String>,
}

/// Commits that others pushed on top of an atom's branch, and that came to it here.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct TakenIn {
    atom_id: String,
    /// Newest first, such as `1a2b3c4d5e by Ann`.
    commits: Vec<String>,
}

impl Listing {
    pub(super) fn new(items: Vec<PullRequest>) -> Listing {
        Listing { count: items.len(), total: items.len(), items, ..Listing::default() }
    }

    pub(super) fn with_uncommitted(self, uncommitted: Vec<String>) -> Listing {
        Listing { uncommitted, ..self }
    }

    pub(super) fn with_news(mut self, answers: Vec<PushedAnswer>, handed: Vec<Handed>) -> Listing {
        let of_answer = |one: &PushedAnswer| (one.atom_id.clone(), one.taken_in.clone());
        let of_remark = |one: &Handed| (one.atom_id.clone(), one.taken_in.clone());
        let all = answers.iter().map(of_answer).chain(handed.iter().map(of_remark));
        let taken_in = all.filter(|(_, commits)| !commits.is_empty());
        self.taken_in = taken_in.map(|(atom_id, commits)| TakenIn { atom_id, commits }).collect();
        self.answers = answers;
        for Handed { atom_id, given, .. } in handed {
            match given {
                Given::Reopened => self.reopened.push(atom_id),
                Given::Blocked => self.blocked.push(atom_id),
                Given::Nothing => {}
            }
        }
        self
    }

    pub(super) fn print(&self, page: &mut Page, now: Timestamp) {
        for one in &self.items {
            let id = page.paint(style::ID, &one.atom_id);
            let word = page.paint(state_style(one.state), &state_words(one));
            let number = number_text(one);
            let seen = one.seen_at.map(|at| format!(", seen {}", time::relative_time(now, at)));
            page.push_line(format!("{id}  {number}  {word}{}", seen.unwrap_or_default()));
            if let Some(url) = one.url.as_ref().filter(|_| !page.is_quiet()) {
                page.push_line(format!("  {}", sanitize::one_line(url)));
            }
            if let Some(held) = &one.held {
                page.push_line(format!("  {}", held_words(held, now)));
            }
        }
        for answer in self.answers.iter().filter(|answer| !answer.outcome.is_failure()) {
            let id = page.paint(style::ID, &answer.atom_id);
            page.push_line(format!("{id}  is pushed: its review has an answer"));
        }
        for TakenIn { atom_id, commits } in &self.taken_in {
            let (id, commits) = (page.paint(style::ID, atom_id), commits.join(", "));
            let commits = sanitize::one_line(&commits);
            page.push_line(format!("{id}  has commits of others on its branch here: {commits}"));
        }
        for id in &self.reopened {
            let id = page.paint(style::ID, id);
            page.push_line(format!("{id}  is open again, for what its review asks"));
        }
        for id in &self.uncommitted {
            let shown = page.paint(style::ID, id);
            page.push_line(format!(
                "{shown}  has an answer to its review that is not committed; commit it in its \
                 worktree, then el pr {id}"
            ));
        }
        for id in &self.blocked {
            let id = page.paint(style::ID, id);
            page.push_line(format!("{id}  is blocked: its review asks for more"));
        }
        if self.items.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "no pull request is known here");
        }
    }
}

pub(super) fn report_opening(app: &App, data: &Opening<'_>) -> Result<Exit> {
    let failed = data.items.iter().filter(|item| item.outcome.is_failure()).count();
    if failed > 0 && app.printer.is_robot() {
        let noun = if failed == 1 { "branch has" } else { "branches have" };
        return Err(CommandError::conflict(
            "not_opened",
            format!("{failed} {noun} no pull request as it should be"),
        )
        .with_hint("details.items says of each what became of it, and why")
        .with_detail("repo", data.repo.as_str())
        .with_detail("opened", data.opened)
        .with_detail("items", serde_json::to_value(data.items).unwrap_or_default()));
    }
    let exit = if failed == 0 { Exit::Done } else { Exit::Conflict };
    app.printer.emit_and_exit(data, exit, |page| print_opening(page, data))
}

fn print_opening(page: &mut Page, data: &Opening<'_>) {
    if data.dry_run && !page.is_quiet() {
        page.push_line(format!(
            "Branches would be pushed to {} ({}), for pull requests into {} of {}",
            data.remote, data.head_repo, data.base, data.repo
        ));
    }
    let lines = data.items.iter().map(|item| BranchLines {
        atom_id: &item.atom_id,
        is_failure: item.outcome.is_failure(),
        outcome: outcome_words(item, data),
        facts: facts_of(item, data),
        detail: item.detail.as_deref(),
        conflict_atom: item.conflict_atom.as_deref(),
    });
    let no_worktrees = format!("nothing to open; agents make branches in worktrees: {WORKTREES}");
    let if_none = if data.has_worktrees { "nothing to open" } else { &no_worktrees };
    print_branches(page, if_none, lines);
}

/// The lines below the outcome: the address, and what would be done.
fn facts_of(item: &PullItem, data: &Opening<'_>) -> Vec<String> {
    let mut facts: Vec<String> =
        item.pull_request.iter().filter_map(|one| one.url.clone()).collect();
    facts.extend(item.closing_note());
    if !item.taken_in.is_empty() {
        let branch = item.branch.as_deref().unwrap_or_default();
        let commits = item.taken_in.join(", ");
        facts.push(format!("from {} into {branch} here: {commits}", data.remote));
    }
    if item.outcome == PullOutcome::NoBranch && !data.has_worktrees {
        facts.push(format!("agents make branches in worktrees: {WORKTREES}"));
    }
    let Some(plan) = &item.plan else { return facts };
    let branch = item.branch.as_deref().unwrap_or_default();
    facts.push(match (&plan.push, &plan.merges) {
        (_, Some(base)) => {
            format!("push: {branch} to {}, after {base} is merged into it", data.remote)
        }
        (Some(commit), None) => format!("push: {branch} at {commit} to {}", data.remote),
        (None, None) => format!("push: nothing, {} has {branch} as it is", data.remote),
    });
    facts.extend(plan.base.iter().map(|base| format!("into: {base} of {}", data.repo)));
    facts.extend(plan.title.iter().map(|title| format!("title: {title}")));
    facts.extend(
        plan.draft.map(|is_draft| {
            format!("as: {}", if is_draft { "a draft" } else { "ready for review" })
        }),
    );
    if let Some(body) = &plan.body {
        facts.push("body:".to_owned());
        facts.extend(body.trim_end().lines().map(|line| format!("  {line}")));
    }
    facts
}

fn outcome_words(item: &PullItem, data: &Opening<'_>) -> String {
    let base = data.base;
    if data.dry_run {
        match item.outcome {
            PullOutcome::HasKey => return "would not be pushed".to_owned(),
            PullOutcome::Held => return "would be left as it is".to_owned(),
            PullOutcome::Astray => return "would be left out".to_owned(),
            _ => {}
        }
    }
    let number = item.pull_request.as_ref().and_then(|one| one.number);
    let number = number.map(|number| format!("#{number}")).unwrap_or_default();
    match item.outcome {
        PullOutcome::ToOpen => "would be opened".to_owned(),
        PullOutcome::ToUpdate => format!("{number} would be updated"),
        PullOutcome::Opened => format!("{number} is open now"),
        PullOutcome::Adopted => format!("{number} was there already"),
        PullOutcome::Updated => format!("{number} is up to date now"),
        PullOutcome::Unchanged => format!("{number} was up to date"),
        PullOutcome::Already => format!("is on {base} already"),
        PullOutcome::Nothing => "has no commits to bring in".to_owned(),
        PullOutcome::NoBranch => "has no branch".to_owned(),
        PullOutcome::NotFinished => "is not closed".to_owned(),
        PullOutcome::AtWork => "has a run at work".to_owned(),
        PullOutcome::Uncommitted => {
            "has changes that are not committed; commit them in its worktree".to_owned()
        }
        PullOutcome::Astray => "was left out".to_owned(),
        PullOutcome::Conflict => format!("is in conflict with {base}"),
        PullOutcome::CheckFailed => "makes the check fail, and was left out".to_owned(),
        PullOutcome::Waits => "waits".to_owned(),
        PullOutcome::HasKey => "was not pushed".to_owned(),
        PullOutcome::Held => "was left as it is".to_owned(),
        PullOutcome::Failed => "could not be opened now".to_owned(),
    }
}
