//! `el work --resume`.

use el_agents::account::Account;
use el_core::model::Pause;
use el_core::ops;
use serde::Serialize;

use super::Resolved;
use crate::output::sanitize;
use crate::{App, CommandError, Exit, Result};

/// The answer of `--resume`.
#[derive(Debug, Serialize)]
pub(super) struct Resumed {
    /// The pause that held the claims; `null` if there was none.
    was: Option<Pause>,
}

/// Ends the pauses of the agents' accounts, in all projects, and lifts the day's budget.
pub(super) fn clear_pauses(app: &App, resolved: &Resolved) -> Result<Resumed> {
    let environment: Vec<_> = std::env::vars_os().collect();
    let now = app.now();
    let mut accounts: Vec<Account> = resolved
        .agents
        .iter()
        .filter_map(|served| Account::for_agent(&served.agent, &environment))
        .collect();
    accounts.dedup();
    // First the others: a project that is cleared alone would learn of the pause again.
    for account in &accounts {
        account.clear_pause(now).map_err(|source| {
            CommandError::internal_error(
                "the record of the account cannot be written; nothing was changed",
            )
            .with_source(source)
        })?;
    }
    Ok(Resumed { was: ops::resume(&mut app.open_for_writing()?, now, true)? })
}

pub(super) fn report_resumed(app: &App, done: &Resumed) -> Result<Exit> {
    app.printer.emit(done, |page| match &done.was {
        Some(pause) => page.push_line(format!(
            "Claiming goes on; what held it: {}",
            sanitize::one_line(&pause.reason)
        )),
        None => page.push_line(
            "Nothing held this project; a pause that the account's other projects know of is \
             over too",
        ),
    })
}
