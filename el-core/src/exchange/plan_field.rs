//! Headings of a plan that say something of the heading above them (`### Priority`).

use super::outline::{self, Item, Kind};

const FIELDS: [(&str, &str); 12] = [
    ("priority", "priority"),
    ("type", "issue_type"),
    ("description", "description"),
    ("design", "design"),
    ("notes", "notes"),
    ("acceptance", "acceptance"),
    ("acceptance criteria", "acceptance"),
    ("assignee", "assignee"),
    ("labels", "labels"),
    ("dependencies", "depends"),
    ("depends on", "depends"),
    ("blocked by", "depends"),
];

pub(super) fn field(item: &Item) -> Option<&'static str> {
    let title = item.title.trim_end_matches(':').to_ascii_lowercase();
    FIELDS.iter().find(|(name, _)| *name == title).map(|(_, key)| *key)
}

/// A text that is meant as work: it has a task list, or headings that say something of the one
/// above them (`### Priority`). Headings alone are a document.
pub fn is_plan(text: &str) -> bool {
    let outline = outline::read(text);
    let is_field = |item: &Item| item.kind == Kind::Heading(3) && field(item).is_some();
    outline.has_tasks() || outline.items.iter().any(is_field)
}
