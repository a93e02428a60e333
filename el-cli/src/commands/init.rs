use std::path::Path;

use el_core::model::safe_prefix;
use el_core::{ServerAddress, Store, keep_out_of_git};
use schemars::JsonSchema;
use serde::Serialize;

use crate::backups::{self, Backups};
use crate::output::{sanitize, style, time};
use crate::project::{self, Project};
use crate::settings::Settings;
use crate::{App, CommandError, Exit, Result, locate, modes};

/// Start a tracker in the current folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el init
  el init --name shop        Ids begin with 'shop-'

In a linked git worktree the tracker is made in the main worktree, which is where el looks for
it.")]
pub(crate) struct Args {
    /// The name that ids begin with [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Create a tracker here even if a folder above has a tracker
    #[arg(long)]
    nested: bool,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Made<'a> {
    /// The tracker's folder.
    path: &'a Path,
    /// The database's file; for a tracker on a server, the path that it would have.
    db: &'a Path,
    /// The server's address, without a password; `null` if the tracker is a file.
    server: Option<&'a str>,
    /// The prefix of ids.
    repo_name: &'a str,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let project = choose_project(args, app)?;
    if args.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        return Err(CommandError::invalid_value(
            "name",
            "name: it is empty; without --name, ids begin with the folder's name",
        ));
    }
    let folder_name = project.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let prefix = safe_prefix(args.name.as_deref().or(folder_name.as_deref()).unwrap_or_default());
    let server = project.server_address()?;
    match make_folder(&project) {
        // The tables are elsewhere, and only work needs the folder.
        Err(error) if server.is_some() => {
            app.printer.warn(&format!("{error}; so no agent can work in this folder"));
        }
        made => made?,
    }
    Store::create_at(&project.db, server, &prefix, app.now())?;
    let in_file = Some(&project.db).filter(|_| server.is_none());
    let earlier = in_file.and_then(|db| Backups::for_database(db)).and_then(|backups| {
        backups.set_due(backups::FIRST, "");
        backups.newest()
    });
    let server = server.map(ServerAddress::without_password);
    let data = Made {
        path: &project.state,
        db: &project.db,
        server: server.as_deref(),
        repo_name: &prefix,
    };
    app.printer.emit_sentence(&data, |page| {
        let place = match &server {
            Some(server) => format!("on {}", sanitize::one_line(server)),
            None => format!("in {}", sanitize::path_line(&project.state)),
        };
        page.push_done("Initialized", &format!("a tracker {place}; ids begin with '{prefix}-'"));
        page.push_painted(style::DIM, "next: el create \"what is to be done\"");
    })?;
    if let Some(newest) = earlier {
        let when = time::relative_time(app.now(), newest.at);
        app.printer.note(&format!(
            "there are backups of an earlier tracker here: el restore brings back the newest, from \
             {when}; el backup list shows all"
        ));
    }
    app.warn_of_inert(&Settings::load(&project.root, &project.config_path()));
    Ok(Exit::Done)
}

pub(super) fn make_folder(project: &Project) -> Result<()> {
    modes::create_state_folder(&project.state)
        .map_err(|source| CommandError::file_error("create", &project.state, source))?;
    keep_out_of_git(&project.state).map_err(|source| {
        CommandError::file_error("write", &project.state.join(".gitignore"), source)
    })
}

/// Where the tracker is to be.
fn choose_project(args: &Args, app: &App) -> Result<Project> {
    if let Some(db) = project::named_database(app.db_flag()) {
        project::ensure_names_file(&db)?;
        let named = Project::of_db(std::path::absolute(&db).unwrap_or(db));
        // The flag names a file, and outranks a server in the environment.
        return Ok(if app.db_flag().is_some() { named } else { locate::with_server(named) });
    }
    let cwd = project::current_folder()?;
    if let Some(found) = locate::find_upwards(&cwd)
        && found.root != cwd
        && !args.nested
    {
        return Err(CommandError::conflict(
            "exists",
            format!("{} belongs to the tracker in {}", cwd.display(), found.state.display()),
        )
        .with_path(&found.state)
        .with_hint("el works from here already; --nested makes a second tracker for this folder"));
    }
    let main = cwd.ancestors().find_map(project::main_worktree).filter(|_| !args.nested);
    Ok(locate::with_server(Project::in_folder(&main.unwrap_or(cwd))))
}
