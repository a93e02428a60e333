//! The changes that a session, or a person without `--force`, may not make.

use crate::model::{Atom, Run, RunOptions, Status};
use crate::rules::budget::EPIC_KEY;
use crate::store::{Tx, atom, budget, orchestration, run};
use crate::{Ctx, Error, Result};

/// Refuses changes of status that a session may not make. A session may change its own atom and
/// atoms that nobody works on, but not the atom of another run. A session may end or report its own
/// atom but not put the atom back into the queue: the atom would be started again, for ever.
pub(in crate::ops) fn ensure_may_set_status(
    tx: &Tx<'_>,
    session: Option<&Run>,
    atom: &Atom,
    to: Status,
) -> Result<()> {
    let Some(session) = session else { return Ok(()) };
    if to == Status::Open {
        ensure_may_open(session, &atom.id)?;
    }
    let is_dropped = to == Status::Discard || (to == Status::WontDo && session.atom_id != atom.id);
    if is_dropped && atom.asks_for_review() {
        return Err(Error::Refused(format!(
            "{} is to be reviewed, and only a person drops it without that",
            atom.id
        )));
    }
    if session.atom_id != atom.id {
        ensure_may_claim(Some(session), to)?;
        ensure_not_of_own_plan(tx, session, atom)?;
        if atom.status == Status::Review && to != Status::Review {
            return Err(Error::Refused(format!(
                "{} waits for review, and a person decides about it",
                atom.id
            )));
        }
    }
    let Some(live) = atom.run_id.as_deref().filter(|live| *live != session.id) else {
        return Ok(());
    };
    Err(Error::conflict(
        "claimed",
        format!(
            "{} is being worked on by {} ({live}); only that run or a person can change its status",
            atom.id,
            run::get(tx, live)?.agent
        ),
    ))
}

/// Refuses a session that would make another atom `in_progress`: no run would work on that atom.
pub(in crate::ops) fn ensure_may_claim(session: Option<&Run>, to: Status) -> Result<()> {
    match session {
        Some(own) if to == Status::InProgress => Err(only_its_own(&own.atom_id)),
        _ => Ok(()),
    }
}

/// The error for a session that asks for an atom beside its own.
pub(in crate::ops) fn only_its_own(atom: &str) -> Error {
    Error::conflict(
        "in_session",
        format!(
            "a session of `el work` works on its own atom alone, which is {atom}; finish that, the \
             worker hands out the next"
        ),
    )
}

/// Returns the claimant that loses a claim by hand through this change, or `None` for the actor's
/// own claim. Only a person may take a claim, and only with `force`.
pub(in crate::ops) fn taken_claim<'a>(
    ctx: &Ctx<'_>,
    session: Option<&Run>,
    atom: &'a Atom,
    force: bool,
) -> Result<Option<&'a str>> {
    let is_claimed = atom.status == Status::InProgress && atom.run_id.is_none();
    let Some(owner) = atom.assignee.as_deref().filter(|who| is_claimed && *who != ctx.actor) else {
        return Ok(None);
    };
    match session {
        None if force => Ok(Some(owner)),
        None => Err(Error::conflict(
            "claimed",
            format!("{} is claimed by {owner}; --force takes it from {owner}", atom.id),
        )),
        Some(_) => Err(Error::conflict(
            "claimed",
            format!(
                "{} is claimed by {owner}, who ends it or gives it back; an agent's session does \
                 not",
                atom.id
            ),
        )),
    }
}

/// The most open descendants of an epic that an error names.
const NAMED_CHILDREN: usize = 5;

/// Refuses to close an epic with open contents, unless a person insists. Called after the change,
/// whose rollback undoes the change: the same call may have closed a child.
pub(in crate::ops) fn ensure_children_over(
    tx: &Tx<'_>,
    session: Option<&Run>,
    atom: &Atom,
    force: bool,
) -> Result<()> {
    if !atom.issue_type.is_abstract() || (force && session.is_none()) {
        return Ok(());
    }
    let open = atom::open_below(tx, &atom.id)?;
    let mut named =
        open.iter().take(NAMED_CHILDREN).map(String::as_str).collect::<Vec<_>>().join(", ");
    match open.len() {
        0 => return Ok(()),
        more if more > NAMED_CHILDREN => {
            named.push_str(&format!(" and {} more", more - NAMED_CHILDREN))
        }
        _ => {}
    }
    let (verb, next) = (
        if open.len() == 1 { "is" } else { "are" },
        if session.is_none() {
            "--force closes it all the same"
        } else {
            "a person can close it all the same"
        },
    );
    Err(Error::conflict(
        "open_children",
        format!("{named} below the {} {} {verb} not over yet; {next}", atom.issue_type, atom.id),
    ))
}

/// Refuses to let a session open its own atom.
pub(in crate::ops) fn ensure_may_open(session: &Run, atom: &str) -> Result<()> {
    if session.atom_id != atom {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{atom} is what this session works on, and a session does not put its own work back: end \
         it with `el close {atom}`, or with `el update {atom} --status deferred --reason WHY` if \
         it cannot be done now"
    )))
}

/// Refuses to let a session close work that is to be reviewed, or a question that the session has
/// to answer. A review counts if asked for at the start of the run or now. `by_setting`: the
/// project reviews every run.
pub(in crate::ops) fn ensure_may_close(
    tx: &Tx<'_>,
    session: Option<&Run>,
    atom: &Atom,
    by_setting: bool,
) -> Result<()> {
    let Some(session) = session else { return Ok(()) };
    if atom.status != Status::Closed && orchestration::is_question(tx, &atom.id)? {
        return Err(Error::Refused(format!(
            "{} is a question: your answer ends it, in the form that it asks for, as the last \
             thing that you say; no command does",
            atom.id
        )));
    }
    let own = session.atom_id == atom.id && (session.review || by_setting);
    if atom.status == Status::Closed || !(own || atom.asks_for_review()) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "{0} is to be reviewed before it is closed: hand it over with `el submit {0} --report \
         FILE`",
        atom.id
    )))
}

/// Refuses to let a session remove the request for a review of its own work. Only a person may.
pub(in crate::ops) fn ensure_may_lift_review(
    session: Option<&Run>,
    before: &Atom,
    after: &Atom,
) -> Result<()> {
    if session.is_none() || !before.asks_for_review() || after.asks_for_review() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "what asks for a review of {0} (its label, or its metadata) is taken away by a person, not \
         in an agent's session; `el submit {0} --report FILE` hands it over",
        before.id
    )))
}

/// Refuses to let a session end or release parts of a plan, or an ancestor of its own work: the
/// plan would record work that nobody did, and a budget would bound nothing.
fn ensure_not_of_own_plan(tx: &Tx<'_>, session: &Run, atom: &Atom) -> Result<()> {
    if orchestration::is_part(tx, &atom.id)? {
        return Err(Error::Refused(format!(
            "{} belongs to a plan: its own run, or a person, changes its status",
            atom.id
        )));
    }
    if atom.status.holds_children() && budget::parent_ids(tx, &session.atom_id)?.contains(&atom.id)
    {
        return Err(Error::Refused(format!(
            "{} is {} and holds the work of this session; a person lets it go on",
            atom.id, atom.status
        )));
    }
    Ok(())
}

/// Refuses to let a session change a budget, or the epic that pays for an atom. Only a person may.
pub(in crate::ops) fn ensure_may_change_bounds(
    session: Option<&Run>,
    before: &Atom,
    after: &Atom,
) -> Result<()> {
    let Some(session) = session else { return Ok(()) };
    if before.metadata.get(EPIC_KEY) != after.metadata.get(EPIC_KEY) {
        return Err(Error::Refused(format!(
            "what {} may cost ({EPIC_KEY}) is set by a person, not in an agent's session",
            before.id
        )));
    }
    if before.id == session.atom_id && before.parent_id != after.parent_id {
        return Err(Error::Refused(format!(
            "{} stays where it belongs while its session works on it",
            before.id
        )));
    }
    let (had, has) = (before.run_options.as_ref(), after.run_options.as_ref());
    ensure_may_set_environment(true, had, has)?;
    if before.id == session.atom_id && had != has {
        return Err(Error::Refused(format!(
            "the model, the effort and the base of {} are set by a person, not in its own session",
            before.id
        )));
    }
    if let Some(lost) = before.needs.iter().find(|need| !after.needs.contains(need)) {
        return Err(Error::Refused(format!(
            "that {} needs {lost} is taken away by a person, not in an agent's session",
            before.id
        )));
    }
    Ok(())
}

/// Refuses to let a session set variables for an agent: a variable can name programs.
pub(in crate::ops) fn ensure_may_set_environment(
    is_session: bool,
    before: Option<&RunOptions>,
    after: Option<&RunOptions>,
) -> Result<()> {
    let env = |options: Option<&RunOptions>| {
        options.map(|options| options.env.clone()).unwrap_or_default()
    };
    if !is_session || env(before) == env(after) {
        return Ok(());
    }
    let message = "the variables of an agent (env) are set by a person, not in an agent's session";
    Err(Error::Refused(message.to_owned()))
}

/// Refuses to let a session close an atom before a required check has passed. `el close` runs the
/// check. A plain change of the status does not, and an older pass proves nothing about the work as
/// it is now, so such a change is always refused.
pub(in crate::ops) fn ensure_check_passed(
    session: Option<&Run>,
    atom: &Atom,
    was_checked_now: bool,
) -> Result<()> {
    let owed = session
        .filter(|run| run.atom_id == atom.id && atom.status != Status::Closed)
        .and_then(|run| run.verify.as_ref());
    match owed {
        Some(verify) if verify.required && (verify.is_owed() || !was_checked_now) => {
            Err(Error::Unverified { atom: atom.id.clone(), verify: Box::new(verify.clone()) })
        }
        _ => Ok(()),
    }
}
