//! Draws a plan: the phases, the tasks by layers, the checks, and the next step.

use el_core::ops::{Overview, PhaseView};
use el_core::protocol::words::join_command;
use el_core::rules::orchestrate::Question;
use el_core::text::last_lines;
use unicode_width::UnicodeWidthStr as _;

use super::ending::Ending;
use super::layers::{Drawing, count_places, fit_to_width};
use super::place::{TaskStage, last_failure, next_try};
use super::{status, words};
use crate::output::{Page, atoms, sanitize, style, time};

/// Lines of a failed check's output that are shown.
const TAIL: usize = 8;

impl Drawing<'_> {
    pub(super) fn print_plan(&self, page: &mut Page, ending: &Ending, driven: bool) {
        let overview = self.overview;
        let epic = &overview.epic;
        if page.is_quiet() {
            return overview.tasks.iter().for_each(|task| page.push_line(&task.atom_id));
        }
        let title = sanitize::one_line(&epic.title);
        let title = fit_to_width(page, &title, 3 + epic.id.width());
        let head = atoms::one_line(page, epic.status.as_str(), &epic.id, &title);
        page.push_line(head);
        let state = if driven {
            format!("{}, driven just now", ending.state.plain_words())
        } else {
            ending.state.plain_words().to_owned()
        };
        let figures = fit_to_width(
            page,
            &format!(" · {}", status::cost_and_time(overview)),
            2 + state.width(),
        );
        let line =
            format!("  {}{}", page.paint(ending.style(), &state), page.paint(style::DIM, &figures));
        page.push_line(line);
        if !overview.tasks.is_empty() {
            page.push_paragraph(&words::tally_tasks(overview), 2);
        }
        page.push_blank();
        self.print_steps(page);
        if !(overview.tasks.is_empty() && overview.dropped.is_empty()) {
            page.push_blank();
            self.print_layers(page);
        }
        self.print_checks(page);
        // While a process drives the plan, a person has no next step.
        if !driven {
            page.push_blank();
            ending.print_ending(page);
        }
    }

    fn print_steps(&self, page: &mut Page) {
        let overview = self.overview;
        page.push_heading("Steps");
        let mut rows = Vec::new();
        for phase in &overview.phases {
            let stage = match phase.state {
                "answered" | "in_words" => TaskStage::Done,
                "running" => TaskStage::Running,
                "asked" if phase.tries.failures > 0 => TaskStage::Again,
                "asked" => TaskStage::Ready,
                "stopped" => TaskStage::Failed,
                "not_needed" => TaskStage::WontDo,
                _ => TaskStage::Waiting,
            };
            rows.push((
                stage,
                words::phase_name(&phase.name),
                phase.atom_id.as_deref().unwrap_or_default(),
                self.phase_lines(phase),
            ));
            if Question::from_name(&phase.name) == Some(Question::TaskList)
                && !overview.tasks.is_empty()
            {
                let (done, all) = (words::count_done(overview), overview.tasks.len());
                let told = vec![format!("{done} of {all} done")];
                rows.push((work_stage(overview), "work".to_owned(), "", told));
            }
        }
        if !overview.settings.check.is_empty() && overview.checks.is_empty() {
            let told = vec![join_command(&overview.settings.check)];
            rows.push((TaskStage::Waiting, "check".to_owned(), "", told));
        }
        let wide = rows.iter().map(|(_, name, ..)| name.width()).max().unwrap_or(0);
        let ids = rows.iter().map(|(_, _, atom, _)| atom.width()).max().unwrap_or(0);
        for (stage, name, atom, told) in rows {
            let (mark, painted) = stage.sign_and_style();
            let mut told = told.iter().map(|line| sanitize::one_line(line));
            let first =
                fit_to_width(page, &told.next().unwrap_or_default(), 4 + wide + 2 + ids + 2);
            let atom = format!("{}{}", page.paint(style::ID, atom), " ".repeat(ids - atom.width()));
            let line = format!("  {} {name:<wide$}  {atom}  {first}", page.paint(painted, mark));
            page.push_line(line.trim_end());
            for line in told {
                let line = fit_to_width(page, &line, 6);
                let line = page.paint(style::DIM, &line);
                page.push_line(format!("      {line}"));
            }
        }
    }

    /// The result of a phase, or the reason why there is none; a longer text takes further lines.
    fn phase_lines(&self, phase: &PhaseView) -> Vec<String> {
        let result = words::phase_result(phase, self.overview);
        let failure = last_failure(&phase.tries, self.policy.as_ref());
        let mut lines = vec![match phase.state {
            "answered" => match (&phase.answered_by, phase.run_id.is_none()) {
                (Some(by), true) => {
                    let when = phase.answered_at.map_or_else(String::new, |at| {
                        format!(" {}", time::relative_time(self.now, at))
                    });
                    format!("{result} (supplied by {by}{when})")
                }
                _ => result,
            },
            "in_words" => format!("{result} (in words only)"),
            "stopped" => "stopped".to_owned(),
            "not_needed" => "not needed: the list of tasks was supplied".to_owned(),
            "waiting" => String::new(),
            "asked" if failure.is_some() => {
                format!("tries again {}", next_try(&phase.tries, self.now))
            }
            "running" if phase.tries.attempts > 1 => {
                format!("running, attempt {}", phase.tries.attempts)
            }
            state => state.to_owned(),
        }];
        match (phase.state, &phase.fault) {
            ("stopped", Some(why)) => lines.push(why.clone()),
            ("asked" | "running", Some(why)) => {
                lines.push(format!("the last answer could not be used: {why}"))
            }
            _ => {}
        }
        if matches!(phase.state, "asked" | "stopped") {
            lines.extend(failure);
        }
        lines
    }

    fn print_checks(&self, page: &mut Page) {
        let overview = self.overview;
        if overview.checks.is_empty() {
            return;
        }
        page.push_section("Checks");
        let command = sanitize::one_line(&join_command(&overview.settings.check)).into_owned();
        for check in &overview.checks {
            let (place, word) = if check.passed {
                (TaskStage::Done, "passed")
            } else {
                (TaskStage::Failed, "failed")
            };
            let (mark, painted) = place.sign_and_style();
            let when = time::relative_time(self.now, check.at);
            let text = fit_to_width(page, &format!("{} {word} {when}  {command}", check.round), 4);
            page.push_line(format!("  {} {text}", page.paint(painted, mark)));
        }
        if let Some(last) = overview.checks.last().filter(|check| !check.passed) {
            for line in last_lines(&last.output, TAIL) {
                let line = fit_to_width(page, &sanitize::one_line(line), 6);
                page.push_line(format!("      {line}").trim_end());
            }
        }
    }
}

fn work_stage(overview: &Overview) -> TaskStage {
    // The most telling numbers come first.
    let mut places = count_places(&overview.tasks).into_iter().map(|(place, _)| place);
    match places.find(|place| !matches!(place, TaskStage::Done | TaskStage::WontDo)) {
        Some(TaskStage::Again | TaskStage::Review | TaskStage::Ready) => TaskStage::Waiting,
        Some(place) => place,
        None => TaskStage::Done,
    }
}
