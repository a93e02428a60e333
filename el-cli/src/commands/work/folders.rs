//! Remarks on the agents' folders, before the first agent costs money.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use el_agents::git::{Isolation, Repository, Worktree};
use el_agents::worker::Served;

use crate::output::sanitize;

/// The time limit for git's search of uncommitted files.
const LIMIT: Duration = Duration::from_secs(3);
/// The number of files that are named.
const NAMED: usize = 3;
/// Folders with el's own files.
const NOT_WORK: [&str; 2] = [".eluent/", ".claude-orchestrator/"];

/// Remarks on the folders of the agents: folders shared by several runs, folders with uncommitted
/// files, and worktrees in which nobody can commit.
pub(crate) fn folder_remarks(agents: &[Served], at_once: usize) -> Vec<String> {
    let mut folders: BTreeMap<&Path, (usize, bool)> = BTreeMap::new();
    for served in agents {
        let (runs, has_worktrees) =
            folders.entry(&served.agent.working_directory).or_insert((0, true));
        if served.agent.isolation.is_none() {
            *runs += served.at_most;
            *has_worktrees = false;
        }
    }
    let mut remarks = Vec::new();
    for (folder, (runs, has_worktrees)) in folders {
        let (runs, shown) = (runs.min(at_once), sanitize::path_line(folder));
        if runs > 1 {
            remarks.push(format!("up to {runs} agents work in the same folder, {shown}"));
        }
        let is_nameless = |repository: Repository| !repository.git().knows_author();
        if has_worktrees && Repository::open_at(folder).is_ok_and(is_nameless) {
            remarks.push(format!(
                "git knows no author in {shown}, so agents cannot commit there: git config \
                 --global user.name NAME, and user.email"
            ));
        }
        let in_folder = agents.iter().filter(|served| served.agent.working_directory == *folder);
        let lists = in_folder.filter_map(|served| served.agent.isolation.as_ref()).map(brought_in);
        let in_all = lists.reduce(|mut all, list| {
            all.retain(|name| list.contains(name));
            all
        });
        let brought = in_all.filter(|_| has_worktrees).unwrap_or_default();
        remarks.extend(uncommitted_files(folder, &brought).map(|files| {
            let then = if has_worktrees {
                "their worktrees begin without them"
            } else {
                "they work among them"
            };
            format!("not committed in {shown}: {files}; {then}")
        }));
    }
    remarks
}

/// The untracked files that each worktree gets.
pub(crate) fn brought_in(isolation: &Isolation) -> Vec<String> {
    [&isolation.copy[..], &isolation.link].concat()
}

/// The uncommitted files of a checkout but for untracked ones that are `brought` along, in words;
/// `None` if git fails.
pub(crate) fn uncommitted_files(folder: &Path, brought: &[String]) -> Option<String> {
    let repository = Repository::open_at(folder).ok()?;
    let tree = Worktree { path: repository.top().to_owned(), ..Worktree::default() };
    let git = repository.git().with_deadline(Instant::now() + LIMIT);
    let lines = tree.uncommitted_changes(&git, brought).ok()?;
    let files: Vec<_> = lines
        .iter()
        // A line is two letters, a space and the name.
        .filter_map(|line| line.get(3..))
        .filter(|name| !NOT_WORK.iter().any(|below| name.starts_with(below)))
        .map(sanitize::one_line)
        .collect();
    let more = files.len().saturating_sub(NAMED);
    let named = files.iter().take(NAMED).map(AsRef::as_ref).collect::<Vec<&str>>().join(", ");
    match more {
        _ if named.is_empty() => None,
        0 => Some(named),
        more => Some(format!("{named} and {more} more")),
    }
}
