use super::file::Plan;
use super::{Scope, carry_out, project_folder};
use crate::setup::{block_in, block_out};
use crate::{App, Exit, Result};

/// Other agents: a block in AGENTS.md
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el setup agents
  el setup agents --print
  el setup agents --remove

The block stands between two marks; what is outside of them is never touched. Again renews it.")]
pub(crate) struct Args {
    /// Show the changes, and write no file
    #[arg(long)]
    print: bool,
    /// Remove the entries again
    #[arg(long)]
    remove: bool,
}

const BLOCK: &str = include_str!("agents.md");

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let root = project_folder(app)?;
    let path = root.join("AGENTS.md");
    let put_in = |text: &str| Ok(block_in(text, BLOCK));
    let take_out = |text: &str| Ok(block_out(text).unwrap_or_else(|| text.to_owned()));
    let plan = if args.remove {
        Plan::take_out(path, put_in, take_out)?
    } else {
        Plan::put_in(path, put_in, take_out)?
    };
    carry_out(app, Scope::Project, args.remove, args.print, &[plan], &[])
}
