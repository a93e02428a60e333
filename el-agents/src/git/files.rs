//! Moves the files of a checkout back to the old commit after an interrupted move.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Git, Result};

/// The mode of a submodule: a commit of another repository. Git knows only the commit.
const GITLINK: &str = "160000";

/// The files that differ between two commits.
#[derive(Debug)]
pub(super) struct Difference {
    git: Git,
    old: String,
    new: String,
    files: Vec<Changed>,
}

#[derive(Debug)]
struct Changed {
    path: PathBuf,
    /// The blob in the old commit; `None`: absent. The next field has the blob in the new commit.
    old: Option<String>,
    new: Option<String>,
    is_submodule: bool,
    /// A submodule is replaced by another kind of file, or removed.
    was_submodule: bool,
}

impl Changed {
    fn folded_path(&self) -> String {
        self.path.to_string_lossy().to_lowercase()
    }
}

/// The state of a file on the disk.
#[derive(Debug, PartialEq, Eq)]
enum OnDisk {
    Missing,
    Blob(String),
    /// A kind of file that git cannot have written.
    Other,
}

impl OnDisk {
    fn matches_blob(&self, wanted: Option<&String>) -> bool {
        match (self, wanted) {
            (OnDisk::Missing, None) => true,
            (OnDisk::Blob(found), Some(wanted)) => found == wanted,
            _ => false,
        }
    }
}

/// How putting the files back ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rollback {
    /// All files are those of the old commit.
    Done,
    /// These files match neither commit, so a person has changed them. No file was touched.
    Changed(Vec<PathBuf>),
}

impl Difference {
    /// Compares two commits in the checkout at whose top this git works.
    pub(super) fn between(git: &Git, old: &str, new: &str) -> Result<Difference> {
        let said = git.ask_bytes(
            &["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new],
            None,
        )?;
        let files = parse_raw_diff(&said).collect();
        Ok(Difference { git: git.clone(), old: old.to_owned(), new: new.to_owned(), files })
    }

    /// The submodules that change, each with the new commit.
    pub(super) fn changed_submodules(&self) -> impl Iterator<Item = (&Path, &str)> {
        let changed = self.files.iter().filter(|file| file.is_submodule);
        changed.filter_map(|file| Some((file.path.as_path(), file.new.as_deref()?)))
    }

    /// Lists the files on the disk where the new commit adds one. No commit has them, so nothing
    /// could put them back.
    pub(super) fn files_in_the_way(&self) -> Vec<PathBuf> {
        let top = self.git.folder();
        let is_there =
            |path: &Path| fs::symlink_metadata(top.join(path)).is_ok_and(|found| !found.is_dir());
        // On a disk that ignores case, the old name of a renamed file answers too.
        let removed: HashSet<String> =
            self.files.iter().filter(|file| file.new.is_none()).map(Changed::folded_path).collect();
        // Files below a submodule are left out: `describe_obstacle` reports the repository.
        let repositories: Vec<&Path> =
            self.files.iter().filter(|file| file.was_submodule).map(|file| &*file.path).collect();
        let is_inside = |path: &Path| repositories.iter().any(|folder| path.starts_with(folder));
        let added = self
            .files
            .iter()
            .filter(|file| file.old.is_none() && !file.is_submodule && !is_inside(&file.path));
        let in_the_way =
            added.filter(|file| is_there(&file.path) && !removed.contains(&file.folded_path()));
        in_the_way.map(|file| file.path.clone()).collect()
    }

    /// Returns the reason why the files must not be moved although git would move them.
    pub(super) fn describe_obstacle(&self) -> Result<Option<String>> {
        // A file in the place of a submodule would delete the repository with all its commits.
        let top = self.git.folder();
        let is_filled = |path: &Path| {
            fs::read_dir(top.join(path)).is_ok_and(|mut entries| entries.next().is_some())
        };
        let is_needed = |folder: &Path| {
            self.files.iter().any(|file| file.new.is_some() && file.path.starts_with(folder))
        };
        let lost = self
            .files
            .iter()
            .filter(|file| file.was_submodule && is_needed(&file.path) && is_filled(&file.path));
        let lost: Vec<String> = lost.map(|file| file.path.join("").display().to_string()).collect();
        if !lost.is_empty() {
            return Ok(Some(format!(
                "files that no commit has would be overwritten: {}",
                lost.join(", ")
            )));
        }
        // Git refuses these too, but rolling back could not tell them from files that git wrote.
        let in_the_way = self.files_in_the_way();
        if !in_the_way.is_empty() {
            return Ok(Some(format!(
                "files that no commit has are in the way: {}",
                first_names(&in_the_way)
            )));
        }
        // Git itself refuses these, but calls them changes, which `git status` does not show.
        let ours: HashSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        let flagged = flagged_entries(&self.git)?
            .into_iter()
            .map(|(_, path)| path)
            .filter(|path| ours.contains(path.as_path()));
        let hidden = changed_on_disk(&self.git, &flagged.collect::<Vec<_>>())?;
        let names: Vec<String> = hidden.iter().map(|path| path.display().to_string()).collect();
        Ok((!names.is_empty()).then(|| {
            format!(
                "git was told not to look at {}, which has changes (assume-unchanged or \
                 skip-worktree)",
                names.join(", ")
            )
        }))
    }

    /// Puts the files back to the old commit after an interrupted move.
    pub(super) fn roll_back(&self) -> Result<Rollback> {
        let top = self.git.folder().to_owned();
        let mut wrong = Vec::new();
        let mut back: Vec<&Changed> = Vec::new();
        let on_disk = self.on_disk()?;
        let hidden = self.not_checked_out()?;
        for (file, disk) in self.files.iter().zip(&on_disk) {
            if file.is_submodule
                || disk.matches_blob(file.old.as_ref())
                || (*disk == OnDisk::Missing && hidden.contains(&file.path))
            {
                continue;
            }
            if disk.matches_blob(file.new.as_ref()) || self.is_half_written(file, disk) {
                back.push(file)
            } else {
                wrong.push(file.path.clone())
            }
        }
        let staged = self.staged_changes()?;
        let moved = self
            .files
            .iter()
            .filter_map(|file| Some((file, staged.get(&file.path)?)))
            .collect::<Vec<_>>();
        if back.is_empty() && moved.is_empty() {
            // Git had not begun, so any change is a person's.
            return Ok(Rollback::Done);
        }
        wrong.extend(
            moved
                .iter()
                .filter(|(file, blob)| **blob != file.new)
                .map(|(file, _)| file.path.clone()),
        );
        if !wrong.is_empty() {
            wrong.sort();
            wrong.dedup();
            return Ok(Rollback::Changed(wrong));
        }
        self.git.ask_optional(&["update-index", "-q", "--refresh"])?;
        if !moved.is_empty() {
            // Git writes the index last, so all files were moved.
            self.git.ask(&["read-tree", "-m", "-u", &self.new, &self.old])?;
            return Ok(Rollback::Done);
        }
        let mut wanted: Vec<u8> = Vec::new();
        for file in &back {
            if file.old.is_some() {
                wanted.extend(file.path.as_os_str().as_bytes());
                wanted.push(0);
            } else {
                remove_file(&top, &file.path)?;
            }
        }
        if !wanted.is_empty() {
            self.git.ask_bytes(&["checkout-index", "-f", "-z", "--stdin"], Some(&wanted))?;
            self.git.ask_optional(&["update-index", "-q", "--refresh"])?;
        }
        Ok(Rollback::Done)
    }

    /// Returns true if git was interrupted while writing the file: git removes a file first, then
    /// writes the new content in place.
    fn is_half_written(&self, file: &Changed, disk: &OnDisk) -> bool {
        let Some(_) = &file.new else { return *disk == OnDisk::Missing };
        if *disk == OnDisk::Missing {
            return true;
        }
        let name = [self.new.as_bytes(), b":", file.path.as_os_str().as_bytes()].concat();
        let whole = self.git.ask_bytes(
            &["cat-file".as_ref(), "--filters".as_ref(), OsStr::from_bytes(&name)],
            None,
        );
        let there = fs::read(self.git.folder().join(&file.path));
        matches!((whole, there), (Ok(whole), Ok(there)) if whole.starts_with(&there))
    }

    /// The state on the disk of each of the files.
    fn on_disk(&self) -> Result<Vec<OnDisk>> {
        let names = self.files.iter().map(|file| file.path.as_path());
        on_disk(&self.git, &names.collect::<Vec<_>>())
    }

    /// The files that a sparse checkout leaves out.
    fn not_checked_out(&self) -> Result<HashSet<PathBuf>> {
        Ok(flagged_entries(&self.git)?
            .into_iter()
            .filter(|(flag, _)| flag.eq_ignore_ascii_case(&b'S'))
            .map(|(_, path)| path)
            .collect())
    }

    /// The entries of the index that differ from the old commit.
    fn staged_changes(&self) -> Result<HashMap<PathBuf, Option<String>>> {
        let said = self.git.ask_bytes(
            &["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", &self.old],
            None,
        )?;
        Ok(parse_raw_diff(&said).map(|file| (file.path, file.new)).collect())
    }
}

/// Lists the index entries that git does not compare with the files: the letter of `git ls-files
/// -v`, and the path.
pub(super) fn flagged_entries(git: &Git) -> Result<Vec<(u8, PathBuf)>> {
    let said = git.ask_bytes(&["ls-files", "-v", "-z"], None)?;
    let words = said.split(|byte| *byte == 0).filter(|word| word.len() > 2);
    let is_hidden = |flag: u8| flag == b'S' || flag.is_ascii_lowercase();
    Ok(words.filter(|word| is_hidden(word[0])).map(|word| (word[0], path_of(&word[2..]))).collect())
}

/// Returns those of the given index entries whose files exist with other content.
pub(super) fn changed_on_disk(git: &Git, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let said = git.ask_bytes(&["ls-files", "-s", "-z"], None)?;
    let wanted: HashSet<&PathBuf> = paths.iter().collect();
    let entries = said.split(|byte| *byte == 0).filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let blob = String::from_utf8_lossy(&line[..tab]).split(' ').nth(1)?.to_owned();
        Some((path_of(&line[tab + 1..]), blob))
    });
    let entries: Vec<(PathBuf, String)> =
        entries.filter(|(path, _)| wanted.contains(path)).collect();
    let found = on_disk(git, &entries.iter().map(|(path, _)| path.as_path()).collect::<Vec<_>>())?;
    let differs = |(_, disk): &(&(PathBuf, String), OnDisk)| *disk != OnDisk::Missing;
    let pairs = entries.iter().zip(found).filter(differs);
    Ok(pairs
        .filter(|((_, blob), disk)| !disk.matches_blob(Some(blob)))
        .map(|((path, _), _)| path.clone())
        .collect())
}

/// The folders of submodules, by the index.
pub(super) fn submodule_folders(git: &Git) -> Result<Vec<PathBuf>> {
    let said = git.ask_bytes(&["ls-files", "-s", "-z"], None)?;
    let lines = said.split(|byte| *byte == 0).filter(|line| line.starts_with(GITLINK.as_bytes()));
    Ok(lines
        .filter_map(|line| Some(path_of(&line[line.iter().position(|byte| *byte == b'\t')? + 1..])))
        .collect())
}

/// Returns the state of each file, as git would store the content.
fn on_disk(git: &Git, paths: &[&Path]) -> Result<Vec<OnDisk>> {
    let top = git.folder();
    let mut found: Vec<Option<OnDisk>> = Vec::new();
    let mut names: Vec<u8> = Vec::new();
    for path in paths {
        let whole = top.join(path);
        found.push(match fs::symlink_metadata(&whole) {
            // A folder in the place of the file belongs to the other commit.
            Err(_) => Some(OnDisk::Missing),
            Ok(is) if is.is_dir() => Some(OnDisk::Missing),
            Ok(is) if is.is_symlink() => {
                let target = fs::read_link(&whole)
                    .map_err(super::error::file_error("read the link", &whole))?;
                let said = git
                    .ask_bytes(&["hash-object", "--stdin"], Some(target.as_os_str().as_bytes()))?;
                Some(OnDisk::Blob(String::from_utf8_lossy(&said).trim().to_owned()))
            }
            Ok(is) if is.is_file() && !path.as_os_str().as_bytes().contains(&b'\n') => {
                names.extend(path.as_os_str().as_bytes());
                names.push(b'\n');
                None
            }
            Ok(_) => Some(OnDisk::Other),
        });
    }
    let said = if names.is_empty() {
        Vec::new()
    } else {
        git.ask_bytes(&["hash-object", "--stdin-paths"], Some(&names))?
    };
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut blobs = said.lines();
    Ok(found
        .into_iter()
        .map(|known| {
            known.unwrap_or_else(|| {
                blobs.next().map_or(OnDisk::Other, |blob| OnDisk::Blob(blob.to_owned()))
            })
        })
        .collect())
}

/// Names the first few of the paths.
pub(super) fn first_names(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let more =
        if paths.len() > 5 { format!(" and {} more", paths.len() - 5) } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Takes a file away, and the folders that are empty then, as git does.
fn remove_file(top: &Path, path: &Path) -> Result<()> {
    let whole = top.join(path);
    fs::remove_file(&whole).map_err(super::error::file_error("take away", &whole))?;
    for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        if fs::remove_dir(top.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

/// The lines of git's raw format, with `-z`.
fn parse_raw_diff(said: &[u8]) -> impl Iterator<Item = Changed> + '_ {
    let mut words = said.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    std::iter::from_fn(move || {
        let (head, path) = (words.next()?, words.next()?);
        let head = String::from_utf8_lossy(head).into_owned();
        let mut parts = head.trim_start_matches(':').split(' ');
        let (old_mode, new_mode, old, new) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let there = |mode: &str, blob: &str| (mode != "000000").then(|| blob.to_owned());
        Some(Changed {
            path: path_of(path),
            old: there(old_mode, old),
            new: there(new_mode, new),
            is_submodule: old_mode == GITLINK || new_mode == GITLINK,
            was_submodule: old_mode == GITLINK && new_mode != GITLINK,
        })
    })
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
