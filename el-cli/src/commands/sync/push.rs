//! Writes atoms back into issues: only atoms that a person names and confirms, and only fields that
//! are unchanged there since the last look. No issue is closed.

use el_agents::forge::{GithubCli, IssueChange, RepoName};
use el_core::exchange::{Tracker, own_label};
use el_core::ops::{self, PushField};
use el_core::protocol::pull_request::describe_key;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::batch::read_batch;
use super::repository::scope_of;
use crate::output::{Page, sanitize, style};
use crate::{App, CommandError, Result, input};

/// The answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::commands) struct Pushed {
    repository: String,
    /// Nothing was written.
    dry_run: bool,
    count: usize,
    items: Vec<PushedIssue>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PushedIssue {
    atom_id: String,
    number: u64,
    /// The fields that differ. Those with `may_write: false` changed there too, and are left.
    fields: Vec<PushField>,
    written: bool,
    #[serde(skip)]
    labels_there: Vec<String>,
}

impl PushedIssue {
    fn has_work(&self) -> bool {
        self.fields.iter().any(|field| field.may_write)
    }
}

impl Pushed {
    /// Some fields changed there, too.
    pub(super) fn leaves_fields(&self) -> bool {
        self.items.iter().flat_map(|item| &item.fields).any(|field| !field.may_write)
    }
}

/// The choices that a person made beforehand.
#[derive(Debug, Clone, Copy)]
pub(super) struct How {
    pub(super) is_confirmed: bool,
    pub(super) dry_run: bool,
}

pub(super) fn run(
    atoms: &[String],
    how: How,
    gh: &GithubCli,
    repo: &RepoName,
    app: &App,
) -> Result<Pushed> {
    let numbers = atoms.iter().map(|atom| issue_number(app, repo, atom));
    let numbers = numbers.collect::<Result<Vec<_>>>()?;
    let items = numbers.iter().map(|number| compare_issue(app, gh, repo, *number));
    let mut pushed = Pushed {
        repository: repo.to_string(),
        dry_run: how.dry_run,
        count: 0,
        items: items.collect::<Result<_>>()?,
    };
    let has_work = pushed.items.iter().any(PushedIssue::has_work);
    if !how.dry_run && has_work && (how.is_confirmed || confirm(app, &pushed)?) {
        for item in &mut pushed.items {
            // Read right before it is written: what changed meanwhile is left.
            let now = compare_issue(app, gh, repo, item.number)?;
            let has_work = now.has_work();
            if has_work {
                gh.change_issue(repo, now.number, &change_of(&now))?;
                pushed.count += 1;
                note_written(app, repo, &now)?;
            }
            *item = PushedIssue { written: has_work, ..now };
        }
    }
    Ok(pushed)
}

/// The number of an atom's issue in this repository.
fn issue_number(app: &App, repo: &RepoName, atom: &str) -> Result<u64> {
    let shown = ops::show(&app.open_for_reading()?, atom)?;
    let scope = scope_of(repo);
    let number = |alias: &str| alias.strip_prefix(&scope)?.parse::<u64>().ok();
    shown.aliases.iter().find_map(|name| number(&name.alias)).ok_or_else(|| {
        CommandError::not_found(format!("{} has no issue in {}", shown.atom.id, repo))
            .with_hint("el show lists the names of an atom; el sync github brings issues in")
    })
}

fn compare_issue(app: &App, gh: &GithubCli, repo: &RepoName, number: u64) -> Result<PushedIssue> {
    let issue = gh.read_issue(repo, number)?;
    let labels = issue["labels"].as_array().cloned().unwrap_or_default();
    let name = |label: &Value| label["name"].as_str().map(str::to_owned);
    let labels_there = labels.iter().filter_map(name).collect();
    let batch = read_batch(&[issue])?;
    let mut planned = ops::plan_push(&app.open_for_reading()?, batch)?;
    let Some((atom, fields)) = planned.pop() else {
        return Err(CommandError::not_found(format!("issue {number} is not an atom here")));
    };
    ensure_no_key(app, &atom.id, &fields)?;
    Ok(PushedIssue { atom_id: atom.id, number, fields, written: false, labels_there })
}

/// Stops what looks like a key from going out.
fn ensure_no_key(app: &App, atom: &str, fields: &[PushField]) -> Result<()> {
    let values = app.settings()?.private_values()?;
    for field in fields.iter().filter(|field| field.may_write) {
        if let Some(like) = describe_key(&field.ours, &values) {
            let field = field.field;
            return Err(CommandError::conflict(
                "has_key",
                format!("the {field} of {atom} contains something that looks like {like}"),
            )
            .with_hint(format!("take it out: el edit {atom}; nothing of it was written"))
            .with_detail("atom_id", atom)
            .with_detail("field", field));
        }
    }
    Ok(())
}

/// Records the values there as el's own, so that they count as no change of somebody else.
fn note_written(app: &App, repo: &RepoName, item: &PushedIssue) -> Result<()> {
    let written: Vec<PushField> =
        item.fields.iter().filter(|field| field.may_write).cloned().collect();
    let (source, alias) = (Tracker::Github.as_str(), format!("{}{}", scope_of(repo), item.number));
    let mut store = app.open_for_writing()?;
    Ok(ops::note_push(&mut store, &app.ctx(), source, &alias, &written)?)
}

fn change_of(item: &PushedIssue) -> IssueChange {
    let ours = |name: &str| {
        let field = item.fields.iter().find(|field| field.field == name && field.may_write);
        field.map(|field| field.ours.clone())
    };
    let mut change =
        IssueChange { title: ours("title"), body: ours("description"), ..IssueChange::default() };
    if let Some(labels) = ours("labels") {
        let wanted: Vec<&str> = labels.split(',').filter(|label| !label.is_empty()).collect();
        // Labels are a little different here: blanks become dashes.
        let there = item.labels_there.iter();
        let there: Vec<(&String, String)> =
            there.filter_map(|label| Some((label, own_label(label)?))).collect();
        let is_new = |label: &&&str| there.iter().all(|(_, here)| here != **label);
        change.add_labels = wanted.iter().filter(is_new).map(|it| (*it).to_owned()).collect();
        let gone = there.iter().filter(|(_, here)| !wanted.contains(&here.as_str()));
        change.remove_labels = gone.map(|(label, _)| (*label).clone()).collect();
    }
    change
}

fn confirm(app: &App, pushed: &Pushed) -> Result<bool> {
    if !input::can_ask(app) {
        return Err(CommandError::usage_error("this writes at GitHub, and nobody can be asked")
            .with_hint("--dry-run shows what would be written; --yes writes it"));
    }
    app.printer.write_page(|page| pushed.print(page))?;
    input::ask_yes_no(app, &format!("write this into {}?", pushed.repository))
}

impl Pushed {
    pub(super) fn print(&self, page: &mut Page) {
        for item in &self.items {
            let did = if item.written { "Wrote" } else { "Differs:" };
            let place = format!("{}#{}", self.repository, item.number);
            if item.fields.is_empty() {
                if !page.is_quiet() {
                    page.push_line(format!("{place} is as {} is here", item.atom_id));
                }
                continue;
            }
            page.push_line(format!("{did} {place} ({})", page.paint(style::ID, &item.atom_id)));
            for field in &item.fields {
                let (theirs, ours) =
                    (sanitize::one_line(&field.theirs), sanitize::one_line(&field.ours));
                page.push_line(format!("  {}: {theirs}", field.field));
                page.push_line(if field.may_write {
                    format!("  → {ours}")
                } else {
                    "  changed there too, and is left; el sync github takes that over first"
                        .to_owned()
                });
            }
        }
    }
}
