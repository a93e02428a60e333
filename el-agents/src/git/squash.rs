//! Finds by content which commit of a target brought some work, or took it out.

use std::collections::HashSet;

use super::{Repository, Result};

/// The most commits of a target that are looked through.
const MOST: &str = "--max-count=2000";
/// The most of them that are compared with the work.
const MOST_COMPARED: usize = 50;
/// The most files by whose names git looks for commits.
const MOST_NAMED: usize = 200;

/// A commit of a target that changed files of some work and no others.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) commit: String,
    tree: String,
}

/// The commits of a target that changed files of some work, newest first.
#[derive(Debug, Default)]
pub(super) struct Touching {
    /// The work changes any files.
    pub(super) changes: bool,
    /// A commit that changed no other files may have brought the work, or taken it out.
    pub(super) candidates: Vec<Candidate>,
    /// There are any, candidates or not.
    pub(super) is_any: bool,
}

impl Repository {
    /// Finds the commits after `head` of a target that changed files of the work of `head`.
    pub(super) fn touching_work(&self, target: &str, head: &str) -> Result<Touching> {
        let fork = self.git().ask_optional(&["merge-base", target, head])?;
        let Some(fork) = fork else { return Ok(Touching::default()) };
        let has_moved = fork != target && self.resolve_commit(target)?.as_ref() != Some(&fork);
        let range = if has_moved { &[format!("{head}..{target}")][..] } else { &[] };
        self.touching_changes(range, [&fork, head])
    }

    /// Finds the commits of a range that changed files that differ between two others. `range`: the
    /// words that name it; none: it is empty.
    pub(super) fn touching_changes(
        &self,
        range: &[impl AsRef<str>],
        [old, new]: [&str; 2],
    ) -> Result<Touching> {
        let changed = self.changed_files(old, new)?;
        if changed.is_empty() || range.is_empty() {
            return Ok(Touching { changes: !changed.is_empty(), ..Touching::default() });
        }
        let form = "--format=%x01%H %T";
        let mut words = vec!["log", "--no-merges", "--topo-order", MOST, form, "--no-renames"];
        words.extend(["--name-only", "--full-history", "--full-diff"]);
        words.extend(range.iter().map(AsRef::as_ref));
        words.push("--");
        // Git quotes a name that is not plain.
        let is_plain = |name: &String| !name.starts_with('"');
        let named: Vec<String> = match changed.len() <= MOST_NAMED && changed.iter().all(is_plain) {
            true => changed.iter().map(|name| format!(":(literal){name}")).collect(),
            false => Vec::new(),
        };
        words.extend(named.iter().map(String::as_str));
        let said = self.git().ask(&words)?;
        let (mut alike, mut partly, mut is_any) = (Vec::new(), Vec::new(), false);
        for one in said.split('\u{1}').skip(1) {
            let mut lines = one.lines();
            let Some((commit, tree)) = lines.next().and_then(|line| line.split_once(' ')) else {
                continue;
            };
            let names: HashSet<&str> = lines.filter(|line| !line.is_empty()).collect();
            is_any |= names.iter().any(|name| changed.contains(*name));
            if names.is_empty() || !names.iter().all(|name| changed.contains(*name)) {
                continue;
            }
            let is_alike = names.len() == changed.len();
            let candidate = Candidate { commit: commit.to_owned(), tree: tree.to_owned() };
            if is_alike { &mut alike } else { &mut partly }.push(candidate);
        }
        // The whole work changes all of the files, unless the target had some of it.
        alike.extend(partly);
        alike.truncate(MOST_COMPARED);
        Ok(Touching { changes: true, candidates: alike, is_any })
    }

    /// The files that differ between two commits, as git writes their names.
    pub(super) fn changed_files(&self, old: &str, new: &str) -> Result<HashSet<String>> {
        let words = ["diff-tree", "-r", "--no-renames", "--name-only", old, new];
        Ok(self.git().ask(&words)?.lines().map(str::to_owned).collect())
    }

    /// Returns the commit of the target that brought exactly the work of `head`, as a squash does.
    /// `below`: work below it that the target has as other commits, had then, or got with it.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn find_squash(
        &self,
        target: &str,
        head: &str,
        below: &[String],
    ) -> Result<Option<String>> {
        self.squash_among(&self.touching_work(target, head)?.candidates, head, below)
    }

    /// Does the same as [`Self::find_squash`] with commits that were found before.
    pub(super) fn squash_among(
        &self,
        candidates: &[Candidate],
        head: &str,
        below: &[String],
    ) -> Result<Option<String>> {
        if candidates.is_empty() {
            return Ok(None);
        }
        for one in candidates {
            if (self.brings_exactly(one, head, &[])?
                || !below.is_empty() && self.brings_exactly(one, head, below)?)
                && self.has_had_all(&one.commit, below)?
            {
                return Ok(Some(one.commit.clone()));
            }
        }
        Ok(None)
    }

    /// Returns true if a target has had all of these. A part of the work that it got first is no
    /// squash of work that takes out the rest again.
    fn has_had_all(&self, target: &str, heads: &[String]) -> Result<bool> {
        for head in heads {
            if !self.has_noted(target, head)? && !self.has_had(target, head, &[])? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns true if a commit's tree is that of a merge of `head` into the commit before.
    fn brings_exactly(&self, one: &Candidate, head: &str, below: &[String]) -> Result<bool> {
        let before = format!("{}^", one.commit);
        Ok(self.merged_tree(&before, head, below)?.as_ref() == Ok(&one.tree))
    }

    /// Returns the last commit of the target after `commit` that took out exactly what `commit`
    /// brought to `before`, a tree: it is the squash of a branch that does so.
    ///
    /// # Errors
    /// If git fails.
    pub(super) fn find_undoing(
        &self,
        target: &str,
        commit: &str,
        before: &str,
    ) -> Result<Option<String>> {
        let range = [&format!("{commit}..{target}"), "--ancestry-path"];
        let found = self.touching_changes(&range, [before, commit])?;
        if found.candidates.is_empty() {
            return Ok(None);
        }
        let undo = self.stand_in(before, &[commit])?;
        self.squash_among(&found.candidates, &undo, &[])
    }
}
