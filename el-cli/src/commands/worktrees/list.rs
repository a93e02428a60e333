use super::{Place, places, repository};
use crate::app::App;
use crate::error::Result;
use crate::exit::Exit;
use crate::output::list::List;
use crate::output::{sanitize, style};

pub(super) fn run(app: &App) -> Result<Exit> {
    let store = app.reader()?;
    let found = places(app, &store, &repository(app)?, None)?;
    let list = List::all(&found);
    app.printer.emit(&list, |page| {
        for place in &found {
            if page.quiet() {
                page.line(sanitize::line(&place.branch));
                continue;
            }
            let id = page.paint(style::ID, &place.branch);
            let title = place.title.as_deref().map(sanitize::line).unwrap_or_default();
            page.line(format!("{id}  {}  {title}", state(place)));
            if let Some(path) = &place.path {
                let text = page.paint(style::DIM, &format!("  {}", sanitize::path(path)));
                page.line(text);
            }
        }
        if found.is_empty() && !page.quiet() {
            let text = page.paint(style::DIM, "No atom has a branch");
            page.line(text);
        }
    })?;
    Ok(Exit::Done)
}

/// In words.
fn state(place: &Place) -> String {
    let mut words =
        vec![place.status.map_or_else(|| "unknown atom".to_owned(), |status| status.to_string())];
    words.push(match place.commits {
        1 => "1 commit".to_owned(),
        many => format!("{many} commits"),
    });
    if place.landed {
        words.push("landed".to_owned());
    }
    words.extend(place.undone());
    words.extend(place.astray());
    if !place.uncommitted.is_empty() {
        words.push(format!("{} not committed", place.uncommitted.len()));
    }
    if place.missing {
        words.push("its folder was removed".to_owned());
    }
    if place.live {
        words.push("at work".to_owned());
    }
    words.join(" · ")
}
