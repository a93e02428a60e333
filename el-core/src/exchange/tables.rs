//! Atoms for a spreadsheet, and for reading.

use std::collections::{HashMap, HashSet};

use super::Snapshot;
use crate::model::{Atom, BondKind, Priority, Status, Timestamp};

/// Comma-separated values as RFC 4180 has them, one atom a row, with a row of names first. A cell
/// that a spreadsheet would take for a formula begins with an apostrophe.
pub fn csv(snapshot: &Snapshot) -> String {
    let blockers = blockers(snapshot);
    let mut out = String::from(
        "id,title,status,issue_type,priority,labels,assignee,parent_id,blocked_by,defer_until,close_reason,created_by,created_at,updated_at,closed_at,description,acceptance\r\n",
    );
    let time = |time: Option<Timestamp>| time.map_or_else(String::new, |time| time.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    for atom in &snapshot.atoms {
        let cells = [
            atom.id.clone(),
            atom.title.clone(),
            atom.status.to_string(),
            atom.issue_type.to_string(),
            atom.priority.value().to_string(),
            atom.labels.join(" "),
            text(&atom.assignee),
            text(&atom.parent_id),
            blockers.get(atom.id.as_str()).map_or_else(String::new, |ids| ids.join(" ")),
            time(atom.defer_until),
            text(&atom.close_reason),
            atom.created_by.clone(),
            atom.created_at.to_string(),
            atom.updated_at.to_string(),
            time(atom.closed_at),
            atom.description.clone(),
            text(&atom.acceptance),
        ];
        let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
        out.push_str(&cells.join(","));
        out.push_str("\r\n");
    }
    out
}

fn csv_cell(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '\u{fffd}' } else { c })
        .collect();
    let text =
        if text.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

/// What holds each atom: the sources of its `blocks` and `waits_for` bonds.
fn blockers(snapshot: &Snapshot) -> HashMap<&str, Vec<&str>> {
    let mut blockers: HashMap<&str, Vec<&str>> = HashMap::new();
    for bond in snapshot
        .bonds
        .iter()
        .filter(|b| matches!(b.dependency_type, BondKind::Blocks | BondKind::WaitsFor))
    {
        blockers.entry(&bond.target_id).or_default().push(&bond.source_id);
    }
    blockers
}

/// A Markdown task list: children below their parents, what is over ticked, descriptions below
/// their items.
pub fn markdown(snapshot: &Snapshot) -> String {
    let here: HashSet<&str> = snapshot.atoms.iter().map(|atom| atom.id.as_str()).collect();
    let mut children: HashMap<Option<&str>, Vec<&Atom>> = HashMap::new();
    for atom in &snapshot.atoms {
        children
            .entry(atom.parent_id.as_deref().filter(|id| here.contains(id)))
            .or_default()
            .push(atom);
    }
    let blockers = blockers(snapshot);
    let mut out = format!("# {}\n\n", snapshot.prefix);
    // A loop of parents, which no write allows, hangs on nothing and is shown at the end as if it
    // had none.
    let mut shown = HashSet::new();
    for atom in
        children.get(&None).into_iter().flatten().chain(&snapshot.atoms.iter().collect::<Vec<_>>())
    {
        let mut todo = vec![(*atom, 0_usize)];
        while let Some((atom, depth)) = todo.pop() {
            if !shown.insert(atom.id.as_str()) {
                continue;
            }
            item(&mut out, atom, depth, blockers.get(atom.id.as_str()));
            todo.extend(
                children
                    .get(&Some(atom.id.as_str()))
                    .into_iter()
                    .flatten()
                    .rev()
                    .map(|child| (*child, depth + 1)),
            );
        }
    }
    out
}

/// Deeper lists are no list any more to a reader of Markdown.
const DEEPEST: usize = 20;

fn item(out: &mut String, atom: &Atom, depth: usize, blockers: Option<&Vec<&str>>) {
    let indent = "  ".repeat(depth.min(DEEPEST));
    let mark = if atom.status.is_over() { "x" } else { " " };
    let mut facts = vec![format!("`{}`", atom.id)];
    if atom.status != Status::Open && atom.status != Status::Closed {
        facts.push(atom.status.to_string());
    }
    facts.push(atom.issue_type.to_string());
    if atom.priority != Priority::DEFAULT {
        facts.push(format!("P{}", atom.priority.value()));
    }
    facts.extend(atom.assignee.iter().map(|who| format!("@{}", plain(who))));
    facts.extend(atom.labels.iter().map(|label| format!("#{}", plain(label))));
    facts.extend(blockers.map(|ids| format!("after {}", ids.join(", "))));
    out.push_str(&format!("{indent}- [{mark}] {} ({})\n", plain(&atom.title), facts.join(", ")));
    for line in atom.description.trim_end().lines() {
        let line: String = line
            .chars()
            .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
            .collect();
        out.push_str(format!("{indent}  {line}").trim_end());
        out.push('\n');
    }
}

/// A text in a line of Markdown: no control characters, no tags.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect::<String>()
        .replace('<', "\\<")
}

#[cfg(test)]
mod tests {
    use super::csv_cell;

    #[test]
    fn a_cell_is_quoted_where_it_must_be_and_is_never_a_formula() {
        assert_eq!(csv_cell("plain"), "plain");
        assert_eq!(csv_cell("a, \"b\"\nc"), "\"a, \"\"b\"\"\nc\"");
        assert_eq!(csv_cell("=cmd|'/c calc'!A1"), "'=cmd|'/c calc'!A1");
        assert_eq!(csv_cell("x\u{1b}[31m"), "x\u{fffd}[31m");
    }
}
