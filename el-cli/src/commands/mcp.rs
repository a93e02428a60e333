use crate::{App, Exit, Result, backups};

/// Serve the tracker to an agent as tools (Model Context Protocol)
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude mcp add el -- el mcp
  claude --mcp-config '{\"mcpServers\":{\"el\":{\"command\":\"el\",\"args\":[\"mcp\"]}}}'
  el mcp --actor gendry

It serves until stdin ends, and opens the tracker of its folder (or --db) anew for every call.
Changes are recorded as by --actor, EL_ACTOR, or else the name that the client gives itself. The
rules are those of the command line; an agent in a session of el work stays bound to its run.")]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args, app: &App, serve: fn(&App) -> Result<Exit>) -> Result<Exit> {
    if let Ok(project) = app.project() {
        backups::watch(project);
    }
    serve(app)
}
