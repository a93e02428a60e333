use el_agents::pull_requests::{MergeEnd, MergeOptions, merge_one};
use el_core::model::PullRequest;
use el_core::ops;
use schemars::JsonSchema;
use serde::Serialize;

use crate::commands::worktrees::find_repository;
use crate::output::pull_requests::{number_text, state_words};
use crate::output::style;
use crate::{App, CommandError, Exit, Result, complete};

/// Ask the forge to merge a pull request, exactly as el pushed it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el pr merge q5e6
  el pr merge q5e6 --when-ready

A draft, open threads, requested changes, a head that el did not push, and work of an atom that
is not closed are refused. A merge queue gets it if there is one. Afterwards the forge is asked
what became of it. Exit code 4 if it was not merged.")]
pub(super) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::all_atoms())]
    atom: String,
    /// Have the forge merge it once its checks and reviews allow
    #[arg(long)]
    when_ready: bool,
}

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Merging {
    #[serde(flatten)]
    pull_request: PullRequest,
    /// The forge merges it once it may.
    is_asked: bool,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let repository = find_repository(app)?;
    let settings = app.settings_for_agents()?;
    let mut store = app.open_for_writing()?;
    let atom = ops::resolve_id(&store, &args.atom)?;
    let Some(record) = ops::pull_requests_of(&store, &atom)?.pop() else {
        return Err(CommandError::not_found(format!("{atom} has no pull request"))
            .with_hint(format!("el pr {atom} opens one")));
    };
    let options = MergeOptions { method: settings.merge_method()?, when_ready: args.when_ready };
    let ended =
        merge_one(&mut store, &app.ctx(), &repository, &settings.forges()?, &record, options)?;
    let (one, is_asked) = match ended {
        MergeEnd::Done(one) => (one, false),
        MergeEnd::Asked(one) => (one, true),
        MergeEnd::Held(why) => {
            return Err(CommandError::conflict(
                "not_merged",
                format!("{} of {atom} is not merged: {why}", number_text(&record)),
            ));
        }
    };
    let data = Merging { pull_request: *one, is_asked };
    app.printer.emit(&data, |page| {
        let one = &data.pull_request;
        let (id, number) = (page.paint(style::ID, &one.atom_id), number_text(one));
        let words = match data.is_asked {
            true => "is merged once it may be".to_owned(),
            false => state_words(one),
        };
        page.push_line(format!("{id}  {number}  {words}"));
    })
}
