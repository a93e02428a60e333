//! Pull requests.

use super::{Class, Key, Kind, LOWER, project_key};

pub(super) static KEYS: &[Key] = &[
    project_key(
        "pr_remote",
        Kind::Text,
        None,
        Class::Trusted,
        "The remote that `el pr` pushes branches to; unset: the only one there is",
    ),
    project_key(
        "pr_repo",
        Kind::RepoName,
        None,
        Class::Trusted,
        "The repository that receives the work, as OWNER/NAME (GitLab: with all groups); unset: \
         the one behind the remote, unless that is a fork",
    ),
    project_key(
        "pr_forge",
        Kind::Choice(&["github", "gitlab"]),
        None,
        Class::Trusted,
        "The forge of the remote's host, which gh or glab asks; unset: the host's name decides, or \
         that glab is signed in to it",
    ),
    project_key(
        "land_via",
        Kind::Choice(&["branch", "pr"]),
        Some("branch"),
        Class::Trusted,
        "How `el land` brings work in: it moves the branch here, or it opens pull requests",
    ),
    project_key(
        "pr_draft",
        Kind::Bool,
        Some("true"),
        Class::Trusted,
        "New pull requests are drafts",
    ),
    project_key(
        "pr_stack",
        Kind::Choice(&["wait", "base"]),
        Some("wait"),
        Class::Trusted,
        "A pull request that builds on open work waits for the merge, or has the branch of the \
         open one below as its base",
    ),
    project_key(
        "pr_watch",
        Kind::Bool,
        Some("true"),
        Class::Trusted,
        "`el work` looks once a minute at the pull requests that are open",
    ),
    project_key(
        "pr_delete_branch",
        Kind::Bool,
        Some("true"),
        Class::Trusted,
        "A branch that el made at the remote is deleted there once it was merged as el pushed it, \
         and no open pull request builds on it",
    ),
    project_key(
        "pr_method",
        Kind::Choice(&["squash", "merge", "rebase"]),
        None,
        Class::Trusted,
        "How `el pr merge` merges; unset: squash, merge or rebase, the first that the repository \
         allows",
    ),
    project_key(
        "pr_gate",
        Kind::Choice(&["open", "merged"]),
        Some("open"),
        Class::Trusted,
        "The event that frees the dependants of a closed atom with a branch: its close, or the \
         merge of the branch",
    ),
    project_key(
        "pr_feedback",
        Kind::Choice(&["off", "checks", "reviews", "all"]),
        Some("off"),
        Class::Trusted,
        "The feedback that `el pr watch` hands to the next attempt: failed required checks, \
         reviews that request changes and open threads, or both",
    ),
    project_key(
        "pr_attempts",
        Kind::Int { min: 0, max: 20 },
        Some("2"),
        LOWER,
        "How often such feedback reopens an atom before a person is asked",
    ),
    project_key(
        "pr_trust",
        Kind::List,
        Some("OWNER, MEMBER, COLLABORATOR, MAINTAINER, DEVELOPER"),
        Class::Trusted,
        "The people whose remarks reach an agent, by their role in the repository, in the words of \
         GitHub and of GitLab",
    ),
    project_key(
        "pr_cost",
        Kind::Bool,
        Some("false"),
        Class::Trusted,
        "The body of a pull request tells what the work cost",
    ),
];
