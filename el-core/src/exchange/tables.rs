//! Atoms for a spreadsheet, and for reading.

use std::io::{self, Write};

use super::{Exported, Piece};
use crate::model::{Bond, BondKind, Priority, Status, Timestamp};

const CSV_NAMES: &str = "id,title,status,issue_type,priority,labels,assignee,parent_id,blocked_by,\
    defer_until,close_reason,created_by,created_at,updated_at,closed_at,description,acceptance,\
    needs\r\n";

/// Writes a piece as comma-separated values (RFC 4180): a row of column names, then a row for each
/// atom. A cell that a spreadsheet would take for a formula gets an apostrophe in front.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write_csv(out: &mut dyn Write, piece: &Piece) -> io::Result<()> {
    let exported = match piece {
        Piece::Start { .. } => return out.write_all(CSV_NAMES.as_bytes()),
        Piece::Atom(exported) => exported,
    };
    let time = |time: Option<Timestamp>| time.map_or_else(String::new, |time| time.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let atom = &exported.atom;
    let cells = [
        atom.id.clone(),
        atom.title.clone(),
        atom.status.to_string(),
        atom.issue_type.to_string(),
        atom.priority.value().to_string(),
        atom.labels.join(" "),
        text(&atom.assignee),
        text(&atom.parent_id),
        blocker_ids(exported).join(" "),
        time(atom.defer_until),
        text(&atom.close_reason),
        atom.created_by.clone(),
        atom.created_at.to_string(),
        atom.updated_at.to_string(),
        time(atom.closed_at),
        atom.description.clone(),
        text(&atom.acceptance),
        atom.needs.join(" "),
    ];
    let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
    write!(out, "{}\r\n", cells.join(","))
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

/// The sources of an atom's `blocks` and `waits_for` bonds.
fn blocker_ids(exported: &Exported) -> Vec<&str> {
    let holds =
        |bond: &&Bond| matches!(bond.dependency_type, BondKind::Blocks | BondKind::WaitsFor);
    exported.bonds.iter().filter(holds).map(|bond| bond.source_id.as_str()).collect()
}

/// Writes a piece as Markdown: a heading, then an item of a task list for each atom, `depth` below
/// the top, ticked if it is over, with the description below.
///
/// # Errors
///
/// If `out` cannot be written.
pub fn write_markdown(out: &mut dyn Write, piece: &Piece, depth: usize) -> io::Result<()> {
    match piece {
        Piece::Start { prefix } => write!(out, "# {prefix}\n\n"),
        Piece::Atom(exported) => write_item(out, exported, depth),
    }
}

/// Deeper lists are no list any more to a reader of Markdown.
const DEEPEST: usize = 20;

fn write_item(out: &mut dyn Write, exported: &Exported, depth: usize) -> io::Result<()> {
    let atom = &exported.atom;
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
    facts.extend(atom.assignee.iter().map(|who| format!("@{}", plain_text(who))));
    facts.extend(atom.labels.iter().map(|label| format!("#{}", plain_text(label))));
    if !atom.needs.is_empty() {
        facts.push(format!("needs {}", atom.needs.join(", ")));
    }
    let blockers = blocker_ids(exported);
    if !blockers.is_empty() {
        facts.push(format!("after {}", blockers.join(", ")));
    }
    writeln!(out, "{indent}- [{mark}] {} ({})", plain_text(&atom.title), facts.join(", "))?;
    for line in atom.description.trim_end().lines() {
        let line: String = line
            .chars()
            .map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c })
            .collect();
        writeln!(out, "{}", format!("{indent}  {line}").trim_end())?;
    }
    Ok(())
}

/// A text in a line of Markdown: no control characters, no tags.
fn plain_text(text: &str) -> String {
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
