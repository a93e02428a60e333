//! Every setting that there is: its name, kind, default and meaning. `el config`, the environment,
//! the files and the typed structs all come from this one list.

use std::time::Duration;

/// What values a setting takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Bool,
    Int {
        min: i64,
        max: i64,
    },
    /// A positive amount of US dollars.
    Amount,
    Text,
    /// A file or folder; relative to the project's folder, and `~/` is the home.
    Path,
    Choice(&'static [&'static str]),
    Time {
        min: Duration,
    },
    List,
    /// A program and its arguments: one text, taken apart as a shell would, or a list. An optional
    /// one keeps the form in which it was given; the others are lists.
    Command,
}

/// Whom a setting is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// How an agent is run: may also stand in `[agents.<name>]`.
    Agent,
    /// How `el work` works.
    Worker,
    /// The project as a whole.
    Project,
    /// The user, in whatever project: only in the user's file.
    User,
}

#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// As it would be typed. `None`: unset means something of its own, and `""` says so explicitly.
    pub(crate) default: Option<&'static str>,
    pub(crate) scope: Scope,
    pub(crate) help: &'static str,
}

impl Key {
    /// The environment variable that outranks the files.
    pub(crate) fn variable(&self) -> String {
        format!("EL_{}", self.name.to_ascii_uppercase())
    }

    pub(crate) fn is_optional(&self) -> bool {
        self.default.is_none()
    }

    pub(crate) fn find(name: &str) -> Option<&'static Key> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// The name that was probably meant.
    pub(crate) fn similar(name: &str) -> Option<&'static str> {
        let wanted = name.to_ascii_lowercase().replace('-', "_");
        KEYS.iter()
            .map(|key| (distance(&wanted, key.name), key.name))
            .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
            .min()
            .map(|(_, name)| name)
    }
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

const SECOND: Duration = Duration::from_secs(1);

const fn key(
    name: &'static str,
    kind: Kind,
    default: Option<&'static str>,
    scope: Scope,
    help: &'static str,
) -> Key {
    Key { name, kind, default, scope, help }
}

pub(crate) const PERMISSION_MODES: &[&str] =
    &["acceptEdits", "default", "dontAsk", "plan", "auto", "bypassPermissions"];

pub(crate) static KEYS: &[Key] = &[
    key(
        "agent",
        Kind::Text,
        Some("claude"),
        Scope::Worker,
        "The agent that el work runs, or several with commas between",
    ),
    key(
        "concurrency",
        Kind::Int { min: 1, max: 256 },
        Some("1"),
        Scope::Worker,
        "How many atoms one worker has in work at a time",
    ),
    key(
        "lease",
        Kind::Time { min: Duration::from_secs(5) },
        Some("60s"),
        Scope::Worker,
        "How long a run stays alive without a sign of life from its supervisor",
    ),
    key(
        "max_attempts",
        Kind::Int { min: 1, max: 100 },
        Some("3"),
        Scope::Worker,
        "Attempts at one atom before it is blocked",
    ),
    key(
        "retry_backoff",
        Kind::Time { min: Duration::ZERO },
        Some("30s"),
        Scope::Worker,
        "The wait before a second attempt; it doubles with each further one",
    ),
    key(
        "executor",
        Kind::Choice(&["claude", "interactive", "command"]),
        Some("claude"),
        Scope::Agent,
        "How the agent is run: Claude Code headless, Claude Code with its own screen, or any program",
    ),
    key(
        "system_prompt",
        Kind::Text,
        None,
        Scope::Agent,
        "Words at the head of what the agent is told, before its work item",
    ),
    key(
        "completion",
        Kind::Choice(&["atom", "summary"]),
        Some("atom"),
        Scope::Agent,
        "What ends an interactive run: the agent ends its atom, or that or its summary file appears",
    ),
    key(
        "command",
        Kind::Command,
        Some(""),
        Scope::Agent,
        "The program and its arguments, for executor = \"command\"",
    ),
    key(
        "claude_code_path",
        Kind::Text,
        Some("claude"),
        Scope::Agent,
        "Claude Code: a name to be found on PATH, or a path",
    ),
    key("model", Kind::Text, None, Scope::Agent, "The model; unset leaves it to Claude Code"),
    key(
        "permission_mode",
        Kind::Choice(PERMISSION_MODES),
        Some("acceptEdits"),
        Scope::Agent,
        "Claude Code's permission mode",
    ),
    key(
        "allowed_tools",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Tools and rules the agent may use without asking, besides el itself",
    ),
    key("disallowed_tools", Kind::List, Some(""), Scope::Agent, "Tools and rules that are denied"),
    key(
        "max_turns",
        Kind::Int { min: 1, max: 100_000 },
        None,
        Scope::Agent,
        "Turns after which Claude Code gives up",
    ),
    key("max_budget_usd", Kind::Amount, None, Scope::Agent, "What one run may cost, in US dollars"),
    key(
        "budget_per_epic",
        Kind::Amount,
        None,
        Scope::Worker,
        "What everything below an epic may cost, in US dollars; budget_usd in the epic's metadata outranks it",
    ),
    key(
        "budget_per_day",
        Kind::Amount,
        None,
        Scope::Worker,
        "What all runs may cost on one day (UTC), in US dollars",
    ),
    key(
        "max_load",
        Kind::Amount,
        None,
        Scope::Worker,
        "The one-minute load for each core above which no session starts",
    ),
    key(
        "min_memory",
        Kind::Int { min: 0, max: 1 << 30 },
        None,
        Scope::Worker,
        "MiB that stay free beside what a session takes, or none starts",
    ),
    key(
        "start_interval",
        Kind::Time { min: Duration::ZERO },
        Some("0s"),
        Scope::Worker,
        "Between the starts of two sessions",
    ),
    key(
        "extra_args",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Further arguments for the agent's command line",
    ),
    key(
        "working_directory",
        Kind::Path,
        None,
        Scope::Agent,
        "Where agents work; unset is the project's folder",
    ),
    key(
        "preserve_sessions",
        Kind::Bool,
        Some("false"),
        Scope::Agent,
        "Keep tmux sessions and context files after a run",
    ),
    key(
        "context_directory",
        Kind::Path,
        Some(".eluent/agent-context"),
        Scope::Project,
        "Where the context files are written",
    ),
    key(
        "summaries_directory",
        Kind::Path,
        Some(".eluent/summaries"),
        Scope::Project,
        "Where agents write the summaries of their work",
    ),
    key(
        "execution_timeout",
        Kind::Time { min: SECOND },
        Some("1h"),
        Scope::Agent,
        "The longest that one run may take",
    ),
    key(
        "stall_timeout",
        Kind::Time { min: SECOND },
        Some("20m"),
        Scope::Agent,
        "How long an agent may be silent before its run counts as stalled",
    ),
    key(
        "close_grace",
        Kind::Time { min: Duration::ZERO },
        Some("60s"),
        Scope::Agent,
        "How long an agent may finish its last turn after its atom has ended",
    ),
    key(
        "api_timeout",
        Kind::Time { min: SECOND },
        None,
        Scope::Agent,
        "Claude Code's time-out for one request (API_TIMEOUT_MS)",
    ),
    key(
        "api_max_retries",
        Kind::Int { min: 0, max: 100 },
        None,
        Scope::Agent,
        "Claude Code's retries of one request (CLAUDE_CODE_MAX_RETRIES)",
    ),
    key(
        "notify",
        Kind::Command,
        Some(""),
        Scope::Agent,
        "A program and its arguments that is told of the end of a run, as JSON on its stdin",
    ),
    key(
        "notify_timeout",
        Kind::Time { min: SECOND },
        Some("30s"),
        Scope::Agent,
        "How long the notify program may take before it is killed",
    ),
    key(
        "review",
        Kind::Bool,
        Some("false"),
        Scope::Agent,
        "Whether agents hand finished work over for review (el submit) instead of closing it",
    ),
    key(
        "max_parallel",
        Kind::Int { min: 1, max: 256 },
        None,
        Scope::Agent,
        "How many things an agent does at a time, over all workers; unset: one, or as many as its worker was told to",
    ),
    key(
        "verify",
        Kind::Command,
        None,
        Scope::Agent,
        "A command that checks an agent's work once it says that it is done; no shell reads it",
    ),
    key(
        "require_verify",
        Kind::Bool,
        Some("false"),
        Scope::Agent,
        "Whether an agent cannot close its work while the check fails",
    ),
    key(
        "verify_timeout",
        Kind::Time { min: SECOND },
        Some("10m"),
        Scope::Agent,
        "How long a check may take",
    ),
    key(
        "delegates",
        Kind::List,
        Some(""),
        Scope::Project,
        "Who may hand over tasks with el run; empty: everyone",
    ),
    key(
        "delegation_max_depth",
        Kind::Int { min: 1, max: 100 },
        Some("3"),
        Scope::Project,
        "How many tasks may be within each other, each handed over by the agent of the one before",
    ),
    key(
        "isolate",
        Kind::Choice(&["worktree", "none"]),
        None,
        Scope::Agent,
        "Where runs work: each in a git worktree, or all in one folder; unset: worktrees if several \
         run at a time in a repository, and for what el run hands over",
    ),
    key(
        "worktrees_directory",
        Kind::Path,
        Some(".eluent/worktrees"),
        Scope::Project,
        "Where the worktrees are",
    ),
    key(
        "worktree_base",
        Kind::Text,
        None,
        Scope::Agent,
        "Where branches begin; unset: at what is checked out",
    ),
    key(
        "worktree_copy",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Untracked files that each worktree gets a copy of, such as .env",
    ),
    key(
        "worktree_link",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Untracked files or folders that each worktree gets a link to",
    ),
    key(
        "worktree_setup",
        Kind::Command,
        None,
        Scope::Agent,
        "A command that makes a new worktree ready, and the checkout of land_check; no shell reads it",
    ),
    key(
        "worktree_setup_timeout",
        Kind::Time { min: SECOND },
        Some("10m"),
        Scope::Agent,
        "How long the setup may take",
    ),
    key(
        "land_mode",
        Kind::Choice(&["rebase", "merge"]),
        Some("rebase"),
        Scope::Project,
        "How el land brings branches in",
    ),
    key(
        "land_onto",
        Kind::Text,
        None,
        Scope::Project,
        "The branch that el land brings work to; unset: what is checked out",
    ),
    key(
        "land_check",
        Kind::Command,
        None,
        Scope::Project,
        "A command that must pass before el land keeps anything; no shell reads it",
    ),
    key(
        "land_check_timeout",
        Kind::Time { min: SECOND },
        Some("30m"),
        Scope::Project,
        "How long that may take",
    ),
    key(
        "orchestrate_check",
        Kind::Command,
        None,
        Scope::Worker,
        "A command that checks the whole at the end of el orchestrate; what fails becomes tasks; no shell reads it",
    ),
    key(
        "orchestrate_check_timeout",
        Kind::Time { min: SECOND },
        Some("30m"),
        Scope::Worker,
        "How long that may take",
    ),
    key(
        "orchestrate_check_rounds",
        Kind::Int { min: 0, max: 100 },
        Some("2"),
        Scope::Worker,
        "How often that check may fail and be worked on",
    ),
    key(
        "orchestrate_asks_again",
        Kind::Int { min: 0, max: 20 },
        Some("2"),
        Scope::Worker,
        "How often an agent is asked again for an answer that can be used",
    ),
    key(
        "orchestrate_max_tasks",
        Kind::Int { min: 1, max: 1000 },
        Some("100"),
        Scope::Worker,
        "The most tasks of one plan",
    ),
    key(
        "orchestrate_max_depth",
        Kind::Int { min: 1, max: 10 },
        Some("2"),
        Scope::Worker,
        "How many orchestrations may be within each other",
    ),
    key(
        "orchestrate_time_limit",
        Kind::Time { min: SECOND },
        None,
        Scope::Worker,
        "How long an orchestration may take in all, while somebody drives it",
    ),
    key(
        "orchestrate_progress",
        Kind::Bool,
        Some("true"),
        Scope::Worker,
        "Whether the agents of a plan are asked to say how far they are",
    ),
    key(
        "env_pass",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Variables the agent gets although they would be stripped",
    ),
    key(
        "env_strip",
        Kind::List,
        Some(""),
        Scope::Agent,
        "Variables the agent does not get, besides those el always strips",
    ),
    key(
        "safe_directories",
        Kind::List,
        Some(""),
        Scope::User,
        "Folders of projects that belong to other users and are trusted; * trusts all; only in the user's file",
    ),
    key(
        "durability",
        Kind::Choice(&["normal", "full"]),
        Some("normal"),
        Scope::Project,
        "full waits for the disk at every change; normal may lose the last changes in a power cut",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::value::Value;

    #[test]
    fn every_default_is_a_legal_value() {
        for key in KEYS {
            if let Some(default) = key.default {
                Value::from_text(key, default)
                    .unwrap_or_else(|error| panic!("{}: {error}", key.name));
            }
        }
    }

    #[test]
    fn a_typo_finds_the_key_that_was_meant() {
        assert_eq!(Key::similar("max-turn"), Some("max_turns"));
        assert_eq!(Key::similar("alowed_tools"), Some("allowed_tools"));
        assert_eq!(Key::similar("colour"), None);
    }
}
