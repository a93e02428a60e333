use clap::builder::NonEmptyStringValueParser;
use el_agents::worker;
use el_core::Store;
use el_core::model::{Atom, IssueType, Priority, Status, Timestamp};
use el_core::ops::{self, AssigneeFilter, AtomFilter};
use el_core::rules::ready::Hold;
use schemars::JsonSchema;
use serde::Serialize;

use super::freed;
use crate::output::list::{List, Window, stream_lines};
use crate::output::time::{self, Towards};
use crate::output::{atoms, holds, pull_requests, style};
use crate::values::{SortArg, word_parser};
use crate::watch::WatchArgs;
use crate::{App, Exit, Result, complete};

mod tree;

/// List atoms: all that are not over, or those that match the filters
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el list
  el list --status open,blocked --label parser
  el list --type bug --priority high --sort updated
  el list --text 'time zone' --created-after 7d
  el list --waiting          Atoms that cannot begin yet, with the causes
  el list --tree             Children below their parents
  el list --all --limit 20 --robot

Conditions of different flags must all hold; of several values of one flag, one. Labels must all
be there.")]
pub(crate) struct Args {
    /// Only these statuses
    #[arg(short, long, value_parser = word_parser::<Status>(),
        value_delimiter = ',', value_name = "STATUS", conflicts_with = "all")]
    status: Vec<Status>,
    /// Also closed and won't-do atoms
    #[arg(long)]
    all: bool,
    /// Also discarded atoms
    #[arg(long)]
    include_discarded: bool,
    /// Only unfinished atoms that wait: for an atom, a parent, a date, or another try
    #[arg(long, conflicts_with_all = ["status", "all", "include_discarded"])]
    waiting: bool,
    /// As a tree of parents and children; programs get the list, with `parent_id`
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    filter: FilterArgs,
    /// The order; hybrid lists atoms older than two days by age, then the rest by priority
    #[arg(long, value_enum, value_name = "ORDER", default_value = "priority")]
    sort: SortArg,
    #[command(flatten)]
    window: Window,
    #[command(flatten)]
    watch: WatchArgs,
}

/// The filters that `list`, `ready` and `next` share.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct FilterArgs {
    /// Only these types
    #[arg(long = "type", value_parser = word_parser::<IssueType>(),
        value_delimiter = ',', value_name = "TYPE")]
    types: Vec<IssueType>,
    /// None of these types
    #[arg(long, value_parser = word_parser::<IssueType>(),
        value_delimiter = ',', value_name = "TYPE")]
    exclude_type: Vec<IssueType>,
    /// Only these priorities, as numbers or words
    #[arg(short, long, value_parser = word_parser::<Priority>(),
        value_delimiter = ',', value_name = "PRIORITY", hide_possible_values = true)]
    priority: Vec<Priority>,
    /// Only with this label
    #[arg(short, long, value_delimiter = ',', value_name = "LABEL",
        value_parser = NonEmptyStringValueParser::new())]
    label: Vec<String>,
    /// Only assigned to this name
    #[arg(short, long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    assignee: Option<String>,
    /// Only unassigned atoms
    #[arg(long, conflicts_with = "assignee")]
    unassigned: bool,
    /// Only assigned to you
    #[arg(long, conflicts_with_all = ["assignee", "unassigned"])]
    mine: bool,
    /// Only the children of this atom
    #[arg(long, value_name = "ATOM", add = complete::all_atoms())]
    parent: Option<String>,
    /// Only atoms with all of the words in the title or the description
    #[arg(long, value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
    text: Option<String>,
    /// Only created at or after this time (a date, or 7d for seven days ago)
    #[arg(long, value_name = "TIME")]
    created_after: Option<String>,
    /// Only created before this time
    #[arg(long, value_name = "TIME")]
    created_before: Option<String>,
    /// Only changed at or after this time
    #[arg(long, value_name = "TIME")]
    updated_after: Option<String>,
    /// Only last changed before this time
    #[arg(long, value_name = "TIME")]
    updated_before: Option<String>,
}

impl FilterArgs {
    /// Fails where a time cannot be read.
    pub(crate) fn atom_filter(&self, app: &App) -> Result<AtomFilter> {
        let now = app.now();
        let moment = |field: &str, text: &Option<String>| -> Result<Option<Timestamp>> {
            text.as_deref()
                .map(|text| time::parse_time(field, text, now, Towards::Past))
                .transpose()
        };
        let assignee = match (&self.assignee, self.unassigned, self.mine) {
            (Some(name), ..) => Some(AssigneeFilter::Is(name.clone())),
            (None, true, _) => Some(AssigneeFilter::Nobody),
            (None, _, true) => Some(AssigneeFilter::Is(app.actor().to_owned())),
            _ => None,
        };
        Ok(AtomFilter {
            types: self.types.clone(),
            exclude_types: self.exclude_type.clone(),
            priorities: self.priority.clone(),
            labels: self.label.clone(),
            assignee,
            parent: self.parent.clone(),
            text: self.text.clone(),
            created_after: moment("created-after", &self.created_after)?,
            created_before: moment("created-before", &self.created_before)?,
            updated_after: moment("updated-after", &self.updated_after)?,
            updated_before: moment("updated-before", &self.updated_before)?,
            ..AtomFilter::default()
        })
    }
}

impl Args {
    /// Adds the statuses to a filter. "Not over" is asked for without a list of statuses, since an
    /// index covers the question.
    fn choose_statuses(&self, filter: &mut AtomFilter) {
        if !self.status.is_empty() {
            let discarded = self.include_discarded.then_some(Status::Discard);
            filter.statuses = self.status.iter().copied().chain(discarded).collect();
        } else if self.all && self.include_discarded {
            filter.include_over = true;
        } else if self.all || self.include_discarded {
            let wanted = |status: &Status| match status {
                Status::Discard => self.include_discarded,
                status => self.all || !status.is_over(),
            };
            filter.statuses = Status::ALL.iter().copied().filter(wanted).collect();
        }
    }
}

/// One row: an atom, and with `--waiting` the atoms and dates that hold the atom.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Row {
    #[serde(flatten)]
    atom: Atom,
    /// Only with `--waiting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<Vec<Hold>>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    args.watch.follow(app, || look(args, app))
}

fn look(args: &Args, app: &App) -> Result<Exit> {
    let mut filter = args.filter.atom_filter(app)?;
    args.choose_statuses(&mut filter);
    let store = app.open_for_reading()?;
    let now = app.now();
    let is_robot = app.printer.is_robot();
    let (sort, window) = (args.sort.into(), &args.window);
    if is_robot && window.is_all() && !args.waiting {
        return stream_lines(&app.printer, |visit| {
            ops::list_lines(&store, &filter, sort, now, visit)
        });
    }
    let found = match args.waiting {
        true => {
            let (limit, offset) = (window.limit(), window.offset());
            let found = ops::waiting(&store, &filter, sort, limit, offset, now, &worker::is_there)?;
            found.map(|held| Row { atom: held.atom, holds: Some(held.holds) })
        }
        false => {
            let found = ops::list(&store, &filter, sort, window.limit(), window.offset(), now)?;
            found.map(|atom| Row { atom, holds: None })
        }
    };
    let list = List::from_page(&found);
    if is_robot {
        return app.printer.emit(&list, |_| {});
    }
    let atoms: Vec<&Atom> = found.items.iter().map(|row| &row.atom).collect();
    let waits = waits(&store, &found.items, now)?;
    let above = if args.tree { tree::above(&store, &atoms)? } else { Vec::new() };
    let below =
        if app.printer.is_terminal() { below(args, &store, &filter, now)? } else { Vec::new() };
    app.printer.emit(&list, |page| {
        if args.tree && !page.is_quiet() {
            tree::print(page, &atoms, &above, &waits);
        } else {
            atoms::print_table_with_waits(page, &atoms, &waits, now);
        }
        list.print_end(page, ["atom", "atoms", "nothing found"]);
        if !page.is_quiet() {
            for line in &below {
                page.push_painted(style::DIM, line);
            }
        }
    })
}

/// The words for the cause of each row's wait; a pull request is told until the merge.
fn waits(store: &Store, rows: &[Row], now: Timestamp) -> Result<Vec<String>> {
    let known = rows.iter().map(|row| row.holds.clone()).collect::<Option<Vec<_>>>();
    let all = match known {
        Some(all) => all,
        None => {
            let atoms: Vec<&Atom> = rows.iter().map(|row| &row.atom).collect();
            ops::waits(store, &atoms, now, &worker::is_there)?
        }
    };
    let ids: Vec<&str> = rows.iter().map(|row| row.atom.id.as_str()).collect();
    let pulls = ops::latest_pull_requests(store, &ids)?;
    let words = |(row, holds): (&Row, &Vec<Hold>)| {
        let mut told = vec![holds::briefly(holds, now)];
        let of_row = pulls.iter().find(|one| one.atom_id == row.atom.id);
        told.extend(of_row.and_then(pull_requests::briefly));
        told.retain(|words| !words.is_empty());
        told.join(", ")
    };
    Ok(rows.iter().zip(&all).map(words).collect())
}

/// Notes below the list: epics that can be closed; of the descendants of an atom, the number of
/// hidden atoms that are over, and a pointer to the view of the plan.
fn below(args: &Args, store: &Store, filter: &AtomFilter, now: Timestamp) -> Result<Vec<String>> {
    let Some(parent) = &filter.parent else {
        return Ok(ops::finished_epics(store)?.iter().map(freed::offer).collect());
    };
    let mut told = Vec::new();
    if filter.statuses.is_empty() && !filter.include_over {
        let over = AtomFilter { statuses: vec![Status::Closed, Status::WontDo], ..filter.clone() };
        let count = ops::list(store, &over, args.sort.into(), Some(1), 0, now)?.total;
        if count > 0 {
            told.push(format!(
                "{count} more {} over; --all shows them",
                if count == 1 { "is" } else { "are" }
            ));
        }
    }
    let id = ops::resolve_id(store, parent)?;
    if ops::list_orchestrated(store)?.iter().any(|epic| epic.id == id) {
        told.push(format!("el orchestrate show {id} draws the plan"));
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn chosen(line: &str) -> (Vec<&'static str>, bool) {
        let words = std::iter::once("list").chain(line.split_whitespace());
        let mut filter = AtomFilter::default();
        Line::try_parse_from(words).unwrap().args.choose_statuses(&mut filter);
        (filter.statuses.iter().map(|status| status.as_str()).collect(), filter.include_over)
    }

    #[test]
    fn by_default_what_is_over_is_left_out() {
        assert_eq!(chosen(""), (vec![], false));
        assert_eq!(chosen("-s closed,in-progress"), (vec!["closed", "in_progress"], false));
    }

    #[test]
    fn all_is_everything_but_what_was_thrown_away() {
        let (statuses, include_over) = chosen("--all");
        assert!(statuses.contains(&"wont_do") && !statuses.contains(&"discard") && !include_over);
        assert_eq!(chosen("--all --include-discarded"), (vec![], true));
        let (statuses, _) = chosen("--include-discarded");
        assert!(
            statuses.contains(&"discard")
                && statuses.contains(&"open")
                && !statuses.contains(&"closed")
        );
        assert_eq!(chosen("-s open --include-discarded").0, ["open", "discard"]);
    }
}
