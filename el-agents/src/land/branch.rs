//! Looks at the branches of atoms.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use el_core::model::{Atom, Event, EventKind, PullRequest, Status, Timestamp};
use el_core::{Store, ops};
use schemars::JsonSchema;
use serde::Serialize;

use super::open_work::{OpenWork, WorkBelow, find_below, find_open_work};
use super::{LandError, LandSettings, Result, missing_commits};
use crate::git::{GitError, Repository, Revert, Worktree};

/// The state of an atom's branch.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct AtomBranch {
    pub atom_id: String,
    /// `null`: the tracker does not know the atom.
    pub status: Option<Status>,
    pub title: Option<String>,
    pub branch: String,
    pub tip: String,
    /// `null`: the branch is checked out nowhere.
    pub path: Option<PathBuf>,
    /// The folder of the worktree is gone.
    pub missing: bool,
    /// The branch that the worktree has checked out instead, or "no branch". `null`: the atom's own
    /// branch.
    pub strayed_to: Option<String>,
    /// On a server: why the branch here may lack commits that were handed in.
    #[serde(skip)]
    pub apart: Option<String>,
    /// Files with changes that no commit has.
    pub uncommitted: Vec<String>,
    /// The number of commits since the branch began.
    pub commits: usize,
    /// The branch has commits, the target has all of them, and no later revert took any back.
    pub landed: bool,
    /// The commit of the target that reverted the landed work. `null`: no revert.
    pub taken_back: Option<String>,
    /// The atom has a live run.
    pub live: bool,
    /// The branch was made by el.
    pub ours: bool,
    /// The last pull request of the branch.
    pub pull_request: Option<PullRequest>,
    /// The other atoms that are still open and have commits of the branch.
    #[serde(skip)]
    pub work_below: Vec<WorkBelow>,
    /// The reverts of any of the work, newest first.
    #[serde(skip)]
    pub reverts: Vec<Revert>,
    /// The other atoms on whose work it builds, each with the commit that reverted the work since.
    #[serde(skip)]
    pub reverted_below: Vec<(String, String)>,
    #[serde(skip)]
    pub closed_at: Option<Timestamp>,
    /// The time of the last reopening after a close. Looked up only for a branch with reverts.
    #[serde(skip)]
    pub reopened_at: Option<Timestamp>,
    /// The time of the last commit, in seconds since 1970. Looked up as that is.
    #[serde(skip)]
    pub committed_at: Option<i64>,
    #[serde(skip)]
    pub parent: Option<String>,
}

impl AtomBranch {
    /// Says that commits of the atom are not on the branch here: the worktree has another branch
    /// checked out, or they are on another host or at the remote.
    pub fn describe_stray(&self) -> Option<String> {
        let on = self.strayed_to.as_ref();
        let stray = on.map(|on| format!("its worktree is on {on}, not on {}", self.branch));
        stray.or_else(|| self.apart.clone())
    }

    /// Says that the work landed and was reverted since.
    pub fn describe_revert(&self) -> Option<String> {
        self.taken_back.as_ref().map(|commit| {
            format!("it had landed, and was taken back by {}", commit.get(..12).unwrap_or(commit))
        })
    }
}

/// Lists the branches of all atoms by name. `target` is the branch that receives the work; `None`
/// if the repository has no such branch.
///
/// # Errors
/// If git or the store fails.
pub fn atom_branches(
    store: &Store,
    repository: &Repository,
    settings: &LandSettings,
    target: Option<&str>,
) -> Result<Vec<AtomBranch>> {
    let commit = target.map_or(Ok(None), |name| repository.known_tip(name))?;
    atom_branches_at(store, repository, settings, commit)
}

/// Does the same as [`atom_branches`] for a commit that receives the work.
///
/// # Errors
/// If git or the store fails.
pub fn atom_branches_at(
    store: &Store,
    repository: &Repository,
    settings: &LandSettings,
    target: Option<String>,
) -> Result<Vec<AtomBranch>> {
    let search = Search::new(store, repository, settings, target)?;
    let mut found = Vec::new();
    for atom in repository.atoms_with_branch()? {
        let branch = repository.branch_of(&atom)?;
        if let Some(tip) = repository.branch_tip(&branch)? {
            found.push(search.any_branch(&atom, branch, tip)?);
        }
    }
    note_reverted_below(&search.repository, &mut found)?;
    Ok(found)
}

/// Notes which branches have the work of another one that the target took back after that.
fn note_reverted_below(repository: &Repository, all: &mut [AtomBranch]) -> Result<(), GitError> {
    let reverted = |one: &AtomBranch| {
        let last = one.reverts.first()?;
        Some((one.atom_id.clone(), one.tip.clone(), last.commit.clone()))
    };
    for (atom, work, revert) in all.iter().filter_map(reverted).collect::<Vec<_>>() {
        for above in all.iter_mut().filter(|one| one.atom_id != atom && !one.landed) {
            if above.commits > 0
                && repository.contains(&above.tip, &work)?
                && !repository.contains(&above.tip, &revert)?
            {
                above.reverted_below.push((atom.clone(), revert.clone()));
            }
        }
    }
    Ok(())
}

/// Facts that are looked up once for all branches.
pub(super) struct Search<'a> {
    store: &'a Store,
    repository: Repository,
    settings: &'a LandSettings,
    worktrees: Vec<Worktree>,
    folder: PathBuf,
    /// The commit of the branch that work is brought to.
    target: Option<String>,
    /// The atoms with a live run.
    live: Vec<String>,
    /// The last pull request of each atom.
    pulls: HashMap<String, PullRequest>,
    /// The work that is still open. Looked up once a branch may have some.
    open: OnceCell<OpenWork>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        store: &'a Store,
        repository: &Repository,
        settings: &'a LandSettings,
        target: Option<String>,
    ) -> Result<Search<'a>> {
        let folder = settings.worktrees.canonicalize();
        let folder = folder.unwrap_or_else(|_| settings.worktrees.clone());
        let pulls = ops::pull_requests(store, false)?;
        Ok(Search {
            store,
            repository: repository.with_notes()?,
            settings,
            worktrees: repository.worktrees_in(&folder)?,
            folder,
            target,
            live: ops::live_runs(store)?.into_iter().map(|run| run.atom_id).collect(),
            pulls: pulls.into_iter().map(|one| (one.atom_id.clone(), one)).collect(),
            open: OnceCell::new(),
        })
    }

    /// Also answers about a branch that git refuses, which has no commits then and lands nothing.
    fn any_branch(&self, id: &str, branch: String, tip: String) -> Result<AtomBranch> {
        let error = match self.atom_branch(id, branch.clone(), tip.clone()) {
            Err(LandError::Git(error)) if error.is_refusal() => error,
            done => return done,
        };
        let ours = self.repository.base_of(id)?.is_some();
        let apart = Some(error.to_string());
        Ok(AtomBranch { apart, ours, ..self.unread_branch(id, branch, tip) })
    }

    /// Returns what is known of a branch without its commits and its worktree.
    fn unread_branch(&self, id: &str, branch: String, tip: String) -> AtomBranch {
        let known: Option<Atom> = ops::get_atom(self.store, id).ok().filter(|found| found.id == id);
        AtomBranch {
            atom_id: id.to_owned(),
            status: known.as_ref().map(|atom| atom.status),
            title: known.as_ref().map(|atom| atom.title.clone()),
            branch,
            tip,
            live: self.live.iter().any(|atom| atom == id),
            pull_request: self.pulls.get(id).cloned(),
            closed_at: known.as_ref().and_then(|atom| atom.closed_at),
            parent: known.and_then(|atom| atom.parent_id),
            ..AtomBranch::default()
        }
    }

    pub(super) fn atom_branch(&self, id: &str, branch: String, tip: String) -> Result<AtomBranch> {
        let Search { repository, target, .. } = self;
        let tree = self.worktree_of(id, &branch);
        let base = repository.base_of(id)?;
        let commits = self.own_commits(base.as_deref(), &tip)?;
        let strayed_to = tree
            .filter(|tree| tree.branch.as_deref() != Some(&branch))
            .map(|tree| tree.branch.clone().unwrap_or_else(|| "no branch".to_owned()));
        let (has_landed, reverts) = match target {
            // A branch without commits cannot have landed.
            Some(target) if commits > 0 && strayed_to.is_none() => {
                let landing = repository.find_landing(target, id, &tip)?;
                let reverts = repository.find_reverts(target, id, &tip, &landing)?;
                (landing.has_landed(), reverts)
            }
            _ => (false, Vec::new()),
        };
        // By its content, a squash with more than the work is landed no more once it was reverted.
        let has_landed = has_landed || reverts.first().is_some_and(|revert| revert.is_of_all);
        let taken_back = reverts.first().filter(|_| has_landed).map(|revert| revert.commit.clone());
        let (reopened_at, committed_at) = match reverts.is_empty() {
            true => (None, None),
            false => (reopened_at(self.store, id)?, repository.committed_at(&tip)?),
        };
        let put = &self.settings.put_into_worktrees;
        let apart = match has_landed {
            true => None,
            false => missing_commits::find_missing(self.store, repository, id, &branch, &tip)?,
        };
        let is_in = commits == 0 || has_landed && taken_back.is_none();
        let work_below = if is_in { Vec::new() } else { self.work_below(id, &tip)? };
        Ok(AtomBranch {
            apart,
            path: tree.map(|tree| tree.path.clone()),
            missing: tree.is_some_and(|tree| tree.is_missing),
            strayed_to,
            uncommitted: tree
                .map_or(Ok(Vec::new()), |tree| tree.uncommitted_changes(repository.git(), put))?,
            commits,
            landed: has_landed && taken_back.is_none(),
            taken_back,
            ours: base.is_some(),
            work_below,
            reverts,
            reopened_at,
            committed_at,
            ..self.unread_branch(id, branch, tip)
        })
    }

    /// Returns true if the branch lands, or has landed, by a pull request.
    pub(super) fn is_pulled(&self, id: &str, tip: &str) -> bool {
        self.pulls.get(id).is_some_and(|one| one.carries(tip))
    }

    fn work_below(&self, id: &str, tip: &str) -> Result<Vec<WorkBelow>> {
        let Search { store, repository, target: Some(target), .. } = self else {
            return Ok(Vec::new());
        };
        if self.open.get().is_none() {
            let open = find_open_work(store, repository, target, self.pulls.values())?;
            let _ = self.open.set(open);
        }
        match self.open.get() {
            Some(open) => find_below(store, repository, target, open, (id, tip)),
            None => Ok(Vec::new()),
        }
    }

    fn worktree_of(&self, id: &str, branch: &str) -> Option<&Worktree> {
        let trees = &self.worktrees;
        let is_there = |path: &Path, tree: &Worktree| tree.path == path && !tree.is_missing;
        let own = self.folder.join(id);
        trees
            .iter()
            .find(|tree| is_there(&own, tree))
            .or_else(|| trees.iter().find(|tree| tree.branch.as_deref() == Some(branch)))
            // The worktree was made under another `worktrees_directory`.
            .or_else(|| {
                trees.iter().skip(1).find(|tree| tree.path.ends_with(id) && !tree.is_missing)
            })
    }

    fn own_commits(&self, base: Option<&str>, tip: &str) -> Result<usize, GitError> {
        let Some(since) = base.or(self.target.as_deref()) else { return Ok(0) };
        let range = format!("{since}..{tip}");
        let said = self.repository.git().ask_optional(&["rev-list", "--count", &range])?;
        Ok(said.and_then(|text| text.parse().ok()).unwrap_or(0))
    }
}

fn reopened_at(store: &Store, atom: &str) -> Result<Option<Timestamp>> {
    let (_, events) = ops::history(store, atom)?;
    let is_reopening = |event: &&Event| {
        event.kind == EventKind::Status && event.data["from"] == Status::Closed.as_str()
    };
    Ok(events.iter().rev().find(is_reopening).map(|event| event.at))
}

/// Returns the name of the branch that receives the work: `wanted`, or the branch that is checked
/// out. A symbolic reference stands for the branch that it names.
///
/// # Errors
/// If the branch does not exist, or belongs to an agent.
pub fn resolve_target(repository: &Repository, wanted: Option<&str>) -> Result<String> {
    let name = wanted.map_or_else(|| repository.current_branch(), |name| Ok(name.to_owned()))?;
    let words = ["symbolic-ref", "-q", "--short", &format!("refs/heads/{name}")];
    let name = repository.git().ask_optional(&words)?.unwrap_or(name);
    if repository.atom_of(&name).is_some() {
        return Err(LandError::AgentBranch(name));
    }
    if repository.branch_tip(&name)?.is_none() {
        // In a repository without commits, the missing commit is the better message.
        repository.head_commit()?;
        return Err(GitError::NoRevision(name).into());
    }
    Ok(name)
}
