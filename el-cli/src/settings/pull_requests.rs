//! The settings of pull requests.

use el_agents::forge::{ForgeKind, Forges, MergeMethod};
use el_agents::pull_requests::{FeedbackRules, PullOptions, TextRules, WantedPlace};

use super::Settings;
use super::value::Value;
use crate::Result;

/// The settings of `el pr`.
#[derive(Debug)]
pub(crate) struct PullSettings {
    pub(crate) forges: Forges,
    pub(crate) place: WantedPlace,
    pub(crate) options: PullOptions,
    pub(crate) texts: TextRules,
}

/// The value of a variable with one of these words in the name is never told.
const SECRET_WORDS: [&str; 5] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "KEY"];

impl Settings {
    /// Returns true if `el land` opens pull requests and moves no branch.
    pub(crate) fn lands_by_pull_request(&self) -> Result<bool> {
        Ok(self.optional_text("land_via", None)?.as_deref() == Some("pr"))
    }

    /// Returns true if agents are asked to work in worktrees, whatever their number.
    pub(crate) fn has_worktrees(&self) -> Result<bool> {
        Ok(self.optional_text("isolate", None)?.as_deref() == Some("worktree"))
    }

    /// Returns true if `el work` watches pull requests.
    pub(crate) fn watches_pull_requests(&self) -> Result<bool> {
        Ok(self.value("pr_watch", None)? == Value::Bool(true))
    }

    /// Returns the rules for the feedback that `el pr watch` hands to the next attempt.
    pub(crate) fn feedback_rules(&self) -> Result<FeedbackRules> {
        let kind = self.optional_text("pr_feedback", None)?.unwrap_or_default();
        Ok(FeedbackRules {
            checks: matches!(kind.as_str(), "checks" | "all"),
            reviews: matches!(kind.as_str(), "reviews" | "all"),
            most: self.optional_int("pr_attempts", None)?.unwrap_or_default(),
            trusted: self.text_list("pr_trust", None)?,
        })
    }

    /// How `el pr merge` merges; `None`: the first way that the repository allows.
    pub(crate) fn merge_method(&self) -> Result<Option<MergeMethod>> {
        Ok(self.optional_text("pr_method", None)?.map(|word| match word.as_str() {
            "merge" => MergeMethod::Merge,
            "rebase" => MergeMethod::Rebase,
            _ => MergeMethod::Squash,
        }))
    }

    /// The forges, with the one that is selected.
    pub(crate) fn forges(&self) -> Result<Forges> {
        let word = self.optional_text("pr_forge", None)?;
        Ok(Forges::new(word.map(|word| match word.as_str() {
            "gitlab" => ForgeKind::Gitlab,
            _ => ForgeKind::Github,
        })))
    }

    /// The values of variables that agents do not get, and that no forge is told.
    pub(crate) fn private_values(&self) -> Result<Vec<String>> {
        let mut strip = Vec::new();
        for agent in self.agents().into_iter().map(Some).chain([None]) {
            strip.extend(self.text_list("env_strip", agent)?);
        }
        let is_private = |name: &str| {
            SECRET_WORDS.iter().any(|word| name.to_ascii_uppercase().contains(word))
                || strip.iter().any(|pattern| match pattern.strip_suffix('*') {
                    Some(start) => name.starts_with(start),
                    None => name == pattern,
                })
        };
        Ok(std::env::vars_os()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
            .filter(|(name, _)| is_private(name))
            .map(|(_, value)| value.to_string_lossy().into_owned())
            .collect())
    }

    /// The settings of `el pr`.
    pub(crate) fn pull_settings(&self) -> Result<PullSettings> {
        let is_on = |name| -> Result<bool> { Ok(self.value(name, None)? == Value::Bool(true)) };
        let home = std::env::home_dir().map(|home| home.display().to_string());
        let folders = home.into_iter().chain([self.root.display().to_string()]).collect();
        Ok(PullSettings {
            forges: self.forges()?,
            place: WantedPlace {
                remote: self.optional_text("pr_remote", None)?,
                repo: self.optional_text("pr_repo", None)?,
                base: None,
            },
            options: PullOptions {
                is_draft: is_on("pr_draft")?,
                changes_draft: false,
                changes_base: false,
                dry_run: false,
                stacks: self.optional_text("pr_stack", None)?.as_deref() == Some("base"),
                deletes_branch: is_on("pr_delete_branch")?,
            },
            texts: TextRules {
                tells_cost: is_on("pr_cost")?,
                private_values: self.private_values()?,
                folders,
                land_check: self.command_words("land_check", None)?,
            },
        })
    }
}
