//! A tracker that is closed to changes: it was moved elsewhere, or a move to here is not finished.
//!
//! Triggers refuse every change, also from processes that had the tables open before, and from
//! older versions of `el`. A file's table version says so too, and is read anyway.

use serde::{Deserialize, Serialize};

use super::engine::OptionalExtension as _;
use super::tables::TABLES;
use super::{Tx, meta};
use crate::error::Doing;
use crate::{Error, Result};

/// Why a tracker is closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Closed {
    /// It was moved to `place`; otherwise it is to come from there.
    pub(crate) is_moved: bool,
    /// The move.
    pub(crate) id: String,
    /// The other side, in words that hold no password.
    pub(crate) place: String,
}

impl Closed {
    pub(crate) fn sentence(&self) -> String {
        match self.is_moved {
            true => format!("this tracker was moved to {}", self.place),
            false => format!("the move of a tracker from {} to here is not finished", self.place),
        }
    }

    pub(crate) fn error(&self) -> Error {
        Error::Moved { sentence: self.sentence() }
    }
}

/// The number that is added to the table version of a closed file.
pub(super) const MARK: i64 = 1_000_000;

const CHANGES: [&str; 3] = ["INSERT", "UPDATE", "DELETE"];

pub(super) fn read(tx: &Tx<'_>) -> Result<Option<Closed>> {
    Ok(meta::get(tx, meta::CLOSED)?.as_deref().map(parse))
}

/// Reads what is kept under [`meta::CLOSED`].
pub(super) fn parse(text: &str) -> Closed {
    let unknown = || Closed { is_moved: true, id: String::new(), place: "elsewhere".to_owned() };
    serde_json::from_str(text).unwrap_or_else(|_| unknown())
}

/// Closes the tables as they are when the transaction ends.
pub(super) fn close(tx: &Tx<'_>, closed: &Closed) -> Result<()> {
    const DOING: &str = "close the tracker";
    let text = serde_json::to_string(closed).expect("texts are JSON");
    meta::set(tx, meta::CLOSED, &text)?;
    let sentence = closed.sentence().replace('\'', "''");
    if tx.is_sqlite() {
        for table in TABLES {
            for change in CHANGES {
                let trigger = format!(
                    "CREATE TRIGGER closed_{table}_{change} BEFORE {change} ON {table} BEGIN
                       SELECT RAISE(ABORT, '{sentence}');
                     END"
                );
                tx.execute_batch(&trigger).doing(DOING)?;
            }
        }
        return add_to_version(tx, MARK);
    }
    // A migration of closed tables notes its version.
    let body = format!(
        "BEGIN
           IF TG_LEVEL = 'ROW' AND TG_OP <> 'DELETE' THEN
             IF new.key = 'schema_version' THEN RETURN new; END IF;
           END IF;
           RAISE EXCEPTION USING ERRCODE = 'EL001', MESSAGE = '{sentence}';
         END"
    );
    let function = format!(
        "CREATE FUNCTION el_closed() RETURNS TRIGGER LANGUAGE plpgsql AS '{}'",
        body.replace('\'', "''")
    );
    tx.execute_batch(&function).doing(DOING)?;
    for table in TABLES {
        let (truncate, each) = match table {
            "meta" => ("", "ROW"),
            _ => (" OR TRUNCATE", "STATEMENT"),
        };
        let trigger = format!(
            "CREATE TRIGGER el_closed BEFORE INSERT OR UPDATE OR DELETE{truncate} ON {table}
             FOR EACH {each} EXECUTE FUNCTION el_closed()"
        );
        tx.execute_batch(&trigger).doing(DOING)?;
    }
    Ok(())
}

/// Opens the tables again.
pub(super) fn lift(tx: &Tx<'_>) -> Result<()> {
    const DOING: &str = "open the tracker to changes";
    if tx.is_sqlite() {
        for table in TABLES {
            for change in CHANGES {
                let drop = format!("DROP TRIGGER IF EXISTS closed_{table}_{change}");
                tx.execute_batch(&drop).doing(DOING)?;
            }
        }
        add_to_version(tx, -MARK)?;
    } else {
        tx.execute_batch("DROP FUNCTION IF EXISTS el_closed() CASCADE").doing(DOING)?;
    }
    meta::remove(tx, meta::CLOSED)
}

fn add_to_version(tx: &Tx<'_>, more: i64) -> Result<()> {
    const DOING: &str = "set the database's version";
    let version: i64 = tx
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .optional()
        .doing(DOING)?
        .unwrap_or_default();
    tx.execute_batch(&format!("PRAGMA user_version = {}", version + more)).doing(DOING)
}
