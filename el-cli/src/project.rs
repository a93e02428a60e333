//! Where the tracker of the current folder is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use el_agents::clock;
pub(crate) use el_agents::git::main_worktree;
use el_core::{Durability, SERVER_VARIABLES, ServerAddress, Store};

use crate::server::{self, Server};
use crate::session::{self, Session};
use crate::{CommandError, Exit, Result};

/// The folder that holds a project's state.
pub(crate) const STATE_FOLDER: &str = ".eluent";
const DATABASE: &str = "el.db";

/// A project: its database, and its folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The database file. Of a project on a server: where the file would be.
    pub(crate) db: PathBuf,
    /// Where the database, the configuration, runs and contexts are: usually `.eluent`.
    pub(crate) state: PathBuf,
    /// The project's folder, usually the parent of `.eluent`.
    pub(crate) root: PathBuf,
    /// The server that has the tables, if one has.
    pub(crate) server: Option<Server>,
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
        Project { db, state, root, server: None }
    }

    /// The project whose folder is `root`.
    pub(crate) fn in_folder(root: &Path) -> Project {
        let state = root.join(STATE_FOLDER);
        Project { db: state.join(DATABASE), state, root: root.to_owned(), server: None }
    }

    /// The project's configuration file.
    pub(crate) fn config_path(&self) -> PathBuf {
        self.state.join("config.toml")
    }

    /// The address of the server that has the tables, if one has.
    pub(crate) fn server_address(&self) -> Result<Option<&ServerAddress>> {
        self.server.as_ref().map(Server::address).transpose()
    }

    /// Opens the project's tables.
    pub(crate) fn open_store(&self, durability: Durability) -> Result<Store> {
        let server = self.server_address()?;
        let store = session::open_patiently(|| Store::open_at(&self.db, server, durability))?;
        clock::follow(&store);
        Ok(store)
    }

    /// Returns the words that name the project to another `el`, which has this one's environment
    /// and starts in the project's folder.
    pub(crate) fn database_flag(&self) -> Vec<OsString> {
        match self.server {
            Some(_) => Vec::new(),
            None => vec!["--db".into(), self.db.clone().into()],
        }
    }

    /// The project of an agent's session: the one of its run, and no other.
    pub(crate) fn of_session(session: &Session, flag: Option<&Path>) -> Result<Project> {
        if let Some(flag) = flag
            && fs::canonicalize(flag).ok().as_ref() != Some(&session.database)
        {
            return Err(CommandError::refused(
                "in_session",
                format!(
                    "an agent's session has the tracker of its run alone, not {}",
                    flag.display()
                ),
            )
            .with_path(flag)
            .with_hint("leave --db out"));
        }
        let server = session.server.clone().map(Server::At);
        Ok(Project { server, ..Project::of_db(session.database.clone()) })
    }
}

/// The database that a flag or the environment names.
pub(crate) fn named_database(flag: Option<&Path>) -> Option<PathBuf> {
    let variable =
        || env::var_os("EL_DB").filter(|value: &OsString| !value.is_empty()).map(PathBuf::from);
    flag.map(Path::to_owned).or_else(variable)
}

/// Refuses a server's address where a file is named.
pub(crate) fn ensure_names_file(db: &Path) -> Result<()> {
    let text = db.to_string_lossy();
    if !text.starts_with("postgres://") && !text.starts_with("postgresql://") {
        return Ok(());
    }
    let message = "--db and EL_DB name a database file, and this is the address of a server";
    Err(CommandError::new(Exit::Configuration, "not_a_file", message)
        .with_hint("EL_DATABASE_URL names a server; so does el config set database_url URL"))
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

/// This process's environment, without what leads to the project's server: for agents, checks, and
/// other programs that work for the project.
pub(crate) fn environment_for_programs(project: &Project) -> Vec<(OsString, OsString)> {
    let is_kept = |name: &OsString| {
        name != server::VARIABLE
            && (project.server.is_none() || !SERVER_VARIABLES.iter().any(|other| name == other))
    };
    env::vars_os().filter(|(name, _)| is_kept(name)).collect()
}

/// The refusal of what is done with a database file alone.
pub(crate) fn ensure_in_file(project: &Project, what: &str, instead: &str) -> Result<()> {
    if project.server.is_none() {
        return Ok(());
    }
    let message = format!("{what} is for a database file, and this tracker is on a server");
    Err(CommandError::new(Exit::Configuration, "on_server", message).with_hint(instead))
}

/// The linked git worktree of the project at `root` that contains `folder`, if any.
pub(crate) fn linked_worktree(folder: &Path, root: &Path) -> Option<PathBuf> {
    // The nearest repository decides: another repository may lie within the worktree.
    let top = folder.ancestors().find(|above| above.join(".git").exists())?;
    (main_worktree(top)? == root).then(|| top.to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn touch(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
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
