//! Formats answers in few words: a row begins with its id, and a cut text says where to read on.

use el_core::model::{Atom, InboxMessage, TaskStatus, Timestamp};
use el_core::ops::{Page, Task};
use el_core::text::head_bytes;

use crate::output::{runs, sanitize, time};

/// Bytes of a text in a single answer. Clients give their model little more.
pub(super) const WINDOW: usize = 20_000;

/// `el-q5e6 P1 open bug @gendry [parser] needs gpu: Fix the parser`.
pub(super) fn atom_row(atom: &Atom) -> String {
    let mut row =
        format!("{} P{} {} {}", atom.id, atom.priority.value(), atom.status, atom.issue_type);
    if let Some(name) = &atom.assignee {
        row.push_str(&format!(" @{}", sanitize::one_line(name)));
    }
    if !atom.labels.is_empty() {
        row.push_str(&format!(" [{}]", sanitize::one_line(&atom.labels.join(","))));
    }
    if !atom.needs.is_empty() {
        row.push_str(&format!(" needs {}", sanitize::one_line(&atom.needs.join(","))));
    }
    if let Some(run) = &atom.run_id {
        row.push_str(&format!(" {run}"));
    }
    row.push_str(&format!(": {}", sanitize::one_line(&atom.title)));
    row
}

/// `Closed el-q5e6 P1 …`: a line for each changed atom.
pub(super) fn done_rows<'a>(verb: &str, atoms: impl IntoIterator<Item = &'a Atom>) -> String {
    atoms.into_iter().map(|one| format!("{verb} {}\n", atom_row(one))).collect()
}

/// A list, followed by the total if the list is cut, and by the way to get the rest.
pub(super) fn page_rows<T>(rows: &[String], offset: i64, of: &Page<T>, nothing: &str) -> String {
    let total = of.total;
    let here = i64::try_from(rows.len()).unwrap_or(i64::MAX);
    let mut text = rows.join("\n");
    if rows.is_empty() {
        text = if offset > 0 && total > 0 {
            format!("there are only {total}")
        } else {
            nothing.to_owned()
        };
    } else if offset + here < total {
        let more = if of.is_capped { " or more" } else { "" };
        let next = offset + here;
        text.push_str(&format!("\n({here} of {total}{more}; offset {next} shows more)"));
    }
    text
}

/// `el-q5e6 running (claude, attempt 2, 3m 05s, turn 14, $0.12; Bash: cargo test): Mend it`.
pub(super) fn task_row(task: &Task, position: Option<usize>, now: Timestamp) -> String {
    let mut facts: Vec<String> =
        task.agent.iter().map(|name| sanitize::one_line(name).into_owned()).collect();
    match (task.status, position) {
        (TaskStatus::Queued, Some(at)) => facts.push(format!("at place {at}")),
        (TaskStatus::Queued, None) => match task.retry_at.filter(|at| *at > now) {
            Some(at) => facts.push(format!("tried again {}", time::relative_time(now, at))),
            None => facts.push("held back".to_owned()),
        },
        _ => {}
    }
    if task.attempts > 1 {
        facts.push(format!("attempt {}", task.attempts));
    }
    if let Some(from) = task.started_at.filter(|_| task.status != TaskStatus::Queued) {
        facts.push(time::format_span(task.completed_at.unwrap_or(now).since(from)));
    }
    if task.turns > 0 {
        facts.push(format!("turn {}", task.turns));
    }
    if task.cost.cost_micros > 0 {
        facts.push(runs::format_cost(task.cost));
    }
    if let Some(outcome) = task.outcome.filter(|_| !task.status.is_under_way()) {
        facts.push(outcome.to_string());
    }
    let doing = task
        .action
        .as_deref()
        .map(|action| format!("; {}", sanitize::one_line(action)))
        .unwrap_or_default();
    format!(
        "{} {} ({}{doing}): {}",
        task.id,
        task.status,
        facts.join(", "),
        sanitize::one_line(&task.title)
    )
}

/// The author, channel and age of a message, the atom, and the text.
pub(super) fn message_row(item: &InboxMessage, now: Timestamp) -> String {
    let said = &item.message;
    let about = said.atom_id.as_ref().map(|id| format!(" about {id}")).unwrap_or_default();
    let mark = if item.read_at.is_none() { "new, " } else { "" };
    format!(
        "{} in #{}{about} ({mark}{}):\n{}",
        sanitize::one_line(&said.author),
        said.channel,
        time::relative_time(now, said.created_at),
        indent_lines(&said.content)
    )
}

/// A heading with a text of any origin below. The text is indented, so that no line of the text can
/// pass for a heading.
pub(super) fn text_section(heading: &str, text: Option<&str>) -> String {
    match text.map(str::trim_end).filter(|text| !text.trim().is_empty()) {
        Some(text) => format!("\n{heading}:\n{}", indent_lines(text)),
        None => String::new(),
    }
}

fn indent_lines(text: &str) -> String {
    sanitize::multi_line(text.trim_end()).lines().map(|line| format!("  {line}\n")).collect()
}

/// A part of a long text, from a byte on, and how to see the rest.
pub(super) fn text_window(text: &str, offset: usize) -> String {
    let text = text.trim_end();
    let from = head_bytes(text, offset).len();
    let to = head_bytes(text, from.saturating_add(WINDOW)).len();
    match (from, to == text.len()) {
        (0, true) => text.to_owned(),
        (_, true) => format!("{}\n(bytes {from} to {to}: the end)", &text[from..]),
        _ => format!(
            "{}\n(bytes {from} to {to} of {}; offset {to} shows more)",
            &text[from..to],
            text.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_meet_without_a_gap_and_cut_no_character() {
        let text = "ü漢x".repeat(9_000);
        let (mut seen, mut offset) = (String::new(), 0);
        loop {
            let shown = text_window(&text, offset);
            let (body, foot) = shown.rsplit_once('\n').unwrap();
            seen.push_str(body);
            let Some(next) = foot.split("offset ").nth(1) else { break };
            offset = next.split(' ').next().unwrap().parse().unwrap();
        }
        assert_eq!(seen, text);
        assert_eq!(text_window("short", 0), "short");
        assert!(text_window("short", 99).ends_with("the end)"));
    }

    #[test]
    fn a_cut_list_says_how_to_go_on() {
        let rows = ["a".to_owned(), "b".to_owned()];
        let of = |total| Page::<()>::of_total(Vec::new(), total);
        assert_eq!(page_rows(&rows, 0, &of(2), "none"), "a\nb");
        assert_eq!(page_rows(&rows, 4, &of(9), "none"), "a\nb\n(2 of 9; offset 6 shows more)");
        let counted_in_part = Page { is_capped: true, ..of(9) };
        assert_eq!(
            page_rows(&rows, 4, &counted_in_part, "none"),
            "a\nb\n(2 of 9 or more; offset 6 shows more)"
        );
        assert_eq!(page_rows(&[], 0, &of(0), "none"), "none");
        assert_eq!(page_rows(&[], 10, &of(3), "none"), "there are only 3");
    }

    #[test]
    fn a_text_cannot_pass_for_a_heading() {
        assert_eq!(text_section("Output", Some("a\nErrors:\n")), "\nOutput:\n  a\n  Errors:\n");
        assert_eq!(text_section("Output", Some(" \n")), "");
    }
}
