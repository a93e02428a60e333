//! The chosen row, and the shown rows of each part.

use el_core::model::{AtomRow, Priority, Status, Way};
use el_core::ops::Board;

use super::action::Prompt;
use crate::output::{board as words, holds, pull_requests, runs, sanitize, style, time};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Pane {
    #[default]
    Needs,
    Running,
    Ready,
    Detail,
}

impl Pane {
    pub(super) const LISTS: [Pane; 3] = [Pane::Needs, Pane::Running, Pane::Ready];

    fn index(self) -> usize {
        self as usize
    }
}

/// The meaning of a row's sign and colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Needs,
    Failed,
    Runs,
    Waits,
    /// An atom without a run, by its status.
    Atom(Status),
    /// A pull request.
    Pull,
}

impl Mark {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Mark::Needs => "!",
            Mark::Failed => "✗",
            Mark::Runs => "◐",
            Mark::Waits => "‖",
            Mark::Atom(status) => style::board_mark(status),
            Mark::Pull => "↗",
        }
    }
}

/// A row of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    /// Names the row for as long as it is there.
    pub(super) key: String,
    pub(super) mark: Mark,
    pub(super) atom: Option<String>,
    pub(super) kind: String,
    pub(super) text: String,
    /// At the right edge.
    pub(super) right: String,
    /// Others changed its atom since the person looked.
    pub(super) is_new: bool,
    pub(super) ways: Vec<Way>,
    pub(super) priority: Option<Priority>,
    /// The last run, or the one that goes on.
    pub(super) run: Option<String>,
    /// The cause in full.
    pub(super) cause: Option<String>,
}

impl Row {
    pub(super) fn has_key(&self, key: char) -> bool {
        self.ways.iter().any(|way| way.key.chars().eq([key]))
    }

    /// Returns true if the key stands for this.
    pub(super) fn has_way(&self, key: &str, label: &str) -> bool {
        self.ways.iter().any(|way| way.key == key && way.label == label)
    }

    /// The keys with their commands.
    pub(super) fn ways_lines(&self) -> Vec<String> {
        let line = |way: &Way| {
            let command = sanitize::one_line(&way.command);
            format!("  {}  {:<9} {command}", way.key, way.label)
        };
        self.ways.iter().map(line).collect()
    }

    fn has_text(&self, wanted: &str) -> bool {
        let all = [self.atom.as_deref().unwrap_or_default(), &self.kind, &self.text];
        all.iter().any(|text| text.to_lowercase().contains(wanted))
    }
}

/// A list, and the chosen row.
#[derive(Debug, Default)]
pub(super) struct List {
    rows: Vec<Row>,
    chosen: Option<String>,
    pub(super) total: String,
}

impl List {
    /// The rows that the filter leaves.
    pub(super) fn shown(&self, filter: &str) -> Vec<&Row> {
        let wanted = filter.to_lowercase();
        self.rows.iter().filter(|row| row.has_text(&wanted)).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn position(&self, filter: &str) -> Option<usize> {
        let shown = self.shown(filter);
        let last = shown.len().checked_sub(1)?;
        let found = shown.iter().position(|row| Some(&row.key) == self.chosen.as_ref());
        Some(found.unwrap_or(0).min(last))
    }

    pub(super) fn chosen(&self, filter: &str) -> Option<&Row> {
        self.shown(filter).get(self.position(filter)?).copied()
    }

    fn move_by(&mut self, by: isize, filter: &str) {
        let Some(at) = self.position(filter) else { return };
        let shown = self.shown(filter);
        let to = at.saturating_add_signed(by).min(shown.len() - 1);
        self.chosen = Some(shown[to].key.clone());
    }

    /// Takes new rows. The choice stays on the same row; if the row is gone, on the row in the same
    /// place.
    fn replace(&mut self, rows: Vec<Row>, total: String) {
        let at = self.position("").unwrap_or(0);
        let is_there = rows.iter().any(|row| Some(&row.key) == self.chosen.as_ref());
        if !is_there {
            self.chosen = rows.get(at.min(rows.len().saturating_sub(1))).map(|row| row.key.clone());
        }
        (self.rows, self.total) = (rows, total);
    }
}

/// Everything that is drawn.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) name: String,
    pub(super) board: Option<Board>,
    pub(super) lists: [List; 3],
    pub(super) focus: Pane,
    /// The list whose row the detail shows.
    pub(super) source: Pane,
    pub(super) filter: String,
    /// The last news: what a command said, or why the tracker cannot be read.
    pub(super) news: String,
    pub(super) is_lost: bool,
    pub(super) prompt: Option<Prompt>,
    pub(super) shows_help: bool,
    pub(super) has_color: bool,
    pub(super) is_busy: bool,
    /// The row that the detail is about, while it has the focus and the row is in no list any more.
    held: Option<Row>,
}

impl State {
    pub(super) fn new(name: String, has_color: bool) -> State {
        State { name, has_color, ..State::default() }
    }

    pub(super) fn list(&self, pane: Pane) -> &List {
        &self.lists[pane.index().min(2)]
    }

    /// The chosen row of the list that the detail belongs to.
    pub(super) fn chosen(&self) -> Option<&Row> {
        self.held.as_ref().or_else(|| self.list(self.source).chosen(&self.filter))
    }

    pub(super) fn move_by(&mut self, by: isize) {
        self.held = None;
        let filter = self.filter.clone();
        self.lists[self.source.index().min(2)].move_by(by, &filter);
    }

    pub(super) fn focus_on(&mut self, pane: Pane) {
        self.focus = pane;
        if pane != Pane::Detail {
            self.held = None;
            self.source = pane;
        }
    }

    /// Goes to the next need, from anywhere. The detail keeps the focus.
    pub(super) fn next_need(&mut self, by: isize) {
        let is_in = std::mem::replace(&mut self.source, Pane::Needs) == Pane::Needs;
        let was_held = self.held.take().is_some();
        if is_in && !was_held {
            self.move_by(by);
        }
        if self.focus != Pane::Detail {
            self.focus = Pane::Needs;
        }
    }

    pub(super) fn next_pane(&mut self, back: bool) {
        let all = [Pane::Needs, Pane::Running, Pane::Ready, Pane::Detail];
        let step = if back { 3 } else { 1 };
        self.focus_on(all[(self.focus.index() + step) % 4]);
    }

    /// Takes a board that was read just now.
    pub(super) fn set_board(&mut self, board: Board) {
        self.show_board(board);
        if std::mem::take(&mut self.is_lost) {
            self.news = "the tracker is back".to_owned();
        }
    }

    pub(super) fn show_board(&mut self, board: Board) {
        let total =
            |total: i64, is_capped: bool| format!("{total}{}", if is_capped { "+" } else { "" });
        let mut ready = total(board.ready.total, board.ready.capped);
        for (count, words) in [
            (board.waiting.total, "wait"),
            (board.held.total, "held"),
            (board.pull_requests.total, "pull requests"),
        ] {
            if count > 0 {
                ready.push_str(&format!(", {count} {words}"));
            }
        }
        let before = self.chosen().filter(|_| self.focus == Pane::Detail).cloned();
        self.lists[0].replace(need_rows(&board), total(board.needs.total, board.needs.capped));
        self.lists[1].replace(run_rows(&board), total(board.running.total, board.running.capped));
        self.lists[2].replace(ready_rows(&board), ready);
        self.board = Some(board);
        if let Some(before) = before {
            self.stay_with(before);
        }
    }
}

impl State {
    /// No row moves under the eyes: the detail stays with the atom, even in another list.
    fn stay_with(&mut self, before: Row) {
        self.held = None;
        let is_same = |row: &Row| match &before.atom {
            Some(atom) => row.atom.as_ref() == Some(atom),
            None => row.key == before.key,
        };
        if self.chosen().is_some_and(is_same) {
            return;
        }
        for pane in Pane::LISTS {
            let key = self.list(pane).shown(&self.filter).into_iter().find(|row| is_same(row));
            if let Some(key) = key.map(|row| row.key.clone()) {
                self.lists[pane.index()].chosen = Some(key);
                self.source = pane;
                return;
            }
        }
        // No action on it is left.
        self.held = Some(Row { ways: Vec::new(), mark: Mark::Waits, ..before });
    }
}

fn join(parts: [String; 3]) -> String {
    let shown: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    shown.join("  ")
}

fn is_new(board: &Board, atom: &str) -> bool {
    board.fresh.iter().any(|id| id == atom)
}

fn need_rows(board: &Board) -> Vec<Row> {
    let row = |need: &el_core::model::Need| Row {
        key: need.key.clone(),
        mark: if need.class == 4 { Mark::Failed } else { Mark::Needs },
        atom: need.atom_id.clone(),
        kind: words::need_word(need.kind).to_owned(),
        text: sanitize::one_line(&format!("{} — {}", need.title, need.why)).into_owned(),
        right: join([
            if need.frees > 0 { format!("frees {}", need.frees) } else { String::new() },
            runs::format_cost(need.cost),
            time::relative_time(board.now, need.since),
        ]),
        is_new: need.atom_id.as_ref().is_some_and(|id| is_new(board, id)),
        ways: need.ways.clone(),
        priority: need.priority,
        run: need.run_id.clone(),
        cause: Some(sanitize::one_line(&need.why).into_owned()),
    };
    board.needs.items.iter().map(row).collect()
}

fn run_rows(board: &Board) -> Vec<Row> {
    let row = |run: &el_core::model::RunRow| Row {
        key: run.id.clone(),
        mark: Mark::Runs,
        atom: Some(run.atom_id.clone()),
        kind: runs::name_and_host(&sanitize::one_line(&run.agent), run.host.as_deref()),
        text: sanitize::one_line(run.action.as_deref().unwrap_or(&run.title)).into_owned(),
        right: join([
            runs::format_cost(run.cost),
            time::format_span(board.now.since(run.started_at)),
            time::relative_time(board.now, run.last_sign()),
        ]),
        is_new: is_new(board, &run.atom_id),
        ways: Vec::new(),
        priority: None,
        run: Some(run.id.clone()),
        cause: None,
    };
    board.running.items.iter().map(row).collect()
}

/// The ready atoms, then those that wait, and those that people hold.
fn ready_rows(board: &Board) -> Vec<Row> {
    let age = |atom: &AtomRow| time::relative_time(board.now, atom.created_at);
    let row = |atom: &AtomRow, mark: Mark, right: String| Row {
        key: atom.id.clone(),
        mark,
        atom: Some(atom.id.clone()),
        kind: format!("P{}", atom.priority.value()),
        text: sanitize::one_line(&atom.title).into_owned(),
        right,
        is_new: is_new(board, &atom.id),
        ways: Vec::new(),
        priority: Some(atom.priority),
        run: None,
        cause: None,
    };
    let ready = board.ready.items.iter().map(|atom| row(atom, Mark::Atom(atom.status), age(atom)));
    let waiting = board.waiting.items.iter().map(|wait| {
        let held = holds::briefly(&wait.holds, board.now);
        row(&wait.atom, Mark::Waits, format!("for {held}"))
    });
    let held = board.held.items.iter();
    let held = held.map(|atom| row(atom, Mark::Atom(atom.status), words::held_words(atom)));
    let pulls = board.pull_requests.items.iter().map(|pull| {
        let one = &pull.pull_request;
        let says =
            format!("{} {}", pull_requests::number_text(one), pull_requests::state_words(one));
        row(&pull.atom, Mark::Pull, sanitize::one_line(&says).into_owned())
    });
    ready.chain(waiting).chain(held).chain(pulls).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::top) fn row(atom: Option<&str>) -> Row {
        Row {
            key: "k".into(),
            mark: Mark::Needs,
            atom: atom.map(str::to_owned),
            kind: String::new(),
            text: String::new(),
            right: String::new(),
            is_new: false,
            ways: Vec::new(),
            priority: None,
            run: None,
            cause: None,
        }
    }
}
