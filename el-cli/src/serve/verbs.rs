//! The actions of a person in the browser: the verbs of `ops/`, in the person's name.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use el_core::model::{Atom, CancelMode, IssueType, Priority, Status, Timestamp};
use el_core::ops::{self, AtomPatch, NewAtom};
use el_core::{Ctx, Store};
use serde::Deserialize;

use super::answer::{Data, Failure};
use super::board::Board;
use super::body::Body;
use super::notes::{self, Note};
use crate::commands::close::guard_for_caller;
use crate::commands::land;
use crate::output::time::{self, Towards};
use crate::{App, CommandError, Result};

/// A change of an atom. Each verb takes its own keys and refuses the others.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    /// `updated_at` as the page showed it; nothing is done if the atom has changed since.
    seen: Option<String>,
    /// A comment, an answer, or a reason.
    text: Option<String>,
    priority: Option<i64>,
    /// A date as on the command line: `tomorrow`, `3h`.
    until: Option<String>,
    /// Remarks on lines of the diff.
    notes: Option<Vec<Note>>,
    /// For a cancel: the atom is open again.
    requeue: Option<bool>,
    /// For a landing: first commit the files that the agent left uncommitted.
    commit: Option<bool>,
}

/// A new atom.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    title: String,
    #[serde(default)]
    description: String,
    acceptance: Option<String>,
    #[serde(rename = "type")]
    issue_type: Option<String>,
    priority: Option<i64>,
    #[serde(default)]
    labels: Vec<String>,
    parent: Option<String>,
}

/// Files an atom.
pub(super) async fn create_atom(
    State(board): State<Arc<Board>>,
    Body(draft): Body<Draft>,
) -> Result<Data<Atom>, Failure> {
    ensure_writable(&board)?;
    let file = move |app: &App| {
        let new = NewAtom {
            title: draft.title,
            description: draft.description,
            acceptance: draft.acceptance.filter(|text| !text.trim().is_empty()),
            issue_type: draft.issue_type.map(|word| word.parse::<IssueType>()).transpose()?,
            priority: draft.priority.map(Priority::new).transpose()?,
            labels: draft.labels,
            parent: draft.parent,
            ..NewAtom::default()
        };
        Ok(ops::create(&mut app.open_for_writing()?, &app.ctx(), &new)?)
    };
    board.run_call(file).await.map(Data)
}

/// Changes an atom, and answers with the atom as it is then.
pub(super) async fn change_atom(
    State(board): State<Arc<Board>>,
    Path((id, verb)): Path<(String, String)>,
    Body(change): Body<Change>,
) -> Result<Data<Atom>, Failure> {
    ensure_writable(&board)?;
    let Ok(verb) = serde_json::from_value(verb.into()) else {
        let text = "there is no such verb";
        return Err(Failure::new(StatusCode::NOT_FOUND, "not_found", text));
    };
    board.run_call(move |app| carry_out(app, &id, verb, change)).await.map(Data)
}

pub(super) fn ensure_writable(board: &Board) -> Result<(), Failure> {
    if board.is_read_only {
        let text = "this board only shows: el serve runs with --read-only";
        return Err(Failure::new(StatusCode::FORBIDDEN, "read_only", text));
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verb {
    Approve,
    Reject,
    Comment,
    Answer,
    Reopen,
    Retry,
    Cancel,
    Priority,
    Defer,
    WontDo,
    Land,
}

fn carry_out(app: &App, id: &str, verb: Verb, change: Change) -> Result<Atom> {
    let mut store = app.open_for_writing()?;
    let id = ops::resolve_id(&store, id)?;
    let seen = change.seen.as_deref().map(Timestamp::parse).transpose()?;
    if let Some(seen) = seen {
        ops::expect_unchanged(&mut store, &id, seen)?;
    }
    do_verb(app, &mut store, &id, verb, change)?;
    Ok(ops::get_atom(&store, &id)?)
}

fn do_verb(app: &App, store: &mut Store, id: &str, verb: Verb, change: Change) -> Result<()> {
    let ctx = app.ctx();
    let Change { seen: _, text, priority, until, notes, requeue, commit } = change;
    let ids = [id];
    match verb {
        Verb::Approve => drop(ops::approve(store, &ctx, &ids, text.as_deref())?),
        Verb::Reject => {
            let reason =
                notes::rejection_text(&text.unwrap_or_default(), &notes.unwrap_or_default());
            drop(ops::reject(store, &ctx, id, &reason)?);
        }
        Verb::Comment => drop(ops::add_comment(store, &ctx, id, &text.unwrap_or_default())?),
        Verb::Answer => {
            ops::add_comment(store, &ctx, id, &text.unwrap_or_default())?;
            drop(ops::retry(store, &ctx, id)?);
        }
        Verb::Reopen => drop(ops::reopen(store, &ctx, &ids)?),
        Verb::Retry => drop(ops::retry(store, &ctx, id)?),
        Verb::Cancel => {
            let is_requeued = requeue.unwrap_or_default();
            let mode = if is_requeued { CancelMode::Requeue } else { CancelMode::Hold };
            drop(ops::cancel(store, &ctx, id, mode, text.as_deref())?);
        }
        Verb::Priority => {
            let Some(priority) = priority else {
                return Err(CommandError::invalid_value("priority", "a priority is needed"));
            };
            let priority = Some(Priority::new(priority)?);
            update_atom(app, store, &ctx, id, &AtomPatch { priority, ..AtomPatch::default() })?;
        }
        Verb::Defer => {
            let until = until.filter(|text| !text.trim().is_empty());
            let date = until
                .map(|text| time::parse_time("until", &text, app.now(), Towards::Future))
                .transpose()?;
            let patch = AtomPatch {
                status: Some(Status::Deferred),
                defer_until: date.map(Some),
                reason: text,
                ..AtomPatch::default()
            };
            update_atom(app, store, &ctx, id, &patch)?;
        }
        Verb::WontDo => {
            let patch =
                AtomPatch { status: Some(Status::WontDo), reason: text, ..AtomPatch::default() };
            update_atom(app, store, &ctx, id, &patch)?;
        }
        Verb::Land => land::land_atom(app, id, commit.unwrap_or_default())?,
    }
    Ok(())
}

fn update_atom(
    app: &App,
    store: &mut Store,
    ctx: &Ctx<'_>,
    id: &str,
    patch: &AtomPatch,
) -> Result<()> {
    ops::update(store, ctx, &[id], patch, &guard_for_caller(app, Vec::new()))?;
    Ok(())
}
