//! The files of a checkout, from one commit to the next, and back again if that was broken off.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::{Git, GitError};

/// The mode of a submodule: a commit of another repository, of whose folder git knows nothing else.
const GITLINK: &str = "160000";

/// What differs between two commits.
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
    /// What it is in the old commit and in the new one; `None`: not there.
    old: Option<String>,
    new: Option<String>,
    is_submodule: bool,
    /// A repository of its own was there, and something else comes, or nothing.
    was_submodule: bool,
}

/// What of a file is on the disk.
#[derive(Debug, PartialEq, Eq)]
enum Disk {
    Missing,
    Blob(String),
    /// Nothing that git could have put there.
    Other,
}

impl Disk {
    fn is(&self, wanted: Option<&String>) -> bool {
        match (self, wanted) {
            (Disk::Missing, None) => true,
            (Disk::Blob(found), Some(wanted)) => found == wanted,
            _ => false,
        }
    }
}

/// What putting back came to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PutBack {
    /// The files are those of the old commit.
    Done,
    /// These are of neither commit: somebody's, and nothing was touched.
    Changed(Vec<PathBuf>),
}

impl Difference {
    /// In the checkout at whose top this git works.
    pub(super) fn between(git: &Git, old: &str, new: &str) -> Result<Difference, GitError> {
        let said = git.raw(
            &["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new],
            None,
        )?;
        let files = parse(&said).collect();
        Ok(Difference { git: git.clone(), old: old.to_owned(), new: new.to_owned(), files })
    }

    /// The submodules that are at another commit in the new one, and which.
    pub(super) fn submodules(&self) -> impl Iterator<Item = (&Path, &str)> {
        let changed = self.files.iter().filter(|file| file.is_submodule);
        changed.filter_map(|file| Some((file.path.as_path(), file.new.as_deref()?)))
    }

    /// What is there and would be overwritten, though no commit has it. What git ignores is
    /// somebody's all the same; git itself would not mind.
    pub(super) fn in_the_way(&self) -> Result<Vec<PathBuf>, GitError> {
        let top = self.git.folder();
        let gone: HashSet<&Path> = self
            .files
            .iter()
            .filter(|file| file.new.is_none())
            .map(|file| file.path.as_path())
            .collect();
        let ignores_case =
            self.git.maybe(&["config", "--type=bool", "core.ignorecase"])?.as_deref()
                == Some("true");
        let lower = |path: &Path| path.to_string_lossy().to_lowercase();
        let gone_in_lower: HashSet<String> = if ignores_case {
            gone.iter().map(|path| lower(path)).collect()
        } else {
            HashSet::new()
        };
        let is_filled = |path: &Path| {
            fs::read_dir(top.join(path)).is_ok_and(|mut entries| entries.next().is_some())
        };
        let is_needed = |folder: &Path| {
            self.files.iter().any(|file| file.new.is_some() && file.path.starts_with(folder))
        };
        // Git would take a repository away with all its commits where a file comes in its place.
        let submodules =
            self.files.iter().filter(|file| file.was_submodule).map(|file| file.path.as_path());
        let mut found: Vec<PathBuf> = submodules
            .filter(|path| is_needed(path) && is_filled(path))
            .map(|path| path.join(""))
            .collect();
        for file in self.files.iter().filter(|file| file.old.is_none()) {
            // A file where a folder is needed.
            let above = file.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
            let blocking = above.filter(|path| {
                !gone.contains(path)
                    && fs::symlink_metadata(top.join(path)).is_ok_and(|found| !found.is_dir())
            });
            found.extend(blocking.map(Path::to_owned));
            match fs::symlink_metadata(top.join(&file.path)) {
                Err(_) => {}
                Ok(_) if gone_in_lower.contains(&lower(&file.path)) => {}
                // A folder that is there already is where a submodule may go.
                Ok(is) if is.is_dir() && file.is_submodule => {}
                Ok(is) if is.is_dir() => others_in(top, &file.path, &gone, &mut found),
                Ok(_) => found.push(file.path.clone()),
            }
        }
        found.dedup();
        Ok(found)
    }

    /// Whether git would move them; nothing is changed. `Some`: why not.
    pub(super) fn refused(&self) -> Result<Option<String>, GitError> {
        // Of those that git was told not to look at it may take a change for none.
        let ours: HashSet<&Path> = self.files.iter().map(|file| file.path.as_path()).collect();
        let flagged = flagged(&self.git)?
            .into_iter()
            .map(|(_, path)| path)
            .filter(|path| ours.contains(path.as_path()));
        let hidden = differing(&self.git, &flagged.collect::<Vec<_>>())?;
        if !hidden.is_empty() {
            let names: Vec<String> = hidden.iter().map(|path| path.display().to_string()).collect();
            let names = names.join(", ");
            return Ok(Some(format!(
                "git was told not to look at {names}, which has changes (assume-unchanged or skip-worktree)"
            )));
        }
        // What was only touched is no change; exit code 1 says that there are others, of which git
        // has the last word.
        self.git.maybe(&["update-index", "-q", "--refresh"])?;
        match self.git.ask(&["read-tree", "-n", "-m", "-u", &self.old, &self.new]) {
            Ok(_) => Ok(None),
            Err(GitError::Failed { said, .. }) => Ok(Some(said)),
            Err(error) => Err(error),
        }
    }

    /// Moves the files and the index, all or none but for a disk or a filter that fails half-way:
    /// [`Difference::put_back`] mends that.
    pub(super) fn apply(&self) -> Result<(), GitError> {
        self.git.ask(&["read-tree", "-m", "-u", &self.old, &self.new]).map(drop)
    }

    /// Puts the files back to the old commit, from wherever a move to the new one was broken off.
    pub(super) fn put_back(&self) -> Result<PutBack, GitError> {
        let top = self.git.folder().to_owned();
        let mut wrong = Vec::new();
        let mut back: Vec<&Changed> = Vec::new();
        let on_disk = self.on_disk()?;
        let hidden = self.not_checked_out()?;
        for (file, disk) in self.files.iter().zip(&on_disk) {
            if file.is_submodule
                || disk.is(file.old.as_ref())
                || (*disk == Disk::Missing && hidden.contains(&file.path))
            {
                continue;
            }
            if disk.is(file.new.as_ref()) || self.is_half_written(file, disk) {
                back.push(file)
            } else {
                wrong.push(file.path.clone())
            }
        }
        let staged = self.staged()?;
        let moved = self
            .files
            .iter()
            .filter_map(|file| Some((file, staged.get(&file.path)?)))
            .collect::<Vec<_>>();
        if back.is_empty() && moved.is_empty() {
            // Git had not begun: whatever is there is a person's.
            return Ok(PutBack::Done);
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
            return Ok(PutBack::Changed(wrong));
        }
        self.git.maybe(&["update-index", "-q", "--refresh"])?;
        if !moved.is_empty() {
            // Git wrote its index last: all was moved.
            self.git.ask(&["read-tree", "-m", "-u", &self.new, &self.old])?;
            return Ok(PutBack::Done);
        }
        let mut wanted: Vec<u8> = Vec::new();
        for file in &back {
            if file.old.is_some() {
                wanted.extend(file.path.as_os_str().as_bytes());
                wanted.push(0);
            } else {
                remove(&top, &file.path)?;
            }
        }
        if !wanted.is_empty() {
            self.git.raw(&["checkout-index", "-f", "-z", "--stdin"], Some(&wanted))?;
            self.git.maybe(&["update-index", "-q", "--refresh"])?;
        }
        Ok(PutBack::Done)
    }

    /// Git takes a file away before it writes it anew, and writes it in place.
    fn is_half_written(&self, file: &Changed, disk: &Disk) -> bool {
        let Some(_) = &file.new else { return *disk == Disk::Missing };
        if *disk == Disk::Missing {
            return true;
        }
        let name = [self.new.as_bytes(), b":", file.path.as_os_str().as_bytes()].concat();
        let whole = self
            .git
            .raw(&["cat-file".as_ref(), "--filters".as_ref(), OsStr::from_bytes(&name)], None);
        let there = fs::read(self.git.folder().join(&file.path));
        matches!((whole, there), (Ok(whole), Ok(there)) if whole.starts_with(&there))
    }

    /// What is on the disk of each of the files.
    fn on_disk(&self) -> Result<Vec<Disk>, GitError> {
        let names = self.files.iter().map(|file| file.path.as_path());
        on_disk(&self.git, &names.collect::<Vec<_>>())
    }

    /// What a sparse checkout leaves out.
    fn not_checked_out(&self) -> Result<HashSet<PathBuf>, GitError> {
        Ok(flagged(&self.git)?
            .into_iter()
            .filter(|(flag, _)| flag.eq_ignore_ascii_case(&b'S'))
            .map(|(_, path)| path)
            .collect())
    }

    /// Of the index, what is not as in the old commit.
    fn staged(&self) -> Result<HashMap<PathBuf, Option<String>>, GitError> {
        let said = self.git.raw(
            &["diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", &self.old],
            None,
        )?;
        Ok(parse(&said).map(|file| (file.path, file.new)).collect())
    }
}

/// The entries of the index whose changes git does not look for: the letter of `git ls-files -v`,
/// and the path.
pub(super) fn flagged(git: &Git) -> Result<Vec<(u8, PathBuf)>, GitError> {
    let said = git.raw(&["ls-files", "-v", "-z"], None)?;
    let words = said.split(|byte| *byte == 0).filter(|word| word.len() > 2);
    let is_hidden = |flag: u8| flag == b'S' || flag.is_ascii_lowercase();
    Ok(words.filter(|word| is_hidden(word[0])).map(|word| (word[0], path_of(&word[2..]))).collect())
}

/// Of these entries of the index, the files that are there and have something else in them.
pub(super) fn differing(git: &Git, paths: &[PathBuf]) -> Result<Vec<PathBuf>, GitError> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let said = git.raw(&["ls-files", "-s", "-z"], None)?;
    let wanted: HashSet<&PathBuf> = paths.iter().collect();
    let entries = said.split(|byte| *byte == 0).filter_map(|line| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let blob = String::from_utf8_lossy(&line[..tab]).split(' ').nth(1)?.to_owned();
        Some((path_of(&line[tab + 1..]), blob))
    });
    let entries: Vec<(PathBuf, String)> =
        entries.filter(|(path, _)| wanted.contains(path)).collect();
    let found = on_disk(git, &entries.iter().map(|(path, _)| path.as_path()).collect::<Vec<_>>())?;
    let differs = |(_, disk): &(&(PathBuf, String), Disk)| *disk != Disk::Missing;
    let pairs = entries.iter().zip(found).filter(differs);
    Ok(pairs
        .filter(|((_, blob), disk)| !disk.is(Some(blob)))
        .map(|((path, _), _)| path.clone())
        .collect())
}

/// The folders of submodules, by the index.
pub(super) fn submodules(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let said = git.raw(&["ls-files", "-s", "-z"], None)?;
    let lines = said.split(|byte| *byte == 0).filter(|line| line.starts_with(GITLINK.as_bytes()));
    Ok(lines
        .filter_map(|line| Some(path_of(&line[line.iter().position(|byte| *byte == b'\t')? + 1..])))
        .collect())
}

/// What git would make of each of these files.
fn on_disk(git: &Git, paths: &[&Path]) -> Result<Vec<Disk>, GitError> {
    let top = git.folder();
    let mut found: Vec<Option<Disk>> = Vec::new();
    let mut names: Vec<u8> = Vec::new();
    for path in paths {
        let whole = top.join(path);
        found.push(match fs::symlink_metadata(&whole) {
            // A folder stands where the file was only if the other commit has one there.
            Err(_) => Some(Disk::Missing),
            Ok(is) if is.is_dir() => Some(Disk::Missing),
            Ok(is) if is.is_symlink() => {
                let target = fs::read_link(&whole)
                    .map_err(super::worktree::fault("read the link", &whole))?;
                let said =
                    git.raw(&["hash-object", "--stdin"], Some(target.as_os_str().as_bytes()))?;
                Some(Disk::Blob(String::from_utf8_lossy(&said).trim().to_owned()))
            }
            Ok(is) if is.is_file() && !path.as_os_str().as_bytes().contains(&b'\n') => {
                names.extend(path.as_os_str().as_bytes());
                names.push(b'\n');
                None
            }
            Ok(_) => Some(Disk::Other),
        });
    }
    let said = if names.is_empty() {
        Vec::new()
    } else {
        git.raw(&["hash-object", "--stdin-paths"], Some(&names))?
    };
    let said = String::from_utf8_lossy(&said).into_owned();
    let mut blobs = said.lines();
    Ok(found
        .into_iter()
        .map(|known| {
            known.unwrap_or_else(|| {
                blobs.next().map_or(Disk::Other, |blob| Disk::Blob(blob.to_owned()))
            })
        })
        .collect())
}

/// Takes a file away, and the folders that are empty then, as git does.
fn remove(top: &Path, path: &Path) -> Result<(), GitError> {
    let whole = top.join(path);
    fs::remove_file(&whole).map_err(super::worktree::fault("take away", &whole))?;
    for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
        if fs::remove_dir(top.join(above)).is_err() {
            break;
        }
    }
    Ok(())
}

/// The files in a folder that are to make way for a file, and that git would not take away with it.
fn others_in(top: &Path, folder: &Path, gone: &HashSet<&Path>, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top.join(folder)).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => others_in(top, &path, gone, found),
            _ if gone.contains(path.as_path()) => {}
            _ => found.push(path),
        }
    }
}

/// The lines of git's raw format, with `-z`.
fn parse(said: &[u8]) -> impl Iterator<Item = Changed> + '_ {
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
