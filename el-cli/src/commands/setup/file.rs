//! Planned changes of files: all changes are planned and checked before the first is written.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use schemars::JsonSchema;
use serde::Serialize;

use super::setup_error;
use crate::replace::{remove_if_there, replace_file};
use crate::{CommandError, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Change {
    Created,
    Changed,
    Unchanged,
    Removed,
    /// The file differs from `el`'s version, and stays.
    Kept,
}

impl Change {
    pub(super) fn change_words(self, planned: bool) -> &'static str {
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

/// The planned state of a file.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) path: PathBuf,
    before: Option<String>,
    /// `None`: no file.
    pub(super) after: Option<String>,
    pub(super) change: Change,
    backup: Backup,
}

/// The fate of the backup, which holds the file's state before `el`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backup {
    /// If there is none.
    Make,
    /// Write the backup anew.
    Renew,
    Drop,
}

impl Plan {
    /// Plans to add to a file of another program. If `take_out` finds no entry of `el` in the file,
    /// the file is in the original state, and an older backup is out of date.
    pub(super) fn put_in(
        path: PathBuf,
        change: impl Fn(&str) -> Result<String>,
        take_out: impl Fn(&str) -> Result<String>,
    ) -> Result<Plan> {
        let before = read_if_present(&path)?;
        let text = before.as_deref().unwrap_or_default();
        let after = change(text)?;
        let backup = if take_out(text)? == text { Backup::Renew } else { Backup::Make };
        Ok(Plan::new(path, before, Some(after), backup))
    }

    /// Plans to remove `el`'s additions. A file that is unchanged since `el` wrote the file gets
    /// back the original bytes, or is removed if there was none; otherwise `take_out` removes the
    /// additions.
    pub(super) fn take_out(
        path: PathBuf,
        put_in: impl Fn(&str) -> Result<String>,
        take_out: impl Fn(&str) -> Result<String>,
    ) -> Result<Plan> {
        let Some(before) = read_if_present(&path)? else {
            return Ok(Plan::new(path, None, None, Backup::Drop));
        };
        let kept = read_if_present(&backup_path_of(&path))?;
        let is_as_left =
            put_in(kept.as_deref().unwrap_or_default()).is_ok_and(|left| left == before);
        let after = if is_as_left { kept } else { Some(take_out(&before)?) };
        Ok(Plan::new(path, Some(before), after, Backup::Drop))
    }

    /// A file that is el's own.
    pub(super) fn own_file(path: PathBuf, content: &str, remove: bool) -> Result<Plan> {
        let before = read_if_present(&path)?;
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

    /// The path of the backup, if this plan keeps a backup.
    pub(super) fn backup_path(&self) -> Option<PathBuf> {
        (self.backup != Backup::Drop && self.change == Change::Changed)
            .then(|| backup_path_of(&self.path))
    }

    /// Checks that the file can be written, so that either all files are written or none.
    pub(super) fn ensure_writable(&self) -> Result<()> {
        if !self.is_change() {
            return Ok(());
        }
        let target = resolve_links(&self.path);
        if target.is_symlink() {
            return Err(setup_error(&self.path, "it is a link to a file that is not there"));
        }
        if fs::metadata(&target).is_ok_and(|found| {
            found.permissions().readonly() || !may_access(&target, Access::WRITE_OK)
        }) {
            return Err(setup_error(&self.path, "the file is read-only"));
        }
        let folder = target.parent().unwrap_or(Path::new("."));
        let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
        match fs::metadata(existing) {
            Ok(found) if !found.is_dir() => Err(setup_error(existing, "it is not a folder")),
            Ok(found)
                if found.permissions().readonly()
                    || !may_access(existing, Access::WRITE_OK | Access::EXEC_OK) =>
            {
                Err(setup_error(existing, "the folder is read-only"))
            }
            Ok(_) => Ok(()),
            Err(source) => Err(CommandError::file_error("look at", existing, source)),
        }
    }

    pub(super) fn write_file(&self) -> Result<()> {
        let kept = backup_path_of(&self.path);
        let failed =
            |doing: &'static str| move |source| CommandError::file_error(doing, &self.path, source);
        if self.is_change() {
            let target = resolve_links(&self.path);
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
            // The file was made anew since, so the backup belongs to another file.
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

/// Returns true if the system grants the process the access, whatever the mode bits say: a folder
/// may be another user's.
fn may_access(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

/// Removes folders that only held `el`'s files, up to Claude Code's own folder.
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

/// The path of the backup, beside the file.
fn backup_path_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-el");
    path.with_file_name(name)
}

/// Resolves links. Settings may be a link into a dotfiles folder; then the target is changed.
fn resolve_links(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn read_if_present(path: &Path) -> Result<Option<String>> {
    match fs::read(path) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| setup_error(path, "it is not UTF-8"))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CommandError::file_error("read", path, source)),
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
