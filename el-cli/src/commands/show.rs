use el_core::Store;
use el_core::model::{Atom, BondKind, Timestamp};
use el_core::ops::{self, AtomFilter, Shown, Sort};

use super::run_options;
use super::why::landing;
use crate::output::{
    OneOrMany, Page, Table, artifacts, atoms, bonds, comments, pull_requests, runs, sanitize,
    style, time,
};
use crate::{App, Exit, Result, complete};

/// Show all facts about atoms
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el show q5e6
  el show q5e6 x2            Several, one after the other
  el show q5e6 --robot
  el show q5e6 -v            Exact times, and who made it")]
pub(crate) struct Args {
    /// Ids, or unique beginnings of their short parts
    #[arg(required = true, value_name = "ATOM", add = complete::all_atoms())]
    ids: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let store = app.open_for_reading()?;
    let ids = args.ids.iter();
    let shown: Vec<Shown> = ids.map(|id| ops::show(&store, id)).collect::<el_core::Result<_>>()?;
    let more = match app.printer.is_robot() {
        true => Vec::new(),
        false => {
            shown.iter().map(|one| More::read(app, &store, one)).collect::<Result<Vec<_>>>()?
        }
    };
    app.printer.emit(&OneOrMany::for_request(args.ids.len(), &shown), |page| {
        for (at, (one, more)) in shown.iter().zip(&more).enumerate() {
            if at > 0 && !page.is_quiet() {
                page.push_blank();
            }
            print_atom(page, one, more, app, app.now());
        }
    })
}

/// The human view of an atom for a pipe: no colour, no wrapping.
///
/// A text longer than `at_once` is read in parts. Ages would shift the parts over time, so such a
/// text has dates instead.
pub(crate) fn atom_text(app: &App, id: &str, at_once: usize) -> Result<String> {
    let store = app.open_for_reading()?;
    let shown = ops::show(&store, id)?;
    let more = More::read(app, &store, &shown)?;
    let seen_at = |now| {
        let mut page = Page::new(false, None, false);
        print_atom(&mut page, &shown, &more, app, now);
        page.into_text()
    };
    let text = seen_at(app.now());
    let long_ago = Timestamp::from_micros(i64::MIN);
    Ok(if text.len() > at_once { seen_at(long_ago) } else { text })
}

/// Further facts for people.
struct More {
    children: Vec<Atom>,
    /// Why its branch did not land.
    landing: Option<String>,
}

impl More {
    fn read(app: &App, store: &Store, shown: &Shown) -> Result<More> {
        let atom = &shown.atom;
        let (parent, now) = (Some(atom.id.clone()), atom.updated_at);
        let filter = AtomFilter { parent, include_over: true, ..AtomFilter::default() };
        let children = ops::list(store, &filter, Sort::Priority, None, 0, now)?.items;
        Ok(More { children, landing: landing::describe_failed_landing(app, store, atom)? })
    }
}

fn print_atom(page: &mut Page, shown: &Shown, more: &More, app: &App, now: Timestamp) {
    let More { children, landing } = more;
    if page.is_quiet() {
        return page.push_line(&shown.atom.id);
    }
    print_head(page, &shown.atom, now);
    print_facts(page, shown, now, app.verbosity() > 0);
    page.push_text_section("Reason", shown.atom.close_reason.as_deref());
    page.push_text_section("Landing", landing.as_deref());
    page.push_text_section("Description", Some(&shown.atom.description));
    page.push_text_section("Acceptance", shown.atom.acceptance.as_deref());
    if let Some((run, summary)) =
        shown.runs.iter().rev().find_map(|run| Some((run, run.summary.as_ref()?)))
    {
        page.push_section(&format!("Handed back ({}, attempt {})", run.id, run.attempt));
        artifacts::print_brief(page, summary, &run.id, run.artifacts);
    }
    if !children.is_empty() {
        page.push_blank();
        let over = children.iter().filter(|child| child.status.is_over()).count();
        page.push_heading(&format!("Children ({over} of {} over)", children.len()));
        for child in children {
            let line = atoms::one_line(page, child.status.as_str(), &child.id, &child.title);
            page.push_line(format!("  {line}"));
        }
    }
    let bonds = &shown.dependencies;
    if bonds
        .incoming
        .iter()
        .chain(&bonds.outgoing)
        .any(|bond| bond.dependency_type != BondKind::ParentChild)
    {
        page.push_blank();
        bonds::print_but_containment(page, shown);
    }
    if !shown.comments.is_empty() {
        page.push_section(&format!("Comments ({})", shown.comments.len()));
        comments::print_comments(page, &shown.comments, now);
    }
    if !shown.runs.is_empty() {
        page.push_section(&format!("Attempts ({})", shown.runs.len()));
        runs::print_attempts(page, &shown.runs, now);
    }
}

/// Two lines: the id and title, and the status.
fn print_head(page: &mut Page, atom: &Atom, now: Timestamp) {
    let id = page.paint(style::ID, &atom.id);
    let title = page.paint(style::TITLE, &sanitize::one_line(&atom.title));
    page.push_line(format!("{id}  {title}"));
    let word = atom.status.as_str();
    let status =
        page.paint(style::status_style(word), &format!("{} {word}", style::status_mark(word)));
    let priority = atoms::priority_label(page, atom.priority);
    let updated =
        page.paint(style::DIM, &format!("updated {}", time::relative_time(now, atom.updated_at)));
    page.push_line(format!("{status} · {priority} · {} · {updated}", atom.issue_type));
}

/// Names and values, aligned; empty values are left out.
fn print_facts(page: &mut Page, shown: &Shown, now: Timestamp, exact: bool) {
    let atom = &shown.atom;
    let when = |moment: Timestamp| {
        if exact {
            format!("{moment}")
        } else {
            format!("{} ({})", time::local_time(moment), time::relative_time(now, moment))
        }
    };
    let parent = atom.parent_id.as_ref().map(|id| {
        let title =
            shown.neighbours.iter().find(|other| other.id == *id).map(|other| other.title.as_str());
        format!("{id}  {}", title.unwrap_or_default())
    });
    let names = shown
        .aliases
        .iter()
        .map(|name| format!("{} ({})", name.alias, name.source))
        .collect::<Vec<_>>()
        .join(", ");
    let live = shown.runs.iter().find(|run| run.is_live());
    let rows = [
        ("Also called", (!names.is_empty()).then_some(names)),
        ("Parent", parent),
        ("Assignee", atom.assignee.clone()),
        ("Labels", (!atom.labels.is_empty()).then(|| atom.labels.join(", "))),
        ("Needs", (!atom.needs.is_empty()).then(|| atom.needs.join(", "))),
        (
            "Working on it",
            live.map(|run| format!("{} ({}, attempt {})", run.agent, run.id, run.attempt)),
        ),
        ("Pull request", shown.pull_requests.last().map(pull_requests::brief)),
        ("Deferred until", atom.defer_until.map(when)),
        ("Tried again", atom.retry_at.filter(|at| *at > now).map(when)),
        ("Closed", atom.closed_at.map(when)),
        ("Created", Some(format!("{} by {}", when(atom.created_at), atom.created_by))),
    ];
    let options = run_options::told(atom.run_options.as_ref());
    Table::print_facts(page, rows.into_iter().chain(options));
}
