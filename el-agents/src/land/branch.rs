//! The branches of atoms, as they stand.

use std::path::{Path, PathBuf};

use el_core::Store;
use el_core::model::{Atom, Event, EventKind, Status, Timestamp};
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use super::{LandError, LandSettings};
use crate::git::{GitError, Repository, Revert, Worktree, branch_of};

/// How the names of agents' branches begin.
const AGENT_PREFIX: &str = "el/";

/// An atom's branch, as it stands.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AtomBranch {
    pub atom_id: String,
    /// `null`: the tracker does not know the atom.
    pub status: Option<Status>,
    pub title: Option<String>,
    pub branch: String,
    pub tip: String,
    /// `null`: the branch is checked out nowhere.
    pub path: Option<PathBuf>,
    /// Somebody removed its folder.
    pub missing: bool,
    /// The branch that its worktree has checked out instead, or "no branch". `null`: its own.
    pub strayed_to: Option<String>,
    /// Files with changes that no commit has.
    pub uncommitted: Vec<String>,
    /// Commits of its own.
    pub commits: usize,
    /// It has commits, all of them are in the branch that work is brought to, and none was taken
    /// back there.
    pub landed: bool,
    /// The commit that took it back there after it had landed. `null`: none.
    pub taken_back: Option<String>,
    /// Its atom has a live run.
    pub live: bool,
    /// The branch was made by el.
    pub ours: bool,
    /// The commits that took back any of it, the last first.
    #[serde(skip)]
    pub reverts: Vec<Revert>,
    #[serde(skip)]
    pub closed_at: Option<Timestamp>,
    /// When the atom was last taken up again after it had been closed; looked up where something
    /// was taken back.
    #[serde(skip)]
    pub reopened_at: Option<Timestamp>,
    #[serde(skip)]
    pub parent: Option<String>,
}

impl AtomBranch {
    /// Says, in words, that its worktree is on something else: commits made there are not on the
    /// branch.
    pub fn describe_stray(&self) -> Option<String> {
        let on = self.strayed_to.as_ref()?;
        Some(format!("its worktree is on {on}, not on {}", self.branch))
    }

    /// Says, in words, that it landed and was taken back since.
    pub fn describe_revert(&self) -> Option<String> {
        self.taken_back.as_ref().map(|commit| {
            format!("it had landed, and was taken back by {}", commit.get(..12).unwrap_or(commit))
        })
    }
}

/// The branches of all atoms, in the order of their names. `target`: the branch that work is
/// brought to; `None` where there is no such branch.
///
/// # Errors
/// If git or the store fails.
pub fn atom_branches(
    store: &Store,
    repository: &Repository,
    settings: &LandSettings,
    target: Option<&str>,
) -> Result<Vec<AtomBranch>, LandError> {
    let folder = settings.worktrees.canonicalize();
    let search = Search {
        store,
        repository,
        settings,
        worktrees: repository.worktrees()?,
        folder: folder.unwrap_or_else(|_| settings.worktrees.clone()),
        target: target.map_or(Ok(None), |name| repository.tip(name))?,
        live: ops::live_runs(store)?.into_iter().map(|run| run.atom_id).collect(),
    };
    let mut found = Vec::new();
    for atom in repository.atoms()? {
        if let Some(tip) = repository.tip(&branch_of(&atom))? {
            found.push(search.atom_branch(&atom, tip)?);
        }
    }
    Ok(found)
}

/// Facts that are looked up once for all branches.
struct Search<'a> {
    store: &'a Store,
    repository: &'a Repository,
    settings: &'a LandSettings,
    worktrees: Vec<Worktree>,
    folder: PathBuf,
    /// The commit of the branch that work is brought to.
    target: Option<String>,
    /// The atoms with a live run.
    live: Vec<String>,
}

impl Search<'_> {
    fn atom_branch(&self, id: &str, tip: String) -> Result<AtomBranch, LandError> {
        let Search { repository, target, .. } = self;
        let branch = branch_of(id);
        let tree = self.worktree_of(id, &branch);
        let known: Option<Atom> = ops::brief(self.store, id).ok().filter(|found| found.id == id);
        let base = repository.base_of(id)?;
        let commits = self.own_commits(base.as_deref(), &tip)?;
        let strayed_to = tree
            .filter(|tree| tree.branch.as_deref() != Some(&branch))
            .map(|tree| tree.branch.clone().unwrap_or_else(|| "no branch".to_owned()));
        let has_landed = match target {
            // Where nothing was committed, nothing has landed.
            _ if strayed_to.is_some() || commits == 0 => false,
            Some(target) => repository.has_landed(target, id, &tip)?,
            None => false,
        };
        let reverts = match target {
            Some(target) if commits > 0 && strayed_to.is_none() => {
                repository.reverts(target, id, &tip)?
            }
            _ => Vec::new(),
        };
        let taken_back = reverts.first().filter(|_| has_landed).map(|revert| revert.commit.clone());
        let reopened_at = if reverts.is_empty() { None } else { reopened_at(self.store, id)? };
        let put = &self.settings.put_into_worktrees;
        Ok(AtomBranch {
            atom_id: id.to_owned(),
            status: known.as_ref().map(|atom| atom.status),
            title: known.as_ref().map(|atom| atom.title.clone()),
            branch,
            tip,
            path: tree.map(|tree| tree.path.clone()),
            missing: tree.is_some_and(|tree| tree.is_missing),
            strayed_to,
            uncommitted: tree.map_or(Ok(Vec::new()), |tree| tree.changes(put))?,
            commits,
            landed: has_landed && taken_back.is_none(),
            taken_back,
            live: self.live.iter().any(|atom| atom == id),
            ours: base.is_some(),
            reverts,
            closed_at: known.as_ref().and_then(|atom| atom.closed_at),
            reopened_at,
            parent: known.and_then(|atom| atom.parent_id),
        })
    }

    fn worktree_of(&self, id: &str, branch: &str) -> Option<&Worktree> {
        let trees = &self.worktrees;
        let is_there = |path: &Path, tree: &Worktree| tree.path == path && !tree.is_missing;
        let own = self.folder.join(id);
        trees
            .iter()
            .find(|tree| is_there(&own, tree))
            .or_else(|| trees.iter().find(|tree| tree.branch.as_deref() == Some(branch)))
            // Made when `worktrees_directory` was another one.
            .or_else(|| {
                trees.iter().skip(1).find(|tree| tree.path.ends_with(id) && !tree.is_missing)
            })
    }

    fn own_commits(&self, base: Option<&str>, tip: &str) -> Result<usize, GitError> {
        let Some(since) = base.or(self.target.as_deref()) else { return Ok(0) };
        let range = format!("{since}..{tip}");
        let said = self.repository.git().maybe(&["rev-list", "--count", &range])?;
        Ok(said.and_then(|text| text.parse().ok()).unwrap_or(0))
    }
}

fn reopened_at(store: &Store, atom: &str) -> Result<Option<Timestamp>, LandError> {
    let (_, events) = ops::history(store, atom)?;
    let is_reopening = |event: &&Event| {
        event.kind == EventKind::Status && event.data["from"] == Status::Closed.as_str()
    };
    Ok(events.iter().rev().find(is_reopening).map(|event| event.at))
}

/// The name of the branch that work is brought to: `wanted`, or what is checked out.
///
/// # Errors
/// If there is no such branch, or it is one of an agent.
pub fn resolve_target(repository: &Repository, wanted: Option<&str>) -> Result<String, LandError> {
    let name = wanted.map_or_else(|| repository.current_branch(), |name| Ok(name.to_owned()))?;
    if name.starts_with(AGENT_PREFIX) {
        return Err(LandError::AgentBranch(name));
    }
    if repository.tip(&name)?.is_none() {
        // In a repository without commits, that is what to say.
        repository.head()?;
        return Err(GitError::NoRevision(name).into());
    }
    Ok(name)
}
