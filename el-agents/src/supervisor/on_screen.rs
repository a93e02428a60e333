//! Calls of an agent on the pane's terminal (executor `interactive`): the same loop, with a screen
//! instead of a stream, and with an exit command before the signals.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use el_core::Ctx;
use el_core::model::{EndKind, ExitRecord, Progress};
use el_core::ops::{self, RunSignal};

use super::Supervisor;
use super::agent::{self, Agent};
use super::answering::RESUMES;
use super::screen::OnScreen;
use super::watch::{CallEnd, Watcher};
use super::watchdog::EndNow;
use crate::clock;
use crate::interactive::{ScreenDriver, ScreenUpdate, SummaryWatch, save_terminal};
use crate::settings::{Completion, Places};
use crate::summary_file::{handover_file, summary_file};
use crate::tmux::{OwnPane, Tmux, socket_name};

/// The time for an agent on a screen to end by itself after SIGINT.
const INTERRUPT_GRACE: Duration = Duration::from_secs(5);

impl Supervisor {
    /// Makes a call of the agent on the pane's terminal, from the start to the end of the process
    /// tree.
    pub(super) async fn call_on_screen(
        &mut self,
        argv: &[OsString],
        prompt: File,
    ) -> std::io::Result<CallEnd> {
        let text = |mut file: File| -> std::io::Result<String> {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (prompt, nudge) = (text(prompt)?, self.nudge_text());
        let pane = own_pane(&self.spec.places)?;
        let typed = self.folder.path().join("typed.md");
        let front =
            ScreenDriver::new(pane, &prompt, typed, &self.environment, &self.spec.conversation)?;
        let summary = match self.spec.agent.completion {
            Completion::Atom => None,
            Completion::Summary => {
                let (places, atom) = (&self.spec.places, &self.spec.atom);
                Some(SummaryWatch::new(match &self.spec.sandbox {
                    Some(_) => handover_file(atom, &self.folder),
                    None => summary_file(places, atom),
                }))
            }
        };
        let give_back = save_terminal();
        let (argv, environment) = self.confined(argv)?;
        let mut agent =
            agent::start_on_screen(&argv, &environment, &self.spec.agent.working_directory)?;
        // On macOS, the sandbox becomes the program.
        agent.is_confined = self.spec.sandbox.is_some() && !cfg!(target_os = "macos");
        self.watcher.pane.lend_terminal();
        self.watcher.on_screen = Some(OnScreen {
            front,
            summary,
            agent: self.spec.agent.name.clone(),
            review: self.spec.agent.review,
            atom: self.spec.atom.clone(),
            nudge,
            is_over: false,
        });
        let (store, run, token) = self.watcher.lease.store_and_token();
        // For people only; no decision depends on the pid.
        let _ = ops::set_agent_pid(store, run, token, i64::from(agent.id.pid));
        let mut end = self.watcher.watch_call(agent).await;
        if let Some(on) = self
            .watcher
            .on_screen
            .as_mut()
            .filter(|on| end.kind == EndKind::Exited && !on.front.is_submitted())
        {
            on.front.look_back().await;
        }
        self.watcher.leave_screen(&mut end);
        give_back();
        self.watcher.pane.take_back();
        Ok(end)
    }
}

impl Watcher {
    /// Takes a tick with a screen: records the changes, and decides if the screen ends the call.
    pub(super) fn look_at_screen(&mut self, watch: RunSignal, now: Instant) -> Option<EndNow> {
        let on = self.on_screen.as_mut().filter(|on| !on.is_over)?;
        let seen = on.front.tick(now);
        let is_attended = on.front.is_attached() && on.front.open_question().is_some();
        let text = on
            .summary
            .as_mut()
            .filter(|_| watch == RunSignal::Work)
            .and_then(|summary| summary.poll_summary(now));
        let acted = seen.acted;
        self.keep_update(seen);
        if acted {
            self.note_activity();
        } else if is_attended {
            // A question that a person reads is not a stall; an unseen question becomes one.
            self.note_attention();
        }
        if let Some(text) = text {
            self.close_by_summary(&text);
        }
        let on = self.on_screen.as_mut()?;
        let end = |kind| Some(EndNow { kind, grace: INTERRUPT_GRACE });
        if on.front.typing_failure().is_some() {
            return end(EndKind::SpawnFailed);
        }
        let is_finished = matches!(watch, RunSignal::Finished(_));
        if !on.front.is_at_its_end(is_finished, now) {
            return None;
        }
        if is_finished {
            return end(EndKind::Finished);
        }
        if watch == RunSignal::Work && on.front.type_nudge(&on.nudge, RESUMES, now) {
            let (store, run, token) = self.lease.store_and_token();
            let ctx = Ctx { now: clock::now(), actor: &on.agent, session: None };
            // For the audit trail. The agent is sent back even if the write fails.
            let _ = ops::record_nudge(store, &ctx, run, token);
            self.pane.show(
                "el: the agent ended its turn without closing its atom; it is sent back once",
            );
            return None;
        }
        end(EndKind::Exited)
    }

    fn keep_update(&mut self, seen: ScreenUpdate) {
        if !seen.log.is_empty() {
            self.pane.show(&seen.log.join("\n"));
        }
        if !seen.messages.is_empty() {
            self.take_messages(&seen.messages);
        }
    }

    fn close_by_summary(&mut self, text: &str) {
        let Some(on) = &mut self.on_screen else { return };
        // Tried once: a refusal (a review or a check is wanted) would repeat, and the agent learns
        // of the refusal from its own `el`.
        on.summary = None;
        match self.lease.close_by_summary(&on.agent, &on.atom, text, on.review) {
            Ok(()) => {
                self.pane.show(&format!("el: the summary of {} is there; it is closed", on.atom))
            }
            Err(error) => self.pane.show(&format!(
                "! the summary of {} is there, but it cannot be closed: {error}",
                on.atom
            )),
        }
    }

    /// Records the rest of the screen and the conversation after the client's end, and corrects the
    /// kind of the end.
    fn leave_screen(&mut self, end: &mut CallEnd) {
        let Some(on) = self.on_screen.as_mut() else { return };
        on.is_over = true;
        let seen = on.front.finish(Instant::now());
        let was_given_work = on.front.is_submitted();
        let was_attached = on.front.is_attached();
        self.keep_update(seen);
        if end.kind != EndKind::Exited {
            return;
        }
        if self.signals.hung_up() {
            // The hang-up also reaches the client, which may be faster.
            end.kind = EndKind::Hangup;
        } else if !was_given_work {
            end.kind = EndKind::SpawnFailed;
        } else if was_attached
            && end.status.is_some_and(|status| status.success())
            && self.lease.last_signal() == RunSignal::Work
        {
            // A watching person has left the client: a person's cancel, as with `C-c` in a headless
            // session.
            self.lease.cancel_run();
        }
    }

    /// Returns a function that asks the client to exit by itself, if usable.
    pub(super) fn exit_request(
        &self,
        agent: &Agent,
        kind: EndKind,
        grace: Duration,
    ) -> Option<impl FnOnce() + Send + 'static + use<>> {
        let is_in_time = !matches!(kind, EndKind::LeaseLost | EndKind::Hangup) && !grace.is_zero();
        let on = self.on_screen.as_ref().filter(|on| is_in_time && !on.is_over)?;
        Some(on.front.exit_request(&agent.program()))
    }

    /// Returns the progress from the agent's output or screen.
    pub(super) fn progress(&self) -> Progress {
        let mut progress = self.reader.progress();
        if let Some(on) = &self.on_screen {
            on.front.fill_progress(&mut progress);
        }
        progress
    }

    /// Adds the screen's facts to the exit record.
    pub(super) fn fill_from_screen(&self, record: &mut ExitRecord) {
        if let Some(on) = &self.on_screen {
            on.front.fill_exit_record(record);
            record.resumes += on.front.nudge_count();
        }
    }
}

/// Returns the pane of this process.
fn own_pane(places: &Places) -> std::io::Result<OwnPane> {
    let environment: Vec<_> = std::env::vars_os().collect();
    let tmux = Tmux::discover(&socket_name(&places.database), &environment)
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    let id = std::env::var("TMUX_PANE").unwrap_or_default();
    OwnPane::new(tmux, &id).ok_or_else(|| {
        std::io::Error::other("this is not a pane of tmux, which the interactive executor needs")
    })
}
