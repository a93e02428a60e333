use el_core::model::Atom;
use el_core::ops::{self, ClaimNext};
use schemars::JsonSchema;
use serde::Serialize;

use super::list::FilterArgs;
use crate::output::{List, atoms, style};
use crate::{App, Exit, Result, session};

/// Pick the best ready atom, and optionally claim the atom
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el next
  el next --claim --robot
  el next --claim --type bug --actor gendry
  el next --claim -n 20 --robot      Up to twenty at once, as a list

Picking and claiming are one step: two callers never get the same atom. An atom that is assigned
to someone else is not picked. When nothing is ready the answer is null, with exit code 0.")]
pub(crate) struct Args {
    /// Claim the atom for the actor, in the same step
    #[arg(long)]
    claim: bool,
    /// Pick up to this many, in a single step; the answer is a list
    #[arg(short = 'n', long, value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    filter: FilterArgs,
}

/// A single atom or `null`; a list if a number was given.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Picked<'a> {
    One(Option<&'a Atom>),
    Many(List<'a, Atom>),
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let which = ClaimNext {
        filter: args.filter.atom_filter(app)?,
        claim: args.claim,
        conversation: session::claude_conversation(),
    };
    let mut store = if args.claim { app.open_for_writing()? } else { app.open_for_reading()? };
    let found = ops::next_many(&mut store, &app.ctx(), &which, args.limit.unwrap_or(1))?;
    let picked = match args.limit {
        None => Picked::One(found.first()),
        Some(_) => Picked::Many(List::complete(&found)),
    };
    app.printer.emit(&picked, |page| {
        for atom in &found {
            if page.is_quiet() {
                page.push_line(&atom.id);
            } else if args.claim {
                atoms::print_done(page, "Claimed", atom);
            } else {
                let line = atoms::one_line(page, atom.status.as_str(), &atom.id, &atom.title);
                page.push_line(line);
            }
        }
        if found.is_empty() && !page.is_quiet() {
            page.push_painted(style::DIM, "nothing is ready");
        }
    })
}
