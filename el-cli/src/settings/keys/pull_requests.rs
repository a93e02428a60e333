//! Pull requests.

use super::{Class, Key, Kind, LOWER, Scope, key};

pub(super) static KEYS: &[Key] = &[
    key(
        "pr_remote",
        Kind::Text,
        None,
        Scope::Project,
        Class::Trusted,
        "The remote that `el pr` pushes branches to; unset: the only one there is",
    ),
    key(
        "pr_repo",
        Kind::RepoName,
        None,
        Scope::Project,
        Class::Trusted,
        "The repository that receives the work, as OWNER/NAME (GitLab: with all groups); unset: \
         the one behind the remote, unless that is a fork",
    ),
    key(
        "pr_forge",
        Kind::Choice(&["github", "gitlab"]),
        None,
        Scope::Project,
        Class::Trusted,
        "The forge of the remote's host, which gh or glab asks; unset: the host's name decides, or \
         that glab is signed in to it",
    ),
    key(
        "land_via",
        Kind::Choice(&["branch", "pr"]),
        Some("branch"),
        Scope::Project,
        Class::Trusted,
        "How `el land` brings work in: it moves the branch here, or it opens pull requests",
    ),
    key(
        "pr_draft",
        Kind::Bool,
        Some("true"),
        Scope::Project,
        Class::Trusted,
        "New pull requests are drafts",
    ),
    key(
        "pr_stack",
        Kind::Choice(&["wait", "base"]),
        Some("wait"),
        Scope::Project,
        Class::Trusted,
        "A pull request that builds on open work waits for the merge, or has the branch of the \
         open one below as its base",
    ),
    key(
        "pr_watch",
        Kind::Bool,
        Some("true"),
        Scope::Project,
        Class::Trusted,
        "`el work` looks once a minute at the pull requests that are open",
    ),
    key(
        "pr_delete_branch",
        Kind::Bool,
        Some("true"),
        Scope::Project,
        Class::Trusted,
        "A branch that el made at the remote is deleted there once it was merged as el pushed it, \
         and no open pull request builds on it",
    ),
    key(
        "pr_method",
        Kind::Choice(&["squash", "merge", "rebase"]),
        None,
        Scope::Project,
        Class::Trusted,
        "How `el pr merge` merges; unset: squash, merge or rebase, the first that the repository \
         allows",
    ),
    key(
        "pr_gate",
        Kind::Choice(&["open", "merged"]),
        Some("open"),
        Scope::Project,
        Class::Trusted,
        "The event that frees the dependants of a closed atom with a branch: its close, or the \
         merge of the branch",
    ),
    key(
        "pr_feedback",
        Kind::Choice(&["off", "checks", "reviews", "all"]),
        Some("off"),
        Scope::Project,
        Class::Trusted,
        "The feedback that `el pr watch` hands to the next attempt: failed required checks, \
         reviews that request changes and open threads, or both",
    ),
    key(
        "pr_attempts",
        Kind::Int { min: 0, max: 20 },
        Some("2"),
        Scope::Project,
        LOWER,
        "How often such feedback reopens an atom before a person is asked",
    ),
    key(
        "pr_trust",
        Kind::List,
        Some("OWNER, MEMBER, COLLABORATOR, MAINTAINER, DEVELOPER"),
        Scope::Project,
        Class::Trusted,
        "The people whose remarks reach an agent, by their role in the repository, in the words of \
         GitHub and of GitLab",
    ),
    key(
        "pr_cost",
        Kind::Bool,
        Some("false"),
        Scope::Project,
        Class::Trusted,
        "The body of a pull request tells what the work cost",
    ),
];
