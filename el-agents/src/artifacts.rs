//! Collects a run's artifacts: the summary, and the few files that the summary names. The files are
//! copied into the run's folder, so that later edits do not change them.
//!
//! Collecting happens after the agent's tree has ended and before the run is settled. The work is
//! best effort, and bounded in time and size. A file that cannot be had is named in the summary's
//! warnings or among the files not sent; no failure keeps a run from its end. The workspace belongs
//! to the agent and is not trusted: a path may be a trap ([`open()`]), and a summary may lie.

mod changed;
mod copy;
mod open;
mod tail;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use el_core::model::{
    Artifact, ArtifactKind, ArtifactState, Atom, Deliverable, NotSent, Run, Summary,
};
use el_core::protocol::summary::{self, Facts};
use el_core::protocol::workspace::{self, Rules};

pub use self::copy::{sha256, sha256_hex};
pub use self::open::{OpenError, open};
pub(crate) use self::tail::read_last_lines;
use crate::error_chain::error_chain;
use crate::git::{Isolation, OwnWorktree};
use crate::rundir::{RunDir, RunDirError, private_folder, replace_private, write_private};
use crate::settings::Places;
use crate::summary_file::{self, FileStamp};

/// The maximum number of key deliverables beside the summary.
const DELIVERABLES: usize = 4;
/// How long the search for changed files may take, where there is no summary.
const SEARCH: Duration = Duration::from_millis(800);
/// The time after which no further file is copied.
const COPYING: Duration = Duration::from_secs(5);
/// The most uncommitted files that are named.
const UNCOMMITTED: usize = 20;
/// The most lines of the last output in a fallback summary.
const OUTPUT_LINES: usize = 40;

/// The input for collecting a run's artifacts.
#[derive(Debug, Clone)]
pub(crate) struct CollectionJob {
    pub(crate) run: Run,
    /// `None` if the atom was deleted.
    pub(crate) atom: Option<Atom>,
    pub(crate) folder: RunDir,
    pub(crate) places: Places,
    /// The summary file before the run.
    pub(crate) summary_before: Option<FileStamp>,
    /// The last lines of the agent's output.
    pub(crate) output: String,
    /// The agent never ran, so no file can have changed.
    pub(crate) never_ran: bool,
    /// The agent's worktree settings; `None` without a worktree.
    pub(crate) isolation: Option<Isolation>,
}

/// The artifacts of a run.
#[derive(Debug, Clone)]
pub(crate) struct Collected {
    pub(crate) summary: Summary,
    /// The summary, then the deliverables, then the files not sent.
    pub(crate) artifacts: Vec<Artifact>,
    /// The facts of a fallback summary; `None` if the agent wrote a summary.
    facts: Option<Facts>,
}

impl Collected {
    /// Adds a sentence on what went wrong after the agent's work.
    pub(crate) fn add_warning(&mut self, warning: &str) {
        self.summary.warnings.push(warning.to_owned());
        if let Some(facts) = &mut self.facts {
            facts.warnings.push(warning.to_owned());
        }
    }

    /// Completes a fallback summary with sentences about the end of the run.
    pub(crate) fn complete_fallback(&mut self, folder: &RunDir, record: Vec<String>) {
        let Some(facts) = &mut self.facts else { return };
        facts.record = record;
        let (summary, text) = summary::fallback_summary(facts);
        self.summary =
            Summary { uncommitted: std::mem::take(&mut self.summary.uncommitted), ..summary };
        let Some(artifact) = self.artifacts.first_mut() else { return };
        artifact.size = i64::try_from(text.len()).ok();
        artifact.sha256 = Some(sha256_hex(text.as_bytes()));
        if let Some(file) = &artifact.file
            && let Err(error) = write_private(&folder.path().join(file), text.as_bytes())
        {
            artifact.state = ArtifactState::Reference;
            artifact.file = None;
            artifact.note = Some(not_copied(&error));
        }
    }
}

/// Collects the artifacts. Blocks for some seconds at most.
pub(crate) fn collect(job: &CollectionJob) -> Collected {
    let root = PathBuf::from(&job.run.workdir);
    let file = summary_file::summary_file(&job.places, &job.run.atom_id);
    let rules = deliverable_rules(job, &root);
    let uncommitted = leave_worktree(job, &root);
    let written = summary_file::written_file(&job.places, &job.run.atom_id, &job.folder);
    let read = summary_file::read_summary(&written, job.summary_before);
    let (mut summary, bytes, facts) = match read {
        Ok(bytes) => {
            if written != file {
                // The summary that the run hands back is kept in its folder in any case.
                drop(replace_private(&file, &bytes));
            }
            (summary::parse_summary(&String::from_utf8_lossy(&bytes)), bytes, None)
        }
        Err(why) => {
            let facts = fallback_facts(job, &root, &rules, why.warning_text());
            let (summary, text) = summary::fallback_summary(&facts);
            (summary, text.into_bytes(), Some(facts))
        }
    };
    summary.uncommitted = uncommitted;
    let mut collector = Collector {
        job,
        root,
        rules,
        summary,
        artifacts: Vec::new(),
        until: Instant::now() + COPYING,
    };
    // The remains of an interrupted collection.
    let _ = std::fs::remove_dir_all(job.folder.artifacts_path());
    let own = summary_file::as_seen_from(&file, &collector.root);
    collector.add_summary(&own, &bytes);
    collector.add_deliverables(&own);
    Collected { summary: collector.summary, artifacts: collector.artifacts, facts }
}

/// Repairs the run's worktree after the end of all processes: removes the locks of a killed git,
/// and moves the atom's branch to the work. Returns the uncommitted files; errors of git yield an
/// empty list.
fn leave_worktree(job: &CollectionJob, root: &Path) -> Vec<String> {
    let Ok(Some(tree)) = OwnWorktree::find(root, &job.run.atom_id) else { return Vec::new() };
    drop(tree.remove_stale_locks(SystemTime::now()));
    let _ = tree.reclaim_work();
    let Some(isolation) = job.isolation.as_ref().filter(|_| !job.never_ran) else {
        return Vec::new();
    };
    let ours = [isolation.copy.as_slice(), &isolation.link].concat();
    let names = tree.uncommitted_files(&ours).unwrap_or_default();
    names.into_iter().take(UNCOMMITTED).collect()
}

/// Returns the rules that judge the paths of this run's deliverables.
fn deliverable_rules(job: &CollectionJob, root: &Path) -> Rules {
    let below = |folder: &Path| {
        // The folder itself, by any name: the last name is removed again.
        let inside = summary_file::path_below(&folder.join("x"), root)?;
        Some(inside.parent()?.to_str()?.to_owned()).filter(|path| !path.is_empty())
    };
    let state = job.places.database.parent().unwrap_or(Path::new("."));
    let asked = job.atom.as_ref().map(|atom| {
        let acceptance = atom.acceptance.as_deref().unwrap_or_default();
        format!("{}\n{}\n{acceptance}", atom.title, atom.description)
    });
    Rules {
        root: root.display().to_string(),
        state: below(state),
        summaries: below(&summary_file::summaries_folder(&job.places)),
        contexts: below(&job.places.contexts),
        asked: asked.unwrap_or_default(),
    }
}

/// Gathers the facts about a run whose agent wrote no summary.
fn fallback_facts(
    job: &CollectionJob,
    root: &Path,
    rules: &Rules,
    warning: Option<String>,
) -> Facts {
    let found = if job.never_ran {
        None
    } else {
        changed::files_changed_since(root, job.run.started_at, &job.run.atom_id, SEARCH)
    };
    let mut facts = Facts {
        atom_id: job.run.atom_id.clone(),
        title: job.atom.as_ref().map(|atom| atom.title.clone()).unwrap_or_default(),
        close_reason: job.atom.as_ref().and_then(|atom| atom.close_reason.clone()),
        output: Some(job.output.clone())
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| read_last_lines(&job.folder.pane_path(), OUTPUT_LINES)),
        warnings: warning.into_iter().collect(),
        ..Facts::default()
    };
    if let Some(found) = found {
        let is_told =
            |path: &String| workspace::judge_path(path, rules).is_ok_and(|kept| kept == *path);
        facts.changed = found.files.into_iter().filter(is_told).collect();
        facts.changed_more = found.more;
        facts.removed = found.removed.into_iter().filter(is_told).collect();
        facts.changed_by = Some(found.by);
    }
    facts
}

struct Collector<'a> {
    job: &'a CollectionJob,
    root: PathBuf,
    rules: Rules,
    summary: Summary,
    artifacts: Vec<Artifact>,
    until: Instant,
}

impl Collector<'_> {
    fn add_summary(&mut self, path: &str, bytes: &[u8]) {
        let description = if self.summary.is_fallback {
            "Made from the run's record: the agent wrote no summary"
        } else {
            "Task completion summary"
        };
        let named =
            Deliverable { path: path.to_owned(), description: Some(description.to_owned()) };
        let mut artifact = self.new_artifact(ArtifactKind::Summary, path, &named);
        artifact.size = i64::try_from(bytes.len()).ok();
        artifact.sha256 = Some(sha256_hex(bytes));
        match self.store_copy(&artifact.name, bytes) {
            Ok(file) => {
                artifact.state = ArtifactState::Copied;
                artifact.file = Some(file);
            }
            Err(why) => artifact.note = Some(why),
        }
        self.artifacts.push(artifact);
    }

    fn add_deliverables(&mut self, own: &str) {
        let mut refused = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for named in self.summary.deliverables.clone() {
            let artifact = match self.judge_path(&named.path) {
                // The summary is handed over in any case.
                Err(NotSent::OtherSummary) if self.is_own(&named.path, own) => continue,
                Ok(path) if path == own || seen.contains(&path) => continue,
                Ok(path) => {
                    seen.push(path.clone());
                    self.collect_deliverable(&path, &named)
                }
                Err(why) => self.refused_artifact(&named, why, None),
            };
            if artifact.is_sent() { self.artifacts.push(artifact) } else { refused.push(artifact) }
        }
        self.artifacts.extend(refused);
        for (n, artifact) in (1_i64..).zip(&mut self.artifacts) {
            artifact.n = n;
        }
    }

    /// Judges a path. An absolute path may begin with the working folder as configured, or with the
    /// real path of that folder.
    fn judge_path(&self, path: &str) -> Result<String, NotSent> {
        match workspace::judge_path(path, &self.rules) {
            Err(NotSent::Absolute) => {
                let real = self.root.canonicalize().map_err(|_| NotSent::Absolute)?;
                workspace::judge_path(
                    path,
                    &Rules { root: real.display().to_string(), ..self.rules.clone() },
                )
            }
            judged => judged,
        }
    }

    /// Copies a key deliverable, or refers to the file, or refuses it.
    fn collect_deliverable(&self, path: &str, named: &Deliverable) -> Artifact {
        if self.artifacts.len() > DELIVERABLES {
            return self.refused_artifact(named, NotSent::TooMany, None);
        }
        if Instant::now() > self.until {
            return self.refused_artifact(
                named,
                NotSent::Unreadable,
                Some("there was no time left to copy it".to_owned()),
            );
        }
        let opened = match open(&self.root, path) {
            Ok(opened) => opened,
            Err(OpenError { why, source }) => {
                return self.refused_artifact(named, why, source.map(|error| error.to_string()));
            }
        };
        // The target of a link is judged: any name can lead to a secret.
        if opened.path != path
            && let Err(why) = workspace::judge_path(&opened.path, &self.rules)
        {
            let note = format!("it is a link to {}", opened.path);
            return self.refused_artifact(named, why, Some(note));
        }
        let mut artifact = self.new_artifact(ArtifactKind::Deliverable, path, named);
        let taken = match copy::read_file(opened.file) {
            Ok(taken) => taken,
            Err(error) => {
                return self.refused_artifact(named, NotSent::Unreadable, Some(error.to_string()));
            }
        };
        artifact.size = i64::try_from(taken.size).ok();
        artifact.sha256 = taken.sha256;
        artifact.note = taken.note;
        if let Some(text) = taken.text {
            match self.store_copy(&artifact.name, &text) {
                Ok(file) => {
                    artifact.state = ArtifactState::Copied;
                    artifact.file = Some(file);
                }
                Err(why) => artifact.note = Some(why),
            }
        }
        artifact
    }

    /// Writes a copy into the run's folder and returns the relative path.
    fn store_copy(&self, name: &str, bytes: &[u8]) -> Result<String, String> {
        let folder = self.job.folder.artifacts_path();
        let kept = format!("{}-{}", self.artifacts.len() + 1, safe_name(name));
        private_folder(&folder)
            .and_then(|()| write_private(&folder.join(&kept), bytes))
            .map_err(|error| not_copied(&error))?;
        Ok(format!("artifacts/{kept}"))
    }

    fn new_artifact(&self, kind: ArtifactKind, path: &str, named: &Deliverable) -> Artifact {
        Artifact {
            record_type: Artifact::RECORD_TYPE,
            run_id: self.job.run.id.clone(),
            n: 1,
            kind,
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            path: path.to_owned(),
            description: named.description.clone(),
            state: ArtifactState::Reference,
            size: None,
            sha256: None,
            file: None,
            reason: None,
            note: None,
        }
    }

    fn refused_artifact(
        &self,
        named: &Deliverable,
        why: NotSent,
        note: Option<String>,
    ) -> Artifact {
        let artifact = self.new_artifact(ArtifactKind::Deliverable, &named.path, named);
        Artifact { state: ArtifactState::Refused, reason: Some(why), note, ..artifact }
    }

    fn is_own(&self, path: &str, own: &str) -> bool {
        workspace::lexical_path(path, &self.rules.root).is_ok_and(|path| path == own)
    }
}

fn not_copied(error: &RunDirError) -> String {
    format!("it could not be copied: {}", error_chain(error))
}

/// Returns a safe file name for the run's folder, whatever the agent's file is called.
fn safe_name(name: &str) -> String {
    let safe: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' })
        .collect();
    let safe = safe.trim_start_matches('.');
    let from = safe.len().saturating_sub(80);
    if safe.is_empty() { "file".to_owned() } else { safe[from..].to_owned() }
}

#[cfg(test)]
mod tests;
