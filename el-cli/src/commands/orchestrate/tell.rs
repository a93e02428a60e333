//! Reports to people or programs while a plan is driven.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use el_agents::worker::{self, Live, Report};
use el_core::Store;
use el_core::model::Timestamp;
use el_core::ops::{self, Overview};
use el_core::rules::orchestrate::Step;
use serde::Serialize;

use super::begin::Began;
use super::layers::fitted;
use super::words;
use crate::app::App;
use crate::commands::work::live;
use crate::error::Result;
use crate::output::printer::Printer;
use crate::output::{sanitize, style, time};

/// Lines of a failed check's output that are shown.
const TAIL: usize = 12;

pub(super) struct Teller<'a> {
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
enum Happening<'a> {
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

#[derive(Serialize)]
struct Line<'a> {
    at: Timestamp,
    #[serde(flatten)]
    happening: &'a Happening<'a>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(app: &'a App, began: &Began) -> Result<Teller<'a>> {
        let store = app.reader()?;
        let epic = began.epic.id.clone();
        let overview = ops::plan_overview(&store, &epic)?;
        let told = overview
            .phases
            .iter()
            .filter(|phase| phase.data.is_some())
            .map(|phase| phase.name.clone())
            .collect();
        let mut teller = Teller {
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
            teller.line(&Happening::Orchestrating {
                epic: &teller.epic,
                title,
                plan_only: began.plan_only,
            });
        } else if !app.printer.page().quiet() {
            let epic = teller.epic.clone();
            teller.lines.say(|page| {
                let id = page.paint(style::ID, &epic);
                let title = fitted(page, &sanitize::line(title), epic.len() + 1);
                page.line(format!("{id} {}", page.paint(style::TITLE, &title)));
            });
        }
        Ok(teller)
    }

    /// Takes the live lines away.
    pub(super) fn finish(&mut self) {
        self.lines.finish();
    }

    pub(super) fn check_begins(&mut self, round: usize, command: &str, folder: &Path) {
        self.looked_at = Duration::ZERO;
        if self.printer.is_robot() {
            return self.line(&Happening::CheckStarted {
                epic: &self.epic,
                round,
                command,
                folder,
            });
        }
        if self.printer.page().quiet() {
            return;
        }
        self.lines.say(|page| {
            let folder = page.paint(style::DIM, &format!("in {}", sanitize::path(folder)));
            page.line(format!("▶ check {round}: {} {folder}", sanitize::line(command)));
        });
    }

    pub(super) fn check_goes_on(&mut self, command: &str, elapsed: Duration) {
        let is_due = elapsed.saturating_sub(self.looked_at) >= Duration::from_secs(1);
        if self.printer.is_robot() || !self.printer.is_terminal() || !is_due {
            return;
        }
        self.looked_at = elapsed;
        self.lines.show(&format!("◐ {} {}", time::span(elapsed), sanitize::line(command)));
    }

    pub(super) fn check_ended(&mut self, round: usize, passed: bool, output: &str) {
        if self.printer.is_robot() {
            return self.line(&Happening::CheckEnded { epic: &self.epic, round, passed, output });
        }
        if self.printer.page().quiet() {
            return;
        }
        self.lines.say(|page| {
            if passed {
                let mark = page.paint(style::GOOD, "✓");
                return page.line(format!("{mark} check {round}: passed"));
            }
            let mark = page.paint(style::WARNING, "✗");
            page.line(format!("{mark} check {round}: failed"));
            let lines: Vec<&str> = output.lines().collect();
            for line in &lines[lines.len().saturating_sub(TAIL)..] {
                page.line(format!("    {}", sanitize::line(line)));
            }
        });
    }

    fn line(&self, happening: &Happening<'_>) {
        // A reader that went away must not end the plan's driving.
        let _ = self
            .printer
            .json_line(&Line { at: Timestamp::from(std::time::SystemTime::now()), happening });
    }

    /// Reports a step, and the answers since the last step.
    fn step(&mut self, step: &Step) {
        let Ok(overview) = ops::plan_overview(&self.store, &self.epic) else { return };
        let mut lines = self.answers(&overview);
        match step {
            Step::AwaitAnswer { question } => {
                let name = question.storage_name();
                let atom = overview
                    .phases
                    .iter()
                    .find(|phase| phase.name == name)
                    .and_then(|phase| phase.atom_id.clone());
                lines.push((
                    "▶",
                    style::PLAIN,
                    words::phase(&name),
                    format!("asked as {}", atom.unwrap_or_default()),
                ));
            }
            Step::AwaitWork { .. } => {
                lines.push(("▶", style::PLAIN, "work".to_owned(), words::tally(&overview)))
            }
            // The end and the check have reports of their own.
            _ => {}
        }
        self.lines.say(|page| {
            for (mark, style, what, rest) in lines {
                let text = fitted(page, &format!("{what}: {}", sanitize::line(&rest)), 2);
                page.line(format!("{} {text}", page.paint(style, mark)));
            }
        });
    }

    fn answers(
        &mut self,
        overview: &Overview,
    ) -> Vec<(&'static str, anstyle::Style, String, String)> {
        let mut lines = Vec::new();
        for phase in overview.phases.iter().filter(|phase| phase.data.is_some()) {
            if !self.told.insert(phase.name.clone()) {
                continue;
            }
            let mut result = words::result(phase, overview);
            let is_filed =
                overview.tasks.iter().any(|task| task.list.as_deref() == Some(&phase.name));
            if is_filed {
                result.push_str(if result.starts_with("1 task ") {
                    " is filed"
                } else {
                    " are filed"
                });
            }
            lines.push(("✓", style::GOOD, words::phase(&phase.name), result));
        }
        lines
    }
}

impl worker::Listener for Teller<'_> {
    fn report(&mut self, report: &Report) {
        if !self.printer.is_robot() {
            if self.printer.page().quiet() {
                if let Report::Warning { message } = report {
                    self.printer.warn(message);
                }
                return;
            }
            match report {
                Report::Step { step, .. } => return self.step(step),
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
