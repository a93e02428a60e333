//! Where the tracker of the current folder is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

pub(crate) use el_agents::git::main_worktree;

use crate::error::{CommandError, Result};
use crate::exit::Exit;
use crate::session::Session;

/// The folder that holds a project's state.
pub(crate) const STATE_FOLDER: &str = ".eluent";
const DATABASE: &str = "el.db";

/// A project: its database, and its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The database file.
    pub(crate) db: PathBuf,
    /// Where the database, the configuration, runs and contexts are: usually `.eluent`.
    pub(crate) state: PathBuf,
    /// The project's folder, usually the parent of `.eluent`.
    pub(crate) root: PathBuf,
}

impl Project {
    /// The project of a database file, wherever that is.
    pub(crate) fn of_db(db: PathBuf) -> Project {
        let state = db.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
        let root = match state.file_name() {
            Some(name) if name == STATE_FOLDER => {
                state.parent().map_or_else(|| state.clone(), Path::to_owned)
            }
            _ => state.clone(),
        };
        Project { db, state, root }
    }

    /// The project whose folder is `root`.
    pub(crate) fn in_folder(root: &Path) -> Project {
        let state = root.join(STATE_FOLDER);
        Project { db: state.join(DATABASE), state, root: root.to_owned() }
    }

    /// The project's configuration file.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.state.join("config.toml")
    }

    /// The project of an agent's session: the one of its run, and no other.
    pub(crate) fn of_session(session: &Session, flag: Option<&Path>) -> Result<Project> {
        if let Some(flag) = flag
            && fs::canonicalize(flag).ok().as_ref() != Some(&session.database)
        {
            return Err(CommandError::new(
                Exit::Refused,
                "in_session",
                format!(
                    "an agent's session has the tracker of its run alone, not {}",
                    flag.display()
                ),
            )
            .with_detail("path", flag.display().to_string())
            .with_hint("leave --db out"));
        }
        Ok(Project::of_db(session.database.clone()))
    }

    /// Finds the project: `--db`, then `EL_DB`, then the nearest `.eluent/el.db` from the current
    /// folder upwards, where a linked git worktree also leads to the main worktree's.
    pub(crate) fn find_project(flag: Option<&Path>) -> Result<Project> {
        if let Some(db) = named_database(flag) {
            if !db.is_file() {
                return Err(CommandError::from(el_core::Error::NoDatabase { path: db }));
            }
            // A database has a single path, whatever links lead there: the path determines the name
            // of the tmux server.
            let db = fs::canonicalize(&db)
                .map_err(|source| CommandError::file_error("read", &db, source))?;
            return Ok(Project::of_db(db));
        }
        let cwd = current_folder()?;
        find_upwards(&cwd).ok_or_else(|| {
            CommandError::new(
                Exit::NotFound,
                "no_database",
                format!("there is no el database in {} or above it", cwd.display()),
            )
            .with_detail("searched_from", cwd.display().to_string())
            .with_hint("el init makes one in the current folder; --db or EL_DB names one elsewhere")
        })
    }
}

/// The database that a flag or the environment names.
pub(crate) fn named_database(flag: Option<&Path>) -> Option<PathBuf> {
    let variable =
        || env::var_os("EL_DB").filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    flag.map(Path::to_owned).or_else(variable)
}

/// The current folder.
///
/// # Errors
///
/// If the folder cannot be read; it may have been removed meanwhile.
pub(crate) fn current_folder() -> Result<PathBuf> {
    env::current_dir().map_err(|source| {
        CommandError::new(Exit::NotFound, "not_found", "the current folder cannot be read")
            .with_source(source)
            .with_hint("change into a folder that exists, or name the database with --db")
    })
}

/// The nearest project, from `start` upwards.
pub(crate) fn find_upwards(start: &Path) -> Option<Project> {
    start.ancestors().find_map(|folder| {
        let here = Project::in_folder(folder);
        if here.db.is_file() {
            return Some(here);
        }
        let main = main_worktree(folder)?;
        let there = Project::in_folder(&main);
        there.db.is_file().then_some(there)
    })
}

/// The linked git worktree of the project at `root` that contains `folder`, if any.
pub(crate) fn linked_worktree(folder: &Path, root: &Path) -> Option<PathBuf> {
    // The nearest repository decides: another repository may lie within the worktree.
    let top = folder.ancestors().find(|above| above.join(".git").exists())?;
    (main_worktree(top)? == root).then(|| top.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn the_nearest_database_above_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        touch(&root.join(".eluent/el.db"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        assert_eq!(find_upwards(&root.join("a/b")), Some(Project::in_folder(&root)));
        // A folder of a project without a database (a fresh clone) does not hide the one above.
        touch(&root.join("a/.eluent/config.toml"));
        assert_eq!(find_upwards(&root.join("a/b")).unwrap().root, root);
        touch(&root.join("a/.eluent/el.db"));
        assert_eq!(find_upwards(&root.join("a/b")).unwrap().root, root.join("a"));
    }

    #[test]
    fn a_linked_worktree_leads_to_the_main_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        touch(&root.join("main/.eluent/el.db"));
        let git_dir = root.join("main/.git/worktrees/side");
        touch(&git_dir.join("HEAD"));
        fs::write(git_dir.join("commondir"), "../..\n").unwrap();
        touch(&root.join("side/src/lib.rs"));
        fs::write(root.join("side/.git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        assert_eq!(find_upwards(&root.join("side/src")).unwrap().root, root.join("main"));
        assert_eq!(
            linked_worktree(&root.join("side/src"), &root.join("main")),
            Some(root.join("side"))
        );
        assert_eq!(linked_worktree(&root.join("side/src"), &root), None);
        assert_eq!(linked_worktree(&root.join("main"), &root.join("main")), None);
    }

    #[test]
    fn a_submodule_is_no_worktree() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        touch(&root.join(".git/modules/sub/HEAD"));
        touch(&root.join("sub/file"));
        fs::write(root.join("sub/.git"), "gitdir: ../.git/modules/sub\n").unwrap();
        assert_eq!(main_worktree(&root.join("sub")), None);
        fs::write(root.join("sub/.git"), "rubbish").unwrap();
        assert_eq!(main_worktree(&root.join("sub")), None);
    }

    #[test]
    fn a_database_elsewhere_has_its_state_beside_it() {
        let elsewhere = Project::of_db("/srv/data/work.db".into());
        assert_eq!(
            (elsewhere.state.as_path(), elsewhere.root.as_path()),
            (Path::new("/srv/data"), Path::new("/srv/data"))
        );
        assert_eq!(Project::of_db("/p/.eluent/el.db".into()), Project::in_folder(Path::new("/p")));
    }
}
