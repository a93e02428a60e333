//! The files of a run on a server: kept in the store as they grow, and brought to other machines.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use el_core::model::Run;
use el_core::{Store, ops};

use crate::git::{GitError, Repository};
use crate::process::host_name;
use crate::rundir::{RunDir, private_folder, write_private};

/// The most that is kept of a file, in bytes. The rest stays where the run was.
pub const KEPT_MAX: u64 = 8 << 20;
/// The size of a part, in bytes.
const PART: u64 = 256 << 10;
/// Parts of a file that are kept at a heartbeat.
const PARTS_AT_ONCE: usize = 4;
/// The file with the commit at which the run's branch was at its end, and [`SHARED`] behind it if
/// the remote that hosts share has it.
pub(crate) const TIP: &str = "tip";
pub(crate) const SHARED: &str = " shared";
/// Files that grow while the agent works, and the one that is there before the run is settled.
const GROWING: [&str; 4] = ["transcript.jsonl", "stderr.log", "pane.log", TIP];
/// Files that are whole once the run has ended.
const FINAL: [&str; 5] =
    ["prompt.md", "supervisor.log", "preparation.log", "RESULTS.json", "ERRORS.md"];
/// The folder of the artifacts' copies.
const ARTIFACTS: &str = "artifacts";

/// Keeps the files of a run in the store of a server.
#[derive(Debug)]
pub(crate) struct RunFiles {
    folder: RunDir,
    run: String,
    /// How much of each is kept.
    kept: HashMap<String, u64>,
}

impl RunFiles {
    pub(crate) fn new(folder: &RunDir, run: &str) -> RunFiles {
        RunFiles { folder: folder.clone(), run: run.to_owned(), kept: HashMap::new() }
    }

    /// Keeps a bounded part of what is new in growing files.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn keep_new(&mut self, store: &mut Store) -> Result<(), el_core::Error> {
        GROWING.iter().try_for_each(|name| self.keep_file(store, name, PARTS_AT_ONCE))
    }

    /// Returns true if a growing file has more than is kept.
    pub(crate) fn has_new(&self) -> bool {
        GROWING.iter().any(|name| {
            let size = fs::metadata(self.folder.path().join(name)).map_or(0, |file| file.len());
            size.min(KEPT_MAX) > self.kept.get(*name).copied().unwrap_or_default()
        })
    }

    /// Keeps the rest of all files, once the run has ended.
    ///
    /// # Errors
    /// If the store cannot be written.
    pub(crate) fn keep_all(&mut self, store: &mut Store) -> Result<(), el_core::Error> {
        let copies = fs::read_dir(self.folder.artifacts_path()).into_iter().flatten().flatten();
        let copies = copies.filter_map(|entry| entry.file_name().into_string().ok());
        let copies: Vec<String> = copies.map(|name| format!("{ARTIFACTS}/{name}")).collect();
        let all = GROWING.into_iter().chain(FINAL).chain(copies.iter().map(String::as_str));
        all.into_iter().try_for_each(|name| self.keep_file(store, name, usize::MAX))
    }

    fn keep_file(
        &mut self,
        store: &mut Store,
        name: &str,
        parts: usize,
    ) -> Result<(), el_core::Error> {
        // A file that cannot be read is no reason to end a run.
        let Ok(mut file) = File::open(self.folder.path().join(name)) else { return Ok(()) };
        let mut at = self.kept.get(name).copied().unwrap_or_default();
        for _ in 0..parts {
            let mut part = Vec::new();
            let most = PART.min(KEPT_MAX.saturating_sub(at));
            let read = file
                .seek(SeekFrom::Start(at))
                .and_then(|_| (&mut file).take(most).read_to_end(&mut part));
            if read.is_err() || part.is_empty() {
                break;
            }
            ops::keep_run_file(store, &self.run, name, at, &part)?;
            at += part.len() as u64;
            self.kept.insert(name.to_owned(), at);
        }
        Ok(())
    }
}

/// Notes in the run's folder where the branch is, for a landing on another host.
pub(crate) fn note_tip(folder: &RunDir, workdir: &Path, atom: &str) {
    let look = || -> Result<Option<String>, GitError> {
        let repository = Repository::open_at(workdir)?;
        let Some(tip) = repository.tip_of(atom)? else { return Ok(None) };
        let shared = if repository.is_agreed(atom, &tip)? { SHARED } else { "" };
        Ok(Some(format!("{tip}{shared}")))
    };
    if let Ok(Some(text)) = look() {
        // Without it, another host does not land the branch, and says why.
        let _ = write_private(&folder.path().join(TIP), text.as_bytes());
    }
}

/// The host that a run was on, if it is another one.
pub(crate) fn other_host(run: &Run) -> Option<&str> {
    run.supervisor.as_ref()?.host().filter(|host| *host != host_name())
}

/// Returns true if a run worked in the atom's worktree: its work is on the atom's branch.
pub(crate) fn is_in_worktree(run: &Run, atom: &str) -> bool {
    Path::new(&run.workdir).components().any(|part| part.as_os_str() == atom)
}

/// An error of bringing files here.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    #[error(transparent)]
    Store(#[from] el_core::Error),
    #[error("cannot write the files of a run")]
    Files(#[source] io::Error),
}

/// Brings what the store has of the files of another machine's run into its folder here. Returns
/// true if some have more there.
///
/// # Errors
/// If the store cannot be read, or the folder cannot be written.
pub fn bring_run_files(store: &Store, runs: &Path, run: &Run) -> Result<bool, BringError> {
    if !store.is_on_server() || other_host(run).is_none() {
        return Ok(false);
    }
    let folder = RunDir::new(runs, &run.id);
    let mut has_more = false;
    for (name, size) in ops::kept_run_files(store, &run.id)? {
        if !is_known(&name) {
            continue;
        }
        has_more |= size >= KEPT_MAX;
        let path = folder.path().join(&name);
        let here = fs::metadata(&path).map_or(0, |file| file.len());
        if here >= size {
            continue;
        }
        let open = || {
            private_folder(path.parent().unwrap_or(folder.path())).map_err(io::Error::other)?;
            OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path)
        };
        let file = open().map_err(BringError::Files)?;
        let mut failed = None;
        // Written at its place: another process may bring the same.
        ops::read_run_file(store, (&run.id, &name), here, |start, part| {
            failed = failed.take().or(file.write_all_at(part, start).err());
            Ok(())
        })?;
        failed.map_or(Ok(()), |error| Err(BringError::Files(error)))?;
    }
    Ok(has_more)
}

/// Returns true for a name that [`RunFiles`] keeps: nothing else is written here.
fn is_known(name: &str) -> bool {
    let is_plain = |name: &str| !name.is_empty() && !name.starts_with('.') && !name.contains('/');
    match name.split_once('/') {
        Some((ARTIFACTS, copy)) => is_plain(copy),
        _ => GROWING.contains(&name) || FINAL.contains(&name),
    }
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for name in ["transcript.jsonl", "RESULTS.json", "artifacts/1-t-7tk6.md"] {
            assert!(is_known(name), "{name}");
        }
        for name in
            ["", "x", "../x", "/x", "artifacts/../x", "artifacts/", "artifacts/a/b", "exit.json"]
        {
            assert!(!is_known(name), "{name}");
        }
    }
}
