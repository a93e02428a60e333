//! Draws a plan: its phases, its tasks by layers, its checks, and the next step.

use anstyle::Style;
use el_core::ops::{Overview, PhaseView};
use el_core::protocol::words::join_command;
use el_core::rules::orchestrate::Question;
use unicode_width::UnicodeWidthStr as _;

use super::ending::Ending;
use super::layers::{Drawing, counts, fitted};
use super::place::{Place, failure, next_try};
use super::{status, words};
use crate::output::page::Page;
use crate::output::{atoms, sanitize, style, time};

/// Lines of a failed check's output that are shown.
const TAIL: usize = 8;

impl Drawing<'_> {
    pub(super) fn view(&self, page: &mut Page, ending: &Ending, driven: bool) {
        let overview = self.overview;
        let epic = &overview.epic;
        if page.quiet() {
            return overview.tasks.iter().for_each(|task| page.line(&task.atom_id));
        }
        let title = sanitize::line(&epic.title);
        let title = fitted(page, &title, 3 + epic.id.width());
        let head = atoms::one_line(page, epic.status.as_str(), &epic.id, &title);
        page.line(head);
        let state = if driven {
            format!("{}, driven just now", ending.state.words())
        } else {
            ending.state.words().to_owned()
        };
        let figures = fitted(page, &format!(" · {}", status::figures(overview)), 2 + state.width());
        let line =
            format!("  {}{}", page.paint(ending.style(), &state), page.paint(style::DIM, &figures));
        page.line(line);
        if !overview.tasks.is_empty() {
            page.paragraph(&words::tally(overview), 2);
        }
        page.blank();
        self.steps(page);
        if !(overview.tasks.is_empty() && overview.dropped.is_empty()) {
            page.blank();
            self.print(page);
        }
        self.checks(page);
        // While a process drives the plan, a person has no next step.
        if !driven {
            page.blank();
            ending.print(page);
        }
    }

    fn steps(&self, page: &mut Page) {
        let overview = self.overview;
        page.heading("Steps");
        let mut rows = Vec::new();
        for phase in &overview.phases {
            let look = match phase.state {
                "answered" | "in_words" => Place::Done.look(),
                "running" => Place::Running.look(),
                "asked" if phase.tries.failures > 0 => Place::Again.look(),
                "asked" => Place::Ready.look(),
                "stopped" => Place::Failed.look(),
                "not_needed" => Place::WontDo.look(),
                _ => Place::Waiting.look(),
            };
            rows.push((
                look,
                words::phase(&phase.name),
                phase.atom_id.as_deref().unwrap_or_default(),
                self.told(phase),
            ));
            if Question::from_name(&phase.name) == Some(Question::TaskList)
                && !overview.tasks.is_empty()
            {
                let (done, all) = (words::done(overview), overview.tasks.len());
                rows.push((
                    work_look(overview),
                    "work".to_owned(),
                    "",
                    vec![format!("{done} of {all} done")],
                ));
            }
        }
        if !overview.settings.check.is_empty() && overview.checks.is_empty() {
            rows.push((
                Place::Waiting.look(),
                "check".to_owned(),
                "",
                vec![join_command(&overview.settings.check)],
            ));
        }
        let wide = rows.iter().map(|(_, name, ..)| name.width()).max().unwrap_or(0);
        let ids = rows.iter().map(|(_, _, atom, _)| atom.width()).max().unwrap_or(0);
        for ((mark, painted), name, atom, told) in rows {
            let mut told = told.iter().map(|line| sanitize::line(line));
            let first = fitted(page, &told.next().unwrap_or_default(), 4 + wide + 2 + ids + 2);
            let atom = format!("{}{}", page.paint(style::ID, atom), " ".repeat(ids - atom.width()));
            let line = format!("  {} {name:<wide$}  {atom}  {first}", page.paint(painted, mark));
            page.line(line.trim_end());
            for line in told {
                let line = fitted(page, &line, 6);
                let line = page.paint(style::DIM, &line);
                page.line(format!("      {line}"));
            }
        }
    }

    /// The result of a phase, or the reason why there is none; a longer text takes further lines.
    fn told(&self, phase: &PhaseView) -> Vec<String> {
        let result = words::result(phase, self.overview);
        let failure = failure(&phase.tries, self.policy.as_ref());
        let mut lines = vec![match phase.state {
            "answered" => match (&phase.answered_by, phase.run_id.is_none()) {
                (Some(by), true) => {
                    let when = phase.answered_at.map_or_else(String::new, |at| {
                        format!(" {}", time::relative(self.now, at))
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

    fn checks(&self, page: &mut Page) {
        let overview = self.overview;
        if overview.checks.is_empty() {
            return;
        }
        page.blank();
        page.heading("Checks");
        let command = sanitize::line(&join_command(&overview.settings.check)).into_owned();
        for check in &overview.checks {
            let (place, word) =
                if check.passed { (Place::Done, "passed") } else { (Place::Failed, "failed") };
            let (mark, painted) = place.look();
            let when = time::relative(self.now, check.at);
            let text = fitted(page, &format!("{} {word} {when}  {command}", check.round), 4);
            page.line(format!("  {} {text}", page.paint(painted, mark)));
        }
        if let Some(last) = overview.checks.last().filter(|check| !check.passed) {
            let lines: Vec<&str> = last.output.lines().collect();
            for line in &lines[lines.len().saturating_sub(TAIL)..] {
                let line = fitted(page, &sanitize::line(line), 6);
                page.line(format!("      {line}").trim_end());
            }
        }
    }
}

fn work_look(overview: &Overview) -> (&'static str, Style) {
    // The most telling numbers come first.
    let mut places = counts(overview.tasks.iter()).into_iter().map(|(place, _)| place);
    let found = places.find(|place| !matches!(place, Place::Done | Place::WontDo));
    match found {
        Some(Place::Again | Place::Review | Place::Ready) => Place::Waiting.look(),
        Some(place) => place.look(),
        None => Place::Done.look(),
    }
}
