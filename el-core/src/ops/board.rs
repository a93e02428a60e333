//! The one read model of the boards: `el status`, `el top` and `el serve` all show it.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::budget::held_back;
use super::explain::load_surroundings;
use super::pause::paused_in;
use super::placement::find_unplaced;
use crate::Result;
use crate::model::{AtomRow, DoneRow, Event, Forecast, Need, Pause, RunRow, Timestamp, Worker};
use crate::rules::attention::sort_needs;
use crate::rules::budget::{day_number, day_start};
use crate::rules::forecast::{Known, look_ahead};
use crate::rules::ready::Hold;
use crate::store::{Store, Tx, atom, board as rows, budget, event, forecast, meta, worker};

use odd::Working;

mod branches;
mod denied;
mod entry;
mod found;
mod freed;
mod fresh;
mod held;
mod needs;
mod odd;
mod overlaps;
mod plans;
mod pulls;

pub use branches::{BranchToLand, add_branches};
pub use fresh::mark_fresh;
pub use overlaps::add_overlaps;
pub use pulls::PullRow;

/// The limit of every count on the board; `capped` marks a count that reached it.
const COUNTED: i64 = 1_000;
/// The number of past runs from which times and costs are estimated.
const PAST: i64 = 200;
/// The most events of a delta; a client that is further behind reads the whole board.
const DELTA_MAX: i64 = 1_000;

/// A part of the board: the first rows, and how many there are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Part<T> {
    pub count: usize,
    /// Counted no further than 1000.
    pub total: i64,
    /// There are more than `total`.
    pub capped: bool,
    pub truncated: bool,
    pub items: Vec<T>,
}

impl<T> Part<T> {
    fn new(mut items: Vec<T>, total: i64, most: usize, is_capped: bool) -> Part<T> {
        items.truncate(most);
        let count = items.len();
        let seen = i64::try_from(count).unwrap_or(i64::MAX);
        let total = total.max(seen);
        Part { count, total, capped: is_capped, truncated: seen < total || is_capped, items }
    }
}

/// An atom that waits for something other than a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WaitRow {
    #[serde(flatten)]
    pub atom: AtomRow,
    /// The reasons why the atom waits; never empty.
    pub holds: Vec<Hold>,
}

/// The project at one moment, as the boards show it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Board {
    /// The last event that the board knows: the cursor for [`board_changes`].
    pub seq: i64,
    pub now: Timestamp,
    /// The decisions that wait for a person, the most urgent first.
    pub needs: Part<Need>,
    /// Oldest first.
    pub running: Part<RunRow>,
    /// In the order of the queue.
    pub ready: Part<AtomRow>,
    /// In the order of the queue.
    pub waiting: Part<WaitRow>,
    /// The atoms that people hold: those that a person has begun, then those that a person put off
    /// without a date.
    pub held: Part<AtomRow>,
    /// The pull requests that can still be merged, oldest first.
    pub pull_requests: Part<PullRow>,
    /// The atoms that became closed or won't-do within the last 1000 events, newest first.
    pub done: Part<DoneRow>,
    /// The workers that live.
    pub workers: usize,
    /// A pause that stops all claims.
    pub pause: Option<Pause>,
    /// Why a worker holds back ready atoms, because of the machine.
    pub held_back: Option<String>,
    /// The cost of all runs of the day (UTC).
    pub spent_today_micros: i64,
    /// The estimated part of that cost, over the last 200 runs.
    pub estimated_today_micros: i64,
    pub budget_today_micros: Option<i64>,
    /// When a person will probably be needed next, and what runs out first.
    pub forecast: Forecast,
    /// The last event when this person looked; `null`: never, or the caller named no person.
    pub looked: Option<i64>,
    /// The atoms on the board that others changed after `looked`.
    pub fresh: Vec<String>,
}

/// The changes of the board since an event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BoardDelta {
    pub since: i64,
    /// The cursor for the next call.
    pub seq: i64,
    /// The cursor is not of this tracker, or too far behind: read the whole board.
    pub reset: bool,
    /// The atoms that the events are about, as they are now.
    pub atoms: Vec<AtomRow>,
    /// The atoms that are gone.
    pub gone: Vec<String>,
    /// Oldest first.
    pub events: Vec<Event>,
}

/// Returns the board: of each part the first `most` rows. `is_there` tells if a worker's process
/// still runs.
///
/// # Errors
///
/// If the database cannot be read.
pub fn board(
    store: &Store,
    most: usize,
    now: Timestamp,
    is_there: &dyn Fn(&Worker) -> bool,
) -> Result<Board> {
    let mut there = store.read(worker::list_workers)?;
    there.retain(|worker| is_there(worker));
    let workers = there.len();
    there.retain(|worker| !worker.stop_requested);
    store.read(|tx| {
        let mut unplaced = find_unplaced(tx, &there)?;
        let (ready, waiting) = queue_parts(tx, most, now, &mut unplaced)?;
        let running = rows::list_running(tx, COUNTED)?;
        let working = Working {
            runs: forecast::list_at_work(tx, COUNTED)?,
            past: forecast::list_past(tx, PAST)?,
        };
        let pulls = pulls::list_pulls(tx)?;
        let ready_total = ready.total;
        let mut needs =
            needs::list_needs(tx, &running, &working, &pulls, workers, ready_total, now)?;
        let is_tried_again =
            |row: &&WaitRow| row.holds.iter().any(|hold| matches!(hold, Hold::BackOff { .. }));
        let tried = waiting.items.iter().filter(is_tried_again).map(|row| &row.atom);
        needs::add_branchless(tx, ready.items.iter().chain(tried), &mut needs)?;
        needs::add_unplaced(unplaced.into_values(), now, &mut needs);
        sort_needs(&mut needs.found);
        let running_total = rows::count_running(tx)?;
        let cap = meta::get(tx, meta::BUDGET_PER_DAY)?.and_then(|text| text.parse().ok());
        let spent = budget::spent_on(tx, day_number(now))?;
        let at_work: Vec<_> = working.runs.into_iter().map(|(_, work)| work).collect();
        let forecast = look_ahead(&Known {
            now,
            is_needed: needs.total > 0,
            past: &working.past,
            running: &at_work,
            ready: ready.total,
            spent_micros: spent,
            budget_micros: cap,
        });
        Ok(Board {
            seq: event::last(tx)?,
            now,
            needs: Part::new(needs.found, needs.total, most, needs.is_capped),
            running: Part::new(running, running_total, most, false),
            ready,
            waiting,
            held: held::held_part(tx, most)?,
            pull_requests: pulls::pull_part(pulls, most),
            done: done_part(tx, most)?,
            workers,
            pause: paused_in(tx, now)?,
            held_back: held_back(tx, now)?,
            spent_today_micros: spent,
            estimated_today_micros: forecast::estimated_since(tx, day_start(now), PAST)?,
            budget_today_micros: cap,
            forecast,
            looked: None,
            fresh: Vec::new(),
        })
    })
}

/// Lists the atoms that were done lately.
fn done_part(tx: &Tx<'_>, most: usize) -> Result<Part<DoneRow>> {
    let mut seen = HashSet::new();
    let mut lately = rows::list_done(tx, COUNTED)?;
    lately.retain(|(id, _)| seen.insert(id.clone()));
    let mut done = Vec::new();
    for (id, _) in lately.iter().take(most) {
        done.extend(rows::done_row(tx, id)?);
    }
    // Atoms that were reopened since are not done.
    let gone = lately.len().min(most) - done.len();
    Ok(Part::new(done, i64::try_from(lately.len() - gone).unwrap_or(i64::MAX), most, false))
}

/// The ready atoms, and those that wait, from one walk along the queue. Of the atoms that no worker
/// can take, those that are ready stay in `unplaced`.
fn queue_parts(
    tx: &Tx<'_>,
    most: usize,
    now: Timestamp,
    unplaced: &mut HashMap<String, Vec<String>>,
) -> Result<(Part<AtomRow>, Part<WaitRow>)> {
    let mut queue = rows::walk_queue(tx, now, COUNTED)?;
    let count = |of: usize| i64::try_from(of).unwrap_or(i64::MAX);
    let is_unplaced = |(_, id): &mut (_, String)| unplaced.contains_key(id);
    let beyond: Vec<_> = queue.ready.extract_if(.., is_unplaced).collect();
    let ready_beyond: HashSet<&String> = beyond.iter().map(|(_, id)| id).collect();
    let mut ready = Vec::new();
    for (_, id) in queue.ready.iter().take(most) {
        ready.extend(rows::atom_row(tx, id)?);
    }
    let ready = Part::new(ready, count(queue.ready.len()), most, queue.is_cut);
    let blocked = rows::list_blocked_by(tx, COUNTED)?;
    let is_cut = queue.is_cut || count(blocked.len()) == COUNTED;
    let all_unplaced = unplaced.clone();
    unplaced.retain(|id, _| ready_beyond.contains(id));
    let mut held = queue.held;
    held.extend(beyond);
    held.extend(blocked);
    held.sort_unstable();
    let mut waiting = Vec::new();
    for (_, id) in held.iter().take(most) {
        let (Some(row), Some(found)) = (rows::atom_row(tx, id)?, atom::find(tx, id)?) else {
            continue;
        };
        let mut holds = load_surroundings(tx, &found)?.find_holds(id, now);
        holds.retain(|hold| !matches!(hold, Hold::Abstract { .. }));
        holds.extend(all_unplaced.get(id).map(|needs| Hold::Needs { needs: needs.clone() }));
        waiting.push(WaitRow { atom: row, holds });
    }
    Ok((ready, Part::new(waiting, count(held.len()), most, is_cut)))
}

/// Returns the rows of all atoms that are not over, in the order of the queue, no more than `most`.
///
/// # Errors
///
/// If the database cannot be read.
pub fn board_atoms(store: &Store, most: i64) -> Result<Vec<AtomRow>> {
    store.read(|tx| rows::live_atoms(tx, most))
}

/// Returns what changed after the event `since`. Heartbeats, actions and costs write no event: they
/// are in the board's `running`.
///
/// # Errors
///
/// If the database cannot be read.
pub fn board_changes(store: &Store, since: i64) -> Result<BoardDelta> {
    store.read(|tx| {
        let seq = event::last(tx)?;
        let mut delta = BoardDelta {
            since,
            seq,
            reset: since > seq || seq - since > DELTA_MAX,
            atoms: Vec::new(),
            gone: Vec::new(),
            events: Vec::new(),
        };
        if delta.reset {
            return Ok(delta);
        }
        delta.events = event::list(tx, None, since, DELTA_MAX)?;
        let mut seen = HashSet::new();
        for id in delta.events.iter().filter_map(|event| event.atom_id.as_ref()) {
            if !seen.insert(id) {
                continue;
            }
            match rows::atom_row(tx, id)? {
                Some(row) => delta.atoms.push(row),
                None => delta.gone.push(id.clone()),
            }
        }
        Ok(delta)
    })
}
