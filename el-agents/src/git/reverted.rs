//! Finds landed work that was reverted since. Git counts such work as merged: neither a merge nor a
//! rebase brings the work again.

use std::collections::HashSet;

use super::{Landing, Repository, Result};

/// A commit of the target that reverts an atom's work and is not reverted itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    pub commit: String,
    /// The commit time, in seconds since 1970.
    pub at: i64,
    /// A commit that it reverts had brought all of the work.
    pub is_of_all: bool,
}

/// A commit of the target, and the commit of the branch up to which it brought the work.
struct Brought {
    commit: String,
    head: String,
}

/// The words before a commit's id in the message of `git revert`.
const SIGN: &str = "This reverts commit ";
/// The first words of a revert's title. The title of the reverted commit follows.
const TITLE: &str = "Revert \"";

impl Repository {
    /// Lists the reverts of an atom's work in the target that the branch does not contain, newest
    /// first. `landing`: how the target got the work.
    ///
    /// # Errors
    /// If git fails.
    pub fn find_reverts(
        &self,
        target: &str,
        atom: &str,
        tip: &str,
        landing: &Landing,
    ) -> Result<Vec<Revert>> {
        let Some(base) = self.base_of(atom)? else { return Ok(Vec::new()) };
        let brought = self.bringing_commits(target, atom, (tip, &base), landing)?;
        let mut found = self.reverts_by_message(target, atom, (tip, &base), &brought)?;
        found.extend(self.reverts_by_content(target, (tip, &base), &brought)?);
        // The target may have got the work again.
        if !found.is_empty()
            && landing != &Landing::Contained
            && self.has_difference(target, tip, &base)?
        {
            return Ok(Vec::new());
        }
        let mut standing: Vec<Revert> = Vec::new();
        for revert in found {
            let is_known = standing.iter().any(|other| other.commit == revert.commit);
            if !is_known
                && !self.contains(tip, &revert.commit)?
                && !self.is_undone(target, &revert.commit)?
            {
                standing.push(revert);
            }
        }
        standing.sort_by_key(|revert| std::cmp::Reverse(revert.at));
        Ok(standing)
    }

    /// Finds reverts by the words of `git revert`, or of a forge's button.
    fn reverts_by_message(
        &self,
        target: &str,
        atom: &str,
        (tip, base): (&str, &str),
        brought: &[Brought],
    ) -> Result<Vec<Revert>> {
        let range = format!("{base}..{target}");
        let (sign, title) = (format!("--grep=^{SIGN}"), format!("--grep=^{TITLE}"));
        let form = "--format=%H %ct%n%B";
        let words = ["log", "--no-merges", "--topo-order", "-z", form, &sign, &title, &range];
        let said = self.git().ask(&words)?;
        let (mut found, mut undone) = (Vec::new(), HashSet::new());
        for one in said.split('\0').filter(|one| !one.is_empty()) {
            let (head, body) = one.split_once('\n').unwrap_or((one, ""));
            let (commit, at) = head.split_once(' ').unwrap_or((head, ""));
            if undone.contains(commit) {
                continue;
            }
            let mut taken_back: Vec<String> =
                body.split(SIGN).skip(1).map(leading_hex).filter(|name| name.len() >= 40).collect();
            if taken_back.is_empty()
                && let Some(title) = reverted_title(body)
            {
                taken_back.extend(self.commit_with_title(base, commit, title)?);
            }
            let (mut is_of_it, mut is_of_all) = (false, false);
            for commit in &taken_back {
                let known = brought.iter().find(|one| one.commit == *commit);
                let is_all = known.is_some_and(|one| one.head == tip);
                if known.is_some() || self.is_work_of(target, atom, (tip, base), commit)? {
                    is_of_it = true;
                    is_of_all = is_of_all || is_all || self.is_merge_empty(commit, tip)?;
                }
            }
            undone.extend(taken_back);
            if is_of_it {
                let at = at.parse().unwrap_or_default();
                found.push(Revert { commit: commit.to_owned(), at, is_of_all });
            }
        }
        Ok(found)
    }

    /// Finds reverts by what they do: a forge's may have any message.
    fn reverts_by_content(
        &self,
        target: &str,
        (tip, base): (&str, &str),
        brought: &[Brought],
    ) -> Result<Vec<Revert>> {
        let mut found = Vec::new();
        for Brought { commit, head } in brought {
            // Most often, nothing happened to the work since.
            let range = format!("{commit}..{target}");
            if !self.touching_changes(&[range], [base, head])?.is_any {
                continue;
            }
            let mut before = Vec::new();
            // After a fast-forward, the commit before is the branch's own.
            if commit != head
                && let Some(parent) = self.resolve_commit(&format!("{commit}^"))?
                && !self.contains(&parent, head)?
            {
                before.push(self.tree_of(&parent)?);
            }
            // The files of the commit without the branch's own difference.
            before.extend(self.merge_from(head, [commit, base])?);
            before.dedup();
            for before in before {
                if let Some(revert) = self.find_undoing(target, commit, &before)? {
                    let at = self.committed_at(&revert)?.unwrap_or_default();
                    let is_of_all = head == tip;
                    found.push(Revert { commit: revert, at, is_of_all });
                    break;
                }
            }
        }
        Ok(found)
    }

    /// The time of a commit, in seconds since 1970.
    ///
    /// # Errors
    /// If git fails.
    pub fn committed_at(&self, commit: &str) -> Result<Option<i64>> {
        Ok(self.git().ask(&["log", "-1", "--format=%ct", commit])?.parse().ok())
    }

    /// The commits of the target that brought work of the branch, as far as they are known.
    fn bringing_commits(
        &self,
        target: &str,
        atom: &str,
        (tip, base): (&str, &str),
        landing: &Landing,
    ) -> Result<Vec<Brought>> {
        let all_of_it = |commit: &str| Brought { commit: commit.to_owned(), head: tip.to_owned() };
        Ok(match landing {
            Landing::Missing | Landing::Empty => Vec::new(),
            Landing::Partial => {
                // The branch may have gone on since.
                let own = self.landed_own(target, (tip, Some(base)), &[])?;
                let squashed = own.and_then(|(head, squash)| Some((head, squash?)));
                squashed.map(|(head, commit)| Brought { commit, head }).into_iter().collect()
            }
            Landing::Noted(commits) => commits.iter().map(|one| all_of_it(one)).collect(),
            Landing::Squashed(commit) => vec![all_of_it(commit)],
            Landing::Copied => {
                let sides = format!("{target}...{tip}");
                let said = self.git().ask(&["rev-list", "--cherry-mark", "--left-only", &sides])?;
                let copy = said.lines().find_map(|line| line.strip_prefix('='));
                copy.map(all_of_it).into_iter().collect()
            }
            Landing::Contained => {
                // Most often, nothing happened to it since.
                let range = format!("{tip}..{target}");
                if !self.touching_changes(&[&range], [base, tip])?.is_any {
                    return Ok(Vec::new());
                }
                let Some(first) = self.joining_commit(target, tip)? else {
                    return Ok(vec![all_of_it(tip)]);
                };
                let before = format!("{first}^");
                // It may have come with a branch above, once the target had it as other commits.
                let landing = self.find_landing(&before, atom, tip)?;
                match self.bringing_commits(&before, atom, (tip, base), &landing)? {
                    earlier if landing.has_landed() => earlier,
                    _ => vec![all_of_it(&first)],
                }
            }
        })
    }

    /// The commit of a branch's own line that brought a tip; `None`: after a fast-forward, the tip
    /// is on that line itself.
    fn joining_commit(&self, target: &str, tip: &str) -> Result<Option<String>> {
        let range = format!("{tip}..{target}");
        // Git follows a single parent with both words at once.
        let after = self.git().ask(&["rev-list", "--ancestry-path", &range])?;
        let after: HashSet<&str> = after.lines().collect();
        let said = self.git().ask(&["rev-list", "--first-parent", &range])?;
        let first = said.lines().take_while(|one| after.contains(one)).last();
        let Some(first) = first else { return Ok(None) };
        Ok((!self.contains(&format!("{first}^"), tip)?).then(|| first.to_owned()))
    }

    /// Returns true if a target has what a branch changed since it began.
    fn has_difference(&self, target: &str, tip: &str, base: &str) -> Result<bool> {
        if !self.is_merge_empty(target, tip)? {
            return Ok(false);
        }
        let fork = self.git().ask_optional(&["merge-base", target, tip])?;
        if fork.map_or(Ok(true), |fork| self.contains(base, &fork))? {
            return Ok(true);
        }
        // Work that the branch took from the target, and the target took back, is not merged.
        Ok(self.merge_from(base, [target, tip])? == Some(self.tree_of(target)?))
    }

    /// The tree of a merge of two commits, as if both began at a third one; `None`: it has
    /// conflicts.
    fn merge_from(&self, root: &str, sides: [&str; 2]) -> Result<Option<String>> {
        let root = self.stand_in(&self.tree_of(root)?, &[])?;
        let [ours, theirs] = sides.map(|side| self.stand_in(&self.tree_of(side)?, &[&root]));
        Ok(self.merged_tree(&ours?, &theirs?, &[])?.ok())
    }

    /// Returns true if what a commit did was undone by a later one.
    fn is_undone(&self, target: &str, commit: &str) -> Result<bool> {
        let before = self.tree_of(&format!("{commit}^"))?;
        Ok(self.find_undoing(target, commit, &before)?.is_some())
    }

    /// The last commit before another one with this title.
    fn commit_with_title(&self, since: &str, before: &str, title: &str) -> Result<Option<String>> {
        let grep = format!("--grep={title}");
        let range = format!("{since}..{before}^");
        let said = self.git().ask(&["log", "--fixed-strings", "--format=%H %s", &grep, &range])?;
        let is_it = |line: &&str| line.split_once(' ').is_some_and(|(_, subject)| subject == title);
        Ok(said.lines().find(is_it).and_then(|line| line.split(' ').next()).map(str::to_owned))
    }

    /// Returns true if a commit carries work of the branch: a commit of the branch, a copy of such
    /// a commit, or the merge or squash that landed the branch.
    fn is_work_of(
        &self,
        target: &str,
        atom: &str,
        (tip, base): (&str, &str),
        commit: &str,
    ) -> Result<bool> {
        if self.resolve_commit(commit)?.is_none() {
            return Ok(false);
        }
        let is_in_branch = self.contains(tip, commit)?;
        if is_in_branch && self.contains(base, commit)? {
            return Ok(false);
        }
        if self.refs_below(&format!("refs/el/brought/{atom}/"))?.iter().any(|(_, at)| at == commit)
        {
            return Ok(true);
        }
        if self.merged_pulls(atom)?.iter().any(|pull| pull.commit == commit) {
            return Ok(true);
        }
        if !is_in_branch {
            return self.is_copy_of(tip, base, commit);
        }
        if self.is_own_commit(target, (atom, tip), commit)? {
            return Ok(true);
        }
        // The branch may have taken in a copy of its own work.
        match self.joining_commit(tip, commit)? {
            Some(joining) => self.is_copy_of(&format!("{joining}^"), base, commit),
            None => Ok(false),
        }
    }

    /// Returns true if a commit is a copy of a branch's commit: without it, that one is unmerged.
    /// So it is with a squash and the whole branch. The base of the branch is the work of others.
    fn is_copy_of(&self, tip: &str, base: &str, commit: &str) -> Result<bool> {
        let Some(before) = self.resolve_commit(&format!("{commit}^"))? else { return Ok(false) };
        Ok(self.git().ask(&["cherry", commit, tip, base])?
            != self.git().ask(&["cherry", &before, tip, base])?
            || (self.is_merge_empty(commit, tip)? && !self.is_merge_empty(&before, tip)?))
    }

    /// Returns true if the branch did not take one of its commits from the target, where others
    /// made it.
    fn is_own_commit(&self, target: &str, (atom, tip): (&str, &str), commit: &str) -> Result<bool> {
        if !self.contains(target, commit)? {
            return Ok(true);
        }
        let mut is_known = false;
        for (of, head, landing) in self.all_landings()? {
            if of == atom && self.contains(&head, commit)? {
                is_known = true;
                let taken = self.taken_by(atom, &head, &landing)?;
                if !taken.map_or(Ok(false), |taken| self.contains(&taken, commit))? {
                    return Ok(true);
                }
            }
        }
        if is_known || !self.contains(target, tip)? {
            return Ok(false);
        }
        match self.joining_commit(target, tip)? {
            Some(first) => Ok(!self.contains(&format!("{first}^"), commit)?),
            None => Ok(true),
        }
    }

    /// The last commit that a branch had from the target at the landing; `None`: unknown.
    fn taken_by(&self, atom: &str, head: &str, landing: &str) -> Result<Option<String>> {
        if let Some((_, taken)) = self.refs_below(&format!("refs/el/taken/{atom}/{head}"))?.pop() {
            return Ok(Some(taken));
        }
        // After a fast-forward, the commit before is the branch's own.
        if landing == head {
            return Ok(None);
        }
        self.git().ask_optional(&["merge-base", &format!("{landing}^"), head])
    }
}

/// The hexadecimal digits at the beginning of a text.
fn leading_hex(text: &str) -> String {
    text.chars().take_while(char::is_ascii_hexdigit).collect()
}

/// The title of the commit that a message takes back. A forge may add its own number.
fn reverted_title(message: &str) -> Option<&str> {
    let title = message.lines().next()?.strip_prefix(TITLE)?;
    title.rsplit_once('"').map(|(title, _)| title).filter(|title| !title.is_empty())
}

#[cfg(test)]
#[path = "reverted_tests.rs"]
mod tests;
