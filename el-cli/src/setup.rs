//! `el setup`: what other programs' files need so that their agents know the tracker. Pure: a
//! file's text in, the changed text out.
//!
//! Everything that is put in can be told from what others wrote, so that it can be found again:
//! hooks by their command, the server by its name, a block by its marks.

mod block;
mod json;

pub(crate) use block::{block_in, block_out};
pub(crate) use json::{EditError, hooks_in, hooks_out, server_in, server_out};

/// The hooks: at which event of Claude Code, which command; the plugin's, see
/// `plugin/hooks/hooks.json`. Whoever has these settings without `el`, or with one that does not
/// know the hook (its exit of 2 would hold the session up), is not bothered.
pub(crate) const HOOKS: [(&str, &str); 3] = [
    ("SessionStart", "el hook session-start 2>/dev/null || true"),
    ("PreCompact", "el hook pre-compact 2>/dev/null || true"),
    ("Stop", "el hook stop 2>/dev/null || true"),
];

/// What begins so in a hook's command is ours.
const HOOK_PREFIX: &str = "el hook ";

/// The files that are copied as they are, relative to Claude Code's folder.
pub(crate) const FILES: [(&str, &str); 6] = [
    ("commands/el/board.md", include_str!("../../plugin/commands/board.md")),
    ("commands/el/delegate.md", include_str!("../../plugin/commands/delegate.md")),
    ("commands/el/next.md", include_str!("../../plugin/commands/next.md")),
    ("commands/el/ready.md", include_str!("../../plugin/commands/ready.md")),
    ("commands/el/review.md", include_str!("../../plugin/commands/review.md")),
    ("skills/el/SKILL.md", include_str!("../../plugin/skills/el/SKILL.md")),
];
