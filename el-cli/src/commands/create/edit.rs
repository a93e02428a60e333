//! `el create --edit`.

use el_core::model::Priority;
use el_core::ops::{self, NewAtom};

use super::{Args, atom_from_flags, print_created};
use crate::commands::atom_form::{Fields, Form};
use crate::editor::Draft;
use crate::output::{List, OneOrMany};
use crate::{App, Exit, Result};

pub(super) fn run(args: &Args, app: &App) -> Result<Exit> {
    let begun = atom_from_flags(args, app)?;
    let before = fields(&begun);
    let form = Form::new(&before);
    let text = form.write(&before, "Save to file the atom.");
    let drafted = Draft::edit(app, "new-atom.md", &text)?;
    let Some((draft, text)) = drafted else { return nothing(app) };
    let made = form.read(&text, &before).and_then(|fields| match fields {
        Some(fields) => {
            let new = filled(begun, fields)?;
            Ok(Some(ops::create(&mut app.open_for_writing()?, &app.ctx(), &new)?))
        }
        None => Ok(None),
    });
    match draft.remove_if_taken(made)? {
        Some(made) => app
            .printer
            .emit(&OneOrMany::One(&made), |page| print_created(page, std::slice::from_ref(&made))),
        None => nothing(app),
    }
}

fn nothing(app: &App) -> Result<Exit> {
    app.printer.emit_sentence(
        &OneOrMany::<el_core::model::Atom>::Many(List::complete(&[])),
        |page| {
            page.push_line("Nothing was filed");
        },
    )
}

fn fields(new: &NewAtom) -> Fields {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Fields {
        title: new.title.clone(),
        issue_type: new.issue_type.map_or("task".to_owned(), |kind| kind.to_string()),
        priority: new.priority.unwrap_or(Priority::DEFAULT).as_word().to_owned(),
        labels: new.labels.clone(),
        needs: new.needs.clone(),
        assignee: text(&new.assignee),
        parent: text(&new.parent),
        description: new.description.clone(),
        acceptance: text(&new.acceptance),
    }
}

fn filled(begun: NewAtom, fields: Fields) -> Result<NewAtom> {
    let optional = |text: String| (!text.is_empty()).then_some(text);
    Ok(NewAtom {
        issue_type: Some(fields.issue_type()?),
        priority: Some(fields.priority()?),
        title: fields.title,
        labels: fields.labels,
        needs: fields.needs,
        assignee: optional(fields.assignee),
        parent: optional(fields.parent),
        description: fields.description,
        acceptance: optional(fields.acceptance),
        ..begun
    })
}
