//! Draws the tasks of a plan, layer by layer. Of a large plan, only tasks that need a person, run,
//! or are next are listed singly.

use std::collections::{BTreeMap, HashMap, HashSet};

use el_core::count_noun;
use el_core::model::Timestamp;
use el_core::ops::{Overview, TaskView};
use el_core::rules::orchestrate::Question;
use el_core::rules::retry::RetryPolicy;
use unicode_width::UnicodeWidthStr as _;

use super::place::{TaskStage, brief_state, list_names, waiting_reasons};
use crate::output::{Page, sanitize, style, wrap};

/// A plan of no more tasks is shown whole.
const SMALL: usize = 20;
/// Tasks of each kind that are listed in a large plan.
const MOST: usize = 12;
/// Lines that a reason may take.
const LINES: usize = 2;

/// A plan and the options of its drawing.
pub(super) struct Drawing<'a> {
    pub(super) overview: &'a Overview,
    pub(super) now: Timestamp,
    pub(super) policy: Option<RetryPolicy>,
    /// List every task.
    pub(super) all: bool,
}

/// Tasks that are worked on at about the same time.
struct Layer<'a> {
    /// The number of the failed check that added the tasks.
    round: Option<usize>,
    /// Counts from 1.
    first: usize,
    last: usize,
    tasks: Vec<&'a TaskView>,
    shown: Vec<&'a TaskView>,
}

impl Drawing<'_> {
    pub(super) fn print_layers(&self, page: &mut Page) {
        let mut layers = plan_layers(self.overview);
        let is_whole = self.all || self.overview.tasks.len() <= SMALL;
        let mut left: HashMap<&str, usize> = HashMap::new();
        for layer in &mut layers {
            let is_shown = |task: &&&TaskView| {
                let place = TaskStage::from_task(task);
                let left = left.entry(place.word()).or_insert(MOST);
                is_whole
                    || place.is_notable() && std::mem::replace(left, left.saturating_sub(1)) > 0
            };
            layer.shown = layer.tasks.iter().filter(is_shown).copied().collect();
        }
        let layers = if is_whole { layers } else { join_quiet_layers(layers) };
        let shown: Vec<&TaskView> =
            layers.iter().flat_map(|layer| layer.shown.iter().copied()).collect();
        let columns = Columns::measure_columns(page, &shown, self.now);
        for layer in &layers {
            print_heading(page, layer);
            for task in &layer.shown {
                self.print_task(page, &columns, task);
            }
        }
        self.print_dropped(page, is_whole);
        let hidden = self.overview.tasks.len() - shown.len();
        if hidden > 0 {
            let text = format!(
                "{} of {} not shown one by one; --all shows all",
                hidden,
                count_noun(self.overview.tasks.len(), "task")
            );
            page.push_painted(style::DIM, &text);
        }
    }

    fn print_task(&self, page: &mut Page, columns: &Columns, task: &TaskView) {
        let place = TaskStage::from_task(task);
        let (mark, painted) = place.sign_and_style();
        let words = brief_state(task, self.now);
        let quiet = matches!(place, TaskStage::Done | TaskStage::Waiting | TaskStage::Held);
        columns.print_row(
            page,
            (mark, painted),
            &task.atom_id,
            &task.title,
            (&words, if quiet { style::DIM } else { painted }),
        );
        for reason in waiting_reasons(task, self.policy.as_ref()) {
            print_note(page, &reason);
        }
        if matches!(place, TaskStage::Failed | TaskStage::Blocked | TaskStage::Deferred) {
            let held = self.held_by(task);
            if !held.is_empty() {
                print_note(
                    page,
                    &format!("holds {}: {}", count_noun(held.len(), "task"), list_names(&held)),
                );
            }
        }
    }

    /// The tasks that wait for a task, directly or not, in the plan's order.
    fn held_by(&self, task: &TaskView) -> Vec<String> {
        let mut held: HashSet<&str> = HashSet::from([task.atom_id.as_str()]);
        let mut count = 0;
        while count != held.len() {
            count = held.len();
            let more = self
                .overview
                .tasks
                .iter()
                .filter(|task| task.waits_for.iter().any(|id| held.contains(id.as_str())));
            let more: Vec<&str> = more.map(|task| task.atom_id.as_str()).collect();
            held.extend(more);
        }
        held.remove(task.atom_id.as_str());
        self.overview
            .tasks
            .iter()
            .map(|task| &task.atom_id)
            .filter(|id| held.contains(id.as_str()))
            .cloned()
            .collect()
    }

    /// Prints the discarded tasks.
    fn print_dropped(&self, page: &mut Page, is_whole: bool) {
        let dropped = &self.overview.dropped;
        if dropped.is_empty() {
            return;
        }
        page.push_heading("Discarded");
        let most = if is_whole { usize::MAX } else { MOST };
        let ids = dropped.iter().map(|view| view.atom_id.width()).max().unwrap_or(0);
        for view in dropped.iter().take(most) {
            let title = view.title.as_deref().unwrap_or(&view.task_id);
            let why = view.reason.as_deref().map_or_else(String::new, |why| format!(": {why}"));
            let freed = if view.freed.is_empty() {
                String::new()
            } else {
                format!("; {} went on without it", list_names(&view.freed))
            };
            let text = format!("{title}{why}{freed}");
            let text = sanitize::one_line(&text);
            let text = fit_to_width(page, &text, 6 + ids);
            let id = page.paint(style::DIM, &format!("{:<ids$}", view.atom_id));
            let mark = page.paint(style::DIM, style::status_mark("wont_do"));
            page.push_line(format!("  {mark} {id}  {text}"));
        }
        if dropped.len() > most {
            page.push_line(format!("    and {} more", dropped.len() - most));
        }
    }
}

/// The plan's own layers, then the tasks of each check that failed.
fn plan_layers(overview: &Overview) -> Vec<Layer<'_>> {
    let mut layers: BTreeMap<(Option<usize>, usize), Vec<&TaskView>> = BTreeMap::new();
    for task in &overview.tasks {
        let place = match task.list.as_deref().and_then(Question::from_name) {
            Some(Question::Failures { round }) => (Some(round), 0),
            _ => (None, task.layer + 1),
        };
        layers.entry(place).or_default().push(task);
    }
    layers
        .into_iter()
        .map(|((round, layer), tasks)| Layer {
            round,
            first: layer,
            last: layer,
            tasks,
            shown: Vec::new(),
        })
        .collect()
}

/// Joins neighbouring layers in which all tasks are done, or all wait.
fn join_quiet_layers(layers: Vec<Layer<'_>>) -> Vec<Layer<'_>> {
    let all = |layer: &Layer<'_>, places: &[TaskStage]| {
        layer.round.is_none()
            && layer.shown.is_empty()
            && layer.tasks.iter().all(|task| places.contains(&TaskStage::from_task(task)))
    };
    let mut joined: Vec<Layer<'_>> = Vec::new();
    for layer in layers {
        match joined.last_mut() {
            Some(last)
                if [&[TaskStage::Done] as &[_], &[TaskStage::Waiting, TaskStage::Held]]
                    .iter()
                    .any(|of| all(last, of) && all(&layer, of)) =>
            {
                last.last = layer.last;
                last.tasks.extend(layer.tasks);
            }
            _ => joined.push(layer),
        }
    }
    joined
}

/// `Layer 2 · 7 tasks: 5 done, 2 waiting`.
fn print_heading(page: &mut Page, layer: &Layer<'_>) {
    let name = match layer.round {
        Some(round) => format!("Tasks of check {round}"),
        None if layer.first == layer.last => format!("Layer {}", layer.first),
        None => format!("Layers {}–{}", layer.first, layer.last),
    };
    let counts = count_places(layer.tasks.iter().copied());
    let counts = match counts.as_slice() {
        [(place, 1)] => format!("1 task, {}", place.word()),
        [(place, many)] => format!("{many} tasks, all {}", place.word()),
        counts => format!("{}: {}", count_noun(layer.tasks.len(), "task"), list_counts(counts)),
    };
    let counts = fit_to_width(page, &format!(" · {counts}"), name.width());
    let line = format!("{}{}", page.paint(style::TITLE, &name), page.paint(style::DIM, &counts));
    page.push_line(line);
}

/// The number of tasks at each place; places without tasks are left out.
pub(super) fn count_places<'a>(
    tasks: impl IntoIterator<Item = &'a TaskView>,
) -> Vec<(TaskStage, usize)> {
    let mut counts: BTreeMap<TaskStage, usize> = BTreeMap::new();
    for task in tasks {
        *counts.entry(TaskStage::from_task(task)).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// `5 done, 2 waiting`.
pub(super) fn list_counts(counts: &[(TaskStage, usize)]) -> String {
    let words: Vec<String> =
        counts.iter().map(|(place, many)| format!("{many} {}", place.word())).collect();
    words.join(", ")
}

/// A line below a task.
fn print_note(page: &mut Page, text: &str) {
    let text = sanitize::one_line(text).into_owned();
    let room = page.width().map(|width| width.saturating_sub(6));
    let lines = wrap::wrap_text(&text, room);
    for (n, line) in lines.iter().take(LINES).enumerate() {
        let is_cut = n + 1 == LINES && lines.len() > LINES;
        let line = if is_cut {
            fit_to_width(page, &format!("{line} {}", lines[n + 1]), 6)
        } else {
            line.to_string()
        };
        let line = page.paint(style::DIM, &line);
        page.push_line(format!("      {line}"));
    }
}

/// Cuts a text to the terminal's width less `taken` columns.
pub(super) fn fit_to_width(page: &Page, text: &str, taken: usize) -> String {
    page.width().map_or_else(
        || text.to_owned(),
        |width| sanitize::truncate_to(text, width.saturating_sub(taken)).into_owned(),
    )
}

/// The common widths of all rows of a view.
struct Columns {
    id: usize,
    title: usize,
    words: usize,
}

impl Columns {
    fn measure_columns(page: &Page, tasks: &[&TaskView], now: Timestamp) -> Columns {
        let widest =
            |of: &dyn Fn(&TaskView) -> usize| tasks.iter().map(|task| of(task)).max().unwrap_or(0);
        let id = widest(&|task| task.atom_id.width());
        let mut title = widest(&|task| sanitize::one_line(&task.title).width());
        let mut words = widest(&|task| brief_state(task, now).width());
        if let Some(width) = page.width() {
            let room = width.saturating_sub(4 + id + 2 + 2);
            words = words.min(room.saturating_sub(title).max(room / 2));
            title = title.min(room.saturating_sub(words));
        }
        Columns { id, title, words }
    }

    fn print_row(
        &self,
        page: &mut Page,
        mark: (&str, anstyle::Style),
        id: &str,
        title: &str,
        words: (&str, anstyle::Style),
    ) {
        let padded = |text: &str, width: usize| {
            let text = sanitize::truncate_to(text, width);
            format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
        };
        let id = page.paint(style::ID, &padded(id, self.id));
        let title = padded(&sanitize::one_line(title), self.title);
        let told =
            page.paint(words.1, &sanitize::truncate_to(&sanitize::one_line(words.0), self.words));
        let mark = page.paint(mark.1, mark.0);
        page.push_line(format!("  {mark} {id}  {title}  {told}"));
    }
}
