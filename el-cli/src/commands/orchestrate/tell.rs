//! Reports to people or programs while a plan is driven.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use el_agents::clock;
use el_agents::worker::{self, Live, Report};
use el_core::Store;
use el_core::model::Timestamp;
use el_core::ops::{self, Overview};
use el_core::rules::orchestrate::Step;
use el_core::text::last_lines;
use serde::Serialize;

use super::begin::StartedPlan;
use super::ending::atom_of;
use super::layers::fit_to_width;
use super::words;
use crate::commands::work::live;
use crate::output::{Printer, sanitize, style, time};
use crate::{App, Result};

/// Lines of a failed check's output that are shown.
const TAIL: usize = 12;

pub(super) struct PlanReporter<'a> {
    printer: &'a Printer,
    lines: live::Listener<'a>,
    store: Store,
    epic: String,
    /// Answers that were told, or were there before.
    told: HashSet<String>,
    has_started: bool,
    looked_at: Duration,
}

/// Events of `--robot` beside the worker's events.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum PlanEvent<'a> {
    /// The plan is driven from now on.
    Orchestrating {
        epic: &'a str,
        title: &'a str,
        plan_only: bool,
    },
    CheckStarted {
        epic: &'a str,
        round: usize,
        command: &'a str,
        folder: &'a Path,
    },
    CheckEnded {
        epic: &'a str,
        round: usize,
        passed: bool,
        output: &'a str,
    },
}

impl<'a> PlanReporter<'a> {
    pub(super) fn new(app: &'a App, began: &StartedPlan) -> Result<PlanReporter<'a>> {
        let store = app.open_for_reading()?;
        let epic = began.epic.id.clone();
        let overview = ops::plan_overview(&store, &epic)?;
        let told = overview
            .phases
            .iter()
            .filter(|phase| phase.data.is_some())
            .map(|phase| phase.name.clone())
            .collect();
        let mut teller = PlanReporter {
            printer: &app.printer,
            lines: live::Listener::new(&app.printer),
            store,
            epic,
            told,
            has_started: false,
            looked_at: Duration::ZERO,
        };
        let title = &began.epic.title;
        if app.printer.is_robot() {
            teller.print_happening(&PlanEvent::Orchestrating {
                epic: &teller.epic,
                title,
                plan_only: began.plan_only,
            });
        } else if !app.printer.new_page().is_quiet() {
            let epic = teller.epic.clone();
            teller.lines.print_above(|page| {
                let id = page.paint(style::ID, &epic);
                let title = fit_to_width(page, &sanitize::one_line(title), epic.len() + 1);
                page.push_line(format!("{id} {}", page.paint(style::TITLE, &title)));
            });
        }
        Ok(teller)
    }

    /// Takes the live lines away.
    pub(super) fn clear_live_lines(&mut self) {
        self.lines.clear_live_lines();
    }

    pub(super) fn check_begins(&mut self, round: usize, command: &str, folder: &Path) {
        self.looked_at = Duration::ZERO;
        if self.printer.is_robot() {
            return self.print_happening(&PlanEvent::CheckStarted {
                epic: &self.epic,
                round,
                command,
                folder,
            });
        }
        if self.printer.new_page().is_quiet() {
            return;
        }
        self.lines.print_above(|page| {
            let folder = page.paint(style::DIM, &format!("in {}", sanitize::path_line(folder)));
            page.push_line(format!("▶ check {round}: {} {folder}", sanitize::one_line(command)));
        });
    }

    pub(super) fn check_goes_on(&mut self, command: &str, elapsed: Duration) {
        let is_due = elapsed.saturating_sub(self.looked_at) >= Duration::from_secs(1);
        if self.printer.is_robot() || !self.printer.is_terminal() || !is_due {
            return;
        }
        self.looked_at = elapsed;
        self.lines.show_live_line(&format!(
            "◐ {} {}",
            time::format_span(elapsed),
            sanitize::one_line(command)
        ));
    }

    pub(super) fn check_ended(&mut self, round: usize, passed: bool, output: &str) {
        if self.printer.is_robot() {
            return self.print_happening(&PlanEvent::CheckEnded {
                epic: &self.epic,
                round,
                passed,
                output,
            });
        }
        if self.printer.new_page().is_quiet() {
            return;
        }
        self.lines.print_above(|page| {
            if passed {
                let mark = page.paint(style::GOOD, "✓");
                return page.push_line(format!("{mark} check {round}: passed"));
            }
            let mark = page.paint(style::WARNING, "✗");
            page.push_line(format!("{mark} check {round}: failed"));
            for line in last_lines(output, TAIL) {
                page.push_line(format!("    {}", sanitize::one_line(line)));
            }
        });
    }

    fn print_happening(&self, event: &PlanEvent<'_>) {
        // A reader that went away must not end the plan's driving.
        let _ = self.printer.json_line(&live::Line { at: clock::now(), event });
    }

    /// Reports a step, and the answers since the last step.
    fn report_step(&mut self, step: &Step) {
        let Ok(overview) = ops::plan_overview(&self.store, &self.epic) else { return };
        let mut lines = self.new_answers(&overview);
        match step {
            Step::AwaitAnswer { question } => {
                let name = question.storage_name();
                let asked =
                    format!("asked as {}", atom_of(&overview, *question).unwrap_or_default());
                lines.push(("▶", style::PLAIN, words::phase_name(&name), asked));
            }
            Step::AwaitWork { .. } => {
                lines.push(("▶", style::PLAIN, "work".to_owned(), words::tally_tasks(&overview)))
            }
            // The end and the check have reports of their own.
            _ => {}
        }
        self.lines.print_above(|page| {
            for (mark, style, what, rest) in lines {
                let text = fit_to_width(page, &format!("{what}: {}", sanitize::one_line(&rest)), 2);
                page.push_line(format!("{} {text}", page.paint(style, mark)));
            }
        });
    }

    fn new_answers(
        &mut self,
        overview: &Overview,
    ) -> Vec<(&'static str, anstyle::Style, String, String)> {
        let mut lines = Vec::new();
        for phase in overview.phases.iter().filter(|phase| phase.data.is_some()) {
            if !self.told.insert(phase.name.clone()) {
                continue;
            }
            let mut result = words::phase_result(phase, overview);
            let is_filed =
                overview.tasks.iter().any(|task| task.list.as_deref() == Some(&phase.name));
            if is_filed {
                result.push_str(if result.starts_with("1 task ") {
                    " is filed"
                } else {
                    " are filed"
                });
            }
            lines.push(("✓", style::GOOD, words::phase_name(&phase.name), result));
        }
        lines
    }
}

impl worker::Listener for PlanReporter<'_> {
    fn report(&mut self, report: &Report) {
        if !self.printer.is_robot() {
            if self.printer.new_page().is_quiet() {
                if let Report::Warning { message } = report {
                    self.printer.warn(message);
                }
                return;
            }
            match report {
                Report::Step { step, .. } => return self.report_step(step),
                // The worker starts again after each check; a person sees a single continuous run.
                Report::Started { .. } if std::mem::replace(&mut self.has_started, true) => return,
                Report::Finished { .. } => return,
                _ => {}
            }
        }
        self.lines.report(report);
    }

    fn live(&mut self, now: Timestamp, live: &[Live]) {
        self.lines.live(now, live);
    }

    fn wants_live(&self) -> bool {
        self.lines.wants_live()
    }
}
