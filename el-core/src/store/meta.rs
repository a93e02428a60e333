use super::Tx;
use crate::error::Doing;
use crate::{Error, Result};

/// The first part of the ids of atoms.
pub(crate) const PREFIX: &str = "prefix";
pub(crate) const CREATED_AT: &str = "created_at";
/// The prefix of the key of an account's pause; the account's fingerprint follows.
pub(crate) const PAUSE: &str = "pause:";
/// The accounts that the last worker serves.
pub(crate) const ACCOUNTS: &str = "accounts";
/// The budget of all runs together on a day, in millionths of a US dollar, as the last worker set
/// it.
pub(crate) const BUDGET_PER_DAY: &str = "budget_per_day";
/// The day (since the epoch, UTC) for which a person lifted the budget.
pub(crate) const BUDGET_LIFTED: &str = "budget_lifted_day";
/// `1`: an epic is closed once all its contents are over.
pub(crate) const EPIC_AUTOCLOSE: &str = "epic_autoclose";
/// Present while dependants wait for merges.
pub(crate) const MERGE_GATE: &str = "merge_gate";
/// The runs in a row that failed without having done anything, as JSON.
pub(crate) const EMPTY_RUNS: &str = "empty_runs";
/// Why a worker holds back ready atoms: the time in microseconds, a blank, and the reason.
pub(crate) const HELD_BACK: &str = "held_back";

/// Why the tracker is closed to changes, as JSON. Absent: it is open.
pub(crate) const CLOSED: &str = "closed";
/// The moves by which the tracker came to where it is, apart by blanks. A copy has none of them.
pub(crate) const ARRIVED: &str = "arrived";

/// The prefix of the key of a sync: up to when changes arrived, in microseconds.
pub(crate) const SYNC: &str = "sync:";

pub(crate) fn get(tx: &Tx<'_>, key: &str) -> Result<Option<String>> {
    tx.read_optional("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
        .doing("read a setting")
}

/// The first part of the project's ids.
pub(crate) fn project_prefix(tx: &Tx<'_>) -> Result<String> {
    let missing = || Error::Corrupt { table: "meta", why: "the prefix is missing".to_owned() };
    get(tx, PREFIX)?.ok_or_else(missing)
}

pub(crate) fn set(tx: &Tx<'_>, key: &str, value: &str) -> Result<()> {
    tx.execute_cached(
        "INSERT INTO meta (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
        [key, value],
    )
    .doing("store a setting")
    .map(drop)
}

pub(crate) fn remove(tx: &Tx<'_>, key: &str) -> Result<()> {
    tx.execute("DELETE FROM meta WHERE key = ?1", [key]).doing("remove a setting").map(drop)
}

/// Returns every setting with the key prefix, by the rest of the key.
pub(crate) fn beginning_with(tx: &Tx<'_>, prefix: &str) -> Result<Vec<(String, String)>> {
    tx.read_all(
        "SELECT substr(key, length(?1) + 1), value FROM meta
         WHERE substr(key, 1, length(?1)) = ?1 ORDER BY key",
        [prefix],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )
    .doing("read settings")
}
