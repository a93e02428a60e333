//! Draws the state. Widths are columns; every text was made harmless before.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Wrap};
use unicode_width::UnicodeWidthStr as _;

use super::detail::{Detail, View};
use super::state::{Mark, Pane, Row, State};
use crate::output::board::counts_line;
use crate::output::sanitize;

/// Below this, only the focused part has room.
const SMALL: (u16, u16) = (60, 15);
/// From here on, the detail stands beside the lists.
const WIDE: u16 = 120;

const HELP: &str = "\
j k ↑ ↓       move                  1 2 3 4 Tab  needs you, running, ready, detail
PgUp PgDn     a page                Enter Esc    into the detail, and back
n N           next need, the one before          /  filter, Esc clears it
i w t l d g   text, why, attempts, log, diff, what it waits for

a  approve             r  reject, with a reason       c  answer, and reopen
R  retry               x  cancel, won't do              X  discard
p  priority            z  put off                     +  new atom
o  attach              L  land                        s S  start, stop workers
e  the setting that allows it                    ?  these keys     q  quit";

/// The colours: three hues that colour-blind people tell apart, each with a sign.
fn mark_style(mark: Mark, has_color: bool) -> Style {
    let style = Style::new();
    let color = match mark {
        Mark::Needs => Color::Yellow,
        Mark::Failed => Color::LightRed,
        Mark::Runs => Color::LightBlue,
        Mark::Ready | Mark::Waits => return style,
    };
    if has_color { style.fg(color) } else { style.add_modifier(Modifier::BOLD) }
}

/// The height that the detail had, for scrolling by pages.
pub(super) fn draw_state(frame: &mut Frame<'_>, state: &State, detail: &Detail) -> u16 {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Min(0), Constraint::Length(1)])
            .areas(area);
    draw_head(frame, state, head);
    draw_foot(frame, state, foot);
    let height = if area.width < SMALL.0 || area.height < SMALL.1 {
        draw_one(frame, state, detail, body)
    } else if area.width >= WIDE {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(50), Constraint::Min(0)]).areas(body);
        draw_lists(frame, state, left);
        draw_detail(frame, state, detail, right)
    } else {
        let lists = body.height.saturating_sub(body.height / 3).max(9);
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

fn draw_one(frame: &mut Frame<'_>, state: &State, detail: &Detail, area: Rect) -> u16 {
    if state.focus == Pane::Detail {
        return draw_detail(frame, state, detail, area);
    }
    draw_list(frame, state, state.focus, area);
    area.height.saturating_sub(1)
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
    let style = match is_focused {
        true => Style::new().add_modifier(Modifier::BOLD),
        false => Style::new().add_modifier(Modifier::DIM),
    };
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
    for (at, row) in rows.iter().enumerate().skip(first).take(height) {
        let is_chosen = at == chosen && state.source == pane;
        lines.push(row_line(row, area.width, is_chosen, state));
    }
    if rows.is_empty() {
        let text = match (state.board.is_none(), list.len()) {
            (true, _) => "reading…".to_owned(),
            (false, 0) => empty.to_owned(),
            (false, hidden) => format!("the filter hides {hidden}; Esc clears it"),
        };
        lines.push(Line::styled(format!("   {text}"), Style::new().add_modifier(Modifier::DIM)));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

fn row_line<'a>(row: &'a Row, width: u16, is_chosen: bool, state: &State) -> Line<'a> {
    let pointer = if is_chosen { "▸" } else { " " };
    let id = row.atom.as_deref().unwrap_or_default();
    let width = usize::from(width);
    let mut head = format!(" {id}");
    if !row.kind.is_empty() {
        head.push_str(&format!("  {}", row.kind));
    }
    let room = width.saturating_sub(3 + head.width());
    // The right edge goes first where there is no room.
    let right = if row.right.width() + 16 <= room { row.right.as_str() } else { "" };
    let left = room.saturating_sub(right.width() + if right.is_empty() { 0 } else { 2 });
    let text = sanitize::truncate_to(&row.text, left.saturating_sub(2)).into_owned();
    let gap = width.saturating_sub(2 + head.width() + 2 + text.width() + right.width());
    let line = Line::from(vec![
        Span::raw(pointer),
        Span::styled(row.mark.sign(), mark_style(row.mark, state.has_color)),
        Span::raw(head),
        Span::raw("  "),
        Span::raw(text),
        Span::raw(" ".repeat(gap)),
        Span::styled(right, Style::new().add_modifier(Modifier::DIM)),
    ]);
    if is_chosen { line.patch_style(Style::new().add_modifier(Modifier::REVERSED)) } else { line }
}

fn draw_detail(frame: &mut Frame<'_>, state: &State, detail: &Detail, area: Rect) -> u16 {
    let views = View::ALL.map(|(view, name, key)| match detail.view == Some(view) {
        true => format!("[{key} {name}]"),
        false => format!("{key} {name}"),
    });
    let title = format!("4 {}", detail.atom);
    let right = sanitize::truncate_to(
        &views.join(" "),
        usize::from(area.width).saturating_sub(title.width() + 5),
    )
    .into_owned();
    let mut lines = vec![title_line(&title, &right, area.width, state.focus == Pane::Detail)];
    let height = area.height.saturating_sub(1);
    let is_diff = detail.view == Some(View::Diff);
    for line in detail.window(usize::from(height)) {
        let style = match line.as_bytes().first() {
            Some(b'+') if is_diff && state.has_color => Style::new().fg(Color::LightBlue),
            Some(b'-') if is_diff && state.has_color => Style::new().fg(Color::LightRed),
            _ => Style::new(),
        };
        lines.push(Line::styled(line.as_str(), style));
    }
    frame.render_widget(Paragraph::new(lines), area);
    height
}

fn draw_head(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let counts = state.board.as_ref().map(counts_line).unwrap_or_default();
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let line = Line::from(vec![
        Span::styled(format!(" {}  ", state.name), bold),
        Span::raw(counts),
        Span::styled(if state.is_lost { "  stale" } else { "" }, bold),
    ]);
    frame.render_widget(Paragraph::new(line), area);
}

fn draw_foot(frame: &mut Frame<'_>, state: &State, area: Rect) {
    let text = if let Some(prompt) = &state.prompt {
        format!(" {}{}▏", prompt.question, prompt.typed)
    } else if state.is_busy {
        " working…".to_owned()
    } else if !state.news.is_empty() {
        format!(" {}", state.news)
    } else {
        format!(" {}/ filter  ? keys  q quit", ways_text(state))
    };
    let style = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}

/// The keys of the chosen row.
fn ways_text(state: &State) -> String {
    let ways = state.chosen().map(|row| row.ways.as_slice()).unwrap_or_default();
    let mut text = String::new();
    for way in ways {
        text.push_str(&format!("{} {}  ", way.key, way.label));
    }
    if ways.is_empty() && state.source == Pane::Running {
        text.push_str("l log  o attach  x cancel  ");
    } else if ways.is_empty() {
        text.push_str("+ new  s start  ");
    }
    text
}

fn draw_help(frame: &mut Frame<'_>, area: Rect) {
    frame.render_widget(Clear, area);
    frame.render_widget(Paragraph::new(HELP).wrap(Wrap { trim: false }), area);
}
