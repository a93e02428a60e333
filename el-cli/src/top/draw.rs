//! Draws the state. Widths are columns; every text was made harmless before.

use el_core::ops::Board;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::detail::{Detail, View};
use super::lines::{Keep, Lines};
use super::state::{Mark, Pane, Row, State};
use crate::output::board::{counts_line, news_line, outlook_line};
use crate::output::sanitize;

/// Below this, only the focused part has room.
const SMALL: (u16, u16) = (60, 15);
/// From here on, the head says how long a person may go.
const ROOMY: u16 = 20;
/// From here on, the detail stands beside the lists.
const WIDE: u16 = 120;

/// The keys, for as many columns as there is room.
const HELP: [(&str, &str); 27] = [
    ("j k ↑ ↓", "move"),
    ("PgUp PgDn", "a page"),
    ("1 2 3 Tab", "the lists"),
    ("Enter", "into the detail"),
    ("Esc q", "back"),
    ("n N", "next need, before"),
    ("/", "filter; Esc clears"),
    ("m", "all of it is seen"),
    ("i w t", "text, why, attempts"),
    ("l d g", "log, diff, graph"),
    ("?", "these keys"),
    ("q", "quit"),
    ("+", "new atom"),
    ("s S", "start, stop workers"),
    ("a", "approve"),
    ("r", "reject: a reason"),
    ("c", "answer, comment"),
    ("A", "answer and reopen"),
    ("R", "retry"),
    ("x", "end run, won't do"),
    ("X", "discard"),
    ("p", "priority"),
    ("z", "put off"),
    ("e", "edit"),
    ("u", "undo"),
    ("o", "attach to session"),
    ("L", "land"),
];
/// Columns of a key and its text.
const HELP_WIDTH: u16 = 30;

/// The colours: three hues that colour-blind people tell apart, each with a sign.
fn mark_style(mark: Mark, has_color: bool) -> Style {
    let style = Style::new();
    let color = match mark {
        Mark::Needs => Color::Yellow,
        Mark::Failed => Color::LightRed,
        Mark::Runs => Color::LightBlue,
        Mark::Waits | Mark::Atom(_) | Mark::Pull => return style,
    };
    if has_color { style.fg(color) } else { style.add_modifier(Modifier::BOLD) }
}

/// The height that the detail had, for scrolling by pages.
pub(super) fn draw_state(frame: &mut Frame<'_>, state: &State, detail: &mut Detail) -> u16 {
    let area = frame.area();
    let foot = foot_lines(state, area.width);
    let foot_height = u16::try_from(foot.len()).unwrap_or(1);
    let [head, body, below] = Layout::vertical([
        Constraint::Length(if area.height < ROOMY { 1 } else { 2 }),
        Constraint::Min(0),
        Constraint::Length(foot_height),
    ])
    .areas(area);
    draw_head(frame, state, head);
    frame.render_widget(Paragraph::new(foot).style(bold()), below);
    let is_wide = area.width >= WIDE && area.height >= SMALL.1;
    let height = if state.focus == Pane::Detail && !is_wide {
        draw_detail(frame, state, detail, body)
    } else if area.width < SMALL.0 || area.height < SMALL.1 {
        draw_list(frame, state, state.focus, body);
        body.height.saturating_sub(1)
    } else if is_wide {
        let [left, _, right] = Layout::horizontal([
            Constraint::Percentage(50),
            Constraint::Length(1),
            Constraint::Min(0),
        ])
        .areas(body);
        draw_lists(frame, state, left);
        draw_detail(frame, state, detail, right)
    } else {
        // The detail has a third of the screen, and what the lists leave.
        let rows: usize = Pane::LISTS.map(|pane| state.list(pane).len().max(1) + 1).iter().sum();
        let most = body.height.saturating_sub(body.height / 3).max(9);
        let lists = u16::try_from(rows).map_or(most, |rows: u16| rows.min(most));
        let [top, bottom] =
            Layout::vertical([Constraint::Length(lists), Constraint::Min(0)]).areas(body);
        draw_lists(frame, state, top);
        draw_detail(frame, state, detail, bottom)
    };
    if state.shows_help {
        draw_help(frame, body);
    }
    height
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

fn draw_lists(frame: &mut Frame<'_>, state: &State, area: Rect) {
    // Each list has its title and a row; the rest goes where rows are, the focused list first.
    let mut heights = [2_u16; 3];
    let mut left = area.height.saturating_sub(6);
    let wanted = Pane::LISTS
        .map(|pane| u16::try_from(state.list(pane).len()).unwrap_or(u16::MAX).saturating_add(1));
    while left > 0 {
        let before = left;
        for at in 0..3 {
            if left > 0 && heights[at] < wanted[at] {
                heights[at] += 1;
                left -= 1;
            }
        }
        if left == before {
            heights[2] += left;
            left = 0;
        }
    }
    let areas: [Rect; 3] = Layout::vertical(heights.map(Constraint::Length)).areas(area);
    for (pane, area) in Pane::LISTS.into_iter().zip(areas) {
        draw_list(frame, state, pane, area);
    }
}

fn title_line(title: &str, right: &str, width: u16, is_focused: bool) -> Line<'static> {
    let used = title.width() + right.width() + 4;
    let rule = "─".repeat(usize::from(width).saturating_sub(used));
    let style = if is_focused { bold() } else { dim() };
    Line::styled(format!("─ {title} {rule} {right}"), style)
}

fn draw_list(frame: &mut Frame<'_>, state: &State, pane: Pane, area: Rect) {
    let (number, name, empty) = match pane {
        Pane::Running => (2, "Running", "nothing runs"),
        Pane::Ready => (3, "Ready", "nothing is ready"),
        _ => (1, "Needs you", "nothing needs you"),
    };
    let list = state.list(pane);
    let rows = list.shown(&state.filter);
    let right = match state.filter.as_str() {
        "" => list.total.clone(),
        filter => format!("{} of {}: /{filter}", rows.len(), list.total),
    };
    let mut lines =
        vec![title_line(&format!("{number} {name}"), &right, area.width, state.focus == pane)];
    let height = usize::from(area.height.saturating_sub(1));
    let chosen = list.position(&state.filter).unwrap_or(0);
    let first = (chosen + 1).saturating_sub(height);
    let shown = || rows.iter().enumerate().skip(first).take(height);
    let widest = |of: fn(&Row) -> &str| shown().map(|(_, row)| of(row).width()).max().unwrap_or(0);
    let columns =
        [widest(|row| row.atom.as_deref().unwrap_or_default()), widest(|row| row.kind.as_str())];
    for (at, row) in shown() {
        let is_chosen = at == chosen && state.source == pane;
        lines.push(row_line(row, columns, area.width, is_chosen, state));
    }
    if rows.is_empty() {
        let text = match (state.board.is_none(), list.len()) {
            (true, _) => "reading…".to_owned(),
            (false, 0) => empty.to_owned(),
            (false, hidden) => format!("the filter hides {hidden}; Esc clears it"),
        };
        lines.push(Line::styled(format!("   {text}"), dim()));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn row_line<'a>(
    row: &'a Row,
    [id, kind]: [usize; 2],
    width: u16,
    is_chosen: bool,
    state: &State,
) -> Line<'a> {
    let pointer = if is_chosen { "▸" } else { " " };
    let width = usize::from(width);
    let name = row.atom.as_deref().unwrap_or_default();
    let head = format!(" {name:<id$}  {:<kind$}", row.kind);
    let room = width.saturating_sub(3 + head.width());
    // The right edge goes first where there is no room.
    let right = if row.right.width() + 16 <= room { row.right.as_str() } else { "" };
    let left = room.saturating_sub(right.width() + if right.is_empty() { 0 } else { 2 });
    let news = if row.is_new { "new " } else { "" };
    let left = left.saturating_sub(2 + news.width());
    let text = sanitize::truncate_to(&row.text, left).into_owned();
    let used = 2 + head.width() + 2 + news.width() + text.width() + right.width();
    let gap = width.saturating_sub(used);
    let line = Line::from(vec![
        Span::raw(pointer),
        Span::styled(row.mark.sign(), mark_style(row.mark, state.has_color)),
        Span::raw(head),
        Span::raw("  "),
        Span::styled(news, bold()),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(right, dim()),
    ]);
    if is_chosen { line.patch_style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

fn draw_detail(frame: &mut Frame<'_>, state: &State, detail: &mut Detail, area: Rect) -> u16 {
    let height = area.height.saturating_sub(1);
    detail.set_width(usize::from(area.width));
    let views = View::ALL.map(|(view, name, key)| match detail.view() == Some(view) {
        true => format!("[{key} {name}]"),
        false => format!("{key} {name}"),
    });
    let title = detail_title(state, detail, usize::from(height));
    let right = sanitize::truncate_to(
        &views.join(" "),
        usize::from(area.width).saturating_sub(title.width() + 5),
    )
    .into_owned();
    let mut lines = vec![title_line(&title, &right, area.width, state.focus == Pane::Detail)];
    let is_diff = detail.view() == Some(View::Diff);
    for row in detail.window(usize::from(height)) {
        let style = match row.first {
            b'+' if is_diff && state.has_color => Style::new().fg(Color::LightBlue),
            b'-' if is_diff && state.has_color => Style::new().fg(Color::LightRed),
            b'd' | b'@' if is_diff => bold(),
            _ => Style::new(),
        };
        lines.push(Line::styled(row.text.as_str(), style));
    }
    frame.render_widget(Paragraph::new(lines), area);
    height
}

/// The atom, and which of its lines are shown.
fn detail_title(state: &State, detail: &Detail, height: usize) -> String {
    let atom = state.chosen().and_then(|row| row.atom.as_deref()).unwrap_or_default();
    let (shown, all) = detail.place(height);
    let place = match (detail.is_following(), all > height) {
        (true, _) => " · follows".to_owned(),
        (false, true) => {
            let more = if detail.is_cut() { "+" } else { "" };
            format!(" · {}–{} of {all}{more}", shown.start + 1, shown.end)
        }
        (false, false) => String::new(),
    };
    format!("4 {atom}{place}")
}

fn draw_head(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let width = usize::from(area.width);
    let counts = state.board.as_ref().map(counts_line).unwrap_or_default();
    let left = format!(" {}  ", state.name);
    let stale = if state.is_lost { "  stale" } else { "" };
    let used = left.width() + counts.width() + stale.width();
    let news = state.board.as_ref().and_then(news_line).unwrap_or_default();
    let mut lines = vec![Line::from(vec![
        Span::styled(left, bold()),
        Span::raw(counts),
        Span::styled(stale, bold()),
    ])];
    // The news are at the right edge, or where there is room for them below.
    let has_room = used + 2 + news.width() < width;
    if has_room && !news.is_empty() {
        let gap = width - used - news.width() - 1;
        lines[0].push_span(Span::styled(format!("{}{news}", " ".repeat(gap)), bold()));
    }
    let outlook = state.board.as_ref().and_then(outlook_of).unwrap_or_default();
    let parts = [if has_room { String::new() } else { news }, outlook];
    let below = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let below = sanitize::one_line(&below);
    lines.push(Line::styled(
        format!(" {}", sanitize::truncate_to(&below, width.saturating_sub(2))),
        dim(),
    ));
    frame.render_widget(Paragraph::new(lines), area);
}

/// Names the obstacle to all workers, or how long a person may go.
fn outlook_of(board: &Board) -> Option<String> {
    let held_back = board.held_back.as_ref().map(|why| format!("The worker holds back: {why}"));
    held_back.or_else(|| outlook_line(board))
}

/// Rows that the foot may take.
const FOOT: usize = 4;

/// Returns the question, or the last message, in full; else the keys of the chosen row.
fn foot_lines(state: &State, width: u16) -> Vec<Line<'static>> {
    let keys = |text: String, rest: &str| {
        let all = format!("{text}{rest}");
        if all.width() < usize::from(width) { all } else { format!("{text}? keys") }
    };
    let text = if let Some(prompt) = &state.prompt {
        format!("{}{}▏", prompt.question, prompt.typed)
    } else if state.is_busy {
        "working…".to_owned()
    } else if !state.news.is_empty() {
        state.news.clone()
    } else if state.focus == Pane::Detail {
        keys(format!("Esc back  {}", ways_text(state)), "j k scroll  ? keys")
    } else {
        keys(ways_text(state), "/ filter  ? keys  q quit")
    };
    let mut lines = Lines::new(usize::from(width).saturating_sub(1), 1, usize::MAX);
    lines.push(&text, Keep::First);
    // The typed text, or the last message, is at the end.
    let first = lines.len().saturating_sub(FOOT);
    lines.window(first..lines.len()).map(|row| Line::raw(format!(" {}", row.text))).collect()
}

/// The keys of the chosen row.
fn ways_text(state: &State) -> String {
    let ways = state.chosen().map(|row| row.ways.as_slice()).unwrap_or_default();
    let mut text = String::new();
    for way in ways {
        text.push_str(&format!("{} {}  ", way.key, way.label));
    }
    let is_of = |pane| state.source == pane && state.chosen().is_some();
    if !ways.is_empty() {
        return text;
    }
    let keys = match state.board {
        Some(_) if is_of(Pane::Running) => "l log  o attach  x cancel  ",
        Some(_) if is_of(Pane::Ready) => "i text  p priority  z put off  + new  s start  ",
        Some(_) => "+ new  s start a worker  ",
        None => "",
    };
    keys.to_owned()
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    let columns = usize::from(area.width / HELP_WIDTH).clamp(1, 3);
    let rows = HELP.len().div_ceil(columns);
    let lines = (0..rows).map(|row| {
        let cells = (row..HELP.len()).step_by(rows).map(|at| {
            let (keys, text) = HELP[at];
            [Span::styled(format!(" {keys:<9} "), bold()), Span::raw(format!("{text:<19}"))]
        });
        Line::from(cells.flatten().collect::<Vec<_>>())
    });
    frame.render_widget(Paragraph::new(lines.collect::<Vec<_>>()), area);
}
