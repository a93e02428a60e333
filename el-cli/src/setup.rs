//! `el setup`: the entries in other programs' files that make the tracker known to agents. Pure:
//! takes a file's text and returns the changed text.
//!
//! Every entry can be told from the entries of others, and so be found again: hooks by the command,
//! the server by the name, a block by the marks.

mod block;
mod json;

pub(crate) use block::{block_in, block_out};
pub(crate) use json::{EditError, hooks_in, hooks_out, server_in, server_out};

/// The hooks: the event of Claude Code and the command. The same as the plugin's, see
/// `plugin/hooks/hooks.json`. A machine without `el`, or with an `el` that does not know the hook,
/// is not disturbed (an exit code of 2 would hold up the session).
pub(crate) const HOOKS: [(&str, &str); 3] = [
    ("SessionStart", "el hook session-start 2>/dev/null || true"),
    ("PreCompact", "el hook pre-compact 2>/dev/null || true"),
    ("Stop", "el hook stop 2>/dev/null || true"),
];

/// The beginning of every hook command of `el`.
const HOOK_PREFIX: &str = "el hook ";

/// The files that are copied unchanged, relative to Claude Code's folder.
pub(crate) const FILES: [(&str, &str); 6] = [
    ("commands/el/board.md", include_str!("../../plugin/commands/board.md")),
    ("commands/el/delegate.md", include_str!("../../plugin/commands/delegate.md")),
    ("commands/el/next.md", include_str!("../../plugin/commands/next.md")),
    ("commands/el/ready.md", include_str!("../../plugin/commands/ready.md")),
    ("commands/el/review.md", include_str!("../../plugin/commands/review.md")),
    ("skills/el/SKILL.md", include_str!("../../plugin/skills/el/SKILL.md")),
];
