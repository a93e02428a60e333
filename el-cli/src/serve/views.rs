//! The contents of the pages.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use axum::extract::{Path, State};
use el_core::Store;
use el_core::model::{
    Atom, AtomRow, Bond, BondKind, Cost, Event, EventKind, Outcome, Run, Stamp, Status, Timestamp,
};
use el_core::ops::{self, RunFilter, Shown};
use serde::Serialize;

use super::answer::{Data, Failure};
use super::board::Board;
use super::watch::ROWS;
use crate::commands::{status, why};
use crate::looked::last_look;

/// The most rows of atoms that are sent at a time.
const ATOMS: i64 = 20_000;

/// The board of the project.
pub(super) async fn show_board(
    State(board): State<Arc<Board>>,
) -> Result<Data<ops::Board>, Failure> {
    let read = |app: &crate::app::App| {
        status::read_board(app, &app.open_for_reading()?, ROWS, last_look(app))
    };
    board.run_call(read).await.map(Data)
}

/// All atoms that are not over.
#[derive(Debug, Serialize)]
pub(super) struct Atoms {
    /// The last event that the rows cover.
    seq: i64,
    items: Vec<AtomRow>,
}

pub(super) async fn list_atoms(State(board): State<Arc<Board>>) -> Result<Data<Atoms>, Failure> {
    let read = |app: &crate::app::App| {
        let store = app.open_for_reading()?;
        // The event is read first. The stream then tells of each later change, some perhaps twice,
        // but misses none.
        let seq = ops::board_changes(&store, 0)?.seq;
        Ok(Atoms { seq, items: ops::board_atoms(&store, ATOMS)? })
    };
    board.run_call(read).await.map(Data)
}

/// The bonds that can hold an atom back, of atoms that are not over.
pub(super) async fn list_bonds(
    State(board): State<Arc<Board>>,
) -> Result<Data<Vec<Bond>>, Failure> {
    let read = |app: &crate::app::App| {
        let store = app.open_for_reading()?;
        let rows = ops::board_atoms(&store, ATOMS)?;
        let live: HashSet<&str> = rows.iter().map(|row| row.id.as_str()).collect();
        let holds = |bond: &Bond| {
            let kinds = [BondKind::Blocks, BondKind::WaitsFor, BondKind::ConditionalBlocks];
            kinds.contains(&bond.dependency_type)
                && live.contains(bond.source_id.as_str())
                && live.contains(bond.target_id.as_str())
        };
        Ok(ops::dep_all(&store)?.into_iter().filter(holds).collect())
    };
    board.run_call(read).await.map(Data)
}

/// An attempt, in a line.
#[derive(Debug, Serialize)]
pub(super) struct Attempt {
    id: String,
    atom_id: String,
    /// Empty if the atom is gone.
    title: String,
    attempt: i64,
    agent: String,
    /// Its machine, in a project that several machines share.
    host: Option<String>,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    /// The earliest time at which it could have begun, by the runs: the end of the attempt before.
    queued_at: Timestamp,
    outcome: Option<Outcome>,
    detail: Option<String>,
    turns: i64,
    #[serde(flatten)]
    cost: Cost,
}

/// The most attempts that are sent.
const RUNS: i64 = 500;

/// The last attempts at any atom, newest first.
pub(super) async fn list_runs(
    State(board): State<Arc<Board>>,
) -> Result<Data<Vec<Attempt>>, Failure> {
    let read = |app: &crate::app::App| {
        let store = app.open_for_reading()?;
        let filter = RunFilter { limit: Some(RUNS), ..RunFilter::default() };
        let found = ops::runs(&store, &filter)?.items;
        let ends: HashMap<(&str, i64), Timestamp> = found
            .iter()
            .filter_map(|run| Some(((run.atom_id.as_str(), run.attempt), run.ended_at?)))
            .collect();
        let mut atoms: HashMap<&str, Option<Atom>> = HashMap::new();
        for run in &found {
            let of_run = || ops::get_atom(&store, &run.atom_id).ok();
            atoms.entry(&run.atom_id).or_insert_with(of_run);
        }
        // Nothing is known of an atom that is gone.
        let known = |run: &Run| atoms.get(run.atom_id.as_str()).and_then(Option::as_ref);
        let queued = |run: &Run| {
            let before = ends.get(&(run.atom_id.as_str(), run.attempt - 1)).copied();
            let made = || known(run).map_or(run.started_at, |atom| atom.created_at);
            before.map_or_else(made, |end| end.min(run.started_at))
        };
        let attempts = found.iter().map(|run| Attempt {
            id: run.id.clone(),
            atom_id: run.atom_id.clone(),
            title: known(run).map(|atom| atom.title.clone()).unwrap_or_default(),
            attempt: run.attempt,
            agent: run.agent.clone(),
            host: run.supervisor.as_ref().and_then(Stamp::host).map(str::to_owned),
            started_at: run.started_at,
            ended_at: run.ended_at,
            queued_at: queued(run),
            outcome: run.outcome,
            detail: run.detail.clone(),
            turns: run.progress.turns,
            cost: run.progress.cost,
        });
        Ok(attempts.collect())
    };
    board.run_call(read).await.map(Data)
}

/// All data about an atom.
#[derive(Debug, Serialize)]
pub(super) struct AtomView {
    #[serde(flatten)]
    shown: Shown,
    /// The atoms at the other ends of its bonds.
    neighbours: Vec<Neighbour>,
    /// The text of `el why`.
    why: String,
    /// The landing of its branch, if that was after the last close.
    landed: Option<Landed>,
}

#[derive(Debug, Serialize)]
struct Landed {
    onto: String,
    at: Timestamp,
}

fn find_landing(store: &Store, atom: &Atom) -> el_core::Result<Option<Landed>> {
    let closed = atom.closed_at.filter(|_| atom.status == Status::Closed);
    let Some(closed) = closed else { return Ok(None) };
    let tells = |event: &Event| matches!(event.kind, EventKind::Landed | EventKind::LandFailed);
    let last = ops::history(store, &atom.id)?.1.into_iter().rev().find(tells);
    let landed = last.filter(|last| last.kind == EventKind::Landed && last.at >= closed);
    Ok(landed.map(|event| Landed {
        onto: event.data["onto"].as_str().unwrap_or_default().to_owned(),
        at: event.at,
    }))
}

#[derive(Debug, Serialize)]
struct Neighbour {
    id: String,
    title: String,
    status: Status,
}

pub(super) async fn show_atom(
    State(board): State<Arc<Board>>,
    Path(id): Path<String>,
) -> Result<Data<AtomView>, Failure> {
    let read = move |app: &crate::app::App| {
        let store = app.open_for_reading()?;
        let mut shown = ops::show(&store, &id)?;
        let neighbours = std::mem::take(&mut shown.neighbours)
            .into_iter()
            .map(|atom| Neighbour { id: atom.id, title: atom.title, status: atom.status })
            .collect();
        let why = why::explain_holds(&store, &shown.atom.id, app.now())?;
        let landed = find_landing(&store, &shown.atom)?;
        Ok(AtomView { shown, neighbours, why, landed })
    };
    board.run_call(read).await.map(Data)
}
