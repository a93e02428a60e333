//! One file that is to be changed: planned first, written once all of them can be.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use schemars::JsonSchema;
use serde::Serialize;

use super::refused;
use crate::error::{CommandError, Result};
use crate::replace::replace_file;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Created,
    Changed,
    Unchanged,
    Removed,
    /// It is not as el wrote it, and stays.
    Kept,
}

impl Change {
    pub(super) fn words(self, planned: bool) -> &'static str {
        match (self, planned) {
            (Change::Created, false) => "Created",
            (Change::Created, true) => "would be created",
            (Change::Changed, false) => "Changed",
            (Change::Changed, true) => "would be changed",
            (Change::Unchanged, _) => "Unchanged",
            (Change::Removed, false) => "Removed",
            (Change::Removed, true) => "would be removed",
            (Change::Kept, _) => "Kept, since it is not as el wrote it:",
        }
    }
}

/// How one file is to be.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) path: PathBuf,
    before: Option<String>,
    /// `None`: no file.
    pub(super) after: Option<String>,
    pub(super) change: Change,
    backup: Backup,
}

/// What becomes of the file's state before el, which is kept beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backup {
    /// If there is none.
    Make,
    /// Even if there is one.
    Renew,
    Drop,
}

impl Plan {
    /// Puts something into a file that is somebody else's. Where `take_out` finds nothing of ours
    /// in it, it is as it was before el, and a backup of an earlier time is out of date.
    pub(super) fn put_in(
        path: PathBuf,
        change: impl Fn(&str) -> Result<String>,
        take_out: impl Fn(&str) -> Result<String>,
    ) -> Result<Plan> {
        let before = read(&path)?;
        let text = before.as_deref().unwrap_or_default();
        let after = change(text)?;
        let backup = if take_out(text)? == text { Backup::Renew } else { Backup::Make };
        Ok(Plan::new(path, before, Some(after), backup))
    }

    /// Takes it out again. If the file is as el left it, it gets back every byte that it had, or
    /// goes if there was none; else `take_out` does what can be done.
    pub(super) fn take_out(
        path: PathBuf,
        put_in: impl Fn(&str) -> Result<String>,
        take_out: impl Fn(&str) -> Result<String>,
    ) -> Result<Plan> {
        let Some(before) = read(&path)? else {
            return Ok(Plan::new(path, None, None, Backup::Drop));
        };
        let kept = read(&backup(&path))?;
        let is_as_left =
            put_in(kept.as_deref().unwrap_or_default()).is_ok_and(|left| left == before);
        let after = if is_as_left { kept } else { Some(take_out(&before)?) };
        Ok(Plan::new(path, Some(before), after, Backup::Drop))
    }

    /// A file that is el's own.
    pub(super) fn own(path: PathBuf, content: &str, remove: bool) -> Result<Plan> {
        let before = read(&path)?;
        if before.as_deref().is_some_and(|before| before != content) {
            return Ok(Plan {
                path,
                after: before.clone(),
                before,
                change: Change::Kept,
                backup: Backup::Drop,
            });
        }
        Ok(Plan::new(
            path,
            before,
            if remove { None } else { Some(content.to_owned()) },
            Backup::Drop,
        ))
    }

    fn new(path: PathBuf, before: Option<String>, after: Option<String>, backup: Backup) -> Plan {
        let change = match (&before, &after) {
            (before, after) if before == after => Change::Unchanged,
            (None, _) => Change::Created,
            (_, None) => Change::Removed,
            _ => Change::Changed,
        };
        Plan { path, before, after, change, backup }
    }

    pub(super) fn is_change(&self) -> bool {
        matches!(self.change, Change::Created | Change::Changed | Change::Removed)
    }

    /// Where the file's state before el is kept, if this plan keeps it.
    pub(super) fn backup(&self) -> Option<PathBuf> {
        (self.backup != Backup::Drop && self.change == Change::Changed).then(|| backup(&self.path))
    }

    /// Whether it can be written at all, so that of several files all are or none is.
    pub(super) fn check(&self) -> Result<()> {
        if !self.is_change() {
            return Ok(());
        }
        let target = resolved(&self.path);
        if target.is_symlink() {
            return Err(refused(&self.path, "it is a link to a file that is not there"));
        }
        if fs::metadata(&target)
            .is_ok_and(|found| found.permissions().readonly() || !may(&target, Access::WRITE_OK))
        {
            return Err(refused(&self.path, "the file is read-only"));
        }
        let folder = target.parent().unwrap_or(Path::new("."));
        let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
        match fs::metadata(existing) {
            Ok(found) if !found.is_dir() => Err(refused(existing, "it is no folder")),
            Ok(found)
                if found.permissions().readonly()
                    || !may(existing, Access::WRITE_OK | Access::EXEC_OK) =>
            {
                Err(refused(existing, "the folder is read-only"))
            }
            Ok(_) => Ok(()),
            Err(source) => Err(CommandError::file("look at", existing, source)),
        }
    }

    pub(super) fn write(&self) -> Result<()> {
        let kept = backup(&self.path);
        let failed =
            |doing: &'static str| move |source| CommandError::file(doing, &self.path, source);
        if self.is_change() {
            let target = resolved(&self.path);
            match &self.after {
                Some(after) => {
                    if let Some(folder) = target.parent() {
                        fs::create_dir_all(folder).map_err(failed("create the folder of"))?;
                    }
                    self.back_up(&target, &kept).map_err(failed("back up"))?;
                    replace_file(&target, after.as_bytes()).map_err(failed("write"))?;
                }
                None => {
                    remove_if_there(&target).map_err(failed("remove"))?;
                    remove_empty_folders(&target);
                }
            }
        }
        if self.backup == Backup::Drop {
            remove_if_there(&kept).map_err(failed("remove the backup of"))?;
        }
        Ok(())
    }

    fn back_up(&self, target: &Path, kept: &Path) -> io::Result<()> {
        match (self.backup, &self.before) {
            // The file was made anew since: a backup beside it is of another one.
            (Backup::Renew, None) => remove_if_there(kept),
            (Backup::Renew, Some(_)) => {
                remove_if_there(kept)?;
                fs::copy(target, kept).map(drop)
            }
            (Backup::Make, Some(_)) if !kept.exists() => fs::copy(target, kept).map(drop),
            _ => Ok(()),
        }
    }
}

/// Whether this process may, whatever the modes say: a folder may be another user's.
fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

/// Folders that only held what was ours go with it, up to Claude Code's own.
fn remove_empty_folders(file: &Path) {
    for folder in file.ancestors().skip(1).take(3) {
        let is_ours = folder.file_name().is_some_and(|name| {
            ["el", "commands", "skills", ".claude"].iter().any(|own| name == *own)
        });
        if !is_ours || fs::remove_dir(folder).is_err() {
            break;
        }
    }
}

/// Beside the file, whatever its name is.
fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-el");
    path.with_file_name(name)
}

/// Settings may be a link into somebody's dotfiles: the file behind it is what changes.
fn resolved(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| refused(path, "it is not UTF-8"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CommandError::file("read", path, source)),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
