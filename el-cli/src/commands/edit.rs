use el_core::model::Atom;
use el_core::ops::{self, AtomPatch, Updated};

use super::atom_form::{Fields, Form};
use super::close::guard_for_caller;
use super::update;
use crate::editor::Draft;
use crate::{App, CommandError, Exit, Result, complete};

/// Change an atom in your editor
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  el edit q5e6
  EDITOR='code --wait' el edit q5e6

The editor is chosen as git chooses it: GIT_EDITOR, core.editor, VISUAL, EDITOR, vi. A text
that is saved as it was, or emptied, changes nothing. A text that is refused is kept, and its
place is told.")]
pub(crate) struct Args {
    /// The atom
    #[arg(value_name = "ATOM", add = complete::complete_atoms())]
    id: String,
}

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let atom = ops::get_atom(&app.open_for_reading()?, &args.id)?;
    let before = Fields::from_atom(&atom);
    let form = Form::new(&before);
    let id = &atom.id;
    let text = form.write(
        &before,
        &format!("Save to change {id}. The commands for its status: el close, el update"),
    );
    let updated = match Draft::edit(app, &format!("{id}.md"), &text)? {
        Some((draft, text)) => {
            draft.remove_if_taken(form.read(&text, &before).and_then(|after| match after {
                Some(after) => change(app, &atom, &before, &after),
                None => Ok(None),
            }))?
        }
        None => None,
    };
    let updated = updated.unwrap_or_else(|| Updated { atom, changes: serde_json::Map::new() });
    app.printer.emit(&updated, |page| update::print_updated(page, &updated))
}

/// Writes the differences, unless another process changed the same fields meanwhile. `None`: there
/// is no difference.
fn change(app: &App, atom: &Atom, before: &Fields, after: &Fields) -> Result<Option<Updated>> {
    let patch = after.patch(before)?;
    if patch == AtomPatch::default() {
        return Ok(None);
    }
    let mut store = app.open_for_writing()?;
    let theirs = Fields::from_atom(&ops::get_atom(&store, &atom.id)?).differing(before);
    // Labels come and go one by one.
    let mut ours = after.differing(before).into_iter().filter(|field| *field != "labels");
    if let Some(field) = ours.find(|field| theirs.contains(field)) {
        return Err(CommandError::conflict(
            "changed",
            format!("the {field} of {} was changed by somebody else meanwhile", atom.id),
        )
        .with_hint(format!("el show {} shows it as it is now", atom.id)));
    }
    let guard = guard_for_caller(app, Vec::new());
    let updated = ops::update(&mut store, &app.ctx(), &[&atom.id], &patch, &guard)?;
    Ok(updated.into_iter().next())
}
