//! Human output of atoms.

use el_core::model::{Atom, Priority, Status, Timestamp};

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{sanitize, style, time};

/// A table of atoms; only the ids with `-q`.
pub(crate) fn print_table(page: &mut Page, atoms: &[Atom], now: Timestamp) {
    let atoms: Vec<&Atom> = atoms.iter().collect();
    let again: Vec<String> = atoms.iter().map(|atom| backoff_end(atom, now)).collect();
    print_table_with_waits(page, &atoms, &again, now);
}

/// A table of atoms that can begin. A back-off from before the clock went back holds none of them.
pub(crate) fn print_ready(page: &mut Page, atoms: &[Atom], now: Timestamp) {
    let atoms: Vec<&Atom> = atoms.iter().collect();
    print_table_with_waits(page, &atoms, &vec![String::new(); atoms.len()], now);
}

/// A table of atoms, each with the causes of its wait, in words.
pub(crate) fn print_table_with_waits(
    page: &mut Page,
    atoms: &[&Atom],
    waits: &[String],
    now: Timestamp,
) {
    if page.is_quiet() {
        return atoms.iter().for_each(|atom| page.push_line(&atom.id));
    }
    if atoms.is_empty() {
        return;
    }
    let mut table = Table::new([
        Column::new("ID"),
        Column::new("PRI"),
        Column::new("STATUS"),
        Column::new("TYPE").hide_when_narrow(3),
        Column::new("TITLE").flexible(),
        Column::new("LABELS").hide_when_narrow(4),
        Column::new("ASSIGNEE").hide_when_narrow(3),
        Column::new("RUN").hide_when_narrow(5),
        Column::new("WAITS FOR").hide_when_narrow(2),
        Column::new("UPDATED").hide_when_narrow(1),
    ]);
    for (atom, waits) in atoms.iter().zip(waits) {
        table.push_row([
            Cell::styled(style::ID, &atom.id),
            Cell::priority(atom.priority),
            Cell::styled(style::status_style(atom.status.as_str()), atom.status.as_str()),
            Cell::new(atom.issue_type.as_str()),
            Cell::new(&atom.title),
            Cell::styled(style::LABEL, atom.labels.join(",")),
            Cell::styled(style::PERSON, atom.assignee.as_deref().unwrap_or_default()),
            Cell::styled(style::DIM, atom.run_id.as_deref().unwrap_or_default()),
            Cell::styled(style::WARNING, waits),
            Cell::styled(style::DIM, time::relative_time(now, atom.updated_at)),
        ]);
    }
    table.print_table(page);
}

/// The end of the back-off of an atom that would be ready otherwise.
fn backoff_end(atom: &Atom, now: Timestamp) -> String {
    let waits = atom.retry_at.filter(|at| *at > now && atom.status == Status::Open);
    waits.map(|at| format!("another try, {}", time::relative_time(now, at))).unwrap_or_default()
}

/// `● app-q5e6 Fix the parser`: an atom in a tree or among neighbours, without a newline.
pub(crate) fn one_line(page: &Page, status: &str, id: &str, title: &str) -> String {
    let mark = page.paint(style::status_style(status), style::status_mark(status));
    let title = sanitize::one_line(title);
    format!("{mark} {} {title}", page.paint(style::ID, id))
}

/// `P1 high`.
pub(crate) fn priority_label(page: &Page, priority: Priority) -> String {
    page.paint(
        style::priority_style(priority.value()),
        &format!("P{} {}", priority.value(), priority.as_word()),
    )
}

/// `Closed app-q5e6 Fix the parser`: a finished change; silent with `-q`.
pub(crate) fn print_done(page: &mut Page, verb: &str, atom: &Atom) {
    if page.is_quiet() {
        return;
    }
    let id = page.paint(style::ID, &atom.id);
    page.push_done(verb, &format!("{id} {}", sanitize::one_line(&atom.title)));
}
