//! The tables of a project.

/// Every table, each after those that it refers to. The search index is made from `atoms`.
pub(super) const TABLES: [&str; 24] = [
    "meta",
    "atoms",
    "labels",
    "bonds",
    "comments",
    "runs",
    "artifacts",
    "run_files",
    "spend",
    "workers",
    "events",
    "messages",
    "mentions",
    "reviews",
    "mailbox_seen",
    "mailbox_tasks",
    "aliases",
    "orchestrations",
    "questions",
    "planned_tasks",
    "whole_checks",
    "pull_requests",
    "pr_feedback",
    "unmerged",
];
