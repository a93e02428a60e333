//! Finds the tracker of the current folder.

use std::env;
use std::fs;
use std::path::Path;

use el_core::ServerAddress;

use crate::project::{Project, current_folder, ensure_names_file, main_worktree, named_database};
use crate::server::Server;
use crate::settings::{Settings, keys};
use crate::{CommandError, Exit, Result};

/// Finds the project: `--db`, then `EL_DATABASE_URL`, then `EL_DB`, then the nearest folder from
/// the current one upwards whose `.eluent` has a database or names a server. A linked git worktree
/// also leads to the main worktree's.
pub(crate) fn find_project(flag: Option<&Path>) -> Result<Project> {
    if flag.is_none()
        && let Some(server) = Server::of_environment()
    {
        let place = match named_database(None) {
            Some(db) => Project::of_db(std::path::absolute(&db).unwrap_or(db)),
            None => nearest_place(&current_folder()?),
        };
        return Ok(Project { server: Some(server), ..place });
    }
    if let Some(db) = named_database(flag) {
        ensure_names_file(&db)?;
        if !db.is_file() {
            return Err(CommandError::from(el_core::Error::NoDatabase { path: db }));
        }
        // A database has a single path, even if links lead there: the path determines the name
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

/// The project with the server that the environment or its configuration names.
pub(crate) fn with_server(mut project: Project) -> Project {
    project.server = Server::of_environment().or_else(|| configured_server(&project));
    project
}

/// The server that a project's configuration names. Such a line counts for nothing before
/// `el trust`, where there is a database file.
fn configured_server(project: &Project) -> Option<Server> {
    let path = project.config_path();
    let text = fs::read(&path).ok()?;
    // Most projects have none, and need not have their configuration read for that.
    let name = keys::DATABASE_URL.as_bytes();
    text.windows(name.len()).find(|found| *found == name)?;
    let settings = Settings::load(&project.root, &path);
    if settings.inert_names().iter().any(|inert| inert == keys::DATABASE_URL) {
        return (!project.db.is_file()).then(|| Server::Unusable {
            code: "untrusted",
            message: format!(
                "{} says that the tracker is on a server, and nobody here trusts that yet",
                path.display()
            ),
            hint: "el trust shows what it says, and asks".to_owned(),
        });
    }
    match settings.database_url() {
        Ok(url) => url.map(|url| Server::At(ServerAddress::new(&url, env::vars_os()))),
        Err(error) => Some(Server::Unusable {
            code: "config",
            message: error.message().to_owned(),
            hint: error.hints().first().cloned().unwrap_or_default(),
        }),
    }
}

/// Where the configuration of a project belongs that is on a server and that nothing names yet.
pub(crate) fn place_for_server() -> Result<Project> {
    Ok(nearest_place(&current_folder()?))
}

/// The nearest project, from `start` upwards.
pub(crate) fn find_upwards(start: &Path) -> Option<Project> {
    start
        .ancestors()
        .find_map(|folder| tracker_in(folder).or_else(|| tracker_in(&main_worktree(folder)?)))
}

/// The tracker of a folder, not of one above.
fn tracker_in(folder: &Path) -> Option<Project> {
    let here = Project::in_folder(folder);
    match configured_server(&here) {
        Some(server) => Some(Project { server: Some(server), ..here }),
        None => here.db.is_file().then_some(here),
    }
}

/// Where the files of a project on a server are: the nearest `.eluent`, or else the repository.
fn nearest_place(start: &Path) -> Project {
    let with_state = |folder: &Path| {
        let here = Project::in_folder(folder);
        here.state.is_dir().then_some(here)
    };
    let found = start
        .ancestors()
        .find_map(|folder| with_state(folder).or_else(|| with_state(&main_worktree(folder)?)));
    found.unwrap_or_else(|| {
        let main = start.ancestors().find_map(main_worktree);
        let top = || start.ancestors().find(|folder| folder.join(".git").exists());
        Project::in_folder(main.as_deref().or_else(top).unwrap_or(start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::linked_worktree;
    use crate::project::tests::touch;

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
}
