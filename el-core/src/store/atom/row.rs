//! An atom as the database has it.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::Result;
use crate::error::Doing;
use crate::model::{Atom, Delegation, IssueType, Priority, RunOptions, Status, Timestamp};
use crate::store::Tx;
use crate::store::engine::{self, Row};
use crate::text::{JsonText, append_json};

/// The status that an unreadable status is read as.
pub(super) const UNKNOWN_STATUS: Status = Status::Blocked;

/// SQL: the live run of the atom `a`.
macro_rules! live_run {
    () => {
        "(SELECT r.id FROM runs r WHERE r.atom_id = a.id AND r.outcome IS NULL)"
    };
}

/// The columns that [`AtomRow::read`] reads, of a table that the query calls `a`.
pub(crate) const COLUMNS: &str = concat!(
    "a.id, a.title, a.description, a.acceptance, a.status, a.issue_type, a.priority, a.assignee,
     a.parent_id, a.defer_until, a.retry_at, a.close_reason, a.created_by, a.created_at,
     a.updated_at, a.closed_at, a.metadata, ",
    live_run!(),
    ", (SELECT group_concat(l.label, ',') FROM labels l WHERE l.atom_id = a.id),
     a.delegated_by, a.workdir, a.timeout_ms, a.verify, a.require_verify, a.run_options, a.needs"
);

/// Returns [`COLUMNS`] for a list of all atoms: while there is no live run, without a look for that
/// of each.
pub(crate) fn columns_of_all(tx: &Tx<'_>) -> Result<Cow<'static, str>> {
    let any = "SELECT EXISTS (SELECT 1 FROM runs WHERE outcome IS NULL)";
    let is_any: bool = tx.query_row(any, [], |row| row.get(0)).doing("find live runs")?;
    Ok(if is_any { COLUMNS.into() } else { COLUMNS.replace(live_run!(), "NULL").into() })
}

/// Where [`COLUMNS`] has the parent.
pub(crate) const PARENT_COLUMN: usize = 8;

/// An atom whose texts are the database's. It is written as JSON as an [`Atom`] is: a list of all
/// would otherwise copy each text twice, and make a tree of each metadata.
#[derive(Serialize)]
pub(crate) struct AtomRow<'r> {
    #[serde(rename = "_type")]
    record_type: &'static str,
    id: &'r str,
    title: &'r str,
    description: &'r str,
    acceptance: Option<&'r str>,
    status: Status,
    issue_type: IssueType,
    priority: Priority,
    labels: Labels<'r>,
    needs: Vec<String>,
    assignee: Option<&'r str>,
    parent_id: Option<&'r str>,
    defer_until: Option<Timestamp>,
    retry_at: Option<Timestamp>,
    close_reason: Option<&'r str>,
    created_by: &'r str,
    created_at: Timestamp,
    updated_at: Timestamp,
    closed_at: Option<Timestamp>,
    run_id: Option<&'r str>,
    delegation: Option<Delegation>,
    run_options: Option<RunOptions>,
    metadata: JsonText<'r>,
}

/// Labels with commas between, sorted. A label holds no comma; the index gives them sorted.
#[derive(Clone, Copy)]
struct Labels<'r>(Option<&'r str>);

impl<'r> Labels<'r> {
    fn iter(self) -> impl Iterator<Item = &'r str> {
        self.0.into_iter().flat_map(|all| all.split(','))
    }
}

impl Serialize for Labels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'r> AtomRow<'r> {
    /// Reads an atom. The tables refuse unknown words, but a damaged record must not hide all other
    /// atoms: an unknown status is shown as `blocked`, so nobody claims the atom, and `el doctor`
    /// names the record.
    pub(crate) fn read(row: &'r Row<'_>) -> engine::Result<AtomRow<'r>> {
        let word = |at: usize| row.get_ref(at).and_then(|v| v.as_str().map_err(Into::into));
        let text = |at: usize| row.get_ref(at).and_then(|v| v.as_str_or_null().map_err(Into::into));
        let delegation = match text(19)? {
            None => None,
            Some(by) => Some(Delegation {
                by: by.to_owned(),
                workdir: row.get(20)?,
                timeout_ms: row.get(21)?,
                verify: text(22)?.and_then(|text| serde_json::from_str(text).ok()),
                require_verify: row.get(23)?,
            }),
        };
        Ok(AtomRow {
            record_type: Atom::RECORD_TYPE,
            id: word(0)?,
            title: word(1)?,
            description: word(2)?,
            acceptance: text(3)?,
            status: word(4)?.parse().unwrap_or(UNKNOWN_STATUS),
            issue_type: word(5)?.parse().unwrap_or(IssueType::Task),
            priority: Priority::new(row.get(6)?).unwrap_or(Priority::DEFAULT),
            labels: Labels(text(18)?),
            needs: text(25)?.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
            assignee: text(7)?,
            parent_id: text(8)?,
            defer_until: row.time_or_none(9)?,
            retry_at: row.time_or_none(10)?,
            close_reason: text(11)?,
            created_by: word(12)?,
            created_at: Timestamp::from_micros(row.get(13)?),
            updated_at: Timestamp::from_micros(row.get(14)?),
            closed_at: row.time_or_none(15)?,
            run_id: text(17)?,
            delegation,
            run_options: text(24)?.and_then(|text| serde_json::from_str(text).ok()),
            metadata: JsonText(word(16)?),
        })
    }

    pub(super) fn into_atom(self) -> Atom {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Atom {
            record_type: self.record_type,
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            description: self.description.to_owned(),
            acceptance: owned(self.acceptance),
            status: self.status,
            issue_type: self.issue_type,
            priority: self.priority,
            labels: self.labels.iter().map(str::to_owned).collect(),
            needs: self.needs,
            assignee: owned(self.assignee),
            parent_id: owned(self.parent_id),
            defer_until: self.defer_until,
            retry_at: self.retry_at,
            close_reason: owned(self.close_reason),
            created_by: self.created_by.to_owned(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            closed_at: self.closed_at,
            run_id: owned(self.run_id),
            delegation: self.delegation,
            run_options: self.run_options,
            metadata: match self.metadata.0 {
                "{}" => serde_json::Value::Object(serde_json::Map::new()),
                text => serde_json::from_str(text).unwrap_or_default(),
            },
        }
    }

    /// Appends the atom as JSON, as robots are told.
    pub(crate) fn append_to(self, out: &mut Vec<u8>) {
        let start = out.len();
        if append_json(out, &self).is_err() {
            // The metadata is not JSON.
            out.truncate(start);
            append_json(out, &self.into_atom()).expect("an atom is JSON");
        }
    }
}
