//! Synchronises the mailbox files and the store in both directions.
//!
//! Every write replaces a whole file under a lock on `<file>.lock` (flock). A writer that takes the
//! lock loses no message. For other writers, the file is compared right before the replacement, and
//! the work is repeated after a change. The replaced file is watched for a while, since a writer
//! may have had the file open.

mod files;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use el_core::ops::{self, AtomFilter, Received};
use el_core::protocol::mailbox::{
    self, AgentState, Document, MailboxFile, NotADocument, TaskState,
};
use el_core::text::one_line;
use el_core::{Ctx, Error, Store};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use self::files::{Content, Orphan};
pub use self::files::{FileError, Fingerprint};
use crate::clock;
use crate::error_chain::error_chain;

/// Longest line of the log, in characters.
const LINE_MAX: usize = 1_000;

/// Why a mailbox could not be kept in step.
#[derive(Debug, thiserror::Error)]
pub enum MailboxError {
    /// The store failed, or refused.
    #[error(transparent)]
    Store(#[from] Error),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another program keeps changing the file.
    #[error("{} was changed by others again and again while it was to be written", .0.display())]
    Contended(PathBuf),
    /// The file is not the protocol's document.
    #[error("{} cannot be added to: {why}", path.display())]
    NotADocument { path: PathBuf, why: NotADocument },
}

/// The result of a synchronisation.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Synced {
    /// Messages that were not known before.
    pub arrived: usize,
    /// Files that were written.
    pub written: Vec<&'static str>,
    /// The actions taken.
    pub notes: Vec<String>,
    /// Deviations from the protocol that were tolerated.
    pub problems: Vec<String>,
    /// Files that could not be dealt with; the others were.
    pub errors: Vec<String>,
}

impl Synced {
    /// Returns true if there is no news.
    pub fn is_empty(&self) -> bool {
        self.arrived == 0
            && self.written.is_empty()
            && self.notes.is_empty()
            && self.problems.is_empty()
            && self.errors.is_empty()
    }

    fn add_received(&mut self, received: Received) -> usize {
        self.arrived += received.arrived;
        self.notes.extend(received.notes);
        self.problems.extend(received.problems);
        received.arrived
    }
}

/// The mailbox of a project.
#[derive(Debug)]
pub struct Mailbox {
    root: PathBuf,
    may_approve: bool,
    orphans: Vec<Orphan>,
}

/// How often a write is begun anew because someone else was faster.
const TRIES: u32 = 50;
/// How long the file that was replaced is looked at.
const ORPHAN_TIME: Duration = Duration::from_secs(2);
/// The files with incoming messages.
const INCOMING: [MailboxFile; 3] =
    [MailboxFile::ToDeveloper, MailboxFile::ToTeamLead, MailboxFile::Queue];

impl Mailbox {
    /// The mailbox below a project's folder.
    pub fn new(root: &Path) -> Mailbox {
        Mailbox { root: root.to_owned(), may_approve: false, orphans: Vec::new() }
    }

    /// Lets the files approve work. Whoever may write them then decides for the person.
    #[must_use]
    pub fn with_approvals(self, may_approve: bool) -> Mailbox {
        Mailbox { may_approve, ..self }
    }

    /// Returns a value that changes with any of the files, for watching.
    pub fn fingerprint(&self) -> Vec<Fingerprint> {
        MailboxFile::ALL
            .iter()
            .filter(|file| **file != MailboxFile::Log)
            .map(|file| files::fingerprint_of(&self.path_of(*file)))
            .collect()
    }

    /// Looks only at the replaced files. Messages moved from there are taken in by the next
    /// [`Mailbox::sync`].
    pub fn look_back(&mut self) -> Synced {
        let mut synced = Synced::default();
        self.rescue_late_messages(&mut synced);
        synced
    }

    /// Takes in new messages and writes the files; missing files are made. `filter` selects the
    /// ready atoms that become assignments.
    ///
    /// # Errors
    /// If the store fails. A faulty file is reported in [`Synced::errors`] and stops no other file.
    pub fn sync(
        &mut self,
        store: &mut Store,
        actor: &str,
        filter: &AtomFilter,
    ) -> Result<Synced, Error> {
        let mut synced = Synced::default();
        if let Err(error) = self.make_folders() {
            synced.errors.push(error_chain(&error));
            return Ok(synced);
        }
        self.rescue_late_messages(&mut synced);
        // All files are taken in before any is written: a report changes the queue too.
        let mut fresh = [false; INCOMING.len()];
        for (at, file) in INCOMING.into_iter().enumerate() {
            let Ok(Content::Text { text, .. }) = files::read_content(&self.path_of(file)) else {
                continue;
            };
            if let Ok(document) = Document::parse(&text, file.list_key()) {
                fresh[at] = self.take_in(store, actor, file, &document, &mut synced)? > 0;
            }
        }
        for (at, file) in INCOMING.into_iter().enumerate() {
            let done = self.sync_file(store, actor, filter, file, fresh[at], &mut synced);
            store_only(done, &mut synced)?;
        }
        let done = self.sync_file(store, actor, filter, MailboxFile::Status, false, &mut synced);
        store_only(done, &mut synced)?;
        self.rescue_late_messages(&mut synced);
        if let Err(error) = self.append_log(&synced) {
            synced.errors.push(error_chain(&error));
        }
        Ok(synced)
    }

    /// Appends a message to a file, as any program may that takes the lock.
    ///
    /// # Errors
    /// If the file is not the protocol's document, or cannot be written.
    pub fn post_message(&self, file: MailboxFile, message: Value) -> Result<(), MailboxError> {
        self.make_folders()?;
        let path = self.path_of(file);
        let _lock = files::lock_file(&path)?;
        for _ in 0..TRIES {
            let content = files::read_settled(&path)?;
            let text = content.found_text().unwrap_or_else(|| file.initial_text());
            let mut document = Document::parse(text, file.list_key())
                .map_err(|why| MailboxError::NotADocument { path: path.clone(), why })?;
            document.items.push(message.clone());
            if files::replace_file(&path, &content, &document.render())?.is_some() {
                return Ok(());
            }
        }
        Err(MailboxError::Contended(path))
    }

    fn path_of(&self, file: MailboxFile) -> PathBuf {
        self.root.join(file.relative_path())
    }

    fn make_folders(&self) -> Result<(), FileError> {
        for file in MailboxFile::ALL {
            files::make_folder_of(&self.path_of(file), &self.root)?;
        }
        Ok(())
    }

    fn take_in(
        &self,
        store: &mut Store,
        actor: &str,
        file: MailboxFile,
        document: &Document,
        synced: &mut Synced,
    ) -> Result<usize, Error> {
        let ctx = Ctx { now: clock::now(), actor, session: None };
        Ok(match file {
            MailboxFile::ToDeveloper | MailboxFile::ToTeamLead => {
                synced.add_received(ops::mailbox_receive(store, &ctx, file, &document.items)?)
            }
            MailboxFile::Queue => {
                let decided = ops::mailbox_decide(store, &ctx, document, self.may_approve)?;
                synced.add_received(decided)
            }
            MailboxFile::Status | MailboxFile::Log => 0,
        })
    }

    /// Synchronises a file under its lock: reads, takes in, merges, and writes after a change.
    fn sync_file(
        &mut self,
        store: &mut Store,
        actor: &str,
        filter: &AtomFilter,
        file: MailboxFile,
        mut fresh: bool,
        synced: &mut Synced,
    ) -> Result<(), MailboxError> {
        let path = self.path_of(file);
        let _lock = files::lock_file(&path)?;
        for attempt in 0..TRIES {
            // A fast writer goes first, for a growing pause.
            std::thread::sleep(Duration::from_millis(u64::from(attempt * 2)));
            let (content, mut document) = self.open_document(file, &path, synced)?;
            fresh |= self.take_in(store, actor, file, &document, synced)? > 0;
            let ctx = Ctx { now: clock::now(), actor, session: None };
            let tasks = ops::mailbox_outlook(store, &ctx, filter)?;
            let mut changed = content.found_text().is_none();
            changed |= match file {
                MailboxFile::ToDeveloper => {
                    mailbox::merge_assignments(&mut document, &tasks, ctx.now)
                }
                MailboxFile::ToTeamLead => mailbox::merge_reports(&mut document, &tasks, ctx.now),
                MailboxFile::Queue => mailbox::merge_queue(&mut document, &tasks, ctx.now),
                MailboxFile::Status => {
                    mailbox::merge_agents(&mut document, &agent_states(store, &tasks)?, ctx.now)
                }
                MailboxFile::Log => false,
            };
            if fresh && matches!(file, MailboxFile::ToDeveloper | MailboxFile::ToTeamLead) {
                document.set_field("lastRead", json!(ctx.now.to_millis_text()));
                changed = true;
            }
            if changed {
                if matches!(file, MailboxFile::ToDeveloper | MailboxFile::ToTeamLead) {
                    // Recorded before the messages can be read back.
                    ops::mailbox_sent(store, file, &document.items, ctx.now)?;
                }
                let Some(replaced) = files::replace_file(&path, &content, &document.render())?
                else {
                    continue;
                };
                self.orphans.extend(replaced.map(|handle| Orphan::new(file, handle, &content)));
                synced.written.push(file.relative_path());
            }
            if file == MailboxFile::Queue {
                synced.notes.extend(ops::mailbox_told(store, &tasks)?);
            }
            return Ok(());
        }
        Err(MailboxError::Contended(path))
    }

    /// Returns a file's content and document. A file that is no such document is set aside.
    fn open_document(
        &mut self,
        file: MailboxFile,
        path: &Path,
        synced: &mut Synced,
    ) -> Result<(Content, Document), MailboxError> {
        let content = files::read_settled(path)?;
        let parsed = match &content {
            Content::Missing => Ok(file.initial_text()),
            Content::Text { text, .. } => Ok(text.as_str()),
            Content::NotText => Err(NotADocument::NotJson("it is no UTF-8 text".to_owned())),
        };
        match parsed.and_then(|text| Document::parse(text, file.list_key())) {
            Ok(document) => Ok((content, document)),
            Err(why) => {
                let (aside, handle) = files::set_aside(path, clock::now())?;
                // A writer may not be done yet.
                self.orphans
                    .extend(handle.map(|handle| Orphan::new(file, handle, &Content::Missing)));
                synced.problems.push(format!(
                    "{} was set aside as {}, since {why}",
                    file.relative_path(),
                    aside.display()
                ));
                let begin = Document::parse(file.initial_text(), file.list_key())
                    .map_err(|why| MailboxError::NotADocument { path: path.to_owned(), why })?;
                Ok((Content::Missing, begin))
            }
        }
    }

    /// Looks at the replaced files. Messages written there meanwhile are appended to the new file,
    /// and taken in by the next look.
    fn rescue_late_messages(&mut self, synced: &mut Synced) {
        let now = Instant::now();
        for mut orphan in std::mem::take(&mut self.orphans) {
            for message in orphan.late_messages() {
                match self.post_message(orphan.file, message) {
                    Ok(()) => synced.notes.push(format!(
                        "a message written to the old {} was moved to the new one",
                        orphan.file.relative_path()
                    )),
                    Err(error) => synced.errors.push(error_chain(&error)),
                }
            }
            if now < orphan.since + ORPHAN_TIME {
                self.orphans.push(orphan);
            }
        }
    }

    /// Appends the actions and problems to the log.
    fn append_log(&self, synced: &Synced) -> Result<(), FileError> {
        let path = self.path_of(MailboxFile::Log);
        let at = clock::now().to_millis_text();
        let lines =
            synced.notes.iter().map(|note| format!("- {at} {}\n", one_line(note, LINE_MAX)));
        let problems = synced
            .problems
            .iter()
            .map(|problem| format!("- {at} **problem**: {}\n", one_line(problem, LINE_MAX)));
        files::append_lines(
            &path,
            MailboxFile::Log.initial_text(),
            &lines.chain(problems).collect::<String>(),
        )
    }
}

/// A file's error is told and stops no other file; the store's stops all.
fn store_only(done: Result<(), MailboxError>, synced: &mut Synced) -> Result<(), Error> {
    match done {
        Ok(()) => Ok(()),
        Err(MailboxError::Store(error)) => Err(error),
        Err(error) => {
            synced.errors.push(error_chain(&error));
            Ok(())
        }
    }
}

/// Returns the states of the agents that work or have a waiting worker.
fn agent_states(store: &Store, tasks: &[TaskState]) -> Result<Vec<AgentState>, Error> {
    let mut states: Vec<AgentState> = Vec::new();
    for run in ops::live_runs(store)? {
        let task = tasks
            .iter()
            .find(|task| task.atom.id == run.atom_id)
            .map_or(run.atom_id.as_str(), |task| task.task_id.as_str());
        if states.iter().any(|state| state.name == run.agent) {
            continue;
        }
        states.push(AgentState {
            name: run.agent.clone(),
            status: "working",
            current_task: Some(task.to_owned()),
            run: Some(run.id.clone()),
            since: Some(run.started_at.to_millis_text()),
        });
    }
    for worker in ops::list_workers(store)? {
        if !states.iter().any(|state| state.name == worker.agent) {
            states.push(AgentState {
                name: worker.agent.clone(),
                status: "idle",
                current_task: None,
                run: None,
                since: None,
            });
        }
    }
    Ok(states)
}

#[cfg(test)]
mod tests;
