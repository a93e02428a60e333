//! Tools that change atoms, with the rules of the command line.

use el_core::model::{BondKind, Status, Timestamp};
use el_core::ops::{self, AtomPatch, ClaimNext, NewAtom};

use crate::commands::close;
use crate::error::{CommandError, Result};
use crate::mcp::arguments::Arguments;
use crate::mcp::call::Call;
use crate::mcp::rows;
use crate::output::page::Page;
use crate::output::time::{self, Towards};
use crate::output::{bonds, sanitize};
use crate::session;

fn date(call: &Call, text: &str) -> Result<Timestamp> {
    time::parse("defer_until", text, call.app.now(), Towards::Future)
}

pub(super) fn create(call: &Call, mut given: Arguments) -> Result<String> {
    let new = NewAtom {
        title: given.needed("title")?,
        description: given.text("description")?.unwrap_or_default(),
        acceptance: given.text("acceptance")?,
        issue_type: given.word("type")?,
        priority: given.priority()?,
        labels: given.list("labels")?,
        assignee: given.text("assignee")?,
        parent: given.text("parent")?,
        blocked_by: given.list("blocked_by")?,
        discovered_from: given.text("discovered_from")?,
        defer_until: given.text("defer_until")?.map(|text| date(call, &text)).transpose()?,
        ..NewAtom::default()
    };
    given.done("create")?;
    let made = ops::create(&mut call.app.writer()?, &call.app.ctx(), &new)?;
    Ok(rows::did("Created", [&made]))
}

pub(super) fn claim(call: &Call, mut given: Arguments) -> Result<String> {
    let id = given.text("id")?;
    given.done("claim")?;
    let (mut store, ctx) = (call.app.writer()?, call.app.ctx());
    let claimed = match id {
        Some(id) => {
            Some(ops::claim(&mut store, &ctx, &id, false, session::conversation().as_deref())?)
        }
        None => ops::claim_next(
            &mut store,
            &ctx,
            &ClaimNext {
                claim: true,
                conversation: session::conversation(),
                ..ClaimNext::default()
            },
        )?,
    };
    Ok(match claimed {
        Some(atom) => {
            format!("{}show {} tells all about it", rows::did("Claimed", [&atom]), atom.id)
        }
        None => "nothing is ready; list shows what there is".to_owned(),
    })
}

pub(super) fn update(call: &Call, mut given: Arguments) -> Result<String> {
    let ids = given.ids()?;
    // An empty text clears a field that can be empty.
    let emptied = |text: String| (!text.trim().is_empty()).then_some(text);
    let patch = AtomPatch {
        title: given.text("title")?,
        description: given.text("description")?,
        acceptance: given.text("acceptance")?.map(emptied),
        issue_type: given.word("type")?,
        priority: given.priority()?,
        assignee: given.text("assignee")?.map(emptied),
        parent: given.text("parent")?.map(emptied),
        add_labels: given.list("add_labels")?,
        remove_labels: given.list("remove_labels")?,
        status: given.word("status")?,
        reason: given.text("reason")?,
        defer_until: given
            .text("defer_until")?
            .map(|text| emptied(text).map(|text| date(call, &text)).transpose())
            .transpose()?,
        ..AtomPatch::default()
    };
    given.done("update")?;
    let guard = close::guard(&call.app, Vec::new());
    let mut store = call.app.writer()?;
    if matches!(patch.status, Some(Status::Closed | Status::Review)) {
        close::ensure_committed(&call.app, &mut store, &ids)?;
    }
    let updated = ops::update(&mut store, &call.app.ctx(), &ids, &patch, &guard)?;
    let verb = |one: &ops::Updated| if one.changes.is_empty() { "Unchanged" } else { "Updated" };
    Ok(updated.iter().map(|one| rows::did(verb(one), [&one.atom])).collect())
}

pub(super) fn close(call: &Call, mut given: Arguments) -> Result<String> {
    let (ids, reason) = (given.ids()?, given.text("reason")?);
    given.done("close")?;
    let mut store = call.app.writer()?;
    let goes_on = || {
        call.tell(|| "the check that has to pass first is running".to_owned());
        call.goes_on()
    };
    close::ensure_committed(&call.app, &mut store, &ids)?;
    close::check_first(&call.app, &mut store, &ids, &goes_on)?;
    let guard = close::guard(&call.app, Vec::new());
    let closed = ops::close(&mut store, &call.app.ctx(), &ids, reason.as_deref(), &guard)?;
    Ok(rows::did("Closed", &closed))
}

pub(super) fn comment(call: &Call, mut given: Arguments) -> Result<String> {
    let (id, text) = (given.needed("id")?, given.needed("text")?);
    given.done("comment")?;
    let added = ops::add_comment(&mut call.app.writer()?, &call.app.ctx(), &id, &text)?;
    Ok(format!("Commented on {}", added.parent_id))
}

pub(super) fn dependencies(call: &Call, mut given: Arguments) -> Result<String> {
    let (id, source) = (given.needed("id")?, given.text("source")?);
    let (kind, removes): (Option<BondKind>, bool) = (given.word("type")?, given.flag("remove")?);
    given.done("dependencies")?;
    let Some(source) = source else {
        if removes || kind.is_some() {
            return Err(CommandError::usage("type and remove go with source"));
        }
        return listed(call, &id);
    };
    let (mut store, ctx) = (call.app.writer()?, call.app.ctx());
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

fn listed(call: &Call, id: &str) -> Result<String> {
    let shown = ops::dep_list(&call.app.reader()?, id)?;
    let bound = &shown.dependencies;
    if bound.incoming.is_empty() && bound.outgoing.is_empty() {
        return Ok(format!("{} is bound to nothing", sanitize::line(&shown.atom.id)));
    }
    let mut page = Page::new(false, None, false);
    bonds::print(&mut page, &shown);
    Ok(rows::window(&page.into_text(), 0))
}
