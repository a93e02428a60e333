//! A tracker goes from one database to another, and may come back by the same way.
//!
//! Two databases have no common commit, so there are three, and each leaves a state from which the
//! same call goes on. (1) The target gets all rows, and is closed to changes: the source holds its
//! lock of writers meanwhile. (2) The source is closed, with a note of where the tracker is. (3)
//! The target is opened, if the source's note names this very move. Before (2) the source is the
//! tracker, and a later call begins anew; after it, a later call does (3). Both are never open.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::closed::{self, Closed};
use super::{ServerAddress, Store, Tx, meta, roles, run};
use crate::error::Doing;
use crate::{Error, Result, model};

mod rows;
#[cfg(test)]
pub(super) use rows::digests;
mod target;

/// Where a tracker is to go.
#[derive(Debug, Clone, Copy)]
pub enum MoveTarget<'a> {
    File(&'a Path),
    Server(&'a ServerAddress),
}

/// Both sides in words for people, without passwords.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    pub from: &'a str,
    pub to: &'a str,
}

/// Receives the number of copied rows and the total. An error ends the move at this point.
pub type Step<'a> = dyn FnMut(u64, u64) -> Result<()> + 'a;

/// A table that was copied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableCopy {
    pub name: &'static str,
    pub rows: u64,
    /// The digest of the rows, in any order; the same on both sides. Empty if none was made.
    pub digest: String,
}

/// The state of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MoveState {
    /// The call was a rehearsal and changed nothing.
    Planned,
    Moved,
    /// An earlier call copied everything, and was ended before it was done.
    Finished,
    /// An earlier call did it all.
    MovedBefore,
}

/// The result of a move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MoveReport {
    pub state: MoveState,
    /// The copied tables; empty if an earlier call copied them.
    pub tables: Vec<TableCopy>,
}

const MOVING: &str = "move the tracker";

/// The values that identify a tracker, wherever it is.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    prefix: Option<String>,
    created_at: Option<String>,
}

impl Identity {
    fn read(tx: &Tx<'_>) -> Result<Identity> {
        let (prefix, created_at) = (meta::get(tx, meta::PREFIX)?, meta::get(tx, meta::CREATED_AT)?);
        Ok(Identity { prefix, created_at })
    }

    fn write(&self, tx: &Tx<'_>) -> Result<()> {
        for (key, value) in [(meta::PREFIX, &self.prefix), (meta::CREATED_AT, &self.created_at)] {
            if let Some(value) = value {
                meta::set(tx, key, value)?;
            }
        }
        Ok(())
    }
}

/// The tracker that is to be moved, and the two places.
struct Origin<'a> {
    identity: Identity,
    /// The moves by which the tracker came here, apart by blanks.
    arrivals: String,
    places: Places<'a>,
}

impl<'a> Origin<'a> {
    fn read(tx: &Tx<'_>, places: Places<'a>) -> Result<Origin<'a>> {
        roles::ensure_mover(tx)?;
        let arrivals = meta::get(tx, meta::ARRIVED)?.unwrap_or_default();
        Ok(Origin { identity: Identity::read(tx)?, arrivals, places })
    }
}

/// Returns true if a tracker came by this move, now or earlier.
fn came_by(arrivals: &str, id: &str) -> bool {
    arrivals.split_whitespace().any(|arrival| arrival == id)
}

impl Store {
    /// Says what a move would do, or why it would be refused. Changes nothing.
    ///
    /// # Errors
    ///
    /// As for [`Store::move_to`].
    pub fn plan_move(&self, target: &MoveTarget<'_>, places: Places<'_>) -> Result<MoveReport> {
        if let Some(closed) = &self.closed {
            return Err(closed.error());
        }
        let origin = self.read(|tx| Origin::read(tx, places))?;
        if let Some(there) = target.open(&self.path, None)? {
            there.read(|tx| ensure_free(tx, &origin))?;
        }
        self.read(|tx| {
            ensure_nothing_runs(tx)?;
            let counts = rows::count_rows(tx)?;
            let table = |(name, rows)| TableCopy { name, rows, digest: String::new() };
            let tables = super::tables::TABLES.into_iter().zip(counts).map(table).collect();
            Ok(MoveReport { state: MoveState::Planned, tables })
        })
    }

    /// Moves the tracker. If the process ends in the middle, nothing is lost, one side at most can
    /// be changed, and the same call goes on.
    ///
    /// # Errors
    ///
    /// If a run is live, the target holds another tracker, either side cannot be used, or the copy
    /// differs. The tracker is then where it was.
    pub fn move_to(
        &mut self,
        target: &MoveTarget<'_>,
        places: Places<'_>,
        step: &mut Step<'_>,
    ) -> Result<MoveReport> {
        if let Some(closed) = &self.closed {
            return finish(&self.path, closed, target);
        }
        let origin = self.read(|tx| Origin::read(tx, places))?;
        self.read(ensure_nothing_runs)?;
        let id = model::fresh_uuid();
        let arriving = Closed { is_moved: false, id: id.clone(), place: places.from.to_owned() };
        let before = target.open(&self.path, None)?;
        let is_made = before.is_none();
        let mut there = match before {
            Some(there) => {
                // Checked before any lock, since the target may be this very tracker.
                there.read(|tx| ensure_free(tx, &origin))?;
                drop(there);
                target.open(&self.path, Some((&arriving, &origin.identity)))?
            }
            None => target.open(&self.path, Some((&arriving, &origin.identity)))?,
        }
        .ok_or_else(|| Error::conflict("target_in_use", format!("{} went away", places.to)))?;
        step(0, 0)?;
        self.make_durable()?;
        there.make_durable()?;
        there.prepare_bulk()?;

        let from = self.database.begin_write().doing(MOVING)?;
        from.allow_pauses().doing(MOVING)?;
        if let Some(closed) = closed::read(&from)? {
            drop(from);
            drop(there);
            return finish(&self.path, &closed, target);
        }
        ensure_nothing_runs(&from)?;
        // Locks the tables against all writers, also of other programs. Undone if this call fails.
        closed::close(&from, &Closed { is_moved: true, id: id.clone(), place: places.to.into() })?;
        step(0, 0)?;
        let tables = match fill_target(&mut there, &from, &origin, &arriving, step) {
            Err(error @ Error::Disk { .. }) if is_made => {
                drop(there);
                target.remove_made();
                return Err(error);
            }
            filled => filled?,
        };
        step(1, 1)?;
        from.commit().doing(MOVING)?;
        step(1, 1)?;
        match open_up(&mut there, &id)? {
            Some(_) => Ok(MoveReport { state: MoveState::Moved, tables }),
            None => {
                Err(Error::conflict("moved", format!("the tracker at {} is not open", places.to)))
            }
        }
    }

    /// Copies all tables into a new file, as they are at one moment.
    ///
    /// # Errors
    ///
    /// If there is such a file, or either side cannot be used. No file is then left.
    pub fn dump_to(&self, path: &Path, from: &str, step: &mut Step<'_>) -> Result<Vec<TableCopy>> {
        let identity = self.read(Identity::read)?;
        let arriving = Closed { is_moved: false, id: model::fresh_uuid(), place: from.to_owned() };
        if path.exists() {
            return Err(Error::conflict("exists", format!("{} exists already", path.display())));
        }
        let copied = target::create_file(path, &arriving, &identity)
            .and_then(|there| self.fill_dump(there, step));
        if copied.is_err() {
            target::remove_file(path);
        }
        copied
    }

    fn fill_dump(&self, mut there: Store, step: &mut Step<'_>) -> Result<Vec<TableCopy>> {
        there.prepare_bulk()?;
        self.read(|tx| {
            let into = there.database.begin_write().doing("make the copy")?;
            closed::lift(&into)?;
            rows::remove_all(&into)?;
            let tables = rows::copy(tx, &into, step)?;
            into.commit().doing("make the copy")?;
            Ok(tables)
        })
    }

    /// Makes commits wait for the disk.
    fn make_durable(&self) -> Result<()> {
        match self.database.sqlite() {
            Some(conn) => conn.pragma_update(None, "synchronous", "FULL").doing(MOVING),
            None => Ok(()),
        }
    }
}

/// Copies all rows to the target, which stays closed. The source is not closed for good yet.
fn fill_target(
    there: &mut Store,
    from: &Tx<'_>,
    origin: &Origin<'_>,
    arriving: &Closed,
    step: &mut Step<'_>,
) -> Result<Vec<TableCopy>> {
    let into = there.database.begin_write().doing(MOVING)?;
    ensure_free(&into, origin)?;
    if closed::read(&into)?.is_some() {
        closed::lift(&into)?;
    }
    rows::remove_all(&into)?;
    let tables = rows::copy(from, &into, step)?;
    meta::set(&into, meta::ARRIVED, &origin.arrivals)?;
    closed::close(&into, arriving)?;
    step(1, 1)?;
    into.commit().doing(MOVING)?;
    Ok(tables)
}

/// Finishes the move of an earlier call.
fn finish(local: &Path, closed: &Closed, target: &MoveTarget<'_>) -> Result<MoveReport> {
    if !closed.is_moved {
        return Err(closed.error());
    }
    let Some(mut there) = target.open(local, None)? else { return Err(closed.error()) };
    let state = open_up(&mut there, &closed.id)?.ok_or_else(|| closed.error())?;
    Ok(MoveReport { state, tables: Vec::new() })
}

/// Opens the target to changes, if it holds the copy of this very move. The source is closed.
fn open_up(there: &mut Store, id: &str) -> Result<Option<MoveState>> {
    let tx = there.database.begin_write().doing(MOVING)?;
    let is_ours = |closed: Closed| !closed.is_moved && closed.id == id;
    let arrivals = meta::get(&tx, meta::ARRIVED)?.unwrap_or_default();
    if !closed::read(&tx)?.is_some_and(is_ours) {
        return Ok(came_by(&arrivals, id).then_some(MoveState::MovedBefore));
    }
    closed::lift(&tx)?;
    meta::set(&tx, meta::ARRIVED, format!("{arrivals} {id}").trim_start())?;
    tx.commit().doing(MOVING)?;
    Ok(Some(MoveState::Finished))
}

/// Refuses while a run may write.
fn ensure_nothing_runs(tx: &Tx<'_>) -> Result<()> {
    let live = run::list_live(tx)?;
    if live.is_empty() {
        return Ok(());
    }
    let named: Vec<String> =
        live.iter().map(|run| format!("{} of {}", run.id, run.atom_id)).collect();
    let message = format!("nothing was moved, since runs are live: {}", named.join(", "));
    Err(Error::conflict("runs_live", message))
}

/// Refuses a target that holds a tracker which was not moved away from there. A copy of the
/// tracker, such as a dump, was never moved: the tracker itself may be in use elsewhere.
fn ensure_free(tx: &Tx<'_>, origin: &Origin<'_>) -> Result<()> {
    roles::ensure_mover(tx)?;
    let is_same = Identity::read(tx)? == origin.identity;
    let Places { from, to } = origin.places;
    let message = match closed::read(tx)? {
        None if is_same => format!("{to} is this very tracker, or a copy of it that is in use"),
        None if !rows::has_contents(tx)? => return Ok(()),
        Some(closed) if is_same => {
            let (is_ours, what) = match closed.is_moved {
                true => (came_by(&origin.arrivals, &closed.id), "was moved to"),
                false => (closed.place == from, "is being moved there from"),
            };
            if is_ours {
                return Ok(());
            }
            let place = closed.place;
            format!("the tracker of {to} {what} {place}, and {from} is a copy, not that tracker")
        }
        _ => format!("{to} holds another tracker"),
    };
    Err(Error::conflict("target_in_use", message))
}

#[cfg(test)]
mod tests;
