//! The rows of an orchestration: settings, questions with answers, the model's names of tasks, and
//! checks.

use super::engine::{self, Row, params};
use serde_json::Value;

use super::Tx;
use super::ready::is_resting_plan;
use crate::Result;
use crate::error::Doing;
use crate::model::{Timestamp, WholeCheck};

mod below;

pub(crate) use below::{asking_below, atoms_below, waits_below};

/// An orchestration's own row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Orchestration {
    pub(crate) depth: u32,
    /// JSON.
    pub(crate) settings: String,
    pub(crate) started_at: Timestamp,
    /// Microseconds in which a worker or a person drove the plan.
    pub(crate) worked: i64,
    pub(crate) ended_at: Option<Timestamp>,
}

/// A question and the answer so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    pub(crate) epic_id: String,
    pub(crate) name: String,
    pub(crate) atom_id: Option<String>,
    pub(crate) state: State,
    pub(crate) data: Option<Value>,
    pub(crate) fault: Option<String>,
    pub(crate) answered_by: Option<String>,
    pub(crate) run_id: Option<String>,
    pub(crate) answered_at: Option<Timestamp>,
    pub(crate) is_filed: bool,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    /// Answered with data that fits.
    Data,
    /// Answered in words only.
    Carried,
}

impl State {
    const fn as_word(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Data => "data",
            State::Carried => "carried",
        }
    }
}

/// An answer to store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub(crate) state: State,
    pub(crate) data: &'a Value,
    pub(crate) by: &'a str,
    pub(crate) run: Option<&'a str>,
}

/// A task of a list and the atom of the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    pub(crate) list: String,
    pub(crate) task_id: String,
    pub(crate) atom_id: String,
}

pub(crate) fn find(tx: &Tx<'_>, epic: &str) -> Result<Option<Orchestration>> {
    tx.read_optional(
        "SELECT depth, settings, started_at, worked, ended_at FROM orchestrations
        WHERE epic_id = ?1",
        [epic],
        |row| {
            Ok(Orchestration {
                depth: row.get(0)?,
                settings: row.get(1)?,
                started_at: Timestamp::from_micros(row.get(2)?),
                worked: row.get(3)?,
                ended_at: row.time_or_none(4)?,
            })
        },
    )
    .doing("read an orchestration")
}

/// Every epic that is orchestrated, newest first.
pub(crate) fn list_epics(tx: &Tx<'_>) -> Result<Vec<String>> {
    let sql = "SELECT epic_id FROM orchestrations ORDER BY started_at DESC, epic_id";
    tx.read_all(sql, [], |row| row.get(0)).doing("read orchestrations")
}

/// Inserts an orchestration, or changes the settings.
pub(crate) fn put_settings(
    tx: &Tx<'_>,
    epic: &str,
    depth: u32,
    settings: &str,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO orchestrations (epic_id, depth, settings, started_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (epic_id) DO UPDATE SET settings = ?3",
        params![epic, depth, settings, now.as_micros()],
    )
    .doing("begin an orchestration")
    .map(drop)
}

/// Records the worker that shares the plan's tasks with other workers.
pub(crate) fn set_driver(tx: &Tx<'_>, epic: &str, worker: &str) -> Result<()> {
    tx.execute("UPDATE orchestrations SET driver = ?2 WHERE epic_id = ?1", params![epic, worker])
        .doing("record the driver of an orchestration")
        .map(drop)
}

/// Returns true if an epic is a plan without a driver. Such a plan holds the tasks. Must agree with
/// that part of `READY`.
pub(crate) fn is_resting(tx: &Tx<'_>, epic: &str) -> Result<bool> {
    tx.read_one(concat!("SELECT ", is_resting_plan!("?1")), [epic], |row| row.get(0))
        .doing("tell if a plan is driven")
}

/// Adds driven time.
pub(crate) fn add_worked(tx: &Tx<'_>, epic: &str, micros: i64) -> Result<()> {
    tx.execute(
        "UPDATE orchestrations SET worked = worked + ?2 WHERE epic_id = ?1",
        params![epic, micros],
    )
    .doing("count an orchestration's time")
    .map(drop)
}

pub(crate) fn set_ended(tx: &Tx<'_>, epic: &str, at: Option<Timestamp>) -> Result<()> {
    tx.execute(
        "UPDATE orchestrations SET ended_at = ?2 WHERE epic_id = ?1",
        params![epic, at.map(Timestamp::as_micros)],
    )
    .doing("end an orchestration")
    .map(drop)
}

const COLUMNS: &str =
    "epic_id, name, atom_id, state, data, fault, answered_by, run_id, answered_at, is_filed";

fn read_asked(row: &Row<'_>) -> engine::Result<Asked> {
    let state: String = row.get(3)?;
    Ok(Asked {
        epic_id: row.get(0)?,
        name: row.get(1)?,
        atom_id: row.get(2)?,
        state: [State::Data, State::Carried]
            .into_iter()
            .find(|known| known.as_word() == state)
            .unwrap_or(State::Open),
        data: row.json_or_none(4)?,
        fault: row.get(5)?,
        answered_by: row.get(6)?,
        run_id: row.get(7)?,
        answered_at: row.time_or_none(8)?,
        is_filed: row.get(9)?,
    })
}

/// The questions of an epic.
pub(crate) fn list_questions(tx: &Tx<'_>, epic: &str) -> Result<Vec<Asked>> {
    let sql = format!("SELECT {COLUMNS} FROM questions WHERE epic_id = ?1 ORDER BY name");
    tx.read_all(&sql, [epic], read_asked).doing("read questions")
}

/// The question that an atom asks.
pub(crate) fn question_of(tx: &Tx<'_>, atom: &str) -> Result<Option<Asked>> {
    tx.read_optional(
        &format!("SELECT {COLUMNS} FROM questions WHERE atom_id = ?1"),
        [atom],
        read_asked,
    )
    .doing("read a question")
}

/// Records the atom that asks a question from now on. An earlier answer counts no more.
pub(crate) fn record_question(tx: &Tx<'_>, epic: &str, name: &str, atom: &str) -> Result<()> {
    tx.execute(
        "INSERT INTO questions (epic_id, name, atom_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (epic_id, name) DO UPDATE
         SET atom_id = ?3, state = 'open', data = NULL, fault = NULL, answered_by = NULL,
         run_id = NULL,
           answered_at = NULL, is_filed = 0",
        params![epic, name, atom],
    )
    .doing("ask a question")
    .map(drop)
}

/// Records an answer. The tasks of a list then remain to be filed.
pub(crate) fn record_answer(
    tx: &Tx<'_>,
    epic: &str,
    name: &str,
    answer: Answer<'_>,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO questions (epic_id, name, state, data, answered_by, run_id, answered_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (epic_id, name) DO UPDATE
         SET state = ?3, data = ?4, fault = NULL, answered_by = ?5, run_id = ?6, answered_at = ?7,
           is_filed = 0",
        params![
            epic,
            name,
            answer.state.as_word(),
            answer.data.to_string(),
            answer.by,
            answer.run,
            now.as_micros()
        ],
    )
    .doing("store an answer")
    .map(drop)
}

/// Records the fault of an answer.
pub(crate) fn set_fault(tx: &Tx<'_>, epic: &str, name: &str, fault: &str) -> Result<()> {
    tx.execute(
        "UPDATE questions SET fault = ?3 WHERE epic_id = ?1 AND name = ?2",
        [epic, name, fault],
    )
    .doing("store the faults of an answer")
    .map(drop)
}

/// Returns the faults of the answers to a question, newest first: time, run and text.
pub(crate) fn list_faults(
    tx: &Tx<'_>,
    epic: &str,
    name: &str,
    limit: i64,
) -> Result<Vec<(Timestamp, Option<String>, String)>> {
    tx.read_all(
        "SELECT at, run_id, data ->> '$.why' FROM events
             WHERE atom_id = ?1 AND kind = 'answered' AND data ->> '$.question' = ?2
             AND data ->> '$.came' = 'faulty' ORDER BY seq DESC LIMIT ?3",
        params![epic, name, limit],
        |row| Ok((Timestamp::from_micros(row.get(0)?), row.get(1)?, row.get(2)?)),
    )
    .doing("read the faults of answers")
}

/// Records that every task of the list has had an atom.
pub(crate) fn set_filed(tx: &Tx<'_>, epic: &str, name: &str) -> Result<()> {
    tx.execute("UPDATE questions SET is_filed = 1 WHERE epic_id = ?1 AND name = ?2", [epic, name])
        .doing("mark a list as filed")
        .map(drop)
}

pub(crate) fn record_planned(tx: &Tx<'_>, epic: &str, planned: &Planned) -> Result<()> {
    tx.execute(
        "INSERT INTO planned_tasks (epic_id, list, task_id, atom_id) VALUES (?1, ?2, ?3, ?4)",
        [epic, &planned.list, &planned.task_id, &planned.atom_id],
    )
    .doing("plan a task")
    .map(drop)
}

/// All tasks that were ever filed for an epic.
pub(crate) fn list_planned(tx: &Tx<'_>, epic: &str) -> Result<Vec<Planned>> {
    let sql = "SELECT list, task_id, atom_id FROM planned_tasks WHERE epic_id = ?1
               ORDER BY list, task_id";
    tx.read_all(sql, [epic], |row| {
        Ok(Planned { list: row.get(0)?, task_id: row.get(1)?, atom_id: row.get(2)? })
    })
    .doing("read planned tasks")
}

/// Returns the epic and the planned task of an atom.
pub(crate) fn planned_as(tx: &Tx<'_>, atom: &str) -> Result<Option<(String, Planned)>> {
    tx.read_optional(
        "SELECT epic_id, list, task_id, atom_id FROM planned_tasks WHERE atom_id = ?1",
        [atom],
        |row| {
            Ok((
                row.get(0)?,
                Planned { list: row.get(1)?, task_id: row.get(2)?, atom_id: row.get(3)? },
            ))
        },
    )
    .doing("read a planned task")
}

/// Records the end of a check. An existing record stands.
pub(crate) fn put_check(tx: &Tx<'_>, epic: &str, check: &WholeCheck) -> Result<()> {
    tx.execute(
        "INSERT INTO whole_checks (epic_id, round, passed, output, at)
         VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
        params![
            epic,
            i64::try_from(check.round).unwrap_or(i64::MAX),
            check.passed,
            check.output,
            check.at.as_micros()
        ],
    )
    .doing("store a check")
    .map(drop)
}

/// Returns the checks in order.
pub(crate) fn list_checks(tx: &Tx<'_>, epic: &str) -> Result<Vec<WholeCheck>> {
    let sql =
        "SELECT round, passed, output, at FROM whole_checks WHERE epic_id = ?1 ORDER BY round";
    tx.read_all(sql, [epic], |row| {
        Ok(WholeCheck {
            round: usize::try_from(row.get::<_, i64>(0)?).unwrap_or_default(),
            passed: row.get(1)?,
            output: row.get(2)?,
            at: Timestamp::from_micros(row.get(3)?),
        })
    })
    .doing("read checks")
}

/// Returns true if an atom is an orchestrated epic, a task of a plan, or a question.
pub(crate) fn is_part(tx: &Tx<'_>, atom: &str) -> Result<bool> {
    tx.has_row(
        "SELECT 1 FROM orchestrations WHERE epic_id = ?1 UNION ALL SELECT 1 FROM planned_tasks
         WHERE atom_id = ?1
         UNION ALL SELECT 1 FROM questions WHERE atom_id = ?1",
        [atom],
    )
    .doing("tell if an atom is part of a plan")
}

/// Returns true if an atom asks a question, of any orchestration.
pub(crate) fn is_question(tx: &Tx<'_>, atom: &str) -> Result<bool> {
    tx.has_row("SELECT 1 FROM questions WHERE atom_id = ?1", [atom]).doing("read a question")
}
