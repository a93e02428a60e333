//! Headings of a plan that set a field of the heading above (`### Priority`).

use super::outline::{self, Item, Kind};

const FIELDS: [(&str, &str); 13] = [
    ("priority", "priority"),
    ("type", "issue_type"),
    ("description", "description"),
    ("design", "design"),
    ("notes", "notes"),
    ("acceptance", "acceptance"),
    ("acceptance criteria", "acceptance"),
    ("assignee", "assignee"),
    ("labels", "labels"),
    ("needs", "needs"),
    ("dependencies", "depends"),
    ("depends on", "depends"),
    ("blocked by", "depends"),
];

pub(super) fn field_name(item: &Item) -> Option<&'static str> {
    let title = item.title.trim_end_matches(':').to_ascii_lowercase();
    FIELDS.iter().find(|(name, _)| *name == title).map(|(_, key)| *key)
}

/// Returns true if a text is a plan: a text with a task list, or with headings that set fields of
/// the heading above (`### Priority`). Headings alone make a document.
pub fn is_plan(text: &str) -> bool {
    let outline = outline::read_outline(text);
    let is_field = |item: &Item| item.kind == Kind::Heading(3) && field_name(item).is_some();
    outline.has_tasks() || outline.items.iter().any(is_field)
}
