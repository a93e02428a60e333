use serde_json::{Value, json};

use super::super::bonds::ensure_epic_waits_for_nothing_of_its_own;
use super::super::change::{resolve_atom, taken_claim};
use super::super::create::{NewAtom, create_in};
use super::PlanSettings;
use crate::model::{Atom, EventKind, IssueType};
use crate::rules::budget::EPIC_KEY;
use crate::rules::task;
use crate::store::{Store, Tx, atom, budget, event, orchestration, run};
use crate::{Ctx, Error, Result};

/// The goal of an orchestration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Goal {
    /// A text: an epic is created for the text.
    Words(String),
    /// An atom, by id as people type ids. A task becomes an epic.
    Atom(String),
}

/// How an orchestration begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Begin {
    pub goal: Goal,
    pub settings: PlanSettings,
    /// The budget of everything below the epic, in US dollars; `None`: the epic's own budget.
    pub budget_usd: Option<f64>,
}

/// Begins an orchestration, or changes the settings of an existing orchestration.
///
/// # Errors
///
/// If the atom is over, has a live run, or is nested too deep in other orchestrations.
pub fn begin_orchestration(store: &mut Store, ctx: &Ctx<'_>, begin: &Begin) -> Result<Atom> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        let epic = match &begin.goal {
            Goal::Words(words) => create_in(tx, ctx, &[epic_of(words)])?.remove(0),
            Goal::Atom(id) => existing_epic(tx, ctx, id)?,
        };
        let mut depth = 1;
        for parent in budget::parent_ids(tx, &epic.id)? {
            if let Some(outer) = orchestration::find(tx, &parent)? {
                depth = outer.depth + 1;
                break;
            }
        }
        if depth > begin.settings.depth_max {
            return Err(Error::conflict(
                "too_deep",
                format!(
                    "{} would be orchestration number {depth} within others, and {} are allowed",
                    epic.id, begin.settings.depth_max
                ),
            ));
        }
        if let Some(usd) = begin.budget_usd {
            let mut metadata = epic.metadata.clone();
            metadata[EPIC_KEY] = json!(usd);
            record_change(
                tx,
                ctx,
                &epic,
                &Atom { metadata, ..epic.clone() },
                "metadata",
                &epic.metadata,
            )?;
        }
        let settings =
            serde_json::to_string(&begin.settings).expect("settings have string keys only");
        let before = orchestration::find(tx, &epic.id)?.map(|known| known.settings);
        if before.as_ref() != Some(&settings) {
            orchestration::put_settings(tx, &epic.id, depth, &settings, ctx.now)?;
            let data = json!({ "settings": begin.settings, "depth": depth });
            event::insert(tx, ctx, EventKind::Orchestrated, Some(&epic.id), None, &data)?;
        }
        atom::get(tx, &epic.id)
    })
}

fn existing_epic(tx: &Tx<'_>, ctx: &Ctx<'_>, id: &str) -> Result<Atom> {
    let found = resolve_atom(tx, id)?;
    if found.status.is_over() {
        return Err(Error::conflict(
            "over",
            format!("{} is {}; reopen it before it can be orchestrated", found.id, found.status),
        ));
    }
    if found.run_id.is_some() {
        return Err(Error::conflict(
            "claimed",
            format!("{} is being worked on; cancel its run first", found.id),
        ));
    }
    taken_claim(ctx, None, &found, false)?;
    if orchestration::is_question(tx, &found.id)? {
        return Err(Error::conflict(
            "asks",
            format!(
                "{} is a question of another orchestration, and has no plan of its own",
                found.id
            ),
        ));
    }
    if found.issue_type == IssueType::Epic {
        return Ok(found);
    }
    let epic = Atom { issue_type: IssueType::Epic, ..found.clone() };
    record_change(tx, ctx, &found, &epic, "issue_type", &json!(found.issue_type))?;
    ensure_epic_waits_for_nothing_of_its_own(tx, &epic.id)?;
    Ok(epic)
}

/// Writes changed fields of an epic with an event; `field` names the change.
fn record_change(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    before: &Atom,
    after: &Atom,
    field: &str,
    from: &Value,
) -> Result<()> {
    if before == after {
        return Ok(());
    }
    atom::update_fields(tx, before, &Atom { updated_at: ctx.now, ..after.clone() })?;
    let to = serde_json::to_value(after).expect("an atom has string keys only")[field].clone();
    let data = json!({ field: { "from": from, "to": to } });
    event::insert(tx, ctx, EventKind::Updated, Some(&before.id), None, &data)
}

/// Makes an epic of a text. The title is the first line, as far as a list can show the line; the
/// rest becomes the description.
fn epic_of(words: &str) -> NewAtom {
    let words = words.trim();
    let title = task::title_from_prompt(words);
    let (first, rest) = words.split_once('\n').unwrap_or((words, ""));
    // A heading in the first line is only a heading of the text.
    let is_whole = first.trim_matches(['#', ' ', '\t', '\r']) == title.trim_matches('#');
    let description = if is_whole { rest.trim() } else { words };
    NewAtom {
        title,
        description: description.to_owned(),
        issue_type: Some(IssueType::Epic),
        ..NewAtom::default()
    }
}

/// Lets every worker take the tasks of a plan while `worker` is signed on. The tasks of a plan
/// without a driver are held.
///
/// # Errors
///
/// If the atom is not orchestrated, or the database cannot be written.
pub fn share_plan(store: &mut Store, epic: &str, worker: &str) -> Result<()> {
    store.write(|tx| orchestration::set_driver(tx, epic, worker))
}

/// Returns the orchestrated epics, newest first.
///
/// # Errors
///
/// If the database cannot be read.
pub fn list_orchestrated(store: &Store) -> Result<Vec<Atom>> {
    store.read(|tx| {
        let ids = orchestration::list_epics(tx)?;
        Ok(ids
            .iter()
            .map(|id| atom::find(tx, id))
            .collect::<Result<Vec<_>>>()?
            .into_iter()
            .flatten()
            .collect())
    })
}
