//! Remarks before a worker begins: waiting atoms, other workers, untrusted settings, folders.

use std::collections::BTreeMap;

use el_agents::process::ProcessId;
use el_agents::worker::{self, Summary, WorkOptions};
use el_core::model::Status;
use el_core::ops::{self, AtomFilter, Sort};

use super::folders;
use crate::output::{runs, sanitize, time};
use crate::{App, Result, shared_remote};

/// Names the requested atoms that cannot begin now.
pub(super) fn tell_what_waits(app: &App, options: &WorkOptions) -> Result<()> {
    let store = app.open_for_reading()?;
    for id in &options.filter.ids {
        let explained = ops::explain(&store, id, app.now())?;
        if explained.atom.status == Status::Closed {
            app.printer.note(&format!("{id} is closed already: el reopen {id} has it done anew"));
        } else if !explained.ready {
            app.printer.note(&format!("{id} is not ready: el why {id} says what holds it"));
        }
    }
    Ok(())
}

/// Returns the requested atoms that had no run here and are not closed either. A worker that has
/// made all its claims (`--once`, `--max`) leaves the others on purpose.
pub(super) fn find_left_atoms(
    app: &App,
    options: &WorkOptions,
    summary: &Summary,
) -> Result<Vec<String>> {
    let ids = options.filter.ids.clone();
    if ids.is_empty() || options.max_claims.is_some_and(|max| summary.claimed >= max) {
        return Ok(Vec::new());
    }
    let named = AtomFilter { ids, include_over: true, ..AtomFilter::default() };
    let store = app.open_for_reading()?;
    let found = ops::list(&store, &named, Sort::Priority, None, 0, app.now())?.items.into_iter();
    Ok(found
        .filter(|atom| atom.status != Status::Closed && !summary.atoms.contains_key(&atom.id))
        .map(|atom| atom.id)
        .collect())
}

/// Warns of a remote that the clone does not have.
pub(super) fn tell_of_remote(app: &App) -> Result<()> {
    if let Some((message, hint)) = shared_remote::find_fault(&app.settings()?) {
        app.printer.warn(&format!("{message}: {hint}"));
    }
    Ok(())
}

/// Ready atoms that are looked at for assignees.
const LOOKED_AT: i64 = 200;

/// Names the assignees of ready atoms that are no agents here: no worker takes these atoms.
pub(super) fn tell_of_strangers(app: &App, options: &WorkOptions) -> Result<()> {
    let known = app.settings()?.known_agents();
    let store = app.open_for_reading()?;
    let page = ops::ready(&store, &options.filter, Sort::Priority, Some(LOOKED_AT), 0, app.now())?;
    let mut strangers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for atom in &page.items {
        let assignee = atom.assignee.as_deref().filter(|name| *name != app.actor());
        if let Some(name) = assignee.filter(|name| !known.iter().any(|agent| agent == name)) {
            strangers.entry(name).or_default().push(&atom.id);
        }
    }
    for (name, atoms) in strangers {
        let (are, rest) = match atoms.len() {
            1 => ("is", String::new()),
            more => ("are", format!(" and {} more", more - 1)),
        };
        app.printer.note(&format!(
            "{}{rest} {are} ready and assigned to {name}, which is no agent here: el update {} \
             --clear-assignee gives it to any agent",
            atoms[0], atoms[0]
        ));
    }
    Ok(())
}

/// Tells the caller of other workers. Beside another worker, a worker may idle while an agent is
/// busy there.
pub(super) fn tell_of_others(app: &App, options: &WorkOptions) -> Result<()> {
    let store = app.open_for_reading()?;
    let workers = ops::list_workers(&store)?;
    // A process that cannot be seen has no namesakes.
    let own = ProcessId::current().ok().map(|own| own.boot_with_host());
    let own = own.as_deref().filter(|_| store.is_on_server());
    for host in ops::find_namesakes(&workers, own, app.now()) {
        let (message, hint) = ops::namesakes_sentence(&sanitize::one_line(&host));
        app.printer.warn(&format!("{message}: {hint}"));
    }
    for other in workers.iter().filter(|other| worker::is_there(other)) {
        let since = time::relative_time(app.now(), other.started_at);
        app.printer.note(&format!(
            "another worker is at it: pid {}, for {}, started {since}; el work --stop ends it",
            runs::name_and_host(&other.process.pid.to_string(), other.process.host()),
            other.agents.join(", ")
        ));
        for served in
            options.agents.iter().filter(|served| other.agents.contains(&served.agent.name))
        {
            let name = &served.agent.name;
            let most = match served.at_most {
                1 => "one thing".to_owned(),
                most => format!("{most} things"),
            };
            app.printer.note(&format!(
                "  {name} does {most} at a time, over all workers: this one waits while {name} \
                 is busy, and takes what comes after"
            ));
        }
    }
    Ok(())
}

/// Reports settings that have no effect before `el trust`, for programs that read the events.
pub(in crate::commands) fn tell_of_inert(app: &App) -> Result<()> {
    let settings = app.settings()?;
    let keys = settings.inert_names();
    let Some(message) = settings.inert_sentence().filter(|_| app.printer.is_robot()) else {
        return Ok(());
    };
    app.printer.json_line(&serde_json::json!({
        "at": app.now(), "event": "untrusted_settings", "keys": keys,
        "files": settings.inert_files(), "message": message,
    }))
}

/// Warns, before agents start, of shared folders and uncommitted files.
pub(in crate::commands) fn tell_of_folders(app: &App, options: &WorkOptions) {
    for remark in folders::folder_remarks(&options.agents, options.concurrency) {
        app.printer.note(&remark);
    }
}
