//! Copies untracked files of the main checkout into another checkout.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Component, Path};

use super::{GitError, Result};

/// Copies or links needed untracked files into a checkout.
///
/// # Errors
/// If a file cannot be copied or linked.
pub fn copy_untracked(from: &Path, to: &Path, copy: &[String], link: &[String]) -> Result<()> {
    for name in copy {
        place_untracked(from, to, name, copy_whole)?;
    }
    for name in link {
        place_untracked(from, to, name, |from, to| symlink(from, to))?;
    }
    Ok(())
}

/// Places an untracked file or folder in a worktree. A source that does not exist is skipped, and
/// an existing target stays. No link in the target path is followed: a branch may have a link where
/// the main checkout has a folder.
fn place_untracked(
    from: &Path,
    to: &Path,
    name: &str,
    how: impl Fn(&Path, &Path) -> std::io::Result<()>,
) -> Result<()> {
    let fail = |why: String| GitError::Untracked { path: name.to_owned(), why };
    let io = |error: std::io::Error| fail(error.to_string());
    let name = Path::new(name);
    if !name.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Err(fail("it is not a path below the repository's folder".to_owned()));
    }
    let source = from.join(name);
    if fs::symlink_metadata(&source).is_err() {
        return Ok(());
    }
    // The main checkout is the user's and may contain links.
    let whole = source.parent().unwrap_or(from).canonicalize().map_err(io)?;
    if !whole.starts_with(from.canonicalize().map_err(io)?) {
        return Err(fail(format!(
            "a link on the way to it leads out of the repository, to {}",
            whole.display()
        )));
    }
    let mut target = to.to_owned();
    let mut parts = name.components().filter(|part| *part != Component::CurDir).peekable();
    while let Some(part) = parts.next() {
        target.push(part);
        let found = fs::symlink_metadata(&target);
        match found {
            Ok(_) if parts.peek().is_none() => return Ok(()),
            Ok(is) if is.is_symlink() => {
                let link = target.strip_prefix(to).unwrap_or(&target).display();
                return Err(fail(format!(
                    "the branch has a link at {link}, which is not followed"
                )));
            }
            Ok(_) => {}
            Err(_) if parts.peek().is_some() => fs::create_dir(&target).map_err(io)?,
            Err(_) => {}
        }
    }
    how(&source, &target).map_err(io)
}

/// Copies under a temporary name and renames at the end, so that an interrupted copy never looks
/// complete.
fn copy_whole(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut name = std::ffi::OsString::from(".el-copying-");
    name.push(to.file_name().unwrap_or_default());
    let half = to.with_file_name(name);
    match fs::symlink_metadata(&half) {
        Ok(is) if is.is_dir() => fs::remove_dir_all(&half)?,
        Ok(_) => fs::remove_file(&half)?,
        Err(_) => {}
    }
    copy_all(from, &half)?;
    fs::rename(&half, to)
}

/// Copies recursively to a path that does not exist yet.
fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    let found = fs::symlink_metadata(from)?;
    if found.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if found.is_file() {
        let mut file = fs::File::create_new(to)?;
        std::io::copy(&mut fs::File::open(from)?, &mut file)?;
        return file.set_permissions(found.permissions());
    }
    if !found.is_dir() {
        // Sockets and pipes are useless elsewhere.
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
