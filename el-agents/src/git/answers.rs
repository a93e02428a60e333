//! Git's answers about commits, which never change, so each question is asked once.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::sync::{Arc, Mutex, PoisonError};

use super::bounded::ProgramOutput;

/// Commands whose answer depends on the commits that they name, and on nothing else. A commit that
/// was made for a merge serves all merges like it.
const PURE: [&str; 8] = [
    "cherry",
    "commit-tree",
    "diff-tree",
    "log",
    "merge-base",
    "merge-tree",
    "rev-list",
    "rev-parse",
];
/// Options of these commands that bring references in.
const OF_REFERENCES: [&str; 6] =
    ["--all", "--branches", "--glob", "--reflog", "--remotes", "--tags"];
/// The longest answer that is kept, in bytes.
const KEPT: usize = 1 << 20;

/// The answers so far, shared by all clones.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownAnswers(Arc<Mutex<HashMap<Vec<OsString>, ProgramOutput>>>);

impl KnownAnswers {
    /// Returns the answer to these words, or asks for it. Errors are asked again, since a missing
    /// commit may be fetched. Status 1 is the answer no; of `git rev-parse` it is a missing commit.
    pub(super) fn get_or_ask<S: AsRef<OsStr>, E>(
        &self,
        words: &[S],
        ask: impl FnOnce() -> Result<ProgramOutput, E>,
    ) -> Result<ProgramOutput, E> {
        if !is_about_commits(words) {
            return ask();
        }
        let key: Vec<OsString> = words.iter().map(|word| word.as_ref().to_owned()).collect();
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(answer) = known().get(&key) {
            return Ok(answer.clone());
        }
        let answer = ask()?;
        let is_no = answer.status.code() == Some(1) && key[0] != "rev-parse";
        if (answer.status.success() || is_no) && answer.stdout.len() <= KEPT {
            known().insert(key, answer.clone());
        }
        Ok(answer)
    }
}

/// Returns true if these words ask about commits by their full names alone.
fn is_about_commits<S: AsRef<OsStr>>(words: &[S]) -> bool {
    let mut words = words.iter().map(|word| word.as_ref().to_str());
    let Some(Some(command)) = words.next() else { return false };
    let mut has_commit = false;
    // Paths come after `--`.
    for word in words.take_while(|word| *word != Some("--")) {
        match word {
            // Of `git merge-base`, it means all bases.
            Some("--all") if command == "merge-base" => {}
            Some(option) if option.starts_with('-') => {
                if OF_REFERENCES.iter().any(|references| option.starts_with(references)) {
                    return false;
                }
            }
            Some(name) if names_commits(name) => has_commit = true,
            _ => return false,
        }
    }
    has_commit && PURE.contains(&command)
}

/// Returns true for the full name of a commit, with `^`, `~2` and `^{tree}`, and for ranges.
fn names_commits(word: &str) -> bool {
    word.split("..").map(|part| part.trim_start_matches(['.', '^'])).all(|part| {
        let name = part.split(['^', '~']).next().unwrap_or_default();
        matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn only_questions_about_commits_by_name_are_asked_once() {
        let is_pure = |line: &str| {
            let words: Vec<String> = line.split(' ').map(|word| word.replace('@', ONE)).collect();
            is_about_commits(&words)
        };
        for line in [
            "merge-base --all @ @",
            "rev-parse -q --verify @^^{commit}",
            "rev-list --count @..@",
            "rev-list ^@ @~3",
            "log -z --format=%H @...@ -- file",
            "merge-tree --write-tree @ @",
            "cherry @ @^",
            "commit-tree @^{tree} -mStand-in -p @",
        ] {
            assert!(is_pure(line), "{line}");
        }
        for line in [
            "rev-parse HEAD",
            "rev-list --all --not --remotes",
            "rev-list @ --not --remotes=origin",
            "log @ main",
            "log -- @",
            "rev-list @..",
            "diff-tree 0123456789 @",
            "commit-tree @ -m text -p @",
            "for-each-ref --contains @",
            "checkout @",
        ] {
            assert!(!is_pure(line), "{line}");
        }
    }

    #[test]
    fn an_answer_is_kept_and_an_error_is_not() {
        let answers = KnownAnswers::default();
        let words = ["merge-base", "--is-ancestor", ONE, ONE];
        let asked = std::cell::Cell::new(0);
        let ask = |status: i32| {
            answers.get_or_ask(&words, || {
                asked.set(asked.get() + 1);
                let status = std::os::unix::process::ExitStatusExt::from_raw(status << 8);
                Ok::<_, ()>(ProgramOutput { status, stdout: vec![], stderr: vec![], is_cut: false })
            })
        };
        assert_eq!(ask(128).unwrap().status.code(), Some(128));
        assert_eq!(ask(1).unwrap().status.code(), Some(1));
        assert_eq!(ask(0).unwrap().status.code(), Some(1));
        assert_eq!(asked.get(), 2);
    }
}
