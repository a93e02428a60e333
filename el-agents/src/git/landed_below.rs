//! Finds the work below a branch that its target has as other commits.

use std::collections::HashMap;

use super::merge::Merged;
use super::{Repository, Result, base_reference};

/// The most of a branch's own commits that are looked for in its target.
const MOST_OWN: usize = 8;

/// A branch's commits that a target lacks.
struct Lacking<'a> {
    tip: &'a str,
    /// Each with its place; the newest has the first.
    commits: HashMap<String, usize>,
    /// The commit at which the branch began, if the target lacks it.
    base: Option<String>,
    /// Some of the commits may be of others who went on since.
    may_share: bool,
}

impl Repository {
    /// Merges a branch's tip into a target, stepping over all that [`Self::landed_below`] finds.
    /// Returns the merge commit, or the files in conflict.
    ///
    /// # Errors
    /// If git fails.
    pub fn merge_branch(
        &self,
        target: &str,
        branch: (&str, &str),
        message: &str,
    ) -> Result<Merged> {
        let landed = self.landed_below(target, branch, &[])?;
        self.merge_in_memory(target, branch.1, &landed, message)
    }

    /// Returns the commits below a branch's tip whose work a target has as other commits, or had
    /// before it was reverted. Left out is what the branch took from the target itself.
    /// `branch`: the atom, and the tip. `joined`: tips whose work the target is known to have.
    ///
    /// # Errors
    /// If git fails.
    pub fn landed_below(
        &self,
        target: &str,
        (atom, tip): (&str, &str),
        joined: &[&str],
    ) -> Result<Vec<String>> {
        let range = format!("{target}..{tip}");
        let said = self.git().ask(&["rev-list", "--topo-order", "--parents", &range])?;
        let first = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        let commits: HashMap<_, _> = said.lines().map(first).zip(0..).collect();
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let began_at = self.base_of(atom)?;
        let may_share = began_at.as_ref().is_none_or(|base| commits.contains_key(base))
            || said.lines().any(|line| line.split(' ').count() > 2);
        let base = began_at.clone().filter(|base| commits.contains_key(base));
        let lacking = Lacking { tip, commits, base, may_share };
        let mut found = Vec::new();
        for head in joined {
            found.extend(self.common_commits(&lacking, head)?);
        }
        for (of, head, commit) in self.all_landings()? {
            let common = match of == atom && !lacking.commits.contains_key(&head) {
                true => self.leaving_commits(&lacking, &head)?,
                false => self.common_commits(&lacking, &head)?,
            };
            if !common.is_empty()
                && self.contains(target, &commit)?
                && !self.contains(tip, &commit)?
            {
                found.extend(common);
            }
        }
        if lacking.may_share {
            self.add_unnoted(target, atom, &lacking, &mut found)?;
        }
        let own = self.landed_own(target, (tip, began_at.as_deref()), &found)?;
        found.extend(own.map(|(head, _)| head));
        self.independent_commits(&found)
    }

    /// Adds the work of others that the target got without a note, such as a squash by hand.
    fn add_unnoted(
        &self,
        target: &str,
        atom: &str,
        lacking: &Lacking<'_>,
        found: &mut Vec<String>,
    ) -> Result<()> {
        let got = self.git().ask_optional(&["merge-base", target, lacking.tip])?;
        for head in self.others_below(atom, lacking)? {
            let (mut is_known, mut below) = (false, Vec::new());
            for one in found.iter() {
                is_known = is_known || self.contains(one, &head)?;
                // A branch beside this one came by itself, perhaps later.
                if self.contains(&head, one)? {
                    below.push(one.clone());
                }
            }
            let common = if is_known { Vec::new() } else { self.common_commits(lacking, &head)? };
            if !common.is_empty()
                && self.has_had(target, &head, &below)?
                && !got.as_ref().map_or(Ok(false), |got| self.has_had(got, &head, &below))?
            {
                found.extend(common);
            }
        }
        Ok(())
    }

    /// Returns true if a branch changes what its target is yet to get with the work below, such as
    /// by taking that out. To the target as it is, it may bring nothing.
    pub(super) fn changes_what_comes(
        &self,
        target: &str,
        (atom, tip): (&str, &str),
        landed: &[String],
    ) -> Result<bool> {
        let Some(base) = self.base_of(atom)? else { return Ok(false) };
        if self.contains(target, &base)? || !self.contains(tip, &base)? {
            return Ok(false);
        }
        let Ok(files) = self.merged_tree(target, &base, landed)? else {
            let fork = self.git().ask_optional(&["merge-base", target, tip])?;
            let Some(fork) = fork else { return Ok(false) };
            return Ok(self.tree_of(&fork)? == self.tree_of(tip)?);
        };
        if files == self.tree_of(target)? {
            return Ok(false);
        }
        let with_base = self.stand_in(&files, &[target, &base])?;
        Ok(self.merged_tree(&with_base, tip, &[])?.as_ref() != Ok(&files))
    }

    /// The last of the branch's own commits below its tip that the target has as other commits: the
    /// branch went on since. With it comes the squash that brought it; `None`: copies did.
    pub(super) fn landed_own(
        &self,
        target: &str,
        (tip, base): (&str, Option<&str>),
        below: &[String],
    ) -> Result<Option<(String, Option<String>)>> {
        let count = format!("--max-count={MOST_OWN}");
        let mut words = vec!["rev-list", "--first-parent", "--skip=1", &count, tip];
        words.extend(["--not", target]);
        words.extend(base);
        let own = self.git().ask(&words)?;
        if own.is_empty() {
            return Ok(None);
        }
        let touching = self.touching_work(target, tip)?;
        if !touching.is_any {
            return Ok(None);
        }
        // The oldest is first. Git says nothing about merges.
        let mut words = vec!["cherry", target, tip];
        words.extend(base);
        let said = self.git().ask(&words)?;
        let copied = said.lines().map_while(|line| line.strip_prefix("- ")).last();
        for head in own.lines() {
            if Some(head) == copied {
                return Ok(Some((head.to_owned(), None)));
            }
            if let Some(squash) = self.squash_among(&touching.candidates, head, below)? {
                return Ok(Some((head.to_owned(), Some(squash))));
            }
        }
        Ok(None)
    }

    /// The commits at which the work of others ends, or did when the branch began. The lower ones
    /// come first, since the squash of an upper one may have come upon theirs.
    fn others_below(&self, atom: &str, lacking: &Lacking<'_>) -> Result<Vec<String>> {
        let bases = self.refs_below("refs/el/base/")?;
        let form = "--format=%(refname:lstrip=2) %(objectname)";
        let branches = self.git().ask(&["for-each-ref", form, "refs/heads"])?;
        let mut heads = Vec::new();
        for (branch, tip) in branches.lines().filter_map(|line| line.split_once(' ')) {
            let other = self.atom_of(branch).filter(|other| *other != atom);
            let Some(name) = other.map(base_reference) else { continue };
            // One without commits of its own may have begun on this branch.
            let is_empty = bases.iter().any(|(of, at)| *of == name && at == tip);
            if lacking.commits.contains_key(tip) && !is_empty {
                heads.push(tip.to_owned());
            }
        }
        if let Some(own) = &lacking.base {
            for (_, at) in bases.into_iter().filter(|(_, at)| lacking.commits.contains_key(at)) {
                if self.contains(own, &at)? {
                    heads.push(at);
                }
            }
            // The branch below this one may have gone on since.
            let words = ["for-each-ref", "--format=%(objectname)", "--contains", own, "refs/heads"];
            for head in self.git().ask(&words)?.lines() {
                if !lacking.commits.contains_key(head) && !self.contains(head, lacking.tip)? {
                    heads.push(head.to_owned());
                }
            }
        }
        heads.sort_by_key(|head| std::cmp::Reverse(lacking.commits.get(head).copied()));
        heads.dedup();
        Ok(heads)
    }

    /// The lacking commits at which another branch leaves this branch, if the other may have any.
    fn common_commits(&self, lacking: &Lacking<'_>, head: &str) -> Result<Vec<String>> {
        if lacking.commits.contains_key(head) {
            return Ok(vec![head.to_owned()]);
        }
        if lacking.may_share { self.leaving_commits(lacking, head) } else { Ok(Vec::new()) }
    }

    fn leaving_commits(&self, lacking: &Lacking<'_>, head: &str) -> Result<Vec<String>> {
        let said = self.git().ask_optional(&["merge-base", "--all", lacking.tip, head])?;
        let common = said.unwrap_or_default();
        let common = common.lines().map(str::to_owned);
        Ok(common.filter(|commit| lacking.commits.contains_key(commit)).collect())
    }

    /// The noted landings of all branches: the atom, the branch's tip, and the commit that brought
    /// it.
    pub(super) fn all_landings(&self) -> Result<Vec<(String, String, String)>> {
        let mut found = Vec::new();
        for (name, at) in self.refs_below("refs/el/brought/")? {
            if let [_, _, _, atom, tip, _] = name.split('/').collect::<Vec<_>>()[..] {
                found.push((atom.to_owned(), tip.to_owned(), at));
            }
        }
        for (name, head) in self.refs_below("refs/el/merged/")? {
            if let [_, _, _, atom, commit] = name.split('/').collect::<Vec<_>>()[..] {
                found.push((atom.to_owned(), head, commit.to_owned()));
            }
        }
        Ok(found)
    }

    /// Returns true if the target has a commit that brought `head`, according to a note.
    pub(super) fn has_noted(&self, target: &str, head: &str) -> Result<bool> {
        for (_, noted, commit) in self.all_landings()? {
            if self.contains(&noted, head)? && self.contains(target, &commit)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns true if a target has all work of a commit, or had it before a revert.
    pub(super) fn has_had(&self, target: &str, head: &str, below: &[String]) -> Result<bool> {
        Ok(self.has_copies(target, head, None)?
            || self.is_merge_empty(target, head)?
            || self.find_squash(target, head, below)?.is_some())
    }
}

#[cfg(test)]
#[path = "landed_below_tests.rs"]
mod tests;
