//! The fate of branches that were to be landed, or to have pull requests.

use el_core::text::last_lines;

use super::page::Page;
use super::{sanitize, style};

/// Lines of the end of a detail that people see.
const DETAIL_LINES: usize = 8;

/// A branch in words.
pub(crate) struct BranchLines<'a> {
    pub(crate) atom_id: &'a str,
    pub(crate) is_failure: bool,
    pub(crate) outcome: String,
    /// Lines before the detail.
    pub(crate) facts: Vec<String>,
    pub(crate) detail: Option<&'a str>,
    pub(crate) conflict_atom: Option<&'a str>,
}

/// Prints each branch. `if_none`: the text if there is none.
pub(crate) fn print_branches<'a>(
    page: &mut Page,
    if_none: &str,
    branches: impl Iterator<Item = BranchLines<'a>>,
) {
    let mut is_empty = true;
    for branch in branches {
        is_empty = false;
        let id = page.paint(style::ID, branch.atom_id);
        let style = if branch.is_failure { style::WARNING } else { style::GOOD };
        let outcome = page.paint(style, &branch.outcome);
        page.push_line(format!("{id}  {outcome}"));
        if page.is_quiet() {
            continue;
        }
        let end = last_lines(branch.detail.unwrap_or_default(), DETAIL_LINES);
        for line in branch.facts.iter().map(String::as_str).chain(end) {
            page.push_line(format!("  {}", sanitize::one_line(line)));
        }
        if let Some(atom) = branch.conflict_atom {
            page.push_line(format!("  {} is filed to resolve it", page.paint(style::ID, atom)));
        }
    }
    if is_empty && !page.is_quiet() {
        page.push_painted(style::DIM, if_none);
    }
}
