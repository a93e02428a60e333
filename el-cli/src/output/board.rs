//! The board in one screen, for `el status`.

use el_core::model::{AtomRow, Cost, Need, NeedKind, RunRow};
use el_core::ops::{Board, Part};
use el_core::rules::budget::format_usd;

use super::page::Page;
use super::table::{Cell, Column, Table};
use super::{holds, pauses, runs, sanitize, style, time};

mod held;
mod outlook;

pub(crate) use held::held_words;
pub(crate) use outlook::{news_line, outlook_line};

/// The rows of a part if the height of the screen is unknown.
const ROWS: usize = 10;

/// The word for a kind of need.
pub(crate) fn need_word(kind: NeedKind) -> &'static str {
    match kind {
        NeedKind::Paused => "paused",
        NeedKind::DayBudget => "budget",
        NeedKind::NoWorker => "no worker",
        NeedKind::Question => "question",
        NeedKind::Plan => "plan",
        NeedKind::Review => "review",
        NeedKind::Conflict => "conflict",
        NeedKind::LandCheck => "check failed",
        NeedKind::ToLand => "to land",
        NeedKind::PullRequest => "pull request",
        NeedKind::Denied => "denied",
        NeedKind::GaveUp => "gave up",
        NeedKind::Blocked => "blocked",
        NeedKind::Budget => "budget",
        NeedKind::Silent => "silent",
        NeedKind::Costly => "costly",
        NeedKind::SameFiles => "same files",
    }
}

/// The counts of the parts, in a line.
pub(crate) fn counts_line(board: &Board) -> String {
    let of = |total: i64, is_capped: bool, words: &str| {
        format!("{total}{} {words}", if is_capped { "+" } else { "" })
    };
    let needs = if board.needs.total == 1 { "needs you" } else { "need you" };
    let mut parts = vec![
        of(board.needs.total, board.needs.capped, needs),
        of(board.running.total, board.running.capped, "run"),
        of(board.ready.total, board.ready.capped, "ready"),
        of(board.waiting.total, board.waiting.capped, "wait"),
    ];
    if board.held.total > 0 {
        parts.push(of(board.held.total, board.held.capped, "held"));
    }
    let (spent, estimated) = (board.spent_today_micros, board.estimated_today_micros);
    match board.budget_today_micros {
        Some(cap) => {
            let sign = if estimated > 0 { "~" } else { "" };
            parts.push(format!("{sign}{} of {} today", format_usd(spent), format_usd(cap)));
        }
        None if spent > 0 => {
            let cost = Cost { cost_micros: spent, estimated_micros: estimated };
            parts.push(format!("{} today", runs::format_cost(cost)));
        }
        None => {}
    }
    parts.join(" · ")
}

/// Prints the board; `rows`: how many the screen has.
pub(crate) fn print_board(page: &mut Page, name: &str, board: &Board, rows: Option<usize>) {
    if page.is_quiet() {
        let ids = board.needs.items.iter().filter_map(|need| need.atom_id.as_ref());
        return ids.for_each(|id| page.push_line(id));
    }
    let name = page.paint(style::TITLE, &sanitize::one_line(name));
    page.push_line(format!("{name}  {}", counts_line(board)));
    let outlook = outlook_line(board);
    for line in outlook.into_iter().chain(news_line(board)) {
        page.push_painted(style::DIM, &sanitize::one_line(&line));
    }
    if let Some(pause) = &board.pause {
        page.push_painted(style::WARNING, &pauses::pause_sentence(pause));
    } else if let Some(reason) = &board.held_back {
        let text = format!("The worker holds back: {}", sanitize::one_line(reason));
        page.push_painted(style::WARNING, &text);
    }
    let room = Room::divide(board, rows);
    print_needs(page, board, room.needs);
    print_running(page, board, room.running);
    print_ready(page, board, room.ready);
    print_waiting(page, board, room.waiting);
    held::print_held(page, board, room.held);
    held::print_pulls(page, board, room.pulls);
    print_done(page, board, room.done);
}

/// The rows that each part may show.
#[derive(Debug, PartialEq, Eq)]
struct Room {
    needs: usize,
    running: usize,
    ready: usize,
    waiting: usize,
    held: usize,
    pulls: usize,
    done: usize,
}

impl Room {
    /// Divides the screen: first the rows that need a person, with two lines each; then the running
    /// work. The other parts share the rest.
    fn divide(board: &Board, rows: Option<usize>) -> Room {
        let Some(rows) = rows else {
            return Room::from([ROWS; 7]);
        };
        let wanted = [
            board.needs.items.len(),
            board.running.items.len(),
            board.ready.items.len(),
            board.waiting.items.len(),
            board.held.items.len(),
            board.pull_requests.items.len(),
            board.done.items.len(),
        ];
        // A part takes a blank line, a heading and at most a line of what is left out; the prompt
        // takes the last line of the screen.
        let parts = wanted.iter().filter(|rows| **rows > 0).count();
        let mut left = rows.saturating_sub(3 + 3 * parts).max(parts * 2);
        let mut given = [0; 7];
        loop {
            let mut has_given = false;
            for (part, cost) in [2, 1, 1, 1, 1, 1, 1].into_iter().enumerate() {
                if given[part] < wanted[part] && left >= cost {
                    given[part] += 1;
                    left -= cost;
                    has_given = true;
                }
            }
            if !has_given {
                break;
            }
        }
        Room::from(given)
    }
}

impl From<[usize; 7]> for Room {
    fn from([needs, running, ready, waiting, held, pulls, done]: [usize; 7]) -> Room {
        Room { needs, running, ready, waiting, held, pulls, done }
    }
}

/// Prints how much a part leaves out, and the command that shows it.
fn print_rest<T>(page: &mut Page, part: &Part<T>, shown: usize, command: &str) {
    let shown = i64::try_from(shown.min(part.items.len())).unwrap_or(i64::MAX);
    if shown < part.total {
        let more = if part.capped { "+" } else { "" };
        let text = format!("  … {}{more} more: {command}", part.total - shown);
        page.push_painted(style::DIM, &text);
    }
}

fn print_needs(page: &mut Page, board: &Board, most: usize) {
    if board.needs.items.is_empty() {
        page.push_blank();
        let text = page.paint(style::GOOD, "Nothing needs you.");
        // In a project without any run so far, this is no need of its own.
        return match (board.workers, board.ready.total) {
            (0, 1..) => page.push_line(format!("{text} No worker runs: el work begins.")),
            _ => page.push_line(text),
        };
    }
    page.push_section("Needs you");
    let shown = &board.needs.items[..most.min(board.needs.items.len())];
    // The rows line up as a table, and each has its cause and its commands below.
    let lines = needs_table(shown, board).lines_for(page);
    for (line, need) in lines.iter().zip(shown) {
        page.push_line(line);
        let command = first_ways(need);
        let width = page.width().map_or(usize::MAX, |width| {
            width.saturating_sub(4 + 3 + sanitize::display_width(&command))
        });
        let why = sanitize::truncate_to(&sanitize::one_line(&need.why), width).into_owned();
        let why = page.paint(style::DIM, &why);
        page.push_line(format!("    {why} → {command}"));
    }
    print_rest(page, &board.needs, shown.len(), "el top");
}

/// The first way to settle it, and the other one where a person has to choose.
fn first_ways(need: &Need) -> String {
    let is_choice = matches!(need.kind, NeedKind::Review | NeedKind::LandCheck);
    let ways = need.ways.iter().take(if is_choice { 2 } else { 1 });
    ways.map(|way| way.command.as_str()).collect::<Vec<_>>().join(", or ")
}

/// `new`, of an atom that others changed since the person looked.
fn news_cell(board: &Board, atom: Option<&str>) -> Cell {
    match atom.is_some_and(|atom| board.fresh.iter().any(|id| id == atom)) {
        true => Cell::styled(style::TITLE, "new"),
        false => Cell::empty(),
    }
}

fn needs_table(needs: &[Need], board: &Board) -> Table {
    let now = board.now;
    let mut table = Table::new([
        Column::new("SIGN"),
        Column::new("NEW"),
        Column::new("KIND"),
        Column::new("ATOM"),
        Column::new("TITLE").flexible(),
        Column::new("FREES").hide_when_narrow(2),
        Column::new("COST").align_right().hide_when_narrow(3),
        Column::new("SINCE").align_right().hide_when_narrow(1),
    ])
    .without_heading(0);
    for need in needs {
        let frees = if need.frees > 0 { format!("frees {}", need.frees) } else { String::new() };
        table.push_row([
            Cell::styled(style::WARNING, "!"),
            news_cell(board, need.atom_id.as_deref()),
            Cell::styled(style::WARNING, need_word(need.kind)),
            Cell::styled(style::ID, need.atom_id.as_deref().unwrap_or_default()),
            Cell::new(&need.title),
            Cell::new(frees),
            Cell::new(runs::format_cost(need.cost)),
            Cell::styled(style::DIM, time::relative_time(now, need.since)),
        ]);
    }
    table
}

fn print_running(page: &mut Page, board: &Board, most: usize) {
    if board.running.items.is_empty() {
        return;
    }
    page.push_section("Running");
    let mut table = Table::new([
        Column::new("SIGN"),
        Column::new("NEW"),
        Column::new("ATOM"),
        Column::new("AGENT"),
        Column::new("ACTION").flexible(),
        Column::new("TURNS").align_right().hide_when_narrow(3),
        Column::new("TOOK").align_right(),
        Column::new("COST").align_right().hide_when_narrow(2),
        Column::new("SIGN").align_right().hide_when_narrow(1),
    ])
    .without_heading(0);
    for run in board.running.items.iter().take(most) {
        table.push_row(running_cells(run, board));
    }
    table.print_table(page);
    print_rest(page, &board.running, most, "el runs --live");
}

fn running_cells(run: &RunRow, board: &Board) -> [Cell; 9] {
    let now = board.now;
    let turns = if run.turns > 0 { runs::count_turns(run.turns) } else { String::new() };
    let action = run.action.as_deref().unwrap_or(&run.title);
    [
        Cell::styled(style::GOOD, style::status_mark("in_progress")),
        news_cell(board, Some(&run.atom_id)),
        Cell::styled(style::ID, &run.atom_id),
        Cell::styled(style::PERSON, runs::name_and_host(&run.agent, run.host.as_deref())),
        Cell::new(action),
        Cell::new(turns),
        Cell::new(time::format_span(now.since(run.started_at))),
        Cell::new(runs::format_cost(run.cost)),
        Cell::styled(style::DIM, time::relative_time(now, run.last_sign())),
    ]
}

/// Rows of atoms with a last cell.
fn atom_table<'a>(
    board: &Board,
    sign: impl Fn(&AtomRow) -> &'static str,
    rows: impl Iterator<Item = (&'a AtomRow, String, String)>,
) -> Table {
    let mut table = Table::new([
        Column::new("SIGN"),
        Column::new("NEW"),
        Column::new("ATOM"),
        Column::new("PRI"),
        Column::new("TITLE").flexible(),
        Column::new("WHAT").hide_when_narrow(1),
        Column::new("AGE").align_right().hide_when_narrow(2),
    ])
    .without_heading(0);
    for (atom, what, age) in rows {
        table.push_row([
            Cell::styled(style::DIM, sign(atom)),
            news_cell(board, Some(&atom.id)),
            Cell::styled(style::ID, &atom.id),
            Cell::priority(atom.priority),
            Cell::new(&atom.title),
            Cell::styled(style::DIM, what),
            Cell::styled(style::DIM, age),
        ]);
    }
    table
}

fn status_sign(atom: &AtomRow) -> &'static str {
    style::board_mark(atom.status)
}

fn print_ready(page: &mut Page, board: &Board, most: usize) {
    if board.ready.items.is_empty() {
        return;
    }
    let title = match board.workers {
        0 => "Ready (no worker runs: el work)",
        _ => "Ready",
    };
    page.push_section(title);
    let rows = board.ready.items.iter().take(most).map(|atom| {
        let who = atom.assignee.clone().unwrap_or_default();
        (atom, who, time::relative_time(board.now, atom.created_at))
    });
    atom_table(board, status_sign, rows).print_table(page);
    print_rest(page, &board.ready, most, "el ready");
}

fn print_waiting(page: &mut Page, board: &Board, most: usize) {
    if board.waiting.items.is_empty() {
        return;
    }
    page.push_section("Waiting");
    let rows = board.waiting.items.iter().take(most).map(|row| {
        let held = holds::briefly(&row.holds, board.now);
        (&row.atom, format!("for {held}"), String::new())
    });
    atom_table(board, |_| "‖", rows).print_table(page);
    print_rest(page, &board.waiting, most, "el list --waiting");
}

fn print_done(page: &mut Page, board: &Board, most: usize) {
    if board.done.items.is_empty() {
        return;
    }
    page.push_section("Done lately");
    let rows = board.done.items.iter().take(most).map(|row| {
        let by = row.last_run.as_ref().map_or_else(String::new, |run| {
            let cost = runs::format_cost(run.cost);
            format!("{} {cost}", run.agent).trim_end().to_owned()
        });
        let at = row.atom.closed_at.unwrap_or(row.atom.updated_at);
        (&row.atom, by, time::relative_time(board.now, at))
    });
    atom_table(board, status_sign, rows).print_table(page);
    print_rest(page, &board.done, most, "el list --status closed --sort updated");
}
