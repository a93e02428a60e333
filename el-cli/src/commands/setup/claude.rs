use std::path::PathBuf;

use super::file::Plan;
use super::{Scope, carry_out, project_folder, setup_error};
use crate::setup::{EditError, FILES, hooks_in, hooks_out, server_in, server_out};
use crate::{App, CommandError, Exit, Result};

/// Claude Code: its hooks, the MCP server, slash commands and a skill
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el setup claude            In this project: .claude/ and .mcp.json
  el setup claude --user     For all your projects: ~/.claude/
  el setup claude --print    Show it, and change nothing
  el setup claude --remove

It is what the plugin in the folder plugin/ of el's repository brings; use the one or the other.
The hooks tell a session that begins what is ready, and send one back that ends its turn with an
atom that it has claimed and left open. They do nothing where there is no tracker.")]
pub(crate) struct Args {
    /// For all projects of this user
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// For this project (the default)
    #[arg(long)]
    project: bool,
    /// Show the changes, and write no file
    #[arg(long)]
    print: bool,
    /// Remove the entries again
    #[arg(long)]
    remove: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let (scope, root, folder) = if args.user {
        (Scope::User, None, user_folder()?)
    } else {
        let root = project_folder(app)?;
        let folder = root.join(".claude");
        (Scope::Project, Some(root), folder)
    };
    let mut plans =
        vec![plan_edit(folder.join("settings.json"), args.remove, hooks_in, hooks_out)?];
    let mut notes = Vec::new();
    if let Some(root) = root {
        plans.push(plan_edit(root.join(".mcp.json"), args.remove, server_in, server_out)?);
        if !args.remove {
            notes.push(
                "Claude Code asks once whether the project's MCP server may be used".to_owned(),
            );
        }
    } else {
        // The client writes its own state file at any time, so `el` does not edit the file.
        let command = if args.remove {
            "claude mcp remove --scope user el"
        } else {
            "claude mcp add --scope user el -- el mcp"
        };
        notes.push(format!("the MCP server for all projects, if you want it: {command}"));
    }
    for (name, content) in FILES {
        plans.push(Plan::own_file(folder.join(name), content, args.remove)?);
    }
    carry_out(app, scope, args.remove, args.print, &plans, &notes)
}

type Edit = fn(&str) -> Result<String, EditError>;

fn plan_edit(path: PathBuf, remove: bool, put_in: Edit, take_out: Edit) -> Result<Plan> {
    let told = |edit: Edit| {
        let path = path.clone();
        move |text: &str| edit(text).map_err(|error| setup_error(&path, error))
    };
    let plan = if remove { Plan::take_out } else { Plan::put_in };
    plan(path.clone(), told(put_in), told(take_out))
}

fn user_folder() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty()) {
        return Ok(PathBuf::from(named));
    }
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let home = home.ok_or_else(|| {
        CommandError::config_error(
            "HOME",
            "HOME is not set, so your folder ~/.claude cannot be found",
        )
    })?;
    Ok(home.join(".claude"))
}
