use std::collections::HashSet;

use serde_json::json;

use super::bonds::{add_bond, ensure_parent_fits, tell_of_bond};
use super::change::ensure_may_set_environment;
use crate::model::{
    Atom, BondKind, Delegation, EventKind, IssueType, Priority, RunOptions, RunOptionsPatch,
    Status, Timestamp, validate,
};
use crate::rules::budget;
use crate::store::{Store, Tx, atom, event, meta, run};
use crate::{Ctx, Error, Result};

/// An atom to create. Other atoms are named as people type ids; in [`create_many`], also by a `key`
/// of the same batch.
#[derive(Debug, Clone, Default)]
pub struct NewAtom {
    /// The atom's name within the batch, for references.
    pub key: Option<String>,
    pub title: String,
    pub description: String,
    pub acceptance: Option<String>,
    pub issue_type: Option<IssueType>,
    pub priority: Option<Priority>,
    pub labels: Vec<String>,
    /// The labels that its worker must offer.
    pub needs: Vec<String>,
    pub assignee: Option<String>,
    pub parent: Option<String>,
    /// Atoms that have to be over first.
    pub blocked_by: Vec<String>,
    /// Atoms that wait for the new atom.
    pub blocks: Vec<String>,
    /// The atom during which the new atom was found.
    pub discovered_from: Option<String>,
    /// Start as `deferred` until this time.
    pub defer_until: Option<Timestamp>,
    pub metadata: Option<serde_json::Value>,
    /// Makes the atom a delegated task, with the description as the prompt.
    pub delegation: Option<Delegation>,
    /// The settings of its runs that outrank the agent's.
    pub run_options: RunOptionsPatch,
}

/// Creates an atom.
///
/// # Errors
///
/// If a value is not legal or a reference does not resolve, the caller's run is stale, or the
/// database cannot be written.
pub fn create(store: &mut Store, ctx: &Ctx<'_>, new: &NewAtom) -> Result<Atom> {
    let mut made = create_many(store, ctx, std::slice::from_ref(new))?;
    Ok(made.remove(0))
}

/// Creates many atoms, all or none.
///
/// # Errors
///
/// As for [`create`]. The error names the position of the bad atom, from 1.
pub fn create_many(store: &mut Store, ctx: &Ctx<'_>, news: &[NewAtom]) -> Result<Vec<Atom>> {
    store.write(|tx| {
        run::fence(tx, ctx)?;
        create_in(tx, ctx, news)
    })
}

pub(super) fn create_in(tx: &Tx<'_>, ctx: &Ctx<'_>, news: &[NewAtom]) -> Result<Vec<Atom>> {
    let prefix = meta::project_prefix(tx)?;
    let mut made: Vec<Atom> = Vec::with_capacity(news.len());
    let mut keys = HashSet::new();
    for (at, new) in news.iter().enumerate() {
        if let Some(key) = new.key.as_deref().filter(|key| !keys.insert(*key)) {
            let twice = Error::invalid(
                "key",
                format!("'{key}' is the key of two atoms, and others could mean either"),
            );
            return Err(name_position(twice, at, news));
        }
        made.push(insert_atom(tx, ctx, &prefix, new).map_err(|e| name_position(e, at, news))?);
    }
    // Edges come last: an atom may refer to a later atom of the batch.
    for (at, (new, atom)) in news.iter().zip(&made).enumerate() {
        connect_atom(tx, ctx, new, atom, news, &made).map_err(|e| name_position(e, at, news))?;
    }
    made.iter().map(|atom| atom::get(tx, &atom.id)).collect()
}

fn name_position(error: Error, at: usize, news: &[NewAtom]) -> Error {
    if news.len() < 2 {
        return error;
    }
    let place = format!("(atom {} of {}, '{}')", at + 1, news.len(), news[at].title.trim());
    match error {
        Error::Invalid { field, message } => {
            Error::Invalid { field, message: format!("{message} {place}") }
        }
        Error::Conflict { code, message } => {
            Error::Conflict { code, message: format!("{message} {place}") }
        }
        // In a batch, a reference without a match, or with several, is a mistake of the line.
        Error::NotFound { .. } | Error::Ambiguous { .. } => {
            Error::Invalid { field: "file", message: format!("{error} {place}") }
        }
        other => other,
    }
}

fn insert_atom(tx: &Tx<'_>, ctx: &Ctx<'_>, prefix: &str, new: &NewAtom) -> Result<Atom> {
    let labels = validate::labels("label", &new.labels)?;
    if let Some(date) = new.defer_until {
        validate::date(date, ctx.now)?;
    }
    let metadata = new.metadata.clone().unwrap_or_else(|| json!({}));
    if !metadata.is_object() {
        return Err(Error::invalid("metadata", "metadata is a JSON object"));
    }
    budget::ensure_valid_budget(&metadata)?;
    let run_options = RunOptions::patched(None, &new.run_options)?;
    ensure_may_set_environment(ctx.session.is_some(), None, run_options.as_ref())?;
    let atom = Atom {
        record_type: Atom::RECORD_TYPE,
        id: format!("{prefix}-{}", atom::unused_short(tx)?),
        title: validate::title(&new.title)?,
        description: match new.delegation {
            Some(_) => validate::prompt(&new.description)?,
            None => validate::text("description", &new.description)?,
        },
        acceptance: new
            .acceptance
            .as_deref()
            .map(|t| validate::text("acceptance", t))
            .transpose()?,
        status: if new.defer_until.is_some() { Status::Deferred } else { Status::Open },
        issue_type: new.issue_type.unwrap_or(IssueType::Task),
        priority: new.priority.unwrap_or(Priority::DEFAULT),
        labels,
        needs: validate::labels("needs", &new.needs)?,
        assignee: new.assignee.as_deref().map(|a| validate::name("assignee", a)).transpose()?,
        parent_id: None,
        defer_until: new.defer_until,
        retry_at: None,
        close_reason: None,
        created_by: ctx.actor.to_owned(),
        created_at: ctx.now,
        updated_at: ctx.now,
        closed_at: None,
        run_id: None,
        delegation: new.delegation.clone(),
        run_options,
        metadata,
    };
    atom::insert(tx, &atom, 0)?;
    let data = json!({ "title": atom.title, "type": atom.issue_type, "priority": atom.priority });
    event::insert(tx, ctx, EventKind::Created, Some(&atom.id), None, &data)?;
    Ok(atom)
}

fn connect_atom(
    tx: &Tx<'_>,
    ctx: &Ctx<'_>,
    new: &NewAtom,
    atom: &Atom,
    news: &[NewAtom],
    made: &[Atom],
) -> Result<()> {
    let find = |text: &String| -> Result<String> {
        match news.iter().position(|n| n.key.as_ref() == Some(text)) {
            Some(at) => Ok(made[at].id.clone()),
            None => atom::resolve(tx, text),
        }
    };
    if let Some(parent) = &new.parent {
        let parent = find(parent)?;
        atom::set_parent(tx, &atom.id, &parent)?;
        ensure_parent_fits(tx, &atom.id, &parent)?;
        let ends = (parent.as_str(), atom.id.as_str());
        tell_of_bond(tx, ctx, EventKind::BondAdded, ends, BondKind::ParentChild)?;
    }
    let mut edges = Vec::new();
    for source in &new.blocked_by {
        edges.push((find(source)?, atom.id.clone(), BondKind::Blocks));
    }
    for target in &new.blocks {
        edges.push((atom.id.clone(), find(target)?, BondKind::Blocks));
    }
    if let Some(source) = &new.discovered_from {
        edges.push((find(source)?, atom.id.clone(), BondKind::DiscoveredFrom));
    }
    for (source, target, kind) in edges {
        add_bond(tx, ctx, &source, &target, kind)?;
    }
    Ok(())
}
