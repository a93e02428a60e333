use super::budget::day_pause;
use super::empty_runs::{empty_runs_pause, forget_empty_runs};
use crate::model::{Outcome, Pause, Progress, Run, Timestamp};
use crate::rules::budget::day_number;
use crate::rules::pause::KnownPause;
use crate::store::{Store, Tx, meta, run};
use crate::{Error, Result};

/// The key of the pause for runs without a known account.
pub const NO_ACCOUNT: &str = "none";

/// Returns the pause that stops all agents of the last worker at `now`.
///
/// # Errors
///
/// If the store fails.
pub fn current_pause(store: &Store, now: Timestamp) -> Result<Option<Pause>> {
    store.read(|tx| paused_in(tx, now))
}

/// Ends every pause early, on a person's request. `lift_budget` also lifts the daily budget until
/// the end of the day. Returns the pause that was in force.
///
/// # Errors
///
/// If the store fails.
pub fn resume(store: &mut Store, now: Timestamp, lift_budget: bool) -> Result<Option<Pause>> {
    store.write(|tx| {
        let mut was = paused_in(tx, now)?;
        for (account, known) in known_pauses(tx)? {
            if was.is_none() && known.holds_at(now) {
                was = Some(known.to_pause());
            }
            forget_pause(tx, &account)?;
        }
        forget_empty_runs(tx)?;
        if lift_budget && day_pause(tx, now)?.is_some() {
            meta::set(tx, meta::BUDGET_LIFTED, &day_number(now).to_string())?;
        }
        Ok(was)
    })
}

/// Ends the pause of an account.
///
/// # Errors
///
/// If the store fails.
pub fn clear_pause(store: &mut Store, account: &str) -> Result<()> {
    store.write(|tx| forget_pause(tx, account))
}

/// Returns the recorded pause of an account, even if the pause has ended.
///
/// # Errors
///
/// If the store fails.
pub fn known_pause(store: &Store, account: &str) -> Result<Option<KnownPause>> {
    store.read(|tx| known_in(tx, Some(account)))
}

/// Another project of the account learnt of a pause.
///
/// # Errors
/// If the store fails.
pub fn adopt_pause(store: &mut Store, account: &str, known: &KnownPause) -> Result<()> {
    store.write(|tx| pause_in(tx, Some(account), known))
}

/// Records the accounts of the last worker, by agent; `None`: a program without an account. The
/// project counts as paused if a pause holds every account.
///
/// # Errors
///
/// If the store fails.
pub fn set_served_accounts(store: &mut Store, accounts: &[Option<String>]) -> Result<()> {
    let text = serde_json::to_string(accounts)
        .map_err(|source| Error::invalid("account", source.to_string()))?;
    store.write(|tx| meta::set(tx, meta::ACCOUNTS, &text))
}

fn meta_key(account: Option<&str>) -> String {
    format!("{}{}", meta::PAUSE, account.unwrap_or(NO_ACCOUNT))
}

fn forget_pause(tx: &Tx<'_>, account: &str) -> Result<()> {
    meta::remove(tx, &meta_key(Some(account)))
}

/// Returns every account with a recorded pause.
fn known_pauses(tx: &Tx<'_>) -> Result<Vec<(String, KnownPause)>> {
    let found = meta::beginning_with(tx, meta::PAUSE)?;
    // An unreadable record counts as none.
    Ok(found
        .into_iter()
        .filter_map(|(account, text)| Some((account, serde_json::from_str(&text).ok()?)))
        .collect())
}

pub(super) fn known_in(tx: &Tx<'_>, account: Option<&str>) -> Result<Option<KnownPause>> {
    Ok(meta::get(tx, &meta_key(account))?.and_then(|text| serde_json::from_str(&text).ok()))
}

pub(super) fn paused_in(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    let served: Vec<Option<String>> = meta::get(tx, meta::ACCOUNTS)?
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default();
    if served.is_empty() {
        let held = known_pauses(tx)?
            .into_iter()
            .map(|(_, known)| known)
            .filter(|known| known.holds_at(now));
        return Ok(longest_pause(held.map(|known| known.to_pause()).chain(common_pause(tx, now)?)));
    }
    paused_for(tx, &served, now)
}

/// Returns every pause that holds an account of the project, or all accounts: the account, since
/// when, and the pause.
pub(super) fn holding_pauses(
    tx: &Tx<'_>,
    now: Timestamp,
) -> Result<Vec<(String, Timestamp, Pause)>> {
    let known = known_pauses(tx)?.into_iter().filter(|(_, known)| known.holds_at(now));
    let mut held: Vec<_> =
        known.map(|(account, known)| (account, known.learnt_at, known.to_pause())).collect();
    held.extend(day_pause(tx, now)?.map(|pause| ("day".to_owned(), now, pause)));
    held.extend(empty_runs_pause(tx, now)?.map(|pause| ("runs".to_owned(), now, pause)));
    Ok(held)
}

/// Returns the pause that holds all of the accounts.
pub(super) fn paused_for(
    tx: &Tx<'_>,
    accounts: &[Option<String>],
    now: Timestamp,
) -> Result<Option<Pause>> {
    let mut held: Option<KnownPause> = None;
    for account in accounts {
        let Some(known) = account_pause(tx, account.as_deref(), now)? else {
            return common_pause(tx, now);
        };
        // Claiming goes on with the first that is free again.
        if held.as_ref().is_none_or(|other| other.outlasts(&known)) {
            held = Some(known);
        }
    }
    Ok(longest_pause(held.map(|known| known.to_pause()).into_iter().chain(common_pause(tx, now)?)))
}

/// Returns the pause of an account. A program without an account has no pause.
pub(super) fn account_pause(
    tx: &Tx<'_>,
    account: Option<&str>,
    now: Timestamp,
) -> Result<Option<KnownPause>> {
    match account {
        Some(_) => Ok(known_in(tx, account)?.filter(|known| known.holds_at(now))),
        None => Ok(None),
    }
}

/// Returns the pause of all agents, whatever their account.
pub(super) fn common_pause(tx: &Tx<'_>, now: Timestamp) -> Result<Option<Pause>> {
    Ok(longest_pause(day_pause(tx, now)?.into_iter().chain(empty_runs_pause(tx, now)?)))
}

/// Returns the pause that ends last, since claiming goes on only then.
fn longest_pause(pauses: impl Iterator<Item = Pause>) -> Option<Pause> {
    pauses.max_by_key(|pause| pause.until.map_or(i64::MAX, Timestamp::as_micros))
}

/// Pauses the account; a pause that reaches further stands.
pub(super) fn pause_in(tx: &Tx<'_>, account: Option<&str>, known: &KnownPause) -> Result<()> {
    match known_in(tx, account)? {
        Some(standing) if standing.outlasts(known) => Ok(()),
        _ => store_pause(tx, account, known),
    }
}

fn store_pause(tx: &Tx<'_>, account: Option<&str>, known: &KnownPause) -> Result<()> {
    let text = serde_json::to_string(known)
        .map_err(|source| Error::invalid("pause", source.to_string()))?;
    meta::set(tx, &meta_key(account), &text)
}

/// Returns true if a run of the account tests now whether the service is back. Other claims wait
/// for the result.
pub(super) fn is_being_probed(tx: &Tx<'_>, account: Option<&str>, now: Timestamp) -> Result<bool> {
    let known = known_in(tx, account)?.filter(|known| known.is_probed(now));
    let Some(probe) = known.and_then(|known| known.probe) else { return Ok(false) };
    Ok(run::find(tx, &probe)?.is_some_and(|run| run.outcome.is_none()))
}

/// The first run after an outage finds out whether the service is back.
pub(super) fn begin_probe(
    tx: &Tx<'_>,
    account: Option<&str>,
    run: &str,
    now: Timestamp,
) -> Result<()> {
    match known_in(tx, account)?.filter(|known| known.is_probed(now)) {
        Some(known) => {
            store_pause(tx, account, &KnownPause { probe: Some(run.to_owned()), ..known })
        }
        None => Ok(()),
    }
}

/// Lets claims go on once the service has answered the probing run. `before`: the run without the
/// new progress.
pub(super) fn note_answer(tx: &Tx<'_>, before: &Run, progress: &Progress) -> Result<()> {
    if before.progress.tokens_out > 0 || progress.tokens_out == 0 {
        return Ok(());
    }
    for (account, known) in known_pauses(tx)? {
        if known.probe.as_deref() == Some(before.id.as_str()) {
            let answered = KnownPause { probe: None, is_answered: true, ..known };
            store_pause(tx, Some(&account), &answered)?;
        }
    }
    Ok(())
}

/// Forgets an outage after which a run of the account has come to its end. A service that answers
/// and then fails again is left alone for longer each time.
pub(super) fn note_end(
    tx: &Tx<'_>,
    account: Option<&str>,
    run: &Run,
    outcome: Outcome,
) -> Result<()> {
    let Some(account) = account.filter(|_| !outcome.is_external()) else { return Ok(()) };
    let is_over = |known: KnownPause| known.is_answered && run.started_at >= known.learnt_at;
    if known_in(tx, Some(account))?.is_some_and(is_over) {
        forget_pause(tx, account)?;
    }
    Ok(())
}
