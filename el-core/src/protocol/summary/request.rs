//! The request for a summary in the context.

use crate::protocol::fence;

/// The part of the context that asks for a summary; `path` as seen from the agent's working folder,
/// or absolute.
pub fn request_summary(path: &str) -> String {
    let path = fence::fence_line(path, 4_096);
    format!(
        "## Summary\n\nBefore you run the command that ends this work item, write a summary of \
         your work to the file `{path}` (make the folder if it is not there; replace a file of \
         that name, it is an earlier attempt's). Use this form, and say honestly what was not \
         done:\n\n```markdown\n{FORM}```\n\nList under Key Deliverables only the files that matter \
         most, four at the most: they are handed back together with the summary. Write their paths \
         relative to the working folder. Leave out configuration files and build outputs unless \
         this work item asks for them."
    )
}

pub(super) const FORM: &str = "\
# Task Completion Summary

## Objective
[What was the task?]

## Accomplishments
- [What was done]

## Key Deliverables
- `path/to/file` - What it is

## Test Results
✅ All 8 tests passed [OR] ⏭️ No tests (why) [OR] ❌ 2 tests failed (which)

## Important Notes
- [Caveats, issues, recommendations]

## Status
✅ COMPLETED [OR] ⚠️ PARTIAL [OR] ❌ FAILED
";
