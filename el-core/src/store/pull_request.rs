use super::engine::{self, Row, params};
use super::{Tx, list_text};
use crate::Result;
use crate::error::Doing;
use crate::model::{PullRequest, PullRequestState, Timestamp};

const COLUMNS: &str = "atom_id, seq, forge, repo, head_owner, head_ref, base_ref, pushing, pushed, \
    number, url, state, detail, merge_commit, merged_head, created_at, seen_at, next_look, \
    failures, owns_branch, held, late_at";

/// SQL: no later pull request of the atom `p.atom_id` is known.
const IS_LATEST: &str =
    "p.seq = (SELECT max(o.seq) FROM pull_requests o WHERE o.atom_id = p.atom_id)";

fn from_row(row: &Row<'_>) -> engine::Result<PullRequest> {
    let state: String = row.get(11)?;
    Ok(PullRequest {
        record_type: PullRequest::RECORD_TYPE,
        atom_id: row.get(0)?,
        seq: row.get(1)?,
        forge: row.get(2)?,
        repo: row.get(3)?,
        head_owner: row.get(4)?,
        head_ref: row.get(5)?,
        base_ref: row.get(6)?,
        pushing: row.get(7)?,
        pushed: row.get(8)?,
        number: row.get::<_, Option<i64>>(9)?.and_then(|number| u64::try_from(number).ok()),
        url: row.get(10)?,
        // The table holds known words only.
        state: state.parse().unwrap_or(PullRequestState::Lost),
        detail: row.get(12)?,
        merge_commit: row.get(13)?,
        merged_head: row.get(14)?,
        created_at: Timestamp::from_micros(row.get(15)?),
        seen_at: row.time_or_none(16)?,
        next_look: row.time_or_none(17)?,
        failures: u32::try_from(row.get::<_, i64>(18)?).unwrap_or(u32::MAX),
        owns_branch: row.get::<_, i64>(19)? != 0,
        // One that cannot be read is tried again at once.
        held: row.json_or_none(20)?,
        late_at: row.time_or_none(21)?,
    })
}

/// Inserts a record, or replaces it.
pub(crate) fn put(tx: &Tx<'_>, one: &PullRequest) -> Result<()> {
    let number = one.number.and_then(|number| i64::try_from(number).ok());
    let held =
        one.held.as_ref().map(|held| serde_json::to_string(held).expect("its texts are JSON"));
    tx.execute_cached(
        &format!(
            "INSERT INTO pull_requests ({COLUMNS})
         VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,
           ?20,?21,?22)
         ON CONFLICT (atom_id, seq) DO UPDATE SET forge = ?3, repo = ?4, head_owner = ?5,
           head_ref = ?6, base_ref = ?7, pushing = ?8, pushed = ?9, number = ?10, url = ?11,
           state = ?12, detail = ?13, merge_commit = ?14, merged_head = ?15, created_at = ?16,
           seen_at = ?17, next_look = ?18, failures = ?19, owns_branch = ?20,
           held = ?21, late_at = ?22"
        ),
        params![
            one.atom_id,
            one.seq,
            one.forge,
            one.repo,
            one.head_owner,
            one.head_ref,
            one.base_ref,
            one.pushing,
            one.pushed,
            number,
            one.url,
            one.state.as_str(),
            one.detail,
            one.merge_commit,
            one.merged_head,
            one.created_at.as_micros(),
            one.seen_at.map(Timestamp::as_micros),
            one.next_look.map(Timestamp::as_micros),
            i64::from(one.failures),
            i64::from(one.owns_branch),
            held,
            one.late_at.map(Timestamp::as_micros),
        ],
    )
    .doing("record a pull request")
    .map(drop)
}

/// The pull requests of an atom, oldest first.
pub(crate) fn of_atom(tx: &Tx<'_>, atom: &str) -> Result<Vec<PullRequest>> {
    list_where(tx, "atom_id = ?1 ORDER BY seq", atom)
}

/// The pull requests of a repository.
pub(crate) fn of_repository(tx: &Tx<'_>, repo: &str) -> Result<Vec<PullRequest>> {
    list_where(tx, "repo = ?1 ORDER BY atom_id, seq", repo)
}

fn list_where(tx: &Tx<'_>, condition: &str, value: &str) -> Result<Vec<PullRequest>> {
    let doing = "read pull requests";
    let sql = format!("SELECT {COLUMNS} FROM pull_requests WHERE {condition}");
    tx.read_all(&sql, [value], from_row).doing(doing)
}

/// The latest pull request of each of these atoms that has one.
pub(crate) fn latest_of(tx: &Tx<'_>, atoms: &[&str]) -> Result<Vec<PullRequest>> {
    tx.read_all(
        &format!(
            "SELECT {COLUMNS} FROM pull_requests p
             WHERE p.atom_id IN (SELECT value FROM json_each(?1)) AND {IS_LATEST}"
        ),
        [list_text(atoms)],
        from_row,
    )
    .doing("read pull requests")
}

/// The pull request of this number.
pub(crate) fn by_number(
    tx: &Tx<'_>,
    forge: &str,
    repo: &str,
    number: u64,
) -> Result<Option<PullRequest>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM pull_requests WHERE forge = ?1 AND repo = ?2 AND number = ?3"
    );
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    tx.read_optional(&sql, params![forge, repo, number], from_row).doing("find a pull request")
}

/// The latest pull request of each atom; `live`: only those that can still be merged.
pub(crate) fn latest(tx: &Tx<'_>, live: bool) -> Result<Vec<PullRequest>> {
    let which = if live { "state IN ('pushing','opening','open','queued')" } else { IS_LATEST };
    list_all(tx, which)
}

/// The latest that were closed without a merge, of atoms that are not over.
pub(crate) fn closed_unmerged(tx: &Tx<'_>) -> Result<Vec<PullRequest>> {
    let which = format!(
        "state = 'closed' AND {IS_LATEST} AND EXISTS (SELECT 1 FROM atoms a
         WHERE a.id = p.atom_id AND a.status NOT IN ('closed','wont_do','discard'))"
    );
    list_all(tx, &which)
}

fn list_all(tx: &Tx<'_>, which: &str) -> Result<Vec<PullRequest>> {
    tx.read_all(
        &format!(
            "SELECT {COLUMNS} FROM pull_requests p WHERE {which} ORDER BY created_at, atom_id"
        ),
        [],
        from_row,
    )
    .doing("read pull requests")
}

/// Records a remark. Returns false if it was known.
pub(crate) fn insert_remark(
    tx: &Tx<'_>,
    now: Timestamp,
    (atom, seq): (&str, i64),
    (head, id): (&str, &str),
    round: i64,
) -> Result<bool> {
    let added = tx
        .execute_cached(
            "INSERT INTO pr_feedback (atom_id, seq, head, item, round, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            params![atom, seq, head, id, round, now.as_micros()],
        )
        .doing("record a remark")?;
    Ok(added > 0)
}

/// Returns true if a remark was recorded.
pub(crate) fn knows_remark(
    tx: &Tx<'_>,
    (atom, seq): (&str, i64),
    (head, id): (&str, &str),
) -> Result<bool> {
    tx.read_one(
        "SELECT EXISTS (SELECT 1 FROM pr_feedback
         WHERE atom_id = ?1 AND seq = ?2 AND head = ?3 AND item = ?4)",
        params![atom, seq, head, id],
        |row| row.get(0),
    )
    .doing("look for a remark")
}

/// How often remarks were handed to attempts of an atom.
pub(crate) fn remark_rounds(tx: &Tx<'_>, atom: &str) -> Result<i64> {
    tx.read_one(
        "SELECT coalesce(max(round), 0) FROM pr_feedback WHERE atom_id = ?1",
        [atom],
        |row| row.get(0),
    )
    .doing("count remarks")
}
