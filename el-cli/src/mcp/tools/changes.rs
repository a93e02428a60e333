//! Tools that change atoms, with the rules of the command line.

use el_core::model::{BondKind, Status, Timestamp};
use el_core::ops::{self, AtomPatch, ClaimNext, NewAtom};

use crate::commands::close;
use crate::mcp::arguments::Arguments;
use crate::mcp::call::Call;
use crate::mcp::rows;
use crate::output::time::{self, Towards};
use crate::output::{Page, bonds, sanitize};
use crate::{CommandError, Result, session};

fn parse_date(call: &Call, text: &str) -> Result<Timestamp> {
    time::parse_time("defer_until", text, call.app.now(), Towards::Future)
}

pub(super) fn create_atom(call: &Call, mut given: Arguments) -> Result<String> {
    let new = NewAtom {
        title: given.required_text("title")?,
        description: given.optional_text("description")?.unwrap_or_default(),
        acceptance: given.optional_text("acceptance")?,
        issue_type: given.optional_word("type")?,
        priority: given.optional_word("priority")?,
        labels: given.text_list("labels")?,
        needs: given.text_list("needs")?,
        assignee: given.optional_text("assignee")?,
        parent: given.optional_text("parent")?,
        blocked_by: given.text_list("blocked_by")?,
        discovered_from: given.optional_text("discovered_from")?,
        defer_until: given
            .optional_text("defer_until")?
            .map(|text| parse_date(call, &text))
            .transpose()?,
        ..NewAtom::default()
    };
    given.ensure_all_used("create")?;
    let made = ops::create(&mut call.app.open_for_writing()?, &call.app.ctx(), &new)?;
    Ok(rows::done_rows("Created", [&made]))
}

pub(super) fn claim_atom(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.optional_text("id")?;
    given.ensure_all_used("claim")?;
    let (mut store, ctx) = (call.app.open_for_writing()?, call.app.ctx());
    let claimed = match id {
        Some(id) => Some(ops::claim(
            &mut store,
            &ctx,
            &id,
            false,
            session::claude_conversation().as_deref(),
        )?),
        None => ops::claim_next(
            &mut store,
            &ctx,
            &ClaimNext {
                claim: true,
                conversation: session::claude_conversation(),
                ..ClaimNext::default()
            },
        )?,
    };
    Ok(match claimed {
        Some(atom) => {
            format!("{}show {} tells all about it", rows::done_rows("Claimed", [&atom]), atom.id)
        }
        None => "nothing is ready; list shows what there is".to_owned(),
    })
}

pub(super) fn update_atom(call: &Call, mut given: Arguments) -> Result<String> {
    let ids = given.atom_ids()?;
    // An empty text clears a field that can be empty.
    let emptied = |text: String| (!text.trim().is_empty()).then_some(text);
    let patch = AtomPatch {
        title: given.optional_text("title")?,
        description: given.optional_text("description")?,
        acceptance: given.optional_text("acceptance")?.map(emptied),
        issue_type: given.optional_word("type")?,
        priority: given.optional_word("priority")?,
        assignee: given.optional_text("assignee")?.map(emptied),
        parent: given.optional_text("parent")?.map(emptied),
        add_labels: given.text_list("add_labels")?,
        remove_labels: given.text_list("remove_labels")?,
        needs: given.asks_for("needs").then(|| given.text_list("needs")).transpose()?,
        status: given.optional_word("status")?,
        reason: given.optional_text("reason")?,
        defer_until: given
            .optional_text("defer_until")?
            .map(|text| emptied(text).map(|text| parse_date(call, &text)).transpose())
            .transpose()?,
        ..AtomPatch::default()
    };
    given.ensure_all_used("update")?;
    let guard = close::guard_for_caller(&call.app, Vec::new());
    let mut store = call.app.open_for_writing()?;
    if matches!(patch.status, Some(Status::Closed | Status::Review)) {
        close::ensure_committed(&call.app, &mut store, &ids)?;
    }
    let updated = ops::update(&mut store, &call.app.ctx(), &ids, &patch, &guard)?;
    let verb = |one: &ops::Updated| if one.changes.is_empty() { "Unchanged" } else { "Updated" };
    Ok(updated.iter().map(|one| rows::done_rows(verb(one), [&one.atom])).collect())
}

pub(super) fn close_atoms(call: &Call, mut given: Arguments) -> Result<String> {
    let (ids, reason) = (given.atom_ids()?, given.optional_text("reason")?);
    given.ensure_all_used("close")?;
    let mut store = call.app.open_for_writing()?;
    let goes_on = || {
        call.report_progress(|| "the check that has to pass first is running".to_owned());
        call.goes_on()
    };
    close::ready_to_close(&call.app, &mut store, &ids, false, &goes_on)?;
    let guard = close::guard_for_caller(&call.app, Vec::new());
    let closed = ops::close(&mut store, &call.app.ctx(), &ids, reason.as_deref(), &guard)?;
    Ok(rows::done_rows("Closed", &closed))
}

pub(super) fn add_comment(call: &Call, mut given: Arguments) -> Result<String> {
    let (id, text) = (given.required_text("id")?, given.required_text("text")?);
    given.ensure_all_used("comment")?;
    let added = ops::add_comment(&mut call.app.open_for_writing()?, &call.app.ctx(), &id, &text)?;
    Ok(format!("Commented on {}", added.parent_id))
}

pub(super) fn change_dependencies(call: &Call, mut given: Arguments) -> Result<String> {
    let (id, source) = (given.required_text("id")?, given.optional_text("source")?);
    let (kind, removes): (Option<BondKind>, bool) =
        (given.optional_word("type")?, given.optional_flag("remove")?);
    given.ensure_all_used("dependencies")?;
    let Some(source) = source else {
        if removes || kind.is_some() {
            return Err(CommandError::usage_error("type and remove go with source"));
        }
        return list_dependencies(call, &id);
    };
    let (mut store, ctx) = (call.app.open_for_writing()?, call.app.ctx());
    let (verb, done) = if removes {
        ("Removed", ops::dep_remove(&mut store, &ctx, &source, &id, kind)?)
    } else {
        (
            "Bound",
            vec![ops::dep_add(&mut store, &ctx, &source, &id, kind.unwrap_or(BondKind::Blocks))?],
        )
    };
    let line = |bond: &el_core::model::Bond| {
        format!("{verb} {} —{}→ {}\n", bond.source_id, bond.dependency_type, bond.target_id)
    };
    Ok(done.iter().map(line).collect())
}

fn list_dependencies(call: &Call, id: &str) -> Result<String> {
    let shown = ops::show(&call.app.open_for_reading()?, id)?;
    let bound = &shown.dependencies;
    if bound.incoming.is_empty() && bound.outgoing.is_empty() {
        return Ok(format!("{} is bound to nothing", sanitize::one_line(&shown.atom.id)));
    }
    let mut page = Page::new(false, None, false);
    bonds::print_bonds(&mut page, &shown);
    Ok(rows::text_window(&page.into_text(), 0))
}
