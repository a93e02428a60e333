//! Hands what reviewers and checks want to the next attempt, if a person allows that. Words of
//! strangers and of bots reach no agent.

use std::time::Duration;

use el_core::model::{PullRequest, PullRequestState, Timestamp};
use el_core::ops::{self, Given, Remark};
use el_core::{Ctx, Store, text};

use super::Result;
use super::push::take_in;
use crate::forge::{Forge, ForgeRemark, Forges, RemarkKind, RepoName};
use crate::git::Repository;

/// Bytes of all remarks of one round, and of the end of a log.
const TOLD_MAX: usize = 16 << 10;
const LOG_MAX: usize = 4 << 10;

/// The rules for what counts as feedback.
#[derive(Debug, Clone, Default)]
pub struct FeedbackRules {
    pub checks: bool,
    pub reviews: bool,
    /// How often feedback reopens an atom before a person is asked.
    pub most: u32,
    /// The roles of people who count: `OWNER`, `MEMBER`, …
    pub trusted: Vec<String>,
}

impl FeedbackRules {
    pub(super) fn is_on(&self) -> bool {
        self.checks || self.reviews
    }
}

/// An atom that was handed remarks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handed {
    pub atom_id: String,
    pub given: Given,
    /// The commits that others pushed on top of the branch, and that came to it here, newest first.
    pub taken_in: Vec<String>,
}

/// Gathers what is new about these pull requests, by one query for each repository, unless the last
/// of it is newer than `quiet`. The next attempt begins with what reviewers pushed on top. Returns
/// the atoms that were reopened or blocked.
///
/// # Errors
/// If the forge or the store fails.
pub fn gather_feedback(
    store: &mut Store,
    ctx: &Ctx<'_>,
    (repository, forges): (&Repository, &Forges),
    rules: &FeedbackRules,
    quiet: Duration,
    records: &[PullRequest],
) -> Result<Vec<Handed>> {
    let mut given = Vec::new();
    if !rules.is_on() {
        return Ok(given);
    }
    let mut open = Vec::new();
    for one in records.iter().filter(|one| one.state == PullRequestState::Open) {
        if ops::takes_remarks(store, &one.atom_id)? {
            open.push(one);
        }
    }
    let mut repos: Vec<&str> = open.iter().map(|record| record.repo.as_str()).collect();
    repos.sort_unstable();
    repos.dedup();
    for name in repos {
        let Some(repo) = RepoName::parse(name, "") else { continue };
        let here: Vec<&&PullRequest> = open.iter().filter(|one| one.repo == name).collect();
        let numbers: Vec<u64> = here.iter().filter_map(|one| one.number).collect();
        let forge = forges.of_record(here[0]);
        for (record, remarks) in here.iter().zip(forge.find_remarks(&repo, &numbers)?) {
            let key = (record.atom_id.as_str(), record.seq);
            // A log is read once, like the remark.
            let is_new = |remark: &&ForgeRemark| {
                let it = (remark.head.as_str(), remark.id.as_str());
                !ops::knows_remark(store, key, it).unwrap_or(false)
            };
            let counts = |remark: &&ForgeRemark| counts(rules, record, remark);
            let remarks: Vec<&ForgeRemark> = remarks.iter().filter(counts).filter(is_new).collect();
            if remarks.is_empty() || is_going_on(&remarks, ctx.now, quiet) {
                continue;
            }
            let is_late = |remark: &ForgeRemark| {
                record.late_at.zip(remark.at).is_some_and(|(late, at)| at <= late)
            };
            let remarks = remarks
                .into_iter()
                .map(|remark| Remark { is_late: is_late(remark), ..tell(forge, &repo, remark) })
                .collect();
            // Commits that cannot be taken in now are told when the answer is pushed.
            let taken_in =
                take_in(store, ctx, (repository, Some(forge)), record, &repo).unwrap_or_default();
            match ops::give_remarks(store, ctx, key, &cut(remarks), rules.most)? {
                Given::Nothing => {}
                end => given.push(Handed { atom_id: record.atom_id.clone(), given: end, taken_in }),
            }
        }
    }
    Ok(given)
}

/// A failed check counts for the commit that el pushed; a person's words if the person is trusted.
fn counts(rules: &FeedbackRules, record: &PullRequest, remark: &ForgeRemark) -> bool {
    if remark.kind == RemarkKind::Check {
        return rules.checks && record.pushed.as_deref() == Some(&remark.head);
    }
    let is_trusted = || rules.trusted.iter().any(|role| role.eq_ignore_ascii_case(&remark.role));
    rules.reviews && !remark.is_bot && is_trusted()
}

/// Something was said a moment ago, and more may come.
fn is_going_on(remarks: &[&ForgeRemark], now: Timestamp, quiet: Duration) -> bool {
    // The forge's clock may be ahead of this one.
    let is_new = |at: Timestamp| !quiet.is_zero() && (at > now || now.since(at) < quiet);
    remarks.iter().filter_map(|remark| remark.at).any(is_new)
}

fn tell(forge: &dyn Forge, repo: &RepoName, remark: &ForgeRemark) -> Remark {
    let who = match remark.kind {
        RemarkKind::Check => String::new(),
        _ => format!("{}: ", remark.author),
    };
    let place = remark.place.as_deref().map(|place| format!("{place}: ")).unwrap_or_default();
    // A log may be gone; the name of the check is told all the same.
    let log = remark.run.and_then(|run| forge.failed_log(repo, run).ok()).unwrap_or_default();
    let log = text::tail_bytes(log.trim(), LOG_MAX);
    let log = if log.is_empty() { String::new() } else { format!("\nThe end of its log:\n{log}") };
    Remark {
        head: remark.head.clone(),
        id: remark.id.clone(),
        text: text::sanitize(&format!("{place}{who}{}{log}", remark.text.trim())),
        is_late: false,
    }
}

/// The remarks in as many bytes as an attempt is told.
fn cut(mut remarks: Vec<Remark>) -> Vec<Remark> {
    let share = TOLD_MAX / remarks.len().max(1);
    for remark in &mut remarks {
        if remark.text.len() > share {
            remark.text = format!("{} …", text::head_bytes(&remark.text, share));
        }
    }
    remarks
}
